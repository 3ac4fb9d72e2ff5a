//! Restoring of backed-up data, by the process that overwrote it or by a later one.
//!
//! The latest piece goes first, which is also exact if addresses fold
//! (`catalogue/capacity/backed_up.rs`). All pieces are written, then flushed, then read back and
//! compared; the log is cleared only when nothing is missing. A restore can be started again from
//! the beginning at any time.

use device::content::DataGenerator;
use device::{Device, Extent, IoError, IoErrorKind, Request};

use super::Backup;
use super::range_read::{RangeRead, RestoreDecision, is_ours, judge, read, transfer};

/// The largest piece in bytes that is written or read at once.
pub const PIECE_BYTES: u64 = 1 << 20;
/// Bytes that are written again to test if a medium still accepts writes.
const TRIAL_BYTES: usize = 4096;
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

/// The reason why a place is not restored.
#[derive(Clone, Debug, PartialEq)]
pub enum NotRestoredReason {
    /// Its backed-up data cannot be read or is damaged; the reason in words.
    Damaged(String),
    /// The medium refuses writes there, and accepts them elsewhere.
    Refused(IoError),
    /// It was written, and reads back different data.
    NotKept,
    /// It holds data that this run has not written. It was left alone.
    Newer,
}

/// A place that is not restored.
#[derive(Clone, Debug, PartialEq)]
pub struct LostPlace {
    /// The place; `None` if the log does not have even that.
    pub place: Option<Extent>,
    /// The reason.
    pub why: NotRestoredReason,
}

/// The reason why a restore ended early. The backed-up data is still in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Interruption {
    /// The medium is gone ([`IoErrorKind::Gone`]), accepts no writes at all
    /// ([`IoErrorKind::ReadOnly`]), or fails for another reason: to be tried again when it works.
    Medium(IoError),
    /// The caller ended it.
    Stopped,
}

/// Result of a restore.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restored {
    /// Bytes that were checked or written and have their original data.
    pub bytes: u64,
    /// Places that are not restored. Places left after an interruption do not count.
    pub lost: Vec<LostPlace>,
    /// Bytes that are still to be restored after an interruption: all of them, since all are
    /// written again.
    pub left_bytes: u64,
    /// First byte that is still to be restored after an interruption.
    pub first_left_bytes: Option<u64>,
    /// The reason why it ended early.
    pub interrupted: Option<Interruption>,
    /// The reason why the log could not be cleared although everything is restored.
    pub not_cleared: Option<String>,
}

impl Restored {
    /// True if everything is restored.
    pub fn is_whole(&self) -> bool {
        self.interrupted.is_none() && self.lost.is_empty()
    }
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
    let pieces = backup.pieces();
    let places: Vec<Option<Extent>> = (0..pieces).map(|number| backup.place(number)).collect();
    let all_bytes = places.iter().flatten().map(|place| place.bytes).sum();
    let mut work = Work {
        device,
        backup,
        trust,
        generator,
        watch,
        all_bytes,
        done_bytes: 0,
        last: None,
        found: Restored::default(),
    };
    if let Err(interruption) = work.go(pieces) {
        work.found = Restored {
            left_bytes: all_bytes,
            first_left_bytes: places.iter().flatten().map(|place| place.offset_bytes).min(),
            interrupted: Some(interruption),
            ..Restored::default()
        };
    }
    let Work { mut found, backup, .. } = work;
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
    fn go(&mut self, pieces: usize) -> Flow {
        if pieces == 0 {
            return Ok(());
        }
        self.device.prepare(1, PIECE_BYTES as usize).map_err(Interruption::Medium)?;
        let mut kept = Vec::new();
        for number in (0..pieces).rev() {
            match self.backup.piece(number, &mut kept) {
                Ok(offset_bytes) => self.put_piece(offset_bytes, &kept)?,
                Err(reason) => {
                    let place = self.backup.place(number);
                    self.found
                        .lost
                        .push(LostPlace { place, why: NotRestoredReason::Damaged(reason) });
                }
            }
        }
        self.nothing_taken()?;
        self.flush()?;
        for number in (0..pieces).rev() {
            if let Ok(offset_bytes) = self.backup.piece(number, &mut kept) {
                self.compare_piece(offset_bytes, &kept)?;
            }
        }
        Ok(())
    }

    fn put_piece(&mut self, offset_bytes: u64, kept: &[u8]) -> Flow {
        for (index, data) in kept.chunks(PIECE_BYTES as usize).enumerate() {
            let range = Extent::new(offset_bytes + index as u64 * PIECE_BYTES, data.len() as u64);
            let mut written_bytes = 0;
            for (part, decision) in self.decisions(range, data)? {
                let bytes = &data[(part.offset_bytes - range.offset_bytes) as usize..]
                    [..part.bytes as usize];
                match decision {
                    RestoreDecision::Restore => {
                        self.write(part, bytes)?;
                        written_bytes += part.bytes;
                    }
                    RestoreDecision::Keep => {}
                    RestoreDecision::KeepNewer => self
                        .found
                        .lost
                        .push(LostPlace { place: Some(part), why: NotRestoredReason::Newer }),
                }
            }
            self.done_bytes += range.bytes;
            self.step(written_bytes)?;
        }
        Ok(())
    }

    /// Decisions on the parts of a range.
    fn decisions(&mut self, range: Extent, kept: &[u8]) -> Flow<Vec<(Extent, RestoreDecision)>> {
        if self.trust == Trust::Held {
            return Ok(vec![(range, RestoreDecision::Restore)]);
        }
        let now = read(self.device, range).map_err(Interruption::Medium)?;
        let block_bytes = self.device.facts().logical_block_bytes.max(SECTOR_BYTES);
        Ok(judge(self.generator, range, kept, &now, block_bytes))
    }

    /// Writes a place; once more after an error, as the medium may just have come back.
    fn write(&mut self, place: Extent, data: &[u8]) -> Flow {
        let mut written = self.write_once(place.offset_bytes, data);
        if let Err(error) = &written
            && error.kind == IoErrorKind::Medium
        {
            self.takes_writes(&error.clone())?;
            written = self.write_once(place.offset_bytes, data);
        }
        match written {
            Ok(()) => {
                self.last =
                    Some((place.offset_bytes, data[..data.len().min(TRIAL_BYTES)].to_vec()));
                Ok(())
            }
            Err(error) if error.kind == IoErrorKind::Medium => {
                self.found
                    .lost
                    .push(LostPlace { place: Some(place), why: NotRestoredReason::Refused(error) });
                Ok(())
            }
            Err(error) => Err(Interruption::Medium(error)),
        }
    }

    fn write_once(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), IoError> {
        self.device.buffer(0)[..data.len()].copy_from_slice(data);
        transfer(self.device, Request::write(0, offset_bytes, data.len() as u64))
    }

    /// Tests if only the place fails; an `Err` if the medium accepts no writes any more.
    fn takes_writes(&mut self, error: &IoError) -> Flow {
        let Some((offset_bytes, data)) = self.last.take() else { return Ok(()) };
        match self.write_once(offset_bytes, &data) {
            Ok(()) => {
                self.last = Some((offset_bytes, data));
                Ok(())
            }
            Err(again) if again.kind == IoErrorKind::Medium => Err(self.refusing(error)),
            Err(again) => Err(Interruption::Medium(again)),
        }
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
        let (kind, detail, reads_work) =
            match transfer(self.device, Request::read(0, offset_bytes, block_bytes)) {
                Ok(()) => (IoErrorKind::ReadOnly, "every write fails, while reads work", true),
                Err(_) => (IoErrorKind::Gone, "every read and write fails", false),
            };
        Interruption::Medium(IoError { kind, detail: detail.into(), reads_work, ..error.clone() })
    }

    fn flush(&mut self) -> Flow {
        match transfer(self.device, Request::flush(0)) {
            Err(error) if error.kind != IoErrorKind::Unsupported => {
                Err(Interruption::Medium(error))
            }
            _ => Ok(()),
        }
    }

    fn compare_piece(&mut self, offset_bytes: u64, kept: &[u8]) -> Flow {
        for (index, data) in kept.chunks(PIECE_BYTES as usize).enumerate() {
            let range = Extent::new(offset_bytes + index as u64 * PIECE_BYTES, data.len() as u64);
            let mut now = read(self.device, range).map_err(Interruption::Medium)?;
            if !now.unreadable.is_empty() {
                now = read(self.device, range).map_err(Interruption::Medium)?;
            }
            let wrong = self.wrong(range, data, &now);
            let known = self
                .found
                .lost
                .iter()
                .filter_map(|lost| lost.place)
                .filter(|place| place.overlaps(&range));
            let known_bytes: u64 = known
                .map(|place| {
                    place.end().min(range.end()) - place.offset_bytes.max(range.offset_bytes)
                })
                .sum();
            let wrong_bytes: u64 = wrong.iter().map(|place| place.bytes).sum();
            self.found.bytes += range.bytes.saturating_sub(known_bytes + wrong_bytes);
            self.found.lost.extend(
                wrong
                    .into_iter()
                    .map(|place| LostPlace { place: Some(place), why: NotRestoredReason::NotKept }),
            );
            self.done_bytes += range.bytes;
            self.step(0)?;
        }
        Ok(())
    }

    /// Sectors that differ. A sector that held data of this run when it was kept was already
    /// changed through another address of the same flash: that address is compared instead.
    fn wrong(&self, range: Extent, kept: &[u8], now: &RangeRead) -> Vec<Extent> {
        let lost = &self.found.lost;
        let is_known = |sector: &Extent| {
            lost.iter().any(|lost| lost.place.is_some_and(|place| place.overlaps(sector)))
        };
        let mut wrong: Vec<Extent> = Vec::new();
        if kept == now.data && now.unreadable.is_empty() {
            return wrong;
        }
        let sectors = self
            .generator
            .verify(kept, 0, range.offset_bytes)
            .zip(kept.chunks(512).zip(now.data.chunks(512)));
        for ((offset_bytes, verdict), (kept, now_there)) in sectors {
            let sector = Extent::new(offset_bytes, kept.len() as u64);
            let differs = kept != now_there || now.misses(&sector);
            if !differs || is_ours(verdict) || is_known(&sector) {
                continue;
            }
            match wrong.last_mut() {
                Some(last) if last.end() == sector.offset_bytes => last.bytes += sector.bytes,
                _ => wrong.push(sector),
            }
        }
        wrong
    }

    /// Reports the progress. Each byte is processed twice.
    fn step(&mut self, written_bytes: u64) -> Flow {
        let share = self.done_bytes as f64 / (2 * self.all_bytes).max(1) as f64;
        let step =
            RestoreProgress { written_bytes, share: share.min(1.0), now_ns: self.device.now() };
        if (self.watch)(step) { Ok(()) } else { Err(Interruption::Stopped) }
    }
}
