//! Uses as people name them.

use record::{MediumKind, Record, Use};

/// True of what is bought as a card or a stick, and may boot a Raspberry Pi.
fn is_card(record: &Record) -> bool {
    use MediumKind::{CompactFlash, Emmc, Sd, Simulated, Usb};
    matches!(record.medium.kind, Sd | Emmc | Usb | CompactFlash | Simulated)
}

/// A use as people name it: a card is bought for a Raspberry Pi, a disk for an operating system.
pub fn name_of_use(record: &Record, wanted: Use) -> String {
    match wanted {
        Use::RootDisk if is_card(record) => "a Raspberry Pi".to_owned(),
        Use::RootDisk => "an operating system".to_owned(),
        other => other.to_string(),
    }
}

/// The same without its article, and without the rate of a video.
pub fn noun_of_use(record: &Record, wanted: Use) -> &'static str {
    match wanted {
        Use::RootDisk if is_card(record) => "Raspberry Pi",
        Use::RootDisk => "operating system",
        other => other.noun(),
    }
}
