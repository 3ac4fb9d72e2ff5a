//! Cards with data on them, as files, for readers of virtual machines and for loop devices.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{MIB, Ran, Scratch, tool};

/// Size of every card.
pub const CARD_BYTES: u64 = 64 * MIB;

/// Suite that writes, then only reads for a while, in which it is interrupted, then writes again.
pub const SUITE: &str = "prime span=16MiB passes=1; \
    sequential-write span=16MiB total=4MiB min_time=10ms max_time=200ms; seek time=4s; \
    sequential-write content=zeros span=16MiB total=8MiB min_time=10ms max_time=1s";

/// Contents of a card that is in use: random bytes everywhere.
pub fn used(name: &str) -> Vec<u8> {
    let mut random = stats::Random::for_purpose(7, name);
    (0..CARD_BYTES / 8).flat_map(|_| random.bits().to_le_bytes()).collect()
}

/// A card with a file system called HOLIDAY, full of photos.
pub fn photos(scratch: &Scratch, name: &str) -> PathBuf {
    let photos = scratch.directory(&format!("{name}-photos"));
    for number in 0..12 {
        let mut random = stats::Random::for_purpose(number, "photo");
        let content: Vec<u8> = (0..4 * MIB / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
        fs::write(photos.join(format!("dsc{number}.jpg")), content).unwrap();
    }
    let image = scratch.file(name, "");
    fs::File::options().write(true).open(&image).unwrap().set_len(CARD_BYTES).unwrap();
    let words =
        ["-q", "-F", "-L", "HOLIDAY", "-d", photos.to_str().unwrap(), image.to_str().unwrap()];
    tool("mkfs.ext4", &words);
    image
}

/// Changes on a card in words; `None` if every byte is as it was.
pub fn changed(image: &Path, before: &[u8]) -> Option<String> {
    changed_to(&fs::read(image).unwrap(), before)
}

/// Changes of these bytes from those before.
pub fn changed_to(now: &[u8], before: &[u8]) -> Option<String> {
    assert_eq!(now.len(), before.len());
    let sectors = now.chunks(512).zip(before.chunks(512)).enumerate();
    let changed: Vec<usize> =
        sectors.filter(|(_, (now, before))| now != before).map(|(sector, _)| sector).collect();
    let first = changed.first()?;
    Some(format!("{} KiB changed, the first at byte {}", changed.len() / 2, first * 512))
}

/// Fails if anything has changed on a card.
pub fn unchanged(image: &Path, before: &[u8], ran: &Ran) {
    if let Some(what) = changed(image, before) {
        panic!("{what}: {ran}");
    }
}

/// Checks that a run was refused, with the contents of the card in the message.
pub fn refused(ran: &Ran) {
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(ran.err.contains("HOLIDAY"), "what is on the card is named: {ran}");
    assert!(ran.err.contains("--erase"), "what to type instead is said: {ran}");
}
