//! `pattern-cheat`: controllers tuned for a benchmark (docs/field/cheats.md#cheats-and-caches).
//! Caches of a span, of flash or of memory are in `caches.rs`, data recognition in `content.rs`,
//! dishonest flushes in `flush.rs`.

use record::{Bound, Finding, Record, metric, test};

use crate::figure::{self, Ratio, UsableEstimate};
use crate::finding_builder::FindingBuilder;
use crate::misalignment::{rate, worst_misalignment};

/// Ratio of the benchmark's pattern to the same load elsewhere from which on it is a trick.
const CHEAT: f64 = 2.0;

/// The pattern of a common benchmark, compared with the same load elsewhere.
struct PatternContrast<'a> {
    tuned: UsableEstimate<'a>,
    other: UsableEstimate<'a>,
    ratio: Ratio,
    /// Part of the ratio that misalignment alone explains.
    explained: f64,
}

impl<'a> PatternContrast<'a> {
    /// Comparison with the load of this form; `explained` is the ratio that other causes explain.
    fn of(record: &'a Record, form: &str, explained: f64) -> Option<PatternContrast<'a>> {
        let other = figure::form(record, test::PATTERN, form).and_then(rate)?;
        // A lower bound of the benchmark's load counts against the medium as much as its value.
        let at_least = |cell| {
            UsableEstimate::bounding(cell, metric::IOPS)
                .filter(|figure| figure.bound == Some(Bound::AtLeast))
        };
        let tuned = record
            .cells_of(test::PATTERN)
            .find(|cell| cell.params.form.as_deref() == Some("common"))?;
        let tuned = rate(tuned).or_else(|| at_least(tuned))?;
        let whole = PatternContrast { ratio: Ratio::of(&tuned, &other), tuned, other, explained };
        // A trick may last only for a short time: the fastest stretches of both are compared.
        let stretch = |part| {
            let tuned = fastest(&whole.tuned, part)?;
            // With few writes only their total is known.
            let other = fastest(&whole.other, part)
                .or_else(|| UsableEstimate::of(whole.other.cell, metric::BPS))?;
            Some(PatternContrast { ratio: Ratio::of(&tuned, &other), tuned, other, explained })
                .filter(PatternContrast::is_significant)
        };
        let stretch =
            if whole.is_significant() { None } else { STRETCHES.into_iter().find_map(stretch) };
        Some(stretch.unwrap_or(whole))
    }

    fn is_significant(&self) -> bool {
        self.ratio.is_above(CHEAT * self.explained)
    }

    /// True if the other load came before the benchmark's.
    fn came_before(&self, record: &Record) -> bool {
        let place = |figure: &UsableEstimate| {
            record.cells.iter().position(|cell| cell.id == figure.cell.id)
        };
        place(&self.other) < place(&self.tuned)
    }
}

/// `pattern-cheat`: the common benchmark's pattern, compared with the same load over a span that no
/// benchmark has, or shifted if that was not measured. The first load meets emptier caches, and the
/// last one a medium without pending work: only a pattern that is faster than both the load before
/// and the load after counts against the medium.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let mut contrasts: Vec<PatternContrast> = ["odd-span", "odd-span-again"]
        .into_iter()
        .filter_map(|form| PatternContrast::of(record, form, 1.0))
        .collect();
    if contrasts.is_empty() {
        // The shift itself has a cost on a medium with units: a separately measured misalignment
        // explains as much.
        let explained = worst_misalignment(record).map_or(1.0, |(_, ratio)| ratio.value);
        contrasts.extend(PatternContrast::of(record, "shifted", explained));
    }
    if contrasts.is_empty() || !contrasts.iter().all(PatternContrast::is_significant) {
        return None;
    }
    // The smaller one is not explained by the order.
    let least = contrasts.iter().min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))?;
    let fact = format!(
        "the pattern of common benchmarks is {} times as fast as the same load over another span, {} against {}",
        least.ratio.text(),
        least.tuned.text(),
        least.other.text()
    );
    let before = contrasts.iter().filter(|contrast| contrast.came_before(record)).count();
    let draft = if (1..contrasts.len()).contains(&before) {
        let statement = format!(
            "It is tuned for a benchmark: {fact}, before and after it. Their figures do not hold for real work."
        );
        FindingBuilder::warning("pattern-cheat", statement)
            .with_confidence(least.ratio.above(CHEAT * least.explained))
    } else {
        let why = "Only one order was measured, and the first load may have met an empty cache";
        FindingBuilder::info(
            "pattern-cheat",
            format!("It may be tuned for a benchmark: {fact}. {why}."),
        )
    };
    let draft = contrasts.iter().fold(draft, |draft, contrast| {
        draft.figures([&contrast.tuned, &contrast.other]).note(format!(
            "{}; threshold {CHEAT}x (docs/field/cheats.md#cheats-and-caches)",
            contrast.ratio
        ))
    });
    Some(draft.done())
}

/// Numbers of parts of a cell, one of which is its fastest stretch: chance makes no such difference
/// between so many.
const STRETCHES: [(usize, &str); 2] = [(8, "fastest_eighth_bps"), (16, "fastest_sixteenth_bps")];
const STRETCH_OPS: u64 = 64;

/// Fewest windows of a stretch: fewer do not show its variation.
const STRETCH_WINDOWS: usize = 4;
/// Standard errors on either side for the best stretch of so few windows.
const ERRORS: f64 = 3.0;

/// The highest rate over one of `parts` parts of the written data, in bytes per second, with the
/// uncertainty of its own windows: a cell of two levels has an interval that covers both. `None`
/// with few writes.
fn fastest<'a>(
    whole: &UsableEstimate<'a>,
    (parts, name): (usize, &'static str),
) -> Option<UsableEstimate<'a>> {
    let cell = whole.cell;
    let curve = cell
        .series
        .iter()
        .find(|series| series.name == "rate" && series.y == record::SeriesAxis::Bps)?;
    // Bytes and seconds of each window.
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
    Some(UsableEstimate {
        name,
        value,
        ci95: Some([value / factor, value * factor]),
        n: cell.ops / parts as u64,
        ..whole.clone()
    })
}

#[cfg(test)]
mod tests;
