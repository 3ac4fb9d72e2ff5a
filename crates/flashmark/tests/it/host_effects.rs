//! `host-effects`: settings are tried and restored, also after Ctrl-C and a kill; nothing is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use record::Ended;

use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, as_nobody, eventually, has_root, read_record, skipped,
};

const SETTINGS: [&str; 4] = ["read_ahead_kb", "scheduler", "max_sectors_kb", "nr_requests"];

fn settings(device: &LoopDevice) -> Vec<String> {
    let read = |name: &str| {
        fs::read_to_string(format!("/sys/block/{}/queue/{name}", device.name())).unwrap_or_default()
    };
    SETTINGS.map(read).to_vec()
}

fn device(scratch: &Scratch) -> LoopDevice {
    let file = scratch.file("image", "");
    fs::File::options().write(true).open(&file).unwrap().set_len(64 * MIB).unwrap();
    LoopDevice::new(&file)
}

/// Sectors that were ever written to a device.
fn written(device: &LoopDevice) -> String {
    let stat = fs::read_to_string(format!("/sys/block/{}/stat", device.name())).unwrap();
    stat.split_whitespace().nth(6).unwrap().to_owned()
}

#[test]
fn settings_are_tried_and_put_back_and_nothing_is_written() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let device = device(&scratch);
    let (before, sectors) = (settings(&device), written(&device));
    let ran = flashmark.done(&["host-effects", device.word(), "--time", "5ms"]);
    assert_eq!((settings(&device), written(&device)), (before, sectors));
    let record = read_record(&flashmark.runs()[0].join("record.json"));
    assert_eq!((record.run.suite.as_str(), record.run.ended), ("host-effects", Ended::Complete));
    let tried = |name: &str| record.cells.iter().any(|cell| cell.label("setting") == name);
    assert!(tried("read_ahead_kb") && tried("scheduler"), "{ran}");
    assert!(record.findings.iter().all(|finding| finding.id == "host-effects"));
    assert_eq!(record.written_bytes(), 0);
    let shown = flashmark.done(&["show", "latest", "--details"]);
    assert!(shown.out.contains("Read-ahead 4096 KiB instead of"), "{shown}");
    let page = fs::read_to_string(flashmark.runs()[0].join("report.html")).unwrap();
    assert!(page.contains("Read-ahead 4096 KiB instead of"));
}

#[test]
fn ctrl_c_and_a_kill_leave_no_setting_changed() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let device = device(&scratch);
    let before = settings(&device);
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let words = ["host-effects", device.word(), "--time", "1s", "--rounds", "50"];
        let mut child = flashmark.start(&words);
        eventually("a changed setting", || (settings(&device) != before).then_some(()));
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(id, signal).unwrap();
        let status = child.wait().unwrap();
        if signal == rustix::process::Signal::INT {
            assert_eq!(status.code(), Some(130));
        } else {
            assert_ne!(settings(&device), before, "a kill leaves time for nothing");
            let restored = flashmark.done(&["restore"]);
            assert!(restored.err.contains("is undone now"), "{restored}");
        }
        assert_eq!(settings(&device), before, "{signal:?}");
    }
}

#[test]
fn without_rights_the_skips_name_what_needs_root() {
    if !has_root() {
        return;
    }
    let (ran, _) = as_nobody(&["host-effects", "/bin/bash", "--time", "5ms", "--json", "-"]);
    assert_eq!(ran.code, Some(0), "{ran}");
    let record = record::Record::from_json(&ran.out).unwrap();
    let needs_root = |name: &str| {
        record.skipped.iter().any(|skip| skip.test == name && skip.reason.contains("needs root"))
    };
    assert!(needs_root("read_ahead_kb") && needs_root("scheduler"), "{:?}", record.skipped);
}

/// A control group that limits what is read of a device; gone with this.
struct ControlGroup {
    path: PathBuf,
    is_version_1: bool,
}

impl ControlGroup {
    /// `None` where this system lets nobody make one.
    fn new(device: &LoopDevice) -> Option<ControlGroup> {
        let root = Path::new("/sys/fs/cgroup");
        let is_version_1 = root.join("blkio").is_dir();
        if !is_version_1 {
            fs::write(root.join("cgroup.subtree_control"), "+io").ok()?;
        }
        let name = format!("flashmark-test-{}-{}", std::process::id(), device.name());
        let path = root.join(if is_version_1 { "blkio" } else { "" }).join(name);
        fs::create_dir(&path).ok()?;
        Some(ControlGroup { path, is_version_1 })
    }

    /// The file of the limits, and how it sets this one.
    fn limit(&self, device: &LoopDevice, bytes_per_second: u64) -> (PathBuf, String) {
        let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name())).unwrap();
        let number = number.trim();
        let (file, value) = match self.is_version_1 {
            true => ("blkio.throttle.read_bps_device", format!("{number} {bytes_per_second}")),
            false => ("io.max", format!("{number} rbps={bytes_per_second}")),
        };
        (self.path.join(file), value)
    }

    fn set_limit(&self, device: &LoopDevice, bytes_per_second: u64) {
        let (file, value) = self.limit(device, bytes_per_second);
        fs::write(file, value).unwrap();
    }

    fn run(&self, flashmark: &Flashmark, words: &[&str]) -> Ran {
        let program = flashmark.command(words);
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ >\"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.path);
        shell.arg(program.get_program()).args(program.get_args());
        shell.env("FLASHMARK_HOME", flashmark.home()).env("LC_ALL", "C.UTF-8");
        Ran::of(&mut shell)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        fs::remove_dir(&self.path).unwrap();
    }
}

/// A container or a service with a limit was measured as a slow medium. How much faster it is without
/// the limit depends on the machine, and is asserted nowhere.
#[test]
fn a_limit_of_a_control_group_is_named_and_tried() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let device = device(&scratch);
    let Some(group) = ControlGroup::new(&device) else {
        return skipped("control groups cannot be made here");
    };
    group.set_limit(&device, 1_000_000);
    let reads = ["run", device.word(), "--suite", "quick", "--only", "random-read"];
    let ran = group.run(&flashmark, &[&reads[..], &["--time-limit", "3s"]].concat());
    let sentence = "a control group of this host limits reads to 1.00 MB/s";
    assert!(ran.out.contains(sentence) && ran.out.contains("at least"), "{ran}");
    let read = &flashmark.record().cells[0];
    assert!(read.io_limit().is_some(), "{read:?}");

    group.set_limit(&device, 10_000_000);
    let queue = format!("/sys/block/{}/queue/read_ahead_kb", device.name());
    fs::write(queue, "128").unwrap();
    let words = ["host-effects", device.word(), "--time", "200ms", "--rounds", "1"];
    let ran = group.run(&flashmark, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let (file, limit) = group.limit(&device, 10_000_000);
    assert!(fs::read_to_string(file).unwrap().contains(&limit), "it is restored");
    let mut records = flashmark.runs().into_iter().map(|dir| read_record(&dir.join("record.json")));
    let record = records.find(|record| record.run.suite == "host-effects").unwrap();
    let found: Vec<&str> = record.findings.iter().map(|one| one.statement.as_str()).collect();
    let (of_limit, others): (Vec<&str>, Vec<&str>) =
        found.iter().partition(|statement| statement.starts_with("Limit of the control group"));
    assert_eq!(of_limit.len(), 1, "{found:#?}");
    assert!(of_limit[0].contains("on reads: none instead of 10.0 MB/s: "), "{found:#?}");
    assert!(others.len() >= 3, "{found:#?}");
}
