//! Backup and restore: data that a test overwrites is kept before, and restored after.

#[cfg(test)]
pub(crate) mod failing;
mod range_read;
mod restore;
#[cfg(test)]
mod tests;

use device::Extent;

pub use restore::{
    Interruption, LostPlace, NotRestoredReason, PIECE_BYTES, RestoreProgress, Restored, Trust,
    restore,
};

/// Keeps the data of a medium before a test overwrites it, so that it can be restored, also by
/// another process.
///
/// # Contract
/// - [`make_room`](Backup::make_room) comes first, once. If it fails, nothing is overwritten.
/// - Nothing may be overwritten before [`seal`](Backup::seal) has returned for the piece with its
///   old data.
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
    /// Number of pieces kept.
    fn pieces(&self) -> usize;
    /// Place of a piece, by its number, also if the piece itself can no longer be read; `None` if
    /// even the place is unknown.
    fn place(&mut self, number: usize) -> Option<Extent>;
    /// True if sealed data survives the process: another process can then restore the rest.
    fn outlives_process(&self) -> bool {
        true
    }
    /// Reads a piece, by its number in the order of keeping; returns its offset in bytes. An `Err`
    /// if it cannot be read or is damaged.
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<u64, String>;
    /// Drops everything: all is restored.
    fn clear(&mut self) -> Result<(), String>;
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
    fn pieces(&self) -> usize {
        self.pieces.len()
    }
    fn place(&mut self, number: usize) -> Option<Extent> {
        self.pieces
            .get(number)
            .map(|(offset_bytes, kept)| Extent::new(*offset_bytes, kept.len() as u64))
    }
    fn outlives_process(&self) -> bool {
        false
    }
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<u64, String> {
        let (offset_bytes, kept) = self.pieces.get(number).ok_or("there is no such piece")?;
        data.clear();
        data.extend_from_slice(kept);
        Ok(*offset_bytes)
    }
    fn clear(&mut self) -> Result<(), String> {
        self.pieces.clear();
        Ok(())
    }
}
