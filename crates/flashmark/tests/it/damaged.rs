//! Runs whose journal or record something befell: shown, taken up to the end, and said in a line.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use store::{BACKUP_FILE, Store};

use crate::failing::{Answer, FailingMedium};
use crate::support::{Flashmark, Scratch, read_record};

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

#[test]
fn cells_from_a_damaged_line_on_are_measured_again_and_the_screen_says_how_many() {
    let (flashmark, dir, journal) = one_run();
    let whole = read_record(&dir.join("record.json"));
    let place = journal.find("\"cell\":{\"id\":\"sequential-read/").unwrap();
    let spoilt =
        format!("{}{}", &journal[..place], journal[place..].replacen("\"ops\":", "\"osp\":", 1));
    fs::write(dir.join("journal.jsonl"), &spoilt).unwrap();
    fs::remove_file(dir.join("record.json")).unwrap();
    let message = "line 4 of the journal is damaged: it and the line after it are not used; 1 cell is measured again by resume";

    for words in [
        &["show", "latest"][..],
        &["show", "latest", "--json"],
        &["export", "latest", "--format", "json"],
        &["report", "latest", "--html", dir.join("page.html").to_str().unwrap()],
    ] {
        let ran = flashmark.done(words);
        assert_eq!(ran.err, format!("flashmark: {}: {message}\n", name_of(&dir)), "{words:?}");
    }
    let listed = flashmark.done(&["runs"]).out;
    let flat = listed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("interrupted") && flat.contains(message), "{listed}");
    let listed: Value = serde_json::from_str(&flashmark.done(&["runs", "--json"]).out).unwrap();
    assert_eq!(listed[0]["damage"].as_str(), Some(message));
    let left = fs::read_to_string(dir.join("journal.jsonl")).unwrap();
    assert_eq!(left, spoilt, "it is left as it is");

    // A bare resume finds it.
    let resumed = flashmark.done(&["resume", "--quiet"]);
    assert!(resumed.err.contains(message), "{resumed}");
    let record = read_record(&dir.join("record.json"));
    assert_eq!(
        (record.run.ended, record.cells.len()),
        (record::Ended::Complete, whole.cells.len())
    );
    assert_eq!(record.flags, whole.flags, "the numbers are not accused");
    for cell in whole.cells.iter().filter(|cell| cell.test == "prime") {
        assert!(record.cells.contains(cell), "{} was kept", cell.id);
    }
    assert_eq!(flashmark.done(&["show", "latest"]).err, "");
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

#[test]
fn a_finished_run_without_its_record_is_shown_with_findings_and_concluded_by_a_bare_resume() {
    let (flashmark, dir, _) = one_run();
    let (path, record) =
        (dir.join("record.json"), fs::read_to_string(dir.join("record.json")).unwrap());
    let shown = flashmark.done(&["show", "latest", "--findings"]).out;
    for damage in [None, Some("{\"schema\":"), Some("\0\0\0")] {
        match damage {
            None => fs::remove_file(&path).unwrap(),
            Some(text) => fs::write(&path, text).unwrap(),
        }
        assert_eq!(flashmark.done(&["show", "latest", "--findings"]).out, shown, "{damage:?}");
        flashmark.done(&["export", "latest"]);
        flashmark.done(&["resume"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), record, "{damage:?}");
    }
    assert_eq!(flashmark.run(&["resume"]).code, Some(2), "nothing is left to do");
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
fn of_a_run_without_its_first_line_the_record_is_shown() {
    let (flashmark, dir, journal) = one_run();
    fs::write(dir.join("journal.jsonl"), journal.replacen("flashmark-", "flushmark-", 1)).unwrap();
    fs::remove_file(dir.join("header.jsonl")).unwrap();
    let alone = flashmark.done(&["show", "latest"]);
    assert!(alone.err.contains("its record stands alone"), "{alone}");
    fs::remove_file(dir.join("record.json")).unwrap();
    let refused = flashmark.run(&["show", "latest"]);
    assert!(refused.code == Some(2) && refused.err.contains("start a new run"), "{refused}");
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
        let flat = flashmark.done(words).out.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
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
