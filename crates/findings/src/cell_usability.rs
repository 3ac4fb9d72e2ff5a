//! The reason why no figure of a cell may be used, as the cell itself tells.

use std::fmt;

use record::{Bound, Cell, Flag, test};

/// The reason why a cell's figures may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The medium or a person ended it before it was done.
    CutShort,
    /// Its numbers cannot be those of a medium.
    Impossible,
    /// Something before the medium answered, or nobody can see which medium it is.
    NoMedium,
    /// The medium is a fake, so what it did says nothing of what it would do where it has no flash.
    Fake,
    /// It caught a passing state: a bound and no level.
    Transient(Bound),
    /// The host had other work and the I/Os waited for it: a lower bound.
    HostLimited,
    /// A control group of the host let it do no more: a lower bound.
    IoLimit,
    /// The host's page cache lay in between: no trick can be told from it.
    HostCached,
    /// The host stood still for too much of it: no trick and no stall can be told from that.
    HostStoodStill,
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExclusionReason::CutShort => "it was stopped early",
            ExclusionReason::Impossible => "its numbers are not those of a medium",
            ExclusionReason::NoMedium => "the run is not known to be of a medium",
            ExclusionReason::Fake => "the medium is a fake",
            ExclusionReason::Transient(Bound::AtLeast) => {
                "its rate was still changing: the sustained rate is at least that"
            }
            ExclusionReason::Transient(Bound::AtMost) => {
                "its rate was still changing: the sustained rate is at most that"
            }
            ExclusionReason::HostLimited => {
                "this machine was busy: the medium is at least this fast"
            }
            ExclusionReason::IoLimit => {
                "a control group of the host limits it: the medium is at least this fast"
            }
            ExclusionReason::HostCached => "the host's page cache answered",
            ExclusionReason::HostStoodStill => "the host stood still during it",
        })
    }
}

/// What about the cell itself forbids to use its figures.
pub(crate) fn of_cell(cell: &Cell) -> Option<ExclusionReason> {
    let transient = || cell.transient().map(ExclusionReason::Transient);
    let limited = || cell.io_limit().map(|_| ExclusionReason::IoLimit);
    let busy = || cell.bound().map(|_| ExclusionReason::HostLimited);
    of_any(cell).or_else(transient).or_else(limited).or_else(busy)
}

/// What forbids to use even a bound.
pub(crate) fn of_any(cell: &Cell) -> Option<ExclusionReason> {
    if cell.stop.cut_short() {
        return Some(ExclusionReason::CutShort);
    }
    is_impossible(cell).then_some(ExclusionReason::Impossible)
}

/// True if the numbers of a cell cannot be those of a medium.
pub(crate) fn is_impossible(cell: &Cell) -> bool {
    cell.flags.iter().any(Flag::is_impossible)
}

/// The side on which the figures of a cell bound what lasts, where nothing else is wrong with it.
pub(crate) fn bound(cell: &Cell) -> Option<Bound> {
    cell.bound().filter(|_| of_any(cell).is_none())
}

/// The subject of `sustained` is a course over minutes, which cannot be measured a second time: a
/// host stall is a dip in it and moves no level. Such dips may take this share of it.
const MAX_STALL_OF_COURSE: f64 = 0.3;

/// Writes out of order within a unit are asked how many of them waited for a merge: those that met
/// a host stall are not among them.
const MAX_STALL_OF_COUNT: f64 = 0.3;

/// Loads of `pattern` are told apart from twice the rate on: a host stall of this share makes 1.4
/// of it.
const MAX_STALL_OF_CONTRAST: f64 = 0.3;

/// Spans are told apart from three times the rate on.
const MAX_STALL_OF_SPAN: f64 = 0.15;

/// Units of `front-area` are compared by the medians of their writes, which the few that met a
/// host stall do not move.
const MAX_STALL_OF_MEDIAN: f64 = 0.5;

/// Whether the host stood still for too much of a cell.
pub(crate) fn host_stalled(cell: &Cell) -> Option<ExclusionReason> {
    let most = match cell.test.as_str() {
        test::SUSTAINED => MAX_STALL_OF_COURSE,
        test::OPEN_AUS if cell.params.form.as_deref() == Some("random") => MAX_STALL_OF_COUNT,
        test::PATTERN => MAX_STALL_OF_CONTRAST,
        test::SPAN_SWEEP => MAX_STALL_OF_SPAN,
        test::FRONT_AREA => MAX_STALL_OF_MEDIAN,
        _ => record::MAX_HOST_STALL_SHARE,
    };
    (cell.host_stall_share() > most).then_some(ExclusionReason::HostStoodStill)
}
