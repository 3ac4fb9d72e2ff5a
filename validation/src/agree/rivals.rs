//! The two programs, and the commands by which each does the same.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use record::{Direction, Flag, Record};

use super::cells::{Cell, Ends};
use super::loop_medium::LoopMedium;
use crate::pairs::Speed;
use crate::programs::{fio_results, output};

/// Figures of one turn.
pub struct Turn {
    speed: Speed,
    ops: u64,
}

/// Joins several turns to one run: all I/Os over all the time, and the median of the medians.
/// `None` without a turn.
pub fn together(turns: &[Turn]) -> Option<Speed> {
    let ops: u64 = turns.iter().map(|turn| turn.ops).sum();
    let seconds: f64 = turns.iter().map(|turn| turn.ops as f64 / turn.speed.iops).sum();
    let mut medians: Vec<f64> = turns.iter().map(|turn| turn.speed.median_ns).collect();
    Some(Speed { iops: ops as f64 / seconds, median_ns: stats::median(&mut medians)? })
}

/// The program flashmark, measuring on one loop device.
pub struct Flashmark<'a> {
    program: &'a Path,
    loop_medium: &'a LoopMedium,
}

impl<'a> Flashmark<'a> {
    /// Makes the program for this loop device.
    pub fn new(program: &'a Path, loop_medium: &'a LoopMedium) -> Result<Flashmark<'a>> {
        ensure!(program.is_file(), "there is no program at {}", program.display());
        Ok(Flashmark { program, loop_medium })
    }

    fn words(cell: &Cell, device: &str) -> Vec<String> {
        let settings =
            cell.settings.iter().map(|(name, value)| format!("--set={}.{name}={value}", cell.test));
        let mut words = vec!["run".to_owned(), device.to_owned(), "--suite=seeds".into()];
        words.push(format!("--only={}", cell.test));
        words.extend(settings);
        words.extend([format!("--erase={device}"), "--quiet".into(), "--json=-".into()]);
        words
    }

    /// Command line for a repetition; the device is called DEVICE.
    pub fn command(&self, cell: &Cell) -> String {
        format!("flashmark {}", Flashmark::words(cell, "DEVICE").join(" "))
    }

    /// Runs one cell.
    pub fn measure(&self, cell: &Cell) -> Result<record::Cell> {
        let device = self.loop_medium.device().display().to_string();
        let mut command = self.loop_medium.pinned(self.program);
        command.args(Flashmark::words(cell, &device));
        command.env("FLASHMARK_HOME", self.loop_medium.scratch());
        let cells = Record::from_json(&output(&mut command)?)?.cells;
        let Ok([found]) = <[record::Cell; 1]>::try_from(cells) else {
            bail!("{}: not one cell", cell.name)
        };
        let reason = found.reason.as_deref().unwrap_or("interrupted");
        ensure!(!found.stop.cut_short(), "{}: {reason}", cell.name);
        // That the loop device is in memory is what was asked for.
        let is_fault = |flag: &&Flag| flag.is_impossible() && **flag != Flag::MemoryFilesystem;
        if let Some(flag) = found.flags.iter().find(is_fault) {
            bail!("{}: {flag}", cell.name);
        }
        Ok(found)
    }
}

/// Rate and median latency of a cell of ours.
pub fn speed(cell: &record::Cell) -> Result<Speed> {
    let iops = cell.metrics.iops.with_context(|| format!("{} has no rate", cell.id))?.value;
    let median = cell.metrics.latency_ns.as_ref().and_then(|latency| latency.p50);
    let median_ns = median.with_context(|| format!("{} has no median latency", cell.id))? as f64;
    Ok(Speed { iops, median_ns })
}

/// Figures of a cell of ours.
pub fn turn(cell: &record::Cell) -> Result<Turn> {
    Ok(Turn { speed: speed(cell)?, ops: cell.ops })
}

/// The program fio with the job that repeats a cell of ours.
pub struct Fio<'a> {
    loop_medium: &'a LoopMedium,
    words: Vec<String>,
    /// Part of the results with its figures: "read".
    side: &'static str,
}

impl<'a> Fio<'a> {
    /// Makes the job for the same I/O on the same span, with the same amount as `done`.
    pub fn new(cell: &Cell, done: &record::Cell, loop_medium: &'a LoopMedium) -> Result<Fio<'a>> {
        let params = &done.params;
        let span = params.span_offset_bytes.zip(params.span_bytes);
        let (offset, size) = span.context("the cell has no span")?;
        let side = match params.direction.context("the cell has no direction")? {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        let mut words: Vec<String> =
            ["--name=agree", "--direct=1", "--thread", "--randrepeat=0", "--lat_percentiles=1"]
                .map(str::to_owned)
                .to_vec();
        words.extend(cell.fio.iter().map(|word| (*word).to_owned()));
        words.extend([
            format!("--filename={}", loop_medium.device().display()),
            format!("--offset={offset}"),
            format!("--size={size}"),
        ]);
        match cell.ends {
            Ends::Bytes => words.push(format!("--io_size={}", done.bytes)),
            Ends::Ops => words.push(format!("--number_ios={}", done.ops)),
            Ends::Seconds(seconds) => {
                words.extend(["--time_based".to_owned(), format!("--runtime={seconds}")])
            }
        }
        Ok(Fio { loop_medium, words, side })
    }

    /// Command line for a repetition; the device is called DEVICE.
    pub fn command(&self) -> String {
        let device = self.loop_medium.device().display().to_string();
        format!("fio {}", self.words.join(" ").replace(&device, "DEVICE"))
    }

    /// Runs fio once; an error if it fails or does no I/O.
    pub fn measure(&self) -> Result<Turn> {
        let mut command = self.loop_medium.pinned(Path::new("fio"));
        command.args(&self.words);
        let (speed, ops) = fio(&mut command, self.side)?;
        Ok(Turn { speed, ops })
    }
}

/// Runs fio; returns the sum of its jobs' rates, the median of their median latencies and the
/// number of I/Os, of one direction ("read"). An error if it did no I/O.
pub fn fio(command: &mut Command, side: &str) -> Result<(Speed, u64)> {
    let results = fio_results(&output(command.arg("--output-format=json"))?)?;
    let jobs = results["jobs"].as_array().context("fio's results have no jobs")?;
    let sum = |key: &str| jobs.iter().filter_map(|job| job[side][key].as_f64()).sum::<f64>();
    let (iops, ops) = (sum("iops"), sum("total_ios"));
    ensure!(ops > 0.0 && iops > 0.0, "fio did no I/O: {command:?}");
    let median = |job: &serde_json::Value| job[side]["lat_ns"]["percentile"]["50.000000"].as_f64();
    let mut medians: Vec<f64> = jobs.iter().filter_map(median).collect();
    let median_ns = stats::median(&mut medians).context("fio's results have no median latency")?;
    Ok((Speed { iops, median_ns }, ops as u64))
}
