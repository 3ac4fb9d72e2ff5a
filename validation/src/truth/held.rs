//! Comparison of the figures of runs with the truth.

use std::collections::BTreeMap;

use record::units::{GIB, MIB};
use record::{Bound, Direction, Flag, Params, Pattern};
use sim::Profile;

use super::long_run::{self, Circumstances, State, Truth, cache_bytes, lasting_rate, truth};
use super::runs::{CellFigures, Ran, of, unit_of};

/// Tests whose parameters describe their I/O, so that it can be repeated. Of the others, record-ops
/// uses a file, and ext2-* use lists.
const KNOWN: [&str; 9] = [
    "prime",
    "random-write",
    "zero-fill",
    "random-fill",
    "sequential-write",
    "sequential-read",
    "random-read",
    "seek",
    "sector-write",
];
/// Tests whose figure is a rate of bytes.
const BYTES: [&str; 5] =
    ["prime", "zero-fill", "random-fill", "sequential-write", "sequential-read"];
/// Largest factor between a figure and the rate that lasts; more is wrong (issue: "the truth is
/// less than two thirds of it").
const TOO_FAST: f64 = 1.5;
/// Bytes written to a medium that count as the same age.
const AGE_STEP: u64 = 256 * MIB;
/// Names of the figures that are compared.
const NAMES: [&str; 4] = ["I/Os a second", "I/Os a second", "p50 (ns)", "p99 (ns)"];
/// Rounding error of printed figures, which have three digits.
const THREE_DIGITS: f64 = 0.005;

/// Counts of intervals that contain the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Number of intervals.
    pub runs: u32,
    /// Number of intervals that are wholly below the truth.
    pub below: u32,
    /// Number of intervals that are wholly above it.
    pub above: u32,
}

impl Coverage {
    /// Counts one interval: it contains the truth, or is below or above it.
    pub fn count(&mut self, [low, high]: [f64; 2], truth: f64) {
        self.runs += 1;
        self.below += u32::from(high < truth);
        self.above += u32::from(low > truth);
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: Coverage) {
        self.runs += other.runs;
        self.below += other.below;
        self.above += other.above;
    }

    /// Share that contains the truth, in percent; `None` without any interval.
    pub fn percent(&self) -> Option<f64> {
        (self.runs > 0)
            .then(|| 100.0 * f64::from(self.runs - self.below - self.above) / f64::from(self.runs))
    }
}

/// A share of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Number of those that count.
    pub of: u32,
    /// Number of all.
    pub all: u32,
}

impl Share {
    /// Counts one more.
    pub fn count(&mut self, is_so: bool) {
        self.all += 1;
        self.of += u32::from(is_so);
    }

    /// Adds the counts of another.
    pub fn add(&mut self, other: Share) {
        self.of += other.of;
        self.all += other.all;
    }

    /// Share in percent; `None` of nothing.
    pub fn percent(&self) -> Option<f64> {
        (self.all > 0).then(|| 100.0 * f64::from(self.of) / f64::from(self.all))
    }
}

/// Counts of rates by how long they last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lasting {
    /// Rates that exceed the lasting rate by half or more.
    pub too_fast: u32,
    /// Those of them without a caveat.
    pub without_caveat: u32,
    /// Rates with the caveat that last.
    pub needless: u32,
}

/// Counts of figures that were compared with the truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Intervals of IOPS, of bytes a second, of p50, of p99.
    pub coverage: [Coverage; 4],
    /// Those intervals that come from rounds: intervals of a repetition.
    pub of_rounds: [Coverage; 4],
    /// Figures without a part of chance: those that are right, and all.
    pub constant: Share,
    /// All rates by how long they last.
    pub lasting: Lasting,
    /// Figures that are bounds and not levels: those with the truth on their side, and all.
    pub bounds: Share,
}

impl Counts {
    /// Adds the counts of another.
    pub fn add(&mut self, other: &Counts) {
        for at in 0..self.coverage.len() {
            self.coverage[at].add(other.coverage[at]);
            self.of_rounds[at].add(other.of_rounds[at]);
        }
        self.constant.add(other.constant);
        self.bounds.add(other.bounds);
        self.lasting.too_fast += other.lasting.too_fast;
        self.lasting.without_caveat += other.lasting.without_caveat;
        self.lasting.needless += other.lasting.needless;
    }
}

/// One cell of a profile.
#[derive(Default)]
pub struct HeldCell {
    /// Id of the cell in the record.
    pub id: String,
    /// Size of an I/O in bytes.
    pub block_bytes: u64,
    /// Long-run figures in the state in which the first run found the medium.
    pub truth: Truth,
    /// Rate that lasts, in IOPS, if it may slow down.
    pub lasts: Option<f64>,
    /// Mean of figure over truth, less 1, and number of runs.
    pub off: f64,
    runs: u32,
    /// Index of its rate among the counts: IOPS or bytes a second.
    pub rate: usize,
    /// Its figures.
    pub counts: Counts,
    /// Wrong figures, in words.
    pub wrong: Vec<String>,
}

/// Results of the runs on one profile, compared with the truth.
#[derive(Default)]
pub struct Held {
    /// Name of the profile, for example "sd-class4".
    pub name: String,
    /// Figures of all cells.
    pub counts: Counts,
    /// Device time of the longest run, in nanoseconds.
    pub longest_ns: u64,
    /// Random writes in 512 MiB within 10 % of the full pass: at 4 KiB, and at the block size with
    /// the smallest share.
    pub full_pass: [Share; 2],
    /// Figures measured while a cache was filling: true of no single state.
    pub mixed: u32,
    /// Number of cells that the medium failed.
    pub failed: usize,
    /// Cells whose truth can be computed.
    pub cells: Vec<HeldCell>,
}

/// Precision of the truth: I/Os for each I/O of the longest run, and the fewest and most.
#[derive(Clone, Copy)]
pub struct Effort {
    /// I/Os for each I/O of the run.
    pub times: u64,
    /// Fewest and most I/Os.
    pub bounds: (u64, u64),
}

/// Runs `standard` with these seeds and compares its figures with the truth; only these tests of it,
/// if any are named.
pub fn hold(profile: &Profile, seeds: u64, tests: &[&str], effort: Effort) -> Held {
    let ran: Vec<Ran> = (0..seeds).map(|seed| of(profile, "standard", seed, tests)).collect();
    hold_runs(profile, &ran, effort)
}

/// Compares the figures of these runs with the truth.
pub fn hold_runs(profile: &Profile, ran: &[Ran], effort: Effort) -> Held {
    let mut held = Held {
        name: profile.name().to_owned(),
        longest_ns: ran.iter().map(|run| run.elapsed_ns).max().unwrap_or(0),
        failed: ran.iter().map(|run| run.failed).sum(),
        ..Held::default()
    };
    let mut by_cell: BTreeMap<&str, Vec<&CellFigures>> = BTreeMap::new();
    let cells = ran.iter().flat_map(|run| &run.cells);
    for (id, figures) in cells.filter(|(_, cell)| KNOWN.contains(&cell.test.as_str())) {
        by_cell.entry(id).or_default().push(figures);
    }
    for (id, runs) in by_cell {
        held.hold_cell(profile, id, &runs, effort);
    }
    held
}

/// Truths of one cell, each computed once.
struct Truths<'a> {
    profile: &'a Profile,
    params: Params,
    /// Most bytes that any run wrote.
    most_bytes: u64,
    /// Most bytes in a volatile cache, which keeps whole pages.
    most_kept_bytes: u64,
    ops: u64,
    known: BTreeMap<Circumstances, Truth>,
}

impl Truths<'_> {
    /// Truth of the state that this run measured; `None` if it changed meanwhile.
    fn of(&mut self, figures: &CellFigures) -> Option<Truth> {
        let found = self.circumstances(figures, state_of(self.profile, figures)?);
        let known = self.known.entry(found);
        Some(*known.or_insert_with(|| truth(self.profile, &self.params, found, self.ops)))
    }

    fn circumstances(&self, figures: &CellFigures, state: State) -> Circumstances {
        let usual = Circumstances::usual(state);
        if long_run::is_worn(self.profile) {
            // The truth of a run is that of its own unit at its own age; to 256 MiB, which are 0.4
            // % of the time of a write.
            let ages = figures.params.direction == Some(Direction::Write);
            let aged_bytes =
                if ages { figures.aged_bytes / AGE_STEP * AGE_STEP + AGE_STEP / 2 } else { 0 };
            let start_bytes =
                if ages { figures.written_bytes.next_power_of_two() } else { usual.start_bytes };
            // A fill that was cut short would begin again in the middle, see `params_of`.
            let is_fill = long_run::is_row(&figures.params);
            let span_bytes = figures.params.span_bytes.filter(|_| !is_fill).unwrap_or(u64::MAX);
            return Circumstances {
                unit: unit_of(figures.seed),
                aged_bytes,
                start_bytes,
                span_bytes,
                ..usual
            };
        }
        // A span that was not filled in time is another load than the whole; a bound is compared
        // with all of it.
        let is_shrunk =
            figures.params.pattern == Some(Pattern::Permutation) && figures.bound.is_none();
        let span_bytes = figures.params.span_bytes.filter(|_| is_shrunk).unwrap_or(u64::MAX);
        // The medium rests while record-ops writes to a file, and then a cache may have room for
        // all single sectors.
        let is_rested = figures.test == "sector-write"
            && self.most_kept_bytes < long_run::volatile_bytes(self.profile);
        Circumstances {
            start_bytes: if is_rested { self.most_bytes } else { usual.start_bytes },
            is_rested,
            span_bytes,
            ..usual
        }
    }
}

impl Held {
    /// Adds the counts of another, but for those of single cells.
    pub fn add(&mut self, other: &Held) {
        self.counts.add(&other.counts);
        self.mixed += other.mixed;
    }

    fn hold_cell(&mut self, profile: &Profile, id: &str, runs: &[&CellFigures], effort: Effort) {
        let params = params_of(runs);
        let most = |of: &dyn Fn(&CellFigures) -> u64| {
            runs.iter().map(|figures| of(figures)).max().unwrap_or(0)
        };
        let kept = |figures: &CellFigures| {
            let block = figures.params.block_bytes.unwrap_or(long_run::PAGE_BYTES).max(1);
            figures.written_bytes.div_ceil(block) * block.next_multiple_of(long_run::PAGE_BYTES)
        };
        let (least_ops, most_ops) = effort.bounds;
        let mut truths = Truths {
            profile,
            params: params.clone(),
            most_bytes: most(&|figures| figures.written_bytes),
            most_kept_bytes: most(&kept),
            ops: (effort.times * most(&|figures| figures.ops)).clamp(least_ops, most_ops),
            known: BTreeMap::new(),
        };
        let (mut cell, mut full_pass): (Option<HeldCell>, _) = (None, Share::default());
        for figures in runs {
            let Some(truth) = truths.of(figures) else {
                self.mixed += 1;
                continue;
            };
            cell.get_or_insert_with(|| HeldCell {
                id: id.to_owned(),
                block_bytes: params.block_bytes.unwrap_or(0),
                truth,
                rate: usize::from(BYTES.contains(&runs[0].test.as_str())),
                ..HeldCell::default()
            })
            .count(figures, &truth);
            if let Some((value, _)) = figures.rate {
                full_pass.count((value / truth.rate - 1.0).abs() <= 0.10);
            }
        }
        let Some(mut cell) = cell else { return };
        cell.lasts = long_run::may_slow_down(profile, &params, cell.truth.rate)
            .then(|| lasting_rate(profile, &params));
        runs.iter().for_each(|figures| cell.count_lasting(figures));
        self.counts.add(&cell.counts);
        if runs[0].test == "random-write" {
            self.count_full_pass(&params, full_pass);
        }
        self.cells.push(cell);
    }

    fn count_full_pass(&mut self, params: &Params, share: Share) {
        if params.span_bytes.unwrap_or(0) < 100 * MIB || share.all == 0 {
            return;
        }
        if params.block_bytes == Some(4096) {
            self.full_pass[0] = share;
        }
        let least = self.full_pass[1].percent();
        if least.is_none_or(|least| share.percent().is_some_and(|percent| percent < least)) {
            self.full_pass[1] = share;
        }
    }
}

impl HeldCell {
    /// Compares bound, rate, p50 and p99 with the truth.
    fn count(&mut self, figures: &CellFigures, truth: &Truth) {
        if let Some((value, bound)) = figures.bound {
            let is_above = bound == Bound::AtLeast;
            let (less, more) = if is_above { (value, truth.rate) } else { (truth.rate, value) };
            self.counts.bounds.count(less <= more);
        }
        let counts = &mut self.counts;
        let mut hold = |index: usize, value: f64, interval: [f64; 2], truth_of: f64| {
            let is_held = interval[0] <= truth_of && truth_of <= interval[1];
            if truth.is_constant {
                let is_right = (value / truth_of - 1.0).abs() <= THREE_DIGITS;
                return counts.constant.count(is_held || is_right);
            }
            counts.coverage[index].count(interval, truth_of);
            if figures.has_rounds {
                counts.of_rounds[index].count(interval, truth_of);
            }
            if !is_held {
                self.wrong.push(wrong(figures, NAMES[index], value, interval, truth_of));
            }
        };
        if let Some((value, interval)) = figures.rate {
            hold(self.rate, value, interval, truth.rate);
        }
        let percentiles = figures.percentiles.iter().zip(truth.percentiles);
        for (index, (percentile, truth_of)) in percentiles.enumerate() {
            if let Some((value, interval)) = percentile {
                hold(2 + index, *value as f64, interval.map(|ns| ns as f64), truth_of as f64);
            }
        }
        self.runs += 1;
        self.off += (figures.rate.map_or(1.0, |(value, _)| value / truth.rate) - 1.0 - self.off)
            / f64::from(self.runs);
    }

    fn count_lasting(&mut self, figures: &CellFigures) {
        let Some((value, [low, _])) = figures.rate else { return };
        // A figure does not claim what its interval leaves open.
        let is_too_fast = self.lasts.is_some_and(|lasts| value > TOO_FAST * lasts && low > lasts);
        let has_caveat = figures
            .flags
            .iter()
            .any(|flag| matches!(flag, Flag::MayNotLast { .. } | Flag::MayGetHot { .. }));
        let Lasting { too_fast, without_caveat, needless } = &mut self.counts.lasting;
        *too_fast += u32::from(is_too_fast);
        *without_caveat += u32::from(is_too_fast && !has_caveat);
        *needless += u32::from(has_caveat && !is_too_fast);
    }
}

/// Line about an interval that does not contain the truth.
fn wrong(
    figures: &CellFigures,
    name: &str,
    value: f64,
    [low, high]: [f64; 2],
    truth: f64,
) -> String {
    let Params { block_bytes, span_bytes, threads, region, .. } = &figures.params;
    let (block, span) = (block_bytes.unwrap_or(0), span_bytes.unwrap_or(0) / MIB);
    let place = region.map_or(String::new(), |region| format!(" {region:?}"));
    let off = 100.0 * (value / truth - 1.0);
    let CellFigures { seed, test, ops, .. } = figures;
    format!(
        "seed {seed} {test} {block} B{place} {span} MiB x{threads} {name}: {value:.6} in [{low:.6}, {high:.6}] of {ops}, truth {truth:.6}, off {off:+.2} %"
    )
}

/// Parameters that all runs of a cell share, with the widest span of any of them.
fn params_of(runs: &[&CellFigures]) -> Params {
    let mut params = runs[0].params.clone();
    params.span_bytes = runs
        .iter()
        .filter_map(|figures| figures.wanted_bytes().or(figures.params.span_bytes))
        .max();
    if long_run::is_row(&params) {
        // A fill that was cut short would begin again in the middle of an allocation unit, over and
        // over.
        params.span_bytes = params.span_bytes.map(|bytes| bytes.max(GIB / 2));
    }
    params
}

/// State in which a run found the medium; `None` if it changed meanwhile.
fn state_of(profile: &Profile, figures: &CellFigures) -> Option<State> {
    let (first_cache, caches) = cache_bytes(profile);
    if first_cache == 0
        || figures.params.direction == Some(Direction::Read)
        || figures.before_bytes + figures.written_bytes <= first_cache
    {
        return Some(State::Found);
    }
    (figures.before_bytes >= caches).then_some(State::Sustained)
}
