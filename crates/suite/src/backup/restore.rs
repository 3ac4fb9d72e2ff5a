//! Restoring of backed-up data, by the process that overwrote it or by a later one.
//!
//! The latest piece goes first, which is also exact if addresses fold
//! (`catalogue/capacity/backed_up.rs`). All pieces are written, then flushed, then read back and
//! compared; the log is cleared only when nothing is missing. A restore can be started again from
//! the beginning at any time.

use std::ops::Range;

use device::content::DataGenerator;
use device::stamp::SectorVerdict;
use device::{Device, Extent, IoError, IoErrorKind, Request, do_io};

use super::{Backup, Interruption, LostPlace, NotRestoredReason, PIECE_BYTES, Restored};

/// Bytes that are written again to test if a medium still accepts writes.
const TRIAL_BYTES: usize = 4096;
/// Size in bytes of the parts in which a piece is read that cannot be read as a whole.
const FINE_BYTES: u64 = 4096;
const SECTOR_BYTES: u64 = 512;

/// Possible use of the medium by others since it was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It has been held all the time: everything is restored without a look at the present data.
    Held,
    /// It may have been used by others. Each block is read: data of this run, zeros, 0xFF and
    /// unreadable blocks are replaced by the original; anything else is newer data of somebody else
    /// and stays.
    Look,
}

/// Progress of a restore.
#[derive(Clone, Copy, Debug)]
pub struct RestoreProgress {
    /// Bytes written since the last step.
    pub written_bytes: u64,
    /// Share of the work that is done, 0 to 1.
    pub share: f64,
    /// The time in nanoseconds, by the device's clock.
    pub now_ns: u64,
}

/// Restores every piece of `backup`, and clears it when nothing is missing. `generator` makes the
/// data of the run that overwrote it. `watch` is called after each step, and ends the restore with
/// `false`.
///
/// A medium that is removed or accepts no writes is not damaged: the result then has
/// [`Interruption::Medium`], and the same call can be repeated later.
pub fn restore(
    device: &mut dyn Device,
    backup: &mut dyn Backup,
    trust: Trust,
    generator: &DataGenerator,
    watch: &mut dyn FnMut(RestoreProgress) -> bool,
) -> Restored {
    let places = backup.places();
    let all_bytes = places.iter().flatten().map(|place| place.bytes).sum();
    let (done_bytes, last, found) = (0, None, Restored::default());
    let mut work =
        Work { device, backup, trust, generator, watch, all_bytes, done_bytes, last, found };
    let interrupted = work.go(&places).err();
    let Work { mut found, backup, .. } = work;
    if interrupted.is_some() {
        let first_left_bytes = places.iter().flatten().map(|place| place.offset_bytes).min();
        let left_bytes = all_bytes;
        return Restored { left_bytes, first_left_bytes, interrupted, ..Restored::default() };
    }
    if found.is_whole() {
        found.not_cleared = backup.clear().err();
    }
    found
}

struct Work<'a> {
    device: &'a mut dyn Device,
    backup: &'a mut dyn Backup,
    trust: Trust,
    generator: &'a DataGenerator,
    watch: &'a mut dyn FnMut(RestoreProgress) -> bool,
    all_bytes: u64,
    done_bytes: u64,
    /// The first bytes of the last write. Writing them again changes nothing, even if addresses
    /// fold.
    last: Option<(u64, Vec<u8>)>,
    found: Restored,
}

type Flow<T = ()> = Result<T, Interruption>;

impl Work<'_> {
    fn go(&mut self, places: &[Option<Extent>]) -> Flow {
        if places.is_empty() {
            return Ok(());
        }
        self.device.prepare(1, PIECE_BYTES as usize).map_err(Interruption::Medium)?;
        let mut kept = Vec::new();
        for (number, place) in places.iter().enumerate().rev() {
            match (*place, self.backup.piece(number, &mut kept)) {
                (Some(place), Ok(())) => self.put_back(place, &kept)?,
                (place, read) => {
                    let why = read.err().unwrap_or_else(|| "its place is lost".to_owned());
                    self.lose(place, NotRestoredReason::Damaged(why));
                }
            }
        }
        self.nothing_taken()?;
        self.flush()?;
        for (number, place) in places.iter().enumerate().rev() {
            if let (Some(place), Ok(())) = (*place, self.backup.piece(number, &mut kept)) {
                self.compare(place, &kept)?;
            }
        }
        Ok(())
    }

    fn lose(&mut self, place: Option<Extent>, why: NotRestoredReason) {
        self.found.lost.push(LostPlace { place, why });
    }

    fn put_back(&mut self, range: Extent, kept: &[u8]) -> Flow {
        let mut written_bytes = 0;
        for (part, decision) in self.decisions(range, kept)? {
            match decision {
                RestoreDecision::Restore => {
                    let from = (part.offset_bytes - range.offset_bytes) as usize;
                    self.write(part, &kept[from..from + part.bytes as usize])?;
                    written_bytes += part.bytes;
                }
                RestoreDecision::Keep => {}
                RestoreDecision::KeepNewer => self.lose(Some(part), NotRestoredReason::Newer),
            }
        }
        self.step(range, written_bytes)
    }

    /// Decisions on the parts of a range.
    fn decisions(&mut self, range: Extent, kept: &[u8]) -> Flow<Vec<(Extent, RestoreDecision)>> {
        if self.trust == Trust::Held {
            return Ok(vec![(range, RestoreDecision::Restore)]);
        }
        let now = PresentData::of(self.device, range)?;
        let block_bytes = self.device.facts().logical_block_bytes.max(SECTOR_BYTES);
        Ok(judge(self.generator, range, kept, &now, block_bytes))
    }

    /// Writes a place; once more after an error, as the medium may just have come back.
    fn write(&mut self, place: Extent, data: &[u8]) -> Flow {
        let mut written = self.write_once(place.offset_bytes, data);
        if let Err(error) = &written
            && error.kind == IoErrorKind::Medium
        {
            let error = error.clone();
            // Only the place fails if another one still accepts a write.
            if let Some((offset_bytes, trial)) = self.last.take() {
                self.write_once(offset_bytes, &trial).map_err(|_| self.refusing(&error))?;
                self.last = Some((offset_bytes, trial));
            }
            written = self.write_once(place.offset_bytes, data);
        }
        match written {
            Ok(()) => {
                let trial = data[..data.len().min(TRIAL_BYTES)].to_vec();
                self.last = Some((place.offset_bytes, trial));
            }
            Err(error) if error.kind == IoErrorKind::Medium => {
                self.lose(Some(place), NotRestoredReason::Refused(error));
            }
            Err(error) => return Err(Interruption::Medium(error)),
        }
        Ok(())
    }

    fn write_once(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), IoError> {
        self.device.buffer(0)[..data.len()].copy_from_slice(data);
        do_io(self.device, Request::write(0, offset_bytes, data.len() as u64)).map(drop)
    }

    /// An `Err` if every write was refused.
    fn nothing_taken(&mut self) -> Flow {
        let refused = self.found.lost.iter().find_map(|lost| match &lost.why {
            NotRestoredReason::Refused(error) => Some(error.clone()),
            _ => None,
        });
        match refused {
            Some(error) if self.last.is_none() => Err(self.refusing(&error)),
            _ => Ok(()),
        }
    }

    /// The interruption of a medium that accepts no writes: read-only if it can still be read,
    /// otherwise gone.
    fn refusing(&mut self, error: &IoError) -> Interruption {
        let Some((_, offset_bytes, _)) = error.request else {
            return Interruption::Medium(error.clone());
        };
        let block_bytes = self.device.facts().logical_block_bytes.max(SECTOR_BYTES);
        let reads_work = do_io(self.device, Request::read(0, offset_bytes, block_bytes)).is_ok();
        let (kind, detail) = match reads_work {
            true => (IoErrorKind::ReadOnly, "every write fails, while reads work"),
            false => (IoErrorKind::Gone, "every read and write fails"),
        };
        Interruption::Medium(IoError { kind, detail: detail.into(), reads_work, ..error.clone() })
    }

    fn flush(&mut self) -> Flow {
        match do_io(self.device, Request::flush(0)) {
            Err(error) if error.kind != IoErrorKind::Unsupported => {
                Err(Interruption::Medium(error))
            }
            _ => Ok(()),
        }
    }

    fn compare(&mut self, range: Extent, kept: &[u8]) -> Flow {
        let mut now = PresentData::of(self.device, range)?;
        if !now.unreadable.is_empty() {
            now = PresentData::of(self.device, range)?;
        }
        for place in self.wrong(range, kept, &now) {
            self.lose(Some(place), NotRestoredReason::NotKept);
        }
        let lost = self.found.lost.iter().filter_map(|lost| lost.place);
        let lost_bytes: u64 = lost
            .filter(|place| place.overlaps(&range))
            .map(|it| it.end().min(range.end()) - it.offset_bytes.max(range.offset_bytes))
            .sum();
        self.found.bytes += range.bytes.saturating_sub(lost_bytes);
        self.step(range, 0)
    }

    /// Sectors that differ. A sector that held data of this run when it was kept was already
    /// changed through another address of the same flash: that address is compared instead.
    fn wrong(&self, range: Extent, kept: &[u8], now: &PresentData) -> Vec<Extent> {
        if kept == now.data && now.unreadable.is_empty() {
            return Vec::new();
        }
        let known: Vec<Extent> = self.found.lost.iter().filter_map(|lost| lost.place).collect();
        let is_wrong = |sector: Extent, bytes: Range<usize>| {
            (kept[bytes.clone()] != now.data[bytes.clone()] || now.misses(&sector))
                && !is_all_ours(self.generator, sector.offset_bytes, &kept[bytes])
                && !known.iter().any(|place| place.overlaps(&sector))
        };
        let parts = parts(range, SECTOR_BYTES, is_wrong);
        parts.into_iter().filter_map(|(place, is_wrong)| is_wrong.then_some(place)).collect()
    }

    /// Reports that a range is done. Each is processed twice.
    fn step(&mut self, range: Extent, written_bytes: u64) -> Flow {
        self.done_bytes += range.bytes;
        let share = self.done_bytes as f64 / (2 * self.all_bytes).max(1) as f64;
        let step =
            RestoreProgress { written_bytes, share: share.min(1.0), now_ns: self.device.now() };
        if (self.watch)(step) { Ok(()) } else { Err(Interruption::Stopped) }
    }
}

/// Data of a range, and the parts of it that cannot be read.
#[derive(Default)]
pub(super) struct PresentData {
    pub data: Vec<u8>,
    pub unreadable: Vec<Extent>,
}

impl PresentData {
    /// Reads a range, and leaves out parts that cannot be read. An `Err` is one of the whole
    /// medium, not of a place.
    fn of(device: &mut dyn Device, range: Extent) -> Flow<PresentData> {
        let mut now = PresentData::default();
        now.read(device, range).map_err(Interruption::Medium)?;
        Ok(now)
    }

    fn read(&mut self, device: &mut dyn Device, range: Extent) -> Result<(), IoError> {
        let fine_bytes = FINE_BYTES.max(device.facts().logical_block_bytes);
        match do_io(device, Request::read(0, range.offset_bytes, range.bytes)) {
            Ok(_) => self.data.extend_from_slice(&device.buffer(0)[..range.bytes as usize]),
            Err(error) if error.kind != IoErrorKind::Medium => return Err(error),
            Err(_) if range.bytes > fine_bytes => {
                for at in (range.offset_bytes..range.end()).step_by(fine_bytes as usize) {
                    self.read(device, Extent::new(at, fine_bytes.min(range.end() - at)))?;
                }
            }
            Err(_) => {
                self.data.resize(self.data.len() + range.bytes as usize, 0);
                self.unreadable.push(range);
            }
        }
        Ok(())
    }

    /// True if a part of it could not be read.
    fn misses(&self, place: &Extent) -> bool {
        self.unreadable.iter().any(|hole| hole.overlaps(place))
    }
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
    now: &PresentData,
    block_bytes: u64,
) -> Vec<(Extent, RestoreDecision)> {
    parts(range, block_bytes, |block, bytes| {
        let (kept, present) = (&kept[bytes.clone()], &now.data[bytes]);
        if now.misses(&block) {
            return RestoreDecision::Restore;
        }
        if kept == present {
            return RestoreDecision::Keep;
        }
        let is_nobodys = |verdict| {
            is_ours(verdict) || matches!(verdict, SectorVerdict::Zero | SectorVerdict::Blank)
        };
        let mut sectors = generator
            .verify(present, 0, block.offset_bytes)
            .zip(kept.chunks(512).zip(present.chunks(512)));
        if sectors.all(|((_, verdict), (kept, now))| is_nobodys(verdict) || kept == now) {
            return RestoreDecision::Restore;
        }
        // Data of this run was kept where another address of the same flash had been written
        // before: that address is the one to restore.
        match is_all_ours(generator, block.offset_bytes, kept) {
            true => RestoreDecision::Keep,
            false => RestoreDecision::KeepNewer,
        }
    })
}

fn is_all_ours(generator: &DataGenerator, offset_bytes: u64, data: &[u8]) -> bool {
    generator.verify(data, 0, offset_bytes).all(|(_, verdict)| is_ours(verdict))
}

/// True if a sector holds data of this run, of any place and pass.
fn is_ours(verdict: SectorVerdict) -> bool {
    matches!(
        verdict,
        SectorVerdict::Good | SectorVerdict::Changed { .. } | SectorVerdict::Overwritten { .. }
    )
}

/// Decides on each block of a range, by its place and its bytes of the range; neighbours with the
/// same decision are one part.
fn parts<T: PartialEq>(
    range: Extent,
    block_bytes: u64,
    decide: impl Fn(Extent, Range<usize>) -> T,
) -> Vec<(Extent, T)> {
    let mut parts: Vec<(Extent, T)> = Vec::new();
    for at in (0..range.bytes).step_by(block_bytes as usize) {
        let bytes = block_bytes.min(range.bytes - at);
        let block = Extent::new(range.offset_bytes + at, bytes);
        let decision = decide(block, at as usize..(at + bytes) as usize);
        match parts.last_mut() {
            Some((last, same)) if *same == decision => last.bytes += bytes,
            _ => parts.push((block, decision)),
        }
    }
    parts
}
