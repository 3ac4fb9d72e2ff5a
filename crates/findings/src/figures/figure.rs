//! Access to the figures of a record. Only usable ones (`usability.rs`) are returned, and only if
//! they are positive and finite. All conclusions use this module, so a damaged record leads to no
//! finding rather than to a wrong one.

use std::collections::BTreeMap;

use record::units::{Bytes, interval, quantity, significant, without_unit};
use record::{
    Bound, Cell, Direction, Estimate, Evidence, EvidenceNumber, OPEN_INTERVAL, Pattern, Record,
    Series, SeriesAxis, UnsteadyRounds, metric, test,
};
use stats::{RoundRate, RunRate, of_long_run};

use crate::figures::{likelihood, usability};

/// A usable figure of a cell.
#[derive(Clone, Debug)]
pub(crate) struct UsableEstimate<'a> {
    pub cell: &'a Cell,
    pub name: &'a str,
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
    pub n: u64,
    /// Side on which it bounds the lasting rate; `None` for a level.
    pub bound: Option<Bound>,
}

impl<'a> UsableEstimate<'a> {
    /// A metric of a cell by its name in the record (`iops`, `bps`, or one of `other`).
    pub fn of(cell: &'a Cell, name: &'a str) -> Option<UsableEstimate<'a>> {
        UsableEstimate::found(cell, name).filter(|_| usability::of_cell(cell).is_none())
    }

    /// A metric of a cell in a transient state: a bound, not a level.
    pub fn bounding(cell: &'a Cell, name: &'a str) -> Option<UsableEstimate<'a>> {
        let bound = usability::bound(cell)?;
        Some(UsableEstimate {
            bound: Some(bound),
            ci95: None,
            ..UsableEstimate::found(cell, name)?
        })
    }

    fn found(cell: &'a Cell, name: &'a str) -> Option<UsableEstimate<'a>> {
        let metrics = &cell.metrics;
        let found: Option<&Estimate> = match name {
            metric::IOPS => metrics.iops.as_ref(),
            metric::BPS => metrics.bps.as_ref(),
            other => metrics.other.get(other),
        };
        UsableEstimate::sound(cell, name, *found?)
    }

    /// A figure computed from the metrics of a cell, such as that of a column.
    pub fn estimated(cell: &'a Cell, name: &'a str, found: Estimate) -> Option<UsableEstimate<'a>> {
        UsableEstimate::sound(cell, name, found).filter(|_| usability::of_cell(cell).is_none())
    }

    fn sound(cell: &'a Cell, name: &'a str, found: Estimate) -> Option<UsableEstimate<'a>> {
        let Estimate { value, ci95, n } = found;
        let ci95 = ci95.filter(|[low, high]| {
            low.is_finite() && high.is_finite() && *low <= *high && *high > 0.0
        });
        (value.is_finite() && value > 0.0).then_some(UsableEstimate {
            cell,
            name,
            value,
            ci95,
            n,
            bound: None,
        })
    }

    /// The figure for a comparison: its interval is one of a repetition.
    pub fn run_rate(&self) -> RunRate {
        let half_width =
            self.ci95.filter(|[low, _]| *low > 0.0).map(|[low, high]| (high / low).ln() / 2.0);
        let is_rate = matches!(self.name, metric::IOPS | metric::BPS);
        let rounds = self.cell.rounds.iter().filter(|_| is_rate);
        let rounds: Vec<RoundRate> = rounds
            .map(|round| RoundRate {
                rate: round.iops,
                length: round.elapsed_ns as f64,
                half_width: round.half_width,
            })
            .collect();
        match half_width.zip(stats::repetition(&rounds)) {
            Some((half, found)) => RunRate::of_rounds(self.value, half, found.degrees),
            None => {
                let half_width = half_width.map(of_long_run);
                RunRate { half_width, ..RunRate::bare(self.value) }
            }
        }
    }

    /// The probability that it is above a threshold; `None` without an interval.
    pub fn above(&self, threshold: f64) -> Option<f64> {
        likelihood::above(self.ci95?, threshold)
    }

    /// The probability that it is below a threshold; `None` without an interval.
    pub fn below(&self, threshold: f64) -> Option<f64> {
        self.above(threshold).map(|share| 1.0 - share)
    }

    /// The figure with its unit: "2.31 IOPS".
    pub fn text(&self) -> String {
        let text = quantity(self.name, self.value);
        self.bound.map(|bound| format!("{} {text}", bound.words())).unwrap_or(text)
    }

    /// The figure with its unit and its interval: "2.31 IOPS (2.20 to 2.41)".
    pub fn with_interval(&self) -> String {
        let text = self.text();
        if self.cell.is_one_look() {
            return format!("{text} (one look)");
        }
        let Some([low, high]) = self.ci95 else { return text };
        match self.cell.variation(self.name) {
            Some(UnsteadyRounds::Range([from, to])) => {
                return format!("{text} (varies, {})", interval(self.name, [from, to]));
            }
            Some(UnsteadyRounds::Levels([from, to])) => {
                return format!("{text} (two levels: {})", interval(self.name, [from, to]));
            }
            None => {}
        }
        if (Estimate { value: self.value, ci95: self.ci95, n: self.n }).is_open() {
            return format!("{text} (interval {OPEN_INTERVAL})");
        }
        format!("{text} ({})", without_unit(&interval(self.name, [low, high]), &text))
    }
}

impl From<&UsableEstimate<'_>> for Evidence {
    fn from(figure: &UsableEstimate) -> Evidence {
        let UsableEstimate { cell, name, value, ci95, n, bound } = *figure;
        let of = EvidenceNumber::of(cell, name, value);
        EvidenceNumber { ci95, n: Some(n), bound, ..of }.into()
    }
}

/// Ratio of two figures with its interval, in the logarithm: intervals of a repetition are wider
/// than those of the levels by the root of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
}

impl Ratio {
    /// `over / under`; without an interval if one of them has none.
    pub fn of(over: &UsableEstimate, under: &UsableEstimate) -> Ratio {
        let value = over.value / under.value;
        let half = |figure: &UsableEstimate| {
            figure.ci95.filter(|[low, _]| *low > 0.0).map(|[low, high]| (high / low).ln() / 2.0)
        };
        let ci95 = half(over).zip(half(under)).map(|(a, b)| {
            let factor = of_long_run(a.hypot(b)).exp();
            [value / factor, value * factor]
        });
        Ratio { value, ci95 }
    }

    /// The probability that it is above a threshold.
    pub fn above(&self, threshold: f64) -> Option<f64> {
        likelihood::above(self.ci95?, threshold)
    }

    /// True if the whole interval is above the threshold.
    pub fn is_above(&self, threshold: f64) -> bool {
        self.value > threshold && self.ci95.is_some_and(|[low, _]| low > threshold)
    }

    /// "3.03 (2.9 to 3.2)": with its interval.
    pub fn text(&self) -> String {
        let ends = self
            .ci95
            .map(|[low, high]| format!(" ({} to {})", significant(low), significant(high)));
        format!("{}{}", significant(self.value), ends.unwrap_or_default())
    }
}

impl From<&Ratio> for Evidence {
    fn from(ratio: &Ratio) -> Evidence {
        EvidenceNumber { ci95: ratio.ci95, ..EvidenceNumber::new("ratio", ratio.value) }.into()
    }
}

/// A ratio: "41x", "3.2x".
pub(crate) fn times(ratio: f64) -> String {
    if ratio >= 9.95 { format!("{ratio:.0}x") } else { format!("{ratio:.1}x") }
}

/// A cell by its id, its form, its block size, and of random I/O its span: "random-write/2, 4 KiB,
/// span 1 GiB".
pub(crate) fn named(cell: &Cell) -> String {
    let form = cell.params.form.as_ref().map(|form| format!(", {form}")).unwrap_or_default();
    let block =
        cell.params.block_bytes.map(|bytes| format!(", {}", Bytes(bytes))).unwrap_or_default();
    let is_random = cell.params.pattern.is_some_and(|pattern| pattern != Pattern::Sequential);
    let span = cell.params.span_bytes.filter(|_| is_random);
    let span = span.map(|bytes| format!(", span {}", Bytes(bytes))).unwrap_or_default();
    format!("{}{form}{block}{span}", cell.id)
}

/// Usable cells of a test, in order.
pub(crate) fn cells<'a>(record: &'a Record, test: &'a str) -> impl Iterator<Item = &'a Cell> {
    usability::cells(record).filter(move |cell| cell.test == test)
}

/// The cell with this form, for a test with one cell for each form.
pub(crate) fn form<'a>(record: &'a Record, test: &'a str, form: &str) -> Option<&'a Cell> {
    cells(record, test).find(|cell| cell.params.form.as_deref() == Some(form))
}

/// Span in bytes of most of a test's best cells; the others were measured for comparison.
fn usual_span(record: &Record, test: &str) -> Option<u64> {
    let best = record.cells_of(test).map(|cell| cell.params.representative_rank()).min()?;
    let cells = record.cells_of(test).filter(|cell| cell.params.representative_rank() == best);
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for span in cells.filter_map(|cell| cell.params.span_bytes) {
        *counts.entry(span).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(span, count)| (*count, *span)).map(|(span, _)| span)
}

/// Standard cell among these cells of a test: at the usual span, or else at the largest, since
/// small spans are for detecting caches. All screens and verdicts use this rule.
pub(crate) fn representative<'a>(
    record: &'a Record,
    test: &str,
    cells: impl Iterator<Item = &'a Cell>,
) -> Option<&'a Cell> {
    let usual = usual_span(record, test);
    cells.min_by_key(|cell| {
        let span = cell.params.span_bytes;
        (cell.params.representative_rank(), span != usual, std::cmp::Reverse(span.unwrap_or(0)))
    })
}

/// Usable standard cell of a test at a block size.
pub(crate) fn usable_standard_cell<'a>(
    record: &'a Record,
    test: &'a str,
    block_bytes: u64,
) -> Option<&'a Cell> {
    let same = cells(record, test).filter(|cell| cell.params.block_bytes == Some(block_bytes));
    representative(record, test, same)
}

/// Sustained random writes at a block size, in IOPS.
pub(crate) fn random_write(record: &Record, block_bytes: u64) -> Option<UsableEstimate<'_>> {
    qd1_estimate(record, test::RANDOM_WRITE, block_bytes)
}

/// Random reads at a block size, in IOPS.
pub(crate) fn random_read(record: &Record, block_bytes: u64) -> Option<UsableEstimate<'_>> {
    qd1_estimate(record, test::RANDOM_READ, block_bytes)
}

/// IOPS of a test at queue depth 1, with an interval.
pub(crate) fn qd1_estimate<'a>(
    record: &'a Record,
    test: &'a str,
    block_bytes: u64,
) -> Option<UsableEstimate<'a>> {
    let same =
        |cell: &&Cell| cell.params.block_bytes == Some(block_bytes) && cell.params.in_flight() == 1;
    let widest_bytes = record
        .cells_of(test)
        .filter(same)
        .filter_map(|cell| cell.params.span_bytes)
        .max()
        .unwrap_or(0);
    // A small span does not replace a wide one in a transient state: it is for detecting caches.
    let is_wide = |cell: &&Cell| {
        cell.params.span_bytes.is_none_or(|bytes| bytes >= LARGE_SPAN.min(widest_bytes / NARROW))
    };
    let cell = usable_standard_cell(record, test, block_bytes)
        .filter(|cell| cell.params.in_flight() == 1)
        .filter(is_wide)?;
    let figure = UsableEstimate::of(cell, metric::IOPS).filter(|figure| figure.ci95.is_some())?;
    let more = same_by_records(record, test, block_bytes).filter(|more| more.n > figure.n);
    Some(more.filter(|more| overlap(more.ci95, figure.ci95)).unwrap_or(figure))
}

/// The same quantity measured with records of a file (`record-ops`, raw), which may have many times
/// the samples.
fn same_by_records<'a>(
    record: &'a Record,
    test: &str,
    block_bytes: u64,
) -> Option<UsableEstimate<'a>> {
    let form = match test {
        test::RANDOM_WRITE => "raw-random-write",
        test::RANDOM_READ => "raw-random-read",
        _ => return None,
    };
    let wanted = |cell: &&Cell| {
        let params = &cell.params;
        params.form.as_deref() == Some(form) && params.block_bytes == Some(block_bytes)
    };
    let cell = cells(record, test::RECORD_OPS).find(wanted)?;
    UsableEstimate::of(cell, metric::IOPS).filter(|figure| figure.ci95.is_some())
}

/// True if two intervals are known and overlap.
pub(crate) fn overlap(one: Option<[f64; 2]>, other: Option<[f64; 2]>) -> bool {
    one.zip(other).is_some_and(|([low, high], [from, to])| low <= to && from <= high)
}

/// Least span that represents the medium as used by a system
/// (docs/field/cheats.md#cheats-and-caches: at least 512 MiB; `quick` has 256).
pub(crate) const LARGE_SPAN: u64 = 256 << 20;
/// A smaller span does so if no span is this many times as large.
const NARROW: u64 = 4;

/// Best IOPS of a test at a block size with at least this many I/Os in flight: media differ in
/// their best depth.
pub(crate) fn deep<'a>(
    record: &'a Record,
    test: &'a str,
    block_bytes: u64,
    at_least: u64,
) -> Option<UsableEstimate<'a>> {
    let fits = |cell: &&Cell| {
        cell.params.block_bytes == Some(block_bytes) && cell.params.in_flight() >= at_least
    };
    let figures = cells(record, test)
        .filter(fits)
        .filter_map(|cell| UsableEstimate::of(cell, metric::IOPS))
        .filter(|figure| figure.ci95.is_some());
    figures.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Bound on random writes if no level is known.
pub(crate) fn random_write_bound(record: &Record, block_bytes: u64) -> Option<UsableEstimate<'_>> {
    bound_of(record, test::RANDOM_WRITE, block_bytes)
}

/// Bound on a test at queue depth 1 if no level is known.
pub(crate) fn bound_of<'a>(
    record: &'a Record,
    test: &'a str,
    block_bytes: u64,
) -> Option<UsableEstimate<'a>> {
    if usability::of_run(record).is_some() {
        return None;
    }
    let fits = |cell: &&Cell| {
        cell.params.block_bytes == Some(block_bytes)
            && cell.params.in_flight() == 1
            && usability::bound(cell).is_some()
    };
    let cells = record.cells_of(test).filter(fits);
    UsableEstimate::bounding(representative(record, test, cells)?, metric::IOPS)
}

/// Least block size for sequential rates; smaller blocks measure the overhead of commands.
const MIN_SEQUENTIAL_BYTES: u64 = 64 << 10;

/// Rate of a sequential test at the largest block up to 1 MiB, after every cache if that was
/// measured.
pub(crate) fn sequential<'a>(record: &'a Record, test: &'a str) -> Option<UsableEstimate<'a>> {
    let sizes = cells(record, test).filter_map(|cell| cell.params.block_bytes);
    let largest = sizes.filter(|bytes| (MIN_SEQUENTIAL_BYTES..=1 << 20).contains(bytes)).max()?;
    let cell = usable_standard_cell(record, test, largest)?;
    UsableEstimate::of(cell, metric::SUSTAINED_BPS)
        .or_else(|| UsableEstimate::of(cell, metric::BPS))
        .map(known_along)
        .filter(|figure| figure.ci95.is_some())
}

/// Final rate of the `sustained` test, with its interval.
pub(crate) fn sustained(record: &Record) -> Option<UsableEstimate<'_>> {
    form(record, test::SUSTAINED, "first").and_then(sustained_of)
}

/// Final rate of a fill, with the interval from its curve.
pub(crate) fn sustained_of(cell: &Cell) -> Option<UsableEstimate<'_>> {
    UsableEstimate::of(cell, metric::SUSTAINED_BPS)
        .map(known_along)
        .filter(|figure| figure.ci95.is_some())
}

/// Best available figure for sustained writes: the end of the `sustained` test, else sequential
/// writes, else a fill with incompressible data, else `prime`. Only large blocks with an interval.
pub(crate) fn sustained_write(record: &Record) -> Option<UsableEstimate<'_>> {
    let is_large =
        |cell: &&Cell| cell.params.block_bytes.is_none_or(|bytes| bytes >= MIN_SEQUENTIAL_BYTES);
    let known = |figure: &UsableEstimate| figure.ci95.is_some();
    let fill = |test| {
        cells(record, test)
            .filter(is_large)
            .find_map(|cell| UsableEstimate::of(cell, metric::BPS))
            .filter(known)
    };
    sustained(record)
        .or_else(|| sequential(record, test::SEQUENTIAL_WRITE))
        .or_else(|| fill(test::RANDOM_FILL))
        .or_else(|| fill(test::PRIME))
}

/// Rates of a cell over the bytes it wrote or their places, each with the beginning of its axis in
/// bytes.
pub(crate) fn rates_over_bytes(cell: &Cell) -> impl Iterator<Item = (&Series, f64)> {
    let rates = cell.series.iter().filter(|series| series.y == SeriesAxis::Bps);
    rates.filter_map(|series| match series.x {
        SeriesAxis::Bytes => Some((series, 0.0)),
        SeriesAxis::OffsetBytes => {
            Some((series, cell.params.span_offset_bytes.unwrap_or(0) as f64))
        }
        _ => None,
    })
}

/// The final rate of a fill with the interval of the median of its windows, widened to include the
/// figure.
fn known_along(figure: UsableEstimate<'_>) -> UsableEstimate<'_> {
    if figure.ci95.is_some() || figure.name != metric::SUSTAINED_BPS {
        return figure;
    }
    let along = rates_over_bytes(figure.cell).next();
    let rates = along.map(|(series, _)| {
        series.points.iter().map(|[_, bps]| *bps).filter(|bps| bps.is_finite() && *bps > 0.0)
    });
    let rates: Vec<f64> = rates.into_iter().flatten().collect();
    let mut last: Vec<f64> = rates[rates.len() - rates.len() / 4..].to_vec();
    last.sort_by(f64::total_cmp);
    let ranks = stats::quantile_ranks(last.len() as u64, 0.5, 0.95);
    let ends = ranks.and_then(|(low, high)| {
        Some([*last.get(low.checked_sub(1)? as usize)?, *last.get(high.checked_sub(1)? as usize)?])
    });
    let ci95 = ends.map(|[low, high]| [low.min(figure.value), high.max(figure.value)]);
    UsableEstimate { ci95, ..figure }
}

/// A size in words, such as "4 KiB".
pub(crate) fn size(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// True if a cell writes.
pub(crate) fn writes(cell: &record::Cell) -> bool {
    cell.params.direction == Some(Direction::Write)
}

#[cfg(test)]
mod tests;
