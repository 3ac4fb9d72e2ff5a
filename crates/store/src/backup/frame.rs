//! Format of a piece in a backup: a header of 40 bytes, then the data.
//!
//! Little-endian: magic (8 bytes), number (8), offset on the medium (8), length of the data (4),
//! mask (4), CRC-32C of the data (4), CRC-32C of the 36 bytes before (4). The data may hold a
//! backup itself (the medium may have been somebody's results disk), and a search for the next
//! header behind a damaged one must not find that. So the data is combined with a mask (exclusive
//! or, the four bytes over and over) in which the magic does not occur; 0 where it does not occur
//! anyway.

use crate::line::checksum;

/// Bytes before the data of each piece.
pub(super) const HEADER_BYTES: u64 = 40;
/// The first byte is not text and the last is a newline, so that a copy in text mode shows.
pub(super) const MAGIC: [u8; 8] = *b"\x89FMUNDO\n";

/// Header before the data of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceHeader {
    /// Number of the piece, from 1; number 0 is the description of the medium.
    pub number: u64,
    /// Offset on the medium, in bytes.
    pub offset_bytes: u64,
    /// Length of the data, in bytes, at most 1 MiB in a log.
    pub length: u32,
    mask: u32,
    /// CRC-32C of the data without the mask.
    pub checksum: u32,
}

impl PieceHeader {
    /// Parses 40 bytes; `None` where they are not a header, or a damaged one.
    pub fn read(bytes: &[u8]) -> Option<PieceHeader> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let mut words = rest
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        let mut word = || words.next();
        let mut long = || Some(u64::from(word()?) | u64::from(word()?) << 32);
        let (number, offset_bytes) = (long()?, long()?);
        let header =
            PieceHeader { number, offset_bytes, length: word()?, mask: word()?, checksum: word()? };
        (word()? == checksum(bytes.get(..36)?)).then_some(header)
    }

    /// Removes the mask, or applies it.
    pub fn unmask(&self, data: &mut [u8]) {
        apply(self.mask, data);
    }

    /// True if this data, without the mask, passes the checksum.
    pub fn fits(&self, data: &[u8]) -> bool {
        data.len() as u64 == u64::from(self.length) && checksum(data) == self.checksum
    }
}

/// Makes a piece as it is written: its header, and the bytes of header and data. `data` is shorter
/// than 4 GiB.
pub(super) fn frame(number: u64, offset_bytes: u64, data: &[u8]) -> (PieceHeader, Vec<u8>) {
    let (mask, masked) = masked(data);
    let (length, checksum_of_data) = (data.len() as u32, checksum(data));
    let mut bytes = Vec::with_capacity(HEADER_BYTES as usize + data.len());
    bytes.extend(MAGIC);
    bytes.extend(number.to_le_bytes());
    bytes.extend(offset_bytes.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(mask.to_le_bytes());
    bytes.extend(checksum_of_data.to_le_bytes());
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes.extend(masked);
    (PieceHeader { number, offset_bytes, length, mask, checksum: checksum_of_data }, bytes)
}

/// Combines the data with the first mask in which the magic does not occur; returns both.
fn masked(data: &[u8]) -> (u32, Vec<u8>) {
    let mut masked = data.to_vec();
    for attempt in 0u32.. {
        // An odd factor: every attempt is another mask, and all four bytes change early.
        let mask = attempt.wrapping_mul(0x9e37_79b1);
        masked.copy_from_slice(data);
        apply(mask, &mut masked);
        if find_magic(&masked).is_none() {
            return (mask, masked);
        }
    }
    unreachable!("data of less than 4 GiB cannot hold the magic under every mask")
}

fn apply(mask: u32, data: &mut [u8]) {
    if mask != 0 {
        data.chunks_mut(4).for_each(|word| {
            word.iter_mut().zip(mask.to_le_bytes()).for_each(|(byte, mask)| *byte ^= mask)
        });
    }
}

/// Index of the first magic.
pub(super) fn find_magic(bytes: &[u8]) -> Option<usize> {
    bytes.windows(MAGIC.len()).position(|window| window == MAGIC)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_piece_is_read_back_and_its_data_never_holds_the_magic(data: Vec<u8>, at in 0usize..64, number: u64, offset: u64) {
            let mut data = data;
            let at = at.min(data.len());
            data.splice(at..at, MAGIC);
            let (header, mut framed) = frame(number, offset, &data);
            proptest::prop_assert_eq!(find_magic(&framed[1..]), None);
            let (head, kept) = framed.split_at_mut(HEADER_BYTES as usize);
            proptest::prop_assert_eq!(PieceHeader::read(head), Some(header));
            proptest::prop_assert_eq!((header.number, header.offset_bytes), (number, offset));
            header.unmask(kept);
            proptest::prop_assert!(header.fits(kept) && *kept == data);
        }
    }
}
