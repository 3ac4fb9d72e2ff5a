//! A cell: one row of results, with its test, parameters and figures.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::units::rounded;
use crate::{Bound, CellError, Flag, Histogram, HostState, Params, Sample, Series, metric};

/// A measured figure with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The figure, in the unit that its name has.
    pub value: f64,
    /// Its 95 % confidence interval; null where the samples do not support one.
    pub ci95: Option<[f64; 2]>,
    /// Number of I/Os (or repeats) behind it.
    pub n: u64,
}

impl Estimate {
    /// A figure without an interval that rests on `n` I/Os or repeats.
    pub const fn of(value: f64, n: u64) -> Estimate {
        Estimate { value, ci95: None, n }
    }

    fn round(&mut self) {
        self.ci95.iter_mut().flatten().chain([&mut self.value]).for_each(round);
    }

    /// Half the width of its interval over the figure; `None` without an interval.
    pub fn relative_half_width(&self) -> Option<f64> {
        let [low, high] = self.ci95?;
        Some((high - low) / (2.0 * self.value.abs()))
    }

    /// True if half its interval is wider than the figure: such an interval says nothing.
    pub fn is_open(&self) -> bool {
        self.relative_half_width().is_some_and(|share| share > 1.0)
    }
}

/// Words in place of an interval whose half is wider than its figure.
pub const OPEN_INTERVAL: &str = "still open";

/// Latencies of I/Os, in nanoseconds. A percentile with too few samples is absent
/// (docs/field/statistics.md#percentiles).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Number of I/Os behind these times.
    pub n: u64,
    /// Time of the fastest I/O, in nanoseconds.
    pub min: u64,
    /// Arithmetic mean of all times, in nanoseconds.
    pub mean: f64,
    /// Median time, in nanoseconds; null where the samples are too few.
    pub p50: Option<u64>,
    /// Time that 90 % of the I/Os do not exceed; null where the samples are too few.
    pub p90: Option<u64>,
    /// Time that 95 % of the I/Os do not exceed; null where the samples are too few.
    pub p95: Option<u64>,
    /// Time that 99 % of the I/Os do not exceed; null where the samples are too few.
    pub p99: Option<u64>,
    /// Time that 99.9 % of the I/Os do not exceed; null where the samples are too few.
    pub p99_9: Option<u64>,
    /// Time of the slowest I/O, the worst stall, in nanoseconds.
    pub max: u64,
    /// 95 % intervals of percentiles, by name ("p50", "p99"), from order statistics; absent where
    /// the samples are too few.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ci95: BTreeMap<String, [u64; 2]>,
}

/// Measured figures. Names carry their unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metrics {
    /// I/O operations a second: total over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Estimate>,
    /// Bytes a second: total over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bps: Option<Estimate>,
    /// Time of one I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns: Option<Latency>,
    /// Everything else a test reports: `access_time_ns`, `cpu_ns_per_io`, `groups_per_s`,
    /// `burst_iops`, `zero_to_random_ratio`.
    #[serde(default, flatten)]
    pub other: BTreeMap<String, Estimate>,
}

impl Metrics {
    /// The figure of this name, without its interval; `None` if it was not measured.
    pub fn value(&self, name: &str) -> Option<f64> {
        Some(self.other.get(name)?.value)
    }

    /// Adds a figure.
    pub fn add(&mut self, name: &str, figure: Estimate) {
        self.other.insert(name.to_owned(), figure);
    }

    /// Adds a figure without an interval that rests on `n` I/Os or repeats, if it is known.
    pub fn put(&mut self, name: &str, value: impl Into<Option<f64>>, n: u64) {
        if let Some(value) = value.into() {
            self.add(name, Estimate::of(value, n));
        }
    }

    /// Adds the time of the slowest I/O as a figure of its own.
    pub fn put_worst_stall(&mut self) {
        if let Some(Latency { n, max, .. }) = self.latency_ns {
            self.put(metric::WORST_STALL_NS, max as f64, n);
        }
    }
}

/// The reason why a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The figures reached the wanted precision.
    Converged,
    /// Its time was up.
    Time,
    /// All its bytes were moved.
    Bytes,
    /// All its I/Os were done.
    Ops,
    /// A user pressed Ctrl-C, or the process was ended.
    Interrupted,
    /// The medium failed; `reason` says how.
    Error,
}

impl Stop {
    /// True if the medium or a person ended it before it was done, so that it has no result and is
    /// repeated when the run is resumed.
    pub fn cut_short(self) -> bool {
        matches!(self, Stop::Error | Stop::Interrupted)
    }
}

/// The thing that the histogram, the latencies and the rate of a cell count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountUnit {
    /// I/Os: as many as `ops`.
    Ios,
    /// Commits of a database, each of several I/Os.
    Commits,
    /// Lines of a log, each of several I/Os.
    Lines,
}

/// Commits after which a write-ahead log is copied back into its database: 1000 pages of SQLite,
/// two a commit (sqlite.org/wal.html). A cell of commits does it once, and each commit bears its
/// share.
pub const CHECKPOINT_COMMITS: u64 = 500;

/// Label of a cell of a matrix whose failure was not caused by the combination under test; its
/// value names the cause. Such a try is repeated on resume.
pub const FAILED_BY: &str = "failed_by";
const BY_MEDIUM: &str = "medium";

/// One of several separate measurements of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Round {
    /// Time of its beginning since that of the run, in nanoseconds.
    pub began_ns: u64,
    /// I/Os of it that count.
    pub ops: u64,
    /// Time of these I/Os, in nanoseconds.
    pub elapsed_ns: u64,
    /// Its rate, in I/Os a second.
    pub iops: f64,
    /// Half the width of its own 95 % interval, in the logarithm of the rate; absent where it is
    /// too short for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_width: Option<f64>,
}

/// One row of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Stable name within the run: the test, and a number where it has several cells
    /// (`random-write/2`).
    pub id: String,
    /// Name of the test, such as `random-write`.
    pub test: String,
    /// Parameters of its I/O: block size, pattern, span, threads.
    pub params: Params,
    /// Figures that were measured.
    pub metrics: Metrics,
    /// Every latency, in nanoseconds (HdrHistogram V2 deflate, base64; 3 significant digits).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub histogram: Option<Histogram>,
    /// Curves: rate along the span, latency over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// The thing that histogram, latencies and rate count, where it is not the I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<CountUnit>,
    /// I/Os done in the phases that count.
    pub ops: u64,
    /// Bytes moved by these I/Os.
    pub bytes: u64,
    /// Bytes written to the medium, all phases included.
    pub written_bytes: u64,
    /// Bytes that the run had written to the medium when this cell was first measured, its own
    /// among them; absent where it wrote nothing, and in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_written_bytes: Option<u64>,
    /// Time from first submission to last completion of the measured part, in nanoseconds by the
    /// device's clock.
    pub elapsed_ns: u64,
    /// Reason for its end: precision, a limit, an interruption or an error.
    pub stop: Stop,
    /// Reason in words, if it ended by an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The I/O error that ended it; absent if there was none, and in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CellError>,
    /// Caveats about the numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Flag>,
    /// Medium or file system of the measurement, if that is not the target itself ("ext4 -b 4096,
    /// noatime, on a 512 MiB partition").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Labels that distinguish it from other cells of its test and are not parameters of the I/O.
    /// In a matrix: `filesystem`, `align`, `mount_options`, `scheduler`, `work`, `repeat`, and
    /// `part` for details.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Counters of the kernel for the medium during the measurement, at a few dozen moments; absent
    /// if there are none. Each is a line of text: the time since the run began in nanoseconds, then
    /// the fields of `/proc/diskstats`, counted from the first line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub activity: Vec<Sample>,
    /// I/Os that were issued, and those that the kernel counted on the medium; absent if it counts
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<IoAccounting>,
    /// Effects of the host on it; absent if they were not recorded (a simulated medium, an old
    /// record).
    #[serde(rename = "disturbance", default, skip_serializing_if = "Option::is_none")]
    pub host_state: Option<HostState>,
    /// Rounds behind its figures, in the order of time, if it was measured several times. Its
    /// interval then contains the figure of a repetition of the run 95 times of 100. Absent if it
    /// was measured once: its interval is then that of the medium's long-run rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// Significant digits of a figure in a record.
const FIGURE_DIGITS: usize = 6;
/// Relative difference below which two figures of a record can be one: twice what rounding makes of
/// each, and of what it is drawn from.
pub const ROUNDING: f64 = 2e-5;

fn round(figure: &mut f64) {
    if figure.fract() != 0.0 {
        *figure = rounded(*figure, FIGURE_DIGITS);
    }
}

impl Cell {
    /// A cell with nothing measured yet.
    pub fn begun(id: impl Into<String>, test: impl Into<String>, params: Params) -> Cell {
        Cell {
            id: id.into(),
            test: test.into(),
            params,
            metrics: Metrics::default(),
            histogram: None,
            series: Vec::new(),
            unit: None,
            ops: 0,
            bytes: 0,
            written_bytes: 0,
            run_written_bytes: None,
            elapsed_ns: 0,
            stop: Stop::Ops,
            reason: None,
            error: None,
            flags: Vec::new(),
            on: None,
            labels: BTreeMap::new(),
            activity: Vec::new(),
            reach: None,
            host_state: None,
            rounds: Vec::new(),
        }
    }

    /// Rounds its figures to six significant digits and its curves to three: further ones are noise.
    /// Whole numbers, which may be counts, stay.
    pub fn round(&mut self) {
        self.series.iter_mut().for_each(Series::round);
        let Metrics { iops, bps, latency_ns, other } = &mut self.metrics;
        iops.iter_mut().for_each(Estimate::round);
        if let (Some(iops), Some(access_time)) = (iops, other.get_mut(metric::ACCESS_TIME_NS)) {
            access_time.value = 1e9 / iops.value; // As it is drawn again from what is stored.
        }
        bps.iter_mut().chain(other.values_mut()).for_each(Estimate::round);
        latency_ns.iter_mut().for_each(|latency| round(&mut latency.mean));
        for each in &mut self.rounds {
            each.half_width.iter_mut().chain([&mut each.iops]).for_each(round);
        }
    }

    /// Unit that histogram, latencies and rate count. Records from before this field have it by the
    /// name of the test.
    pub fn count_unit(&self) -> CountUnit {
        self.unit.unwrap_or(match self.test.as_str() {
            crate::test::COMMIT => CountUnit::Commits,
            crate::test::LOG_APPEND => CountUnit::Lines,
            _ => CountUnit::Ios,
        })
    }

    /// Share of its time in which the host stalled, as recorded or flagged, 0 to 1.
    pub fn host_stall_share(&self) -> f64 {
        let seen_ns = self.host_state.as_ref().map_or(0, |seen| seen.host_stall_ns);
        let flagged_ns = self.flags.iter().map(|flag| {
            if let Flag::HostStalled { host_stall_ns, .. } = flag { *host_stall_ns } else { 0 }
        });
        let ns = flagged_ns.max().unwrap_or(0).max(seen_ns);
        if ns == 0 { 0.0 } else { ns as f64 / self.elapsed_ns.max(ns) as f64 }
    }

    /// Share of the time of its I/Os in which they waited for a processor, 0 to 1.
    pub fn host_share(&self) -> f64 {
        let waited = self.metrics.other.get(crate::metric::RUN_DELAY_NS).zip(self.metrics.iops);
        waited.map_or(0.0, |(mean, iops)| (mean.value * iops.value / 1e9).min(1.0))
    }

    /// True if what the host took, or may take, is more than its interval would show.
    pub fn is_host_limited(&self) -> bool {
        let is_flagged = self.flags.iter().any(|flag| matches!(flag, Flag::HostLimited { .. }));
        let is_open = self.metrics.iops.is_none_or(|iops| iops.ci95.is_none());
        self.io_limit().is_some() || is_flagged && is_open
    }

    /// Side of its figures on which the medium's level is, if they are only a bound: on a host that
    /// took or limited more than the interval shows, or in a transient state. `None` also if both
    /// pull in opposite directions.
    pub fn bound(&self) -> Option<Bound> {
        match (self.is_host_limited(), self.transient()) {
            (true, Some(Bound::AtMost)) => None,
            (true, _) => Some(Bound::AtLeast),
            (false, transient) => transient,
        }
    }

    /// The limit of a control group that its rate reached.
    pub fn io_limit(&self) -> Option<&Flag> {
        self.flags.iter().find(|flag| matches!(flag, Flag::IoLimit { .. }))
    }

    /// Side of its figures on which their level is, if they are of a transient state.
    pub fn transient(&self) -> Option<Bound> {
        self.flags.iter().find_map(Flag::transient)
    }

    /// Flags the figures as those of a transient state, unless they are flagged already.
    pub fn flag_transient(&mut self, bound: Bound) {
        if self.transient().is_none() {
            self.flags.push(Flag::Transient { bound });
        }
    }

    /// Removes the intervals of rates and percentiles, for figures whose distance from a level is
    /// unknown.
    pub fn without_intervals(&mut self) {
        let metrics = &mut self.metrics;
        [&mut metrics.iops, &mut metrics.bps]
            .into_iter()
            .flatten()
            .for_each(|rate| rate.ci95 = None);
        if let Some(latency) = &mut metrics.latency_ns {
            latency.ci95.clear();
        }
    }

    /// Result of a work's headline cell, and true if more of it is better: its rate a second, or
    /// its time in seconds if it has no rate. `None` if there is neither.
    pub fn work_result(&self) -> Option<(f64, bool)> {
        let rate = self.metrics.iops.map(|iops| (iops.value, true));
        let time = (self.elapsed_ns > 0).then(|| (self.elapsed_ns as f64 / 1e9, false));
        rate.or(time).filter(|(value, _)| *value > 0.0 && value.is_finite())
    }

    /// True if it is the headline of a try of a combination, and no detail of one.
    pub fn is_headline(&self) -> bool {
        self.label("part").is_empty()
    }

    /// True if it says something about its combination: it was not cut short, nor failed by the medium.
    pub fn is_of_combination(&self) -> bool {
        self.stop != Stop::Interrupted && !self.is_failed_by_medium()
    }

    /// True if a try of a matrix failed because of the medium, not of the combination: its label
    /// [`FAILED_BY`] says so.
    pub fn is_failed_by_medium(&self) -> bool {
        self.label(FAILED_BY) == BY_MEDIUM
    }

    /// Labels the failure as the medium's.
    pub fn blame_medium(&mut self) {
        self.labels.insert(FAILED_BY.to_owned(), BY_MEDIUM.to_owned());
    }

    /// Value of a label by name; empty if there is none of that name.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

/// I/Os and bytes of one cell: those that the program issued, and those that the kernel counted on
/// the medium meanwhile. I/Os are merged and split on their way, so that only bytes can be
/// compared; the counts include those of other programs on the same medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoAccounting {
    /// I/Os issued in the measured part.
    pub issued_ios: u64,
    /// Bytes that were to be read in the measured part.
    pub issued_read_bytes: u64,
    /// Bytes that were to be written, all phases included.
    pub issued_written_bytes: u64,
    /// Reads counted by the kernel.
    pub counted_reads: u64,
    /// Writes counted by the kernel.
    pub counted_writes: u64,
    /// Bytes read by the kernel's count.
    pub counted_read_bytes: u64,
    /// Bytes written by the kernel's count.
    pub counted_written_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Content, Region};

    #[test]
    fn the_middle_at_depth_one_with_incompressible_data_stands_for_a_test() {
        let params = |region, content| Params { region, content, ..Params::default() };
        // Each before the next.
        let order = [
            params(Some(Region::Middle), Some(Content::Incompressible)),
            params(Some(Region::Middle), None),
            params(Some(Region::File), Some(Content::Zeros)),
            Params {
                queue_depth: 2,
                ..params(Some(Region::Middle), Some(Content::Incompressible))
            },
            Params { threads: 2, ..params(Some(Region::File), Some(Content::Incompressible)) },
            params(None, Some(Content::Incompressible)),
            params(Some(Region::Whole), Some(Content::Incompressible)),
            params(Some(Region::Front), Some(Content::Incompressible)),
        ];
        for two in order.windows(2) {
            assert!(two[0].representative_rank() < two[1].representative_rank(), "{two:?}");
        }
        let [middle, file] =
            [Region::Middle, Region::File].map(|region| params(Some(region), None));
        assert!(middle.representative_rank() == file.representative_rank());
    }

    #[test]
    fn threads_and_depth_are_multiplied_and_none_is_one() {
        for (queue_depth, threads, in_flight) in [(0, 0, 1), (4, 0, 4), (0, 3, 3), (4, 3, 12)] {
            let params = Params { queue_depth, threads, ..Params::default() };
            assert_eq!(params.in_flight(), in_flight);
        }
    }

    #[test]
    fn the_share_of_host_stalls_is_the_larger_of_seen_and_recorded() {
        let share = |elapsed_ns, seen_ns: Option<u64>, flagged_ns: Option<u64>| {
            let mut cell = Cell::begun("a", "a", Params::default());
            cell.elapsed_ns = elapsed_ns;
            cell.host_state =
                seen_ns.map(|host_stall_ns| HostState { host_stall_ns, ..HostState::default() });
            cell.flags.extend(
                flagged_ns.map(|host_stall_ns| Flag::HostStalled { host_stall_ns, left_out: 1 }),
            );
            cell.host_stall_share()
        };
        for (elapsed_ns, seen_ns, flagged_ns, expected) in [
            (0, None, None, 0.0),
            (1000, Some(0), None, 0.0),
            (1000, Some(250), None, 0.25),
            (1000, Some(250), Some(500), 0.5),
            (1000, Some(250), Some(100), 0.25),
            (100, Some(400), None, 1.0),
        ] {
            assert_eq!(share(elapsed_ns, seen_ns, flagged_ns), expected);
        }
    }

    #[test]
    fn the_result_of_a_workload_is_its_rate_or_else_its_time() {
        let result = |iops: Option<f64>, elapsed_ns| {
            let mut cell = Cell::begun("a", "a", Params::default());
            cell.metrics.iops = iops.map(|value| Estimate::of(value, 1));
            cell.elapsed_ns = elapsed_ns;
            cell.work_result()
        };
        for (iops, elapsed_ns, expected) in [
            (Some(12.5), 2_000_000_000, Some((12.5, true))),
            (None, 2_000_000_000, Some((2.0, false))),
            (None, 1, Some((1e-9, false))),
            (None, 0, None),
            (Some(0.0), 5, None),
            (Some(f64::INFINITY), 5, None),
        ] {
            assert_eq!(result(iops, elapsed_ns), expected);
        }
    }
}
