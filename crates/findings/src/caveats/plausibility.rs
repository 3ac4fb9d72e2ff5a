//! Numbers that cannot be the medium's (docs/field/statistics.md#statistics;
//! docs/field/peers.md#impossible-numbers).

use record::units::KIB;
use record::{Cell, Direction, Flag, IoLimitKind, Path, Record, TargetKind, test};

/// A rate may exceed what is known of the link by this factor, for what is known is rounded.
pub const LINK_SLACK: f64 = 1.02;
/// A cell that reaches this share of a limit is held by it: the kernel lets I/O through in bursts.
const LIMIT_REACHED: f64 = 0.9;

/// Caveats of a figure against the way to the medium.
pub(super) fn caveats(cell: &Cell, record: &Record) -> Vec<Flag> {
    let Some(bps) = cell.metrics.bps.map(|bps| bps.value) else { return Vec::new() };
    let too_fast = [faster_than_link(bps, record), faster_than_memory(bps, record)];
    let too_fast = too_fast.into_iter().flatten();
    let of_path: Vec<Flag> = match cell.params.path {
        Path::Direct => too_fast.chain(split_command(cell, record)).collect(),
        // What was to come from the medium came from a cache.
        Path::Buffered if cell.test == test::BUFFERED_READ => {
            too_fast.map(|_| Flag::Cached).collect()
        }
        Path::Buffered => Vec::new(),
    };
    of_path.into_iter().chain(limited(cell, bps, record)).collect()
}

/// The limit of a control group that a cell reached.
fn limited(cell: &Cell, bps: f64, record: &Record) -> Option<Flag> {
    let reached = |flag: &&Flag| {
        let Flag::IoLimit { limit, per_second } = flag else { return false };
        let (direction, rate) = match limit {
            IoLimitKind::ReadBps => (Direction::Read, bps),
            IoLimitKind::WriteBps => (Direction::Write, bps),
            IoLimitKind::ReadIops => (Direction::Read, requests_per_second(cell, bps, record)),
            IoLimitKind::WriteIops => (Direction::Write, requests_per_second(cell, bps, record)),
        };
        cell.params.direction == Some(direction) && rate >= *per_second as f64 * LIMIT_REACHED
    };
    record.flags.iter().find(reached).cloned()
}

/// Requests that the kernel makes of the I/Os of a cell, a second: large ones are split.
fn requests_per_second(cell: &Cell, bps: f64, record: &Record) -> f64 {
    let largest_bytes = largest_command_bytes(record).unwrap_or(u64::MAX);
    let block_bytes = cell.params.block_bytes.unwrap_or(largest_bytes).max(1);
    bps / block_bytes.min(largest_bytes) as f64
}

fn faster_than_link(bps: f64, record: &Record) -> Option<Flag> {
    let link_bps = record.target.link.as_ref()?.max_bps?;
    (bps > link_bps * LINK_SLACK).then_some(Flag::FasterThanLink { bps, link_bps })
}

fn faster_than_memory(bps: f64, record: &Record) -> Option<Flag> {
    let memory_bps = record.host.as_ref()?.memory_bps?;
    (bps > memory_bps).then_some(Flag::FasterThanMemory { bps, memory_bps })
}

/// Bytes of the largest command that the kernel sends to the medium.
fn largest_command_bytes(record: &Record) -> Option<u64> {
    record.target.queue.as_ref()?.max_sectors_kb?.checked_mul(KIB)
}

/// A file is written by its file system, in commands of its own.
fn split_command(cell: &Cell, record: &Record) -> Option<Flag> {
    let is_whole = matches!(record.target.kind, TargetKind::Block | TargetKind::Simulated);
    let max_transfer_bytes = largest_command_bytes(record).filter(|_| is_whole)?;
    let block_bytes = cell.params.block_bytes?;
    let splits =
        block_bytes > max_transfer_bytes && !block_bytes.is_multiple_of(max_transfer_bytes);
    splits.then_some(Flag::SplitCommand { block_bytes, max_transfer_bytes })
}

#[cfg(test)]
mod tests {
    use record::units::MIB;
    use record::{Host, Link, Queue, Target};

    use super::super::add_caveats;
    use super::*;
    use crate::testing::{cell, empty};

    const LINK_BPS: f64 = 60e6;
    const MEMORY_BPS: f64 = 2e9;

    /// The caveats of one cell with this rate, behind USB 2.
    fn flags_on(kind: TargetKind, test: &str, path: Path, block_bytes: u64, bps: f64) -> Vec<Flag> {
        let mut cell = cell(test, 1, block_bytes);
        cell.params.path = path;
        cell.metrics.bps = Some(crate::testing::known(bps, 0.01, 400));
        let link = Some(Link { max_bps: Some(LINK_BPS), ..Link::default() });
        let queue = Some(Queue { max_sectors_kb: Some(120), ..Queue::default() });
        let mut record = Record {
            cells: vec![cell],
            target: Target { kind, link, queue, ..Target::default() },
            host: Some(Host { memory_bps: Some(MEMORY_BPS), ..Host::default() }),
            ..empty()
        };
        add_caveats(&mut record);
        let once = record.clone();
        add_caveats(&mut record);
        assert_eq!(record, once);
        record.cells.remove(0).flags
    }

    fn flags(test: &str, path: Path, block_bytes: u64, bps: f64) -> Vec<Flag> {
        flags_on(TargetKind::Block, test, path, block_bytes, bps)
    }

    #[test]
    fn what_is_faster_than_link_or_memory_is_not_the_medium_s() {
        let read = |bps| flags(test::RANDOM_READ, Path::Direct, 4 * KIB, bps);
        assert_eq!(read(LINK_BPS), []);
        assert_eq!(read(61e6), [], "the link is known to 2 %");
        let link = |bps| Flag::FasterThanLink { bps, link_bps: LINK_BPS };
        assert_eq!(read(62e6), [link(62e6)]);
        let memory = Flag::FasterThanMemory { bps: 3e9, memory_bps: MEMORY_BPS };
        let fast = [link(3e9), memory, Flag::MayGetHot { bps: 3e9, lasted_ns: 0 }];
        assert_eq!(read(3e9)[..2], fast[..2]);
    }

    #[test]
    fn a_cache_may_be_faster_than_the_link_but_is_not_the_medium() {
        let buffered = |test| flags(test, Path::Buffered, MIB, 3e9);
        assert_eq!(buffered(test::BUFFERED_READ), [Flag::Cached]);
        assert_eq!(buffered(test::RANDOM_READ), []);
        assert_eq!(flags(test::BUFFERED_READ, Path::Buffered, MIB, LINK_BPS), []);
    }

    #[test]
    fn what_reaches_a_limit_of_a_control_group_bounds_the_medium_from_below() {
        let limited = |limit, per_second, block_bytes, bps| {
            let mut cell = cell(test::RANDOM_READ, 1, block_bytes);
            cell.params.direction = Some(Direction::Read);
            cell.metrics.bps = Some(crate::testing::known(bps, 0.01, 400));
            let flags = vec![Flag::IoLimit { limit, per_second }];
            let queue = Some(Queue { max_sectors_kb: Some(512), ..Queue::default() });
            let target = Target { queue, ..Target::default() };
            let mut record = Record { cells: vec![cell], flags, target, ..empty() };
            add_caveats(&mut record);
            crate::gate::refusal(&record, &record.cells[0])
        };
        let held = Some(crate::gate::Refusal::IoLimit);
        assert_eq!(limited(IoLimitKind::ReadBps, 2_000_000, 4 * KIB, 1.98e6), held);
        assert_eq!(limited(IoLimitKind::ReadBps, 2_000_000, 4 * KIB, 1.7e6), None);
        assert_eq!(limited(IoLimitKind::WriteBps, 2_000_000, 4 * KIB, 1.98e6), None);
        let of_500 = |block_bytes, ios: u64| {
            limited(IoLimitKind::ReadIops, 500, block_bytes, (ios * block_bytes) as f64)
        };
        assert_eq!([of_500(4 * KIB, 499), of_500(4 * KIB, 400)], [held, None]);
        assert_eq!([of_500(MIB, 249), of_500(MIB, 200)], [held, None], "two requests each");
    }

    #[test]
    fn a_block_that_leaves_a_rest_is_split() {
        let is_split = |kind, block_bytes| {
            let flags = flags_on(kind, test::SEQUENTIAL_READ, Path::Direct, block_bytes, 1e6);
            flags.iter().any(|flag| matches!(flag, Flag::SplitCommand { .. }))
        };
        let split = [120, 128, 240, 256].map(|kib| is_split(TargetKind::Block, kib * KIB));
        assert_eq!(split, [false, true, false, true]);
        assert!(!is_split(TargetKind::Directory, 128 * KIB), "its file system writes it");
    }
}
