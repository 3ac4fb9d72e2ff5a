//! `cargo validation bench footprint`: size of the program, its start time, and the memory of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use record::units::{Bytes, MIB, Nanos};

use crate::released;
use crate::section::Section;

const TABLE: Section<'static> = Section {
    page: "docs/performance.md",
    heading: "Size, start and memory",
    name: "cargo validation bench footprint",
};
/// Number of timed starts; the median counts.
const STARTS: usize = 21;
/// Interval at which a run's memory is read.
const LOOK: Duration = Duration::from_millis(10);

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Directory whose storage the `standard` run measures.
    #[arg(long, default_value = ".")]
    pub dir: PathBuf,
    /// Write the table to docs/performance.md.
    #[arg(long)]
    pub write: bool,
}

/// Measures the release build, prints the table, and fails if a target is missed.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let program = released::build(root, "flashmark")?;
    let size = fs::metadata(&program).context("the release build")?.len();
    let start = median_start(&program)?;
    let home = tempfile::tempdir()?;
    let mut run = Command::new(&program);
    run.args(["run", "--quiet", "--suite", "standard"]).arg(&flags.dir);
    let memory = peak_memory(run.env("FLASHMARK_HOME", home.path()))?;
    let rows = [
        ("program, stripped", Bytes(size).to_string(), "under 25 MB", size < 25_000_000),
        (
            "starting up to `list` (median of 21)",
            Nanos(start.as_nanos() as u64).to_string(),
            "under 20 ms",
            start.as_millis() < 20,
        ),
        (
            "peak resident memory of `run --suite standard` on a directory",
            Bytes(memory).to_string(),
            "under 64 MiB",
            memory < 64 * MIB,
        ),
    ];
    let mut table =
        format!("`{}`\n\n| what | measured | target | |\n|---|---:|---|---|\n", TABLE.name);
    for (what, measured, target, holds) in &rows {
        table += &format!(
            "| {what} | {measured} | {target} | {} |\n",
            if *holds { "holds" } else { "missed" }
        );
    }
    TABLE.publish(root, &table, flags.write)?;
    ensure!(rows.iter().all(|row| row.3), "a target is missed");
    Ok(())
}

fn median_start(program: &Path) -> Result<Duration> {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let began = Instant::now();
        ensure!(
            Command::new(program).arg("list").stdout(Stdio::null()).status()?.success(),
            "`list` failed"
        );
        times.push(began.elapsed());
    }
    times.sort();
    Ok(times[STARTS / 2])
}

/// Runs a program; returns the peak of its resident memory as the kernel keeps it (VmHWM), in
/// bytes.
fn peak_memory(command: &mut Command) -> Result<u64> {
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        // The kernel keeps the peak only until the process ends.
        peak = peak
            .max(fs::read_to_string(&status).ok().and_then(|text| high_water(&text)).unwrap_or(0));
        std::thread::sleep(LOOK);
    };
    ensure!(ended.success(), "{command:?}: {ended}");
    ensure!(peak > 0, "{command:?} ended before its memory was read");
    Ok(peak)
}

/// Peak of the resident memory in `/proc/PID/status`, in bytes.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}
