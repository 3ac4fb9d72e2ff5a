//! The registers of SD cards and eMMC, decoded (docs/field/identity.md#registers). Pure functions
//! on the hexadecimal text that sysfs shows.

use record::SpeedClasses;
use record::units::{KIB, MIB};

/// A register: bit 0 is the last bit of the last byte, as the standards count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register(Vec<u8>);

impl Register {
    /// Parses the hexadecimal text; `None` if it is not exactly `bytes` bytes.
    pub fn from_hex(text: &str, bytes: usize) -> Option<Register> {
        let text = text.trim();
        if text.len() != bytes * 2 || !text.is_ascii() {
            return None;
        }
        let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        (0..text.len()).step_by(2).map(byte).collect::<Option<Vec<u8>>>().map(Register)
    }

    /// The bits from `high` down to `low`, both included, at most 64 of them.
    fn bits(&self, high: usize, low: usize) -> u64 {
        let last = self.0.len() * 8 - 1;
        (low..=high).rev().fold(0, |value, bit| {
            let byte = self.0[(last - bit) / 8];
            value << 1 | u64::from(byte >> (bit % 8) & 1)
        })
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

/// The checksum of SD and MMC commands and registers: x^7 + x^3 + 1, most significant bit first.
pub fn crc7(bytes: &[u8]) -> u8 {
    let mut crc = 0u8;
    for byte in bytes {
        for bit in (0..8).rev() {
            let carry = (byte >> bit & 1) ^ (crc >> 6 & 1);
            crc = (crc << 1 & 0x7f) ^ (carry * 0x09);
        }
    }
    crc
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
    /// Product serial number (PSN), all 32 bits.
    pub serial: u32,
    /// Year of manufacture; `None` for an MMC, where it depends on another register.
    pub year: Option<u32>,
    /// Month of manufacture, 1 to 12 on an honest card.
    pub month: u32,
    /// True if the checksum fits; `None` where the host controller has cut it off.
    pub checksum_fits: Option<bool>,
}

impl Cid {
    /// The register of an SD card; `None` for any other text.
    pub fn sd(text: &str) -> Option<Cid> {
        let register = Register::from_hex(text, 16)?;
        let year = Some(2000 + register.bits(19, 12) as u32);
        Some(Cid { year, month: register.bits(11, 8) as u32, ..Cid::of(&register, 64) })
    }

    /// The register of an MMC or eMMC, without the year: it needs the revision of EXT_CSD, and
    /// sysfs has it (`date`).
    pub fn mmc(text: &str) -> Option<Cid> {
        Some(Cid::of(&Register::from_hex(text, 16)?, 56))
    }

    /// The register whose name ends at this bit, with the month of an MMC.
    fn of(register: &Register, end: usize) -> Cid {
        let bits = |high, low| register.bits(high, low);
        Cid {
            manufacturer: bits(127, 120) as u8,
            oem: register.ascii(119, 104),
            name: register.ascii(103, end),
            revision: format!("{}.{}", bits(end - 1, end - 4), bits(end - 5, end - 8)),
            serial: bits(end - 9, end - 40) as u32,
            year: None,
            month: bits(15, 12) as u32,
            checksum_fits: checksum_fits(register),
        }
    }
}

/// Checks the last byte of a CID or CSD: its checksum and a 1 bit. A controller that checks it
/// itself leaves 0 there: `None`.
fn checksum_fits(register: &Register) -> Option<bool> {
    let (stored, bytes) = register.0.split_last()?;
    (*stored != 0).then(|| stored >> 1 == crc7(bytes))
}

/// Card specific data of an SD card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csd {
    /// Capacity in bytes as the card declares it; `None` for an unknown version of the register.
    pub capacity_bytes: Option<u64>,
    /// Highest transfer rate per data line before any mode switch, in bits per second.
    pub line_bps: Option<u64>,
    /// True if the card declares itself write protected (permanently or temporarily).
    pub write_protected: bool,
}

impl Csd {
    /// The register of an SD card; `None` for any other text.
    pub fn sd(text: &str) -> Option<Csd> {
        let register = Register::from_hex(text, 16)?;
        let bits = |high, low| register.bits(high, low);
        let capacity_bytes = match bits(127, 126) {
            0 => Some((bits(73, 62) + 1) << (bits(49, 47) + 2 + bits(83, 80))),
            1 => Some((bits(69, 48) + 1) * 512 * KIB),
            2 => Some((bits(75, 48) + 1) * 512 * KIB),
            _ => None,
        };
        Some(Csd {
            capacity_bytes,
            line_bps: transfer_speed(bits(103, 96)),
            write_protected: bits(13, 12) != 0,
        })
    }
}

/// TRAN_SPEED: a unit in powers of ten and a factor in tenths, both by code.
fn transfer_speed(code: u64) -> Option<u64> {
    const TENTHS: [u64; 16] = [0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80];
    let unit = 10_000 * 10u64.checked_pow((code & 7) as u32).filter(|power| *power <= 1000)?;
    let tenths = TENTHS[(code >> 3 & 15) as usize];
    (tenths > 0).then_some(unit * tenths)
}

/// SD configuration register (SCR), decoded from its 8 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scr {
    /// Version of the physical layer specification, "3.0x", "6.xx".
    pub version: &'static str,
    /// Data lines the card can use.
    pub bus_widths: Vec<u32>,
}

impl Scr {
    /// Parses the 16 hexadecimal digits of sysfs; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Scr> {
        let register = Register::from_hex(text, 8)?;
        let bits = |high, low| register.bits(high, low);
        let version = match (bits(59, 56), bits(47, 47), bits(42, 42), bits(41, 38)) {
            (0, ..) => "1.0x",
            (1, ..) => "1.10",
            (2, 0, ..) => "2.00",
            (2, 1, 0, 0) => "3.0x",
            (2, 1, 1, 0) => "4.xx",
            (2, 1, _, 1) => "5.xx",
            (2, 1, _, 2) => "6.xx",
            (2, 1, _, 3) => "7.xx",
            (2, 1, _, 4) => "8.xx",
            (2, 1, _, 5) => "9.xx",
            _ => "newer",
        };
        let bus_widths = [(48, 1), (50, 4)]
            .into_iter()
            .filter(|(bit, _)| bits(*bit, *bit) == 1)
            .map(|(_, width)| width);
        Some(Scr { version, bus_widths: bus_widths.collect() })
    }
}

/// Speed classes in the SD status register. A class that is 0 is not declared and becomes `None`.
pub fn speed_classes(ssr: &str) -> Option<SpeedClasses> {
    let register = Register::from_hex(ssr, 64)?;
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
        0x03 => "SanDisk",
        0x08 => "Silicon Power",
        0x18 => "Infineon",
        0x1b => "Transcend/Samsung",
        0x1c | 0x1e => "Transcend",
        0x1d => "Corsair/AData",
        0x1f | 0x41 => "Kingston",
        0x27 => "Delkin/Phison",
        0x28 => "Lexar",
        0x30 => "SanDisk",
        0x31 => "Silicon Power",
        0x33 => "STMicroelectronics",
        0x6f => "STMicroelectronics/Silicon Motion",
        0x74 => "Transcend",
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

    /// The card of a QEMU machine, from its sysfs: XY, "QEMU!", 0xdeadbeef, 2006-02, the checksum
    /// cut off.
    const QEMU_CID: &str = "aa585951454d552101deadbeef006200";

    #[test]
    fn the_checksum_is_that_of_the_standard() {
        // the three worked examples of the SD physical layer specification: CMD0, CMD17, and the
        // answer to CMD17
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0b100_1010);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0b010_1010);
        assert_eq!(crc7(&[0x11, 0, 0, 0x09, 0]), 0b011_0011);
    }

    #[test]
    fn an_sd_cid_is_decoded() {
        let mut cid = Cid::sd(QEMU_CID).unwrap();
        assert_eq!((cid.manufacturer, cid.oem.as_str(), cid.name.as_str()), (0xaa, "XY", "QEMU!"));
        assert_eq!(
            (cid.revision.as_str(), cid.serial, cid.year, cid.month),
            ("0.1", 0xdead_beef, Some(2006), 2)
        );
        cid = Cid::sd("035344534c31364780b5ef9a00013700").unwrap();
        assert_eq!(
            (sd_manufacturer(cid.manufacturer), cid.name.as_str()),
            (Some("SanDisk"), "SL16G")
        );
        assert_eq!(
            (cid.year, cid.month, cid.revision.as_str(), cid.checksum_fits),
            (Some(2019), 7, "8.0", None)
        );
    }

    #[test]
    fn an_mmc_cid_has_one_more_character_and_no_year() {
        let cid = Cid::mmc("150100424a4e4234520a1b2c3d4e7f00").unwrap();
        assert_eq!(
            (mmc_manufacturer(cid.manufacturer), cid.name.as_str()),
            (Some("Samsung/SanDisk/LG"), "BJNB4R")
        );
        assert_eq!((cid.serial, cid.month, cid.year), (0x1b2c_3d4e, 7, None));
    }

    #[test]
    fn a_changed_bit_breaks_the_checksum() {
        let body: Vec<u8> = (0..15)
            .map(|at| u8::from_str_radix(&QEMU_CID[at * 2..at * 2 + 2], 16).unwrap())
            .collect();
        let sealed = format!("{}{:02x}", record::text::hex(&body), crc7(&body) << 1 | 1);
        assert_eq!(Cid::sd(&sealed).unwrap().checksum_fits, Some(true));
        let forged = sealed.replacen("deadbeef", "deadbeee", 1);
        assert_eq!(Cid::sd(&forged).unwrap().checksum_fits, Some(false));
    }

    #[test]
    fn malformed_registers_are_not_decoded() {
        for text in ["", "zz", "aa58", "öööööööööööööööö", &QEMU_CID[..30]] {
            assert_eq!(Cid::sd(text), None, "{text}");
        }
        assert_eq!(speed_classes("00"), None);
    }

    #[test]
    fn capacity_is_read_from_both_forms_of_csd() {
        // an old 2 GB card: READ_BL_LEN 10, C_SIZE 3751, C_SIZE_MULT 7; and a 16 GB SDHC card:
        // C_SIZE 0x76b1
        let old = Csd::sd("002600325f5a83a9bedbcfff92404000").unwrap();
        assert_eq!(old.capacity_bytes, Some((0xea6 + 1) * 512 * 1024));
        // the card of a QEMU machine, as its sysfs shows it: 64 MiB
        assert_eq!(
            Csd::sd("002600325f59e03fffffdfff92600000").unwrap().capacity_bytes,
            Some(64 * MIB)
        );
        let sdhc = Csd::sd("400e00325b59000076b17f800a404000").unwrap();
        assert_eq!(sdhc.capacity_bytes, Some((0x76b1 + 1) * 512 * KIB));
        assert_eq!((sdhc.line_bps, sdhc.write_protected), (Some(25_000_000), false));
    }

    #[test]
    fn an_scr_gives_version_and_bus_widths() {
        assert_eq!(
            Scr::from_hex("0235800300000000").unwrap(),
            Scr { version: "3.0x", bus_widths: vec![1, 4] }
        );
        assert_eq!(
            Scr::from_hex("0225000000000000").unwrap(),
            Scr { version: "2.00", bus_widths: vec![1, 4] }
        );
        assert_eq!(Scr::from_hex("0245848300000000").unwrap().version, "6.xx");
        assert_eq!(Scr::from_hex("01a5000000000000").unwrap().version, "1.10");
    }

    #[test]
    fn an_ssr_gives_the_speed_classes() {
        // class 10, AU code 9 (4 MiB), U3, UHS AU code 0xB (12 MiB), V30, A2: bits by
        // docs/field/identity.md#registers
        let mut bytes = [0u8; 64];
        bytes[8] = 4; // 447:440
        bytes[10] = 0x90; // 431:428
        bytes[14] = 0x3b; // 399:396, 395:392
        bytes[15] = 30; // 391:384
        bytes[21] = 0x02; // 339:336
        let text = record::text::hex(&bytes);
        insta::assert_debug_snapshot!(speed_classes(&text).unwrap(), @r"
        SpeedClasses {
            speed_class: Some(
                10,
            ),
            uhs_grade: Some(
                3,
            ),
            video_class: Some(
                30,
            ),
            app_class: Some(
                2,
            ),
            au_bytes: Some(
                4194304,
            ),
            uhs_au_bytes: Some(
                12582912,
            ),
        }
        ");
        assert_eq!(speed_classes(&"0".repeat(128)).unwrap(), SpeedClasses::default());
    }

    #[test]
    fn allocation_units_by_code() {
        let all: Vec<u64> = (1..16).map(|code| au_bytes(code).unwrap() / KIB).collect();
        assert_eq!(
            all,
            [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12288, 16384, 24576, 32768, 65536]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_register_is_decoded_without_a_panic(text in "[0-9a-f]{32}", wide in "[0-9a-f]{128}") {
            proptest::prop_assert!(Cid::sd(&text).is_some() && Cid::mmc(&text).is_some() && Csd::sd(&text).is_some());
            proptest::prop_assert!(speed_classes(&wide).is_some() && Scr::from_hex(&text[..16]).is_some());
        }
    }
}
