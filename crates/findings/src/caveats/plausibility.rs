//! Numbers that cannot be the medium's (docs/field/statistics.md#statistics;
//! docs/field/peers.md#wishes).

use record::units::KIB;
use record::{Cell, Direction, Flag, IoLimitKind, Path, Record, TargetKind, test};

/// Factor by which a rate may exceed that of the link, whose known rate is rounded.
pub const LINK_SLACK: f64 = 1.02;
/// Share of a limit from which on it limits a cell: the kernel lets I/O through in bursts.
const LIMIT_REACHED: f64 = 0.9;

/// Caveats of a figure because of the path to the medium.
pub(super) fn caveats(cell: &Cell, record: &Record) -> Vec<Flag> {
    let Some(bps) = cell.metrics.bps.map(|bps| bps.value) else { return Vec::new() };
    let too_fast = [faster_than_link(bps, record), faster_than_memory(bps, record)];
    let too_fast = too_fast.into_iter().flatten();
    let of_path: Vec<Flag> = match cell.params.path {
        Path::Direct => too_fast.chain(split_command(cell, record)).collect(),
        // Data that should come from the medium came from a cache.
        Path::Buffered if cell.test == test::BUFFERED_READ => {
            too_fast.map(|_| Flag::Cached).collect()
        }
        Path::Buffered => Vec::new(),
    };
    of_path.into_iter().chain(limited(cell, bps, record)).collect()
}

/// Caveat for a cell that reached a limit of its control group.
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

/// Kernel requests per second for the I/Os of a cell: large ones are split.
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

/// Size in bytes of the largest command from the kernel to the medium.
fn largest_command_bytes(record: &Record) -> Option<u64> {
    record.target.queue.as_ref()?.max_sectors_kb?.checked_mul(KIB)
}

/// Caveat for blocks that the link splits. Not for a file, which its file system writes in commands
/// of its own.
fn split_command(cell: &Cell, record: &Record) -> Option<Flag> {
    let is_whole = matches!(record.target.kind, TargetKind::Block | TargetKind::Simulated);
    let max_transfer_bytes = largest_command_bytes(record).filter(|_| is_whole)?;
    let block_bytes = cell.params.block_bytes?;
    let splits =
        block_bytes > max_transfer_bytes && !block_bytes.is_multiple_of(max_transfer_bytes);
    splits.then_some(Flag::SplitCommand { block_bytes, max_transfer_bytes })
}
