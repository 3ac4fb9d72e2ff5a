//! The part of a medium to which the writes went that decide on a use.

use record::{Cell, Record, Use, test};

use crate::figures::figure;

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

/// Tests of the writes that decide on a use.
fn deciding(wanted: Use) -> &'static [&'static str] {
    match wanted {
        Use::Camera | Use::Video { .. } => {
            &[test::SEQUENTIAL_WRITE, test::SUSTAINED, test::RANDOM_FILL, test::PRIME]
        }
        // What is written at random was filled before.
        Use::RootDisk => &[test::RANDOM_WRITE, test::PRIME],
        Use::Logger => &[test::LOG_APPEND, "logger"],
        Use::Database => &[test::COMMIT, test::RECORD_OPS],
    }
}

/// Share of the medium that counts as all: suites leave out the rest at the end.
const ALL: f64 = 0.99;

/// Distinct places of these writes: the same 512 MiB written thirty times are 512 MiB.
pub(crate) fn of(record: &Record, wanted: Use) -> Share {
    let written = |cell: &Cell| {
        let span_bytes = cell.params.span_bytes?.min(cell.bytes.max(cell.written_bytes));
        let from = cell.params.span_offset_bytes?;
        Some((from, from.saturating_add(span_bytes)))
    };
    let cells = deciding(wanted).iter().flat_map(|test| figure::cells(record, test));
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
