//! The registers of SD cards and eMMC, decoded (docs/field/identity.md#registers). Pure functions
//! on the hexadecimal text that sysfs shows.

use record::SpeedClasses;
use record::units::{KIB, MIB};

/// The hexadecimal digits of a register: bit 0 is the last bit of the last byte, as the standards
/// count.
struct Register<'a>(&'a str);

impl Register<'_> {
    /// `None` if the text is not exactly `bytes` bytes.
    fn of(text: &str, bytes: usize) -> Option<Register<'_>> {
        let text = text.trim();
        let is_whole = text.len() == bytes * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_whole.then_some(Register(text))
    }

    /// The bits from `high` down to `low`, both included: whole digits, at most 16.
    fn bits(&self, high: usize, low: usize) -> u64 {
        let bits = self.0.len() * 4;
        let digits = &self.0[(bits - 1 - high) / 4..(bits - low) / 4];
        u64::from_str_radix(digits, 16).unwrap_or_default()
    }

    /// The bytes from bit `high` down to bit `low` as text, without trailing blanks and NULs;
    /// characters that are not printable become '?'.
    fn ascii(&self, high: usize, low: usize) -> String {
        let starts = (low..high).step_by(8).rev();
        let text: String = starts.map(|bit| self.bits(bit + 7, bit) as u8 as char).collect();
        let text = text.trim_end_matches([' ', '\0']);
        text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect()
    }
}

/// Card identification register (CID), decoded from its 16 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cid {
    /// Manufacturer id (MID); 0x03 is SanDisk on an SD card.
    pub manufacturer: u8,
    /// OEM id: two characters.
    pub oem: String,
    /// Product name: 5 characters (SD) or 6 (MMC).
    pub name: String,
    /// Product revision (PRV), one number for each half of its byte: "8.0".
    pub revision: String,
}

impl Cid {
    /// The register of an SD card; `None` for any other text.
    pub fn sd(text: &str) -> Option<Cid> {
        Cid::of(text, 64)
    }

    /// The register of an MMC or eMMC.
    pub fn mmc(text: &str) -> Option<Cid> {
        Cid::of(text, 56)
    }

    /// The register whose name ends at this bit.
    fn of(text: &str, end: usize) -> Option<Cid> {
        let register = Register::of(text, 16)?;
        let bits = |high, low| register.bits(high, low);
        Some(Cid {
            manufacturer: bits(127, 120) as u8,
            oem: register.ascii(119, 104),
            name: register.ascii(103, end),
            revision: format!("{}.{}", bits(end - 1, end - 4), bits(end - 5, end - 8)),
        })
    }
}

/// Speed classes in the SD status register. A class that is 0 is not declared and becomes `None`.
pub fn speed_classes(ssr: &str) -> Option<SpeedClasses> {
    let register = Register::of(ssr, 64)?;
    let bits = |high, low| register.bits(high, low);
    let declared = |value: u64| (value != 0).then_some(value as u32);
    Some(SpeedClasses {
        speed_class: [0, 2, 4, 6, 10].get(bits(447, 440) as usize).copied().and_then(declared),
        uhs_grade: declared(bits(399, 396)),
        video_class: declared(bits(391, 384)),
        app_class: declared(bits(339, 336)),
        au_bytes: au_bytes(bits(431, 428)),
        uhs_au_bytes: au_bytes(bits(395, 392)),
    })
}

/// AU_SIZE and UHS_AU_SIZE by code; 0 is "not defined".
fn au_bytes(code: u64) -> Option<u64> {
    match code {
        1..=9 => Some((16 * KIB) << (code - 1)),
        0xA => Some(8 * MIB),
        0xB => Some(12 * MIB),
        0xC => Some(16 * MIB),
        0xD => Some(24 * MIB),
        0xE => Some(32 * MIB),
        0xF => Some(64 * MIB),
        _ => None,
    }
}

/// The usual maker behind an SD manufacturer id (docs/field/identity.md#manufacturer-ids). Ids are
/// not published; these were found on cards in use.
pub fn sd_manufacturer(id: u8) -> Option<&'static str> {
    Some(match id {
        0x01 => "Panasonic",
        0x02 => "Toshiba/Kingston/Viking",
        0x03 | 0x30 => "SanDisk",
        0x08 | 0x31 => "Silicon Power",
        0x18 => "Infineon",
        0x1b => "Transcend/Samsung",
        0x1c | 0x1e | 0x74 => "Transcend",
        0x1d => "Corsair/AData",
        0x1f | 0x41 => "Kingston",
        0x27 => "Delkin/Phison",
        0x28 => "Lexar",
        0x33 => "STMicroelectronics",
        0x6f => "STMicroelectronics/Silicon Motion",
        0x76 => "Patriot",
        0x82 => "Gobe/Sony",
        0x9c => "Angelbird",
        _ => return None,
    })
}

/// The usual maker behind an MMC manufacturer id (docs/field/identity.md#manufacturer-ids).
pub fn mmc_manufacturer(id: u8) -> Option<&'static str> {
    Some(match id {
        0x00 | 0x45 => "SanDisk",
        0x02 => "Kingston/SanDisk",
        0x03 | 0x11 => "Toshiba",
        0x13 | 0xfe => "Micron",
        0x15 => "Samsung/SanDisk/LG",
        0x2c | 0x70 => "Kingston",
        0x37 => "KingMax",
        0x44 => "ATP",
        0x90 => "Hynix",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_of_a_card_are_those_of_the_standard() {
        let units: Vec<u64> = (1..16).map(|code| au_bytes(code).unwrap() / KIB).collect();
        assert_eq!(
            units,
            [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536]
        );
        assert_eq!(speed_classes(&"0".repeat(128)), Some(SpeedClasses::default()));
    }

    proptest::proptest! {
        #[test]
        fn any_register_is_decoded_without_a_panic(text in "[0-9a-f]{32}", wide in "[0-9a-f]{128}") {
            proptest::prop_assert!(Cid::sd(&text).is_some() && Cid::mmc(&text).is_some());
            proptest::prop_assert!(speed_classes(&wide).is_some());
        }
    }
}
