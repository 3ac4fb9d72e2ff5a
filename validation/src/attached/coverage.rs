//! `cargo validation attached --coverage`: counts how often printed intervals contain the truth on
//! attached media, through the kernel, on a host with nothing else to do.
//!
//! The way through two drivers takes time of its own, which no model has: 1 MiB arrives in pieces,
//! a sync also writes the time of the kernel's clock to the journal. So each medium is run many
//! times, fresh each time. The truth of a rate is that of many runs in virtual time, plus the time
//! that the way adds to an I/O; the latter comes from the I/Os of all other runs. (From their rates
//! it was wrong by a sixth on media with rare retries of seconds, which some runs meet and others
//! do not.) The truth of a percentile is that of the I/Os of all other runs. The cost of the way is
//! measured once for all intervals, or each would have another medium. All media take milliseconds:
//! on faster ones the study would measure the way.

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
const MEDIA: [&str; 6] =
    ["sd-worst", "sd-class4", "class6", "class10-bypass", "usb2-kingston", "disk-5400"];

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

/// Number of runs of each medium.
const RUNS: u64 = 6;
/// Number of runs in virtual time, with seeds of their own.
const MODELLED: u64 = 40;
/// A run counts as quiet if its waiting time is at most this factor of that in the quietest run.
const QUIET: f64 = 1.5;
/// Percent of 95 % intervals that should contain the truth.
const EXPECTED: std::ops::RangeInclusive<f64> = 90.0..=98.0;

/// Makes the table; returns it with the goals that are missed.
pub fn compare(
    program: &Program,
    only: &[String],
    keep: Option<&Path>,
) -> Result<(String, Vec<String>)> {
    let home = tempfile::tempdir()?;
    let suite = home.path().join("coverage.toml");
    fs::write(&suite, SUITE)?;
    // One after the other: with a second medium the host would not be quiet.
    let mut rows = Vec::new();
    for profile in MEDIA.into_iter().filter(|name| is_wanted(only, name)) {
        let kept = keep.map(|dir| dir.join(format!("{profile}.json")));
        let runs = match kept.as_deref().filter(|kept| kept.exists()) {
            Some(kept) => serde_json::from_reader(std::io::BufReader::new(fs::File::open(kept)?))?,
            None => measure(program, &suite, profile)?,
        };
        if let Some(kept) = kept {
            fs::write(kept, serde_json::to_vec(&runs)?)?;
        }
        let row = Row::of(profile, &runs);
        eprintln!("{}", row.line());
        rows.push(row);
    }
    ensure!(!rows.is_empty(), "no such profile among {}", MEDIA.join(", "));
    table(&rows)
}

/// Counts of intervals of one medium that contain the truth.
struct Row {
    profile: String,
    coverage: [Coverage; 3],
    /// Intervals that do not contain the truth, in words.
    wrong: Vec<String>,
}

/// The cells of many runs by their names: in virtual time, and on attached media.
type Runs = [BTreeMap<String, Vec<Cell>>; 2];

fn measure(program: &Program, suite: &Path, profile: &str) -> Result<Runs> {
    // A run would pay for what the run before left open.
    let on_a_fresh_medium = |seed: u64| -> Result<Vec<Cell>> {
        let (home, way) =
            (tempfile::tempdir()?, format!("--way={}", suite.with_file_name("way.json").display()));
        let medium = Medium::with(program, profile, &[&format!("--seed={seed}"), &way])?;
        let target = [&medium.node, "--erase", &medium.node, "--yes"];
        let record: Record =
            serde_json::from_value(run_suite(program, home.path(), suite, &target, seed)?)?;
        Ok(record.cells)
    };
    let in_virtual_time = |seed: u64| -> Result<Vec<Cell>> {
        let home = tempfile::tempdir()?;
        let record: Record = serde_json::from_value(run_suite(
            program,
            home.path(),
            suite,
            &[&format!("sim:{profile}")],
            seed,
        )?)?;
        Ok(record.cells)
    };
    Ok([
        by_id((1..=MODELLED).map(|number| in_virtual_time(RUNS + number)))?,
        by_id((1..=RUNS).map(on_a_fresh_medium))?,
    ])
}

impl Row {
    fn of(profile: &str, [modelled, attached]: &Runs) -> Row {
        let mut row =
            Row { profile: profile.to_owned(), coverage: Default::default(), wrong: Vec::new() };
        for (id, cells) in attached {
            let model: Vec<&Cell> = modelled.get(id).into_iter().flatten().collect();
            for (at, cell) in cells.iter().enumerate() {
                let others: Vec<&Cell> = cells
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != at)
                    .map(|(_, cell)| cell)
                    .collect();
                row.hold(cell, &Truth { model: &model, others: &others });
            }
        }
        row.wrong.iter().for_each(|line| eprintln!("{profile}: {line}"));
        row
    }

    /// Compares a run's intervals of a cell with the truth.
    fn hold(&mut self, cell: &Cell, of: &Truth<'_>) {
        for (at, figure) in FIGURES.into_iter().enumerate() {
            if let (Some(interval), Some(truth)) = (figure.printed(cell), of.figure(figure)) {
                self.count(at, cell, interval, truth);
            }
        }
    }

    fn count(&mut self, what: usize, cell: &Cell, interval: [f64; 2], truth: f64) {
        let [low, high, truth] = [interval[0], interval[1], truth].map(three_digits);
        self.coverage[what].count([low, high], truth);
        if !(low..=high).contains(&truth) {
            self.wrong.push(format!(
                "{} {}: {low} to {high}, in truth {truth}",
                cell.id,
                FIGURES[what].name()
            ));
        }
    }

    fn line(&self) -> String {
        let columns =
            self.coverage.map(|coverage| format!(" {} |", coverage_text(coverage))).concat();
        format!("| {} |{columns}", self.profile)
    }
}

/// Runs from which the truth of a cell is computed.
struct Truth<'a> {
    /// Cell in virtual time, of many runs.
    model: &'a [&'a Cell],
    /// Cell on attached media, of the other runs.
    others: &'a [&'a Cell],
}

impl Truth<'_> {
    /// True value of a figure: for a percentile that of all other runs together. Runs that the host
    /// disturbed do not count.
    fn figure(&self, figure: Figure) -> Option<f64> {
        let quietest_ns =
            self.others.iter().map(|cell| run_delay_ns(cell)).fold(f64::INFINITY, f64::min);
        let quiet: Vec<&Cell> = self
            .others
            .iter()
            .copied()
            .filter(|cell| run_delay_ns(cell) <= QUIET * quietest_ns)
            .collect();
        match figure {
            Figure::Rate => self.rate(&quiet),
            Figure::P50 | Figure::P99 => figure.of(&quiet),
        }
    }

    /// True rate: that of the runs in virtual time, plus the time that the way adds to each I/O.
    /// I/Os in flight together share that time.
    fn rate(&self, quiet: &[&Cell]) -> Option<f64> {
        let modelled = rate(self.model)?;
        if latencies_add_up(self.model) {
            let way_ns = middle_ns(quiet)? - middle_ns(self.model)?;
            return Some(
                1e9 / (1e9 / modelled + way_ns / self.model.first()?.params.in_flight() as f64),
            );
        }
        let middle = |cells: &[&Cell]| {
            stats::pairwise_median(
                &cells.iter().filter_map(|cell| rate(&[cell])).collect::<Vec<_>>(),
            )
        };
        Some(modelled * middle(quiet)? / middle(self.model)?)
    }
}

/// True if the latencies add up to the elapsed time. Those of a logger's lines, which have due
/// times, do not: lines wait for one another.
fn latencies_add_up(cells: &[&Cell]) -> bool {
    let of = |cell: &&Cell| {
        let (iops, latency) = (cell.metrics.iops?, cell.metrics.latency_ns.as_ref()?);
        Some((
            latency.mean * iops.n as f64 / cell.params.in_flight() as f64,
            iops.n as f64 / iops.value * 1e9,
        ))
    };
    let (latencies_ns, took_ns) =
        cells.iter().filter_map(of).fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    took_ns > 0.0 && (0.8..1.25).contains(&(latencies_ns / took_ns))
}

/// Typical time of an I/O: the mean of the nine deciles, in nanoseconds. Rare stalls do not change
/// it.
fn middle_ns(cells: &[&Cell]) -> Option<f64> {
    let deciles = (1..10).map(|tenth| quantile(cells, f64::from(tenth) / 10.0));
    Some(deciles.sum::<Option<f64>>()? / 9.0)
}

/// A figure of a cell that has an interval.
#[derive(Clone, Copy)]
enum Figure {
    /// Rate, in I/Os a second.
    Rate,
    /// Median latency, in nanoseconds.
    P50,
    /// 99th percentile of the latency, in nanoseconds.
    P99,
}

const FIGURES: [Figure; 3] = [Figure::Rate, Figure::P50, Figure::P99];

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Rate => "rates",
            Figure::P50 => "p50",
            Figure::P99 => "p99",
        }
    }

    /// Interval in the record.
    fn printed(self, cell: &Cell) -> Option<[f64; 2]> {
        match self {
            Figure::Rate => cell.metrics.iops?.ci95,
            _ => cell
                .metrics
                .latency_ns
                .as_ref()?
                .ci95
                .get(self.name())
                .map(|ci| ci.map(|ns| ns as f64)),
        }
    }

    /// Value over all of these cells together.
    fn of(self, cells: &[&Cell]) -> Option<f64> {
        match self {
            Figure::Rate => rate(cells),
            Figure::P50 => quantile(cells, 0.50),
            Figure::P99 => quantile(cells, 0.99),
        }
    }
}

/// Cells of all runs by their names.
fn by_id(runs: impl Iterator<Item = Result<Vec<Cell>>>) -> Result<BTreeMap<String, Vec<Cell>>> {
    let mut by_id: BTreeMap<String, Vec<Cell>> = BTreeMap::new();
    for cells in runs {
        cells?.into_iter().for_each(|cell| by_id.entry(cell.id.clone()).or_default().push(cell));
    }
    Ok(by_id)
}

/// Rounds a value as it is printed.
fn three_digits(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Mean time that an I/O waited for a processor, in nanoseconds.
fn run_delay_ns(cell: &Cell) -> f64 {
    cell.metrics.other.get(record::metric::RUN_DELAY_NS).map_or(0.0, |late| late.value)
}

/// Rate of these cells together, in IOPS.
fn rate(cells: &[&Cell]) -> Option<f64> {
    let known = cells
        .iter()
        .filter_map(|cell| cell.metrics.iops)
        .filter(|iops| iops.ci95.is_some() && iops.value > 0.0);
    let (n, seconds) =
        known.fold((0.0, 0.0), |(n, s), iops| (n + iops.n as f64, s + iops.n as f64 / iops.value));
    (seconds > 0.0).then(|| n / seconds)
}

/// Quantile of their latencies together, in nanoseconds.
fn quantile(cells: &[&Cell], share: f64) -> Option<f64> {
    let mut all = Histogram::default();
    cells.iter().filter_map(|cell| cell.histogram.as_ref()).for_each(|own| all.merge(own));
    (!all.is_empty()).then(|| all.quantile(share) as f64)
}

fn coverage_text(coverage: Coverage) -> String {
    coverage
        .percent()
        .map_or("-".to_owned(), |percent| format!("{percent:.1} % of {}", coverage.runs))
}

fn table(rows: &[Row]) -> Result<(String, Vec<String>)> {
    let mut text = format!(
        "`cargo validation attached --coverage`; target: 90 to 98 % in all. {RUNS} runs of each medium; intervals of 95 %, as printed. Rates against what \
         {MODELLED} runs in virtual time say\ntogether and what the way through two drivers adds to each I/O, told from the other runs; percentiles against \
         those of the other runs' I/Os together.\n\n\
         | medium | rates | p50 | p99 |\n|---|---:|---:|---:|\n"
    );
    rows.iter().try_for_each(|row| writeln!(text, "{}", row.line()))?;
    let mut all = Row { profile: "all".into(), coverage: Default::default(), wrong: Vec::new() };
    rows.iter().for_each(|row| {
        all.coverage.iter_mut().zip(row.coverage).for_each(|(sum, of)| sum.add(of))
    });
    writeln!(text, "{}", all.line())?;
    let is_missed = |coverage: &Coverage| {
        coverage.percent().is_some_and(|percent| !EXPECTED.contains(&percent))
    };
    let missed = FIGURES.iter().zip(all.coverage).filter(|(_, coverage)| is_missed(coverage));
    Ok((
        text,
        missed
            .map(|(figure, coverage)| format!("{}: {}", figure.name(), coverage_text(coverage)))
            .collect(),
    ))
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Latency, Params};

    use super::*;

    fn cell(iops: f64, n: u64, ns: u64) -> Cell {
        let mut cell = Cell::begun("random-read/1", "random-read", Params::default());
        cell.metrics.iops = Some(Estimate { value: iops, ci95: Some([iops * 0.9, iops * 1.1]), n });
        let mut latency = Latency { n, p50: Some(ns), mean: 1e9 / iops, ..Latency::default() };
        latency.ci95.insert("p50".into(), [ns - ns / 10, ns + ns / 10]);
        cell.metrics.latency_ns = Some(latency);
        let mut histogram = Histogram::default();
        histogram.record_n(ns, n);
        cell.histogram = Some(histogram);
        cell
    }

    #[test]
    fn a_run_is_held_against_virtual_time_and_what_the_way_makes_of_it() {
        let mut row = Row { profile: "a1".into(), coverage: Default::default(), wrong: Vec::new() };
        // Both print as the same.
        assert_eq!(three_digits(1_016_872.0), three_digits(1_017_598.0));
        // 100 in a second and 300 in six are 400 in seven: 17.5 ms each.
        let model = [cell(100.0, 100, 10_000_000), cell(50.0, 300, 10_000_000)];
        let model: Vec<&Cell> = model.iter().collect();
        assert!((rate(&model).unwrap() - 400.0 / 7.0).abs() < 1e-9);
        // The way adds 7.5 ms to each; one of five runs met a stall.
        let others = [25.0, 1.0, 25.0, 25.0, 25.0].map(|iops| cell(iops, 100, 17_500_000));
        let truth = Truth { model: &model, others: &others.iter().collect::<Vec<_>>() };
        assert!(
            (truth.figure(Figure::Rate).unwrap() - 40.0).abs() < 0.1,
            "{:?}",
            truth.figure(Figure::Rate)
        );
        row.hold(&cell(40.0, 100, 17_500_000), &truth);
        assert_eq!(row.line(), "| a1 | 100.0 % of 1 | 100.0 % of 1 | - |");
        row.hold(&cell(30.0, 100, 1_000_000), &truth);
        assert_eq!(row.line(), "| a1 | 50.0 % of 2 | 50.0 % of 2 | - |");
        assert_eq!(row.wrong.len(), 2);
        insta::assert_snapshot!(row.wrong[0], @"random-read/1 rates: 27 to 33, in truth 40");
        // Eight I/Os in flight share it.
        let deep = |iops: f64, ns: u64| {
            let mut cell = cell(iops, 100, ns);
            cell.params.queue_depth = 8;
            cell.metrics.latency_ns.as_mut().unwrap().mean *= 8.0;
            cell
        };
        let (alone, others) = (deep(1000.0, 8_000_000), [deep(900.0, 9_600_000)]);
        let truth = Truth { model: &[&alone], others: &others.iter().collect::<Vec<_>>() };
        assert!(
            (truth.figure(Figure::Rate).unwrap() - 1e9 / 1_200_000.0).abs() < 5.0,
            "{:?}",
            truth.figure(Figure::Rate)
        );
        // Lines that wait for one another: the way halves the rate, whatever their latencies are.
        let line = |iops: f64| {
            let mut cell = cell(iops, 100, 1_000_000);
            cell.metrics.latency_ns.as_mut().unwrap().mean *= 3.0;
            cell
        };
        let (alone, others) = (line(100.0), [line(50.0)]);
        let truth = Truth { model: &[&alone], others: &others.iter().collect::<Vec<_>>() };
        assert_eq!(truth.figure(Figure::Rate), Some(50.0));
        // Runs that the host disturbed say nothing about the way.
        let late = |ns: u64, value: f64| {
            let mut cell = cell(25.0, 100, ns);
            cell.metrics.other.insert(
                record::metric::RUN_DELAY_NS.into(),
                Estimate { value, ci95: None, n: 100 },
            );
            cell
        };
        let others = [
            late(17_500_000, 50.0),
            late(17_500_000, 60.0),
            late(30_000_000, 90.0),
            late(40_000_000, 200.0),
        ];
        let truth = Truth { model: &model, others: &others.iter().collect::<Vec<_>>() };
        assert!((truth.figure(Figure::Rate).unwrap() - 40.0).abs() < 0.1);
        assert_eq!(table(&[row]).unwrap().1, ["rates: 50.0 % of 2", "p50: 50.0 % of 2"]);
    }
}
