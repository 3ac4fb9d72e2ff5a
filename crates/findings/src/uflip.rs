//! Findings from uFLIP's patterns: locality of cheap random writes, number of parallel write
//! streams, costs of the write order, effect of pauses, and length of the start-up phase
//! (docs/field/snia-and-uflip.md#uflip).

use record::units::{Bytes, KIB, Nanos, significant};
use record::{Cell, Direction, Finding, Pattern, Record, metric, test};

use crate::figure::{self, Ratio, UsableEstimate, size};
use crate::finding_builder::FindingBuilder;

/// Base size of all patterns (uFLIP's choice).
const BASE_BYTES: u64 = 32 * KIB;
/// Ratio to the cost of a sequential write up to which costs count as the same.
const SAME: f64 = 2.0;
/// Ratio of the costs from which on a pause helps.
const HELPS: f64 = 1.5;
/// Most I/Os of a start-up phase too short to mislead a benchmark.
const SHORT_START: f64 = 16.0;
/// Pause in ns after which no after-effect was seen (the test's shortest).
const MIN_PAUSE_NS: f64 = 100e6;

/// Usable writes of one pattern by the value of its parameter, ascending.
fn writes<'a>(record: &'a Record, form: &str, pattern: Pattern) -> Vec<(f64, UsableEstimate<'a>)> {
    by_value(record, form, |cell| {
        cell.params.direction == Some(Direction::Write) && cell.params.pattern == Some(pattern)
    })
}

fn by_value<'a>(
    record: &'a Record,
    form: &str,
    wanted: impl Fn(&Cell) -> bool,
) -> Vec<(f64, UsableEstimate<'a>)> {
    let cells = figure::cells(record, test::UFLIP)
        .filter(|cell| cell.params.form.as_deref() == Some(form) && wanted(cell));
    let mut found: Vec<(f64, UsableEstimate<'_>)> = cells
        .filter_map(|cell| {
            Some((
                *cell.params.other.get("value").filter(|value| value.is_finite())?,
                UsableEstimate::of(cell, metric::IOPS)?,
            ))
        })
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

fn at<'a, 'f>(
    found: &'f [(f64, UsableEstimate<'a>)],
    value: f64,
) -> Option<&'f UsableEstimate<'a>> {
    found.iter().find(|(other, _)| *other == value).map(|(_, figure)| figure)
}

/// Sequential writes of 32 KiB, with which all others are compared.
fn sequential(record: &Record) -> Option<UsableEstimate<'_>> {
    let rows = writes(record, "granularity", Pattern::Sequential);
    at(&rows, BASE_BYTES as f64).or(at(&writes(record, "order", Pattern::Sequential), 1.0)).cloned()
}

/// Ratio of the costs of two writes.
fn cost_ratio(slow: &UsableEstimate<'_>, fast: &UsableEstimate<'_>) -> Ratio {
    Ratio::of(fast, slow)
}

/// Cost of a write compared with another, decided by the whole interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CostComparison {
    Same,
    More,
    Unclear,
}

fn cost(of: &UsableEstimate<'_>, against: &UsableEstimate<'_>) -> CostComparison {
    match cost_ratio(of, against).ci95 {
        Some([_, high]) if high <= SAME => CostComparison::Same,
        Some([low, _]) if low > SAME => CostComparison::More,
        _ => CostComparison::Unclear,
    }
}

/// Range of values from the smallest on in which writes cost the same as `base`.
struct CostRange<'a> {
    /// The largest value up to which all significantly cost the same.
    same: Option<f64>,
    /// The first value that significantly costs more.
    more: Option<(f64, UsableEstimate<'a>)>,
    /// True if there is no undecided value between the two.
    is_clear: bool,
}

fn cost_range<'a>(found: &[(f64, UsableEstimate<'a>)], base: &UsableEstimate<'_>) -> CostRange<'a> {
    let costs: Vec<CostComparison> = found.iter().map(|(_, figure)| cost(figure, base)).collect();
    let same = costs.iter().position(|cost| *cost != CostComparison::Same).unwrap_or(costs.len());
    let more = costs.iter().position(|cost| *cost == CostComparison::More);
    CostRange {
        same: found[..same].last().map(|(value, _)| *value),
        more: more.map(|at| found[at].clone()),
        is_clear: more.unwrap_or(costs.len()) == same,
    }
}

/// `random-locality`, `write-rows`, `write-order`, `pauses`, `start-up`, `parallel`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [
        locality(record),
        rows(record),
        order(record),
        pauses(record),
        start_up(record),
        parallel(record),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Finding on the span within which random writes cost no more than sequential writes.
fn locality(record: &Record) -> Option<Finding> {
    let base = sequential(record)?;
    let found = writes(record, "locality", Pattern::Uniform);
    let (widest, widest_figure) = found.last().filter(|_| found.len() >= 3)?;
    let reached = cost_range(&found, &base);
    let range = |value: f64| size((value * BASE_BYTES as f64) as u64);
    let whole = cost_ratio(widest_figure, &base);
    let statement = match (reached.same, &reached.more) {
        (same, _) if same.is_none_or(|same| same <= 1.0) && !reached.is_clear => {
            "Whether random writes are cheap within a small range cannot be told from these few \
             writes."
                .to_owned()
        }
        (Some(within), None) if !reached.is_clear => format!(
            "Random writes within {} cost less than twice as much as sequential ones; what they cost over {} cannot be told from these few writes.",
            range(within),
            range(*widest)
        ),
        (_, None) => format!(
            "Random writes cost at most {} as much as sequential ones, over {} and over less: location does not matter.",
            figure::times(whole.value.max(1.0)),
            range(*widest)
        ),
        (Some(within), Some(_)) if within > 1.0 => format!(
            "Random writes within {} cost less than twice as much as sequential ones; over {} they cost {} as much. Keep random writes within such a range.",
            range(within),
            range(*widest),
            figure::times(whole.value)
        ),
        _ => format!(
            "Random writes cost {} as much as sequential ones over {}, and no small range makes them cheap.",
            figure::times(whole.value),
            range(*widest)
        ),
    };
    let ranges = found.iter().map(|(value, figure)| format!("within {}: {figure}", range(*value)));
    Some(
        FindingBuilder::info("random-locality", statement)
            .figure(&base)
            .notes(ranges)
            .note(format!(
                "{whole}; threshold {SAME}x (uFLIP locality; docs/field/snia-and-uflip.md#uflip)"
            ))
            .done(),
    )
}

/// Finding on the number of write streams that it serves as fast as a single one.
fn rows(record: &Record) -> Option<Finding> {
    let found = writes(record, "partitioning", Pattern::Sequential);
    let base = found.first().filter(|(rows, _)| *rows == 1.0)?.1.clone();
    let most = found.last().filter(|_| found.len() >= 3)?.0;
    // One stream is the base for the others.
    let reached = cost_range(&found[1..], &base);
    let up_to = reached.same.unwrap_or(1.0);
    let cost_ratio = |figure: &UsableEstimate<'_>| figure::times(cost_ratio(figure, &base).value);
    let statement = match &reached.more {
        None if reached.is_clear => {
            format!("It handles {most} sequential write streams without slowing down.")
        }
        None => format!(
            "It handles {up_to} sequential write streams without slowing down; whether more slow it down cannot be told from these few writes."
        ),
        Some((rows, figure)) if up_to <= 1.0 && reached.is_clear => format!(
            "It handles only one sequential write stream: with {rows} in turn each write costs {} as much. Programs that write several files should take turns.",
            cost_ratio(figure)
        ),
        Some((rows, figure)) => format!(
            "It handles {}{up_to} sequential write streams; with {rows} in turn each write costs {} as much. Programs that write more files at once should take turns.",
            if reached.is_clear { "up to " } else { "at least " },
            cost_ratio(figure)
        ),
    };
    let lines = found.iter().map(|(rows, figure)| format!("{rows} streams: {figure}"));
    Some(
        FindingBuilder::info("write-rows", statement)
            .notes(lines)
            .note(format!(
                "threshold {SAME}x (uFLIP partitioning; docs/field/snia-and-uflip.md#uflip)"
            ))
            .done(),
    )
}

fn step_name(value: f64) -> String {
    match value {
        -1.0 => "backwards".to_owned(),
        0.0 => "in one place".to_owned(),
        steps => format!("in steps of {}", size((steps.max(0.0) * BASE_BYTES as f64) as u64)),
    }
}

fn order_statement(found: &[(f64, UsableEstimate<'_>)], base: &UsableEstimate<'_>) -> String {
    let others = || found.iter().filter(|(value, _)| *value != 1.0);
    let of =
        |wanted: CostComparison| others().filter(move |(_, figure)| cost(figure, base) == wanted);
    let factor = |figure: &UsableEstimate<'_>| figure::times(cost_ratio(figure, base).value);
    let slow: Vec<String> = of(CostComparison::More)
        .map(|(value, figure)| format!("{} {}", step_name(*value), factor(figure)))
        .collect();
    let named =
        |wanted: CostComparison| of(wanted).map(|(value, _)| step_name(*value)).collect::<Vec<_>>();
    let (same, unclear) = (named(CostComparison::Same), named(CostComparison::Unclear));
    let open = if unclear.is_empty() {
        String::new()
    } else {
        format!(" Cannot be told from so few writes: {}.", unclear.join(", "))
    };
    match (slow.is_empty(), same.is_empty()) {
        (true, _) if unclear.is_empty() => "Write order does not matter: backwards, in one place and in steps, writes cost less than twice as much as sequential ones.".to_owned(),
        (true, true) => "Whether write order matters cannot be told from so few writes.".to_owned(),
        (true, false) => format!("Writes cost less than twice as much as sequential ones: {}.{open}", same.join(", ")),
        (false, true) if unclear.is_empty() => format!("Only sequential writes are cheap; against them, writes cost: {}.", slow.join(", ")),
        (false, true) => format!("Write order matters. Against sequential writes, these cost more: {}.{open}", slow.join(", ")),
        (false, false) => format!(
            "Write order matters. Against sequential writes, these cost more: {}. These cost less than twice as much: {}.{open}",
            slow.join(", "),
            same.join(", ")
        ),
    }
}

/// Finding on write orders that cost more.
fn order(record: &Record) -> Option<Finding> {
    let found = writes(record, "order", Pattern::Sequential);
    let base = at(&found, 1.0)?.clone();
    if found.len() < 3 {
        return None;
    }
    let statement = order_statement(&found, &base);
    let lines = found.iter().map(|(value, figure)| {
        if *value == 1.0 {
            format!("sequential: {figure}")
        } else {
            format!("{}: {figure}", step_name(*value))
        }
    });
    Some(
        FindingBuilder::info("write-order", statement)
            .notes(lines)
            .note(format!("threshold {SAME}x (uFLIP order; docs/field/snia-and-uflip.md#uflip)"))
            .done(),
    )
}

/// Finding on background work during pauses.
fn pauses(record: &Record) -> Option<Finding> {
    let random = writes(record, "granularity", Pattern::Uniform);
    let base = at(&random, BASE_BYTES as f64)?.clone();
    let paused = writes(record, "pause-before", Pattern::Uniform);
    let burst = writes(record, "burst", Pattern::Uniform);
    let (longest_ns, longest) = paused.last()?;
    let gain = Ratio::of(longest, &base);
    let helps = |figure: &UsableEstimate<'_>| Ratio::of(figure, &base).is_above(HELPS);
    let first = paused.iter().find(|(_, figure)| helps(figure));
    let is_useless = gain.ci95.is_some_and(|[_, high]| high < HELPS);
    let statement = match first {
        Some((pause_ns, figure)) => format!(
            "Pauses help: with {} before each, random writes are {} faster. It cleans up while idle.",
            Nanos(*pause_ns as u64),
            figure::times(Ratio::of(figure, &base).value)
        ),
        None if !is_useless => format!(
            "Whether pauses help cannot be told from these few writes: with {} before each, random writes are {}x as fast.",
            Nanos(*longest_ns as u64),
            gain.text()
        ),
        None => format!(
            "Pauses do not help: with {} before each, random writes take {} of the time they take without.",
            Nanos(*longest_ns as u64),
            share(1.0 / gain.value)
        ),
    };
    let bursts = burst.iter().map(|(writes, figure)| {
        format!("bursts of {writes} with pauses of 100 ms between: {figure}")
    });
    let lines = paused
        .iter()
        .map(|(pause_ns, figure)| format!("{} before each: {figure}", Nanos(*pause_ns as u64)));
    let after_effect = after_effect_ns(record).map(|(cell, ns)| {
        format!(
            "{}: after random writes, sequential reads were slower for {}",
            figure::named(cell),
            Nanos(ns as u64)
        )
    });
    Some(
        FindingBuilder::info("pauses", statement)
            .note(format!("without pauses: {base}"))
            .notes(lines)
            .notes(bursts)
            .notes(after_effect)
            .note(format!(
                "threshold {HELPS}x (uFLIP pause and burst; docs/field/snia-and-uflip.md#uflip)"
            ))
            .done(),
    )
}

fn share(part: f64) -> String {
    format!("{} %", significant(part * 100.0))
}

/// Duration in ns of the after-effect of random writes on sequential reads; `None` if none was
/// seen.
fn after_effect_ns(record: &Record) -> Option<(&Cell, f64)> {
    let cell = figure::form(record, test::UFLIP, "pause")?;
    let pause_ns = cell
        .metrics
        .other
        .get("pause_ns")
        .map(|found| found.value)
        .filter(|ns| ns.is_finite() && *ns > MIN_PAUSE_NS)?;
    // The test keeps twice the time that it saw.
    Some((cell, pause_ns / 2.0))
}

/// Finding on the number of writes at the beginning that differ from the others.
fn start_up(record: &Record) -> Option<Finding> {
    let cell = figure::form(record, test::UFLIP, "start-up")?;
    let found = cell.metrics.other.get(metric::START_UP_OPS)?;
    let of = found.n as f64;
    if !(found.value.is_finite() && found.value >= SHORT_START && of > found.value) {
        return None;
    }
    let bytes = Bytes((found.value * cell.params.block_bytes.unwrap_or(BASE_BYTES) as f64) as u64);
    let mut draft = FindingBuilder::info(
        "start-up",
        format!(
            "The first {} random writes ({bytes}) differ from the rest: a test that ends there measures the start, not the medium.",
            found.value
        ),
    );
    draft = draft.note(format!(
        "{}: without the first {} of {of} writes the mean is most certain (MSER-5)",
        figure::named(cell),
        found.value
    ));
    Some(draft.note("uFLIP start-up phase; docs/field/snia-and-uflip.md#uflip").done())
}

/// Finding on the gain of several I/Os in flight.
fn parallel(record: &Record) -> Option<Finding> {
    let of = |direction: Direction| {
        let found =
            by_value(record, "parallelism", |cell| cell.params.direction == Some(direction));
        let one = at(&found, 1.0)?.clone();
        let (most, figure) = found
            .iter()
            .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
            .map(|(n, figure)| (*n, figure.clone()))?;
        (found.len() >= 3).then_some((Ratio::of(&figure, &one), most, one, figure))
    };
    let (reads, writes) = (of(Direction::Read), of(Direction::Write));
    let gain_text =
        |what: &str, found: &Option<(Ratio, f64, UsableEstimate<'_>, UsableEstimate<'_>)>| {
            let (gain, most, ..) = found.as_ref()?;
            Some(match gain.ci95 {
                Some([low, _]) if low > HELPS => {
                    format!(
                        "{what} are {} faster with {most} I/Os in flight",
                        figure::times(gain.value)
                    )
                }
                Some([_, high]) if high < HELPS => {
                    format!("{what} gain less than {HELPS}x from more I/Os in flight")
                }
                _ => format!("what more I/Os in flight bring to {what} cannot be told"),
            })
        };
    let parts: Vec<String> =
        [gain_text("random reads", &reads), gain_text("random writes", &writes)]
            .into_iter()
            .flatten()
            .collect();
    if parts.is_empty() {
        return None;
    }
    let both = || [&reads, &writes].into_iter().flatten().map(|found| &found.0);
    let lead = if both().any(|gain| gain.is_above(HELPS)) {
        "It processes several I/Os in parallel"
    } else if both().all(|gain| gain.ci95.is_some_and(|[_, high]| high < HELPS)) {
        "It processes one I/O at a time"
    } else {
        "Whether it processes several I/Os in parallel cannot be told"
    };
    let figures: Vec<UsableEstimate<'_>> = [reads, writes]
        .into_iter()
        .flatten()
        .flat_map(|(_, most, one, best)| [Some(one), Some(best).filter(|_| most > 1.0)])
        .flatten()
        .collect();
    Some(
        FindingBuilder::info("parallel", format!("{lead}: {}.", parts.join(", ")))
            .figures(&figures)
            .note(format!(
                "threshold {HELPS}x (uFLIP parallelism; docs/field/snia-and-uflip.md#uflip)"
            ))
            .done(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{cell, known, record_of};

    #[test]
    fn the_after_effect_is_half_of_the_pause_of_the_cell() {
        let after_effect = |ns: f64| {
            let mut cell = cell(test::UFLIP, 1, 32 * KIB);
            cell.params.form = Some("pause".into());
            cell.metrics.other.insert("pause_ns".into(), known(ns, 0.0, 1));
            after_effect_ns(&record_of(vec![cell])).map(|(_, ns)| ns)
        };
        assert_eq!(after_effect(100e6), None);
        assert_eq!(after_effect(100.1e6), Some(50.05e6));
        assert_eq!(after_effect(f64::INFINITY), None);
    }
}
