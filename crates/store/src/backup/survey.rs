//! Reading of a backup, also of a damaged one.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::frame::{HEADER_BYTES, MAGIC, PieceHeader, find_magic};
use super::{BackupDamage, MAX_PIECE_BYTES};

/// A piece and the offset of its header in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LocatedPiece {
    pub header: PieceHeader,
    pub at: u64,
    /// True if the data passes its checksum, or was not checked.
    pub sound: bool,
}

/// Pieces and damage of a backup, and the place of its next piece.
#[derive(Debug, Default)]
pub(super) struct BackupSurvey {
    /// Pieces in the order of keeping.
    pub pieces: Vec<LocatedPiece>,
    /// Description of the medium; `None` where it is damaged.
    pub medium: Option<String>,
    pub damage: Vec<BackupDamage>,
    /// End of the last whole piece in the file, in bytes: the place of the next one. Anything
    /// behind it was never sealed.
    pub end: u64,
    /// Number of the next piece.
    pub next: u64,
    /// Bytes at the end in which no header was found, and which are not zeros.
    unreadable_tail: u64,
    torn: Option<PieceHeader>,
}

/// Goes from header to header by their lengths, and from a damaged one to the next that is whole.
/// The data is read only with `check_data`, a piece at a time.
pub(super) fn survey(file: &File, check_data: bool) -> io::Result<BackupSurvey> {
    let size = file.metadata()?.len();
    let mut found = BackupSurvey { next: 1, ..BackupSurvey::default() };
    let mut at = 0;
    while at < size {
        at = match header_at(file, at)? {
            Some(header) => found.take(file, header, at, size, check_data)?,
            None => found.skip(file, at, size)?,
        };
    }
    found.conclude();
    Ok(found)
}

impl BackupSurvey {
    /// Adds a piece; returns the offset in the file at which the next one begins.
    fn take(
        &mut self,
        file: &File,
        header: PieceHeader,
        at: u64,
        size: u64,
        check_data: bool,
    ) -> io::Result<u64> {
        let end = at + HEADER_BYTES + u64::from(header.length);
        let is_followed = end == size || end < size && header_at(file, end)?.is_some();
        let next =
            if is_followed { Some(end) } else { next_header(file, at + HEADER_BYTES, size)? };
        if end > size && next.is_none() {
            // It was being kept when the program ended: nothing has been overwritten there.
            self.torn = Some(header);
            return Ok(size);
        }
        let kept = LocatedPiece { header, at, sound: end <= size };
        let mut data = Vec::new();
        if header.number == 0 {
            self.medium =
                read(file, &kept, &mut data)?.then(|| String::from_utf8_lossy(&data).into_owned());
        } else {
            let sound = kept.sound && (!check_data || read(file, &kept, &mut data)?);
            self.pieces.push(LocatedPiece { sound, ..kept });
        }
        self.end = end.min(size);
        Ok(next.unwrap_or(end))
    }

    /// Skips bytes that are not a header; returns the offset in the file at which the next one
    /// begins.
    fn skip(&mut self, file: &File, at: u64, size: u64) -> io::Result<u64> {
        let next = next_header(file, at + 1, size)?;
        if next.is_none() && !is_zeros(file, at, size)? {
            self.unreadable_tail = size - at;
            self.end = size;
        }
        Ok(next.unwrap_or(size))
    }

    fn conclude(&mut self) {
        self.pieces.sort_by_key(|kept| kept.header.number);
        self.pieces.dedup_by_key(|kept| kept.header);
        let mut before = 0u64;
        for kept in &self.pieces {
            let PieceHeader { number, offset_bytes, length, .. } = kept.header;
            if number > before.saturating_add(1) {
                self.damage.push(BackupDamage::Lost { first: before + 1, last: number - 1 });
            }
            if !kept.sound {
                self.damage.push(BackupDamage::Data { offset_bytes, bytes: u64::from(length) });
            }
            before = number;
        }
        self.next = before.saturating_add(1);
        let torn = self.torn.map(|header| BackupDamage::Torn {
            offset_bytes: header.offset_bytes,
            bytes: u64::from(header.length),
        });
        let tail = (self.unreadable_tail > 0)
            .then_some(BackupDamage::Tail { bytes: self.unreadable_tail });
        self.damage.extend(tail.into_iter().chain(torn));
    }
}

/// Reads the data of a piece; returns true if it passes its checksum.
pub(super) fn read(file: &File, kept: &LocatedPiece, data: &mut Vec<u8>) -> io::Result<bool> {
    data.resize(kept.header.length as usize, 0);
    let got = read_up_to(file, kept.at + HEADER_BYTES, data)?;
    kept.header.unmask(data);
    Ok(got == data.len() && kept.header.fits(data))
}

/// Header at this offset in the file, if there is a whole one.
pub(super) fn header_at(file: &File, at: u64) -> io::Result<Option<PieceHeader>> {
    let mut bytes = [0; HEADER_BYTES as usize];
    let got = read_up_to(file, at, &mut bytes)?;
    Ok(PieceHeader::read(&bytes[..got])
        .filter(|header| u64::from(header.length) <= MAX_PIECE_BYTES))
}

/// Offset of the next whole header, from `from` on.
fn next_header(file: &File, from: u64, size: u64) -> io::Result<Option<u64>> {
    let mut buffer = vec![0; 1 << 16];
    let mut at = from;
    while at < size {
        let got = read_up_to(file, at, &mut buffer)?;
        match find_magic(&buffer[..got]) {
            Some(place) if header_at(file, at + place as u64)?.is_some() => {
                return Ok(Some(at + place as u64));
            }
            Some(place) => at += place as u64 + 1,
            None if got < buffer.len() => return Ok(None),
            // The end of the buffer may hold the beginning of the next magic.
            None => at += (got - MAGIC.len() + 1) as u64,
        }
    }
    Ok(None)
}

fn is_zeros(file: &File, from: u64, size: u64) -> io::Result<bool> {
    let mut buffer = vec![0; 1 << 16];
    let mut at = from;
    while at < size {
        let got = read_up_to(file, at, &mut buffer)?;
        if got == 0 || buffer[..got].iter().any(|byte| *byte != 0) {
            return Ok(got == 0);
        }
        at += got as u64;
    }
    Ok(true)
}

/// Fills the buffer as far as the file goes; returns the number of bytes read.
fn read_up_to(file: &File, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read_at(&mut buffer[got..], at + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}
