//! Words and files that cannot be understood, each with its message; nothing is kept.

use std::fs;

use crate::support::{Flashmark, Scratch};

#[test]
fn help_of_a_word_that_is_no_command_explains_it() {
    let flashmark = Flashmark::new();
    for word in ["p99", "capacity"] {
        let explained = flashmark.done(&["explain", word]).out;
        assert_eq!(flashmark.done(&["help", word]).out, explained);
    }
}

/// Words of commands that moved, of git and of fio, in any of the programs.
#[test]
fn wrong_words_are_answered_with_the_command() {
    for (typed, instead) in [
        ("sim attach a1", "flashmark attach PROFILE"),
        ("sim detach --all", "flashmark detach DEVICE"),
        ("collection init cards", "flashmark init DIR"),
        ("collection check cards", "flashmark validate DIR"),
        ("collection", "flashmark init DIR"),
        ("capture /dev/sda", "flashmark replay TRACE TARGET"),
        ("host-effects", "flashmark compare --before"),
        ("station", "flashmark check /dev/sdX"),
        ("man", "cargo run -p xtask -- pages"),
        ("completions bash", "cargo run -p xtask -- pages"),
        ("log", "flashmark runs"),
        ("status", "flashmark list"),
        ("diff a b", "flashmark compare RUN RUN"),
        ("push", "flashmark submit latest"),
        ("commit", "flashmark submit latest"),
        ("add x.json", "flashmark import FILE"),
        ("clone cards", "flashmark publish DIR"),
        ("randread .", "flashmark run TARGET --only random-read"),
        ("randwrite .", "flashmark run TARGET --only random-write"),
        ("--rw=randread", "flashmark run TARGET --only random-read"),
        ("--filename=/dev/sda", "flashmark run TARGET"),
        ("fio job.fio", "flashmark import FILE"),
        ("benchmark .", "flashmark run TARGET"),
        ("matrx .", "did you mean matrix"),
        ("publsh site", "did you mean publish"),
        ("chek .", "did you mean check"),
    ] {
        let ran = Flashmark::new().run(typed);
        assert!(ran.code == Some(2) && ran.err.contains(instead), "{typed}: {ran}");
        assert_eq!(ran.err.lines().count(), 1, "{typed}: {ran}");
    }
}

#[test]
fn a_program_that_is_missing_is_named_with_its_installation() {
    let scratch = Scratch::new();
    let program = crate::support::program();
    crate::support::tool("cp", &[program.to_str().unwrap(), scratch.word()]);
    for (words, command, package) in [
        (&["matrix", "."][..], "matrix", "flashmark-lab"),
        (&["help", "matrix"], "matrix", "flashmark-lab"),
        (&["publish", "site"], "publish", "flashmark-collection"),
    ] {
        let mut alone = std::process::Command::new(scratch.at("flashmark"));
        let ran = crate::support::Ran::of(alone.args(words).env("PATH", "/nowhere"));
        let said = format!("`{command}` is a command of {package}, which is not here; install");
        assert!(ran.code == Some(2) && ran.err.contains(&said), "{words:?}: {ran}");
    }
}

/// "There is no finding or word 'slow'; did you mean slowest or stop?"
#[test]
fn whoever_asks_why_it_is_slow_is_led_to_the_reasons() {
    let flashmark = Flashmark::new();
    for words in [&["explain", "slow"][..], &["explain", "why is it so Slow?"], &["help", "slow"]] {
        let screen = flashmark.done(words).out;
        for reason in ["random-write", "stalls", "small-span", "throttling", "host"] {
            assert!(screen.lines().any(|line| line.starts_with(reason)), "{reason}: {screen}");
        }
    }
    assert!(flashmark.done(&["explain", "fake"]).out.contains("counterfeit-hints"));
}

#[test]
fn a_name_that_is_not_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let place = scratch.path().join(OsStr::from_bytes(b"m\xff"));
    fs::create_dir(&place).unwrap();
    let ran = crate::support::Ran::of(flashmark.command(&["check"]).arg(&place));
    assert_eq!(ran.code, Some(2), "{ran}");
    assert!(ran.err.contains("is not UTF-8; rename it, or cd into it and type '.'"), "{ran}");
    let words = ["check", ".", "--budget", "5s", "--quiet"];
    let ran = crate::support::Ran::of(flashmark.command(&words).current_dir(&place));
    assert_eq!(ran.code, Some(0), "{ran}");
}

#[test]
fn a_store_that_cannot_be() {
    let scratch = Scratch::new();
    let file = scratch.file("file", "");
    let ran = Flashmark::new()
        .command(&["run", "sim:a1", "--only", "prime", "--quiet"])
        .env("FLASHMARK_HOME", &file)
        .output()
        .unwrap();
    let refusal = crate::support::Ran::from(ran).transcript(&[(scratch.word(), "SCRATCH")]);
    assert!(refusal.starts_with("exit 5\nflashmark: cannot write 'SCRATCH/file/"), "{refusal}");
    assert!(refusal.contains("'SCRATCH/file' is not a directory"), "{refusal}");
}
