//! `flashmark submit`: what is shown is what a collection gets, and nobody's run leaves unasked.

use std::io::{Read, Write};
use std::process::Stdio;

use flate2::read::GzDecoder;
use record::{Published, Record};

use crate::support::{Flashmark, Ran, Scratch, has_tool};

pub const RECORD: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records/flashmark-0.1.0-sim.json");

/// An empty collection, and the file that the record would become in it.
pub fn collection() -> (Scratch, String) {
    let scratch = Scratch::new();
    let dir = scratch.at("cards").to_str().unwrap().to_owned();
    Flashmark::new().done(&["init", &dir]);
    (scratch, dir)
}

/// Records that the collection has of this sender.
fn records(dir: &str) -> Vec<std::path::PathBuf> {
    let Ok(files) = std::fs::read_dir(format!("{dir}/records/ada")) else { return Vec::new() };
    files.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_is_shown_is_what_is_sent() {
    let (flashmark, (_scratch, dir)) = (Flashmark::new(), collection());
    let shown = flashmark.run(&["submit", RECORD, "--show"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    let ran = flashmark.run(&["submit", RECORD, "--to", &dir, "--sender", "ada", "--yes"]);
    let [written] = &records(&dir)[..] else { panic!("one record: {ran}") };
    let mut text = String::new();
    GzDecoder::new(std::fs::File::open(written).unwrap()).read_to_string(&mut text).unwrap();
    let sent: Published = serde_json::from_str(&shown.out).unwrap();
    // A collection draws the findings anew.
    let written: Published = serde_json::from_str(&text).unwrap();
    assert_eq!(written, Published { findings: Vec::new(), ..sent.clone() });

    let record = Record::from_json(&std::fs::read_to_string(RECORD).unwrap()).unwrap();
    assert_eq!(sent, Published::from(&record));
    assert!(!shown.out.contains(&record.run.id) && !shown.out.contains("\"target_path\""));
    insta::assert_snapshot!(ran.transcript(&[(&dir, "DIR"), (RECORD, "RECORD")]), @r#"
    exit 0
    This would be sent to DIR, for everyone to read:
      Medium    card 8 GB (simulated medium) 8.00 GB sim
      Label     a hand-checked sample
      Measured  by flashmark 0.1.0, suite quick, took 500 ms
      Results   2 cells with latencies and curves: 1 of prime, 1 of random-write; 1 not measured
      Size      902 B packed
      Not sent  serial number and registers of the medium, paths, and names of this machine and its users
    `flashmark submit RUN --show` prints all of it: 152 lines of JSON.
    --- and on standard output
    Written: DIR/records/ada/ai672secs3lpkdcy.json.gz
    To keep it:
      git -C DIR add records/ada/ai672secs3lpkdcy.json.gz
      git -C DIR commit -m "Add card 8 GB"
    "#);
}

#[test]
fn nobody_is_asked_so_nothing_is_sent() {
    let (_scratch, dir) = collection();
    let ran = Flashmark::new().run(&["submit", RECORD, "--to", &dir, "--sender", "ada"]);
    assert_eq!(ran.code, Some(3), "{ran}");
    assert!(
        ran.err.contains("This would be sent") && ran.err.contains("add --yes to send"),
        "{ran}"
    );
    assert!(records(&dir).is_empty());
}

/// The program asks on a terminal, which `script` gives it; the answer is typed through a pipe.
#[test]
fn who_is_there_is_asked() {
    if !has_tool("script") {
        return;
    }
    for (typed, code, sent) in [("y\n", 0, true), ("\n", 3, false), ("no\n", 3, false)] {
        let (flashmark, (_scratch, dir)) = (Flashmark::new(), collection());
        let program = flashmark.command(&[]);
        let program = program.get_program().to_str().unwrap();
        let line = format!("{program} submit '{RECORD}' --to {dir} --sender ada");
        let mut command = std::process::Command::new("script");
        command
            .args(["-q", "-e", "-c", &line, "/dev/null"])
            .env("FLASHMARK_HOME", flashmark.home());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(typed.as_bytes()).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(code), "{typed:?}: {ran}");
        assert!(ran.out.contains("Send it? [y/N]"), "{ran}");
        assert_eq!(!records(&dir).is_empty(), sent, "{typed:?}");
    }
}
