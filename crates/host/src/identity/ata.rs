//! SATA disks and CompactFlash: the IDENTIFY data that libata keeps in sysfs.

use std::path::Path;

use record::{Medium, MediumKind};

use super::above;
use crate::roots::{Roots, names, text};

/// Replaces names that the SCSI layer cut off (to 16 characters, firmware to 4) by those of the
/// drive itself.
pub fn medium(roots: &Roots, dir: &Path, scsi: Medium) -> Medium {
    let Some(words) = identify(roots, dir) else { return scsi };
    let string = |first: usize, last: usize| ata_string(words.get(first..=last)?);
    let kind = match (scsi.kind, words.first(), words.get(217)) {
        (MediumKind::Virtual, ..) => MediumKind::Virtual,
        (_, Some(0x848a | 0x844a), _) => MediumKind::CompactFlash,
        _ if words.get(83).is_some_and(|sets| sets & 1 << 2 != 0) => MediumKind::CompactFlash,
        (_, _, Some(1)) => MediumKind::Ssd,
        (_, _, Some(rate)) if *rate > 0x400 => MediumKind::Disk,
        (kind, ..) => kind,
    };
    Medium {
        kind,
        serial: string(10, 19).or(scsi.serial),
        firmware: string(23, 26).or(scsi.firmware),
        model: string(27, 46).or(scsi.model),
        ..scsi
    }
}

/// Rates of the DMA modes of a parallel link, in bytes a second, by their number (ATA8-ACS).
const ULTRA_DMA: [f64; 7] = [16.7e6, 25e6, 33.3e6, 44.4e6, 66.7e6, 100e6, 133e6];
const MULTIWORD_DMA: [f64; 3] = [4.2e6, 13.3e6, 16.7e6];

/// The DMA mode that is set, such as "UDMA 6", and its rate in bytes a second; `None` in a PIO mode,
/// of which the drive does not tell the number.
pub fn dma_mode(roots: &Roots, dir: &Path) -> Option<(String, f64)> {
    let words = identify(roots, dir)?;
    let set = |word: usize, name: &str, rates: &[f64]| {
        // A bit of the upper byte for each mode.
        let mode = (words.get(word)? >> 8 & 0x7f).checked_ilog2()? as usize;
        Some((format!("{name} {mode}"), *rates.get(mode)?))
    };
    set(88, "UDMA", &ULTRA_DMA).or_else(|| set(63, "MDMA", &MULTIWORD_DMA))
}

/// The 256 words of IDENTIFY DEVICE.
fn identify(roots: &Roots, dir: &Path) -> Option<Vec<u16>> {
    let port = above(dir, "ata")?;
    let port = port.file_name()?.to_str()?.strip_prefix("ata")?;
    let class = roots.sys.join("class/ata_device");
    // dev<port>.<place>; which of two places on one cable is told by the SCSI target number
    let scsi = above(dir, "target")?;
    let place = scsi.file_name()?.to_str()?.rsplit(':').next()?.to_owned();
    let device = names(&class).into_iter().find(|name| *name == format!("dev{port}.{place}"))?;
    let words = text(&class.join(device).join("id"))?;
    words.split_whitespace().map(|word| u16::from_str_radix(word, 16).ok()).collect()
}

/// Decodes an ATA string, which has the first character in the high byte and is padded with blanks.
fn ata_string(words: &[u16]) -> Option<String> {
    let characters: String =
        words.iter().flat_map(|word| word.to_be_bytes()).map(char::from).collect();
    let characters = characters.trim_matches([' ', '\0']);
    (!characters.is_empty()).then(|| characters.to_owned())
}
