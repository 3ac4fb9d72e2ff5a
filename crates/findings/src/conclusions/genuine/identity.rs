//! Identity and health as reported by the medium: registers like those of counterfeits, and wear.

use record::units::significant;
use record::{Finding, Record};

use crate::finding_builder::FindingBuilder;

/// The findings `counterfeit-hints`, from the registers, and `health`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [counterfeit(record), health(record)].into_iter().flatten().collect()
}

/// The distinctive fields of an SD card's CID register (docs/field/identity.md#registers). The
/// serial number is never part of a statement.
struct Cid {
    manufacturer: u8,
    oem: [u8; 2],
    name: [u8; 5],
    serial: u32,
    year: u32,
    month: u32,
}

impl Cid {
    /// Parses 32 hexadecimal digits.
    fn parse(text: &str) -> Option<Cid> {
        let text = text.trim();
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let mut bytes = [0u8; 16];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
        }
        let date = u32::from(bytes[13] & 0x0f) << 8 | u32::from(bytes[14]);
        Some(Cid {
            manufacturer: bytes[0],
            oem: [bytes[1], bytes[2]],
            name: [bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]],
            serial: u32::from_be_bytes([bytes[9], bytes[10], bytes[11], bytes[12]]),
            year: 2000 + (date >> 4),
            month: date & 0x0f,
        })
    }
}

/// Manufacturers with fixed OEM ids (docs/field/identity.md#manufacturer-ids).
const OEMS: [(u8, &str, &[&str]); 2] =
    [(0x03, "SanDisk", &["SD", "PT"]), (0x74, "Transcend", &["JE", "JT", "J`", "J0"])];

/// `counterfeit-hints`: registers like those of counterfeits
/// (docs/field/counterfeits.md#registers).
fn counterfeit(record: &Record) -> Option<Finding> {
    let medium = &record.medium;
    // A reader that hides the card shows its own identity; an eMMC's register has another form.
    if medium.kind != record::MediumKind::Sd || medium.behind_reader == Some(true) {
        return None;
    }
    let cid = Cid::parse(medium.cid.as_deref()?)?;
    let hints = hints(&cid, medium.capacity_bytes, record.run.started.as_deref());
    if hints.is_empty() {
        return None;
    }
    let statement = format!(
        "The card identifies itself as counterfeits do: {}. Honest makers can be careless too: test its real capacity before you trust it.",
        hints.join("; ")
    );
    let register = format!(
        "CID: manufacturer 0x{:02x}, OEM 0x{:02x}{:02x}, made {}-{:02}",
        cid.manufacturer, cid.oem[0], cid.oem[1], cid.year, cid.month
    );
    Some(
        FindingBuilder::warning("counterfeit-hints", statement)
            .note(register)
            .note("docs/field/counterfeits.md#registers")
            .done(),
    )
}

fn hints(cid: &Cid, capacity_bytes: Option<u64>, started: Option<&str>) -> Vec<String> {
    let mut hints = Vec::new();
    let mut hint = |found: bool, text: String| hints.extend(found.then_some(text));
    let oem = String::from_utf8_lossy(&cid.oem).into_owned();
    hint(cid.manufacturer == 0, "no manufacturer (0x00)".into());
    hint(
        cid.manufacturer == 0x12 && cid.oem == [0x34, 0x56],
        "manufacturer 0x12 and OEM 0x3456, the digits 1 to 6".into(),
    );
    let empty = [&b"SD   "[..], b"00000", b"     ", b"\0\0\0\0\0"].contains(&cid.name.as_slice());
    hint(empty, "no product name".into());
    let letters = cid.name.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == 0);
    hint(!letters, "an unprintable product name".into());
    hint(cid.serial == 0, "a serial number of 0".into());
    hint(!(1..=12).contains(&cid.month), format!("made in month {} of a year", cid.month));
    // SDHC appeared in 2006, SDXC in 2009 (the standards that define them).
    let born = match capacity_bytes {
        Some(bytes) if bytes > 33_000_000_000 => 2009,
        Some(bytes) if bytes > 2_200_000_000 => 2006,
        _ => 2000,
    };
    hint(cid.year < born, format!("made in {}, before cards of this size existed", cid.year));
    let now = started.and_then(|text| text.get(..7)).and_then(|text| {
        Some((text.get(..4)?.parse::<u32>().ok()?, text.get(5..7)?.parse::<u32>().ok()?))
    });
    hint(
        now.is_some_and(|now| (cid.year, cid.month) > now),
        format!("made in {}-{:02}, after it was measured", cid.year, cid.month),
    );
    if let Some((_, name, oems)) =
        OEMS.iter().find(|(id, _, oems)| *id == cid.manufacturer && !oems.contains(&oem.as_str()))
    {
        hint(
            true,
            format!(
                "{name} as manufacturer with an OEM id of 0x{:02x}{:02x}; {name}'s cards have '{}'",
                cid.oem[0], cid.oem[1], oems[0]
            ),
        );
    }
    hints
}

/// "3 % of its rated life used": the wear that a healthy medium reports.
pub(crate) fn life(record: &Record) -> Option<String> {
    let used = record.medium.health.as_ref()?.used_percent.filter(|used| used.is_finite())?;
    Some(format!("{} % of its rated life used", significant(used)))
}

/// `health`: the wear that the medium reports.
fn health(record: &Record) -> Option<Finding> {
    let health = record.medium.health.as_ref()?;
    let used = health.used_percent.filter(|used| used.is_finite());
    let mut evidence = health.words();
    if evidence.is_empty() {
        return None;
    }
    evidence.extend(health.source.as_ref().map(|source| format!("from {source}")));
    let errors = health.media_errors.filter(|errors| *errors > 0);
    let statement = match () {
        () if health.pre_eol == Some(3) || used.is_some_and(|used| used >= 100.0) => {
            FindingBuilder::warning(
                "health",
                "It reports the end of its rated life: it may become read-only or lose data. Replace it.",
            )
        }
        () if health.pre_eol == Some(2) || used.is_some_and(|used| used >= 80.0) => {
            FindingBuilder::warning(
                "health",
                "It reports that most of its rated life or its spare blocks are used: plan to replace it.",
            )
        }
        () if errors.is_some() => FindingBuilder::warning(
            "health",
            format!(
                "It reports {} media errors: keep a copy of what is on it.",
                errors.unwrap_or_default()
            ),
        ),
        () => {
            let share = used
                .map(|used| format!(": {} % of its rated life is used", significant(used)))
                .unwrap_or_default();
            FindingBuilder::info("health", format!("It reports that it is healthy{share}."))
        }
    };
    Some(statement.notes(evidence).done())
}
