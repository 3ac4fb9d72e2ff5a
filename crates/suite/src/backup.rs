//! Backup and restore: what a test overwrites is kept before, and restored after.

#[cfg(test)]
pub(crate) mod failing;
mod range_read;
mod restore;
#[cfg(test)]
mod tests;

use device::Extent;

pub use restore::{
    Interruption, LostPlace, PIECE_BYTES, RestoreProgress, Restored, Trust, Why, restore,
};

/// Keeps what lies on a medium before a test overwrites it, so that it can be restored, also by
/// another process.
///
/// # Contract
/// - [`make_room`](Backup::make_room) comes first, once. Nothing is overwritten where it fails.
/// - Nothing may be overwritten before [`seal`](Backup::seal) has returned for the piece that lay
///   there.
/// - Pieces keep the order in which they were kept; they are restored in the reverse order, which
///   is exact also where addresses fold.
/// - [`clear`](Backup::clear) is called when every piece is back, and never before. As long as it has
///   pieces, something is to be restored.
pub trait Backup {
    /// Makes sure that so many bytes can be kept.
    fn make_room(&mut self, bytes: u64) -> Result<(), String>;
    /// Keeps what lies at this place.
    fn keep(&mut self, offset_bytes: u64, data: &[u8]) -> Result<(), String>;
    /// When this returns, everything kept so far outlives the process and a power cut.
    fn seal(&mut self) -> Result<(), String>;
    /// How many pieces are kept.
    fn pieces(&self) -> usize;
    /// Where a piece lay, by its number, also where the piece itself can no longer be read; `None`
    /// where even that is not known.
    fn place(&mut self, number: usize) -> Option<Extent>;
    /// True if what is sealed outlives the process: what could not be restored by it can then be
    /// restored by another one.
    fn outlives_process(&self) -> bool {
        true
    }
    /// Reads a piece, by its number in the order of keeping; where it lay. An `Err` where it cannot
    /// be read as it was kept.
    fn piece(&mut self, number: usize, data: &mut Vec<u8>) -> Result<u64, String>;
    /// Everything is back: nothing needs to be kept any more.
    fn clear(&mut self) -> Result<(), String>;
}

/// Keeps in memory: for media that live no longer than the process.
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
