//! Reasons not to use figures of a cell, from the cell alone.

use std::fmt;

use record::{Bound, Cell, Flag, test};

/// The reason why a cell's figures may not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// The medium or a person ended it before it was done.
    CutShort,
    /// Its numbers cannot be those of a medium.
    Impossible,
    /// Something other than the medium answered, or the medium is unknown.
    NoMedium,
    /// The medium is a fake: its rates say nothing about the missing part of its capacity.
    Fake,
    /// The medium was in a transient state: a bound, not a level.
    Transient(Bound),
    /// I/Os waited for other work of the host: a lower bound.
    HostLimited,
    /// A control group of the host limited the rate: a lower bound.
    IoLimit,
    /// The host's page cache was in between: no trick of the medium can be distinguished from it.
    HostCached,
    /// Host stalls took too much of the time: they can look like a trick or a stall of the medium.
    HostStalled,
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
            ExclusionReason::HostStalled => "the host stood still during it",
        })
    }
}

/// Reason in the cell itself not to use its figures.
pub(crate) fn of_cell(cell: &Cell) -> Option<ExclusionReason> {
    let transient = || cell.transient().map(ExclusionReason::Transient);
    let limited = || cell.io_limit().map(|_| ExclusionReason::IoLimit);
    let busy = || cell.is_host_limited().then_some(ExclusionReason::HostLimited);
    of_any(cell).or_else(limited).or_else(busy).or_else(transient)
}

/// Reason not to use its figures even as a bound.
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

/// The side on which a cell's figures bound the lasting rate, if nothing else is wrong with it.
pub(crate) fn bound(cell: &Cell) -> Option<Bound> {
    cell.bound().filter(|_| of_any(cell).is_none())
}

/// Largest share of host stalls in `sustained`, which shows a course over minutes and cannot be
/// repeated: a host stall is a dip in it, which moves no level.
const MAX_STALL_OF_COURSE: f64 = 0.3;

/// Largest share of host stalls in writes out of order within a unit: the share of writes that
/// waited for a merge does not include those that met a host stall.
const MAX_STALL_OF_COUNT: f64 = 0.3;

/// Largest share of host stalls in spans, which differ from a factor of 3 on.
const MAX_STALL_OF_SPAN: f64 = 0.15;

/// Reason not to use a cell if host stalls took too much of its time.
pub(crate) fn host_stalled(cell: &Cell) -> Option<ExclusionReason> {
    let most = match cell.test.as_str() {
        test::SUSTAINED => MAX_STALL_OF_COURSE,
        test::OPEN_AUS if cell.params.form.as_deref() == Some("random") => MAX_STALL_OF_COUNT,
        test::SPAN_SWEEP => MAX_STALL_OF_SPAN,
        _ => record::MAX_HOST_STALL_SHARE,
    };
    (cell.host_stall_share() > most).then_some(ExclusionReason::HostStalled)
}
