//! Usability of cells for a verdict, a rank, a class, advice, and for findings against a medium.
//! This is the only place that decides it: all code that concludes, ranks, shows or publishes a
//! figure asks here.

use std::borrow::Cow;

use record::{Cell, Flag, Record, not_medium_reason};

use crate::genuineness;

pub use crate::cell_usability::ExclusionReason;
pub(crate) use crate::cell_usability::{bound, host_stalled, is_impossible, of_any, of_cell};

/// Reason why no figure of this cell may be used as a level; `None` if it may.
pub fn exclusion(record: &Record, cell: &Cell) -> Option<ExclusionReason> {
    of_cell(cell).or_else(|| of_run(record))
}

/// Cells with figures that may be used as a level. The rules for the run are evaluated once: a log
/// may have 100,000 cells.
pub(crate) fn cells(record: &Record) -> impl Iterator<Item = &Cell> {
    of_a_medium(record).filter(|cell| of_cell(cell).is_none())
}

/// Cells of a run with figures that may be used at all: all, or none of them.
pub(crate) fn of_a_medium(record: &Record) -> impl Iterator<Item = &Cell> {
    let cells = if of_run(record).is_none() { record.cells.as_slice() } else { &[] };
    cells.iter()
}

/// Reason why no figure of a whole run may be used, ranked or published as a medium's.
pub fn of_run(record: &Record) -> Option<ExclusionReason> {
    if not_medium_reason(&record.flags, &record.cells).is_some() {
        return Some(ExclusionReason::NoMedium);
    }
    genuineness::is_fake(record).then_some(ExclusionReason::Fake)
}

/// Reason why this cell may not be used against the medium: an adverse finding needs more than
/// others.
pub fn adverse_exclusion(record: &Record, cell: &Cell) -> Option<ExclusionReason> {
    exclusion(record, cell)
        .or_else(|| host_stalled(cell))
        .or_else(|| is_host_cached(record).then_some(ExclusionReason::HostCached))
}

/// Cells that may be used against the medium.
pub(crate) fn adverse_cells(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_cached = is_host_cached(record);
    cells(record).filter(move |cell| !is_cached && host_stalled(cell).is_none())
}

/// True if the device was in the host's page cache.
pub(crate) fn is_host_cached(record: &Record) -> bool {
    record.flags.contains(&Flag::HostCached)
        || record.cells.iter().any(|cell| cell.flags.contains(&Flag::HostCached))
}

/// The record without the cells with host stalls: findings against a medium are drawn from this.
pub(crate) fn without_host_stalls(record: &Record) -> Cow<'_, Record> {
    if !record.cells.iter().any(|cell| host_stalled(cell).is_some()) {
        return Cow::Borrowed(record);
    }
    let mut quiet = record.clone();
    quiet.cells.retain(|cell| host_stalled(cell).is_none());
    Cow::Owned(quiet)
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, KIB, MIB};
    use record::{Bound, Estimate, Stop};

    use super::*;
    use crate::testing::{cell, empty, iops};

    fn card() -> Record {
        let cells = vec![
            iops("random-write", 1, 4 * KIB, 700.0, 9_000_000),
            iops("random-write", 2, 16 * KIB, 600.0, 9_000_000),
            iops("sequential-write", 1, MIB, 40.0, 30_000_000),
        ];
        Record { cells, ..empty() }
    }

    #[test]
    fn each_reason_is_given_and_the_figure_used_nowhere() {
        let with = |change: &dyn Fn(&mut Cell)| {
            let mut record = card();
            record.cells.iter_mut().for_each(change);
            record
        };
        let cases = [
            (with(&|cell| cell.stop = Stop::Error), ExclusionReason::CutShort),
            (with(&|cell| cell.flags.push(Flag::Cached)), ExclusionReason::Impossible),
            (
                with(&|cell| cell.flags.push(Flag::Transient { bound: Bound::AtLeast })),
                ExclusionReason::Transient(Bound::AtLeast),
            ),
            (Record { flags: vec![Flag::MemoryFilesystem], ..card() }, ExclusionReason::NoMedium),
            (fake(), ExclusionReason::Fake),
        ];
        assert_eq!(exclusion(&card(), &card().cells[0]), None);
        for (record, reason) in cases {
            assert_eq!(exclusion(&record, &record.cells[0]), Some(reason));
            assert!(
                crate::headline(&record)
                    .figures
                    .keys()
                    .all(|figure| *figure == record::collection::HeadlineFigure::WorstStall),
                "{reason:?}"
            );
            assert!(
                crate::compare(&[record.clone(), card()])
                    .ranks
                    .iter()
                    .all(|rank| rank.order.len() <= 1),
                "{reason:?} is ranked"
            );
            let findings = crate::conclude(&record);
            let praised = findings
                .iter()
                .find(|finding| finding.id == "classes" || finding.id.starts_with("advice"));
            assert!(praised.is_none(), "{reason:?}: {praised:?}");
        }
    }

    fn fake() -> Record {
        let mut probe = cell("capacity", 1, 512);
        for (name, value) in [("type", 2.0), ("real_bytes", 4.0 * GIB as f64)] {
            probe.metrics.other.insert(name.into(), Estimate { value, ci95: None, n: 1 });
        }
        let mut record = card();
        record.cells.push(probe);
        record
    }
}
