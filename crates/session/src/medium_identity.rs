//! Identity of media: some report one of their own, others one that many media share.

use record::Medium;

/// Serial numbers that many media share: placeholders of a maker.
const SHARED: [&str; 3] = ["0123456789ABCDEF", "123456789", "1234567890"];

/// True if a medium has an identity of its own. A reader that hides its card shows the same
/// identity for every card, and a maker who does not number its media gives all of them the same.
pub fn has_own_identity(medium: &Medium) -> bool {
    let is_own = |id: &String| {
        let id = id.trim().trim_start_matches("0x").to_ascii_uppercase();
        id.chars().any(|c| c.is_ascii_alphanumeric() && c != '0')
            && !SHARED.iter().any(|shared| id.trim_matches('0') == shared.trim_matches('0'))
    };
    // The digits of a CID that are the serial number (docs/field/identity.md#registers).
    let of_cid = medium.cid.as_ref().and_then(|cid| cid.get(18..26)).map(str::to_owned);
    let serial = of_cid.or_else(|| medium.serial.clone());
    serial.is_some_and(|serial| is_own(&serial))
        && medium.behind_reader != Some(true)
        && medium.capacity_bytes.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(serial: &str) -> Medium {
        Medium { serial: Some(serial.into()), capacity_bytes: Some(32 << 30), ..Medium::default() }
    }

    #[test]
    fn a_medium_without_a_unique_serial_is_not_recognised() {
        assert!(has_own_identity(&card("4C530001240801112214")));
        for shared in ["", " ", "0000000000", "0x00000000", "123456789", "0123456789abcdef"] {
            assert!(!has_own_identity(&card(shared)), "{shared:?}");
        }
        let reader = Medium { behind_reader: Some(true), ..card("4C530001") };
        assert!(!has_own_identity(&reader), "it is the reader's");
        let cid = |serial: &str| Medium {
            cid: Some(format!("035344534333324780{serial}00c7b5")),
            ..card("4C530001")
        };
        assert!(has_own_identity(&cid("1a2b3c4d")) && !has_own_identity(&cid("00000000")));
        assert!(!has_own_identity(&Medium { capacity_bytes: None, ..card("4C530001") }));
    }
}
