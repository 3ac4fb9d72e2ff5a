//! Failures of a medium: their kind, as far as the errors tell, and the first thing to do.

use record::units::{Bytes, Nanos, saturating_sum};
use record::{
    Cell, Direction, Ended, Evidence, Finding, Flag, HANGS_NS, IoErrorKind, Outcome, Record,
    Severity, Stop, test,
};

use crate::conclusions::health::damaged_places::{DamageExtent, DamagedPlaces};
use crate::conclusions::health::waits::{self, Hangs};
use crate::figures::sectors::number;
use crate::figures::{genuineness, usability};
use crate::finding_builder::FindingBuilder;
use crate::phrases::{COPY_NOW, DAMAGED_OR_FAKE};

/// `io-error`: the kind of failure, or a test that ended with an error.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let draft = timed_out(record)
        .or_else(|| failure(record))
        .or_else(|| went_away(record))
        .or_else(|| hanging(record))
        .or_else(|| other_error(record))
        .or_else(|| retries(record))?;
    let failed = record.cells.iter().filter(|cell| cell.stop == Stop::Error);
    Some(draft.notes(failed.map(|cell| Evidence::on(cell, reason(cell)))).done())
}

fn reason(cell: &Cell) -> &str {
    cell.reason.as_deref().unwrap_or("no reason was recorded")
}

/// Kind of the error that ended a cell.
fn kind(cell: &Cell) -> Option<IoErrorKind> {
    Some(cell.error?.kind).filter(|_| cell.stop == Stop::Error)
}

/// True if the medium itself ended a cell: not a removed device, and not a full file system.
fn is_by_medium(cell: &Cell) -> bool {
    matches!(kind(cell), Some(IoErrorKind::Medium | IoErrorKind::ReadOnly))
}

/// True if a cell ended because its device was removed.
fn is_gone(cell: &Cell) -> bool {
    kind(cell) == Some(IoErrorKind::Gone)
}

/// True if any I/O of a cell succeeded.
fn has_worked(cell: &Cell) -> bool {
    cell.ops > 0 || cell.written_bytes > 0
}

/// Indices of the cells that the medium itself ended. A device that is removed may end I/Os in
/// flight with a medium error: an error directly before the removal, without a success in between,
/// is part of the removal.
fn failed_by_medium(record: &Record) -> Vec<usize> {
    let is_of_going = |at: usize| {
        let next =
            record.cells[at + 1..].iter().find(|next| !is_by_medium(next) || has_worked(next));
        next.is_some_and(|next| is_gone(next) && !has_worked(next))
    };
    let all = 0..record.cells.len();
    all.filter(|at| is_by_medium(&record.cells[*at]) && !is_of_going(*at)).collect()
}

/// Direction of the failed I/O, else that of the cell.
fn direction(cell: &Cell) -> Option<Direction> {
    let error = cell.error?;
    match error.kind {
        IoErrorKind::ReadOnly => Some(Direction::Write),
        _ => error.direction.or(cell.params.direction),
    }
}

/// Byte offset of the failed I/O.
fn place(cell: &Cell) -> Option<u64> {
    cell.error?.offset_bytes
}

/// Reads and writes from the first error of the medium on.
struct IoSinceError<'a> {
    failed: Vec<&'a Cell>,
    good_reads: usize,
    good_writes: usize,
}

impl<'a> IoSinceError<'a> {
    fn of(record: &'a Record) -> Option<IoSinceError<'a>> {
        let failed = failed_by_medium(record);
        let first = *failed.first()?;
        let after = &record.cells[first..];
        // Successes in the cell of the first error came before it; those in a later cell came after
        // it.
        let good = |direction| {
            let is_written = |cell: &Cell| direction == Direction::Write && cell.written_bytes > 0;
            let is_good = |cell: &&Cell| {
                cell.params.direction == Some(direction) && (cell.ops > 0 || is_written(cell))
            };
            after[1..].iter().filter(is_good).count()
        };
        Some(IoSinceError {
            failed: failed.iter().map(|at| &record.cells[*at]).collect(),
            good_reads: good(Direction::Read),
            good_writes: good(Direction::Write),
        })
    }

    fn failed(&self, wanted: Direction) -> usize {
        self.failed.iter().filter(|cell| direction(cell) == Some(wanted)).count()
    }

    /// True if reads succeeded before the first error.
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

/// True if errors of the medium are a finding of their own.
pub(crate) fn has_errors(record: &Record) -> bool {
    is_reported(record) || timed_out(record).is_some()
}

/// Finding on errors each of which came after a long silence.
fn timed_out(record: &Record) -> Option<FindingBuilder> {
    let failed = failed_by_medium(record).into_iter();
    let (text, waits) = waits::timed_out(record, failed.map(|at| place(&record.cells[at])))?;
    // A loose contact makes such errors, and not at one place again: nothing tells it from the medium.
    let is_many = waits.len() as u64 >= MANY_HANGING && !waits::is_of_no_place(record);
    let draft = if is_many || waits::has_bad_place(record) {
        FindingBuilder::failure("io-error", format!("{text} {COPY_NOW}"))
    } else {
        let then = "Copy what is on it first, then measure again elsewhere.";
        FindingBuilder::warning("io-error", format!("{text} {then}"))
    };
    Some(draft.notes(waits))
}

/// Finding on a device that was removed during the run. It says nothing about the medium.
fn went_away(record: &Record) -> Option<FindingBuilder> {
    let in_cell = || {
        let cell = record.cells.iter().find(|cell| is_gone(cell))?;
        let at = place(cell).map(|byte| format!(" at {}", Bytes(byte))).unwrap_or_default();
        Some(format!("{}{at}", cell.test))
    };
    let between = || waits::gone_in(record).map(str::to_owned);
    let turn = in_cell().or_else(between)?;
    let statement = format!(
        "The device went away during {turn}: it was unplugged, or its reader or its port reset it. Nothing is known of the medium itself by that. Try another reader, port or cable, and run it again."
    );
    Some(FindingBuilder::warning("io-error", statement).outcome(Outcome::DeviceGone))
}

/// True if the medium reported errors or hangs, so that its data should be copied before anything
/// else.
pub fn is_failing(record: &Record) -> bool {
    has_errors(record)
        || hanging(record).is_some_and(|found| found.done().severity == Severity::Failure)
}

/// Finding on a medium that reports errors: read-only, all writes fail, or only some places fail.
fn failure(record: &Record) -> Option<FindingBuilder> {
    let seen = IoSinceError::of(record)?;
    let how = way(record, &seen);
    Some(FindingBuilder::failure("io-error", format!("{how} {COPY_NOW}")).note(format!(
        "from the first error on: {} cells failed, {} cells of reads and {} of writes succeeded",
        seen.failed.len(),
        seen.good_reads,
        seen.good_writes
    )))
}

/// Description of the failure.
fn way(record: &Record, seen: &IoSinceError<'_>) -> String {
    let places = seen.failed.iter().filter_map(|cell| place(cell));
    let extent = DamagedPlaces::of(record, places).extent();
    let is_fake = genuineness::is_fake(record);
    if let (DamageExtent::Beyond(at), false) = (&extent, is_fake) {
        return fails_beyond(record, at);
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
        _ if only_writes && IoSinceError::has_read_before(record) => {
            "All writes fail. Reads worked before that; whether they still do was not tested."
                .to_owned()
        }
        _ if only_writes => "All writes fail. Not tested: whether it can still be read.".to_owned(),
        _ if seen.good_reads + seen.good_writes > 0 => of_extent(extent, is_fake),
        _ => "Every read and write fails.".to_owned(),
    }
}

/// Statement on a single error that ended the run: nothing was tried after it.
fn one_error(cell: &Cell) -> String {
    let at = place(cell).map(|byte| format!(" at {}", Bytes(byte))).unwrap_or_default();
    let what = match direction(cell) {
        Some(Direction::Read) => "A read",
        Some(Direction::Write) => "A write",
        None => "An I/O",
    };
    format!("{what} failed{at}. What else fails was not tested.")
}

/// Statement on the failing places, and on working ones.
fn of_extent(extent: DamageExtent, is_fake: bool) -> String {
    match extent {
        DamageExtent::Area(at) if !is_fake => {
            format!("One area fails: I/Os fail {at} and work elsewhere.")
        }
        DamageExtent::Area(at) => format!("It fails {at}."),
        DamageExtent::Range(at) => format!("It fails in places {at}."),
        DamageExtent::Beyond(at) => format!("It fails beyond {at}."),
        DamageExtent::AllOver => "It fails in places all over it.".to_owned(),
        DamageExtent::Unknown => "It fails in some places.".to_owned(),
    }
}

/// Statement on a part up to the end that fails as a whole.
pub(crate) fn fails_beyond(record: &Record, at: &str) -> String {
    let is_silent = |cell: &Cell| genuineness::Marks::of(cell).lost > 0;
    let how = match record.cells_of(test::CAPACITY).any(is_silent) {
        true => "reads and writes fail with an error, and some lose data without one",
        false => "every read or write fails with an error",
    };
    format!("Beyond {at}, {how}. {DAMAGED_OR_FAKE}")
}

/// Finding on a test that ended with an error of something other than the medium.
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

/// Fewest hanging I/Os that are not an accident of the host or the link.
const MANY_HANGING: u64 = 3;

/// Finding on a medium that hangs.
fn hanging(record: &Record) -> Option<FindingBuilder> {
    let Hangs { many, of_ios, longest_ns, notes } = match waits::of(record).next() {
        Some(_) => waits::hangs(record)?,
        None => long_ios(record)?,
    };
    let (limit, slowest) = (Nanos(HANGS_NS), Nanos(longest_ns));
    let draft = if many >= MANY_HANGING {
        let statement = format!(
            "It hangs: {many} of {of_ios} I/Os took {limit} or more, the slowest {slowest}. {COPY_NOW}"
        );
        FindingBuilder::failure("io-error", statement)
    } else {
        let statement = format!(
            "It may hang: {many} of {of_ios} I/Os took {limit} or more, the slowest {slowest}; the host or \
             the reader can cause so few. Copy what is on it first, then measure again elsewhere."
        );
        FindingBuilder::warning("io-error", statement)
    };
    Some(draft.notes(notes))
}

/// Latencies of [`HANGS_NS`] or more for each I/O in flight, in a record without waits (a replay, or
/// a run of an older version).
fn long_ios(record: &Record) -> Option<Hangs> {
    let limit_ns = |cell: &Cell| HANGS_NS.saturating_mul(cell.params.in_flight());
    let longest_ns = |cell: &Cell| {
        let stalled = cell.flags.iter().find_map(|flag| match flag {
            Flag::Stalled { longest_ns } => Some(*longest_ns),
            _ => None,
        });
        stalled.filter(|longest_ns| *longest_ns >= limit_ns(cell))
    };
    let hung: Vec<(&Cell, u64)> =
        usability::of_a_medium(record).filter_map(|cell| Some((cell, longest_ns(cell)?))).collect();
    let slowest_ns = hung.iter().map(|(_, longest_ns)| *longest_ns).max()?;
    let count = |(cell, _): &(&Cell, u64)| {
        let histogram = cell.histogram.as_ref();
        histogram.map_or(1, |histogram| histogram.count_above(limit_ns(cell) - 1).max(1))
    };
    let many = saturating_sum(hung.iter().map(count));
    let note = |(cell, longest_ns): &(&Cell, u64)| {
        Evidence::on(cell, format!("slowest answer {}", Nanos(*longest_ns)))
    };
    Some(Hangs {
        many,
        of_ios: saturating_sum(hung.iter().map(|(cell, _)| cell.ops)).max(many),
        longest_ns: slowest_ns,
        notes: hung.iter().map(note).collect(),
    })
}

/// Latency of a read that must have been retried, if most reads take at most a twentieth of it; our
/// choice.
const RETRIED_NS: u64 = 500_000_000;
const USUAL: u64 = 20;

/// The cell with the most I/Os in this direction that must have been retried, at least three, and
/// not because of host stalls: their number, that of all, the limit in ns.
fn retried(record: &Record, direction: Direction) -> Option<(u64, u64, u64, &Cell)> {
    let is_alike = |cell: &&Cell| cell.params.direction == Some(direction);
    let long = usability::adverse_cells(record).filter(is_alike).filter_map(|cell| {
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
    long.max_by_key(|(many, ..)| *many)
}

/// Finding on reads that need many retries.
fn retries(record: &Record) -> Option<FindingBuilder> {
    let (many, n, limit_ns, cell) = retried(record, Direction::Read)?;
    let took = format!("{many} of {n} took longer than {}", Nanos(limit_ns));
    let statement = if retried(record, Direction::Write).is_some() {
        format!(
            "Reads may need retries: {took}, but some writes did, too. Copy what is on it first, then measure again elsewhere."
        )
    } else {
        format!(
            "Reads need retries: {took}. Copy what is on it first: an area that needs retries is near its end."
        )
    };
    let text = format!("{many} of {n} reads longer than {}", Nanos(limit_ns));
    Some(FindingBuilder::warning("io-error", statement).note(Evidence::on(cell, text)))
}
