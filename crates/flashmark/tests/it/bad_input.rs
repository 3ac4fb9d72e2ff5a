//! Words and files that cannot be understood, each with its message; nothing is kept.

use std::fs;

use crate::support::{Flashmark, Scratch};

/// Message about words that must not be understood.
fn refusal(words: &[&str]) -> String {
    refusal_with(words, &[])
}

fn refusal_with(words: &[&str], names: &[(&str, &str)]) -> String {
    let flashmark = Flashmark::new();
    let ran = flashmark.run(words);
    assert_ne!(ran.code, Some(0), "{words:?}: {ran}");
    assert!(flashmark.runs().is_empty(), "a run was kept");
    ran.transcript(names)
}

/// Message about these flags of a run on a simulated medium.
fn run_with(flags: &[&str]) -> String {
    refusal(&[&["run", "sim:class10", "--suite", "quick", "--quiet"], flags].concat())
}

#[test]
fn no_word_at_all() {
    let refusal = refusal(&[]);
    assert!(refusal.starts_with("exit 2\n"), "{refusal}");
    assert!(
        refusal.contains("flashmark run . --suite quick"),
        "the first thing to type is there: {refusal}"
    );
}

#[test]
fn unknown_commands_and_flags() {
    insta::assert_snapshot!(refusal(&["rum"]), @r"
    exit 2
    error: unrecognized subcommand 'rum'

      tip: some similar subcommands exist: 'runs', 'run', 'resume'

    Usage: flashmark <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refusal(&["run", "sim:class10", "--erase-all"]), @r"
    exit 2
    error: unexpected argument '--erase-all' found

      tip: a similar argument exists: '--erase'

    Usage: flashmark run TARGET [OPTIONS]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(refusal(&["run"]), @r"
    exit 2
    error: the following required arguments were not provided:
      <TARGET>

    Usage: flashmark run TARGET [OPTIONS]

    For more information, try '--help'.
    TARGET is a directory on the medium (flashmark run /media/stick), a device (/dev/sdX; `flashmark list` shows them) or a simulated medium (sim:a1).
    ");
}

#[test]
fn help_of_a_word_that_is_no_command_explains_it() {
    let flashmark = Flashmark::new();
    for word in ["p99", "capacity"] {
        let explained = flashmark.done(&["explain", word]).out;
        assert_eq!(flashmark.done(&["help", word]).out, explained);
    }
    let refusal = refusal(&["help", "xyzzy"]);
    assert!(refusal.starts_with("exit 2\nerror: unrecognized subcommand 'xyzzy'"), "{refusal}");
    assert!(refusal.contains("`flashmark explain` lists the words"), "{refusal}");
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
fn a_command_without_its_medium_names_an_example() {
    for (command, way) in [
        ("check", "flashmark check /media/stick"),
        ("host-effects", "flashmark host-effects /media/stick"),
        ("watch", "`flashmark list` shows them"),
    ] {
        let refusal = refusal(&[command]);
        assert!(refusal.contains(way) && refusal.starts_with("exit 2"), "{refusal}");
    }
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
fn profiles() {
    insta::assert_snapshot!(refusal(&["run", "sim:clas10"]), @r"
    exit 2
    flashmark: there is no profile 'clas10'; did you mean class10 or class6?
    ");
    insta::assert_snapshot!(refusal(&["sim", "show", "disk5400"]), @r"
    exit 2
    flashmark: there is no profile 'disk5400'; did you mean disk-5400 or disk-7200 or disk-10k?
    ");
    insta::assert_snapshot!(refusal(&["run", "sim:xyzzy"]), @r"
    exit 2
    flashmark: there is no profile 'xyzzy'; `flashmark sim list` names them all
    ");
    let scratch = Scratch::new();
    let mine = scratch.file("mine.toml", "name = \"mine\"\ncapacity = 4\n");
    insta::assert_snapshot!(refusal_with(&["run", &format!("sim:{}", mine.display())], &[(scratch.word(), "SCRATCH")]), @r"
    exit 2
    flashmark: SCRATCH/mine.toml, line 1: name: unknown field `name`, expected one of `about`, `aliases`, `source`, `guesses`, `medium`, `queue`, `read`, `write`, `log_block`, `page_mapped`, `disk`, `jitter`, `compression`, `pattern_cheat`, `cache`, `fake`, `heat`, `wear`, `fault`
    ");
    insta::assert_snapshot!(refusal(&["run", "sim:absent.toml"]), @r"
    exit 2
    flashmark: sim:absent.toml: No such file or directory (os error 2); name a file with a profile, or one of `flashmark sim list`
    ");
}

#[test]
fn suites() {
    insta::assert_snapshot!(refusal(&["run", "sim:class10", "--suite", "quik"]), @"
    exit 2
    flashmark: --suite quik: neither a suite (check, quick, standard, full, seeds) nor a file that can be read (No such file or directory (os error 2)); did you mean quick?
    ");
    let scratch = Scratch::new();
    let names = [(scratch.word(), "SCRATCH")];
    let read = |text: &str| {
        let suite = scratch.file("mine.toml", text);
        refusal_with(&["run", "sim:class10", "--suite", suite.to_str().unwrap()], &names)
    };
    insta::assert_snapshot!(read("name = \"mine\"\n[[test]]\nname = \"prime\npasses = 1\n"), @r#"
    exit 2
    flashmark: SCRATCH/mine.toml, line 3: invalid basic string, expected `"`
    "#);
    insta::assert_snapshot!(read("name = \"mine\"\n\n[[tests]]\nname = \"prime\"\n"), @r"
    exit 2
    flashmark: SCRATCH/mine.toml, line 3: unknown key 'tests'; a suite has name, about, time_limit, rounds and [[test]]
    ");
    insta::assert_snapshot!(read("name = \"mine\"\n"), @r"
    exit 2
    flashmark: SCRATCH/mine.toml: has no [[test]]
    ");
    insta::assert_snapshot!(read(""), @r"
    exit 2
    flashmark: SCRATCH/mine.toml: has no [[test]]
    ");
    insta::assert_snapshot!(read("time_limit = \"4kk\"\n[[test]]\nname = \"prime\"\n"), @r"
    exit 2
    flashmark: SCRATCH/mine.toml, line 1: '4kk' is not a duration; write a number with ms, s, m or h, for example 90s or 10m
    ");
    insta::assert_snapshot!(read("[[test]]\nname = \"sequential-raed\"\n"), @r"
    exit 2
    flashmark: there is no test 'sequential-raed'; did you mean sequential-read or sequential-write?
    ");
    insta::assert_snapshot!(read("[[test]]\nname = \"prime\"\nspam = \"1MiB\"\n"), @"
    exit 2
    flashmark: prime has no setting 'spam'; did you mean span? it has block, max_time, passes, region, span
    ");
    insta::assert_snapshot!(read("[[test]]\nname = \"prime\"\nspan = \"4kk\"\n"), @r"
    exit 2
    flashmark: prime.span: '4kk' is not a size; write a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB
    ");
    insta::assert_snapshot!(refusal_with(&["run", "sim:class10", "--suite", scratch.word()], &names), @"
    exit 2
    flashmark: --suite SCRATCH: neither a suite (check, quick, standard, full, seeds) nor a file that can be read (Is a directory (os error 21))
    ");
}

#[test]
fn tests_and_settings() {
    insta::assert_snapshot!(run_with(&["--only", "sequental-read"]), @r"
    exit 2
    flashmark: there is no test 'sequental-read'; did you mean sequential-read or sequential-write?
    ");
    insta::assert_snapshot!(run_with(&["--skip", "primr"]), @r"
    exit 2
    flashmark: there is no test 'primr'; did you mean prime?
    ");
    insta::assert_snapshot!(refusal(&["tests", "prim"]), @r"
    exit 2
    flashmark: there is no test 'prim'; did you mean prime?
    ");
    insta::assert_snapshot!(run_with(&["--set", "prime"]), @r"
    exit 2
    flashmark: --set prime: write TEST.SETTING=VALUE, for example random-write.block=4KiB
    ");
    insta::assert_snapshot!(run_with(&["--set", "prime.span"]), @r"
    exit 2
    flashmark: --set prime.span: write TEST.SETTING=VALUE, for example random-write.block=4KiB
    ");
    insta::assert_snapshot!(run_with(&["--set", "pirme.span=1MiB"]), @r"
    exit 2
    flashmark: there is no test 'pirme'; did you mean prime?
    ");
    insta::assert_snapshot!(run_with(&["--set", "prime.spam=1MiB"]), @"
    exit 2
    flashmark: prime has no setting 'spam'; did you mean span? it has block, max_time, passes, region, span
    ");
    insta::assert_snapshot!(run_with(&["--set", "prime.span=4kk"]), @r"
    exit 2
    flashmark: prime.span: '4kk' is not a size; write a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB
    ");
    insta::assert_snapshot!(run_with(&["--set", "prime.passes=0"]), @r"
    exit 2
    flashmark: prime.passes: '0' is not a whole number of at least 1
    ");
    insta::assert_snapshot!(run_with(&["--only", "prime", "--skip", "prime"]), @r"
    exit 2
    flashmark: nothing to do: no test was chosen
    ");
}

#[test]
fn values_of_flags() {
    insta::assert_snapshot!(run_with(&["--time-limit", "soon"]), @r"
    exit 2
    flashmark: --time-limit: 'soon' is not a duration; write a number with ms, s, m or h, for example 90s or 10m
    ");
    insta::assert_snapshot!(run_with(&["--seed", "dice"]), @r"
    exit 2
    error: invalid value 'dice' for '--seed <SEED>': invalid digit found in string

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(run_with(&["--engine", "steam"]), @r"
    exit 2
    error: invalid value 'steam' for '--engine <ENGINE>'
      [possible values: auto, uring, psync]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(run_with(&["--span", "1GiB"]), @r"
    exit 2
    flashmark: --span 1GiB: write OFFSET+SIZE, for example 1GiB+64MiB
    ");
    insta::assert_snapshot!(run_with(&["--span", "1GiB+0"]), @r"
    exit 2
    flashmark: --span: the size must be more than 0
    ");
    insta::assert_snapshot!(run_with(&["--span", "100+4096"]), @r"
    exit 2
    flashmark: --span: offset and size must be multiples of 4 KiB
    ");
    insta::assert_snapshot!(run_with(&["--span", "0+4kk"]), @r"
    exit 2
    flashmark: --span: '4kk' is not a size; write a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB
    ");
    insta::assert_snapshot!(run_with(&["--span", "16EiB+4KiB"]), @r"
    exit 2
    flashmark: --span: '16EiB' is not a size; write a number with B, KiB, MiB, GiB (binary) or kB, MB, GB (decimal), for example 4KiB or 32GB
    ");
    insta::assert_snapshot!(run_with(&["--span", "18446744073709547520+8192"]), @r"
    exit 3
    flashmark: --span ends at byte 18446744073709551615, beyond the 4 GiB of sim:class10; name a range that ends before
    ");
}

#[test]
fn claims() {
    insta::assert_snapshot!(run_with(&["--claim", "32GB"]), @r"
    exit 2
    flashmark: --claim 32GB: write NAME=VALUE, for example capacity=32GB
    ");
    insta::assert_snapshot!(run_with(&["--claim", "speed=9"]), @"
    exit 2
    flashmark: --claim speed: known are capacity, class, uhs, video, app, read, write, random-read, random-write, p99, longest; did you mean read?
    ");
    insta::assert_snapshot!(run_with(&["--claim", "class=3"]), @"
    exit 2
    flashmark: --claim class: '3' does not fit; examples: capacity=32GB, class=10, uhs=3, video=30, app=A1, read=95MB/s, random-write=500IOPS, p99=20ms, longest=1s
    ");
    insta::assert_snapshot!(run_with(&["--claim", "capacity=lots"]), @"
    exit 2
    flashmark: --claim capacity: 'lots' does not fit; examples: capacity=32GB, class=10, uhs=3, video=30, app=A1, read=95MB/s, random-write=500IOPS, p99=20ms, longest=1s
    ");
    insta::assert_snapshot!(run_with(&["--claim", "app=B1"]), @"
    exit 2
    flashmark: --claim app: 'B1' does not fit; examples: capacity=32GB, class=10, uhs=3, video=30, app=A1, read=95MB/s, random-write=500IOPS, p99=20ms, longest=1s
    ");
    insta::assert_snapshot!(run_with(&["--claim", "class=10,class=4"]), @r"
    exit 2
    flashmark: --claim class: given twice; the box can claim it once
    ");
    insta::assert_snapshot!(run_with(&["--claim", ""]), @r"
    exit 2
    flashmark: --claim : write NAME=VALUE, for example capacity=32GB
    ");
}

#[test]
fn places_for_results() {
    insta::assert_snapshot!(run_with(&["--json", "/no/such/place/record.json"]), @r"
    exit 2
    flashmark: /no/such/place/record.json: there is no directory /no/such/place; make it first
    ");
    insta::assert_snapshot!(run_with(&["--html", "/no/such/place/page.html"]), @r"
    exit 2
    flashmark: /no/such/place/page.html: there is no directory /no/such/place; make it first
    ");
    let scratch = Scratch::new();
    let names = [(scratch.word(), "SCRATCH")];
    let words = ["run", "sim:class10", "--only", "prime", "--quiet", "--json", scratch.word()];
    insta::assert_snapshot!(refusal_with(&words, &names), @r"
    exit 2
    flashmark: SCRATCH: this is a directory; name a file in it
    ");
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

#[test]
fn a_span_in_a_directory() {
    let scratch = Scratch::new();
    insta::assert_snapshot!(refusal_with(&["run", scratch.word(), "--span", "1MiB+1MiB"], &[(scratch.word(), "SCRATCH")]), @r"
    exit 2
    flashmark: --span 1048576+1048576 is for raw media and files; a test file in a directory has no place of its own
    ");
    assert!(scratch.names().is_empty());
}

#[test]
fn runs_that_are_not_there() {
    insta::assert_snapshot!(refusal(&["show"]), @r"
    exit 2
    flashmark: there is no run yet; `flashmark run .` makes one
    ");
    insta::assert_snapshot!(refusal(&["show", "20240101-card"]), @r"
    exit 2
    flashmark: there is no run '20240101-card'; `flashmark runs` lists them
    ");
    insta::assert_snapshot!(refusal(&["resume"]), @r"
    exit 2
    flashmark: no run is unfinished; `flashmark runs` lists them all
    ");
    insta::assert_snapshot!(refusal(&["resume", "20240101-card"]), @r"
    exit 2
    flashmark: there is no run '20240101-card'; `flashmark runs` lists them
    ");
    insta::assert_snapshot!(refusal(&["report", "20240101-card", "--html", "page.html"]), @r"
    exit 2
    flashmark: there is no run '20240101-card'; `flashmark runs` lists them
    ");
    insta::assert_snapshot!(refusal(&["report", "latest"]), @r"
    exit 2
    flashmark: there is no run yet; `flashmark run .` makes one
    ");
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class10", "--suite", "quick", "--only", "prime", "--quiet"]);
    insta::assert_snapshot!(flashmark.run(&["show", "sim-clas10"]).transcript(&[]), @r"
    exit 2
    flashmark: there is no run 'sim-clas10'; did you mean sim-class10-quick-1? `flashmark runs` lists them
    ");
    insta::assert_snapshot!(flashmark.run(&["resume"]).transcript(&[]), @r"
    exit 2
    flashmark: no run is unfinished; `flashmark runs` lists them all
    ");
    insta::assert_snapshot!(flashmark.run(&["resume", "latest"]).transcript(&[]), @r"
    exit 0
    --- and on standard output
    sim-class10-quick-1 is finished; show it with:
      flashmark show sim-class10-quick-1
    ");
}

#[test]
fn records_that_cannot_be_read() {
    let scratch = Scratch::new();
    let names = [(scratch.word(), "SCRATCH")];
    let of = |text: &str, words: &[&str]| {
        let file = scratch.file("record.json", text);
        refusal_with(&[&[words[0], file.to_str().unwrap()], &words[1..]].concat(), &names)
    };
    let page = scratch.at("page.html");
    let report = ["report", "--html", page.to_str().unwrap()];
    let newer = r#"{"schema": "flashmark/2", "cells": {"in": "another form"}}"#;
    insta::assert_snapshot!(of(newer, &["show"]), @r"
    exit 2
    flashmark: 'SCRATCH/record.json': the record is of form 'flashmark/2', this version reads 'flashmark/1'; a newer flashmark reads it
    ");
    insta::assert_snapshot!(of(newer, &report), @r"
    exit 2
    flashmark: 'SCRATCH/record.json': the record is of form 'flashmark/2', this version reads 'flashmark/1'; a newer flashmark reads it
    ");
    insta::assert_snapshot!(of("{\"schema\": \"flashmark/1\"}", &["show"]), @r"
    exit 2
    flashmark: 'SCRATCH/record.json': not a flashmark record: missing field `run` at line 1 column 25
    ");
    insta::assert_snapshot!(of("[1, 2", &["show"]), @r"
    exit 2
    flashmark: 'SCRATCH/record.json': not a flashmark record: invalid type: integer `1`, expected a string at line 1 column 2
    ");
    insta::assert_snapshot!(of(r#"{"schema": "something else"}"#, &["show"]), @r"
    exit 2
    flashmark: 'SCRATCH/record.json': not a flashmark record: its schema is 'something else', not 'flashmark/1'
    ");
    insta::assert_snapshot!(of(newer, &["resume"]), @r"
    exit 2
    flashmark: 'SCRATCH/record.json' is a record without its journal; it can be shown, not resumed
    ");
    assert_eq!(scratch.names(), ["record.json"], "no page was written");
}
