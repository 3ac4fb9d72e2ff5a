//! `cargo xtask attached --coverage`: how often printed intervals hold the truth on attached media, through the kernel, on a host with nothing else to do.
//!
//! The way through two drivers takes time of its own, which no model tells: 1 MiB arrives in pieces, a sync journals what the kernel's clock says. So each
//! medium is run over and over, fresh each time, and each interval of a run is held against what all other runs say together. What the way
//! costs is measured once for all of them, or each would be another medium. Media that take milliseconds: of faster ones the way would be measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use record::{Cell, Histogram, Record};

use super::is_wanted;
use super::medium::{Medium, Program};
use super::tools::run_suite;
use crate::truth::Coverage;

/// Cards, a stick, a disk.
const MEDIA: [&str; 6] = ["sd-worst", "sd-class4", "class6", "class10-bypass", "usb2-kingston", "disk-5400"];

/// One cell of each kind that prints intervals, in a minute at most.
const SUITE: &str = r#"
name = "coverage"
about = "one cell of each kind that prints intervals"
time_limit = "4m"

[[test]]
name = "prime"
span = "64MiB"
passes = 1
max_time = "6s"

[[test]]
name = "sequential-write"
block = "1MiB"
span = "256MiB"
total = "256MiB"
min_time = "1s"
max_time = "5s"

[[test]]
name = "sequential-read"
block = "1MiB"
max_time = "3s"

[[test]]
name = "random-read"
block = "4KiB"
max_time = "3s"

[[test]]
name = "random-write"
block = ["4KiB", "16KiB"]
span = "256MiB"
total = "256MiB"
overwhelm = "16MiB"
overwhelm_time = "20%"
max_time = "8s"

[[test]]
name = "commit"
max_time = "6s"

[[test]]
name = "log-append"
time = "5s"
"#;

/// Runs of each medium. What the others say together has a chance of its own, 0.45 of a run's: of intervals of
/// 95 % that costs two percent.
const RUNS: u64 = 6;
/// Of intervals of 95 % so many should hold the truth, in percent.
const EXPECTED: std::ops::RangeInclusive<f64> = 90.0..=98.0;
const NAMES: [&str; 3] = ["rates", "p50", "p99"];

/// The table, and what is missed.
pub fn compare(program: &Program, only: &[String]) -> Result<(String, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let suite = home.path().join("coverage.toml");
    fs::write(&suite, SUITE)?;
    // One after the other: a medium beside it is no quiet host.
    let mut rows = Vec::new();
    for profile in MEDIA.into_iter().filter(|name| is_wanted(only, name)) {
        let row = Row::measure(program, &suite, profile)?;
        eprintln!("{}", row.line());
        rows.push(row);
    }
    ensure!(!rows.is_empty(), "no such profile among {}", MEDIA.join(", "));
    table(&rows)
}

/// One medium.
struct Row {
    profile: String,
    coverage: [Coverage; 3],
    /// Intervals that did not hold the truth, in words.
    wrong: Vec<String>,
}

impl Row {
    fn measure(program: &Program, suite: &Path, profile: &str) -> Result<Row> {
        // What a run leaves open, the next one would pay for.
        let on_a_fresh_medium = |seed: u64| -> Result<Vec<Cell>> {
            let (home, way) = (tempfile::tempdir()?, format!("--way={}", suite.with_file_name("way.json").display()));
            let medium = Medium::with(program, profile, &[&format!("--seed={seed}"), &way])?;
            let target = [&medium.node, "--erase", &medium.node, "--yes"];
            let record: Record = serde_json::from_value(run_suite(program, home.path(), suite, &target, seed)?)?;
            Ok(record.cells)
        };
        let attached = by_id((1..=RUNS).map(on_a_fresh_medium))?;
        let mut row = Row { profile: profile.to_owned(), coverage: Default::default(), wrong: Vec::new() };
        for cells in attached.values() {
            for (at, cell) in cells.iter().enumerate() {
                let others: Vec<&Cell> = cells.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, cell)| cell).collect();
                row.hold(cell, &others);
            }
        }
        row.wrong.iter().for_each(|line| eprintln!("{profile}: {line}"));
        Ok(row)
    }

    /// Holds what a run says of a cell against what the others say together.
    fn hold(&mut self, cell: &Cell, others: &[&Cell]) {
        if let (Some([low, high]), Some(truth)) = (cell.metrics.iops.and_then(|iops| iops.ci95), rate(others)) {
            self.count(0, cell, [low, high], truth);
        }
        let told = cell.metrics.latency_ns.as_ref().map(|latency| &latency.ci95);
        for (at, (name, share)) in [("p50", 0.50), ("p99", 0.99)].into_iter().enumerate() {
            if let (Some([low, high]), Some(truth)) = (told.and_then(|told| told.get(name).copied()), quantile(others, share)) {
                self.count(1 + at, cell, [low as f64, high as f64], truth as f64);
            }
        }
    }

    fn count(&mut self, what: usize, cell: &Cell, interval: [f64; 2], truth: f64) {
        self.coverage[what].count(interval, truth);
        if !(interval[0]..=interval[1]).contains(&truth) {
            let [low, high] = interval.map(record::units::significant);
            let truth = record::units::significant(truth);
            self.wrong.push(format!("{} {}: {low} to {high}, all others say {truth}", cell.id, NAMES[what]));
        }
    }

    fn line(&self) -> String {
        let columns = self.coverage.map(|coverage| format!(" {} |", told(coverage))).concat();
        format!("| {} |{columns}", self.profile)
    }
}

/// The cells of all runs by their names.
fn by_id(runs: impl Iterator<Item = Result<Vec<Cell>>>) -> Result<BTreeMap<String, Vec<Cell>>> {
    let mut by_id: BTreeMap<String, Vec<Cell>> = BTreeMap::new();
    for cells in runs {
        cells?.into_iter().for_each(|cell| by_id.entry(cell.id.clone()).or_default().push(cell));
    }
    Ok(by_id)
}

/// I/Os a second of these together.
fn rate(cells: &[&Cell]) -> Option<f64> {
    let known = cells.iter().filter_map(|cell| cell.metrics.iops).filter(|iops| iops.ci95.is_some() && iops.value > 0.0);
    let (n, seconds) = known.fold((0.0, 0.0), |(n, s), iops| (n + iops.n as f64, s + iops.n as f64 / iops.value));
    (seconds > 0.0).then(|| n / seconds)
}

/// A quantile of their latencies together, in nanoseconds.
fn quantile(cells: &[&Cell], share: f64) -> Option<u64> {
    let mut all = Histogram::default();
    cells.iter().filter_map(|cell| cell.histogram.as_ref()).for_each(|own| all.merge(own));
    (!all.is_empty()).then(|| all.quantile(share))
}

fn told(coverage: Coverage) -> String {
    coverage.percent().map_or("-".to_owned(), |percent| format!("{percent:.1} % of {}", coverage.runs))
}

fn table(rows: &[Row]) -> Result<(String, Vec<String>)> {
    let mut text = format!(
        "`cargo xtask attached --coverage`; target: 90 to 98 % in all. {RUNS} runs of each medium; each printed interval of 95 % against what all other runs of \
         that medium say together,\nwhich has a chance of its own (0.45 of a run's: 93 % are expected).\n\n\
         | medium | rates | p50 | p99 |\n|---|---:|---:|---:|\n"
    );
    rows.iter().try_for_each(|row| writeln!(text, "{}", row.line()))?;
    let mut all = Row { profile: "all".into(), coverage: Default::default(), wrong: Vec::new() };
    rows.iter().for_each(|row| all.coverage.iter_mut().zip(row.coverage).for_each(|(sum, of)| sum.add(of)));
    writeln!(text, "{}", all.line())?;
    let is_missed = |coverage: &Coverage| coverage.percent().is_some_and(|percent| !EXPECTED.contains(&percent));
    let missed = NAMES.iter().zip(all.coverage).filter(|(_, coverage)| is_missed(coverage));
    Ok((text, missed.map(|(name, coverage)| format!("{name}: {}", told(coverage))).collect()))
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Latency, Params};

    use super::*;

    fn cell(iops: f64, n: u64, ns: u64) -> Cell {
        let mut cell = Cell::begun("random-read/1", "random-read", Params::default());
        cell.metrics.iops = Some(Estimate { value: iops, ci95: Some([iops * 0.9, iops * 1.1]), n });
        let mut latency = Latency { n, p50: Some(ns), ..Latency::default() };
        latency.ci95.insert("p50".into(), [ns - ns / 10, ns + ns / 10]);
        cell.metrics.latency_ns = Some(latency);
        let mut histogram = Histogram::default();
        histogram.record_n(ns, n);
        cell.histogram = Some(histogram);
        cell
    }

    #[test]
    fn a_run_is_held_against_all_others_together() {
        let mut row = Row { profile: "a1".into(), coverage: Default::default(), wrong: Vec::new() };
        // 100 in a second and 300 in six are 400 in seven.
        let others = [cell(100.0, 100, 1_000_000), cell(50.0, 300, 2_000_000)];
        let others: Vec<&Cell> = others.iter().collect();
        assert!((rate(&others).unwrap() - 400.0 / 7.0).abs() < 1e-9);
        row.hold(&cell(57.0, 100, 2_000_000), &others);
        assert_eq!(row.line(), "| a1 | 100.0 % of 1 | 100.0 % of 1 | - |");
        row.hold(&cell(80.0, 100, 1_000_000), &others);
        assert_eq!(row.line(), "| a1 | 50.0 % of 2 | 50.0 % of 2 | - |");
        assert_eq!(row.wrong.len(), 2);
        insta::assert_snapshot!(row.wrong[0], @"random-read/1 rates: 72.0 to 88.0, all others say 57.1");
        assert_eq!(table(&[row]).unwrap().1, ["rates: 50.0 % of 2", "p50: 50.0 % of 2"]);
    }
}
