//! `cargo validation agree`: compares our figures with fio's, for the same I/O on the same device.
//!
//! The device is a loop device that the command makes itself, over a file on disk and over one in
//! memory, past the page cache (`--direct-io=on`). Each cell is measured in pairs. In a pair the
//! two take turns of about a second, the first changing with each, and each side's turns are added
//! up.

mod cells;
pub mod loop_medium;
pub mod rivals;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use record::units::Bytes;

use crate::pairs::{PairFlags, Row, Speed, apart, in_turn, table};
use crate::programs::{go_on, interrupts};
use crate::section::Section;
use crate::{machine, released};
use cells::{CELLS, Cell};
use loop_medium::LoopMedium;
use rivals::{Fio, Flashmark, together};

/// Largest difference of the medians, as a share.
const TOLERANCE: f64 = 0.05;

/// Number of cells that must agree on each loop device. If the medium is memory and an I/O takes 10 us,
/// the time of a program between two I/Os matters: fio counts it and we do not, so that some cell
/// may differ.
const ENOUGH: usize = 8;

/// Load per processor above which other work decides the ratios.
const BUSY: f64 = 0.5;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    #[command(flatten)]
    pairs: PairFlags,
    /// Runs of each side in a pair, in turn.
    #[arg(long, default_value_t = 6)]
    turns: usize,
    /// Size of the file.
    #[arg(long, default_value = "2GiB")]
    size: Bytes,
    /// Program to compare with fio. Without it, a release build is made.
    #[arg(long)]
    program: Option<PathBuf>,
}

/// Measures, prints the tables, and fails if too few cells agree.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(flags.turns > 0, "at least one turn is needed");
    let interrupted = interrupts()?;
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark")?;
    let mut missed = Vec::new();
    for on in &flags.pairs.on {
        let loop_medium = LoopMedium::make(root, *on, flags.size.0)?;
        let ours = Flashmark::new(&program, &loop_medium)?;
        let load = machine::load();
        if load > BUSY {
            eprintln!(
                "the machine is busy (load {load:.1} a processor): rates will scatter, and agreement within {} % is luck",
                TOLERANCE * 100.0
            );
        }
        let mut rows = Vec::new();
        for cell in CELLS.iter().filter(|cell| flags.pairs.is_wanted(cell.name)) {
            eprint!("{} on {on}: ", cell.name);
            rows.push(pairs(cell, &ours, &loop_medium, flags, &interrupted)?);
        }
        let text = format!(
            "{}; load {load:.2} a processor before the first pair.\n\n{}",
            machine::description()?,
            table("cell", &rows, TOLERANCE)
        );
        let name = &format!("cargo validation agree --on {on}");
        let heading = &format!("On {on}");
        Section { page: "docs/agreement.md", heading, name }.publish(
            root,
            &text,
            flags.pairs.write,
        )?;
        let apart = apart(&rows, TOLERANCE);
        if rows.len() - apart.len() < rows.len().min(ENOUGH) {
            missed.push(format!("on {on} {}", apart.join(", ")));
        }
    }
    ensure!(
        missed.is_empty(),
        "these differ by more than {} %: {}",
        TOLERANCE * 100.0,
        missed.join("; ")
    );
    Ok(())
}

/// Measures one cell pair by pair. A run before the first warms up, and gives the offset of the
/// cell's span. Prints the commands of both sides.
fn pairs(
    cell: &'static Cell,
    ours: &Flashmark,
    loop_medium: &LoopMedium,
    flags: &Flags,
    interrupted: &AtomicBool,
) -> Result<Row> {
    let fio = Fio::new(cell, &ours.measure(cell)?, loop_medium)?;
    let mut row = Row { name: cell.name.to_owned(), ours: Vec::new(), fio: Vec::new() };
    for number in 0..flags.pairs.pairs {
        go_on(interrupted)?;
        let (ours, fio) = in_turn(
            number,
            flags.turns,
            interrupted,
            || rivals::turn(&ours.measure(cell)?),
            || fio.measure(),
        )?;
        row.ours.push(joined(ours)?);
        row.fio.push(joined(fio)?);
        eprint!("{:.3} ", row.rates().ratios()[number]);
    }
    eprintln!("-> {:.3}", row.rates().ratio());
    println!("# {}\n{}\n{}", cell.name, ours.command(cell), fio.command());
    Ok(row)
}

fn joined(turns: Vec<rivals::Turn>) -> Result<Speed> {
    together(&turns).context("no turn was asked for")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use suite::TestSettings;
    use suite::catalogue::find;

    use super::*;

    #[test]
    fn every_cell_is_a_test_with_settings_it_has() {
        for cell in CELLS {
            let mut settings = TestSettings::defaults(find(cell.test).unwrap());
            for (name, value) in cell.settings {
                settings.set(name, &(*value).into()).unwrap();
            }
        }
        let names: BTreeSet<&str> = CELLS.iter().map(|cell| cell.name).collect();
        assert!(names.len() == CELLS.len() && CELLS.len() >= 8);
    }
}
