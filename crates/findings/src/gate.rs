//! Which cells may be used for words: for a verdict, a rank, a class, an advice, and for what
//! accuses a medium. One place decides it, and everything that concludes, ranks, shows or publishes
//! a figure asks here.

use std::borrow::Cow;

use record::{Cell, Flag, Record, strayed};

use crate::genuineness;

pub use crate::cell_gate::Refusal;
pub(crate) use crate::cell_gate::{bound, disturbed, is_impossible, of_any, of_cell};

/// Why no figure of this cell may be used as a level; `None` where it may be.
pub fn refusal(record: &Record, cell: &Cell) -> Option<Refusal> {
    of_cell(cell).or_else(|| of_run(record))
}

/// The cells whose figures may be used as a level. The run is asked once: a log may have
/// 100,000 cells.
pub(crate) fn cells(record: &Record) -> impl Iterator<Item = &Cell> {
    of_a_medium(record).filter(|cell| of_cell(cell).is_none())
}

/// The cells of a run of which figures may be used at all: all, or none of them.
pub(crate) fn of_a_medium(record: &Record) -> impl Iterator<Item = &Cell> {
    let cells = if of_run(record).is_none() { record.cells.as_slice() } else { &[] };
    cells.iter()
}

/// Why no figure of a whole run may be used, ranked or published as a medium's.
pub fn of_run(record: &Record) -> Option<Refusal> {
    if strayed(&record.flags, &record.cells).is_some() {
        return Some(Refusal::NoMedium);
    }
    genuineness::is_fake(record).then_some(Refusal::Fake)
}

/// Why nothing may be said against the medium from this cell: more is asked of what accuses.
pub fn accusing(record: &Record, cell: &Cell) -> Option<Refusal> {
    refusal(record, cell)
        .or_else(|| disturbed(cell))
        .or_else(|| is_host_cached(record).then_some(Refusal::HostCached))
}

/// The cells from which something may be said against the medium.
pub(crate) fn accusing_cells(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_cached = is_host_cached(record);
    cells(record).filter(move |cell| !is_cached && disturbed(cell).is_none())
}

/// Whether the device lay in the host's page cache.
pub(crate) fn is_host_cached(record: &Record) -> bool {
    record.flags.contains(&Flag::HostCached)
        || record.cells.iter().any(|cell| cell.flags.contains(&Flag::HostCached))
}

/// The record without the cells in which the host stood still: what is said against a medium is
/// concluded from this.
pub(crate) fn undisturbed(record: &Record) -> Cow<'_, Record> {
    if !record.cells.iter().any(|cell| disturbed(cell).is_some()) {
        return Cow::Borrowed(record);
    }
    let mut quiet = record.clone();
    quiet.cells.retain(|cell| disturbed(cell).is_none());
    Cow::Owned(quiet)
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, KIB, MIB, MILLISECOND_NS};
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
            (with(&|cell| cell.stop = Stop::Error), Refusal::CutShort),
            (with(&|cell| cell.flags.push(Flag::Cached)), Refusal::Impossible),
            (
                with(&|cell| cell.flags.push(Flag::Transient { bound: Bound::AtLeast })),
                Refusal::Transient(Bound::AtLeast),
            ),
            (Record { flags: vec![Flag::MemoryFilesystem], ..card() }, Refusal::NoMedium),
            (fake(), Refusal::Fake),
        ];
        assert_eq!(refusal(&card(), &card().cells[0]), None);
        for (record, reason) in cases {
            assert_eq!(refusal(&record, &record.cells[0]), Some(reason));
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
            let told = crate::conclude(&record);
            let praised = told
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

    #[test]
    fn a_fake_that_was_measured_all_the_same_is_only_a_fake() {
        let told = crate::conclude(&fake());
        assert!(told[0].statement.starts_with("Do not use it. It is a fake:"), "{told:#?}");
        assert!(
            told.iter()
                .all(|finding| ["verdict", "capacity", "wear", "host"]
                    .contains(&finding.id.as_str())),
            "{told:#?}"
        );
        assert!(crate::headline(&fake()).is_fake);
    }

    /// In percent of the cell: so long the host may have stood still, and no longer.
    #[test]
    fn how_long_the_host_may_stand_still_depends_on_what_is_concluded() {
        let forms = [
            ("sustained", None, 30),
            ("open-aus", Some("random"), 30),
            ("open-aus", Some("linear"), 5),
            ("pattern", None, 30),
            ("span-sweep", None, 15),
            ("front-area", None, 50),
            ("random-write", None, 5),
        ];
        for (test, form, most) in forms {
            let told = |percent: u64| {
                let mut own = iops(test, 1, 4 * KIB, 100.0, 1);
                own.params.form = form.map(str::to_owned);
                own.elapsed_ns = 100_000_000_000;
                own.flags = vec![Flag::HostStoodStill {
                    stood_still_ns: percent * 1_000_000_000,
                    left_out: 1,
                }];
                disturbed(&own)
            };
            assert_eq!(
                [told(most), told(most + 1)],
                [None, Some(Refusal::HostStoodStill)],
                "{test} {form:?}"
            );
        }
    }

    /// "246 random writes a second" of a directory that does 15,000, beside two busy loops.
    #[test]
    fn what_waited_for_a_processor_bounds_the_medium_from_below() {
        let verdict = |value: f64, waited_ns: u64| {
            let mut record = empty();
            record.cells = vec![iops("random-write", 1, 4 * KIB, value, 1)];
            record.cells[0].flags.push(Flag::HostLimited { mean_ns: waited_ns });
            let refused = refusal(&record, &record.cells[0]);
            let mut found = crate::conclude(&record).into_iter();
            let level = found.find(|finding| finding.id == "verdict-root-disk");
            (refused, level.map(|finding| finding.severity))
        };
        let half_ms = 500_000;
        assert_eq!(verdict(15.0, 60 * MILLISECOND_NS), (Some(Refusal::HostLimited), None));
        assert_eq!(verdict(15.0, half_ms).0, None);
        assert!(verdict(15.0, half_ms).1.is_some(), "a hundredth of it was waiting");
        assert!(verdict(900.0, 2 * half_ms).1.is_some(), "fast in spite of the host");
    }

    #[test]
    fn a_bound_decides_on_its_side_only() {
        let verdict = |value: f64, bound: Bound| {
            let mut record = empty();
            record.cells = vec![iops("random-write", 1, 4 * KIB, value, 1)];
            record.cells[0].flags.push(Flag::Transient { bound });
            let told = crate::conclude(&record)
                .into_iter()
                .find(|finding| finding.id == "verdict-root-disk");
            told.map(|finding| finding.statement.split('.').next().unwrap_or_default().to_owned())
        };
        assert_eq!(
            verdict(2.0, Bound::AtMost).as_deref(),
            Some("Not suitable for a root disk: random writes of 4 KiB reach at most 2")
        );
        assert_eq!(verdict(494.0, Bound::AtMost), None, "it may be far less");
        assert_eq!(verdict(15.0, Bound::AtLeast), None, "it may be far more");
        assert_eq!(
            verdict(700.0, Bound::AtLeast).as_deref(),
            Some(
                "Good for a root disk: random writes of 4 KiB reach at least 700 IOPS; a laptop disk reaches 90"
            )
        );
    }
}
