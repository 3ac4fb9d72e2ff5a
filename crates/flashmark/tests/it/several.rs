//! Several media in one call: one table, a run for each, and no run disturbs another.

use std::fs;

use crate::support::{Flashmark, LoopDevice, MIB, Scratch, eventually, has_root};

fn lines_of_json(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_medium_among_several_is_measured_as_if_it_were_alone() {
    let flashmark = Flashmark::new();
    flashmark.done(&["check", "sim:a1", "sim:class10", "--quiet"]);
    let alone = Flashmark::new();
    alone.done(&["check", "sim:a1", "--quiet"]);
    let of_a1 = flashmark.runs().into_iter().find(|run| run.ends_with("sim-a1-check-1")).unwrap();
    let cells = |dir: &std::path::Path| crate::support::read_record(&dir.join("record.json")).cells;
    assert_eq!(cells(&of_a1), cells(&alone.run_dir()), "as if it had been measured alone");
}

#[test]
fn programs_get_a_line_for_each_and_events_that_name_their_target() {
    let flashmark = Flashmark::new();
    let words = ["check", "sim:a1", "sim:class10", "--json", "--progress", "json"];
    let ran = flashmark.done(&words);
    let lines = lines_of_json(&ran.out);
    assert_eq!(lines.len(), 2, "{ran}");
    assert!(lines.iter().all(|line| line["summary"]["genuine"] == "no-sign"), "{ran}");
    let events = lines_of_json(&ran.err);
    let (last, others) = events.split_last().unwrap();
    assert_eq!((last["event"].as_str(), last["exit"].as_u64()), (Some("ended"), Some(0)));
    assert!(last.get("target").is_none(), "{last}");
    for target in ["sim:a1", "sim:class10"] {
        let of_target = others.iter().filter(|event| event["target"] == target);
        let names: Vec<_> = of_target.filter_map(|event| event["event"].as_str()).collect();
        assert!(names.contains(&"planned") && names.contains(&"record"), "{names:?}");
    }
    assert!(others.iter().all(|event| event["target"].is_string()));
}

/// A card that was not named in `--erase` keeps every byte.
#[test]
fn only_the_medium_that_is_named_is_overwritten() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let images = ["a", "b"].map(|name| {
        let path = scratch.image(name, 32 * MIB);
        fs::write(&path, vec![0x5a; (32 * MIB) as usize]).unwrap();
        path
    });
    let devices = images.each_ref().map(|image| LoopDevice::new(image));
    let words = ["run", devices[0].word(), devices[1].word(), "--suite", "quick", "--quiet"];
    let erase = ["--only", "sequential-write", "--erase", devices[1].word(), "--yes"];
    let ran = flashmark.run(&[&words[..], &erase].concat());
    assert_eq!(ran.code, Some(2), "nothing to do on the first: {ran}");
    rustix::fs::sync();
    let is_whole =
        images.each_ref().map(|image| fs::read(image).unwrap().iter().all(|byte| *byte == 0x5a));
    assert_eq!(is_whole, [true, false], "{ran}");
}

#[test]
fn ctrl_c_ends_all_in_order() {
    let flashmark = Flashmark::new();
    let scratch = Scratch::new();
    let words = ["run", scratch.path().to_str().unwrap(), "sim:a1", "--only", "record-ops"];
    let mut child = flashmark.start(&[&words[..], &["--set", "record-ops.size=64MiB"]].concat());
    let journal = || {
        let runs = flashmark.runs();
        let of_directory = runs.iter().find(|run| !run.to_string_lossy().contains("sim-"))?;
        fs::read_to_string(of_directory.join("journal.jsonl")).ok()
    };
    eventually("a run of the directory", || journal().filter(|text| text.lines().count() > 1));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let records = flashmark.runs().into_iter().map(|run| run.join("record.json"));
    assert!(records.into_iter().all(|record| record.exists()), "every record is kept");
}
