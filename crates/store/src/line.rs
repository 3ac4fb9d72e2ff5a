//! Framing of a line of a journal: the CRC-32C of a JSON text in eight hex digits, a space, the
//! text, a newline.
//!
//! Every version keeps this framing for at least the first line, so that an older program can tell
//! a newer journal from a damaged one. The checksum does not cover the newline, so a line whose
//! newline is damaged is still found.

use std::ops::Range;

use crc::{CRC_32_ISCSI, Crc, Table};
use serde::de::IgnoredAny;

static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// CRC-32C of a line of a journal or a piece of a backup.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes)
}

/// Makes a line of a JSON text, which must not hold a newline.
pub(crate) fn frame(json: &str) -> String {
    format!("{:08x} {json}\n", checksum(json.as_bytes()))
}

/// JSON text of a line that passes its checksum; else the reason why it does not.
fn unframe(line: &[u8]) -> Result<&[u8], &'static str> {
    let Some((head, json)) = line.split_at_checked(HEAD_BYTES) else {
        return Err("it is too short");
    };
    match head.strip_suffix(b" ") {
        None => Err("it has no checksum"),
        Some(crc) if crc != format!("{:08x}", checksum(json)).as_bytes() => {
            Err("its checksum does not match")
        }
        Some(_) => Ok(json),
    }
}

/// Length of the prefix before the JSON text: eight hex digits and a space.
const HEAD_BYTES: usize = 9;

/// A piece of a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePiece<'a> {
    /// The JSON text of a line that passes its checksum.
    Line(&'a [u8]),
    /// Bytes that are not such a line.
    Bad { bytes: &'a [u8], reason: &'static str },
}

/// Pieces of a journal, in the order of the file.
#[derive(Debug, PartialEq)]
pub(crate) struct JournalPieces<'a> {
    pub pieces: Vec<LinePiece<'a>>,
    /// Length of the pieces, in bytes. The rest of the file is torn.
    pub sound_bytes: u64,
    /// True if an incomplete line follows: the writer was stopped in the middle of it.
    pub torn_tail: bool,
    /// True if the newline behind the last line is damaged: it must be written before the next
    /// line.
    pub open_end: bool,
}

/// Splits a journal into pieces, whatever its bytes are. A bad line costs itself only; two lines
/// that run together because the newline between them is damaged are both found.
pub(crate) fn scan(bytes: &[u8]) -> JournalPieces<'_> {
    let mut found =
        JournalPieces { pieces: Vec::new(), sound_bytes: 0, torn_tail: false, open_end: false };
    let mut start = 0;
    for stretch in bytes.split_inclusive(|byte| *byte == b'\n') {
        match stretch.strip_suffix(b"\n") {
            Some(line) => found.take(line),
            None => return found.take_tail(stretch, start),
        }
        start += stretch.len();
    }
    found.sound_bytes = bytes.len() as u64;
    found
}

impl<'a> JournalPieces<'a> {
    /// Adds the bytes between two newlines.
    fn take(&mut self, stretch: &'a [u8]) {
        // A tool that wrote the file anew as text may have added it.
        let text = stretch.strip_suffix(b"\r").unwrap_or(stretch);
        match unframe(text) {
            Ok(json) => self.pieces.push(LinePiece::Line(json)),
            Err(reason) => {
                let end = self.take_lines(stretch, embedded(stretch), reason);
                if end < stretch.len() || stretch.is_empty() {
                    self.pieces.push(LinePiece::Bad { bytes: &stretch[end..], reason });
                }
            }
        }
    }

    /// Adds the lines found within a stretch, and the bytes before each; returns the end of the
    /// last line.
    fn take_lines(
        &mut self,
        stretch: &'a [u8],
        lines: Vec<Range<usize>>,
        reason: &'static str,
    ) -> usize {
        let mut end = 0;
        for line in lines {
            if end < line.start {
                self.pieces.push(LinePiece::Bad { bytes: &stretch[end..line.start], reason });
            }
            self.pieces.push(LinePiece::Line(&stretch[line.start + HEAD_BYTES..line.end]));
            end = line.end;
        }
        end
    }

    /// Adds the bytes behind the last newline, which begin at `start`: an incomplete line, or some
    /// whose newlines are damaged.
    fn take_tail(mut self, tail: &'a [u8], start: usize) -> JournalPieces<'a> {
        let mut lines = embedded(tail);
        // The byte of the newline is missing: this line was never acknowledged.
        lines.retain(|line| line.end < tail.len());
        let end = self.take_lines(tail, lines, "its end is missing");
        JournalPieces {
            sound_bytes: (start + end) as u64,
            torn_tail: true,
            open_end: end > 0,
            ..self
        }
    }
}

/// Ranges of the lines that pass their checksum within a stretch that is not a line as a whole.
fn embedded(stretch: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_head(stretch, at) {
        let text = &stretch[start + HEAD_BYTES..];
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
        let end =
            values.next().and_then(Result::ok).map(|_| start + HEAD_BYTES + values.byte_offset());
        at = match end {
            Some(end) if unframe(&stretch[start..end]).is_ok() => {
                found.push(start..end);
                end
            }
            _ => start + 1,
        };
    }
    found
}

/// Index of the next place, from `from` on, that looks like a checksum, a space and a JSON object.
fn next_head(stretch: &[u8], from: usize) -> Option<usize> {
    let is_head =
        |head: &[u8]| head.ends_with(b" {") && head[..8].iter().all(u8::is_ascii_hexdigit);
    Some(from + stretch.get(from..)?.windows(HEAD_BYTES + 1).position(is_head)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines<'a>(found: &JournalPieces<'a>) -> Vec<&'a str> {
        let line = |piece: &LinePiece<'a>| match piece {
            LinePiece::Line(json) => Some(std::str::from_utf8(json).unwrap()),
            LinePiece::Bad { .. } => None,
        };
        found.pieces.iter().filter_map(line).collect()
    }

    fn bad(found: &JournalPieces<'_>) -> usize {
        found.pieces.len() - lines(found).len()
    }

    #[test]
    fn the_checksum_is_crc_32c() {
        // The check value of CRC-32C: the CRC of "123456789" is e3069283.
        assert_eq!(frame("123456789"), "e3069283 123456789\n");
    }

    #[test]
    fn a_line_without_its_end_is_torn_and_a_bad_one_costs_only_itself() {
        let (one, two) = (frame("1"), frame("22"));
        let good = format!("{one}{two}");
        let found = scan(good.as_bytes());
        assert_eq!(
            (lines(&found), found.sound_bytes, found.torn_tail),
            (vec!["1", "22"], good.len() as u64, false)
        );
        for tail in ["0", "00000000 3", &two[..two.len() - 1]] {
            let torn = format!("{good}{tail}");
            let found = scan(torn.as_bytes());
            assert_eq!(
                (found.pieces.len(), found.sound_bytes, found.torn_tail),
                (2, good.len() as u64, true),
                "{tail:?}"
            );
            assert!(!found.open_end);
        }
        for inner in ["00000000 3\n", "\n", "\0\0\0\0\n", "e3069283 123456788\n"] {
            let damaged = format!("{one}{inner}{two}");
            let found = scan(damaged.as_bytes());
            assert_eq!((lines(&found), bad(&found)), (vec!["1", "22"], 1), "{inner:?}");
        }
    }

    #[test]
    fn lines_that_run_together_are_both_found() {
        let (one, two) = (frame(r#"{"a":"{b"}"#), frame(r#"{"c":[]}"#));
        for between in ["\x0b", "", "junk 00000000 {", "0"] {
            let joined = format!("{}{between}{two}", one.trim_end());
            let found = scan(joined.as_bytes());
            assert_eq!(lines(&found), [r#"{"a":"{b"}"#, r#"{"c":[]}"#], "{between:?}");
            assert_eq!(bad(&found), usize::from(!between.is_empty()));
            assert!(!found.torn_tail);
        }
        let as_text = format!("{one}{two}").replace('\n', "\r\n");
        assert_eq!(
            (lines(&scan(as_text.as_bytes())).len(), bad(&scan(as_text.as_bytes()))),
            (2, 0)
        );
    }

    #[test]
    fn a_last_line_whose_newline_is_damaged_is_kept() {
        let whole = frame(r#"{"a":1}"#);
        let damaged = format!("{}\x0b", whole.trim_end());
        let found = scan(damaged.as_bytes());
        assert_eq!(
            (lines(&found), found.sound_bytes),
            (vec![r#"{"a":1}"#], whole.len() as u64 - 1)
        );
        assert!(found.torn_tail && found.open_end);
    }

    proptest::proptest! {
        #[test]
        fn random_bytes_give_no_line(bytes: Vec<u8>) {
            let found = scan(&bytes);
            proptest::prop_assert!(found.sound_bytes <= bytes.len() as u64);
            proptest::prop_assert_eq!(found.torn_tail, found.sound_bytes < bytes.len() as u64);
            proptest::prop_assert_eq!(lines(&found), Vec::<&str>::new());
        }
    }
}
