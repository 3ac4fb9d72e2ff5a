//! Detection of fakes: does the medium have its declared capacity? The evidence is the probe of the
//! capacity (`suite/src/catalogue/capacity/probe_stages.rs` determines the kind) and a full
//! verification. The sentences are in `capacity.rs`.

use record::{CapacityKind, Cell, Record, metric, test};

use crate::cell_usability;

/// True if the cell was completed. The whole run is not checked: evidence of a fake is by
/// definition from a fake.
fn is_sound(cell: &Cell) -> bool {
    cell_usability::of_cell(cell).is_none()
}

/// Result of the probes. A suite may have a short and a thorough one, and a medium may deceive only
/// one of them: a probe that finds a fault counts before one that does not, and then the later one.
pub(crate) fn capacity_verdict(record: &Record) -> Option<(&Cell, CapacityKind)> {
    let kinds = record
        .cells_of(test::CAPACITY)
        .filter(|cell| is_sound(cell))
        .filter_map(|cell| Some((cell, CapacityKind::of_probe(cell)?)));
    kinds.max_by_key(|(_, kind)| *kind != CapacityKind::Good)
}

/// Kind of the medium according to the probe itself.
pub(crate) fn code(cell: &Cell) -> Option<CapacityKind> {
    CapacityKind::of_code(number(cell, "type")?)
}

/// A number of the probe: a metric of `other`, which may be zero.
pub(crate) fn number(cell: &Cell, name: &str) -> Option<f64> {
    cell.metrics
        .other
        .get(name)
        .map(|found| found.value)
        .filter(|value| (0.0..MOST).contains(value))
}

/// True if the capacity was probed, but the probe was not completed.
pub(crate) fn is_probe_cut(record: &Record) -> bool {
    capacity_verdict(record).is_none() && record.cells_of(test::CAPACITY).next().is_some()
}

/// Real capacity in bytes found by the probe; `None` without a completed probe.
pub(crate) fn real_bytes(record: &Record) -> Option<u64> {
    number(capacity_verdict(record)?.0, metric::REAL_BYTES).map(|bytes| bytes as u64)
}

/// True if the probe found the real capacity to the sector.
pub(crate) fn is_size_found(record: &Record) -> bool {
    let found =
        capacity_verdict(record).and_then(|(cell, _)| cell.metrics.other.get(metric::REAL_BYTES));
    found.is_some_and(|size| size.ci95.is_none_or(|[low, high]| low >= high))
}

/// Results of sequential verification.
fn read_back(record: &Record) -> Sectors {
    let is_read = |cell: &&Cell| cell.params.form.as_deref() == Some("read") && is_sound(cell);
    Sectors::of(record.cells_of(test::VERIFY).filter(is_read))
}

/// True if the real capacity is less than declared: by the probe, or because at least 1 % of the
/// medium (our choice) returned data that was written to another address. Damage alone does not
/// cause that.
pub(crate) fn is_fake(record: &Record) -> bool {
    let probed = capacity_verdict(record).map(|(_, kind)| kind);
    let sectors = read_back(record);
    let folded = sectors.overwritten > 0
        && sectors.overwritten.saturating_mul(100) >= sectors.good.saturating_add(sectors.bad());
    probed.is_some_and(CapacityKind::is_fake) || probed.is_none() && folded
}

/// Share of the medium that must be read back as written for its capacity to be real; suites leave
/// out the rest at the end.
const WHOLE: f64 = 0.99;

/// True if its capacity is known to be real: by the probe, or because all of it was written and
/// read back. A partition says nothing of the rest of its medium.
pub(crate) fn is_genuine(record: &Record) -> bool {
    if record.target.part_of.is_some() {
        return false;
    }
    let probed = capacity_verdict(record).map(|(_, kind)| kind);
    let sectors = read_back(record);
    let whole = record
        .medium
        .capacity_bytes
        .is_some_and(|bytes| bytes > 0 && sectors.span_bytes as f64 >= WHOLE * bytes as f64);
    probed == Some(CapacityKind::Good)
        || probed.is_none() && whole && sectors.good > 0 && sectors.bad() == 0
}

/// Upper limit for the bytes or sectors of a medium.
pub(crate) const MOST: f64 = (1u64 << 60) as f64;

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
        self.is_partial |= !is_sound(cell);
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

#[cfg(test)]
mod tests;
