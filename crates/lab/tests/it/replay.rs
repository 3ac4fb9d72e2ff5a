//! Recorded I/O repeated exactly as it was: the same record each time, and with leave to write only.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Flashmark, MIB, Scratch, eventually, sum};

fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// An iolog of these requests (operation, offset, length), `apart_ns` apart.
fn made(scratch: &Scratch, apart_ns: u64, rows: &[(&str, u64, u64)]) -> PathBuf {
    let mut text = "fio version 3 iolog\n".to_owned();
    for (number, (op, offset_bytes, length_bytes)) in (0..).zip(rows) {
        let time_us = number * apart_ns / 1000;
        text += &format!("{time_us} f {op} {offset_bytes} {length_bytes}\n");
    }
    scratch.file("trace", text)
}

#[test]
fn two_replays_have_the_same_record() {
    for (name, ios) in [("fio-ext4.blktrace.0", 114), ("fio-randrw-ext4.iolog", 297)] {
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(name);
        let record = || {
            let flashmark = Flashmark::new();
            let words = "sim:a1 --speed max --seed 7 --quiet";
            flashmark.done(&format!("replay {} {words}", word(&trace)));
            assert_eq!(flashmark.record().cells[0].ops, ios, "{name}");
            fs::read_to_string(flashmark.run_dir().join("record.json")).unwrap()
        };
        assert!(record() == record(), "{name}");
    }
}

#[test]
fn a_file_is_written_only_with_leave() {
    let scratch = Scratch::new();
    let image = scratch.image("image", MIB);
    let before = sum(&image);
    let rows = [("write", 4096, 4096), ("read", 8192, 4096), ("sync", 0, 0)];
    let path = made(&scratch, 1000, &rows);
    let words = |more: &str| format!("replay {} {} --quiet{more}", word(&path), word(&image));
    let flashmark = Flashmark::new();
    let refused = flashmark.run(&words(""));
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(flashmark.runs().is_empty());
    flashmark.done(&words(" --reads-only"));
    assert_eq!(flashmark.record().cells.iter().map(|cell| cell.written_bytes).sum::<u64>(), 0);
    assert_eq!(sum(&image), before, "the file was written to");
    Flashmark::new().done(&words(&format!(" --erase {}", word(&image))));
    assert_ne!(sum(&image), before);
    let original = scratch.image("original", MIB);
    let (now, then) = (fs::read(&image).unwrap(), fs::read(&original).unwrap());
    assert!(
        now[..4096] == then[..4096] && now[8192..] == then[8192..],
        "more was written than the trace says"
    );
}

#[test]
fn a_directory_gets_a_file_that_is_filled_first() {
    let scratch = Scratch::new();
    let place = scratch.directory("place");
    let rows = [("read", 3 * MIB, 4096), ("write", 2 * MIB, 65_536), ("sync", 0, 0)];
    let path = made(&scratch, 1000, &rows);
    let flashmark = Flashmark::new();
    flashmark.done(&["replay", word(&path), word(&place), "--quiet"]);
    let record = flashmark.record();
    assert_eq!((record.cells[0].ops, record.cells[0].written_bytes), (3, 65_536));
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "a file was left behind");
}

/// A recorded pause of an hour, and a user who interrupts it.
#[test]
fn an_interrupted_replay_ends_and_is_not_resumed() {
    let scratch = Scratch::new();
    let image = scratch.image("image", MIB);
    let path = made(&scratch, 3_600_000_000_000, &[("read", 0, 4096), ("read", 4096, 4096)]);
    let flashmark = Flashmark::new();
    let child = flashmark.start(&["replay", word(&path), word(&image)]);
    eventually("a run", || (!flashmark.runs().is_empty()).then_some(()));
    // The journal is there a moment before the replay is under way.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ran = crate::support::Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran}");
    assert_eq!(flashmark.record().run.ended, record::Ended::Interrupted);
    let resumed = flashmark.run(&["resume"]);
    assert_eq!(resumed.code, Some(2), "{resumed}");
    assert!(resumed.err.contains("start it again with `flashmark replay`"), "{resumed}");
}
