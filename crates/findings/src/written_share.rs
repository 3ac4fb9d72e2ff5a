//! The part of a medium to which large writes went whose rates decide on recordings.

use record::{Cell, Record, test};

use crate::figure;

/// Share of a medium that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of it.
    All,
    /// This many bytes.
    Part(u64),
    /// The record does not say where it was written.
    Unknown,
}

/// Tests of large writes one after the other.
const LARGE: [&str; 4] = [test::SEQUENTIAL_WRITE, test::SUSTAINED, test::RANDOM_FILL, test::PRIME];
/// Share of the medium that counts as all: suites leave out the rest at the end.
const ALL: f64 = 0.99;

/// Distinct places of large writes: the same 512 MiB written thirty times are 512 MiB.
pub(crate) fn of(record: &Record) -> Share {
    let written = |cell: &Cell| {
        let span_bytes = cell.params.span_bytes?.min(cell.bytes.max(cell.written_bytes));
        let from = cell.params.span_offset_bytes?;
        Some((from, from.saturating_add(span_bytes)))
    };
    let cells = LARGE.iter().flat_map(|test| figure::cells(record, test));
    let mut places: Vec<(u64, u64)> = cells.filter_map(written).collect();
    places.sort_unstable();
    let (mut bytes, mut reached) = (0, 0);
    for (from, to) in places {
        bytes += to.saturating_sub(from.max(reached));
        reached = reached.max(to);
    }
    match record.medium.capacity_bytes {
        _ if bytes == 0 => Share::Unknown,
        Some(capacity) if bytes as f64 >= ALL * capacity as f64 => Share::All,
        _ => Share::Part(bytes),
    }
}
