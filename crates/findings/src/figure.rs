//! Looking figures up in a record. Only sound ones are handed out: of cells that ended in order, without an impossible number, positive
//! and finite. Everything that concludes goes through here, so a broken record leads to no finding rather than to a wrong one.

use std::fmt;

use record::units::{Bytes, BytesPerSecond, Iops, Nanos, significant};
use record::{Cell, Estimate, Flag, Record};

use crate::likelihood;

/// A sound figure of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Figure<'a> {
    pub cell: &'a Cell,
    pub name: &'a str,
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
    pub n: u64,
}

impl<'a> Figure<'a> {
    /// A metric of a cell by its name in the record (`iops`, `bps`, or one of `other`).
    pub fn of(cell: &'a Cell, name: &'a str) -> Option<Figure<'a>> {
        let metrics = &cell.metrics;
        let found: Option<&Estimate> = match name {
            "iops" => metrics.iops.as_ref(),
            "bps" => metrics.bps.as_ref(),
            other => metrics.other.get(other),
        };
        let Estimate { value, ci95, n } = *found?;
        let ci95 = ci95.filter(|[low, high]| low.is_finite() && high.is_finite() && *low <= *high && *high > 0.0);
        (is_sound(cell) && value.is_finite() && value > 0.0).then_some(Figure { cell, name, value, ci95, n })
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
        quantity(self.name, self.value)
    }
}

impl fmt::Display for Figure<'_> {
    /// "random-write/2: 2.31 IOPS (2.2 to 2.4, n 110)".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", named(self.cell), self.text())?;
        match self.ci95 {
            Some([low, high]) => write!(f, " ({}, n {})", between(self.name, low, high), self.n),
            None => write!(f, " (n {}, too few for an interval)", self.n),
        }
    }
}

/// A ratio of two figures with its interval: half-widths add as squares, in the logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
}

impl Ratio {
    /// `over / under`.
    pub fn of(over: &Figure, under: &Figure) -> Ratio {
        let value = over.value / under.value;
        let half = |figure: &Figure| figure.ci95.filter(|[low, _]| *low > 0.0).map(|[low, high]| (high / low).ln() / 2.0);
        let ci95 = half(over).zip(half(under)).map(|(a, b)| {
            let factor = a.hypot(b).exp();
            [value / factor, value * factor]
        });
        Ratio { value, ci95 }
    }

    /// The probability that it is above a threshold.
    pub fn above(&self, threshold: f64) -> Option<f64> {
        likelihood::above(self.ci95?, threshold)
    }

    /// Above it, surely: the whole interval.
    pub fn is_above(&self, threshold: f64) -> bool {
        self.value > threshold && self.ci95.is_some_and(|[low, _]| low > threshold)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ratio {}", significant(self.value))?;
        self.ci95.map_or(Ok(()), |[low, high]| write!(f, " ({} to {})", significant(low), significant(high)))
    }
}

/// A number in the unit its name says.
pub(crate) fn quantity(name: &str, value: f64) -> String {
    match name {
        _ if name.ends_with("iops") => Iops(value).to_string(),
        _ if name.ends_with("bps") => BytesPerSecond(value).to_string(),
        _ if name.ends_with("_ns") => Nanos(value.max(0.0) as u64).to_string(),
        _ if name.ends_with("_bytes") => Bytes(value.max(0.0) as u64).to_string(),
        _ => significant(value),
    }
}

/// "1.09 to 1.28 IOPS": the unit once, where both ends have the same.
pub(crate) fn between(name: &str, low: f64, high: f64) -> String {
    let (low, high) = (quantity(name, low), quantity(name, high));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    match low.split_once(' ') {
        Some((number, of_low)) if unit(&high).as_deref() == Some(of_low) => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// A cell by its id, its form and its size: "random-write/2, 4 KiB".
pub(crate) fn named(cell: &Cell) -> String {
    let form = cell.params.form.as_ref().map(|form| format!(", {form}")).unwrap_or_default();
    let block = cell.params.block_bytes.map(|bytes| format!(", {}", Bytes(bytes))).unwrap_or_default();
    format!("{}{form}{block}", cell.id)
}

/// Ended in order, and nothing about it is impossible.
pub(crate) fn is_sound(cell: &Cell) -> bool {
    !cell.stop.cut_short() && !cell.flags.iter().any(Flag::is_impossible)
}

/// Sound cells of a test, in order.
pub(crate) fn cells<'a>(record: &'a Record, test: &'a str) -> impl Iterator<Item = &'a Cell> {
    record.cells_of(test).filter(|cell| is_sound(cell))
}

/// Sound cells of a test that has one cell for each form.
pub(crate) fn form<'a>(record: &'a Record, test: &'a str, form: &str) -> Option<&'a Cell> {
    cells(record, test).find(|cell| cell.params.form.as_deref() == Some(form))
}

/// Which of several cells stands for a test; of equals the one with the largest span, since small ones are there to show a cache.
fn standing(cell: &Cell) -> impl Ord + use<> {
    (cell.params.standing(), std::cmp::Reverse(cell.params.span_bytes.unwrap_or(0)))
}

/// The cell that stands for a test at a block size.
pub(crate) fn standard<'a>(record: &'a Record, test: &'a str, block_bytes: u64) -> Option<&'a Cell> {
    cells(record, test).filter(|cell| cell.params.block_bytes == Some(block_bytes)).min_by_key(|cell| standing(cell))
}

/// Random writes a second at a block size, sustained.
pub(crate) fn random_write(record: &Record, block_bytes: u64) -> Option<Figure<'_>> {
    Figure::of(standard(record, "random-write", block_bytes)?, "iops")
}

/// Random reads a second at a block size, one at a time.
pub(crate) fn random_read(record: &Record, block_bytes: u64) -> Option<Figure<'_>> {
    Figure::of(standard(record, "random-read", block_bytes)?, "iops")
}

/// The rate of a sequential test at the largest block up to 1 MiB, after every cache where that was measured.
pub(crate) fn sequential<'a>(record: &'a Record, test: &'a str) -> Option<Figure<'a>> {
    let largest = cells(record, test).filter_map(|cell| cell.params.block_bytes).filter(|bytes| *bytes <= 1 << 20).max()?;
    let cell = standard(record, test, largest).filter(|_| largest >= 64 << 10)?;
    Figure::of(cell, "sustained_bps").or_else(|| Figure::of(cell, "bps"))
}

/// The best honest word on sustained writing: the end of the `sustained` test, else sequential writes, else a fill with incompressible
/// data, else `prime`.
pub(crate) fn sustained_write(record: &Record) -> Option<Figure<'_>> {
    let sustained = || form(record, "sustained", "first").and_then(|cell| Figure::of(cell, "sustained_bps"));
    let fill = |test| cells(record, test).find_map(|cell| Figure::of(cell, "bps"));
    sustained().or_else(|| sequential(record, "sequential-write")).or_else(|| fill("random-fill")).or_else(|| fill("prime"))
}

/// "4 KiB".
pub(crate) fn size(bytes: u64) -> String {
    Bytes(bytes).to_string()
}
