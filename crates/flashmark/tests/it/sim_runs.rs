//! Whole runs on simulated media: repeatable, kept, shown, planned and judged as the flags say.

use std::fs;
use std::time::Duration;

use record::units::Bytes;
use record::{Ended, Record};

use crate::support::{EXT4, Flashmark, MIB, Ran, Scratch, eventually, mounted};

/// The record of a run from a store and a working directory of its own, as text.
fn record_of(words: &[&str]) -> String {
    let scratch = Scratch::new();
    let flashmark = Flashmark::new();
    let words = [&["run"], words, &["--quiet", "--json", "record.json"]].concat();
    let ran = Ran::of(flashmark.command(&words).current_dir(scratch.path()));
    assert_eq!(ran.code, Some(0), "{words:?}: {ran}");
    let text = fs::read_to_string(scratch.at("record.json")).unwrap();
    assert_eq!(
        text,
        fs::read_to_string(flashmark.run_dir().join("record.json")).unwrap(),
        "the store keeps the same"
    );
    text
}

/// The first line in which two texts differ.
fn difference<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    one.lines().zip(other.lines()).find(|(a, b)| a != b)
}

#[test]
fn the_same_words_give_the_same_bytes() {
    for (profile, suite) in [("class10", "quick"), ("a1", "quick"), ("class10", "full")] {
        let target = format!("sim:{profile}");
        let words = [target.as_str(), "--suite", suite, "--seed", "7"];
        let (one, other) = (record_of(&words), record_of(&words));
        assert!(one == other, "{words:?}: {:?}", difference(&one, &other));
        let record = Record::from_json(&one).unwrap();
        assert_eq!(record.run.ended, Ended::Complete);
        assert!(record.cells.iter().any(|cell| cell.ops > 0));
    }
}

#[test]
fn a_record_is_the_same_wherever_it_is_read() {
    let flashmark = Flashmark::new();
    let ran = flashmark.done(&["run", "sim:a1", "--suite", "quick", "--json", "-"]);
    let kept = fs::read_to_string(flashmark.run_dir().join("record.json")).unwrap();
    assert_eq!(ran.out, kept, "standard output holds the record and nothing else");
    assert!(
        ran.err.contains("random-write 4 KiB"),
        "progress and summary go elsewhere: {}",
        ran.err
    );
    let name = flashmark.run_dir().file_name().unwrap().to_str().unwrap().to_owned();
    for run in [name.as_str(), "latest", "sim-a1"] {
        assert_eq!(flashmark.done(&["show", run, "--json"]).out, kept);
    }
    let scratch = Scratch::new();
    let copy = scratch.file("copy.json", &kept);
    let elsewhere = Flashmark::new();
    assert_eq!(elsewhere.done(&["show", copy.to_str().unwrap(), "--json"]).out, kept);
    let page = scratch.at("page.html");
    elsewhere.done(&["report", copy.to_str().unwrap(), "--html", page.to_str().unwrap()]);
    let own_page = fs::read_to_string(flashmark.run_dir().join("report.html")).unwrap();
    assert_eq!(fs::read_to_string(page).unwrap(), own_page);
    assert!(elsewhere.runs().is_empty(), "looking at a record keeps nothing");
}

#[test]
fn a_plan_for_a_directory_writes_nothing_either() {
    let scratch = Scratch::new();
    let flashmark = Flashmark::new();
    flashmark.done(&["run", scratch.word(), "--suite", "quick", "--plan"]);
    assert!(scratch.names().is_empty() && fs::read_dir(flashmark.home()).unwrap().count() == 0);
}

/// Whatever it does there, it leaves others their room.
#[test]
fn files_in_a_directory_are_no_larger_than_the_plan_says() {
    let Some((_scratch, _image, _device, mount)) = mounted(256 * MIB, EXT4, &[]) else { return };
    let flashmark = Flashmark::new();
    let words = ["run", mount.word(), "--suite", "standard", "--time-limit", "8s"];
    let plan = flashmark.done(&[&words[..], &["--plan"]].concat());
    let said = plan.out.lines().find_map(|line| line.strip_prefix("Files    at most ")).unwrap();
    let (said, _) = said.split_once(" at a time").unwrap();
    let planned: u64 = said.parse::<Bytes>().unwrap().0;
    let free = || {
        let stat = rustix::fs::statvfs(mount.path()).unwrap();
        stat.f_bfree * stat.f_frsize
    };
    let (before, mut least) = (free(), u64::MAX);
    let mut run = flashmark.start(&[&words[..], &["--quiet"]].concat());
    while run.try_wait().unwrap().is_none() {
        least = least.min(free());
        std::thread::sleep(Duration::from_millis(1));
    }
    let fell = before - least;
    // ext4 keeps a list of where the parts of a file are.
    assert!((4 * MIB..=planned + planned / 64).contains(&fell), "{fell} of {planned}");
    eventually("the files to be gone", || (free() >= before).then_some(()));
}
