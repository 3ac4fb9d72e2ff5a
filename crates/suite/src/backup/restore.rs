//! Restoring what was backed up, by the process that overwrote it or by a later one.
//!
//! The latest piece goes first, which is exact also where addresses fold
//! (`catalogue/capacity/backed_up.rs`). All of it is written, then flushed, then read back and
//! compared; the log is cleared only when nothing is missing. It can be begun again from the
//! beginning at any time.

use device::content::Filler;
use device::{Device, Extent, IoError, IoErrorKind, Request};

use super::Backup;
use super::range_read::{Fate, RangeRead, is_ours, judge, read, transfer};

/// The largest piece that is written or read at once.
pub const PIECE_BYTES: u64 = 1 << 20;
/// What is written once more to see whether a medium still takes writes.
const TRIAL_BYTES: usize = 4096;
const SECTOR_BYTES: u64 = 512;

/// Whether the medium can have been used since it was overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It has been held all the time: everything is restored unseen.
    Held,
    /// It may have been used by others. Each block is looked at: where data of this run, zeros,
    /// 0xFF or nothing readable lies, the original is restored; anything else is somebody's newer
    /// data and stays.
    Look,
}

/// The reason why a place is not as it was.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// What was kept of it cannot be read as it was kept; in words.
    Damaged(String),
    /// The medium does not take it there, and takes writes elsewhere.
    Refused(IoError),
    /// It was written, and something else is read there.
    NotKept,
    /// Data that this run has not written lies there now. It was left alone.
    Newer,
}

/// A place that is not as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct LostPlace {
    /// Where; `None` where the log does not say even that.
    pub place: Option<Extent>,
    /// What kept it from being restored.
    pub why: Why,
}

/// The reason why restoring ended early. What was backed up still lies in the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Interruption {
    /// The medium is away ([`IoErrorKind::Gone`]), takes no writes at all
    /// ([`IoErrorKind::ReadOnly`]), or cannot be worked with for another reason: to be tried again
    /// when it is there.
    Medium(IoError),
    /// Whoever watched has ended it.
    Stopped,
}

/// What came of restoring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restored {
    /// Bytes that were looked at or written and are as they were.
    pub bytes: u64,
    /// Places that are not. Nothing is lost of what an interruption left for the next time.
    pub lost: Vec<LostPlace>,
    /// Bytes that are still to be restored, where it was interrupted. All of it is then written
    /// again.
    pub left_bytes: u64,
    /// Where the first place lies that is still to be restored, where it was interrupted.
    pub first_left_bytes: Option<u64>,
    /// The reason why it ended early.
    pub interrupted: Option<Interruption>,
    /// The reason why the log could not be cleared though all is back.
    pub not_cleared: Option<String>,
}

impl Restored {
    /// True if everything is as it was.
    pub fn is_whole(&self) -> bool {
        self.interrupted.is_none() && self.lost.is_empty()
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct RestoreProgress {
    /// Bytes written since the last step.
    pub written_bytes: u64,
    /// How much of all is done, 0 to 1.
    pub share: f64,
    /// The time by the device's clock.
    pub now_ns: u64,
}

/// Restores every piece of `backup`, and clears it when nothing is missing. `filler` makes the data
/// of the run that overwrote it. `watch` hears of each step, and ends it by `false`.
///
/// A medium that goes away or takes no writes is not damaged: the result says
/// [`Interruption::Medium`], and the same call can be made again later.
pub fn restore(
    device: &mut dyn Device,
    backup: &mut dyn Backup,
    trust: Trust,
    filler: &Filler,
    watch: &mut dyn FnMut(RestoreProgress) -> bool,
) -> Restored {
    let pieces = backup.pieces();
    let places: Vec<Option<Extent>> = (0..pieces).map(|number| backup.place(number)).collect();
    let all_bytes = places.iter().flatten().map(|place| place.bytes).sum();
    let mut work = Work {
        device,
        backup,
        trust,
        filler,
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
    filler: &'a Filler,
    watch: &'a mut dyn FnMut(RestoreProgress) -> bool,
    all_bytes: u64,
    done_bytes: u64,
    /// The beginning of what was written last. Written once more it changes nothing, also where
    /// addresses fold.
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
                    self.found.lost.push(LostPlace { place, why: Why::Damaged(reason) });
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
            for (part, fate) in self.fates(range, data)? {
                let bytes = &data[(part.offset_bytes - range.offset_bytes) as usize..]
                    [..part.bytes as usize];
                match fate {
                    Fate::Put => {
                        self.write(part, bytes)?;
                        written_bytes += part.bytes;
                    }
                    Fate::Leave => {}
                    Fate::Newer => {
                        self.found.lost.push(LostPlace { place: Some(part), why: Why::Newer })
                    }
                }
            }
            self.done_bytes += range.bytes;
            self.step(written_bytes)?;
        }
        Ok(())
    }

    /// What is to become of each part of a range.
    fn fates(&mut self, range: Extent, kept: &[u8]) -> Flow<Vec<(Extent, Fate)>> {
        if self.trust == Trust::Held {
            return Ok(vec![(range, Fate::Put)]);
        }
        let now = read(self.device, range).map_err(Interruption::Medium)?;
        let block_bytes = self.device.facts().logical_block_bytes.max(SECTOR_BYTES);
        Ok(judge(self.filler, range, kept, &now, block_bytes))
    }

    fn write(&mut self, place: Extent, data: &[u8]) -> Flow {
        match self.write_once(place.offset_bytes, data) {
            Ok(()) => {
                self.last =
                    Some((place.offset_bytes, data[..data.len().min(TRIAL_BYTES)].to_vec()));
                Ok(())
            }
            Err(error) if error.kind == IoErrorKind::Medium => {
                self.takes_writes(&error)?;
                self.found.lost.push(LostPlace { place: Some(place), why: Why::Refused(error) });
                Ok(())
            }
            Err(error) => Err(Interruption::Medium(error)),
        }
    }

    fn write_once(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), IoError> {
        self.device.buffer(0)[..data.len()].copy_from_slice(data);
        transfer(self.device, Request::write(0, offset_bytes, data.len() as u64))
    }

    /// Whether it is the place that fails, or the medium that takes no writes any more.
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

    /// Nothing at all was taken, and something was to be written.
    fn nothing_taken(&mut self) -> Flow {
        let refused = self.found.lost.iter().find_map(|lost| match &lost.why {
            Why::Refused(error) => Some(error.clone()),
            _ => None,
        });
        match refused {
            Some(error) if self.last.is_none() => Err(self.refusing(&error)),
            _ => Ok(()),
        }
    }

    /// A medium that takes no writes: read-only where it can still be read, away where not.
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
            let now = read(self.device, range).map_err(Interruption::Medium)?;
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
                wrong.into_iter().map(|place| LostPlace { place: Some(place), why: Why::NotKept }),
            );
            self.done_bytes += range.bytes;
            self.step(0)?;
        }
        Ok(())
    }

    /// Sectors that differ. Those that held data of this run when they were kept were no longer as
    /// the owner had left them: another address of the same flash is the one to look at.
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
            .filler
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

    /// Tells how far it is. Each byte is gone over twice.
    fn step(&mut self, written_bytes: u64) -> Flow {
        let share = self.done_bytes as f64 / (2 * self.all_bytes).max(1) as f64;
        let step =
            RestoreProgress { written_bytes, share: share.min(1.0), now_ns: self.device.now() };
        if (self.watch)(step) { Ok(()) } else { Err(Interruption::Stopped) }
    }
}
