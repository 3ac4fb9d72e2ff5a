//! Whether the medium is a fake: has it the capacity it says? What the probe of the capacity told
//! (`suite/src/catalogue/capacity/probe_stages.rs` finds out the kind) and a full verification. The
//! sentences are in `capacity.rs`.

use record::{CapacityKind, Cell, Record, metric, test};

use crate::cell_usability;

/// True if the cell came to its end. Not asked of the whole run: what a fake is found by is of a
/// fake.
fn is_sound(cell: &Cell) -> bool {
    cell_usability::of_cell(cell).is_none()
}

/// What the probes came to. A suite may have a short one and a thorough one: what a medium has
/// hidden from the one, the other may show, so one that finds something wrong stands before one
/// that does not, and then the later one.
pub(crate) fn capacity_verdict(record: &Record) -> Option<(&Cell, CapacityKind)> {
    let kinds = record
        .cells_of(test::CAPACITY)
        .filter(|cell| is_sound(cell))
        .filter_map(|cell| Some((cell, CapacityKind::of_probe(cell)?)));
    kinds.max_by_key(|(_, kind)| *kind != CapacityKind::Good)
}

/// What the probe itself took it for.
pub(crate) fn code(cell: &Cell) -> Option<CapacityKind> {
    CapacityKind::of_code(number(cell, "type")?)
}

/// A number of the probe: metrics of `other`, which may be zero.
pub(crate) fn number(cell: &Cell, name: &str) -> Option<f64> {
    cell.metrics
        .other
        .get(name)
        .map(|found| found.value)
        .filter(|value| (0.0..MOST).contains(value))
}

/// True where the capacity was probed, and the probe has not come to its end.
pub(crate) fn is_probe_cut(record: &Record) -> bool {
    capacity_verdict(record).is_none() && record.cells_of(test::CAPACITY).next().is_some()
}

/// What the probe found to be there, in bytes; none where it was not run, or not to its end.
pub(crate) fn real_bytes(record: &Record) -> Option<u64> {
    number(capacity_verdict(record)?.0, metric::REAL_BYTES).map(|bytes| bytes as u64)
}

/// True if the probe found to the sector how much is there.
pub(crate) fn is_size_found(record: &Record) -> bool {
    let found =
        capacity_verdict(record).and_then(|(cell, _)| cell.metrics.other.get(metric::REAL_BYTES));
    found.is_some_and(|size| size.ci95.is_none_or(|[low, high]| low >= high))
}

/// What was read back in order.
fn read_back(record: &Record) -> Sectors {
    let is_read = |cell: &&Cell| cell.params.form.as_deref() == Some("read") && is_sound(cell);
    Sectors::of(record.cells_of(test::VERIFY).filter(is_read))
}

/// True if less is there than it says: by the probe, or because what was read back is, for a
/// hundredth of the medium and more (our choice), data that was written to another address. Damage
/// alone does not do that.
pub(crate) fn is_fake(record: &Record) -> bool {
    let probed = capacity_verdict(record).map(|(_, kind)| kind);
    let sectors = read_back(record);
    let folded = sectors.overwritten > 0
        && sectors.overwritten.saturating_mul(100) >= sectors.good.saturating_add(sectors.bad());
    probed.is_some_and(CapacityKind::is_fake) || probed.is_none() && folded
}

/// Of the medium, what has to be read back as it was written for its capacity to be real; the rest
/// is what a suite leaves at the end.
const WHOLE: f64 = 0.99;

/// True if its capacity is known to be real: by the probe, or because all of it was written and
/// read back.
pub(crate) fn is_genuine(record: &Record) -> bool {
    let probed = capacity_verdict(record).map(|(_, kind)| kind);
    let sectors = read_back(record);
    let whole = record
        .medium
        .capacity_bytes
        .is_some_and(|bytes| bytes > 0 && sectors.span_bytes as f64 >= WHOLE * bytes as f64);
    probed == Some(CapacityKind::Good)
        || probed.is_none() && whole && sectors.good > 0 && sectors.bad() == 0
}

/// No medium has so many bytes, or sectors.
pub(crate) const MOST: f64 = (1u64 << 60) as f64;

/// Sectors of all parts that were read back, by what became of them.
#[derive(Default)]
pub(crate) struct Sectors {
    pub(crate) good: u64,
    pub(crate) changed: u64,
    pub(crate) overwritten: u64,
    pub(crate) corrupted: u64,
    /// Of the corrupted ones.
    pub(crate) zero: u64,
    pub(crate) blank: u64,
    pub(crate) unreadable: u64,
    pub(crate) first_bad_bytes: Option<u64>,
    /// The bytes that these parts are of.
    pub(crate) span_bytes: u64,
    /// Parts that were not read to their end.
    pub(crate) is_partial: bool,
}

impl Sectors {
    /// Those of all these cells.
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
        self.is_partial |= !is_sound(cell);
    }

    pub(crate) fn bad(&self) -> u64 {
        self.changed.saturating_add(self.overwritten).saturating_add(self.corrupted)
    }

    /// Sectors that were read and hold neither what was written nor anything else of ours. The
    /// records count those that gave errors among the corrupted ones.
    fn wrong(&self) -> u64 {
        self.corrupted.saturating_sub(self.unreadable)
    }

    /// True if all that is bad gave errors: no data was read that was not written.
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

#[cfg(test)]
mod tests;
