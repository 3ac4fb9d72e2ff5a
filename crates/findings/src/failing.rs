//! A medium that fails: in what way, as far as the errors tell, and what to do first.

use record::metric::HANGING_IOS;
use record::units::{Bytes, Nanos, saturating_sum};
use record::{
    Cell, Direction, Ended, Finding, Flag, HANGS_NS, IoErrorKind, Outcome, Record, Severity, Stop,
};

use crate::damaged_places::{DamageExtent, DamagedPlaces};
use crate::finding_builder::FindingBuilder;
use crate::genuineness::number;
use crate::phrases::{COPY_NOW, DAMAGED_OR_FAKE, MANY_PLACES, ONE_AREA, WENT_AWAY};
use crate::{figure, genuineness, usability};

/// `io-error`: how the medium fails, or that a test ended by an error.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let draft = failure(record)
        .or_else(|| went_away(record))
        .or_else(|| hanging(record))
        .or_else(|| other_error(record))
        .or_else(|| retries(record))?;
    let failed = record.cells.iter().filter(|cell| cell.stop == Stop::Error);
    Some(
        draft.notes(failed.map(|cell| format!("{}: {}", figure::named(cell), reason(cell)))).done(),
    )
}

fn reason(cell: &Cell) -> &str {
    cell.reason.as_deref().unwrap_or("no reason was recorded")
}

/// The class of the error that ended a cell.
fn kind(cell: &Cell) -> Option<IoErrorKind> {
    Some(cell.error?.kind).filter(|_| cell.stop == Stop::Error)
}

/// True if the medium itself ended a cell: neither a medium that is gone nor a full file system
/// does.
fn is_by_medium(cell: &Cell) -> bool {
    matches!(kind(cell), Some(IoErrorKind::Medium | IoErrorKind::ReadOnly))
}

/// True if a cell ended because its device was not there any more.
fn is_gone(cell: &Cell) -> bool {
    kind(cell) == Some(IoErrorKind::Gone)
}

/// True if anything went through in a cell.
fn has_worked(cell: &Cell) -> bool {
    cell.ops > 0 || cell.written_bytes > 0
}

/// The places of the cells that the medium itself ended. A device that goes away may answer what
/// is under way with an error of the medium: what comes right before the device is gone, with
/// nothing that went through between, is of its going.
fn failed_by_medium(record: &Record) -> Vec<usize> {
    let is_of_going = |at: usize| {
        let next =
            record.cells[at + 1..].iter().find(|next| !is_by_medium(next) || has_worked(next));
        next.is_some_and(|next| is_gone(next) && !has_worked(next))
    };
    let all = 0..record.cells.len();
    all.filter(|at| is_by_medium(&record.cells[*at]) && !is_of_going(*at)).collect()
}

/// What failed: what was asked of the medium at that moment, else what the cell does.
fn direction(cell: &Cell) -> Option<Direction> {
    let error = cell.error?;
    match error.kind {
        IoErrorKind::ReadOnly => Some(Direction::Write),
        _ => error.direction.or(cell.params.direction),
    }
}

/// The byte at which an I/O failed.
fn place(cell: &Cell) -> Option<u64> {
    cell.error?.offset_bytes
}

/// What reads and writes came to from the first error of the
/// medium on.
struct Seen<'a> {
    failed: Vec<&'a Cell>,
    good_reads: usize,
    good_writes: usize,
}

impl<'a> Seen<'a> {
    fn of(record: &'a Record) -> Option<Seen<'a>> {
        let failed = failed_by_medium(record);
        let first = *failed.first()?;
        let after = &record.cells[first..];
        // What went through in the cell of the first error did so before it; in a later one, after
        // it.
        let good = |direction| {
            let is_written = |cell: &Cell| direction == Direction::Write && cell.written_bytes > 0;
            let is_good = |cell: &&Cell| {
                cell.params.direction == Some(direction) && (cell.ops > 0 || is_written(cell))
            };
            after[1..].iter().filter(is_good).count()
        };
        Some(Seen {
            failed: failed.iter().map(|at| &record.cells[*at]).collect(),
            good_reads: good(Direction::Read),
            good_writes: good(Direction::Write),
        })
    }

    fn failed(&self, wanted: Direction) -> usize {
        self.failed.iter().filter(|cell| direction(cell) == Some(wanted)).count()
    }

    /// True if reads went through before the first error.
    fn has_read_before(record: &Record) -> bool {
        let marks_read = |cell: &Cell| number(cell, "marks_good").is_some_and(|marks| marks > 0.0);
        let is_read = |cell: &Cell| cell.params.direction == Some(Direction::Read) && cell.ops > 0;
        let first = failed_by_medium(record).first().copied().unwrap_or(record.cells.len());
        record.cells[..first].iter().any(|cell| is_read(cell) || marks_read(cell))
    }
}

/// True if the medium itself reported errors that ended tests.
pub(crate) fn is_reported(record: &Record) -> bool {
    !failed_by_medium(record).is_empty()
}

/// A device that went away under the run. Neither a bad medium nor a good one is told by that.
fn went_away(record: &Record) -> Option<FindingBuilder> {
    let cell = record.cells.iter().find(|cell| is_gone(cell))?;
    let test = &cell.test;
    let at = place(cell).map(|byte| format!(" at {}", Bytes(byte))).unwrap_or_default();
    let said = format!("The device went away during {test}{at}: {WENT_AWAY}");
    Some(FindingBuilder::warning("io-error", said).outcome(Outcome::DeviceGone))
}

/// True if the medium fails, so that whoever has data on it copies that before anything else is
/// done to it: it reported errors, or hangs.
pub fn is_failing(record: &Record) -> bool {
    is_reported(record)
        || hanging(record).is_some_and(|found| found.done().severity == Severity::Failure)
}

/// A medium that reports errors: read-only, all writes fail, or where it fails.
fn failure(record: &Record) -> Option<FindingBuilder> {
    let seen = Seen::of(record)?;
    let how = way(record, &seen);
    Some(FindingBuilder::failure("io-error", format!("{how} {COPY_NOW}")).note(format!(
        "from the first error on: {} cells failed, {} cells of reads and {} of writes succeeded",
        seen.failed.len(),
        seen.good_reads,
        seen.good_writes
    )))
}

/// The way it fails.
fn way(record: &Record, seen: &Seen<'_>) -> String {
    let places = seen.failed.iter().filter_map(|cell| place(cell));
    let extent = DamagedPlaces::of(record, places).extent();
    let is_fake = genuineness::is_fake(record);
    if let (DamageExtent::Beyond(at), false) = (&extent, is_fake) {
        return fails_beyond(at);
    }
    let (writes, reads) = (seen.failed(Direction::Write), seen.failed(Direction::Read));
    let only_writes = writes > 0 && seen.good_writes == 0 && reads == 0;
    let reads_work = seen.good_reads > 0
        || seen.failed.iter().any(|cell| cell.error.is_some_and(|error| error.reads_work));
    let is_only_one = seen.good_reads + seen.good_writes == 0
        && matches!(seen.failed.as_slice(), [one] if kind(one) != Some(IoErrorKind::ReadOnly));
    match extent {
        _ if only_writes && reads_work => {
            "It has gone read-only: writes fail, and reads still work.".to_owned()
        }
        _ if is_only_one => one_error(seen.failed[0]),
        _ if only_writes && Seen::has_read_before(record) => {
            "All writes fail. Reads worked before that; whether they still do was not tested."
                .to_owned()
        }
        _ if only_writes => "All writes fail. Not tested: whether it can still be read.".to_owned(),
        _ if seen.good_reads + seen.good_writes > 0 => of_extent(extent, is_fake),
        _ => "Every read and write fails.".to_owned(),
    }
}

/// One error that ended the run: nothing was tried after it.
fn one_error(cell: &Cell) -> String {
    let at = place(cell).map(|byte| format!(" at {}", Bytes(byte))).unwrap_or_default();
    let what = match direction(cell) {
        Some(Direction::Read) => "A read",
        Some(Direction::Write) => "A write",
        None => "An I/O",
    };
    format!("{what} failed{at}. What else fails was not tested.")
}

/// Where I/Os fail, and others work.
fn of_extent(extent: DamageExtent, is_fake: bool) -> String {
    match extent {
        DamageExtent::Area(at) if !is_fake => {
            format!("{ONE_AREA} I/Os fail {at} and work elsewhere.")
        }
        DamageExtent::Area(at) => format!("It fails {at}."),
        DamageExtent::Range(at) => format!("It fails in places {at}."),
        DamageExtent::Beyond(at) => format!("It fails beyond {at}."),
        DamageExtent::AllOver => MANY_PLACES.to_owned(),
        DamageExtent::Unknown => "It fails in some places.".to_owned(),
    }
}

/// A part up to the end that fails as a whole.
pub(crate) fn fails_beyond(at: &str) -> String {
    format!("Beyond {at}, every read or write fails with an error. {DAMAGED_OR_FAKE}")
}

/// A test that ended by an error that is not the medium's own word.
fn other_error(record: &Record) -> Option<FindingBuilder> {
    let first = record.cells.iter().find(|cell| cell.stop == Stop::Error)?;
    let reason = reason(first);
    Some(if record.run.ended == Ended::Error {
        FindingBuilder::failure(
            "io-error",
            format!("It failed during {}: {reason}. Do not store data on it.", first.test),
        )
    } else {
        FindingBuilder::warning(
            "io-error",
            format!("{} ended with an error: {reason}.", first.test),
        )
    })
}

/// So many I/Os that hang are no accident of the host or the link.
const MANY_HANGING: u64 = 3;

/// A medium that answers after [`HANGS_NS`] or more.
fn hanging(record: &Record) -> Option<FindingBuilder> {
    let longest_ns = |cell: &Cell| {
        let stalled = cell.flags.iter().find_map(|flag| match flag {
            Flag::Stalled { longest_ns } => Some(*longest_ns),
            _ => None,
        });
        stalled.filter(|longest_ns| *longest_ns >= HANGS_NS)
    };
    let hung: Vec<(&Cell, u64)> =
        usability::of_a_medium(record).filter_map(|cell| Some((cell, longest_ns(cell)?))).collect();
    let slowest = hung.iter().map(|(_, longest_ns)| *longest_ns).max()?;
    let count = |(cell, _): &(&Cell, u64)| match (&cell.histogram, number(cell, HANGING_IOS)) {
        (_, Some(counted)) => counted as u64,
        (Some(histogram), None) => histogram.count_above(HANGS_NS - 1).max(1),
        (None, None) => 1,
    };
    let many = saturating_sum(hung.iter().map(count));
    let n = saturating_sum(hung.iter().map(|(cell, _)| cell.ops)).max(many);
    let (limit, slowest) = (Nanos(HANGS_NS), Nanos(slowest));
    let draft = if many >= MANY_HANGING {
        let said = format!(
            "It hangs: {many} of {n} I/Os took {limit} or more, the slowest {slowest}. {COPY_NOW}"
        );
        FindingBuilder::failure("io-error", said)
    } else {
        let said = format!(
            "It may hang: {many} of {n} I/Os took {limit} or more, the slowest {slowest}; the host or \
             the reader can cause so few. Copy what is on it first, then measure again elsewhere."
        );
        FindingBuilder::warning("io-error", said)
    };
    let note = |(cell, longest_ns): &(&Cell, u64)| {
        format!("{}: slowest answer {}", figure::named(cell), Nanos(*longest_ns))
    };
    Some(draft.notes(hung.iter().map(note)))
}

/// A read that takes this long while most take a twentieth of it was tried again and again; our
/// choice.
const RETRIED_NS: u64 = 500_000_000;
const USUAL: u64 = 20;

/// Reads that come only after many tries: three at least, and not of a host that stood still.
fn retries(record: &Record) -> Option<FindingBuilder> {
    let is_read = |cell: &&Cell| cell.params.direction == Some(Direction::Read);
    let long = usability::adverse_cells(record).filter(is_read).filter_map(|cell| {
        let median_ns = cell.metrics.latency_ns.as_ref()?.p50?;
        let histogram = cell.histogram.as_ref()?;
        let depth = cell.params.in_flight();
        let limit_ns = RETRIED_NS.saturating_mul(depth);
        let many = histogram.count_above(limit_ns);
        (many >= 3 && median_ns.saturating_mul(USUAL) < limit_ns).then_some((
            many,
            histogram.len(),
            limit_ns,
            cell,
        ))
    });
    let (many, n, limit_ns, cell) = long.max_by_key(|(many, ..)| *many)?;
    let statement = format!(
        "Reads need retries: {many} of {n} took longer than {}. Copy what is on it first: an area that needs retries is near its end.",
        Nanos(limit_ns)
    );
    Some(FindingBuilder::warning("io-error", statement).note(format!(
        "{}: {many} of {n} reads longer than {}",
        figure::named(cell),
        Nanos(limit_ns)
    )))
}
