//! Exit codes, on which scripts rely: those that need more than a command.
//! `cases/exit-codes.trycmd` has the others.

use std::fs;
use std::process::Command;

use record::Ended;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::failing::{Answer, FailingMedium};
use crate::support::{Flashmark, Ran, Scratch, eventually, has_root};

/// Done, the medium failed a check, refused, I/O error, internal, interrupted.
const DONE: i32 = 0;
const FAILED: i32 = 1;
const REFUSED: i32 = 3;
const IO: i32 = 4;
const INTERNAL: i32 = 5;
const INTERRUPTED: i32 = 130;

/// A suite with one read that lasts.
const LONG: &str = "name = \"long\"\n\n[[test]]\nname = \"sequential-read\"\nspan = \"4MiB\"\nblock = \"64KiB\"\ntotal = \"100GiB\"\nmin_time = \"10m\"\nmax_time = \"10m\"\n";

#[test]
fn results_that_cannot_be_kept_are_internal() {
    let mut command =
        Flashmark::new().command(&["run", "sim:class10", "--suite", "quick", "--quiet"]);
    let ran = crate::support::Ran::of(command.env("FLASHMARK_HOME", "/proc/flashmark"));
    assert_eq!(ran.code, Some(INTERNAL), "{ran}");
}

#[test]
fn an_interrupted_run_ends_so_and_so_does_its_resumption() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let image = scratch.image("image", 16 << 20);
    let suite = scratch.file("suite.toml", LONG);
    let interrupted = |words: &[&str], sittings: usize| {
        let child = flashmark.start(words);
        eventually("the run", || {
            let journal =
                fs::read_to_string(flashmark.runs().first()?.join("journal.jsonl")).ok()?;
            (journal.lines().filter(|line| line.contains("\"resumed\":{")).count() >= sittings)
                .then_some(())
        });
        std::thread::sleep(std::time::Duration::from_millis(500));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        child.wait_with_output().unwrap().status.code()
    };
    let words = ["run", image.to_str().unwrap(), "--suite", suite.to_str().unwrap(), "--quiet"];
    assert_eq!(interrupted(&words, 0), Some(INTERRUPTED));
    assert_eq!(interrupted(&["resume", "--quiet"], 1), Some(INTERRUPTED));
    assert_eq!(flashmark.record().run.ended, Ended::Interrupted);
}

#[test]
fn a_failing_medium_is_an_io_error_for_run_and_replay() {
    let scratch = Scratch::new();
    let Some(medium) =
        FailingMedium::mounted(&scratch.directory("mnt"), "fuse.flashmark-it", 16 << 20)
    else {
        return;
    };
    medium.answers(Answer::Error(Errno::IO));
    let file = medium.file();
    let target = file.to_str().unwrap();
    let suite = scratch.file("suite.toml", LONG);
    let run = Flashmark::new().run(&["run", target, "--suite", suite.to_str().unwrap(), "--quiet"]);
    assert_eq!(run.code, Some(IO), "{run}");
    let iolog = scratch.file(
        "trace.iolog",
        "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda read 0 4096\n/dev/sda close\n",
    );
    let replay = Flashmark::new().run(&format!(
        "replay {} {} --speed max --quiet",
        iolog.to_str().unwrap(),
        target
    ));
    assert_eq!(replay.code, Some(IO), "{replay}");
}

#[test]
fn what_needs_root_is_refused_without_it() {
    if !has_root() {
        return;
    }
    for words in [&["matrix", "/var/tmp", "--fs", "ext4"][..], &["attach", "a1"]] {
        let (ran, _) = crate::support::as_nobody(words);
        assert_eq!(ran.code, Some(REFUSED), "{words:?}: {ran}");
    }
}

/// With `--quiet`, a claim that was not measured passed without a message, and one that failed
/// ended with 1 and no message.
#[test]
fn the_reason_of_the_exit_code_is_printed_with_quiet() {
    let flashmark = Flashmark::new();
    let ran = |words: &[&str]| flashmark.run(&[&["run", "--quiet"], words].concat());
    let claim = ["--claim", "random-write=500IOPS"];
    let untested = [&["sim:a1", "--only", "random-read"], claim.as_slice()].concat();
    let found = ran(&untested);
    assert_eq!(found.code, Some(DONE), "{found}");
    assert!(found.err.contains("cannot be told (no failure without --strict): The claim"));
    let found = ran(&[untested.as_slice(), &["--strict"]].concat());
    assert_eq!(found.code, Some(FAILED), "{found}");
    assert!(found.err.contains("cannot be told (exit code 1): The claim"), "{found}");
    let found = ran(&[&["sim:class10", "--suite", "quick"], claim.as_slice()].concat());
    assert_eq!(found.code, Some(FAILED), "{found}");
    assert!(found.err.contains("failed: The claim of 4 KiB random writes"), "{found}");
    // The verdict and what it is drawn from said the same, one below the other.
    let fake = ran(&["sim:fake-limbo", "--only", "capacity"]);
    assert_eq!((fake.code, fake.err.matches("It is a fake").count()), (Some(FAILED), 1), "{fake}");
}

/// Every command that a page shows to its reader can be planned; nothing is measured. The target is
/// a directory, in which writes need no consent, so that every setting is checked.
#[test]
fn every_command_beside_a_published_figure_exists() {
    let scratch = Scratch::new();
    let file = scratch.path().join("medium.img");
    fs::File::create(&file).unwrap().set_len(2 << 30).unwrap();
    let (file, directory) = (file.to_str().unwrap(), scratch.path().to_str().unwrap());
    let flashmark = Flashmark::new();
    let mut commands = std::collections::BTreeSet::new();
    let runs = report::reference::runs();
    for cell in runs.iter().flat_map(|run| &run.cells) {
        commands.extend(record::quantities(cell).into_iter().map(|(column, _)| column.command));
        commands.extend(record::nearest_command(cell).map(str::to_owned));
    }
    assert!(commands.len() > 50, "{commands:?}");
    for command in &commands {
        // Watching has no end: only its words are read.
        let plan = if command.starts_with("watch") { "--help" } else { "--plan" };
        let target = if command.starts_with("matrix") { file } else { directory };
        let words: Vec<&str> = command
            .split(' ')
            .map(|word| if word == "TARGET" { target } else { word })
            .chain([plan])
            .collect();
        let ran = flashmark.run(&words);
        let needs_a_device = ran.err.contains("needs a raw medium");
        assert!(ran.code == Some(DONE) || needs_a_device, "{command}: {ran}");
    }
}

/// Columns of runs: the same names as on the site, and suggestions for a name that does not exist.
#[test]
fn runs_are_listed_with_columns_of_choice() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:a1", "--only", "sequential-write,seek", "--seed", "1", "--quiet"]);
    let ran = flashmark.done(&["runs", "--columns", "seeks,dd"]);
    assert!(ran.out.contains("Seeks") && ran.out.contains("seeks/s"), "{ran}");
    assert!(ran.out.contains("dd write, 1 MiB") && !ran.out.contains("CPU"), "{ran}");
    let listed = flashmark.done(&["runs", "--columns", "all", "--json"]);
    let runs: serde_json::Value = serde_json::from_str(&listed.out).unwrap();
    let seeks = &runs[0]["columns"]["seeks"];
    assert!(seeks["unit"] == "seeks/s" && seeks["ci95"].is_array(), "{listed}");
}

/// Without /proc the mounts are not known: `list` called every disk free, and `check` ended with
/// the code of a failed medium.
#[test]
fn without_the_table_of_mounts_nothing_is_touched() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let program = assert_cmd::cargo::cargo_bin!("flashmark").to_str().unwrap();
    for words in [vec!["list"], vec!["check", scratch.word(), "--budget", "5s"]] {
        let mut command = Command::new("unshare");
        let script = r#"mount -t tmpfs none /proc && exec "$0" "$@""#;
        command.args(["--mount", "bash", "-c", script, program]).args(&words);
        let ran = Ran::of(command.env("FLASHMARK_HOME", flashmark.home()));
        assert_eq!(ran.code, Some(REFUSED), "{words:?}: {ran}");
        assert!(ran.err.contains("mount -t proc proc /proc"), "{words:?}: {ran}");
        assert!(!ran.out.contains("free"), "{words:?}: {ran}");
    }
}
