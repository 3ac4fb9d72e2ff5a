//! Recorded I/O repeated exactly as it was: the same record each time, with leave to write only, and
//! on a loop device that the kernel itself traces.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use device::Op;

use crate::support::{Flashmark, LoopDevice, MIB, Scratch, eventually, has_root, skipped, sum};

fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A line of blkparse's text: what happened when to a request (operation, offset, length).
fn blkparse(
    action: char,
    time_ns: u64,
    (op, offset_bytes, length_bytes): (Op, u64, u64),
) -> String {
    let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    let letter = &format!("{op:?}")[..1];
    let (sector, sectors) = (offset_bytes / 512, length_bytes / 512);
    format!("0,1 0 1 {seconds}.{ns:09} 0 {action} {letter} {sector} + {sectors} [x]\n")
}

/// A trace of these requests one after the other, `apart_ns` apart.
fn made(scratch: &Scratch, name: &str, apart_ns: u64, rows: &[(Op, u64, u64)]) -> PathBuf {
    let mut text = String::new();
    for (time_ns, row) in (0..).step_by(apart_ns as usize).zip(rows) {
        text += &blkparse('D', time_ns, *row);
        text += &blkparse('C', time_ns + apart_ns / 2, *row);
    }
    scratch.file(name, text)
}

#[test]
fn two_replays_have_the_same_record() {
    for (name, ios) in [("fio-ext4.blktrace.0", 114), ("fio-randrw-ext4.iolog", 297)] {
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(name);
        let record = || {
            let flashmark = Flashmark::new();
            let words = ["replay", word(&trace), "sim:a1", "--speed", "max", "--seed", "7"];
            flashmark.done(&[&words[..], &["--quiet"]].concat());
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
    let path = made(
        &scratch,
        "trace",
        1000,
        &[(Op::Write, 4096, 4096), (Op::Read, 8192, 4096), (Op::Flush, 0, 0)],
    );
    let flashmark = Flashmark::new();
    let refused = flashmark.run(&["replay", word(&path), word(&image), "--quiet"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert!(flashmark.runs().is_empty());
    flashmark.done(&["replay", word(&path), word(&image), "--quiet", "--reads-only"]);
    assert_eq!(flashmark.record().cells.iter().map(|cell| cell.written_bytes).sum::<u64>(), 0);
    assert_eq!(sum(&image), before, "the file was written to");
    Flashmark::new().done(&[
        "replay",
        word(&path),
        word(&image),
        "--quiet",
        "--erase",
        word(&image),
    ]);
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
    let path = made(
        &scratch,
        "trace",
        1000,
        &[(Op::Read, 3 * MIB, 4096), (Op::Write, 2 * MIB, 65_536), (Op::Flush, 0, 0)],
    );
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
    let path =
        made(&scratch, "trace", 3_600_000_000_000, &[(Op::Read, 0, 4096), (Op::Read, 4096, 4096)]);
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

/// The kernel's own trace of one block device, in a tracefs instance of the test's own.
struct KernelTrace {
    instance: PathBuf,
    device: String,
    at: PathBuf,
}

impl KernelTrace {
    fn start(scratch: &Scratch, device: &LoopDevice) -> Option<KernelTrace> {
        let at = scratch.directory("tracefs");
        if !std::process::Command::new("mount")
            .args(["-t", "tracefs", "nodev"])
            .arg(&at)
            .status()
            .unwrap()
            .success()
        {
            skipped("needs tracefs");
            return None;
        }
        let instance = at.join("instances").join(format!("flashmark-it-{}", std::process::id()));
        let mut kernel = KernelTrace { instance, device: String::new(), at };
        fs::create_dir(&kernel.instance).unwrap();
        let numbers = fs::read_to_string(format!("/sys/block/{}/dev", device.name())).unwrap();
        let (major, minor) = numbers.trim().split_once(':').unwrap();
        let number = major.parse::<u32>().unwrap() << 20 | minor.parse::<u32>().unwrap();
        for event in ["block_rq_issue", "block_rq_complete"] {
            let folder = kernel.instance.join("events/block").join(event);
            fs::write(folder.join("filter"), format!("dev == {number}")).unwrap();
            fs::write(folder.join("enable"), "1").unwrap();
        }
        kernel.device = format!("{major},{minor}");
        Some(kernel)
    }

    /// Traced events: (issued, not completed; letters; first sector; sectors).
    fn events(&self) -> Vec<(bool, String, u64, u64)> {
        let text = fs::read_to_string(self.instance.join("trace")).unwrap();
        let event = |line: &str| {
            let issued = line.contains("block_rq_issue: ");
            let (_, rest) = line
                .split_once("block_rq_issue: ")
                .or_else(|| line.split_once("block_rq_complete: "))?;
            let words: Vec<&str> = rest.split_ascii_whitespace().collect();
            let plus = words.iter().position(|word| *word == "+")?;
            let is_ours = words[0] == self.device;
            is_ours.then(|| {
                (
                    issued,
                    words[1].to_owned(),
                    words[plus - 1].parse().unwrap(),
                    words[plus + 1].parse().unwrap(),
                )
            })
        };
        text.lines().filter(|line| !line.starts_with('#')).filter_map(event).collect()
    }
}

impl Drop for KernelTrace {
    fn drop(&mut self) {
        for event in ["block_rq_issue", "block_rq_complete"] {
            let _ = fs::write(self.instance.join("events/block").join(event).join("enable"), "0");
        }
        let _ = fs::remove_dir(&self.instance);
        let _ = std::process::Command::new("umount").arg(&self.at).status();
    }
}

/// The kernel's trace of a replay holds the recorded requests.
#[test]
fn the_kernel_sees_the_recorded_io() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let image = scratch.image("image", 64 * MIB);
    let device = LoopDevice::new(&image);
    let path = scratch.at("trace");
    let requests = group_trace(&path);
    let Some(kernel) = KernelTrace::start(&scratch, &device) else { return };
    let flashmark = Flashmark::new();
    flashmark.done(&[
        "replay",
        word(&path),
        device.word(),
        "--erase",
        device.word(),
        "--speed",
        "max",
        "--quiet",
    ]);
    let events = kernel.events();
    let is_data =
        |event: &&(bool, String, u64, u64)| event.3 > 0 && event.1.starts_with(['R', 'W', 'D']);
    let ops = |letters: &str| match letters.chars().next() {
        Some('R') => Op::Read,
        Some('W') => Op::Write,
        _ => Op::Discard,
    };
    let expected: Vec<(Op, u64, u64)> = requests
        .iter()
        .map(|(op, offset, length, _)| (*op, *offset / 512, *length / 512))
        .collect();
    // What the kernel looks at when a device is opened is not the replay's: every place of the
    // trace is one that nobody else reads.
    let ours = |event: &&(bool, String, u64, u64)| {
        is_data(event) && expected.iter().any(|(_, sector, _)| *sector == event.2)
    };
    let mut seen: Vec<(Op, u64, u64)> = events
        .iter()
        .filter(|event| event.0)
        .filter(ours)
        .map(|(_, letters, sector, sectors)| (ops(letters), *sector, *sectors))
        .collect();
    let mut sorted = expected.clone();
    let key = |one: &(Op, u64, u64)| (one.1, one.2, one.0 as u8);
    seen.sort_by_key(key);
    sorted.sort_by_key(key);
    assert_eq!(seen, sorted);
    // Groups of requests one after the other: none begins before all of the one before are done.
    let group_of: HashMap<u64, usize> =
        requests.iter().map(|(_, offset, _, group)| (offset / 512, *group)).collect();
    let mut open: Vec<usize> = Vec::new();
    for (issued, _, sector, _) in events.iter().filter(ours) {
        let group = group_of[sector];
        if *issued {
            assert!(
                open.iter().all(|other| *other == group),
                "group {group} did not wait for {open:?}"
            );
            open.push(group);
        } else {
            let at = open.iter().position(|other| *other == group).unwrap();
            open.remove(at);
        }
    }
    let flushes = events
        .iter()
        .filter(|(issued, letters, _, sectors)| {
            *issued && letters.starts_with('F') && *sectors == 0
        })
        .count();
    assert!(flushes > 0, "no flush reached the device");
}

/// A trace of forty groups of three requests at once, all at different offsets, with a flush after
/// each group; returns (operation, offset, length, group) of each.
fn group_trace(path: &Path) -> Vec<(Op, u64, u64, usize)> {
    let mut text = String::new();
    let mut requests = Vec::new();
    let mut chance = stats::Random::new(5);
    let mut places: Vec<u64> = (0..200).map(|place| 8 * MIB + place * 65_536 * 3).collect();
    for group in 0..40 {
        let base_ns = group as u64 * 1_000_000;
        let mut issued = Vec::new();
        for at in 0..3u64 {
            let op =
                [Op::Read, Op::Write, Op::Write, Op::Read, Op::Discard][chance.below(5) as usize];
            let offset_bytes = places.swap_remove(chance.below(places.len() as u64) as usize);
            let length_bytes =
                if op == Op::Discard { 65_536 } else { (1 + chance.below(16)) * 4096 };
            let request = (op, offset_bytes, length_bytes);
            text += &blkparse('D', base_ns + at, request);
            issued.push(request);
            requests.push((op, offset_bytes, length_bytes, group));
        }
        for (at, request) in (0..).zip(&issued) {
            text += &blkparse('C', base_ns + 500_000 + at, *request);
        }
        text += &blkparse('D', base_ns + 600_000, (Op::Flush, 0, 0));
        text += &blkparse('C', base_ns + 700_000, (Op::Flush, 0, 0));
    }
    fs::write(path, text).unwrap();
    requests
}
