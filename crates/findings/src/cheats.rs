//! Controllers tuned for a benchmark, and writes that do not fit their units
//! (docs/field/cheats.md#cheats-and-caches, docs/field/allocation-units.md#management-unit).

use record::units::{KIB, Nanos, significant};
use record::{Bound, Cell, Finding, Record, metric, test};

use crate::figure::{self, Ratio, SoundFigure, size};
use crate::finding_builder::FindingBuilder;

/// The benchmark's pattern this much faster than the same load elsewhere is a trick.
const CHEAT: f64 = 2.0;
/// A penalty for writes that do not fit.
const PENALTY: f64 = 1.3;

/// `pattern-cheat`, `misalignment`, `management-unit`, `steady-state`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        [pattern(record), misalignment(record), management_unit(record)]
            .into_iter()
            .flatten()
            .collect();
    findings.extend(steady(record));
    findings
}

fn rate(cell: &Cell) -> Option<SoundFigure<'_>> {
    SoundFigure::of(cell, metric::IOPS).or_else(|| SoundFigure::of(cell, metric::BPS))
}

/// The pattern of a common benchmark against the same load elsewhere.
struct Contrast<'a> {
    tuned: SoundFigure<'a>,
    other: SoundFigure<'a>,
    ratio: Ratio,
    /// What misalignment alone explains of it.
    explained: f64,
}

impl<'a> Contrast<'a> {
    /// Against the load of this form; `explained` is what else makes such a difference.
    fn of(record: &'a Record, form: &str, explained: f64) -> Option<Contrast<'a>> {
        let other = figure::form(record, test::PATTERN, form).and_then(rate)?;
        // What the benchmark's load does at least accuses as well as what it does.
        let at_least = |cell| {
            SoundFigure::bounding(cell, metric::IOPS)
                .filter(|figure| figure.bound == Some(Bound::AtLeast))
        };
        let tuned = record
            .cells_of(test::PATTERN)
            .find(|cell| cell.params.form.as_deref() == Some("common"))?;
        let tuned = rate(tuned).or_else(|| at_least(tuned))?;
        let whole = Contrast { ratio: Ratio::of(&tuned, &other), tuned, other, explained };
        // A fast way may be short: the fastest stretch of one against the fastest of the other.
        let stretch = |part| {
            let tuned = fastest(&whole.tuned, part)?;
            // Of few writes only all of them together are known.
            let other = fastest(&whole.other, part)
                .or_else(|| SoundFigure::of(whole.other.cell, metric::BPS))?;
            Some(Contrast { ratio: Ratio::of(&tuned, &other), tuned, other, explained })
                .filter(Contrast::tells)
        };
        let stretch = if whole.tells() { None } else { STRETCHES.into_iter().find_map(stretch) };
        Some(stretch.unwrap_or(whole))
    }

    fn tells(&self) -> bool {
        self.ratio.is_above(CHEAT * self.explained)
    }

    /// Whether the other load came before the benchmark's.
    fn came_before(&self, record: &Record) -> bool {
        let place =
            |figure: &SoundFigure| record.cells.iter().position(|cell| cell.id == figure.cell.id);
        place(&self.other) < place(&self.tuned)
    }
}

/// `pattern-cheat`: the common benchmark's pattern against the same load over a span that no
/// benchmark has; shifted, where that was not measured. What comes first meets emptier caches, and
/// what comes last a medium that has paid its debts: only a pattern that is faster than what came
/// before it and what came after it accuses.
fn pattern(record: &Record) -> Option<Finding> {
    let mut contrasts: Vec<Contrast> = ["odd-span", "odd-span-again"]
        .into_iter()
        .filter_map(|form| Contrast::of(record, form, 1.0))
        .collect();
    if contrasts.is_empty() {
        // Shifting itself costs a medium with units something: a misalignment measured apart
        // explains as much.
        let explained = worst_misalignment(record).map_or(1.0, |(_, ratio)| ratio.value);
        contrasts.extend(Contrast::of(record, "shifted", explained));
    }
    if contrasts.is_empty() || !contrasts.iter().all(Contrast::tells) {
        return None;
    }
    // The smaller one is what the order does not explain.
    let least = contrasts.iter().min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let fact = format!(
        "the pattern that common benchmarks write is {} times as fast ({}) as the same load over another span ({})",
        least.ratio.text(),
        least.tuned.text(),
        least.other.text()
    );
    let before = contrasts.iter().filter(|contrast| contrast.came_before(record)).count();
    let draft = if (1..contrasts.len()).contains(&before) {
        let statement = format!(
            "It is tuned for a benchmark: {fact}, before it and after it. Their figures do not hold for work."
        );
        FindingBuilder::warning("pattern-cheat", statement)
            .surely(least.ratio.above(CHEAT * least.explained))
    } else {
        let why = "it was measured in one order only, and what comes first may meet an empty cache";
        FindingBuilder::info(
            "pattern-cheat",
            format!("It may be tuned for a benchmark: {fact}; {why}."),
        )
    };
    let draft = contrasts.iter().fold(draft, |draft, contrast| {
        draft.figures([&contrast.tuned, &contrast.other]).note(format!(
            "{}; told from {CHEAT} on (docs/field/cheats.md#cheats-and-caches)",
            contrast.ratio
        ))
    });
    Some(draft.done())
}

/// Parts of a cell, one of which is its fastest stretch, and I/Os of each at least: chance makes no
/// such difference between so many.
const STRETCHES: [(usize, &str); 2] = [(8, "fastest_eighth_bps"), (16, "fastest_sixteenth_bps")];
const STRETCH_OPS: u64 = 64;

/// Windows of a stretch at least: fewer say nothing of how it varies.
const STRETCH_WINDOWS: usize = 4;
/// Standard errors of a stretch of so few windows, and the best of all there are, to either side.
const ERRORS: f64 = 3.0;

/// The highest rate over one of so many parts of what was written, in bytes a second, known as
/// surely as its own windows have it: a cell of two levels has an interval that holds both. `None`
/// of few writes.
fn fastest<'a>(
    whole: &SoundFigure<'a>,
    (parts, name): (usize, &'static str),
) -> Option<SoundFigure<'a>> {
    let cell = whole.cell;
    let curve = cell
        .series
        .iter()
        .find(|series| series.name == "rate" && series.y == record::SeriesAxis::Bps)?;
    // What each window wrote, and in how many seconds.
    let windows: Vec<[f64; 2]> = curve
        .points
        .iter()
        .scan(0.0, |from, [to, bps]| {
            let bytes = to - std::mem::replace(from, *to);
            Some([bytes, bytes / bps])
        })
        .collect();
    let many = windows.len() / parts;
    let is_usable = |[bytes, seconds]: &[f64; 2]| {
        bytes.is_finite() && *bytes > 0.0 && seconds.is_finite() && *seconds > 0.0
    };
    if cell.ops < STRETCH_OPS * parts as u64
        || many < STRETCH_WINDOWS
        || !windows.iter().all(is_usable)
    {
        return None;
    }
    let sum = |stretch: &[[f64; 2]]| {
        stretch
            .iter()
            .fold([0.0; 2], |[bytes, seconds], window| [bytes + window[0], seconds + window[1]])
    };
    let rate = |stretch: &[[f64; 2]]| sum(stretch)[0] / sum(stretch)[1];
    let best = windows.windows(many).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let (value, seconds) = (rate(best), sum(best)[1]);
    let squares: f64 = best.iter().map(|window| (window[1] - window[0] / value).powi(2)).sum();
    let factor = (ERRORS * (squares * many as f64 / (many - 1) as f64).sqrt() / seconds).exp();
    Some(SoundFigure {
        name,
        value,
        ci95: Some([value / factor, value * factor]),
        n: cell.ops / parts as u64,
        ..whole.clone()
    })
}

/// The dearest of the misaligned writes against the aligned ones of its size.
fn worst_misalignment(record: &Record) -> Option<(u64, Ratio)> {
    misaligned(record)
        .into_iter()
        .map(|(block, _, _, ratio)| (block, ratio))
        .max_by(|a, b| a.1.value.total_cmp(&b.1.value))
}

/// Each misaligned cell of the test with the aligned one of its size: (block, aligned, misaligned,
/// aligned over misaligned).
fn misaligned(record: &Record) -> Vec<(u64, SoundFigure<'_>, SoundFigure<'_>, Ratio)> {
    let shift = |cell: &Cell| cell.params.other.get("shift_bytes").copied().unwrap_or(0.0);
    let mut pairs = Vec::new();
    for shifted in figure::cells(record, test::MISALIGN).filter(|cell| shift(cell) > 0.0) {
        let block = shifted.params.block_bytes;
        let fits = |cell: &&Cell| {
            shift(cell) == 0.0
                && cell.params.block_bytes == block
                && cell.params.form == shifted.params.form
        };
        let fitting = figure::cells(record, test::MISALIGN).find(fits);
        let figures = fitting.and_then(rate).zip(rate(shifted));
        pairs.extend(figures.zip(block).map(|((aligned, shifted), block)| {
            (block, aligned.clone(), shifted.clone(), Ratio::of(&aligned, &shifted))
        }));
    }
    pairs
}

/// `misalignment`: what it costs to write beside the units.
fn misalignment(record: &Record) -> Option<Finding> {
    let pairs = misaligned(record);
    let (block, aligned, shifted, ratio) = pairs
        .iter()
        .filter(|pair| pair.3.is_above(PENALTY))
        .max_by(|a, b| a.3.value.total_cmp(&b.3.value))?;
    let order = if shifted.cell.params.form.as_deref() == Some("random") {
        "in random order"
    } else {
        "in a row"
    };
    let shift = size(shifted.cell.params.other.get("shift_bytes").map_or(0, |bytes| *bytes as u64));
    let statement = format!(
        "Writes of {} {order} that are shifted by {shift} are {} times slower: partitions must begin at a multiple of its allocation unit.",
        size(*block),
        significant(ratio.value)
    );
    Some(
        FindingBuilder::warning("misalignment", statement)
            .figures([aligned, shifted])
            .note(format!(
                "{ratio}; told from {PENALTY} on (docs/field/cheats.md#cheats-and-caches)"
            ))
            .surely(ratio.above(PENALTY))
            .done(),
    )
}

/// `management-unit`: the smallest size whose aligned writes are free of a cost that shifted ones
/// have (docs/field/allocation-units.md#management-unit): it covers a whole unit. Medians, because
/// merges of allocation units come now and then.
fn management_unit(record: &Record) -> Option<Finding> {
    if record.medium.rotational == Some(true) {
        return None;
    }
    let cells = |form: &'static str| {
        figure::cells(record, test::MANAGEMENT_UNIT)
            .filter(move |cell| cell.params.form.as_deref() == Some(form))
    };
    let median = |cell: &Cell| {
        cell.metrics.latency_ns.as_ref().filter(|latency| latency.n >= 16)?.p50.filter(|ns| *ns > 0)
    };
    let mut pairs: Vec<(u64, &Cell, u64, &Cell, u64)> = cells("aligned")
        .filter_map(|aligned| {
            let shifted = cells("misaligned")
                .find(|cell| cell.params.block_bytes == aligned.params.block_bytes)?;
            Some((
                aligned.params.block_bytes?,
                aligned,
                median(aligned)?,
                shifted,
                median(shifted)?,
            ))
        })
        .collect();
    pairs.sort_by_key(|pair| pair.0);
    let dearer = |(_, _, aligned_ns, _, shifted_ns): &&(u64, &Cell, u64, &Cell, u64)| {
        *shifted_ns as f64 >= PENALTY * *aligned_ns as f64
    };
    let (block, aligned, aligned_ns, shifted, shifted_ns) = *pairs.iter().find(dearer)?;
    // With the penalty at the smallest size of all, the unit may be smaller still.
    let at_most = if pairs.first().is_some_and(|first| first.0 == block) { "at most " } else { "" };
    let statement = format!(
        "It manages data in pieces of {at_most}{}: writes of that size are cheap where they are aligned, and cost {} more where they are not.",
        size(block),
        Nanos(shifted_ns - aligned_ns)
    );
    let line = |cell: &Cell, ns: u64| format!("{}: median {}", figure::named(cell), Nanos(ns));
    Some(
        FindingBuilder::info("management-unit", statement)
            .note(format!("management_unit_bytes {block}"))
            .note(line(aligned, aligned_ns))
            .note(line(shifted, shifted_ns))
            .note("docs/field/allocation-units.md#management-unit")
            .done(),
    )
}

/// `steady-state`: whether SNIA's rounds came to rest (docs/field/snia-and-uflip.md#snia-pts).
fn steady(record: &Record) -> Option<Finding> {
    let (cell, series) = figure::cells(record, test::STEADY_STATE).find_map(|cell| {
        let rounds = cell
            .series
            .iter()
            .find(|series| series.y == record::SeriesAxis::Iops && series.name.contains("round"))?;
        Some((cell, rounds))
    })?;
    let mut search = stats::SteadyState::new(25);
    let rounds: Vec<f64> = series
        .points
        .iter()
        .map(|point| point[1])
        .filter(|iops| iops.is_finite() && *iops > 0.0)
        .collect();
    let state = rounds.iter().map(|iops| search.push(*iops)).last()?;
    let first = *rounds.first()?;
    let draft = match state {
        stats::Rounds::Reached { first: from, mean, .. } => {
            let fell = if first > mean * 1.25 {
                format!(", {} times less than at first", significant(first / mean))
            } else {
                String::new()
            };
            FindingBuilder::info(
                "steady-state",
                format!(
                    "Steady from round {} on: {} random writes of {} a second{fell}.",
                    from + 1,
                    significant(mean),
                    size(cell.params.block_bytes.unwrap_or(4 * KIB))
                ),
            )
        }
        _ => FindingBuilder::warning(
            "steady-state",
            format!(
                "It came to no steady state in {} rounds; its figures depend on what was written before.",
                rounds.len()
            ),
        ),
    };
    Some(
        draft
            .note(format!("{}: {} rounds", figure::named(cell), rounds.len()))
            .note("five rounds within 20 %, their slope within 10 % (SNIA; docs/field/snia-and-uflip.md#snia-pts)")
            .done(),
    )
}

#[cfg(test)]
mod tests;
