//! Verdict on a data logger: lateness of its lines, required rate, and expected pauses.

use record::units::{MIB, MILLISECOND_NS, SECOND_NS, significant};
use record::{Cell, Evidence, Fitness, Record, Use, metric, test};

use super::safety_need;
use crate::conclusions::speed::stalls::{self, Stalls};
use crate::figures::figure::{self, UsableEstimate};
use crate::figures::usability;
use crate::verdict::need::{NeedLevel, UseVerdict, weakest_verdict};

/// Largest lateness of a line for the levels good, usable and poor.
const BUSY_NS: [u64; 2] = [SECOND_NS / 4, SECOND_NS / 2];
const LOST_NS: u64 = SECOND_NS;
const BUSY_SOURCE: &str = "the busy limits of the SD specification, 250 and 500 ms, and one second";
/// Tests that append lines as a logger does, each durable before the next; without one of them no
/// medium is good or usable for a logger.
const LINES: [&str; 2] = [test::LOG_APPEND, "logger"];
/// Tests of sequential writes: a pause in these also delays a logger.
const SEQUENTIAL: [&str; 4] =
    [test::SEQUENTIAL_WRITE, test::SUSTAINED, test::PRIME, test::RANDOM_FILL];
/// Longest median time of sequential writes in which a long one is a pause; our choice.
const USUALLY_NS: u64 = 150 * MILLISECOND_NS;
/// Tests of random writes: only a pause in at most one of [`RARE`] writes counts as the medium's.
const AT_RANDOM: [&str; 2] = [test::RANDOM_WRITE, test::SECTOR_WRITE];
const RARE: u64 = 200;
/// Fewest lines, and least share of late ones among them, that show a medium too slow for a logger.
const MIN_LINES: f64 = 10.0;
const NEARLY_ALL: f64 = 0.9;

/// True if lines were appended as a logger does.
pub(crate) fn has_lines(record: &Record) -> bool {
    LINES.iter().any(|test| record.cells_of(test).next().is_some())
}

/// The lines that decide the lateness; `None` with too few lines. Writes of other tests are never
/// flushed, so they are no substitute.
pub(crate) fn lines(record: &Record) -> Option<Stalls<'_>> {
    stalls::of_tests(record, &LINES).filter(|stalls| stalls.lasting().is_some())
}

pub(crate) fn verdict(record: &Record) -> Option<UseVerdict> {
    let durable = durable_lines(record);
    let mut needs: Vec<NeedLevel> = lateness(record, durable.as_ref()).into_iter().collect();
    match keeps_up(record, durable.as_ref()) {
        // The lateness then only depends on the duration of the test.
        Some(behind) if behind.level <= Fitness::Poor => {
            let late = needs.pop().map(|late| late.evidence).unwrap_or_default();
            needs.push(NeedLevel { evidence: [behind.evidence, late].concat(), ..behind });
        }
        Some(NeedLevel { confidence: Some(share), .. }) => needs.iter_mut().for_each(|late| {
            late.confidence = Some(late.confidence.map_or(share, |own| own.min(share)))
        }),
        _ => {}
    }
    needs.extend(pauses(record));
    if needs.is_empty() {
        return None;
    }
    needs.extend(safety_need(record));
    weakest_verdict(Use::Logger, needs, vec![])
}

/// Cells of `log-append`, which counts lines per second (a replayed logger does not), without host
/// stalls.
fn log_cells_without_host_stalls(record: &Record) -> impl Iterator<Item = &Cell> {
    figure::cells(record, test::LOG_APPEND).filter(|cell| usability::host_stalled(cell).is_none())
}

fn durable_lines(record: &Record) -> Option<UsableEstimate<'_>> {
    log_cells_without_host_stalls(record)
        .find_map(|cell| UsableEstimate::of(cell, metric::IOPS).filter(|it| it.ci95.is_some()))
}

fn stored(figure: &UsableEstimate) -> String {
    format!("it stores {} lines per second, each with a flush", significant(figure.value))
}

/// Need for the lateness of lines.
fn lateness(record: &Record, durable: Option<&UsableEstimate>) -> Option<NeedLevel> {
    let mut need = at_most(&lines(record)?)?;
    if let Some(figure) = durable {
        need.reason = format!("{}; {}", need.reason, stored(figure));
        need.evidence.push(figure.into());
    }
    Some(need)
}

fn at_most(stalls: &Stalls) -> Option<NeedLevel> {
    let reason =
        |third: &str, _: u64| format!("{third}; the logger must buffer records for that long");
    NeedLevel::at_most(stalls, BUSY_NS, Some(LOST_NS), reason, BUSY_SOURCE)
}

/// Need to store as many lines as a logger writes: by their rate, or by the number of late ones if
/// there were too few for a rate.
fn keeps_up(record: &Record, durable: Option<&UsableEstimate>) -> Option<NeedLevel> {
    let Some(figure) = durable else {
        return log_cells_without_host_stalls(record).find_map(falls_behind);
    };
    let asked =
        figure.cell.params.other.get("lines_per_s").copied().filter(|asked| *asked > 0.0)?;
    let reason = format!("{}, too few for a logger that writes {asked}", stored(figure));
    let source = "the lines per second of log-append";
    NeedLevel::at_least(figure, [asked / 2.0, asked, asked], reason, source)
}

fn falls_behind(cell: &Cell) -> Option<NeedLevel> {
    let late = cell.metrics.other.get(metric::LATE_LINES)?;
    let n = cell.metrics.latency_ns.as_ref()?.n as f64;
    (n >= MIN_LINES && late.value >= NEARLY_ALL * n).then(|| NeedLevel {
        level: Fitness::Poor,
        reason: format!("{} of {n} lines were durable only after the next one was due", late.value),
        evidence: vec![Evidence::on(cell, format!("{} late lines", late.value))],
        confidence: None,
    })
}

/// Need for pauses of at least a second in other writes of the run: a logger will meet them too,
/// even if its lines of a few seconds did not. Shorter pauses of large blocks may be due to their
/// size.
fn pauses(record: &Record) -> Option<NeedLevel> {
    let is_quick = |cell: &Cell| {
        let median_ns = cell.metrics.latency_ns.as_ref().and_then(|latency| latency.p50);
        median_ns.is_some_and(|ns| ns <= USUALLY_NS)
    };
    let is_in = |tests: &[&str], cell: &Cell| tests.contains(&cell.test.as_str());
    let sequential = stalls::of(record, |cell| is_in(&SEQUENTIAL, cell) && is_quick(cell), MIB);
    let is_rare = |stalls: &Stalls| stalls.beyond(BUSY_NS[0]).saturating_mul(RARE) <= stalls.n;
    let at_random = stalls::of_tests(record, &AT_RANDOM).filter(is_rare);
    let is_long = |stalls: &&Stalls| stalls.lasting().is_some_and(|third| third.ns > LOST_NS);
    [sequential, at_random].iter().flatten().filter(is_long).find_map(at_most)
}
