//! `cargo validation agree`: compares our figures with fio's, for the same I/O on the same device.
//!
//! The device is a loop device that the command makes itself, over a file on disk and over one in
//! memory, past the page cache (`--direct-io=on`). Each cell is measured in pairs. In a pair the
//! two take turns of about a second, the first changing with each, and each side's turns are added
//! up, so that other load on the machine affects both; the median of the pairs' ratios counts.

mod cells;
pub mod loop_medium;
mod page;
mod rivals;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use record::units::Bytes;

use crate::released;
use cells::{CELLS, Cell};
use loop_medium::{LoopMedium, On};
use rivals::{Fio, Flashmark, Measured};

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
    /// Storage of the file under the loop device.
    #[arg(long, value_delimiter = ',', default_value = "disk,tmpfs")]
    on: Vec<On>,
    /// Text in the names of the cells to measure. Without it, all.
    #[arg(long)]
    only: Option<String>,
    /// Pairs of runs for each cell.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Runs of each side in a pair, in turn.
    #[arg(long, default_value_t = 6)]
    turns: usize,
    /// Size of the file.
    #[arg(long, default_value = "2GiB")]
    size: Bytes,
    /// Program to compare with fio. Without it, a release build is made.
    #[arg(long)]
    program: Option<PathBuf>,
    /// Write the tables to docs/agreement.md.
    #[arg(long)]
    write: bool,
}

impl Flags {
    fn asks_for(&self, cell: &Cell) -> bool {
        self.only.as_ref().is_none_or(|only| cell.name.contains(only))
    }
}

/// All pairs of one cell on one loop device.
struct Row {
    cell: &'static Cell,
    ours: Vec<Measured>,
    fio: Vec<Measured>,
}

impl Row {
    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.fio).map(|(ours, fio)| ours.iops / fio.iops).collect()
    }

    /// Median of the ratios.
    fn ratio(&self) -> f64 {
        stats::median(&mut self.ratios()).unwrap_or(f64::NAN)
    }

    /// Median of the ratios of median latencies: less affected by other work of the machine.
    fn latency_ratio(&self) -> f64 {
        let mut ratios: Vec<f64> = self
            .ours
            .iter()
            .zip(&self.fio)
            .map(|(ours, fio)| ours.median_ns / fio.median_ns)
            .collect();
        stats::median(&mut ratios).unwrap_or(f64::NAN)
    }

    fn agrees(&self) -> bool {
        (self.ratio() - 1.0).abs() <= TOLERANCE
    }
}

/// Results on one loop device.
struct Table {
    on: On,
    machine: String,
    /// Load per processor before the first pair.
    load: f64,
    rows: Vec<Row>,
}

/// Measures, prints the tables, and fails if too few cells agree.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(flags.pairs > 0, "at least one pair is needed");
    let interrupted = Arc::new(AtomicBool::new(false));
    // Ctrl-C ends the child that measures; this process goes on, to detach and remove what it made.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone()).context("listening for Ctrl-C")?;
    }
    let program = released::given_or_built(flags.program.as_deref(), root, "flashmark")?;
    let mut tables = Vec::new();
    for &on in &flags.on {
        let loop_medium = LoopMedium::make(root, on, flags.size.0)?;
        let table = compare(&loop_medium, &program, flags, &interrupted)?;
        println!("\nOn {on}: {}", page::table(&table));
        if flags.write {
            page::keep(root, &table)?;
        }
        tables.push(table);
    }
    let asked = CELLS.iter().filter(|cell| flags.asks_for(cell)).count();
    for table in &tables {
        let apart: Vec<&str> =
            table.rows.iter().filter(|row| !row.agrees()).map(|row| row.cell.name).collect();
        ensure!(
            asked - apart.len() >= asked.min(ENOUGH),
            "on {} these differ by more than {} %: {}",
            table.on,
            TOLERANCE * 100.0,
            apart.join(", ")
        );
    }
    Ok(())
}

fn compare(
    loop_medium: &LoopMedium,
    program: &Path,
    flags: &Flags,
    interrupted: &AtomicBool,
) -> Result<Table> {
    let ours = Flashmark::new(program, loop_medium)?;
    let load = load();
    if load > BUSY {
        eprintln!(
            "the machine is busy (load {load:.1} a processor): rates will scatter, and agreement within {} % is luck",
            TOLERANCE * 100.0
        );
    }
    let mut rows = Vec::new();
    for cell in CELLS.iter().filter(|cell| flags.asks_for(cell)) {
        rows.push(pairs(cell, &ours, loop_medium, flags, interrupted)?);
    }
    Ok(Table { on: loop_medium.on(), machine: ours.machine(), load, rows })
}

/// Load average of the last minute, per processor.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
    load / std::thread::available_parallelism().map_or(1.0, |processors| processors.get() as f64)
}

/// Measures one cell pair by pair. A run before the first warms up, and gives the offset of the
/// cell's span.
fn pairs(
    cell: &'static Cell,
    ours: &Flashmark,
    loop_medium: &LoopMedium,
    flags: &Flags,
    interrupted: &AtomicBool,
) -> Result<Row> {
    eprint!("{} on {}: ", cell.name, loop_medium.on());
    let warm = ours.measure(cell)?;
    let fio = Fio::new(cell, &warm, loop_medium);
    let mut row = Row { cell, ours: Vec::new(), fio: Vec::new() };
    for number in 0..flags.pairs {
        let (mut our_turns, mut fio_turns) = (Vec::new(), Vec::new());
        for turn in 0..flags.turns {
            ensure!(!interrupted.load(Ordering::Relaxed), "interrupted");
            let we_begin = (number + turn) % 2 == 0;
            if we_begin {
                our_turns.push(ours.measure(cell)?);
            }
            fio_turns.push(fio.measure()?);
            if !we_begin {
                our_turns.push(ours.measure(cell)?);
            }
        }
        row.ours.push(Measured::together(our_turns).context("no turn was asked for")?);
        row.fio.push(Measured::together(fio_turns).context("no turn was asked for")?);
        eprint!("{:.3} ", row.ratios()[number]);
    }
    eprintln!("-> {:.3}", row.ratio());
    Ok(row)
}
