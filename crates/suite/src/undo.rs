//! What is lent: kept before it is overwritten, and put back.

#[cfg(test)]
pub(crate) mod failing;
mod put_back;
mod range_read;
#[cfg(test)]
mod tests;

use device::Extent;

pub use put_back::{
    Interruption, LostPlace, PIECE_BYTES, PutBack, RestoreProgress, Trust, Why, put_back,
};

/// Keeps what lies on a medium before a test overwrites it, so that it can be put back, also by
/// another process.
///
/// # Contract
/// - [`make_room`](Undo::make_room) comes first, once. Nothing is lent where it fails.
/// - Nothing may be overwritten before [`seal`](Undo::seal) has returned for the piece that lay
///   there.
/// - Pieces keep the order in which they were kept; they are put back in the reverse order, which
///   is exact also where addresses fold.
/// - [`clear`](Undo::clear) is called when every piece is back, and never before. As long as it has
///   pieces, something is owed.
pub trait Undo {
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
    /// Whether what is sealed outlives the process: what could not be put back by it can then be
    /// put back by another one.
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
pub struct MemoryUndo {
    pieces: Vec<(u64, Box<[u8]>)>,
}

impl Undo for MemoryUndo {
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
