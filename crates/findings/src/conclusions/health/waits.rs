//! Long waits of a run: which of them are hangs, and what errors behind a silence mean.

use record::units::{Bytes, Nanos, saturating_sum};
use record::{
    Asked, Cell, Direction, Evidence, Flag, HANGS_NS, IoErrorKind, Record, SilentError, Wait,
};

use crate::conclusions::speed::flush::Flush;
use crate::figures::genuineness;

/// Time without I/O, in nanoseconds, after which a disk may have stopped turning, so that the next
/// answer includes its start; our choice.
const SLEEPS_NS: u64 = 10_000_000_000;
/// A hang is longer than this multiple of the p99 of I/Os of its kind and size; our choice.
const TIMES_P99: u64 = 20;

/// The waits of a run, in the order of time.
pub(crate) fn of(record: &Record) -> impl Iterator<Item = &Wait> {
    record.flags.iter().filter_map(|flag| match flag {
        Flag::Waited(wait) => Some(wait),
        _ => None,
    })
}

/// The longest of them, in nanoseconds.
pub(crate) fn longest_ns(record: &Record) -> Option<u64> {
    of(record).map(|wait| wait.silent_ns).max()
}

/// "; slowest wait 25.0 s", if there was a long one.
pub(crate) fn slowest(record: &Record) -> String {
    longest_ns(record).map(|ns| format!("; slowest wait {}", Nanos(ns))).unwrap_or_default()
}

/// The cell in whose turn a wait was.
fn cell<'a>(record: &'a Record, wait: &Wait) -> Option<&'a Cell> {
    let id = wait.turn.split(' ').next().unwrap_or_default();
    record.cells.iter().find(|cell| cell.id == id)
}

/// True for a wait that no work of the medium, no sleep of it and no stall of the host explains.
fn is_hang(record: &Record, wait: &Wait) -> bool {
    let is_excused = matches!(wait.asked, Asked::Look | Asked::Flush)
        || wait.idle_ns >= SLEEPS_NS
        || wait.error.is_some();
    let usual_ns = usual_ns(record, wait);
    !is_excused
        && wait.own_ns() >= HANGS_NS.max(emptying_ns(record))
        && usual_ns.is_none_or(|ns| wait.own_ns() > ns.saturating_mul(TIMES_P99))
}

/// Longest time for which a volatile cache kept other I/Os waiting, in nanoseconds: that of a flush;
/// without end where a flush does not wait for it.
fn emptying_ns(record: &Record) -> u64 {
    let flushes = of(record).filter(|wait| wait.asked == Asked::Flush);
    match Flush::of(record) {
        Flush::Lies(..) => u64::MAX,
        _ => flushes.map(|wait| wait.silent_ns).max().unwrap_or(0),
    }
}

/// The largest p99 of cells with I/Os of this kind and size, in nanoseconds.
fn usual_ns(record: &Record, wait: &Wait) -> Option<u64> {
    let direction = match wait.asked {
        Asked::Read => Direction::Read,
        _ => Direction::Write,
    };
    let is_alike = |cell: &&Cell| {
        cell.params.direction == Some(direction) && cell.params.block_bytes == wait.block_bytes
    };
    let alike = record.cells.iter().filter(is_alike);
    alike.filter_map(|cell| cell.metrics.latency_ns.as_ref()?.p99).max()
}

/// A number of I/Os that hung, with the longest.
pub(crate) struct Hangs {
    pub many: u64,
    /// I/Os of the cells in which they did.
    pub of_ios: u64,
    pub longest_ns: u64,
    pub notes: Vec<Evidence>,
}

/// The hangs of a run, if there are any.
pub(crate) fn hangs(record: &Record) -> Option<Hangs> {
    let hung: Vec<&Wait> = of(record).filter(|wait| is_hang(record, wait)).collect();
    let longest_ns = hung.iter().map(|wait| wait.silent_ns).max()?;
    let mut cells: Vec<&Cell> = hung.iter().filter_map(|wait| cell(record, wait)).collect();
    cells.sort_by_key(|cell| &cell.id);
    cells.dedup_by_key(|cell| &cell.id);
    let many = hung.len() as u64;
    let of_ios = saturating_sum(cells.iter().map(|cell| cell.ops)).max(many);
    let notes = hung.iter().map(|wait| wait.to_string().into()).collect();
    Some(Hangs { many, of_ios, longest_ns, notes })
}

/// The waits that ended with an error, but for those of a cell that ended because its device went
/// away.
fn with_error(record: &Record) -> impl Iterator<Item = &Wait> {
    let is_gone = |error: record::CellError| error.kind == IoErrorKind::Gone;
    let is_of_going =
        move |wait: &Wait| cell(record, wait).and_then(|cell| cell.error).is_some_and(is_gone);
    let is_known = |error: SilentError| error != SilentError::Gone;
    of(record).filter(move |wait| wait.error.is_some_and(is_known) && !is_of_going(wait))
}

/// What the run did when its device was found to be gone.
pub(crate) fn gone_in(record: &Record) -> Option<&str> {
    let gone = of(record).find(|wait| wait.error == Some(SilentError::Gone))?;
    Some(&gone.turn)
}

/// True if a place failed again when it was read once more.
pub(crate) fn has_bad_place(record: &Record) -> bool {
    with_error(record).any(|wait| wait.error == Some(SilentError::BadPlace))
}

/// True if an error behind a silence was of no fixed place: of the card, or of what carries it.
pub(crate) fn is_of_no_place(record: &Record) -> bool {
    with_error(record).any(|wait| wait.error == Some(SilentError::NoFixedPlace))
}

/// Errors behind a silence, if all errors of the run are such; and a sentence on their place.
pub(crate) fn timed_out(
    record: &Record,
    failed_at: impl Iterator<Item = Option<u64>>,
) -> Option<(String, Vec<String>)> {
    let errors: Vec<&Wait> = with_error(record).collect();
    let longest_ns = errors.iter().map(|wait| wait.silent_ns).max()?;
    let is_silent = |at: Option<u64>| errors.iter().any(|wait| wait.offset_bytes == at);
    let many = errors.len() as u64;
    if genuineness::failed_places(record) > many || !failed_at.into_iter().all(is_silent) {
        return None;
    }
    let all = saturating_sum(record.cells.iter().map(|cell| cell.ops)).saturating_add(many);
    let bad = errors.iter().find(|wait| wait.error == Some(SilentError::BadPlace));
    let place = match bad.and_then(|wait| wait.offset_bytes) {
        _ if is_of_no_place(record) => {
            "at no fixed place: card, reader, cable or power.".to_owned()
        }
        Some(at) => format!("and again when read once more: bad place at {}.", Bytes(at)),
        None => "which was not tried again.".to_owned(),
    };
    let silence = Nanos(longest_ns);
    let text =
        format!("It times out: {many} of {all} I/Os failed after {silence} of silence, {place}");
    Some((text, errors.iter().map(|wait| wait.to_string()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const S: u64 = 1_000_000_000;

    fn wait(asked: Asked, silent_s: u64) -> Wait {
        Wait {
            turn: "random-write/1 round 2".into(),
            asked,
            offset_bytes: Some(1 << 20),
            block_bytes: Some(4096),
            silent_ns: silent_s * S,
            idle_ns: 0,
            host_stall_ns: 0,
            error: None,
        }
    }

    /// A run of quick writes of 4 KiB, and these waits.
    fn run(waits: impl IntoIterator<Item = Wait>) -> Record {
        let mut record = testing::empty();
        record.cells = vec![testing::iops("random-write", 1, 4096, 50.0, S / 10)];
        record.flags = waits.into_iter().map(Flag::Waited).collect();
        record
    }

    #[test]
    fn a_hang_is_long_for_its_kind_and_neither_a_flush_nor_a_start_nor_the_hosts() {
        let hangs = |wait: Wait| hangs(&run([wait])).map(|hangs| hangs.longest_ns / S);
        assert_eq!(hangs(wait(Asked::Write, 12)), Some(12));
        assert_eq!(hangs(wait(Asked::Write, 9)), None);
        assert_eq!(hangs(wait(Asked::DropCaches, 25)), Some(25));
        for asked in [Asked::Flush, Asked::Look] {
            assert_eq!(hangs(wait(asked, 60)), None, "{asked:?}");
        }
        let behind =
            |flush_s| super::hangs(&run([wait(Asked::Flush, flush_s), wait(Asked::Read, 12)]));
        assert!(behind(13).is_none() && behind(11).is_some(), "a cache empties");
        assert_eq!(hangs(Wait { idle_ns: 10 * S, ..wait(Asked::Read, 12) }), None, "a disk starts");
        assert_eq!(hangs(Wait { host_stall_ns: 3 * S, ..wait(Asked::Write, 12) }), None);
        let mut slow = run([wait(Asked::Write, 19)]);
        let latency = slow.cells[0].metrics.latency_ns.as_mut().unwrap();
        latency.p99 = Some(S);
        assert!(super::hangs(&slow).is_none(), "that is how it writes");
        assert_eq!(slowest(&slow), "; slowest wait 19.0 s");
        slow.cells[0].params.block_bytes = Some(512);
        assert!(super::hangs(&slow).is_some(), "I/Os of another size");
    }

    #[test]
    fn an_error_behind_a_silence_is_of_a_place_or_of_none() {
        let failed = |how| Wait { error: Some(how), ..wait(Asked::Write, 10) };
        let text = |waits: Vec<Wait>, at: u64| {
            timed_out(&run(waits), [Some(at)].into_iter()).map(|(text, _)| text)
        };
        let said =
            text(vec![failed(SilentError::BadPlace), failed(SilentError::NoFixedPlace)], 1 << 20);
        let said = said.unwrap();
        assert!(said.starts_with("It times out: 2 of "), "{said}");
        assert!(
            said.ends_with(
                "failed after 10.0 s of silence, at no fixed place: card, reader, cable or power."
            ),
            "{said}"
        );
        let said = text(vec![failed(SilentError::BadPlace)], 1 << 20).unwrap();
        assert!(said.ends_with("bad place at 1 MiB."), "{said}");
        assert_eq!(text(vec![failed(SilentError::BadPlace)], 0), None, "another one came at once");
    }
}
