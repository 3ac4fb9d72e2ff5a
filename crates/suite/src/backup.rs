//! Backup and restore: data that a test overwrites is kept before, and restored after.

#[cfg(test)]
pub(crate) mod failing;
mod restore;
#[cfg(test)]
mod tests;

use device::{Extent, IoError};

pub use restore::{RestoreProgress, Trust, restore};

/// The largest piece of a backup, in bytes.
pub const PIECE_BYTES: u64 = 1 << 20;

/// Keeps the data of a medium before a test overwrites it, so that it can be restored, also by
/// another process.
///
/// # Contract
/// - [`make_room`](Backup::make_room) comes first, once. If it fails, nothing is overwritten.
/// - Nothing may be overwritten before [`seal`](Backup::seal) has returned for the piece with its
///   old data. A piece has at most [`PIECE_BYTES`].
/// - Pieces keep the order in which they were kept; they are restored in the reverse order, which
///   is also exact if addresses fold.
/// - [`clear`](Backup::clear) is called when every piece is restored, and never before. As long as
///   it has pieces, something is to be restored.
pub trait Backup {
    /// Makes sure that so many bytes can be kept. An `Err` is the reason why not.
    fn make_room(&mut self, bytes: u64) -> Result<(), String>;
    /// Keeps the data of this place.
    fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), String>;
    /// Makes everything kept so far durable: it then survives the process and a power cut.
    fn seal(&mut self) -> Result<(), String>;
    /// Place of each piece, in the order of keeping, also if the piece itself can no longer be
    /// read; `None` if even the place is lost.
    fn places(&self) -> Vec<Option<Extent>>;
    /// Reads a piece, by its number in the order of keeping. An `Err` if it cannot be read or is
    /// damaged.
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<(), String>;
    /// Drops everything: all is restored.
    fn clear(&mut self) -> Result<(), String>;
    /// True if sealed data survives the process: another process can then restore the rest.
    fn outlives_process(&self) -> bool {
        true
    }
}

/// A backup in memory: for media that exist no longer than the process.
#[derive(Debug, Default)]
pub struct MemoryBackup {
    pieces: Vec<(u64, Box<[u8]>)>,
}

impl Backup for MemoryBackup {
    fn make_room(&mut self, _: u64) -> Result<(), String> {
        Ok(())
    }
    fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), String> {
        self.pieces.push((offset_bytes, data.into()));
        Ok(())
    }
    fn seal(&mut self) -> Result<(), String> {
        Ok(())
    }
    fn places(&self) -> Vec<Option<Extent>> {
        self.pieces.iter().map(|(at, kept)| Some(Extent::new(*at, kept.len() as u64))).collect()
    }
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<(), String> {
        let (_, kept) = self.pieces.get(number).ok_or("there is no such piece")?;
        data.clear();
        data.extend_from_slice(kept);
        Ok(())
    }
    fn clear(&mut self) -> Result<(), String> {
        self.pieces.clear();
        Ok(())
    }
    fn outlives_process(&self) -> bool {
        false
    }
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
    /// The medium is gone ([`device::IoErrorKind::Gone`]), accepts no writes at all
    /// ([`device::IoErrorKind::ReadOnly`]), or fails for another reason: to be tried again when it
    /// works.
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
