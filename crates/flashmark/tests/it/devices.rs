//! Media that fail, vanish, hang or become full in the middle of a run: the cell says why, and the
//! record is kept.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use record::{Ended, Stop};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::failing::{Answer, FailingMedium};
use crate::support::{EXT4, Flashmark, MIB, Ran, Scratch, eventually, mounted};

/// A short cell, then one that lasts until something happens.
fn suite(scratch: &Scratch, test: &str) -> String {
    scratch.suite(&format!(
        "{SHORT}; {test} block=64KiB span=8MiB total=100GiB min_time=15m max_time=15m"
    ))
}

const SHORT: &str = "sequential-read block=64KiB span=4MiB min_time=1ms max_time=20ms";

/// Something, once the first cell of the run is in its journal.
fn first_cell(flashmark: &Flashmark) -> Option<()> {
    let journal = fs::read_to_string(flashmark.runs().first()?.join("journal.jsonl")).ok()?;
    (journal.lines().count() >= 2).then_some(())
}

/// Starts a run of that suite, and waits until its long cell has begun.
fn in_the_middle(flashmark: &Flashmark, target: &Path, suite: &str) -> Child {
    let target = target.to_str().unwrap();
    let mut child = flashmark.start(&["run", target, "--erase", target, "--suite", suite]);
    eventually("the first cell", || {
        assert!(child.try_wait().unwrap().is_none(), "it has ended: {:?}", flashmark.home());
        first_cell(flashmark)
    });
    std::thread::sleep(Duration::from_millis(100));
    child
}

fn outcome(child: Child) -> Ran {
    Ran::from(child.wait_with_output().unwrap())
}

/// Reason why the long cell ended. The run must have ended by the medium's failure, with everything
/// before it kept.
fn reason_of(flashmark: &Flashmark, ran: &Ran) -> String {
    assert_eq!(ran.code, Some(4), "{ran}");
    let record = flashmark.record();
    assert_eq!(record.run.ended, Ended::Error);
    let [first, failed] = &record.cells[..] else { panic!("{ran}") };
    assert!(first.stop != Stop::Error && first.ops > 0, "what was measured before is kept");
    assert_eq!(failed.stop, Stop::Error);
    let reason = failed.reason.clone().unwrap();
    let last = ran.err.lines().last().unwrap();
    assert!(last.contains(&reason), "{ran}");
    // What fails is copied from next, and not measured on.
    let is_failing = ["the medium reports", "the medium refuses"].map(|of| reason.starts_with(of));
    assert_eq!(last.contains("flashmark resume"), !is_failing.contains(&true), "{ran}");
    let shown = flashmark.done(&["show", "latest", "--json"]).out;
    assert_eq!(shown, fs::read_to_string(flashmark.run_dir().join("record.json")).unwrap());
    without_places(&reason)
}

/// A reason without the offset at which it happened, which differs each time.
fn without_places(reason: &str) -> String {
    let (before, after) = reason.split_once(" at byte ").unwrap();
    format!("{before} at byte N{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Reason that a run on a file gives if its medium begins to answer like this in the middle of
/// `test`.
fn reason_when(answer: Answer, test: &str) -> Option<String> {
    let scratch = Scratch::new();
    let suite = suite(&scratch, test);
    let medium = FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)?;
    let flashmark = Flashmark::new();
    let child = in_the_middle(&flashmark, &medium.file(), &suite);
    medium.answers(answer);
    Some(reason_of(&flashmark, &outcome(child)))
}

/// The same for several answers, a line each; `None` without FUSE.
fn reasons_when(test: &str, answers: &[Answer]) -> Option<String> {
    answers
        .iter()
        .map(|answer| reason_when(*answer, test))
        .collect::<Option<Vec<_>>>()
        .map(|lines| lines.join("\n"))
}

#[test]
fn reads_that_fail() {
    let answers = [
        Answer::Error(Errno::IO),
        Answer::Error(Errno::NODATA),
        Answer::Error(Errno::NODEV),
        Answer::Nothing,
    ];
    let Some(reasons) = reasons_when("sequential-read", &answers) else { return };
    insta::assert_snapshot!(reasons, @r"
    the medium reports an error while reading 64 KiB at byte N: Input/output error (os error 5)
    the medium reports an error while reading 64 KiB at byte N: No data available (os error 61)
    the medium is gone while reading 64 KiB at byte N: No such device (os error 19)
    the system reports an error while reading 64 KiB at byte N: read returned 0 bytes inside the medium, after 0 of 65536
    ");
}

#[test]
fn writes_that_fail() {
    let errors = [Errno::IO, Errno::NODEV, Errno::NXIO, Errno::ROFS, Errno::NOSPC];
    let Some(reasons) = reasons_when("sequential-write", &errors.map(Answer::WriteError)) else {
        return;
    };
    insta::assert_snapshot!(reasons, @r"
    the medium reports an error while writing 64 KiB at byte N: Input/output error (os error 5)
    the medium is gone while writing 64 KiB at byte N: No such device (os error 19)
    the medium is gone while writing 64 KiB at byte N: No such device or address (os error 6)
    the medium refuses writes while writing 64 KiB at byte N: Read-only file system (os error 30)
    no space is left while writing 64 KiB at byte N: No space left on device (os error 28)
    ");
}

#[test]
fn a_medium_that_does_not_answer_is_announced_and_waited_for() {
    let scratch = Scratch::new();
    let suite = suite(&scratch, "sequential-read");
    let Some(medium) =
        FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)
    else {
        return;
    };
    let flashmark = Flashmark::new();
    let child = in_the_middle(&flashmark, &medium.file(), &suite);
    medium.answers(Answer::Late(Duration::from_secs(9)));
    eventually("an I/O that waits", || medium.is_late().then_some(()));
    std::thread::sleep(Duration::from_secs(10));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = outcome(child);
    assert_eq!(ran.code, Some(130), "{ran}");
    assert!(ran.err.contains("the medium has not answered for"), "{ran}");
    let cell = &flashmark.record().cells[1];
    // Where the host itself stood still for a quarter of it, the wait is told with what the host
    // did.
    let with_host = cell.host_state.as_ref().map_or(0, |seen| seen.longest_with_host_ns);
    let waited = cell.metrics.latency_ns.as_ref().unwrap().max.max(with_host);
    assert!(waited >= 5_000_000_000, "the stall is in the figures: {waited} ns");
}

#[test]
fn a_run_on_a_medium_that_does_not_answer_can_be_interrupted() {
    for engine in ["uring", "psync"] {
        let scratch = Scratch::new();
        let suite = suite(&scratch, "sequential-read");
        let Some(medium) =
            FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)
        else {
            return;
        };
        let flashmark = Flashmark::new();
        let target = medium.file();
        let words = format!("run {} --suite {suite} --engine {engine}", target.to_str().unwrap());
        let child = flashmark.start(&words);
        eventually("the first cell", || first_cell(&flashmark));
        medium.answers(Answer::Late(Duration::from_secs(8)));
        eventually("an I/O that waits", || medium.is_late().then_some(()));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ran = outcome(child);
        assert_eq!(ran.code, Some(130), "{engine}: {ran}");
        assert!(ran.err.contains("interrupted while the medium did not answer"), "{engine}: {ran}");
        assert!(ran.err.contains("Copy what is on it first"), "{engine}: {ran}");
        let record = flashmark.record();
        assert_eq!((record.run.ended, record.cells.len()), (Ended::Interrupted, 1));
    }
}

#[test]
fn a_directory_that_others_fill_meanwhile() {
    let Some((scratch, _image, _device, mount)) = mounted(64 * MIB, EXT4, &[]) else { return };
    let suite = suite(&scratch, "sequential-write");
    let flashmark = Flashmark::new();
    let words = ["run", mount.word(), "--suite", &suite, "--time-limit", "4s", "--quiet"];
    let child = flashmark.start(&words);
    eventually("the primed file", || first_cell(&flashmark));
    assert!(fs::write(mount.path().join("others"), vec![7; 100 << 20]).is_err(), "it is full now");
    let ran = outcome(child);
    assert_eq!(ran.code, Some(0), "the test file had its space from the start: {ran}");
    assert!(flashmark.record().cells.iter().all(|cell| cell.stop != Stop::Error));
    let mut names: Vec<_> =
        fs::read_dir(mount.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lost+found", "others"]);
}

#[test]
fn the_engine_that_was_asked_for_is_used() {
    let scratch = Scratch::new();
    let suite = scratch.suite(SHORT);
    let place = scratch.directory("place");
    let used = ["psync", "uring"].map(|engine| {
        let flashmark = Flashmark::new();
        let words = ["run", place.to_str().unwrap(), "--suite", &suite];
        flashmark.done(&[&words[..], &["--engine", engine, "--quiet"]].concat());
        flashmark.record().target.engine.unwrap()
    });
    assert!(used[0].starts_with("pread/pwrite") && used[1] == "io_uring", "{used:?}");
}
