//! Tests of the capacity: as much is there as the medium says. On simulated fakes, and on a loop
//! device through the kernel.

use record::Record;
use record::units::MIB;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Flashmark, LoopDevice, Scratch, eventually, has_root};

/// A figure, summed over the cells of a test.
fn sum(record: &Record, test: &str, name: &str) -> u64 {
    let cells = record.cells.iter().filter(|cell| cell.test == test);
    cells.filter_map(|cell| cell.metrics.other.get(name)).map(|figure| figure.value as u64).sum()
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
    let touched = || std::fs::metadata(&image).and_then(|meta| meta.modified()).unwrap();
    for wait_ms in [0, 150] {
        let flashmark = Flashmark::new();
        let before_it = touched();
        let mut started = flashmark.start(&["run", device.word(), "--only", "capacity", "--quiet"]);
        eventually("its first write", || (touched() != before_it).then_some(()));
        // In between, or after the end.
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
