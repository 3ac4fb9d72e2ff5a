//! A line of a journal: the CRC-32C of a JSON text in eight hex digits, a space, the text, a newline.
//!
//! Every version keeps this framing for at least the first line, so that an older program can tell a newer journal from a damaged
//! one.

use crc::{CRC_32_ISCSI, Crc, Table};

static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

fn checksum(json: &[u8]) -> String {
    format!("{:08x}", CRC_32C.checksum(json))
}

/// A JSON text (which holds no newline) as a line.
pub(crate) fn frame(json: &str) -> String {
    format!("{} {json}\n", checksum(json.as_bytes()))
}

/// The JSON text of a line without its newline, or what is wrong with it.
fn unframe(line: &[u8]) -> Result<&[u8], &'static str> {
    let Some((head, json)) = line.split_at_checked(9) else { return Err("it is too short") };
    match head.strip_suffix(b" ") {
        None => Err("it has no checksum"),
        Some(crc) if crc != checksum(json).as_bytes() => Err("its checksum does not match"),
        Some(_) => Ok(json),
    }
}

/// The lines that were found.
#[derive(Debug, PartialEq)]
pub(crate) struct Scan<'a> {
    /// The JSON text of each.
    pub lines: Vec<&'a [u8]>,
    /// How many bytes they take, framing included.
    pub sound_bytes: u64,
    /// Whether something follows that is no whole line: the writer was stopped in the middle of it.
    pub torn_tail: bool,
}

/// A line that is damaged although others follow it, so no interrupted write explains it.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    /// Counted from 1.
    pub number: usize,
    pub reason: &'static str,
}

/// Takes a journal apart.
pub(crate) fn scan(bytes: &[u8]) -> Result<Scan<'_>, BadLine> {
    let mut found = Scan { lines: Vec::new(), sound_bytes: 0, torn_tail: false };
    let mut end = 0;
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        end += piece.len();
        let json = piece.strip_suffix(b"\n").ok_or("its end is missing").and_then(unframe);
        match json {
            Ok(json) => found.lines.push(json),
            Err(_) if end == bytes.len() => {
                found.torn_tail = true;
                break;
            }
            Err(reason) => return Err(BadLine { number: found.lines.len() + 1, reason }),
        }
        found.sound_bytes = end as u64;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc_32c() {
        // The check value of CRC-32C: the CRC of "123456789" is e3069283.
        assert_eq!(frame("123456789"), "e3069283 123456789\n");
    }

    #[test]
    fn a_bad_last_line_is_torn_and_a_bad_inner_line_is_damage() {
        let (one, two) = (frame("1"), frame("22"));
        let good = format!("{one}{two}");
        assert_eq!(scan(good.as_bytes()), Ok(Scan { lines: vec![b"1", b"22"], sound_bytes: good.len() as u64, torn_tail: false }));
        for tail in ["0", "00000000 3", "00000000 3\n", "\n", "\0\0\0\0\n"] {
            let torn = format!("{good}{tail}");
            let found = scan(torn.as_bytes()).unwrap();
            assert_eq!((found.lines.len(), found.sound_bytes, found.torn_tail), (2, good.len() as u64, true), "{tail:?}");
        }
        let damaged = format!("{one}00000000 3\n{two}");
        assert_eq!(scan(damaged.as_bytes()), Err(BadLine { number: 2, reason: "its checksum does not match" }));
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_bytes_no_line_is_made_up(bytes: Vec<u8>) {
            if let Ok(found) = scan(&bytes) {
                assert!(found.sound_bytes <= bytes.len() as u64);
                assert_eq!(found.torn_tail, found.sound_bytes < bytes.len() as u64);
            }
        }
    }
}
