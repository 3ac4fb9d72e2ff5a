//! What the runs said, held against what is true.

use std::collections::BTreeMap;

use record::units::{GIB, MIB};
use record::{Direction, Flag, Params, Pattern};
use sim::Profile;

use super::long_run::{State, Truth, cache_bytes, truth};
use super::runs::{Ran, Said, standard};

/// Tests whose I/O their parameters tell, so that it can be repeated. The others: record-ops goes through a file, ext2-* are given lists.
const KNOWN: [&str; 9] =
    ["prime", "random-write", "zero-fill", "random-fill", "sequential-write", "sequential-read", "random-read", "seek", "sector-write"];
/// Tests whose figure is a rate of bytes.
const BYTES: [&str; 5] = ["prime", "zero-fill", "random-fill", "sequential-write", "sequential-read"];
/// A figure more than this over what lasts is wrong (issue: "the truth is less than two thirds of it").
const TOO_FAST: f64 = 1.5;

/// How often intervals held the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Intervals.
    pub runs: u32,
    /// Those that lay wholly below the truth.
    pub below: u32,
    /// Those that lay wholly above it.
    pub above: u32,
}

impl Coverage {
    fn count(&mut self, [low, high]: [f64; 2], truth: f64) {
        self.runs += 1;
        self.below += u32::from(high < truth);
        self.above += u32::from(low > truth);
    }

    /// Counts these too.
    pub fn add(&mut self, other: Coverage) {
        self.runs += other.runs;
        self.below += other.below;
        self.above += other.above;
    }

    /// The share that held it, in percent; `None` of nothing.
    pub fn percent(&self) -> Option<f64> {
        (self.runs > 0).then(|| 100.0 * f64::from(self.runs - self.below - self.above) / f64::from(self.runs))
    }
}

/// A share of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Those for which it is so.
    pub of: u32,
    /// All.
    pub all: u32,
}

impl Share {
    fn count(&mut self, is_so: bool) {
        self.all += 1;
        self.of += u32::from(is_so);
    }

    /// In percent; `None` of nothing.
    pub fn percent(&self) -> Option<f64> {
        (self.all > 0).then(|| 100.0 * f64::from(self.of) / f64::from(self.all))
    }
}

/// One cell of a profile.
pub struct HeldCell {
    /// Its name.
    pub id: String,
    /// Size of an I/O.
    pub block_bytes: u64,
    /// In the long run, as the medium is found.
    pub truth: Truth,
    /// Mean of figure over truth, less 1.
    pub off: f64,
    /// Rate, p50, p99.
    pub coverage: [Coverage; 3],
}

/// One profile.
pub struct Held {
    /// Its name.
    pub name: String,
    /// Intervals of I/Os a second, of bytes a second, of p50, of p99.
    pub coverage: [Coverage; 4],
    /// Device time of the longest run, in nanoseconds.
    pub longest_ns: u64,
    /// Random writes in 512 MiB within 10 % of the full pass: at 4 KiB, and at the block size where they were so least often.
    pub full_pass: [Share; 2],
    /// Random writes that exceed what lasts by half or more: all of them, and those that do not say they may.
    pub unsustained: [u32; 2],
    /// Figures measured while a cache was filling up: true of no one state.
    pub mixed: u32,
    /// Cells that the medium failed.
    pub failed: usize,
    /// Cell by cell.
    pub cells: Vec<HeldCell>,
}

/// How precisely the truth is wanted: I/Os for each I/O of the longest run, and the fewest and most.
#[derive(Clone, Copy)]
pub struct Effort {
    /// I/Os for each of the run's.
    pub times: u64,
    /// At least and at most.
    pub bounds: (u64, u64),
}

/// Runs `standard` with these seeds and holds what it says against the truth.
pub fn hold(profile: &Profile, seeds: u64, tests: &[&str], effort: Effort) -> Held {
    let ran: Vec<Ran> = (0..seeds).map(|seed| standard(profile, seed, tests)).collect();
    let mut held = Held {
        name: profile.name().to_owned(),
        coverage: Default::default(),
        longest_ns: ran.iter().map(|run| run.elapsed_ns).max().unwrap_or(0),
        full_pass: Default::default(),
        unsustained: [0; 2],
        mixed: 0,
        failed: ran.iter().map(|run| run.failed).sum(),
        cells: Vec::new(),
    };
    let mut by_cell: BTreeMap<&str, Vec<&Said>> = BTreeMap::new();
    for (id, said) in ran.iter().flat_map(|run| &run.cells).filter(|(_, said)| KNOWN.contains(&said.test.as_str())) {
        by_cell.entry(id).or_default().push(said);
    }
    for (id, said) in by_cell {
        held.hold_cell(profile, id, &said, effort);
    }
    held
}

impl Held {
    fn hold_cell(&mut self, profile: &Profile, id: &str, said: &[&Said], effort: Effort) {
        let params = params_of(said);
        let most = said.iter().map(|said| said.ops).max().unwrap_or(0);
        let ops = (effort.times * most).clamp(effort.bounds.0, effort.bounds.1);
        let mut truths: BTreeMap<State, Truth> = BTreeMap::new();
        let mut truth_in = |state| *truths.entry(state).or_insert_with(|| truth(profile, &params, state, ops));
        let mut coverage = [Coverage::default(); 3];
        let (mut off, mut full_pass) = (0.0, Share::default());
        for said in said {
            let Some(state) = state_of(profile, said) else {
                self.mixed += 1;
                continue;
            };
            let truth = truth_in(state);
            if let Some((value, interval)) = said.rate {
                coverage[0].count(interval, truth.rate);
                off += value / truth.rate - 1.0;
                full_pass.count((value / truth.rate - 1.0).abs() <= 0.10);
            }
            for (counted, (interval, truth)) in coverage[1..].iter_mut().zip(said.percentiles.iter().zip(truth.percentiles)) {
                if let Some(interval) = interval {
                    counted.count(interval.map(|ns| ns as f64), truth as f64);
                }
            }
        }
        let first = said[0];
        self.coverage[usize::from(BYTES.contains(&first.test.as_str()))].add(coverage[0]);
        self.coverage[2].add(coverage[1]);
        self.coverage[3].add(coverage[2]);
        if first.test == "random-write" {
            let lasts = truth_in(State::Sustained).rate;
            self.count_unsustained(said, lasts);
            self.count_full_pass(&params, full_pass);
        }
        let truth = truth_in(State::Found);
        off /= f64::from(coverage[0].runs.max(1));
        self.cells.push(HeldCell { id: id.to_owned(), block_bytes: params.block_bytes.unwrap_or(0), truth, off, coverage });
    }

    fn count_full_pass(&mut self, params: &Params, share: Share) {
        if params.span_bytes.unwrap_or(0) < 100 * MIB || share.all == 0 {
            return;
        }
        if params.block_bytes == Some(4096) {
            self.full_pass[0] = share;
        }
        if self.full_pass[1].percent().is_none_or(|least| share.percent().is_some_and(|percent| percent < least)) {
            self.full_pass[1] = share;
        }
    }

    fn count_unsustained(&mut self, said: &[&Said], lasts: f64) {
        for said in said {
            // What its interval leaves open is not claimed.
            let is_too_fast = said.rate.is_some_and(|(value, [low, _])| value > TOO_FAST * lasts && low > lasts);
            let says_so = said.flags.iter().any(|flag| matches!(flag, Flag::MayNotLast { .. }));
            self.unsustained[0] += u32::from(is_too_fast);
            self.unsustained[1] += u32::from(is_too_fast && !says_so);
        }
    }
}

/// The parameters that all runs of a cell share, with the widest span that any of them had.
fn params_of(said: &[&Said]) -> Params {
    let mut params = said[0].params.clone();
    params.span_bytes = said.iter().filter_map(|said| said.params.span_bytes).max();
    if params.direction == Some(Direction::Write) && params.pattern == Some(Pattern::Sequential) {
        // A fill that was cut short would begin again in the middle of an allocation unit, over and over.
        params.span_bytes = params.span_bytes.map(|bytes| bytes.max(GIB / 2));
    }
    params
}

/// The state in which a run found the medium; `None` where it changed meanwhile.
fn state_of(profile: &Profile, said: &Said) -> Option<State> {
    let (first_cache, caches) = cache_bytes(profile);
    if first_cache == 0 || said.params.direction == Some(Direction::Read) || said.before_bytes + said.written_bytes <= first_cache {
        return Some(State::Found);
    }
    (said.before_bytes >= caches).then_some(State::Sustained)
}
