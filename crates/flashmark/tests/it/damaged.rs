//! Runs whose journal or record something befell: shown, taken up to the end, and said in a line.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::{BACKUP_FILE, Store};

use crate::failing::{Answer, FailingMedium};
use crate::support::{Flashmark, Scratch, on_one_line, read_record};

const RUN: [&str; 6] =
    ["run", "sim:class10", "--suite", "quick", "--only", "prime,sequential-read"];

/// A store with one finished run, its directory, and its journal.
fn one_run() -> (Flashmark, PathBuf, String) {
    let flashmark = Flashmark::new();
    flashmark.done(&[&RUN[..], &["--quiet"]].concat());
    let dir = flashmark.run_dir();
    let journal = fs::read_to_string(dir.join("journal.jsonl")).unwrap();
    (flashmark, dir, journal)
}

fn name_of(dir: &Path) -> &str {
    dir.file_name().unwrap().to_str().unwrap()
}

/// As after a power cut on FAT, where a file may be longer than what is known of its place, or with
/// a bad sector.
#[test]
fn what_the_disk_does_not_read_of_a_journal_costs_no_line_before_it() {
    let (flashmark, dir, journal) = one_run();
    let scratch = Scratch::new();
    let whole = read_record(&dir.join("record.json"));
    let mut content = journal.clone().into_bytes();
    let length = content.len() as u64;
    content.extend([0; 20 << 10]);
    let Some(disk) = FailingMedium::holding(&scratch.directory("disk"), "fuse.journal", content)
    else {
        return;
    };
    fs::remove_file(dir.join("record.json")).unwrap();
    fs::remove_file(dir.join("journal.jsonl")).unwrap();
    std::os::unix::fs::symlink(disk.file(), dir.join("journal.jsonl")).unwrap();
    let cells = || {
        let shown: Value =
            serde_json::from_str(&flashmark.done(&["show", "latest", "--json"]).out).unwrap();
        shown["cells"].as_array().unwrap().len()
    };
    disk.answers(Answer::Unreadable(length.next_multiple_of(4096), u64::MAX));
    assert_eq!(cells(), whole.cells.len(), "what follows the last line costs nothing");
    disk.answers(Answer::Unreadable(length - 1, u64::MAX));
    assert!(cells() >= whole.cells.len() - 1, "the last page costs its lines");
    disk.answers(Answer::Unreadable(0, 1));
    assert_eq!(cells(), 0, "the first line has a copy");
    disk.answers(Answer::Unreadable(0, u64::MAX));
    let dead = flashmark.run(&["show", "latest"]);
    assert!(dead.code != Some(0) && dead.err.contains("cannot read the journal"), "{dead}");
}

/// The journal holds what was measured; the record adds the caveats, whoever makes it.
#[test]
fn a_run_without_its_record_is_shown_with_its_caveats() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:ssd", "--suite", "quick", "--only", "prime", "--quiet"]);
    let dir = flashmark.run_dir();
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    let record = read("record.json");
    assert!(record.contains("may-not-last") && !read("journal.jsonl").contains("may-not-last"));
    fs::remove_file(dir.join("record.json")).unwrap();
    let shown = flashmark.done(&["show", "latest", "--json"]).out;
    assert_eq!(shown.trim_end(), record.trim_end());
}

#[test]
fn unrestored_data_is_the_first_line_of_every_output_of_the_run() {
    let (flashmark, dir, _) = one_run();
    let run = Store::open(flashmark.home().to_owned()).find("latest").unwrap();
    let mut log = run.create_backup("Generic SD\x1b[2J 32 GB", 9 << 20).unwrap();
    (0..9).for_each(|piece| log.keep(piece << 20, &vec![1; 1 << 20]).unwrap());
    log.seal().unwrap();
    let line = format!(
        "NOT RESTORED: 9 MiB of data from {} is kept in this run; plug the medium in and type: flashmark restore {}",
        record::text::printable("Generic SD\x1b[2J 32 GB"),
        name_of(&dir)
    );
    for words in [&["runs"][..], &["show"], &["show", "--all"]] {
        let flat = flashmark.done(words).flat();
        let line = on_one_line(&line);
        assert!(flat.starts_with(&line), "{words:?}: {flat}");
    }
    for words in [&["show", "--json"][..], &["export", "latest"], &["compare", "latest", "latest"]]
    {
        let stderr = flashmark.done(words).err;
        assert!(
            stderr.lines().next().is_some_and(|first| first.ends_with(&line)),
            "{words:?}: {stderr}"
        );
    }
    let listed: Value = serde_json::from_str(&flashmark.done(&["runs", "--json"]).out).unwrap();
    assert_eq!(
        (listed[0]["owed"]["bytes"].as_u64(), listed[0]["owed"]["pieces"].as_u64()),
        (Some(9 << 20), Some(9))
    );
    log.clear().unwrap();
    assert!(
        !dir.join(BACKUP_FILE).exists() && !flashmark.done(&["runs"]).out.contains("NOT RESTORED")
    );
}

/// A bare `resume` wrote again to a medium that had just said "copy what is on it now".
#[test]
fn resume_asks_before_it_writes_to_a_medium_that_fails() {
    let flashmark = Flashmark::new();
    let ran = flashmark.run(&["check", "sim:worn", "--seed", "1"]);
    assert!(ran.code == Some(4) && ran.out.contains("Copy what"), "{ran}");
    let before = fs::read(flashmark.run_dir().join("journal.jsonl")).unwrap();
    let ran = flashmark.run(&["resume"]);
    assert!(ran.code == Some(3) && ran.err.contains("copy what is on it first"), "{ran}");
    assert_eq!(fs::read(flashmark.run_dir().join("journal.jsonl")).unwrap(), before);
}
