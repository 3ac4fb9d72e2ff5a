//! `--progress json`: the events that a program reads while a run goes on.

use std::collections::BTreeSet;
use std::path::Path;

use record::{Cell, Record};
use serde_json::Value;

use crate::support::{Flashmark, Ran, Scratch, has_root, read_record};

/// Events on standard error, one on each line.
fn events(ran: &Ran) -> Vec<Value> {
    let read = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{ran}"))
    };
    ran.err.lines().map(read).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

/// The record that a reader of the events finds.
fn found(events: &[Value]) -> Record {
    let [end] = named(events, "record")[..] else { panic!("{events:?}") };
    read_record(Path::new(end["record"].as_str().unwrap()))
}

/// Checks that every event is in docs/progress.md with all of its members.
fn are_documented(events: &[Value]) {
    let rows = include_str!("../../../../docs/progress.md").lines().filter_map(|line| {
        let [_, name, _, members, _] = line.split('|').collect::<Vec<_>>()[..] else { return None };
        Some((name.trim().trim_matches('`'), members))
    });
    let rows: Vec<(&str, &str)> = rows.collect();
    for event in events {
        let name = event["event"].as_str().unwrap();
        let row = rows.iter().find(|(row, _)| *row == name);
        let (_, members) = row.unwrap_or_else(|| panic!("{name} is not documented"));
        let known: BTreeSet<&str> = members.split('`').skip(1).step_by(2).collect();
        let is_known = |member: &&String| *member == "event" || known.contains(member.as_str());
        let unknown: Vec<&String> =
            event.as_object().unwrap().keys().filter(|member| !is_known(member)).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}

const QUICK: &str = "run sim:a1 --suite quick --only random-read,random-write --progress json";

#[test]
fn a_reader_of_the_events_has_the_plan_every_figure_and_the_record() {
    let flashmark = Flashmark::new();
    let ran = flashmark.done(QUICK);
    let events = events(&ran);
    are_documented(&events);
    let record = found(&events);
    assert_eq!(named(&events, "planned")[0]["cells"], serde_json::json!(record.plan));
    let last = |cell: &Cell| {
        let last = events.iter().rev().find(|event| event["cell"]["id"] == *cell.id);
        serde_json::from_value::<Cell>(last.unwrap()["cell"].clone()).unwrap().metrics
    };
    assert!(!record.cells.is_empty());
    for cell in &record.cells {
        assert_eq!(last(cell), cell.metrics, "{}", cell.id);
    }
    let shares: Vec<f64> =
        named(&events, "progress").iter().map(|at| at["share"].as_f64().unwrap()).collect();
    assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!(ran.out.contains("IOPS"), "the summary stays on standard output: {ran}");
}

#[test]
fn a_fake_is_a_finding_and_the_exit_code() {
    let words = ["run", "sim:fake-wrap", "--suite", "quick", "--progress", "json", "--quiet"];
    let ran = Flashmark::new().run(&words);
    let events = events(&ran);
    are_documented(&events);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran}");
    let failures = named(&events, "finding");
    assert!(failures.iter().any(|it| it["severity"] == "failure" && it["id"] == "capacity"));
    assert_eq!(events.last().unwrap()["exit"], 1, "{ran}");
}

#[test]
fn check_and_replay_write_events_too() {
    let flashmark = Flashmark::new();
    let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/traces/fio-randrw-ext4.iolog");
    for words in [
        &["check", "sim:a1", "--budget", "5s"][..],
        &["replay", trace, "sim:a1", "--speed", "max", "--fit", "wrap"],
    ] {
        let ran = flashmark.done(&[words, &["--progress", "json"]].concat());
        let events = events(&ran);
        are_documented(&events);
        let record = found(&events);
        assert_eq!(named(&events, "cell-finished").len(), record.cells.len(), "{ran}");
    }
}

#[test]
fn the_plan_event_of_a_resumed_run_lists_finished_cells() {
    let flashmark = Flashmark::new();
    flashmark.done(&QUICK.replace("--progress json", "--quiet"));
    let journal = flashmark.run_dir().join("journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let is_cell = |line: &&str| line.contains("\"cell\":");
    let first_cell = text.lines().position(|line| is_cell(&line)).unwrap();
    let kept: String = text.lines().take(first_cell + 1).map(|line| format!("{line}\n")).collect();
    std::fs::write(&journal, kept).unwrap();
    std::fs::remove_file(flashmark.run_dir().join("record.json")).unwrap();
    let ran = flashmark.done(&["resume", "--progress", "json"]);
    let events = events(&ran);
    are_documented(&events);
    let done = named(&events, "planned")[0]["done"].as_array().unwrap().clone();
    assert_eq!(done.len(), 1, "{ran}");
    assert!(named(&events, "cell-finished").iter().all(|it| it["cell"]["id"] != done[0]), "{ran}");
    assert_eq!(found(&events).run.resumed, 1);
}

#[test]
fn a_matrix_writes_a_cell_for_each_try() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let words =
        ["matrix", scratch.word(), "--size", "64MiB", "--fs", "ext4", "--scheduler", "none"];
    let work = ["--work", "logger", "--set", "logger.lines=40", "--repeats", "2"];
    let ran = flashmark
        .done(&[&words[..], &work, &["--most-repeats", "2", "--progress", "json"]].concat());
    let events = events(&ran);
    are_documented(&events);
    let tried = named(&events, "cell-finished");
    assert_eq!(tried.len(), 2, "{ran}");
    assert_eq!(found(&events).run.suite, "matrix");
}
