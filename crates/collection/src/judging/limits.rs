//! Upper limits of rates by the kind of medium and by its interface. One table, from the standards
//! of the interfaces.

use record::MediumKind;

/// Upper limits of a kind of medium.
pub(super) struct KindLimit {
    /// Bytes per second of its fastest interface.
    pub bps: f64,
    /// I/Os per second of any size.
    pub iops: f64,
    /// Random reads of 4 KiB per second.
    pub random_reads: f64,
}

/// The limits of a kind. CompactFlash: UDMA 7, 167 MB/s (CF 6.0). SD: UHS-III, 624 MB/s (SD 6.0),
/// and 20 us for each command; a card on PCI Express is an NVMe drive to the host. eMMC: HS400, 400
/// MB/s, with a command queue (JEDEC 5.1). USB: USB4 at 40 Gbit/s. SATA and SAS: SAS-4, 22.5
/// Gbit/s. NVMe: PCI Express 6.0 with four lanes, in blocks of 4 KiB. A hard disk does at best one
/// unpredictable random read per revolution.
pub(super) fn of_kind(kind: MediumKind) -> KindLimit {
    let (bps, iops, random_reads) = match kind {
        MediumKind::CompactFlash => (170e6, 20e3, 20e3),
        MediumKind::Sd => (650e6, 50e3, 50e3),
        MediumKind::Emmc => (450e6, 150e3, 150e3),
        MediumKind::Usb => (5e9, 1e6, 1e6),
        MediumKind::Disk => (1e9, 200e3, 1000.0),
        // Faster media are NVMe drives.
        MediumKind::Ssd | MediumKind::Unknown => (2.5e9, 1e6, 1e6),
        _ => (32e9, 8e6, 8e6),
    };
    KindLimit { bps, iops, random_reads }
}

/// Bytes per second of an interface after its line code, from the words of
/// `Published::interface_words`. `None` if the words name no speed.
pub(crate) fn of_interface(words: &str) -> Option<f64> {
    Some(match words {
        "usb 1.1" => 1.5e6,
        "usb 2.0" => 60e6,
        "usb 3.0" => 500e6,
        "usb 3.1" => 1.213e9,
        "usb 3.2" => 2.425e9,
        "sd high speed" => 25e6,
        "sd uhs-i" => 104e6,
        "mmc high speed" | "mmc hs" => 104e6,
        "mmc hs200" => 200e6,
        "mmc hs400" => 400e6,
        "sata" => 600e6,
        _ => return None,
    })
}
