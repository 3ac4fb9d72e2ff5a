//! Tests of the capacity: as much is there as the medium says. On simulated fakes, and on a loop
//! device through the kernel.

use std::fs::File;
use std::io::Read;

use record::units::MIB;
use record::{Ended, Record};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Flashmark, LoopDevice, Scratch, has_root};

/// A figure, summed over the cells of a test.
fn sum(record: &Record, test: &str, name: &str) -> u64 {
    let cells = record.cells.iter().filter(|cell| cell.test == test);
    cells.filter_map(|cell| cell.metrics.other.get(name)).map(|figure| figure.value as u64).sum()
}

#[test]
fn fakes_are_named_on_simulated_media() {
    const GIB: u64 = 1 << 30;
    for (profile, code, real, wrap) in [
        ("fake-limbo", 2, 8 * GIB, 0),
        ("fake-wrap", 3, 8 * GIB, 8 * GIB),
        ("chain", 4, 12 * GIB, 16 * GIB),
    ] {
        let flashmark = Flashmark::new();
        let ran = flashmark.run(&[
            "run",
            &format!("sim:{profile}"),
            "--only",
            "capacity",
            "--seed",
            "3",
            "--quiet",
        ]);
        assert_eq!(ran.code, Some(1), "{profile}: {ran}");
        let record = flashmark.record();
        let figure = |name| sum(&record, "capacity", name);
        assert_eq!(
            (figure("type"), figure("real_bytes"), figure("wrap_bytes")),
            (code, real, wrap),
            "{profile}"
        );
    }
}

#[test]
fn a_simulated_medium_is_verified_as_far_as_memory_goes() {
    let flashmark = Flashmark::new();
    let whole = flashmark.run(&["run", "sim:ssd", "--only", "verify"]);
    assert_eq!(whole.code, Some(2), "{whole}");
    assert!(whole.err.contains("--span 0+4GiB"), "{whole}");
    let part =
        flashmark.run(&["run", "sim:ssd", "--only", "verify", "--span", "0+32MiB", "--quiet"]);
    assert_eq!(part.code, Some(0), "{part}");
    assert_eq!(sum(&flashmark.record(), "verify", "good_sectors"), 32 * MIB / 512);
}

/// Random bytes and the number of each sector, so that anything that is not restored shows.
fn used(scratch: &Scratch, bytes: u64) -> (std::path::PathBuf, Vec<u8>) {
    let mut random = stats::Random::for_purpose(1, "what lies there");
    let piece: Vec<u8> = (0..MIB / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
    let mut content = piece.repeat((bytes / MIB) as usize);
    for (number, sector) in content.chunks_mut(512).enumerate() {
        sector[..8].copy_from_slice(&number.to_le_bytes());
    }
    (scratch.file("image", &content), content)
}

#[test]
fn the_capacity_test_restores_data_by_default() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let (image, before) = used(&scratch, 96 * MIB);
    let device = LoopDevice::new(&image);
    let planned = Flashmark::new().done(&["run", device.word(), "--only", "capacity", "--plan"]);
    assert!(planned.out.contains("kept in memory and restored"), "{planned}");

    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["run", device.word(), "--only", "capacity"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.err.contains("restored at the end, also after Ctrl-C"), "{ran}");
    let record = flashmark.record();
    assert_eq!(
        (sum(&record, "capacity", "type"), sum(&record, "capacity", "real_bytes")),
        (0, 96 * MIB)
    );
    assert!(sum(&record, "capacity", "restored_bytes") > 16 * MIB);
    assert_eq!(sum(&record, "capacity", "unrestored_bytes"), 0);
    assert!(std::fs::read(&image).unwrap() == before, "something was not restored");

    // Nothing else is written to what was not given away.
    for only in ["random-write", "verify"] {
        let refused = Flashmark::new().run(&["run", device.word(), "--only", only]);
        assert_eq!(refused.code, Some(2), "{refused}");
        assert!(refused.err.contains("--erase"), "{refused}");
    }
    let refused = Flashmark::new()
        .run(&format!("run {} --only capacity,verify --set capacity.restore=no", device.word()));
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(std::fs::read(&image).unwrap() == before);
}

#[test]
fn interrupted_it_puts_back_first() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let (image, before) = used(&scratch, 384 * MIB);
    let device = LoopDevice::new(&image);
    for wait_ms in [60, 250] {
        let flashmark = Flashmark::new();
        let mut started = flashmark.start(&["run", device.word(), "--only", "capacity", "--quiet"]);
        // Whenever it comes: before the first write, in between, or after the end.
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        kill_process(Pid::from_child(&started), Signal::INT).unwrap();
        let code = started.wait().unwrap().code();
        assert!(matches!(code, Some(130 | 0)), "{code:?}");
        assert!(
            std::fs::read(&image).unwrap() == before,
            "after {wait_ms} ms something was not restored"
        );
    }
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
    let flashmark = Flashmark::new();
    let ran = flashmark.run(&format!(
        "run {} --erase {} --only capacity --quiet",
        device.word(),
        device.word()
    ));
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = flashmark.record();
    assert_eq!(record.run.ended, Ended::Complete);
    assert_eq!(
        (sum(&record, "capacity", "type"), sum(&record, "capacity", "real_bytes")),
        (0, 96 * MIB)
    );
    assert!(front() == before, "the partition table is spared");

    let flashmark = Flashmark::new();
    let ran = flashmark.run(&format!(
        "run {} --erase {} --only verify --quiet",
        device.word(),
        device.word()
    ));
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = flashmark.record();
    let count = |name| sum(&record, "verify", name);
    assert_eq!(
        (count("good_sectors"), count("corrupted_sectors"), count("overwritten_sectors")),
        (96 * MIB / 512, 0, 0)
    );
}
