//! Check that a text is a histogram, without decoding it: a decoded one takes 270 kB, its text a
//! few hundred bytes.
//!
//! The format is HdrHistogram's second (V2, with DEFLATE or without): a head, then the counts from
//! the smallest value on as zig-zag numbers of 7 bits a byte, a negative one being so many zeros.

use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;

use super::{CEILING_NS, HistogramError};

/// The first four bytes of the V2 form, without DEFLATE and with it.
const PLAIN: u32 = 0x1c84_9313;
const COMPRESSED: u32 = 0x1c84_9314;
/// Length of the head before the counts, in bytes.
const HEAD_BYTES: usize = 40;
/// Most significant digits: each further one takes ten times the memory.
const MAX_DIGITS: u32 = 3;
/// Most bytes of a text; the counts of our histograms, with nine bytes each, fit several times.
const MAX_BYTES: usize = 1 << 20;
/// Number of counts in a histogram of ours.
pub(super) const PLACES: u64 = 33_792;

/// A histogram without its base64 and its compression.
pub(super) struct Plain {
    /// Bytes of the plain form, head and all.
    pub bytes: Vec<u8>,
    /// True if it is compressed, and its bounds are those of our histograms.
    pub is_ours: bool,
    /// Counts that are not 0, with their indices in a histogram of ours.
    pub counts: Vec<(u16, u64)>,
}

/// Smallest and largest value, in ns, that count at an index of a histogram of ours: single values
/// up to 2047, then steps of a thousandth.
pub(super) fn values(place: u16) -> (u64, u64) {
    let place = u64::from(place);
    if place < 2048 {
        return (place, place);
    }
    let bucket = (place >> 10) - 1;
    let low = ((place & 1023) + 1024) << bucket;
    (low, low + (1 << bucket) - 1)
}

/// Decodes a text. No input makes this take more than a few megabytes.
pub(super) fn plain(text: &str) -> Result<Plain, HistogramError> {
    if text.len() > MAX_BYTES {
        return Err(HistogramError("it is longer than 1 MiB".into()));
    }
    let coded = STANDARD.decode(text).map_err(|e| HistogramError(e.to_string()))?;
    let form = be_u32(&coded, 0)?;
    let bytes = match form {
        PLAIN => whole(coded.as_slice())?,
        COMPRESSED => whole(ZlibDecoder::new(
            coded.get(8..).unwrap_or_default().take(u64::from(be_u32(&coded, 4)?)),
        ))?,
        _ => return Err(HistogramError("it begins with something else".into())),
    };
    if be_u32(&bytes, 0)? != PLAIN {
        return Err(HistogramError("something else is in it".into()));
    }
    if (be_u32(&bytes, 8)?, f64::from_bits(be_u64(&bytes, 32)?)) != (0, 1.0) {
        return Err(HistogramError("it is shifted or scaled".into()));
    }
    let digits = be_u32(&bytes, 12)?;
    if digits > MAX_DIGITS {
        return Err(HistogramError(format!("it has {digits} digits, more than {MAX_DIGITS}")));
    }
    let has_bounds = (be_u64(&bytes, 16)?, be_u64(&bytes, 24)?, digits) == (1, CEILING_NS, 3);
    let counts = counts(&bytes[HEAD_BYTES..], if has_bounds { PLACES } else { u64::MAX })?;
    Ok(Plain { bytes, is_ours: has_bounds && form == COMPRESSED, counts })
}

/// Reads the head and as many bytes as it announces.
fn whole(mut from: impl Read) -> Result<Vec<u8>, HistogramError> {
    let torn = |error: std::io::Error| HistogramError(error.to_string());
    let mut bytes = vec![0; HEAD_BYTES];
    from.read_exact(&mut bytes).map_err(torn)?;
    let counts_bytes = be_u32(&bytes, 4)? as usize;
    if counts_bytes > MAX_BYTES {
        return Err(HistogramError("its counts are longer than 1 MiB".into()));
    }
    bytes.resize(HEAD_BYTES + counts_bytes, 0);
    from.read_exact(&mut bytes[HEAD_BYTES..]).map_err(torn)?;
    Ok(bytes)
}

fn be_u32(bytes: &[u8], at: usize) -> Result<u32, HistogramError> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_be_bytes).ok_or_else(|| HistogramError("it is too short".into()))
}

fn be_u64(bytes: &[u8], at: usize) -> Result<u64, HistogramError> {
    Ok(u64::from(be_u32(bytes, at)?) << 32 | u64::from(be_u32(bytes, at + 4)?))
}

/// Decodes the counts that are not 0. Checks that their indices exist and their sum fits into a
/// number.
fn counts(mut coded: &[u8], places: u64) -> Result<Vec<(u16, u64)>, HistogramError> {
    let (mut at, mut total, mut counts) = (0u64, 0u64, Vec::new());
    while let Some((number, bytes)) = varint(coded)? {
        coded = &coded[bytes..];
        // Zig-zag: 0, -1, 1, -2, ...
        if number & 1 == 1 {
            at = at.saturating_add((number >> 1) + 1);
            continue;
        }
        let count = number >> 1;
        if count > 0 && at >= places {
            return Err(HistogramError("it has more counts than places".into()));
        }
        // The indices of another form mean nothing here.
        if let (true, Ok(place)) = (count > 0, u16::try_from(at)) {
            counts.push((place, count));
        }
        total = total
            .checked_add(count)
            .ok_or_else(|| HistogramError("its counts are more than can be".into()))?;
        at = at.saturating_add(1);
    }
    Ok(counts)
}

/// First number and its length; `None` at the end. Seven bits a byte, the lowest first; all eight
/// of a ninth.
fn varint(bytes: &[u8]) -> Result<Option<(u64, usize)>, HistogramError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let mut number = 0;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        let value = if at == 8 { *byte } else { byte & 0x7f };
        number |= u64::from(value) << (7 * at);
        if at == 8 || byte & 0x80 == 0 {
            // -2^63 zeros are never meant, and have no positive counterpart.
            return if number == u64::MAX {
                Err(HistogramError("it skips too much".into()))
            } else {
                Ok(Some((number, at + 1)))
            };
        }
    }
    Err(HistogramError("it ends in the middle of a count".into()))
}
