//! `commit`: commits per second as SQLite makes them with synchronous=FULL on ext4, one row each,
//! in a small database.
//!
//! The writes and flushes are those that the kernel was seen to issue for SQLite 3 on ext4 (one
//! insert into a table with an index, ordered data mode): *rollback*: the journal file, which is
//! new each time, is synced: 28 KiB of the file system's journal and its commit block; its header
//! is written and synced; then three pages of the database. *wal*: the log, at its full length of
//! 1000 pages, is written two pages further, from its last one on, and synced; once round, a
//! checkpoint brings back the pages. A sync of a file that has its blocks puts into the file
//! system's journal only the file's time, if the kernel's clock has ticked. A medium whose flush
//! does not wait for flash is fast here, too: see `flush-cost`.
//!
//! Parameters of a cell: `form`. Metrics: `iops`: commits per second; `latency_ns` of a commit.

use record::{CHECKPOINT_COMMITS, CountUnit, Estimate, Flag, Histogram, Stop, Sync};
use stats::{RateEstimator, StopRule, StopVerdict};

use super::durable::{Durable, DurableStep, File, PAGE_BYTES, preconditioned_span, written_bytes};
use super::prelude::*;
use crate::stop_rule::{Precision, too_wide, until_precise};
use stats::latency;

settings! {
    CommitSettings {
        form: Words([ROLLBACK, WAL]) = "rollback,wal", "journal";
        commits: Count = "2000", "the most commits";
        certainty: Share = "5%", "stop when the interval is this narrow";
        min_time: Time = "2s", "least time for each";
        max_time: Time = "15s", "time limit for each";
    }
}

spec! {
    /// Numbers of commits of one kind.
    CommitSpec {
        /// Most commits.
        commits: u64,
        ..precision: Precision,
    }
}

/// Commits as SQLite makes them, a cell for the rollback journal and one for the write-ahead log.
pub struct Commit;

/// Bytes of the file; a raw medium is used from its middle on.
const SPAN_BYTES: u64 = 48 * MIB;

const ROLLBACK: &str = "rollback";
const WAL: &str = "wal";

/// A commit with a rollback journal.
const OF_ROLLBACK: &[DurableStep] = &[
    DurableStep::NewFile(16 * KIB),
    DurableStep::Commit(28 * KIB),
    DurableStep::Again(4 * KIB),
    DurableStep::Sync(File::Log),
    DurableStep::FirstPage,
    DurableStep::OldPage,
    DurableStep::PageAmongFiles,
    DurableStep::Sync(File::Database),
];
/// A commit to a log of full length: two pages, each with 24 bytes in front, so that none is
/// aligned to a page of the medium.
const OF_WAL: &[DurableStep] = &[DurableStep::LogOn(12 * KIB), DurableStep::Sync(File::Log)];
/// A checkpoint of the log: the rows are in the newest pages, their index in others. Then the log
/// begins anew, and pays for the allocation units that this has closed.
const CHECKPOINT: &[DurableStep] = &[
    DurableStep::FirstPage,
    DurableStep::OldPage,
    DurableStep::PagesBehindLog(8 * KIB),
    DurableStep::PagesBehindLog(4 * KIB),
    DurableStep::PagesBehindLog(4 * KIB),
    DurableStep::PagesBehindLog(64 * KIB),
    DurableStep::Commit(20 * KIB),
    DurableStep::LogOn(12 * KIB),
    DurableStep::Sync(File::Log),
];
/// Share of the time that is reserved for a checkpoint.
const CHECKPOINT_SHARE: f64 = 0.35;
/// Fewest commits, even if they are all alike: work that the medium defers may come once in fifty
/// of them.
const MIN_COMMITS: u64 = 200;
/// Commits before those that count.
const WARM_UP_COMMITS: u64 = 2;

impl Procedure for Commit {
    type Settings = CommitSettings;
    type Spec = CommitSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::COMMIT,
            about: "commits per second as SQLite makes them: rollback journal and write-ahead log",
            source: "sqlite.org/atomiccommit.html, sqlite.org/wal.html",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, CommitSpec>) -> Planned {
        let found = preconditioned_span(cells.target, SPAN_BYTES);
        let Some(span) = cells.or_skip(found) else { return Ok(()) };
        let commits = settings.commits;
        let precision = Precision { certainty: settings.certainty, min_ns: settings.min_time };
        for form in &settings.form {
            let params = Params {
                form: Some((*form).into()),
                sync: Sync::Data,
                ..cells.writes(Region::Middle, span, Pattern::Uniform, PAGE_BYTES)
            };
            let of_one = written_bytes(if *form == WAL { OF_WAL } else { OF_ROLLBACK });
            let most_bytes = (commits + WARM_UP_COMMITS) * of_one + written_bytes(CHECKPOINT);
            cells.add(params, &CommitSpec { commits, precision }, settings.max_time, most_bytes);
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<CommitSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let is_wal = cell.form() == WAL;
        let mut work = Durable::new(cell, cell.span(), context);
        let mut commits = Commits::default();
        let mut stop = commits.measure(cell, is_wal, &mut work);
        if is_wal && !stop.cut_short() {
            match work.go(CHECKPOINT) {
                Some(ns) => commits.checkpoint_ns = ns,
                None => stop = work.outcome.cell.stop,
            }
        }
        let mut outcome = work.outcome;
        outcome.end(stop, None);
        commits.add_results(cell.spec.precision.certainty, &mut outcome);
        outcome
    }
}

/// Results of the commits.
#[derive(Default)]
struct Commits {
    rate: RateEstimator,
    histogram: Histogram,
    worst_ns: u64,
    /// Additional time of each [`CHECKPOINT_COMMITS`] commits, in nanoseconds.
    checkpoint_ns: u64,
}

impl Commits {
    /// Commits until the rate is precise enough; returns the reason of the end.
    fn measure(
        &mut self,
        cell: &TypedCell<CommitSpec>,
        is_wal: bool,
        work: &mut Durable<'_, '_>,
    ) -> Stop {
        let Precision { certainty, min_ns } = cell.spec.precision;
        let rule = StopRule { min_events: MIN_COMMITS, ..until_precise(certainty, min_ns) };
        let all = cell.spec.commits + WARM_UP_COMMITS;
        let (steps, share) = if is_wal { (OF_WAL, CHECKPOINT_SHARE) } else { (OF_ROLLBACK, 0.0) };
        let kept_ns = (work.context.allotted_ns as f64 * share) as u64;
        for number in 0..all {
            if work.context.must_stop() {
                return Stop::Interrupted;
            }
            if work.context.time_left_ns() <= kept_ns {
                return Stop::Time;
            }
            work.context.part(number as f64 / all as f64, (number + 1) as f64 / all as f64);
            let Some(ns) = work.go(steps) else { return work.outcome.cell.stop };
            if number < WARM_UP_COMMITS {
                continue;
            }
            self.rate.push(ns);
            self.histogram.record(ns);
            self.worst_ns = self.worst_ns.max(ns);
            if rule.judge(self.rate.total_ns(), &self.rate, None) == StopVerdict::Converged {
                return Stop::Converged;
            }
        }
        Stop::Ops
    }

    /// Adds commits per second and their latencies to the cell.
    fn add_results(self, certainty: f64, outcome: &mut CellOutcome) {
        let cell = &mut outcome.cell;
        let (n, total_ns) = (self.rate.events(), self.rate.total_ns());
        if n == 0 || total_ns == 0 {
            return;
        }
        let with_checkpoints = |per_second: f64| {
            1e9 / (1e9 / per_second + self.checkpoint_ns as f64 / CHECKPOINT_COMMITS as f64)
        };
        let estimate = self.rate.estimate();
        let ci95 =
            estimate.as_ref().map(|rate| [rate.ci95.low, rate.ci95.high].map(with_checkpoints));
        cell.metrics.iops =
            Some(Estimate { value: with_checkpoints(n as f64 * 1e9 / total_ns as f64), ci95, n });
        cell.metrics.latency_ns = Some(latency(&self.histogram, self.worst_ns));
        (cell.unit, cell.histogram) = (Some(CountUnit::Commits), Some(self.histogram));
        cell.elapsed_ns = total_ns + self.checkpoint_ns;
        match estimate {
            None => cell.flags.push(Flag::TooFewSamples { n }),
            Some(rate) if cell.stop == Stop::Time => {
                cell.flags.extend(too_wide(rate.relative_half_width(), certainty));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::catalogue::testing::run_simulated;

    #[test]
    fn a_commit_rate_converges_or_is_flagged_and_ends_in_time() {
        // The last commit ends when it ends: up to three merges of 0.9 s.
        for (profile, most_s) in
            [("sd-worst", 18.0), ("class10", 16.0), ("a1", 15.5), ("ssd", 15.0)]
        {
            for cell in run_simulated(profile, 1, &["commit"]) {
                let (iops, took_s) = (cell.metrics.iops.unwrap(), cell.elapsed_ns as f64 / 1e9);
                assert!(took_s < most_s, "{profile}: {took_s} s");
                let is_precise = iops.ci95.unwrap()[1] < 1.06 * iops.value;
                let is_flagged = cell.stop != Stop::Time || !cell.flags.is_empty();
                assert!(is_flagged || is_precise, "{profile}: {iops:?} {:?}", cell.stop);
            }
        }
    }
}
