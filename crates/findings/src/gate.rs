//! Which cells may be used for words: for a verdict, a rank, a class, an advice, and for what
//! accuses a medium. One place decides it, and everything that concludes, ranks, shows or publishes
//! a figure asks here.

use std::borrow::Cow;
use std::fmt;

use record::{Bound, Cell, Flag, Record, strayed};

use crate::capacity;

/// Why a cell's figures may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The medium or a person ended it before it was done.
    CutShort,
    /// Its numbers cannot be those of a medium.
    Impossible,
    /// Nothing of the run reached a medium.
    NoMedium,
    /// The medium is a fake, so what it did says nothing of what it would do where it has no flash.
    Fake,
    /// It caught a passing state: a bound and no level.
    Transient(Bound),
    /// The host's page cache lay in between: no trick can be told from it.
    HostCached,
    /// The host stood still for too much of it: no trick and no stall can be told from that.
    HostStoodStill,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::CutShort => "it was cut short",
            Refusal::Impossible => "its numbers are not those of a medium",
            Refusal::NoMedium => "nothing of it reached a medium",
            Refusal::Fake => "the medium is a fake",
            Refusal::Transient(Bound::AtLeast) => {
                "the medium had not come to rest: its level is at least that"
            }
            Refusal::Transient(Bound::AtMost) => {
                "the medium had not come to rest: its level is at most that"
            }
            Refusal::HostCached => "the host's page cache lay in between",
            Refusal::HostStoodStill => "the host stood still meanwhile",
        })
    }
}

/// Why no figure of this cell may be used as a level; `None` where it may be.
pub fn refusal(record: &Record, cell: &Cell) -> Option<Refusal> {
    of_cell(cell).or_else(|| of_run(record))
}

/// Why no figure of a whole run may be used, ranked or published as a medium's.
pub fn of_run(record: &Record) -> Option<Refusal> {
    if strayed(&record.flags, &record.cells).is_some() {
        return Some(Refusal::NoMedium);
    }
    capacity::is_fake(record).then_some(Refusal::Fake)
}

/// What about the cell itself forbids to use its figures.
pub(crate) fn of_cell(cell: &Cell) -> Option<Refusal> {
    of_any(cell).or_else(|| cell.transient().map(Refusal::Transient))
}

/// What forbids to use even a bound.
pub(crate) fn of_any(cell: &Cell) -> Option<Refusal> {
    if cell.stop.cut_short() {
        return Some(Refusal::CutShort);
    }
    is_impossible(cell).then_some(Refusal::Impossible)
}

/// Whether the numbers of a cell cannot be those of a medium.
pub(crate) fn is_impossible(cell: &Cell) -> bool {
    cell.flags.iter().any(Flag::is_impossible)
}

/// The side on which the figures of a cell of a passing state bound what lasts, where nothing else
/// is wrong with it.
pub(crate) fn bound(cell: &Cell) -> Option<Bound> {
    cell.transient().filter(|_| of_any(cell).is_none())
}

/// Why nothing may be said against the medium from this cell: more is asked of what accuses.
pub fn accusing(record: &Record, cell: &Cell) -> Option<Refusal> {
    refusal(record, cell)
        .or_else(|| disturbed(cell))
        .or_else(|| is_host_cached(record).then_some(Refusal::HostCached))
}

/// The subject of `sustained` is a course over minutes, which cannot be measured a second time: a
/// standstill is a dip in it and moves no level. Such dips may take this share of it.
const DISTURBED_COURSE: f64 = 0.3;
/// Writes out of order within a unit are asked how many of them waited for a merge: those that met
/// a standstill are not among them.
const DISTURBED_COUNT: f64 = 0.3;
/// Loads of `pattern` are told apart from twice the rate on: a standstill of this share makes 1.4
/// of it.
const DISTURBED_CONTRAST: f64 = 0.3;
/// Spans are told apart from three times the rate on.
const DISTURBED_SPAN: f64 = 0.15;
/// Units of `front-area` are compared by the medians of their writes, which the few that met a
/// standstill do not move.
const DISTURBED_MEDIAN: f64 = 0.5;

/// Whether the host stood still for too much of a cell.
pub(crate) fn disturbed(cell: &Cell) -> Option<Refusal> {
    let most = match cell.test.as_str() {
        "sustained" => DISTURBED_COURSE,
        "open-aus" if cell.params.form.as_deref() == Some("random") => DISTURBED_COUNT,
        "pattern" => DISTURBED_CONTRAST,
        "span-sweep" => DISTURBED_SPAN,
        "front-area" => DISTURBED_MEDIAN,
        _ => record::DISTURBED_SHARE,
    };
    (cell.stood_still_share() > most).then_some(Refusal::HostStoodStill)
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
    use record::units::{GIB, KIB, MIB};
    use record::{Estimate, Stop};

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
        assert!(told[0].statement.starts_with("Do not use it. It is a fake"), "{told:#?}");
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
            Some("Unusable as a root disk: at most 2")
        );
        assert_eq!(verdict(494.0, Bound::AtMost), None, "it may be far less");
        assert_eq!(verdict(15.0, Bound::AtLeast), None, "it may be far more");
        assert_eq!(
            verdict(700.0, Bound::AtLeast).as_deref(),
            Some(
                "Good as a root disk: at least 700 random writes of 4 KiB a second, a laptop disk does 90"
            )
        );
    }
}
