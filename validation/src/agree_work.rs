//! `cargo validation agree-work`: compares works on a mounted file system with fio doing the same
//! I/O on the same file system.
//!
//! As in `agree`: a loop device of its own, past the page cache, its worker, the journal's thread
//! and both programs on one processor; here with an ext4 on it. In a pair both sides do the whole
//! work, the first changing from pair to pair; the median of the pairs' ratios counts.

mod cells;

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail, ensure};
use record::Cell;
use record::units::{Bytes, significant};
use serde_json::Value;
use workloads::workload::{WorkError, WorkFile, WorkloadContext};

use crate::agree::loop_medium::{LoopMedium, On};
use crate::programs::output;
use crate::section;
use cells::{FORMS, Form};

/// Largest difference of the medians, as a share.
const TOLERANCE: f64 = 0.10;

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Storage of the file under the loop device.
    #[arg(long, value_delimiter = ',', default_value = "disk,tmpfs")]
    on: Vec<On>,
    /// Pairs of runs.
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Work to measure. Without it, all.
    #[arg(long)]
    only: Option<String>,
    /// Size of the file.
    #[arg(long, default_value = "512MiB")]
    size: Bytes,
    /// Write the tables to docs/agreement.md.
    #[arg(long)]
    write: bool,
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

/// An ext4 on the loop device; unmounted when dropped.
pub struct Mounted<'a> {
    loop_medium: &'a LoopMedium,
    point: PathBuf,
}

impl<'a> Mounted<'a> {
    /// Makes the file system and mounts it.
    pub fn make(loop_medium: &'a LoopMedium) -> Result<Mounted<'a>> {
        let point = loop_medium.scratch();
        fs::create_dir_all(&point)?;
        let mkfs =
            ["-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];
        output(Command::new("mkfs.ext4").args(mkfs).arg(loop_medium.device()))?;
        output(
            Command::new("mount").args(["-o", "noatime"]).arg(loop_medium.device()).arg(&point),
        )?;
        let mounted = Mounted { loop_medium, point };
        let device = loop_medium.device().file_name().unwrap_or_default().to_string_lossy();
        loop_medium.bring(&format!("jbd2/{device}-"))?;
        Ok(mounted)
    }

    /// Mount point.
    pub fn point(&self) -> &Path {
        &self.point
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        if let Err(error) = output(Command::new("umount").arg(&self.point)) {
            eprintln!("{} is still mounted: {error:#}", self.point.display());
        }
    }
}

/// Figures of one side in one form.
#[derive(Clone, Copy)]
struct Measured {
    iops: f64,
    median_ns: f64,
}

/// Pairs of one form.
struct Row {
    form: &'static Form,
    ours: Vec<Measured>,
    fio: Vec<Measured>,
}

impl Row {
    fn ratios(&self, figure: fn(&Measured) -> f64) -> Vec<f64> {
        self.ours.iter().zip(&self.fio).map(|(ours, fio)| figure(ours) / figure(fio)).collect()
    }

    /// Median of the ratios of rates.
    fn ratio(&self) -> f64 {
        stats::median(&mut self.ratios(|side| side.iops)).unwrap_or(f64::NAN)
    }

    /// Median of the ratios of median latencies: less affected by other work of the machine.
    fn latency_ratio(&self) -> f64 {
        stats::median(&mut self.ratios(|side| side.median_ns)).unwrap_or(f64::NAN)
    }

    fn agrees(&self) -> bool {
        (self.ratio() - 1.0).abs() <= TOLERANCE
    }
}

/// Measures, prints the tables, and fails if a form disagrees.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    ensure!(flags.pairs > 0, "at least one pair is needed");
    let interrupted = Arc::new(AtomicBool::new(false));
    // Ctrl-C ends the child that measures; this process goes on, to unmount, detach and remove what
    // it made.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, interrupted.clone()).context("listening for Ctrl-C")?;
    }
    let mut apart = Vec::new();
    for &on in &flags.on {
        let loop_medium = LoopMedium::make(root, on, flags.size.0)?;
        let mounted = Mounted::make(&loop_medium)?;
        let rows = compare(&mounted, flags, &interrupted)?;
        let text = table(&rows);
        println!("\nWork on ext4, on {on}:\n\n{text}");
        if flags.write {
            let command = format!("cargo validation agree-work --on {on}");
            section::keep(
                &root.join("docs/agreement.md"),
                &format!("Work on ext4, on {on}"),
                &command,
                &text,
            )?;
        }
        apart.extend(
            rows.iter()
                .filter(|row| !row.agrees())
                .map(|row| format!("{} {} on {on}", row.form.work, row.form.name)),
        );
    }
    ensure!(
        apart.is_empty(),
        "these differ by more than {} %: {}",
        TOLERANCE * 100.0,
        apart.join(", ")
    );
    Ok(())
}

fn compare(mounted: &Mounted<'_>, flags: &Flags, interrupted: &AtomicBool) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (work, settings) in
        cells::WORKS.iter().filter(|(work, _)| flags.only.as_ref().is_none_or(|only| only == work))
    {
        let forms: Vec<&'static Form> = FORMS.iter().filter(|form| form.work == *work).collect();
        let first = rows.len();
        rows.extend(forms.iter().map(|form| Row { form, ours: Vec::new(), fio: Vec::new() }));
        eprint!("{work}: ");
        for pair in 0..flags.pairs {
            ensure!(!interrupted.load(Ordering::Relaxed), "interrupted");
            let (mut ours, mut fio) = (Vec::new(), Vec::new());
            for side in 0..2 {
                if (pair + side) % 2 == 0 {
                    ours = our_side(mounted, work, settings, &forms)?;
                } else {
                    fio = fios_side(mounted, &forms)?;
                }
            }
            for (row, (ours, fio)) in rows[first..].iter_mut().zip(ours.into_iter().zip(fio)) {
                row.ours.push(ours);
                row.fio.push(fio);
            }
            eprint!("{} ", pair + 1);
        }
        eprintln!();
    }
    Ok(rows)
}

/// Does the work once, in a process of its own; returns the figures of each form.
fn our_side(
    mounted: &Mounted<'_>,
    work: &str,
    settings: &[&str],
    forms: &[&Form],
) -> Result<Vec<Measured>> {
    let itself = std::env::current_exe()?;
    let mut command = mounted.loop_medium.pinned(&itself);
    command.arg("work").arg(work).arg(&mounted.point);
    settings.iter().for_each(|setting| _ = command.arg(format!("--set={setting}")));
    let output = command.output()?;
    ensure!(output.status.success(), "{work}: {}", String::from_utf8_lossy(&output.stderr).trim());
    let cells: Vec<Cell> = serde_json::from_slice(&output.stdout)?;
    let measured = |form: &&Form| {
        let cell = cells.iter().find(|cell| cell.params.form.as_deref() == Some(form.name));
        let metrics = cell.map(|cell| &cell.metrics);
        let iops = metrics
            .and_then(|metrics| metrics.iops)
            .with_context(|| format!("{work} has no rate of {}", form.name))?
            .value;
        let median = metrics.and_then(|metrics| metrics.latency_ns.as_ref()?.p50);
        Ok(Measured {
            iops,
            median_ns: median
                .with_context(|| format!("{work} has no median latency of {}", form.name))?
                as f64,
        })
    };
    forms.iter().map(measured).collect()
}

/// Does the same I/O with fio, form after form on the same files; returns the sum of its jobs'
/// rates.
fn fios_side(mounted: &Mounted<'_>, forms: &[&Form]) -> Result<Vec<Measured>> {
    let folder = mounted.point.join("fio");
    fs::create_dir(&folder)?;
    let rates = forms.iter().map(|form| fio(mounted, &folder, form)).collect();
    fs::remove_dir_all(&folder)?;
    rates
}

fn fio(mounted: &Mounted<'_>, folder: &Path, form: &Form) -> Result<Measured> {
    let flushed = File::open(folder).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
    flushed.context("syncing before fio")?;
    let mut command = mounted.loop_medium.pinned(Path::new("fio"));
    // fio makes its files' names when it reads `--filename`: without `--directory` before it they
    // would be in the current directory.
    command.arg("--name=agree").arg(format!("--directory={}", folder.display()));
    command.args(cells::FIO).args(form.fio).arg("--output-format=json");
    let output = command.output().context("taskset does not start")?;
    ensure!(
        output.status.success(),
        "fio {}: {}",
        form.name,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let results: Value =
        serde_json::from_str(text.find('{').map(|at| &text[at..]).context("fio printed no JSON")?)?;
    let side = if form.fio.iter().any(|word| word.ends_with("read")) { "read" } else { "write" };
    let Some(jobs) = results["jobs"].as_array() else { bail!("fio's results have no jobs") };
    let iops: f64 = jobs.iter().filter_map(|job| job[side]["iops"].as_f64()).sum();
    ensure!(iops > 0.0, "fio did no I/O: {}", form.fio.join(" "));
    let mut medians: Vec<f64> = jobs
        .iter()
        .filter_map(|job| job[side]["lat_ns"]["percentile"]["50.000000"].as_f64())
        .collect();
    Ok(Measured {
        iops,
        median_ns: stats::median(&mut medians).context("fio's results have no median latency")?,
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = "| work | form | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | | ratio of median latencies |\n".to_owned();
    text += "|---|---|---:|---:|---:|---|---:|\n";
    for row in rows {
        let median = |side: &[Measured]| {
            let mut rates: Vec<f64> = side.iter().map(|measured| measured.iops).collect();
            significant(stats::median(&mut rates).unwrap_or(f64::NAN))
        };
        let ratios = row.ratios(|side| side.iops);
        let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(least, most), ratio| {
            (least.min(*ratio), most.max(*ratio))
        });
        let (form, ratio, latency) = (row.form, row.ratio(), row.latency_ratio());
        let word = if row.agrees() { "agrees" } else { "**differs**" };
        let (ours, fio) = (median(&row.ours), median(&row.fio));
        text += &format!("| {} | {} | {ours} | {fio} | ", form.work, form.name);
        text += &format!("{ratio:.3} ({least:.3} to {most:.3}) | {word} | {latency:.3} |\n");
    }
    text
}

/// Does one work and prints its cells.
pub fn once(flags: &Once) -> Result<()> {
    let mut settings = Vec::new();
    for setting in &flags.set {
        let (name, value) =
            setting.split_once('=').with_context(|| format!("'{setting}' is not name=value"))?;
        settings.push((name.to_owned(), value.to_owned()));
    }
    let stop = AtomicBool::new(false);
    let mut context = WorkloadContext {
        directory: &flags.directory,
        open: &mut open,
        seed: flags.seed,
        stop: &stop,
        on_progress: &mut |_| {},
        look: &mut |_| {},
    };
    let cells = workloads::workload::find(&flags.work, &settings)?.run(&mut context)?;
    println!("{}", serde_json::to_string(&cells)?);
    Ok(())
}

/// Opens a file past the page cache.
fn open(path: &Path, bytes: u64) -> Result<WorkFile, WorkError> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(|error| WorkError::io("work", "opening a file", error))?;
    let device =
        blockio::RealDevice::from_file(file, bytes, true, &blockio::OpenSettings::default());
    Ok(Box::new(device.map_err(|error| WorkError::Impossible {
        work: "work".into(),
        reason: error.to_string(),
    })?))
}
