//! `host-effects`: settings are tried and put back, also after Ctrl-C and a kill; nothing is written.

use std::fs;

use record::Ended;

use crate::support::{
    Flashmark, LoopDevice, MIB, Scratch, as_nobody, eventually, has_root, read_record,
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
fn without_rights_it_says_what_needs_root() {
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
