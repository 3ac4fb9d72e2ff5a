//! Results that cannot be kept: the program says so before anything is measured, or else how to go
//! on.

use std::fs;
use std::path::PathBuf;

use record::Ended;

use crate::support::{Flashmark, Mount, Ran, Scratch, eventually, fill, has_root, read_record};

/// Results on a file system of their own, of this size.
fn own_file_system(scratch: &Scratch, size: &str) -> Mount {
    Mount::new(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"], &scratch.directory("home"))
}

fn run_in(home: &Mount, words: &[&str]) -> Ran {
    Ran::of(Flashmark::new().command(words).env("FLASHMARK_HOME", home.path()))
}

#[test]
fn a_full_results_directory_is_found_before_anything_is_measured() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let home = own_file_system(&scratch, "64k");
    let ran = run_in(&home, &["run", "sim:class10", "--suite", "quick"]);
    assert_eq!(ran.code, Some(5), "{ran}");
    assert!(
        ran.err.contains("free some space there, or set FLASHMARK_HOME")
            && ran.err.contains("Nothing was written to the medium"),
        "{ran}"
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_results_directory_that_becomes_unwritable_is_reported_with_the_way_to_resume() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let home = own_file_system(&scratch, "64m");
    let target = scratch.image("target", 16 << 20);
    let suite = scratch.suite(
        "sequential-read span=4MiB min_time=1ms max_time=20ms; \
         sequential-read span=8MiB block=64KiB total=100GiB min_time=5s max_time=5s",
    );
    let words = ["run", target.to_str().unwrap(), "--suite", &suite, "--quiet"];
    let child = Flashmark::new()
        .command(&words)
        .env("FLASHMARK_HOME", home.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let run = eventually("the first cell", || {
        let mut runs = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
        let run: PathBuf =
            runs.find(|path| !path.file_name().unwrap().as_encoded_bytes().starts_with(b"."))?;
        let journal = fs::read_to_string(run.join("journal.jsonl")).ok()?;
        (journal.lines().count() >= 2).then_some(run)
    });
    // Its journal is open for writing, so the file system cannot be made read-only; full it can be.
    fill(home.path());
    let ran = Ran::from(child.wait_with_output().unwrap());
    let name = run.file_name().unwrap().to_str().unwrap();
    assert_eq!(ran.code, Some(5), "{ran}");
    assert!(
        ran.err.contains(&format!("go on with: flashmark resume {name}"))
            && ran.err.contains("free some space"),
        "{ran}"
    );
    fs::remove_file(home.path().join("filler")).unwrap();
    let resumed = run_in(&home, &["resume", name, "--quiet"]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert_eq!(read_record(&run.join("record.json")).run.ended, Ended::Complete);
}
