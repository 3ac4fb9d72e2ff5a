//! Framing of a line of a journal: the CRC-32C of a JSON text in eight hex digits, a space, the
//! text, a newline.
//!
//! Every version keeps this framing for at least the first line, so that an older program can tell
//! a newer journal from a damaged one.

use crc::{CRC_32_ISCSI, Crc, Table};

static CRC_32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// CRC-32C of a line of a journal or a piece of a backup.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    CRC_32C.checksum(bytes)
}

/// Makes a line of a JSON text, which must not hold a newline.
pub(crate) fn frame(json: &str) -> String {
    format!("{:08x} {json}\n", checksum(json.as_bytes()))
}

/// JSON text of a whole line that passes its checksum.
pub(crate) fn unframe(line: &[u8]) -> Option<&[u8]> {
    let (head, json) = line.strip_suffix(b"\n")?.split_at_checked(9)?;
    (head == format!("{:08x} ", checksum(json)).as_bytes()).then_some(json)
}

/// JSON text of an event as the line of this number holds it. The number and the checksum of the
/// journal's first line, `of`, reveal a line that is out of its place or of another journal.
pub(crate) fn numbered(json: &str, number: u64, of: u32) -> String {
    format!("{}{}", start(number, of), json.strip_prefix('{').unwrap_or(json))
}

/// JSON text of the event in a line, if the line checks and is the one of this number.
pub(crate) fn event(line: &[u8], number: u64, of: u32) -> Option<Vec<u8>> {
    let rest = unframe(line)?.strip_prefix(start(number, of).as_bytes())?;
    Some([b"{", rest].concat())
}

fn start(number: u64, of: u32) -> String {
    format!("{{\"line\":{number},\"of\":\"{of:08x}\",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc_32c() {
        // The check value of CRC-32C: the CRC of "123456789" is e3069283.
        assert_eq!(frame("123456789"), "e3069283 123456789\n");
    }
}
