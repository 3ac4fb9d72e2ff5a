//! Cells of a replay: one about the whole, and one for each kind of operation, compared with the
//! recording.

use device::{Facts, Op};
use record::units::{Nanos, significant};
use record::{
    Cell, Content, Direction, Estimate, Flag, Histogram, Latency, Params, PlannedCell, Stop,
    metric, test,
};
use stats::{quantile_ranks, smallest_sample};

use super::placing::Placing;
use super::player::Done;
use super::{Pace, Replay, ReplayOutcome, ReplaySettings};
use crate::trace::{Recorded, TraceSurvey, op_index};

/// The test's name in records.
pub const TEST: &str = test::REPLAY;
const OPS: [(Op, &str, Option<Direction>); 4] = [
    (Op::Read, "reads", Some(Direction::Read)),
    (Op::Write, "writes", Some(Direction::Write)),
    (Op::Flush, "flushes", None),
    (Op::Discard, "discards", None),
];
/// An I/O at least this long, in nanoseconds, is a caveat.
const STALL_NS: u64 = 5_000_000_000;

/// The pace in words: "as recorded", "10 times faster", "as fast as possible".
pub fn title(pace: Pace) -> String {
    match pace {
        Pace::Times(1.0) => "as recorded".into(),
        Pace::Times(times) => format!("{}x faster", significant(times)),
        Pace::Max => "as fast as possible".into(),
    }
}

/// The cells that a replay will leave.
pub(super) fn planned(
    survey: &TraceSurvey,
    placing: &Placing,
    settings: &ReplaySettings,
    facts: &Facts,
) -> Vec<PlannedCell> {
    let span = placing.span();
    let writes = if settings.reads_only { 0 } else { survey.of_op(Op::Write).requests };
    // Each may be widened by a block at either end.
    let widened = writes.saturating_mul(2 * facts.logical_block_bytes);
    let written =
        if settings.reads_only { 0 } else { survey.of_op(Op::Write).bytes.saturating_add(widened) };
    let params = Params {
        form: Some(title(settings.pace)),
        span_offset_bytes: Some(span.offset_bytes),
        span_bytes: Some(span.bytes),
        queue_depth: if survey.completions == 0 { settings.depth } else { survey.depth }.max(1),
        threads: 1,
        content: (written > 0).then_some(Content::Incompressible),
        ..Params::default()
    };
    let max_ns = match settings.pace {
        Pace::Times(times) => (survey.duration_ns as f64 / times) as u64,
        Pace::Max => survey.duration_ns,
    };
    let discards = !settings.reads_only && survey.of_op(Op::Discard).requests > 0;
    let whole = cell(1, params.clone(), max_ns, written.max(u64::from(discards)));
    let of_op = OPS
        .iter()
        .filter(|(op, ..)| survey.of_op(*op).requests > 0 && is_wanted(*op, settings, facts));
    let of_op = of_op.enumerate().map(|(at, (_, form, direction))| {
        let params = Params {
            form: Some((*form).into()),
            direction: *direction,
            content: None,
            ..params.clone()
        };
        cell(at + 2, params, 0, 0)
    });
    std::iter::once(whole).chain(of_op).collect()
}

fn is_wanted(op: Op, settings: &ReplaySettings, facts: &Facts) -> bool {
    match op {
        Op::Read => true,
        Op::Discard => !settings.reads_only && facts.discards,
        Op::Write | Op::Flush => !settings.reads_only,
    }
}

fn cell(number: usize, params: Params, max_ns: u64, max_written_bytes: u64) -> PlannedCell {
    PlannedCell {
        id: format!("{TEST}/{number}"),
        test: TEST.into(),
        params,
        max_ns,
        max_written_bytes,
    }
}

/// Results, one cell for each that was planned.
pub(super) fn cells(replay: &Replay, outcome: &ReplayOutcome) -> Vec<Cell> {
    let one = |(at, planned): (usize, &PlannedCell)| {
        let mut cell = Cell::begun(&planned.id, &planned.test, planned.params.clone());
        cell.stop = outcome.stop.unwrap_or(Stop::Ops);
        cell.reason = outcome.failure.as_ref().map(ToString::to_string);
        cell.elapsed_ns = outcome.elapsed_ns;
        let form = planned.params.form.as_deref();
        match OPS.iter().find(|(_, name, _)| at > 0 && form == Some(name)) {
            Some((op, ..)) => {
                of_op(&mut cell, &outcome.by_op[op_index(*op)], replay.survey.of_op(*op));
            }
            None => whole(&mut cell, &replay.survey, &replay.settings, outcome),
        }
        cell
    };
    replay.plan.iter().enumerate().map(one).collect()
}

fn whole(
    cell: &mut Cell,
    survey: &TraceSurvey,
    settings: &ReplaySettings,
    outcome: &ReplayOutcome,
) {
    let mut histogram = Histogram::default();
    outcome.by_op.iter().for_each(|done| histogram.merge(&done.latency));
    let worst_ns = outcome.by_op.iter().map(|done| done.worst_ns).max().unwrap_or(0);
    cell.ops = outcome.ops();
    cell.bytes = outcome.bytes();
    cell.written_bytes = outcome.written_bytes();
    let n = cell.ops;
    let mut fact = |name: &str, value: f64| cell.metrics.put(name, value, n);
    fact("replay_elapsed_ns", outcome.elapsed_ns as f64);
    fact("replay_recorded_ns", survey.duration_ns as f64);
    let seconds = outcome.elapsed_ns as f64 / 1e9;
    if seconds > 0.0 {
        fact("replay_rate_iops", n as f64 / seconds);
        fact("replay_rate_bps", outcome.bytes() as f64 / seconds);
    }
    if let Some(cpu_ns) = outcome.cpu_ns.filter(|_| n > 0) {
        fact(metric::CPU_NS_PER_IO, cpu_ns as f64 / n as f64);
    }
    if settings.pace != Pace::Max && !outcome.error.is_empty() {
        fact("replay_submission_error_p50_ns", outcome.error.quantile(0.5) as f64);
        if outcome.error.len() >= smallest_sample(0.99) {
            fact("replay_submission_error_p99_ns", outcome.error.quantile(0.99) as f64);
        }
        fact("replay_submission_error_max_ns", outcome.error.max() as f64);
        fact("replay_held_back", outcome.held_back as f64);
        let (due_ns, was_ns) = outcome.last_ns;
        if due_ns > 0 {
            fact(
                "replay_timing_drift_percent",
                (was_ns as f64 - due_ns as f64) / due_ns as f64 * 100.0,
            );
        }
    }
    if !histogram.is_empty() {
        cell.metrics.latency_ns = Some(latency(&histogram, worst_ns));
        cell.histogram = Some(histogram);
    }
    cell.series = vec![outcome.latency_timeline.series("latency, replayed")];
    if !survey.latency_timeline.is_empty() {
        cell.series.push(survey.latency_timeline.series("latency, recorded"));
    }
    cell.series.retain(|series| !series.points.is_empty());
    cell.flags = flags(survey, outcome, worst_ns);
}

/// Adds one kind of operation to its cell, with the comparison with the recording.
fn of_op(cell: &mut Cell, done: &Done, recorded: &Recorded) {
    cell.ops = done.ops;
    cell.bytes = done.bytes;
    if done.latency.is_empty() {
        return;
    }
    cell.metrics.latency_ns = Some(latency(&done.latency, done.worst_ns));
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        let Some((then, then_ci)) = quantile(&recorded.latency, share) else { continue };
        let n = recorded.latency.len();
        let value = Estimate { value: then, ci95: then_ci, n };
        cell.metrics.add(&format!("recorded_{name}_ns"), value);
        let Some((now, now_ci)) = quantile(&done.latency, share) else { continue };
        // From the ends that are farthest apart: wider than it need be, and never too narrow by
        // this.
        let ci95 = now_ci
            .zip(then_ci)
            .filter(|(_, then)| then[0] > 0.0)
            .map(|(now, then)| [now[0] / then[1], now[1] / then[0]]);
        let ratio = Estimate { value: now / then, ci95, n: n.min(done.latency.len()) };
        cell.metrics.add(&format!("{name}_over_recorded_ratio"), ratio);
    }
    cell.histogram = Some(done.latency.clone());
}

/// A quantile in nanoseconds with its interval; `None` where there are too few samples
/// (docs/field/statistics.md#percentiles).
fn quantile(histogram: &Histogram, share: f64) -> Option<(f64, Option<[f64; 2]>)> {
    if histogram.len() < smallest_sample(share) {
        return None;
    }
    let ranks = quantile_ranks(histogram.len(), share, 0.95);
    let ends =
        ranks.map(|(low, high)| [low, high].map(|rank| histogram.order_statistic(rank) as f64));
    Some((histogram.quantile(share) as f64, ends))
}

fn latency(histogram: &Histogram, worst_ns: u64) -> Latency {
    let ends = [("p50", 0.5), ("p99", 0.99)].into_iter().filter_map(|(name, share)| {
        Some((name.to_owned(), quantile(histogram, share)?.1?.map(|ns| ns as u64)))
    });
    Latency { ci95: ends.collect(), ..stats::latency(histogram, worst_ns) }
}

fn count(requests: u64) -> String {
    if requests == 1 { "1 request".into() } else { format!("{requests} requests") }
}

/// Caveats and notes about the figures.
fn flags(survey: &TraceSurvey, outcome: &ReplayOutcome, worst_ns: u64) -> Vec<Flag> {
    let [beyond, not_read, no_discards] = outcome.left;
    let texts = [
        survey
            .cut_off
            .as_ref()
            .map(|how| format!("the trace is not whole: {how}; what comes before was replayed")),
        (survey.completions == 0).then(|| {
            "the trace does not say when requests were done: nothing to compare with".to_owned()
        }),
        (survey.spans.len() > 1).then(|| {
            format!("{} recorded devices or files, laid one behind the other", survey.spans.len())
        }),
        (beyond > 0).then(|| format!("{} beyond the end of the target left out", count(beyond))),
        (not_read > 0).then(|| format!("{} left out, as only reads were wanted", count(not_read))),
        (no_discards > 0)
            .then(|| format!("{} to discard left out: the target takes none", count(no_discards))),
        (outcome.widened > 0)
            .then(|| format!("{} widened to whole blocks of the target", count(outcome.widened))),
        (outcome.crowded > 0).then(|| {
            format!("{} waited for a place among those in flight", count(outcome.crowded))
        }),
        (outcome.held_back > 0).then(|| {
            let held_back = count(outcome.held_back);
            format!(
                "{held_back} late by up to {}: what was waited for took longer than recorded",
                Nanos(outcome.error.max())
            )
        }),
    ];
    let mut flags: Vec<Flag> =
        texts.into_iter().flatten().map(|text| Flag::Note { text }).collect();
    if outcome.zero_latencies > 0 {
        flags.push(Flag::ZeroLatency { n: outcome.zero_latencies });
    }
    if worst_ns >= STALL_NS {
        flags.push(Flag::Stalled { longest_ns: worst_ns });
    }
    flags
}
