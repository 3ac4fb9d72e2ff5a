//! The two programs, and the commands by which each does the same.

use std::cell::RefCell;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use record::{Direction, Record};
use serde_json::Value;

use super::cells::{Cell, Ends};
use super::loop_medium::LoopMedium;

/// Figures of one run, and its amount of I/O.
pub struct Measured {
    /// Rate, in I/Os a second.
    pub iops: f64,
    /// Median latency in nanoseconds.
    pub median_ns: f64,
    pub ops: u64,
    pub bytes: u64,
    /// Command line for a repetition; the device is called DEVICE.
    pub command: String,
    direction: Direction,
    span: (u64, u64),
}

impl Measured {
    /// Joins several turns to one run: all I/Os over all the time, and the median of the medians.
    /// `None` without a turn.
    pub fn together(turns: Vec<Measured>) -> Option<Measured> {
        let ops: u64 = turns.iter().map(|turn| turn.ops).sum();
        let bytes = turns.iter().map(|turn| turn.bytes).sum();
        let seconds: f64 = turns.iter().map(|turn| turn.ops as f64 / turn.iops).sum();
        let median_ns =
            stats::median(&mut turns.iter().map(|turn| turn.median_ns).collect::<Vec<_>>())?;
        let first = turns.into_iter().next()?;
        Some(Measured { iops: ops as f64 / seconds, median_ns, ops, bytes, ..first })
    }
}

#[cfg(test)]
impl Measured {
    /// Makes an invented figure, for tests.
    pub fn made_up(iops: f64) -> Measured {
        Measured {
            iops,
            median_ns: 1e9 / iops,
            ops: 1,
            bytes: 1,
            command: String::new(),
            direction: Direction::Read,
            span: (0, 1),
        }
    }
}

/// The program flashmark, measuring on one loop device.
pub struct Flashmark<'a> {
    program: &'a Path,
    loop_medium: &'a LoopMedium,
    machine: RefCell<String>,
}

impl<'a> Flashmark<'a> {
    /// Makes the program for this loop device.
    pub fn new(program: &'a Path, loop_medium: &'a LoopMedium) -> Result<Flashmark<'a>> {
        ensure!(program.is_file(), "there is no program at {}", program.display());
        Ok(Flashmark { program, loop_medium, machine: RefCell::default() })
    }

    /// Description of the machine from the last record.
    pub fn machine(&self) -> String {
        self.machine.borrow().clone()
    }

    /// Runs one cell.
    pub fn measure(&self, cell: &Cell) -> Result<Measured> {
        let device = self.loop_medium.device().display().to_string();
        let settings =
            cell.settings.iter().map(|(name, value)| format!("--set={}.{name}={value}", cell.test));
        let mut words = vec![
            "run".to_owned(),
            device.clone(),
            "--suite=seeds".into(),
            format!("--only={}", cell.test),
        ];
        words.extend(settings);
        words.extend([format!("--erase={device}"), "--quiet".into(), "--json=-".into()]);
        let output = self
            .loop_medium
            .pinned(self.program)
            .args(&words)
            .env("FLASHMARK_HOME", self.loop_medium.scratch())
            .output()?;
        ensure!(
            output.status.success(),
            "flashmark {}: {}",
            words.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let record = Record::from_json(&String::from_utf8(output.stdout)?)?;
        *self.machine.borrow_mut() = machine(&record);
        let command = format!("flashmark {}", words.join(" ").replace(&device, "DEVICE"));
        measured(&record, cell, command)
    }
}

/// Figures of the only cell of a record.
fn measured(record: &Record, cell: &Cell, command: String) -> Result<Measured> {
    let [found] = &record.cells[..] else {
        bail!("{}: {} cells instead of one", cell.name, record.cells.len())
    };
    ensure!(
        !found.stop.cut_short(),
        "{}: {}",
        cell.name,
        found.reason.as_deref().unwrap_or("interrupted")
    );
    if let Some(flag) = found.flags.iter().find(|flag| flag.is_impossible()) {
        bail!("{}: {flag}", cell.name);
    }
    let span = found
        .params
        .span_offset_bytes
        .zip(found.params.span_bytes)
        .context("the cell has no span")?;
    let iops = found.metrics.iops.context("the cell has no rate")?.value;
    let direction = found.params.direction.context("the cell has no direction")?;
    let median_ns = found
        .metrics
        .latency_ns
        .as_ref()
        .and_then(|latency| latency.p50)
        .context("the cell has no median latency")? as f64;
    Ok(Measured { iops, median_ns, ops: found.ops, bytes: found.bytes, command, direction, span })
}

/// Description in words: processor, its cores, and the version of the kernel.
fn machine(record: &Record) -> String {
    let host = record.host.clone().unwrap_or_default();
    let kernel = host.kernel.unwrap_or_default();
    let kernel = kernel.split('-').next().unwrap_or_default();
    format!(
        "{}, {} cores, Linux {kernel}",
        host.cpu.as_deref().unwrap_or("unknown processor"),
        host.cpus.unwrap_or(1)
    )
}

/// The program fio with the job that repeats a cell of ours.
pub struct Fio<'a> {
    loop_medium: &'a LoopMedium,
    words: Vec<String>,
    command: String,
    direction: Direction,
    span: (u64, u64),
}

impl<'a> Fio<'a> {
    /// Makes the job for the same I/O on the same span, with the same amount as `done`.
    pub fn new(cell: &Cell, done: &Measured, loop_medium: &'a LoopMedium) -> Fio<'a> {
        let device = loop_medium.device().display().to_string();
        let (offset, size) = done.span;
        let mut words: Vec<String> =
            ["--name=agree", "--direct=1", "--thread", "--randrepeat=0", "--lat_percentiles=1"]
                .map(str::to_owned)
                .to_vec();
        words.extend(cell.fio.iter().map(|word| (*word).to_owned()));
        words.extend([
            format!("--filename={device}"),
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
        let command = format!("fio {}", words.join(" ").replace(&device, "DEVICE"));
        Fio { loop_medium, words, command, direction: done.direction, span: done.span }
    }

    /// Runs fio once; an error if it fails or does no I/O.
    pub fn measure(&self) -> Result<Measured> {
        let output = self
            .loop_medium
            .pinned(Path::new("fio"))
            .args(&self.words)
            .arg("--output-format=json")
            .output()
            .context("taskset does not start")?;
        ensure!(
            output.status.success(),
            "{}: {}",
            self.command,
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let json = text.find('{').map(|at| &text[at..]).context("fio printed no JSON")?;
        self.read(&serde_json::from_str(json)?)
    }

    fn read(&self, results: &Value) -> Result<Measured> {
        let side = match self.direction {
            Direction::Read => "read",
            Direction::Write => "write",
        };
        let found = &results["jobs"][0][side];
        let number = |key: &str| {
            found[key].as_f64().with_context(|| format!("fio's results have no {side}.{key}"))
        };
        let (iops, ops, bytes) =
            (number("iops")?, number("total_ios")? as u64, number("io_bytes")? as u64);
        let median_ns = found["lat_ns"]["percentile"]["50.000000"]
            .as_f64()
            .context("fio's results have no median latency")?;
        ensure!(ops > 0 && iops > 0.0, "fio did no I/O: {}", self.command);
        Ok(Measured {
            iops,
            median_ns,
            ops,
            bytes,
            command: self.command.clone(),
            direction: self.direction,
            span: self.span,
        })
    }
}
