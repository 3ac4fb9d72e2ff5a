//! Present data of a range, and the decision which parts of it may be overwritten by a restore.

use device::content::DataGenerator;
use device::stamp::SectorVerdict;
use device::{Device, Extent, IoError, IoErrorKind, Request};

/// Size in bytes of the pieces in which a range is read that cannot be read as a whole.
const FINE_BYTES: u64 = 4096;

/// Does one I/O by itself. Buffers must be prepared. Data that was read is in the buffer of slot 0.
pub(super) fn transfer(device: &mut dyn Device, request: Request) -> Result<(), IoError> {
    device.submit(request)?;
    let mut done = Vec::with_capacity(1);
    device.reap(1, &mut done)?;
    done.pop().expect("reap waits for the one request in flight").result
}

/// Data of a range, and the parts of it that cannot be read.
pub(super) struct RangeRead {
    pub data: Vec<u8>,
    pub unreadable: Vec<Extent>,
}

impl RangeRead {
    /// True if a part of it could not be read.
    pub fn misses(&self, place: &Extent) -> bool {
        self.unreadable.iter().any(|hole| hole.overlaps(place))
    }
}

/// Reads a range, and leaves out parts that cannot be read. An error is one of the whole medium,
/// not of a place.
pub(super) fn read(device: &mut dyn Device, range: Extent) -> Result<RangeRead, IoError> {
    match transfer(device, Request::read(0, range.offset_bytes, range.bytes)) {
        Ok(()) => {
            return Ok(RangeRead {
                data: device.buffer(0)[..range.bytes as usize].to_vec(),
                unreadable: Vec::new(),
            });
        }
        Err(error) if error.kind == IoErrorKind::Medium => {}
        Err(error) => return Err(error),
    }
    let fine_bytes = FINE_BYTES.max(device.facts().logical_block_bytes);
    let mut found =
        RangeRead { data: Vec::with_capacity(range.bytes as usize), unreadable: Vec::new() };
    for at in (range.offset_bytes..range.end()).step_by(fine_bytes as usize) {
        let part = Extent::new(at, fine_bytes.min(range.end() - at));
        match transfer(device, Request::read(0, part.offset_bytes, part.bytes)) {
            Ok(()) => found.data.extend_from_slice(&device.buffer(0)[..part.bytes as usize]),
            Err(error) if error.kind == IoErrorKind::Medium => {
                found.data.resize(found.data.len() + part.bytes as usize, 0);
                found.unreadable.push(part);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// True if a sector holds data of this run, of any place and pass.
pub(super) fn is_ours(verdict: SectorVerdict) -> bool {
    matches!(
        verdict,
        SectorVerdict::Good | SectorVerdict::Changed { .. } | SectorVerdict::Overwritten { .. }
    )
}

/// Decision on a part of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestoreDecision {
    /// The backed-up data is written back.
    Restore,
    /// It has not changed, or held no data of the owner.
    Keep,
    /// It holds newer data of somebody else.
    KeepNewer,
}

/// Decides on each block of a range from its backed-up and its present data. The parts are in order
/// and cover the range.
pub(super) fn judge(
    generator: &DataGenerator,
    range: Extent,
    kept: &[u8],
    now: &RangeRead,
    block_bytes: u64,
) -> Vec<(Extent, RestoreDecision)> {
    let mut parts: Vec<(Extent, RestoreDecision)> = Vec::new();
    for at in (0..range.bytes).step_by(block_bytes as usize) {
        let bytes = at as usize..(at + block_bytes).min(range.bytes) as usize;
        let block = Extent::new(range.offset_bytes + at, bytes.len() as u64);
        let decision = if now.misses(&block) {
            RestoreDecision::Restore
        } else {
            decision(generator, block.offset_bytes, &kept[bytes.clone()], &now.data[bytes])
        };
        match parts.last_mut() {
            Some((last, same)) if *same == decision => last.bytes += block.bytes,
            _ => parts.push((block, decision)),
        }
    }
    parts
}

fn decision(
    generator: &DataGenerator,
    offset_bytes: u64,
    kept: &[u8],
    now: &[u8],
) -> RestoreDecision {
    if kept == now {
        return RestoreDecision::Keep;
    }
    let nobodys =
        |verdict| is_ours(verdict) || matches!(verdict, SectorVerdict::Zero | SectorVerdict::Blank);
    let sectors = generator.verify(now, 0, offset_bytes).zip(kept.chunks(512).zip(now.chunks(512)));
    if sectors.into_iter().all(|((_, verdict), (kept, now))| nobodys(verdict) || kept == now) {
        return RestoreDecision::Restore;
    }
    // Data of this run was kept where another address of the same flash had been written before:
    // that address is the one to restore.
    let misses_nothing =
        generator.verify(kept, 0, offset_bytes).all(|(_, verdict)| is_ours(verdict));
    if misses_nothing { RestoreDecision::Keep } else { RestoreDecision::KeepNewer }
}
