//! What a verification found, sector by sector, and how much of what was written it shows to be kept
//! (docs/field/counterfeits.md#f3probe).

use record::{Cell, Record, metric, test};

use crate::figures::cell_usability;

/// Upper limit for the bytes or sectors of a medium.
pub(crate) const MOST: f64 = (1u64 << 60) as f64;

/// A number of the probe: a metric of `other`, which may be zero.
pub(crate) fn number(cell: &Cell, name: &str) -> Option<f64> {
    cell.metrics
        .other
        .get(name)
        .map(|found| found.value)
        .filter(|value| (0.0..MOST).contains(value))
}

/// Sectors of all verified parts, by result.
#[derive(Default)]
pub(crate) struct Sectors {
    pub(crate) good: u64,
    pub(crate) changed: u64,
    pub(crate) overwritten: u64,
    pub(crate) corrupted: u64,
    /// Zeroed sectors among the corrupted ones.
    pub(crate) zero: u64,
    pub(crate) blank: u64,
    pub(crate) unreadable: u64,
    pub(crate) first_bad_bytes: Option<u64>,
    /// Size of these parts in bytes.
    pub(crate) span_bytes: u64,
    /// True if a part was not read to its end.
    pub(crate) is_partial: bool,
}

impl Sectors {
    /// Sum over these cells.
    pub(crate) fn of<'a>(cells: impl Iterator<Item = &'a Cell>) -> Sectors {
        let mut sectors = Sectors::default();
        cells.for_each(|cell| sectors.add(cell));
        sectors
    }

    pub(crate) fn add(&mut self, cell: &Cell) {
        let count = |name| number(cell, name).map_or(0, |n| n as u64);
        self.good = self.good.saturating_add(count(metric::GOOD_SECTORS));
        self.changed = self.changed.saturating_add(count(metric::CHANGED_SECTORS));
        self.overwritten = self.overwritten.saturating_add(count(metric::OVERWRITTEN_SECTORS));
        self.corrupted = self.corrupted.saturating_add(count(metric::CORRUPTED_SECTORS));
        self.zero = self.zero.saturating_add(count(metric::ZERO_SECTORS));
        self.blank = self.blank.saturating_add(count(metric::BLANK_SECTORS));
        self.unreadable = self.unreadable.saturating_add(count(metric::UNREADABLE_SECTORS));
        let first = number(cell, metric::FIRST_BAD_OFFSET_BYTES).map(|at| at as u64);
        self.first_bad_bytes = [self.first_bad_bytes, first].into_iter().flatten().min();
        self.span_bytes = self.span_bytes.saturating_add(cell.params.span_bytes.unwrap_or(0));
        self.is_partial |= cell_usability::of_any(cell).is_some();
    }

    pub(crate) fn bad(&self) -> u64 {
        self.changed.saturating_add(self.overwritten).saturating_add(self.corrupted)
    }

    /// Sectors with neither the written data nor other data of the test. Records count unreadable
    /// sectors as corrupted.
    fn wrong(&self) -> u64 {
        self.corrupted.saturating_sub(self.unreadable)
    }

    /// True if all bad sectors gave errors: no wrong data was returned.
    pub(crate) fn is_only_unreadable(&self) -> bool {
        self.unreadable > 0 && self.bad() <= self.unreadable
    }

    /// "12 overwritten, 3 unreadable".
    pub(crate) fn list(&self) -> String {
        let kinds = [
            ("corrupted", self.wrong()),
            ("unreadable", self.unreadable.min(self.corrupted)),
            ("changed", self.changed),
            ("overwritten", self.overwritten),
        ];
        kinds
            .into_iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| format!("{n} {name}"))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// Parts of a medium that were read back to their end.
pub(crate) fn read_parts(record: &Record) -> impl Iterator<Item = &Cell> {
    record.cells_of(test::VERIFY).filter(|cell| {
        cell.params.form.as_deref() == Some("read")
            && number(cell, metric::GOOD_SECTORS).is_some()
            && cell_usability::of_any(cell).is_none()
    })
}

/// What of the written data a medium keeps that keeps one end of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// What was written first: this many bytes at least and at most, the same if all losses begin
    /// at one place.
    First([u64; 2]),
    /// What was written last.
    Last,
}

/// Size of a sector of the record.
pub(crate) const SECTOR_BYTES: u64 = 512;
/// Share of a medium that must be lost for a fake; our choice.
const LOST_SHARE: u64 = 100;

impl Kept {
    /// Looks for one border in the order of writing: on one side of it all is good, on the other all
    /// is lost (but for 1 %: a fake that fills up keeps the places that were in use before). Damage
    /// has good data on both sides. `None` without one, and if sectors have a few wrong bits or
    /// cannot be read.
    pub(crate) fn of(record: &Record) -> Option<Kept> {
        let mut parts: Vec<&Cell> = read_parts(record).collect();
        parts.sort_by_key(|cell| cell.params.span_offset_bytes);
        let all = Sectors::of(parts.iter().copied());
        let lost = all.corrupted.saturating_add(all.overwritten);
        let whole = record.medium.capacity_bytes.unwrap_or(all.span_bytes) / SECTOR_BYTES;
        if all.good == 0 || all.changed.max(all.unreadable) > 0 || lost < whole / LOST_SHARE {
            return None;
        }
        let start_bytes = parts.first()?.params.span_offset_bytes.unwrap_or(0);
        let kept_bytes = all.first_bad_bytes?.saturating_sub(start_bytes);
        let is_few = |good: u64| good <= lost / LOST_SHARE;
        let behind = all.good.checked_sub(kept_bytes / SECTOR_BYTES)?;
        if kept_bytes > 0 && is_few(behind) {
            let most = kept_bytes.saturating_add(behind.saturating_mul(SECTOR_BYTES));
            return Some(Kept::First([kept_bytes, most]));
        }
        let last = parts.iter().rposition(|cell| Sectors::of([*cell].into_iter()).bad() > 0)?;
        let before = Sectors::of(parts[..last].iter().copied());
        (before.bad() >= all.good && is_few(before.good)).then_some(Kept::Last)
    }
}

#[cfg(test)]
mod tests;
