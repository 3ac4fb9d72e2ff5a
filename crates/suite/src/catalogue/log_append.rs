//! `log-append`: lines that a logger appends at a steady pace, each durable before it counts, as `fsync` after each line makes it on ext4: the last block
//! of the file again, the file system's journal, a flush, its commit block, a flush. What counts is how late a line is, from when it was due until it
//! was durable: a medium that stands still makes all lines late that were due meanwhile.
//!
//! What a cell was asked: `lines_per_s`. Metrics: `latency_ns` of a line; `late_lines`: those that were durable only after the next one was due.

use record::units::{Bytes, KIB, MIB, SECOND_NS};
use record::{Estimate, Flag, Histogram, Pattern, PlannedCell, Region, Stop, Sync};

use super::durable::{Durable, JOURNAL_BYTES, LOG_BYTES, PAGE_BYTES, Step, written_bytes};
use super::stretch;
use crate::plan::span_of;
use crate::tally::latency;
use crate::{Bench, CellList, Needs, Outcome, Setting, SettingError, Settings, Site, Test};

/// The test.
pub struct LogAppend;

/// A line that fits into the last block, and one that needs a new one.
const OF_LINE: &[Step] = &[Step::LogAgain(4 * KIB), Step::Journal(8 * KIB), Step::Flush, Step::Journal(4 * KIB), Step::Flush];
const OF_BLOCK: &[Step] = &[Step::Log(4 * KIB), Step::Journal(8 * KIB), Step::Flush, Step::Journal(4 * KIB), Step::Flush];
/// Lines of 200 bytes in a block, about.
const LINES_PER_BLOCK: u64 = 20;

impl Test for LogAppend {
    fn name(&self) -> &'static str {
        "log-append"
    }
    fn about(&self) -> &'static str {
        "lines appended at a steady pace, each made durable: how late they are"
    }
    fn source(&self) -> &'static str {
        "fsync(2); the kernel's Documentation/filesystems/ext4/journal.rst"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting { name: "lines", default: "10", about: "lines a second" },
            Setting { name: "span", default: "16MiB", about: "how much of the middle" },
            Setting { name: "time", default: "15s", about: "how long" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs { writing: true, ..Needs::default() }
    }

    fn plan(&self, settings: &Settings, site: &Site, cells: &mut CellList<'_>) -> Result<(), SettingError> {
        let Some(span) = cells.or_skip(site.region(Region::Middle, settings.size("span")?)) else { return Ok(()) };
        if span.bytes < JOURNAL_BYTES + LOG_BYTES + MIB {
            cells.skip(format!("journal and log do not fit into {}", Bytes(span.bytes)));
            return Ok(());
        }
        let (lines, max_ns) = (settings.count("lines")?.clamp(1, 1000), settings.duration_ns("time")?);
        let mut params = stretch::writes(site, Region::Middle, span, Pattern::Sequential, PAGE_BYTES);
        (params.queue_depth, params.threads, params.sync) = (1, 1, Sync::Data);
        params.other.insert("lines_per_s".to_owned(), lines as f64);
        let most_lines = (max_ns as f64 / SECOND_NS as f64 * lines as f64) as u64 + 1;
        cells.add(params, max_ns, most_lines * written_bytes(OF_BLOCK));
        Ok(())
    }

    fn run(&self, cell: &PlannedCell, bench: &mut Bench<'_>) -> Outcome {
        let pace_ns = SECOND_NS / (cell.setting("lines_per_s") as u64).max(1);
        let most_lines = bench.allotted_ns / pace_ns;
        let mut work = Durable::new(cell, span_of(cell), bench);
        let started_ns = device::Device::now(work.bench.medium);
        let (mut histogram, mut worst_ns, mut late) = (Histogram::default(), 0, 0);
        let mut stop = Stop::Ops;
        for line in 0..most_lines {
            let due_ns = started_ns + line * pace_ns;
            let now_ns = device::Device::now(work.bench.medium);
            stretch::rest(due_ns.saturating_sub(now_ns), work.bench);
            if work.bench.must_stop() {
                stop = Stop::Interrupted;
                break;
            }
            if work.bench.time_left_ns() == 0 {
                stop = Stop::Time;
                break;
            }
            work.bench.part(line as f64 / most_lines as f64, (line + 1) as f64 / most_lines as f64);
            let steps = if line % LINES_PER_BLOCK == 0 { OF_BLOCK } else { OF_LINE };
            let Some(_) = work.go(steps) else { break };
            let took_ns = device::Device::now(work.bench.medium).saturating_sub(due_ns);
            histogram.record(took_ns);
            worst_ns = worst_ns.max(took_ns);
            late += u64::from(took_ns > pace_ns);
        }
        let mut outcome = work.outcome;
        outcome.end(stop, None);
        tell(&mut outcome, histogram, worst_ns, late);
        outcome
    }
}

fn tell(outcome: &mut Outcome, histogram: Histogram, worst_ns: u64, late: u64) {
    let n = histogram.len();
    if n == 0 {
        return;
    }
    let cell = &mut outcome.cell;
    cell.metrics.latency_ns = Some(latency(&histogram, worst_ns));
    cell.metrics.other.insert("late_lines".to_owned(), Estimate { value: late as f64, ci95: None, n });
    cell.elapsed_ns = (histogram.mean() * n as f64) as u64;
    cell.histogram = Some(histogram);
    if n < 30 {
        cell.flags.push(Flag::TooFewSamples { n });
    }
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::Bed;

    #[test]
    fn lines_come_at_their_pace_and_those_that_are_due_in_a_stall_are_late() {
        let mut number = 0;
        let stalls = move |_: &device::Request, _| {
            number += 1;
            if number == 200 { 450 * MILLISECOND_NS } else { MILLISECOND_NS }
        };
        let ran = Bed::raw(GIB, stalls).run(&["log-append time=10s"]);
        let cell = ran.cell("log-append/1");
        let latency = cell.metrics.latency_ns.as_ref().unwrap();
        assert_eq!((latency.n, latency.p50.unwrap() / MILLISECOND_NS), (100, 5));
        // Due every 100 ms: the line that stood still, and the three or four that were due meanwhile.
        assert!((450..460).contains(&(latency.max / MILLISECOND_NS)), "{}", latency.max);
        assert_eq!(ran.other("log-append/1", "late_lines"), 4.0);
        assert!((8900..9050).contains(&(ran.idle_ns / MILLISECOND_NS)), "{}", ran.idle_ns);
    }

    #[test]
    fn a_medium_that_cannot_keep_the_pace_is_measured_as_long_as_any_other() {
        let ran = Bed::raw(GIB, |_, _| 200 * MILLISECOND_NS).run(&["log-append time=10s"]);
        let cell = ran.cell("log-append/1");
        assert_eq!(cell.metrics.latency_ns.as_ref().unwrap().n, 10);
        assert_eq!(cell.stop, Stop::Time);
        assert_eq!(ran.other("log-append/1", "late_lines"), 10.0);
    }
}
