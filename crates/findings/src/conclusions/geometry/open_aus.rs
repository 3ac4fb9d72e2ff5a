//! Number of allocation units that can be written in turn before every write costs a merge
//! (docs/field/allocation-units.md#open-units, docs/field/allocation-units.md#order-inside-a-unit).

use crate::figures::figure::{self, Ratio, UsableEstimate};
use crate::figures::span_sweep;
use crate::finding_builder::FindingBuilder;
use record::units::{MIB, significant};
use record::{Bound, Cell, Evidence, EvidenceNumber, Finding, Record, metric, test};

/// A cliff has less than this share of the rate of one unit...
const RATE: f64 = 0.5;
/// ...and more than this multiple of the median latency. docs/field/allocation-units.md#open-units
/// has five; fast copies of units of 1 MiB cost only three (family Log4 of
/// docs/field/published-figures.md#survey-of-microsd-cards), and a median does not move that far by
/// chance.
const LATENCY: f64 = 2.5;

/// Ratio from which on several units in turn are implausibly faster than one: the medium was still
/// busy with earlier writes.
const UNSETTLED: f64 = 2.0;
/// Least chance of a limit that is named.
const SURE: f64 = 0.95;

/// A step of the search: a number of units written in turn.
struct SearchStep<'a> {
    units: u64,
    rate: UsableEstimate<'a>,
    median_ns: Option<f64>,
}

/// "8 in turn: 2.31 MB/s (2.2 to 2.4)", in its cell.
fn in_turn(step: &SearchStep) -> Evidence {
    let text = format!("{} in turn: {}", step.units, step.rate.with_interval());
    Evidence::on(step.rate.cell, text)
}

/// A number of open units that are not too many.
fn at_least(open: u64) -> EvidenceNumber {
    EvidenceNumber { bound: Some(Bound::AtLeast), ..EvidenceNumber::new("open_aus", open as f64) }
}

/// Result of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
enum OpenAuLimit {
    /// The last count without a cliff, and the first with one.
    Between(u64, u64),
    /// The same where the rates vary as much as they differ.
    Unclear(u64, u64),
    /// No cliff up to here.
    Beyond(u64),
}

fn steps<'a>(record: &'a Record, form: &str) -> Vec<SearchStep<'a>> {
    // The search is done at the first block size; at others only its ends are measured.
    let block_bytes =
        figure::form(record, test::OPEN_AUS, form).and_then(|cell| cell.params.block_bytes);
    let fits = |cell: &&Cell| {
        cell.params.form.as_deref() == Some(form) && cell.params.block_bytes == block_bytes
    };
    let mut steps: Vec<SearchStep> = figure::cells(record, test::OPEN_AUS)
        .filter(fits)
        .filter_map(|cell| {
            let units = cell
                .params
                .other
                .get("n_aus")
                .copied()
                .or_else(|| Some(cell.metrics.other.get("n_aus")?.value))?;
            (units >= 1.0).then_some(SearchStep {
                units: units as u64,
                rate: UsableEstimate::of(cell, metric::BPS)?,
                median_ns: median_ns(cell),
            })
        })
        .collect();
    steps.sort_by_key(|step| step.units);
    steps
}

fn median_ns(cell: &Cell) -> Option<f64> {
    let typical = |latency: &record::Latency| latency.p50.map_or(latency.mean, |ns| ns as f64);
    cell.metrics.latency_ns.as_ref().map(typical).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// The step for a single unit and the fastest one, if the latter was too fast for the first to be a
/// yardstick.
fn unsettled<'a, 'b>(
    steps: &'b [SearchStep<'a>],
) -> Option<(&'b SearchStep<'a>, &'b SearchStep<'a>)> {
    let one = steps.first().filter(|step| step.units == 1)?;
    let fastest = steps.iter().max_by(|a, b| a.rate.value.total_cmp(&b.rate.value))?;
    let is_slow_throughout = match one.median_ns.zip(fastest.median_ns) {
        // Closing earlier units, or a pause, makes a few writes long; a medium with work left makes
        // all of them long.
        Some((one_ns, fastest_ns)) => one_ns > UNSETTLED * fastest_ns,
        None => Ratio::of(&fastest.rate, &one.rate).is_above(1.0),
    };
    (fastest.rate.value > UNSETTLED * one.rate.value && is_slow_throughout)
        .then_some((one, fastest))
}

/// Rate in bytes per second and median latency in ns for a single unit without other costs. A few
/// of its writes may have been long, so equally fast steps are used too.
fn yardstick(steps: &[SearchStep]) -> Option<(f64, Option<f64>)> {
    let one = steps.first().filter(|step| step.units == 1 && unsettled(steps).is_none())?;
    let is_alike = |step: &&SearchStep| {
        step.median_ns.zip(one.median_ns).is_some_and(|(now, then)| now <= LATENCY * then)
    };
    let fastest =
        steps.iter().filter(is_alike).map(|step| step.rate.value).fold(one.rate.value, f64::max);
    Some((fastest, one.median_ns))
}

/// The limit among these steps; `None` without a step for a single unit, with only one step, and if
/// the medium was not in a steady state.
fn limit(steps: &[SearchStep]) -> Option<OpenAuLimit> {
    let (bps, one_ns) = yardstick(steps)?;
    let is_cliff = |step: &SearchStep| {
        let slow = step.rate.value < RATE * bps;
        // A cell with too few writes for a median is judged by its rate, which the same cliff
        // lowers as far.
        let stalls = match (step.median_ns, one_ns) {
            (Some(now), Some(then)) => now > LATENCY * then,
            _ => step.rate.value < bps / LATENCY,
        };
        slow && stalls
    };
    let last = steps.last().filter(|last| last.units > 1)?;
    let cliff = steps.iter().find(|step| is_cliff(step));
    let fewer = |step: &&SearchStep| cliff.is_none_or(|cliff| step.units < cliff.units);
    let open = steps.iter().rfind(fewer)?;
    Some(match cliff {
        None => OpenAuLimit::Beyond(last.units),
        Some(cliff) if confidence(open, cliff, bps).is_some_and(|share| share < SURE) => {
            OpenAuLimit::Unclear(open.units, cliff.units)
        }
        Some(cliff) => OpenAuLimit::Between(open.units, cliff.units),
    })
}

/// Chance that the second step is below the limit of a cliff, and the first is not.
fn confidence(open: &SearchStep, cliff: &SearchStep, bps: f64) -> Option<f64> {
    let [early, late] = [open, cliff].map(|step| step.rate.below(RATE * bps));
    early.zip(late).map(|(early, late)| (1.0 - early) * late)
}

/// Largest known allocation unit (docs/field/allocation-units.md#known-sizes has 12 MiB; one card
/// of 24 MiB is known).
const LARGEST_AU: f64 = (24 * MIB) as f64;

/// Most bytes in the open allocation units; 0 if no limit is visible, so that they explain nothing.
/// `None` if the search was not finished, or could not have shown the closing of a unit that takes
/// at most `closing_ns`. A unit of unknown size counts as the largest.
pub(crate) fn open_bytes(record: &Record, closing_ns: f64) -> Option<u64> {
    let steps = steps(record, "linear");
    match (limit(&steps)?, cause(record)) {
        (OpenAuLimit::Beyond(reached), _) if is_unfinished(&steps, reached) => None,
        (OpenAuLimit::Beyond(_), _)
            if steps.first()?.median_ns.is_some_and(|ns| closing_ns < (LATENCY + 0.5) * ns) =>
        {
            None
        }
        (
            OpenAuLimit::Between(_, first) | OpenAuLimit::Unclear(_, first),
            LimitCause::OpenUnits,
        ) => {
            let au = crate::conclusions::geometry::au_bytes(record).unwrap_or(LARGEST_AU as u64);
            Some(au.saturating_mul(first - 1))
        }
        _ => Some(0),
    }
}

/// True if the search should have gone beyond this count.
fn is_unfinished(steps: &[SearchStep], reached: u64) -> bool {
    let most = steps
        .iter()
        .filter_map(|step| step.rate.cell.params.other.get("most"))
        .fold(0.0, |a: f64, b| a.max(*b));
    most > reached as f64
}

/// Least share of a merge that writing a whole unit out of order must cost, if there are units.
const MERGED: f64 = 0.5;
/// Least share of a merge for a single such write to contain one.
const STALLED: f64 = 0.7;
/// Least assumed size of a unit: with smaller ones not all merges are visible.
const SMALLEST_AU: f64 = (2 * MIB) as f64;

/// Least share of sequential writes of the same size, relative to those out of order, to estimate
/// how often the medium pauses.
const ENOUGH_SEEN: f64 = 0.25;

/// Total time in seconds beyond `typical_s` of I/Os that took at least `longer_s` more.
fn stalled_s(histogram: &record::Histogram, typical_s: f64, longer_s: f64) -> f64 {
    let beyond_s = histogram.buckets().map(|(ns, n)| (ns as f64 / 1e9 - typical_s, n as f64));
    beyond_s.filter(|(s, _)| *s >= longer_s).map(|(s, n)| s * n).sum()
}

/// Total time in seconds of I/Os left out of the latencies because of a host stall, without the
/// host's part: a merge may be among them.
fn left_out_s(cell: &Cell, bps: f64) -> f64 {
    let counted = cell
        .histogram
        .as_ref()
        .filter(|_| cell.host_state.as_ref().is_some_and(|seen| seen.left_out > 0));
    counted.map_or(0.0, |counted| {
        (cell.bytes as f64 / bps - counted.mean() * counted.len() as f64 / 1e9).max(0.0)
    })
}

/// Pauses of a medium during sequential writes, in seconds per byte: they also occur in writes out
/// of order. Seen in the larger writes over the whole medium, and in writes to as few units in turn
/// as it keeps open, if there are enough of them (they may pay for earlier units).
fn paused_s_per_byte(record: &Record, longer_s: f64, within: &[SearchStep], bytes: f64) -> f64 {
    let seen = within
        .iter()
        .filter_map(|step| Some((step.rate.cell.histogram.as_ref()?, step.rate.cell.bytes as f64)));
    let (most_s, seen_bytes) = seen.fold((0.0, 0.0), |(s, sum), (histogram, own)| {
        (s + stalled_s(histogram, 0.0, longer_s), sum + own)
    });
    let own_s = within.first().and_then(|step| step.median_ns).map_or(0.0, |ns| ns / 1e9);
    let (shorter_s, most) = if seen_bytes >= ENOUGH_SEEN * bytes {
        (own_s, most_s / seen_bytes)
    } else {
        (0.0, f64::INFINITY)
    };
    let paused = figure::cells(record, test::PRIME).find_map(|cell| {
        let typical_s = cell.metrics.latency_ns.as_ref()?.p50? as f64 / 1e9;
        Some(
            stalled_s(cell.histogram.as_ref()?, typical_s, (longer_s - shorter_s).max(0.0))
                / cell.bytes.max(1) as f64,
        )
    });
    paused.unwrap_or(0.0).min(most)
}

/// Cause of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LimitCause {
    /// Units that are open for writing.
    OpenUnits,
    /// A cache of this many bytes per unit's worth of writes out of order: merges only occur beyond
    /// it.
    Cache(f64),
    /// No limit: any write that does not continue the one before costs as much.
    AnyOrder,
}

/// Cause of slow writes to more units in turn. An allocation unit written out of order is merged
/// when it is full, so each unit's worth of such writes costs one merge, as a write beyond the
/// limit does; a cache costs no merge. If writes out of order within one unit cost as much as
/// writes to one unit too many, units are not the cause: so it is with page mapping, and behind a
/// write cache.
fn cause(record: &Record) -> LimitCause {
    let linear = steps(record, "linear");
    let Some(OpenAuLimit::Between(_, first) | OpenAuLimit::Unclear(_, first)) = limit(&linear)
    else {
        return LimitCause::OpenUnits;
    };
    seen_out_of_order(record, &linear, first).unwrap_or(LimitCause::OpenUnits)
}

fn seen_out_of_order(record: &Record, linear: &[SearchStep], first: u64) -> Option<LimitCause> {
    let (one, past) = (linear.first()?, linear.iter().find(|step| step.units == first)?);
    let block = one.rate.cell.params.block_bytes?;
    let random = figure::cells(record, test::OPEN_AUS)
        .filter(|cell| {
            cell.params.form.as_deref() == Some("random") && cell.params.block_bytes == Some(block)
        })
        .find_map(|cell| {
            Some(SearchStep {
                units: 1,
                rate: UsableEstimate::of(cell, metric::BPS)?,
                median_ns: median_ns(cell),
            })
        })?;
    // Means: garbage collection may be paid irregularly.
    if MERGED * random.rate.value < past.rate.value {
        return Some(LimitCause::AnyOrder);
    }
    // The median: a single slow write would make all merges of a short cell look long.
    let merge_s = past.median_ns.map_or(block as f64 / past.rate.value, |ns| ns / 1e9);
    let bytes = random.rate.cell.bytes as f64;
    // A unit not visible in reads is estimated from the span in which random writes are fast,
    // divided by the number of open units.
    let swept = || Some((span_sweep::fast_within(record)? / (first - 1) as f64).min(LARGEST_AU));
    let known = crate::conclusions::geometry::au_bytes(record).map(|au| au as f64).or_else(swept);
    let assumed = || one.rate.cell.params.other.get("assumed_au_bytes").copied();
    let (merges, enough, fewest, au) = match (&random.rate.cell.histogram, known) {
        // With few writes only their total time is meaningful.
        (histogram, au) if histogram.is_none() || bytes < 2.0 * LARGEST_AU => {
            let au = au.or_else(assumed)?;
            (
                (bytes / random.rate.value - bytes / yardstick(linear)?.0) / merge_s,
                bytes >= au,
                MERGED * bytes / au,
                au,
            )
        }
        (histogram, au) => {
            let au = au.unwrap_or(LARGEST_AU);
            let stalled_s = stalled_s(histogram.as_ref()?, 0.0, STALLED * merge_s)
                + left_out_s(random.rate.cell, random.rate.value);
            let within = &linear[..linear.partition_point(|step| step.units < first)];
            let paused_s = bytes * paused_s_per_byte(record, STALLED * merge_s, within, bytes);
            let merges = (stalled_s - paused_s).max(0.0) / merge_s;
            let fewest = (MERGED * bytes / au.clamp(SMALLEST_AU, LARGEST_AU)).max(STALLED);
            (merges, true, fewest, au)
        }
    };
    Some(if enough && merges < fewest {
        LimitCause::Cache(merges.max(0.0) * au / bytes)
    } else {
        LimitCause::OpenUnits
    })
}

/// `open-units`, and `open-units-random` if the order within a unit makes a difference.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    // A disk seeks from one place to the next, which is not a merge.
    if record.medium.rotational == Some(true) {
        return Vec::new();
    }
    let linear = steps(record, "linear");
    let random = steps(record, "random");
    let mut findings: Vec<Finding> = open_units(record, &linear).into_iter().collect();
    findings.extend(order_matters(&linear, &random));
    findings
}

/// Finding for a search that began before the medium was in a steady state: no limit.
fn not_at_rest(one: &SearchStep, fastest: &SearchStep) -> Finding {
    let statement = format!(
        "Cannot be told here: how many erase blocks it keeps open. Writing to {} in turn was {} times as fast as writing to one, so it was not in a steady state.",
        fastest.units,
        Ratio::of(&fastest.rate, &one.rate).text()
    );
    FindingBuilder::info("open-units", statement)
        .figures([&one.rate, &fastest.rate])
        .note("docs/field/allocation-units.md#open-units")
        .done()
}

fn open_units(record: &Record, steps: &[SearchStep]) -> Option<Finding> {
    if let Some((one, fastest)) = unsettled(steps) {
        return Some(not_at_rest(one, fastest));
    }
    let found = limit(steps)?;
    let measured = steps.iter().map(in_turn);
    let draft = match found {
        OpenAuLimit::Between(..) if cause(record) == LimitCause::AnyOrder => FindingBuilder::info(
            "open-units",
            "No limit of open erase blocks is visible: a write that does not continue the last one costs as much within one erase block as between two.",
        ),
        OpenAuLimit::Between(open, first) => {
            let after = steps.iter().find(|step| step.units == first)?;
            let before = steps.iter().find(|step| step.units == open)?;
            let (bps, _) = yardstick(steps)?;
            let fall = figure::times(before.rate.value / after.rate.value);
            let count = if first == open + 1 { format!("{open}") } else { format!("between {open} and {}", first - 1) };
            let unit = if count == "1" { "erase block" } else { "erase blocks" };
            if let LimitCause::Cache(merges) = cause(record) {
                let statement = format!(
                    "Writing to more than {count} {unit} in turn is {fall} slower, but random writes within one cost no merge: it is a cache of that size, not open erase blocks."
                );
                let paid = format!("{} merges for each erase block written randomly; open erase blocks need one", significant(merges));
                return Some(
                    FindingBuilder::info("open-units", statement)
                        .notes(steps.iter().map(in_turn))
                        .note(paid)
                        .note("docs/field/allocation-units.md#open-units, docs/field/allocation-units.md#order-inside-a-unit")
                        .done(),
                );
            }
            let statement = format!(
                "It keeps {count} {unit} open: writing to one more in turn makes each write {fall} slower. Files written at the same time, and a journal, compete for them."
            );
            FindingBuilder::warning("open-units", statement)
                .note(EvidenceNumber::new("open_aus", open as f64))
                .note(EvidenceNumber::new("too_many_aus", first as f64))
                .with_confidence(confidence(before, after, bps))
        }
        OpenAuLimit::Unclear(open, first) => FindingBuilder::info(
            "open-units",
            format!("Cannot be told here: how many erase blocks it keeps open. Writing to {first} in turn was slower than writing to {open}, but these rates vary as much."),
        )
        .note(at_least(open)),
        OpenAuLimit::Beyond(most) => FindingBuilder::info(
            "open-units",
            format!("Writing to {most} erase blocks in turn is as fast as writing to one: no limit is visible."),
        )
        .note(at_least(most)),
    };
    let au = crate::conclusions::geometry::au_bytes(record)
        .map(|bytes| format!("erase block {}", figure::size(bytes)));
    Some(
        draft
            .notes(measured)
            .notes(au)
            .note("threshold: less than half the rate and 2.5 times the median latency (docs/field/allocation-units.md#open-units, docs/field/published-figures.md#survey-of-microsd-cards)")
            .done(),
    )
}

/// Comparison of writing one open unit in random order and in sequential order
/// (docs/field/allocation-units.md#order-inside-a-unit).
fn order_matters(linear: &[SearchStep], random: &[SearchStep]) -> Option<Finding> {
    let one = |steps: &[SearchStep]| steps.iter().position(|step| step.units == 1);
    let (ordered, mixed) = (&linear[one(linear)?].rate, &random[one(random)?].rate);
    let ratio = figure::Ratio::of(ordered, mixed);
    ratio.is_above(3.0).then(|| {
        let statement = format!("Even within one erase block, random writes are {} slower: its log of an erase block must be ascending.", figure::times(ratio.value));
        FindingBuilder::warning("open-units-random", statement).figures([ordered, mixed]).note(&ratio).note("docs/field/allocation-units.md#order-inside-a-unit, docs/field/published-figures.md#survey-of-microsd-cards family Log4").with_confidence(ratio.above(3.0)).done()
    })
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Latency, Params};

    use super::*;

    fn cell(units: u64, bps: f64, median_ns: u64) -> Cell {
        let mut params = Params { form: Some("linear".into()), ..Params::default() };
        params.other.insert("n_aus".into(), units as f64);
        let mut cell = Cell::begun(format!("open-aus/{units}"), "open-aus", params);
        cell.metrics.bps = Some(Estimate { value: bps, ci95: None, n: 64 });
        cell.metrics.latency_ns =
            Some(Latency { n: 64, p50: Some(median_ns), ..Latency::default() });
        cell
    }

    #[test]
    fn stalls_are_counted_by_their_time_above_the_typical_one() {
        let mut histogram = record::Histogram::default();
        histogram.record_n(100_000_000, 4);
        histogram.record_n(500_000_000, 2);
        let of = |typical_s: f64, longer_s: f64| stalled_s(&histogram, typical_s, longer_s);
        assert!((of(0.0, 0.05) - 1.4).abs() < 0.01);
        assert!((of(0.1, 0.3) - 0.8).abs() < 0.01);
        assert_eq!(of(0.1, 0.5), 0.0);
    }

    #[test]
    fn time_left_out_by_the_host_is_that_of_the_rate_less_the_latencies() {
        let of = |left_out: u64, bytes: u64| {
            let mut cell = cell(1, 1.0, 1);
            cell.bytes = bytes;
            let mut histogram = record::Histogram::default();
            histogram.record_n(1_000_000_000, 3);
            cell.histogram = Some(histogram);
            cell.host_state = Some(record::HostState { left_out, ..record::HostState::default() });
            left_out_s(&cell, 100.0)
        };
        assert!((of(1, 1_000) - 7.0).abs() < 0.01);
        assert_eq!(of(1, 100), 0.0);
        assert_eq!(of(0, 1_000), 0.0);
    }
}
