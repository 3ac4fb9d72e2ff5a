//! The program as released beside fio's `t/io_uring`, which only reads: the share of the kernel's
//! speed that is left when every latency is recorded and every cell judged.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{BLOCK_BYTES, Bench, DEPTH, Row, Sample, Target};
use crate::programs::{output, with_unit};

/// Name of the row.
const WHAT: &str = "the program's random-read, depth 32, against t/io_uring";

impl Bench {
    /// Random reads of 4 KiB at depth 32, by the program and by `t/io_uring` with registered
    /// buffers, files and ring, without polling.
    pub(super) fn against_tool(&self, program: &Path, tool: &Path) -> Result<Row> {
        self.in_turn(
            (WHAT, "IOPS", Target::AtLeast(1.0)),
            || self.program_reads(program),
            || self.tool_reads(tool),
        )
    }

    fn program_reads(&self, program: &Path) -> Result<Sample> {
        let home = tempfile::tempdir_in(self.file.parent().context("the file lies somewhere")?)?;
        let record = home.path().join("record.json");
        let time = format!("random-read.max_time={}s", self.time.as_secs());
        let mut command = Command::new(program);
        command
            .args(["run", "--quiet", "--only", "random-read", "--set", "random-read.block=4KiB"])
            .args(["--set", &format!("random-read.threads={DEPTH}"), "--set", &time])
            .args(["--set", "random-read.iterations=1000000000", "--json"])
            .arg(&record)
            .arg(&self.file)
            .env("FLASHMARK_HOME", home.path());
        output(&mut command)?;
        let record: Value = serde_json::from_slice(&fs::read(&record)?)?;
        let cell = &record["cells"][0];
        ensure!(cell["params"]["block_bytes"] == BLOCK_BYTES, "another cell: {cell}");
        let rate = cell["metrics"]["iops"]["value"].as_f64().context("the cell has no rate")?;
        Ok(Sample::of(rate))
    }

    fn tool_reads(&self, tool: &Path) -> Result<Sample> {
        let (depth, time) = (format!("-d{DEPTH}"), format!("-r{}", self.time.as_secs()));
        let batches = [format!("-s{DEPTH}"), format!("-c{DEPTH}")];
        let mut command = Command::new(tool);
        command
            .args([&depth, &batches[0], &batches[1], "-b4096", "-p0", "-B1", "-F1", "-R1", "-X1"])
            .arg(&time)
            .arg(&self.file);
        let text = output(&mut command)?;
        let rate = of_lines(&text);
        Ok(Sample::of(rate.with_context(|| format!("{} says no IOPS: {text}", tool.display()))?))
    }
}

/// Mean rate of its lines, one a second: `IOPS=3.28M, BW=12.8GiB/s, IOS/call=32/31`.
fn of_lines(text: &str) -> Option<f64> {
    let rates: Vec<f64> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("IOPS=")?.split(',').next())
        .filter_map(|rate| with_unit(rate, &[("", 1.0), ("K", 1e3), ("M", 1e6)]).ok())
        .collect();
    (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::of_lines;

    #[test]
    fn the_rate_is_the_mean_of_its_lines() {
        let text = "submitter=0, tid=1, file=x\nIOPS=3.20M, BW=12.50GiB/s, IOS/call=32/31\nIOPS=812K, BW=3GiB/s\nExiting on timeout\nMaximum IOPS=3.20M\n";
        assert_eq!(of_lines(text), Some((3.2e6 + 812e3) / 2.0));
        assert_eq!(of_lines("IOPS=90, BW=0MiB/s"), Some(90.0));
        assert_eq!(of_lines("nothing"), None);
    }
}
