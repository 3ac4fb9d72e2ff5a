//! `cargo validation agree-work`: compares works on a mounted file system with fio doing the same
//! I/O on the same file system.
//!
//! As in `agree`: a loop device of its own, past the page cache, its worker, the journal's thread
//! and both programs on one processor; here with an ext4 on it. In a pair both sides do the whole
//! work, the first changing from pair to pair; the median of the pairs' ratios counts.

mod cells;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, ensure};
use record::Cell;
use record::units::Bytes;
use workloads::workload::WorkloadContext;

use crate::agree::loop_medium::LoopMedium;
use crate::agree::rivals::{fio, speed};
use crate::mounted::Mounted;
use crate::pairs::{PairFlags, Row, Speed, apart, in_turn, table};
use crate::programs::{interrupts, output};
use crate::section::Section;
use cells::{FORMS, Form};

/// Largest difference of the medians, as a share.
const TOLERANCE: f64 = 0.10;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    #[command(flatten)]
    pairs: PairFlags,
    /// Size of the file.
    #[arg(long, default_value = "512MiB")]
    size: Bytes,
}

/// Do one work once, and print its cells as JSON.
#[derive(clap::Args)]
pub struct Once {
    /// Name of the work.
    work: String,
    /// Empty directory on the file system.
    directory: PathBuf,
    /// Setting of the work, name=value. May be given several times.
    #[arg(long)]
    set: Vec<String>,
    /// Seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Measures, prints the tables, and fails if a form disagrees.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let interrupted = interrupts()?;
    let mut missed = Vec::new();
    for on in &flags.pairs.on {
        let loop_medium = LoopMedium::make(root, *on, flags.size.0)?;
        let mounted = mounted_on(&loop_medium, root)?;
        let mut rows = Vec::new();
        let is_wanted = |(work, _): &&(&str, _)| flags.pairs.is_wanted(work);
        for (work, settings) in cells::WORKS.iter().filter(is_wanted) {
            eprintln!("{work} on {on}");
            let forms: Vec<&Form> = FORMS.iter().filter(|form| form.work == *work).collect();
            let point = mounted.point();
            let (ours, fio) = in_turn(
                0,
                flags.pairs.pairs,
                &interrupted,
                || our_side(&loop_medium, point, work, settings, &forms),
                || fios_side(&loop_medium, point, &forms),
            )?;
            let side = |runs: &[Vec<Speed>], at: usize| runs.iter().map(|run| run[at]).collect();
            rows.extend(forms.iter().enumerate().map(|(at, form)| Row {
                name: format!("{work} | {}", form.name),
                ours: side(&ours, at),
                fio: side(&fio, at),
            }));
        }
        let heading = &format!("Work on ext4, on {on}");
        let name = &format!("cargo validation agree-work --on {on}");
        Section { page: "docs/agreement.md", heading, name }.publish(
            root,
            &table("work | form", &rows, TOLERANCE),
            flags.pairs.write,
        )?;
        missed.extend(apart(&rows, TOLERANCE).into_iter().map(|row| format!("{row} on {on}")));
    }
    ensure!(
        missed.is_empty(),
        "these differ by more than {} %: {}",
        TOLERANCE * 100.0,
        missed.join(", ")
    );
    Ok(())
}

/// Makes an ext4 on the loop device; its journal's thread is brought to its processor.
pub fn mounted_on(loop_medium: &LoopMedium, root: &Path) -> Result<Mounted> {
    let mounted = Mounted::make(root, "ext4", loop_medium.device())?;
    loop_medium.bring(&mounted.journal_threads()?)?;
    Ok(mounted)
}

/// Does the work once, in a process of its own; returns the figures of each form.
fn our_side(
    loop_medium: &LoopMedium,
    point: &Path,
    work: &str,
    settings: &[&str],
    forms: &[&Form],
) -> Result<Vec<Speed>> {
    let mut command = loop_medium.pinned(&std::env::current_exe()?);
    command.arg("work").arg(work).arg(point);
    command.args(settings.iter().map(|setting| format!("--set={setting}")));
    let cells: Vec<Cell> = serde_json::from_str(&output(&mut command)?)?;
    let measured = |form: &&Form| {
        let cell = cells.iter().find(|cell| cell.params.form.as_deref() == Some(form.name));
        speed(cell.with_context(|| format!("{work} has no {}", form.name))?)
    };
    forms.iter().map(measured).collect()
}

/// Does the same I/O with fio, form after form on the same files.
fn fios_side(loop_medium: &LoopMedium, point: &Path, forms: &[&Form]) -> Result<Vec<Speed>> {
    let folder = point.join("fio");
    fs::create_dir(&folder)?;
    let speeds = forms.iter().map(|form| fios_form(loop_medium, &folder, form)).collect();
    fs::remove_dir_all(&folder)?;
    speeds
}

fn fios_form(loop_medium: &LoopMedium, folder: &Path, form: &Form) -> Result<Speed> {
    let flushed = File::open(folder).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
    flushed.context("syncing before fio")?;
    let mut command = loop_medium.pinned(Path::new("fio"));
    // fio makes its files' names when it reads `--filename`: without `--directory` before it they
    // would be in the current directory.
    command.arg("--name=agree").arg(format!("--directory={}", folder.display()));
    command.args(cells::FIO).args(form.fio);
    let side = if form.fio.iter().any(|word| word.ends_with("read")) { "read" } else { "write" };
    Ok(fio(&mut command, side)?.0)
}

/// Does one work and prints its cells.
pub fn once(flags: &Once) -> Result<()> {
    let mut settings = Vec::new();
    for setting in &flags.set {
        let (name, value) =
            setting.split_once('=').with_context(|| format!("'{setting}' is not name=value"))?;
        settings.push((name, value));
    }
    let stop = AtomicBool::new(false);
    let mut loop_medium = WorkloadContext {
        directory: &flags.directory,
        seed: flags.seed,
        stop: &stop,
        on_progress: &mut |_| {},
        look: &mut |_| {},
    };
    let cells = workloads::workload::find(&flags.work, &settings)?.run(&mut loop_medium)?;
    println!("{}", serde_json::to_string(&cells)?);
    Ok(())
}
