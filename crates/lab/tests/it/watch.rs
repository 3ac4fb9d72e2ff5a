//! `watch` of real devices: what it counts, and how it ends.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{
    Flashmark, LoopDevice, MIB, Scratch, has_root, node_of_its_own, skipped, tool,
};

/// Output of `watch --json` for a device until it is interrupted after `work`, and its last
/// message.
fn watched(device: &str, work: impl FnOnce()) -> (Vec<Value>, String) {
    let flashmark = Flashmark::new();
    let mut child = flashmark.start(&["watch", device, "--interval", "100ms", "--json"]);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut looks = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut seen = vec![looks.next().unwrap()];
    work();
    // What the work did last is in a look that began after it, not in one that waits in the pipe
    // since before.
    let done = jiff::Timestamp::now() + Duration::from_millis(100);
    let at = |look: &Value| look["at"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    while at(&seen[seen.len() - 1]) < done {
        seen.push(looks.next().unwrap());
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    seen.extend(looks);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    (seen, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn watch_counts_the_io_of_the_device() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let medium = LoopDevice::new(&scratch.image("image", 16 * MIB));
    let (seen, summary) = watched(medium.word(), || {
        let dd = |words: String| tool("dd", &words.split(' ').collect::<Vec<_>>());
        let device = medium.word();
        dd(format!("if=/dev/zero of={device} bs=64k count=50 oflag=direct conv=notrunc"));
        dd(format!("if={device} of=/dev/null bs=4k count=1000 iflag=direct"));
    });
    let total = |name: &str| -> f64 {
        seen.iter()
            .map(|look| look[name].as_f64().unwrap() * look["interval_s"].as_f64().unwrap())
            .sum()
    };
    assert_eq!((total("w/s").round(), total("wkB/s").round()), (50.0, 3200.0));
    // Something else (udev) may look at what was written.
    assert!(total("r/s").round() >= 1000.0 && total("rkB/s").round() >= 4000.0);
    assert!(seen.iter().all(|look| look["disk_device"] == medium.name()));
    assert!(summary.contains("All together") && summary.contains(medium.name()), "{summary}");

    // Without a device it tells of all disks, from boot on.
    let text = Flashmark::new().done("watch --json").out;
    let mut rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let row = rows.find(|row| row["disk_device"] == medium.name()).unwrap();
    let writes = (row["w/s"].as_f64().unwrap() * row["interval_s"].as_f64().unwrap()).round();
    let stat = std::fs::read_to_string(format!("/sys/block/{}/stat", medium.name())).unwrap();
    let counted: f64 = stat.split_whitespace().nth(4).unwrap().parse().unwrap();
    assert!((50.0..=counted).contains(&writes), "{writes} of {counted}");
}

/// A disk of this machine.
fn some_disk() -> Option<host::InventoryEntry> {
    let disk = host::list(&host::Roots::default())
        .into_iter()
        .find(|disk| disk.size_bytes > 0 && !disk.name.starts_with("loop"));
    if disk.is_none() {
        skipped("needs a disk to watch");
    }
    disk
}

#[test]
fn lines_are_iostats_and_end_after_so_many() {
    let Some(disk) = some_disk() else { return };
    let flashmark = Flashmark::new();
    let ran = flashmark.done(&["watch", &disk.name, "--interval", "20ms", "--count", "3"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 4, "{ran}");
    let heads: Vec<&str> = lines[0].split_whitespace().collect();
    assert_eq!(heads[..7], ["Device", "r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz"]);
    let is_row = |line: &&str| {
        line.starts_with(&disk.name) && line.split_whitespace().count() == heads.len()
    };
    assert!(lines[1..].iter().all(is_row), "{ran}");
}

#[test]
fn a_device_that_vanishes_is_reported_by_name() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    // Not the node that the next test gets.
    let Some(medium) = LoopDevice::at(&node_of_its_own(), &scratch.image("image", MIB)) else {
        return skipped("another program took the loop device");
    };
    let name = medium.name().to_owned();
    let mut child = Flashmark::new().start(&["watch", medium.word(), "--interval", "20ms"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.by_ref().take(3).for_each(|line| _ = line.unwrap());
    drop(medium);
    lines.for_each(|line| _ = line.unwrap());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let gone = format!("flashmark: {name} is gone: there is no medium in it any more\n");
    assert!(stderr.ends_with(&gone), "{stderr}");
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let Some(disk) = some_disk() else { return };
    let mut child = Flashmark::new().start(&["watch", &disk.name, "--interval", "10ms"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
