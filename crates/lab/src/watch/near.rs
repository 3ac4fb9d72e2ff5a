//! Names that may have been meant.

use record::alike::edits;

/// How many are worth naming.
const MOST: usize = 3;

/// The names nearest to what was typed, nearest first: those that differ in little, or hold it, or begin with it.
pub fn nearest<'a>(asked: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let asked = asked.rsplit('/').next().unwrap_or(asked).to_lowercase();
    let mut ranked: Vec<(usize, &str)> = names.filter_map(|name| Some((distance(&asked, &name.to_lowercase())?, name))).collect();
    // The order of the kernel stands where two are equally near.
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.into_iter().take(MOST).map(|(_, name)| name.to_owned()).collect()
}

/// How far a name is from what was typed; none where nobody would take one for the other.
fn distance(asked: &str, name: &str) -> Option<usize> {
    let edits = edits(asked, name);
    let akin = edits <= 2.min(asked.len() / 2) || (asked.len() > 2 && name.contains(asked)) || (name.len() > 2 && asked.starts_with(name));
    akin.then_some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_meant_is_named_nearest_first() {
        let names = ["sda", "sda1", "sdb", "loop0", "mmcblk0", "mmcblk0p1", "usb-SanDisk_Ultra_4C53-0:0"];
        let near = |asked: &str| nearest(asked, names.into_iter());
        assert_eq!(near("sdc"), ["sda", "sdb"]);
        assert_eq!(near("/dev/mmcblk0p2"), ["mmcblk0p1", "mmcblk0"]);
        assert_eq!(near("sandisk_ultra"), ["usb-SanDisk_Ultra_4C53-0:0"]);
        assert_eq!(near("nvme0n1"), [""; 0]);
    }
}
