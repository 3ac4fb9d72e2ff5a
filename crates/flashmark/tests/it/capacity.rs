//! Whether as much is there as the medium says: on simulated fakes, and on a loop device through the kernel.

use std::fs::File;
use std::io::Read;

use record::units::MIB;
use record::{Ended, Record};

use crate::support::{Flashmark, LoopDevice, Scratch, has_root};

/// A figure, summed over the cells of a test.
fn sum(record: &Record, test: &str, name: &str) -> u64 {
    let cells = record.cells.iter().filter(|cell| cell.test == test);
    cells.filter_map(|cell| cell.metrics.other.get(name)).map(|figure| figure.value as u64).sum()
}

#[test]
fn fakes_are_named_on_simulated_media() {
    const GIB: u64 = 1 << 30;
    for (profile, code, real, wrap) in [("fake-limbo", 2, 8 * GIB, 0), ("fake-wrap", 3, 8 * GIB, 8 * GIB), ("chain", 4, 12 * GIB, 16 * GIB)]
    {
        let flashmark = Flashmark::new();
        let ran = flashmark.run(&["run", &format!("sim:{profile}"), "--only", "capacity", "--seed", "3", "--quiet"]);
        assert_eq!(ran.code, Some(1), "{profile}: {ran}");
        let record = flashmark.record();
        let figure = |name| sum(&record, "capacity", name);
        assert_eq!((figure("type"), figure("real_bytes"), figure("wrap_bytes")), (code, real, wrap), "{profile}");
    }
}

#[test]
fn a_simulated_medium_is_verified_as_far_as_memory_goes() {
    let flashmark = Flashmark::new();
    let whole = flashmark.run(&["run", "sim:ssd", "--only", "verify"]);
    assert_eq!(whole.code, Some(2), "{whole}");
    assert!(whole.err.contains("--span 0+4GiB"), "{whole}");
    let part = flashmark.run(&["run", "sim:ssd", "--only", "verify", "--span", "0+32MiB", "--quiet"]);
    assert_eq!(part.code, Some(0), "{part}");
    assert_eq!(sum(&flashmark.record(), "verify", "good_sectors"), 32 * MIB / 512);
}

#[test]
fn a_loop_device_is_good_and_its_first_mebibyte_untouched_by_the_probe() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let image = scratch.image("image", 96 * MIB);
    let front = || {
        let mut front = vec![0; MIB as usize];
        File::open(&image).unwrap().read_exact(&mut front).unwrap();
        front
    };
    let before = front();
    let device = LoopDevice::new(&image);
    let refused = Flashmark::new().run(&["run", device.word(), "--only", "capacity"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.err.contains("--erase"), "{refused}");

    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["run", device.word(), "--erase", device.word(), "--only", "capacity", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = flashmark.record();
    assert_eq!(record.run.ended, Ended::Complete);
    assert_eq!((sum(&record, "capacity", "type"), sum(&record, "capacity", "real_bytes")), (0, 96 * MIB));
    assert!(front() == before, "the partition table is spared");

    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["run", device.word(), "--erase", device.word(), "--only", "verify", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = flashmark.record();
    let count = |name| sum(&record, "verify", name);
    assert_eq!((count("good_sectors"), count("corrupted_sectors"), count("overwritten_sectors")), (96 * MIB / 512, 0, 0));
}
