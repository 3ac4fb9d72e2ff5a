//! Runs that are killed, interrupted or resumed on another medium, and the bytes around their span.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use record::{Ended, Stop};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use stats::Random;

use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, eventually, has_root, loop_device, node_of_its_own,
    seed, skipped, times,
};
use crate::tally::Tally;

/// A suite of many short cells.
pub const MANY_CELLS: &str = "prime span=8MiB passes=1; \
    sequential-write span=4MiB total=1MiB min_time=10ms max_time=40ms; \
    random-read block=4KiB region=middle span=4MiB threads=1,8 iterations=100 min_time=10ms max_time=20ms; \
    sequential-read span=4MiB total=1MiB min_time=10ms max_time=40ms; \
    sequential-write content=zeros span=2MiB total=1MiB min_time=10ms max_time=40ms";

/// Cells that whole lines of the journals of all runs acknowledge, by id. No cell may be there
/// twice.
pub fn acknowledged(flashmark: &Flashmark) -> BTreeMap<String, Value> {
    let mut cells = BTreeMap::new();
    for run in flashmark.runs() {
        let journal = fs::read_to_string(run.join("journal.jsonl")).unwrap();
        for line in journal.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let entry: Value = serde_json::from_str(&line[9..]).unwrap();
            let Some(cell) = entry.get("cell") else { continue };
            let finished = !matches!(cell["stop"].as_str(), Some("interrupted" | "error"));
            let id = cell["id"].as_str().unwrap().to_owned();
            // Its interval may be completed when all are measured.
            let is_same = |before: Value| before["elapsed_ns"] == cell["elapsed_ns"];
            let is_one = !finished || cells.insert(id.clone(), cell.clone()).is_none_or(is_same);
            assert!(is_one, "{id} was measured twice");
        }
    }
    cells
}

/// Checks that every planned cell is in the record exactly once. Those acknowledged before are
/// unchanged, but for caveats and intervals that are given when the run is over.
pub fn check_record(run: &Path, before: &BTreeMap<String, Value>) {
    let text = fs::read_to_string(run.join("record.json")).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["run"]["ended"], "complete");
    let ids = |list: &Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
    };
    let mut found = [ids(&record["cells"], "id"), ids(&record["skipped"], "test")].concat();
    let mut planned = ids(&record["plan"], "id");
    found.sort();
    planned.sort();
    assert_eq!(found, planned);
    for cell in record["cells"].as_array().unwrap() {
        if let Some(kept) = before.get(cell["id"].as_str().unwrap()) {
            assert_unchanged(cell, kept);
        }
    }
}

/// Checks that an acknowledged cell is as it was, but for what the end of a run adds.
fn assert_unchanged(cell: &Value, kept: &Value) {
    let flags = |cell: &Value| cell["flags"].as_array().cloned().unwrap_or_default();
    assert!(flags(cell).starts_with(&flags(kept)), "{cell} {kept}");
    assert_eq!(
        without_what_the_end_adds(cell),
        without_what_the_end_adds(kept),
        "an acknowledged cell has changed"
    );
}

/// Without caveats, and without intervals, which are completed when all cells are measured.
fn without_what_the_end_adds(cell: &Value) -> Value {
    let mut cell = cell.clone();
    cell.as_object_mut().unwrap().remove("flags");
    for (_, metric) in cell["metrics"].as_object_mut().unwrap() {
        metric.as_object_mut().map(|metric| metric.remove("ci95"));
    }
    cell
}

pub fn is_over(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}

/// Waits for a random moment of a run: up to `most_lines` lines of its journal, and up to 20 ms
/// more.
pub fn somewhere(child: &mut Child, flashmark: &Flashmark, most_lines: u64, chance: &mut Random) {
    let lines = || -> u64 {
        let journals =
            flashmark.runs().into_iter().filter_map(|run| fs::read(run.join("journal.jsonl")).ok());
        journals.map(|text| text.iter().filter(|byte| **byte == b'\n').count() as u64).sum()
    };
    let (until, more) =
        (lines() + chance.below(most_lines), Duration::from_micros(chance.below(20_000)));
    while !is_over(child) && lines() < until {
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(more);
}

/// Kills the program at a random moment; true if it was still running.
fn kill_somewhere(child: &mut Child, flashmark: &Flashmark, chance: &mut Random) -> bool {
    somewhere(child, flashmark, 8, chance);
    // SIGKILL, unless it has ended by itself.
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// Starts runs and kills them in series of several kills, `kills` times in all; after each series
/// the run is resumed to its end.
fn killed_and_resumed(kills: u64, chance: &mut Random, tally: &mut Tally, words: &[&str]) {
    let mut done = 0;
    while done < kills {
        let series = (1 + chance.below(6)).min(kills - done);
        done += series;
        tally.attempt(series, &format!("kill {done}"), |tally| {
            one_series(series, chance, tally, words)
        });
    }
    let alive = tally.counted(ALIVE);
    // A busy machine may stop this process for as long as a run takes: asked only where the machine
    // is the test's own.
    let is_in_passing = times("KILLS", 0) == 0;
    assert!(
        is_in_passing || alive * 3 >= kills,
        "only {alive} of {kills} runs were alive when they were killed"
    );
}

/// One run, killed so many times and then resumed to its end.
fn one_series(kills: u64, chance: &mut Random, tally: &mut Tally, words: &[&str]) {
    let flashmark = Flashmark::new();
    let mut before = BTreeMap::new();
    for _ in 0..kills {
        let words: Vec<&str> =
            if flashmark.runs().is_empty() { words.to_vec() } else { vec!["resume"] };
        let mut child = flashmark.start(&[&words[..], &["--quiet"]].concat());
        tally.count(ALIVE, kill_somewhere(&mut child, &flashmark, chance).into());
        let now = acknowledged(&flashmark);
        for (id, cell) in &before {
            let found = now.get(id).unwrap_or_else(|| panic!("{id} was acknowledged and is gone"));
            assert_unchanged(found, cell);
        }
        before = now;
    }
    match flashmark.runs().first() {
        None => assert!(before.is_empty()),
        Some(run) => {
            let name = run.file_name().unwrap().to_str().unwrap();
            flashmark.done(&["resume", name, "--quiet"]);
            flashmark.done(&["show", name]);
            check_record(run, &acknowledged(&flashmark));
            check_record(run, &before);
        }
    }
}

/// Name of the count of kills that found the program running.
const ALIVE: &str = "alive when killed";

#[test]
fn no_finished_cell_is_lost_on_simulated_media() {
    let scratch = Scratch::new();
    let suite = scratch.suite(MANY_CELLS);
    let words = ["run", "sim:class10", "--suite", &suite];
    let mut tally = Tally::of("kills", "run and resume, simulated medium");
    killed_and_resumed(times("KILLS", 25), &mut Random::new(seed(1)), &mut tally, &words);
    tally.end();
}

#[test]
fn no_finished_cell_is_lost_on_a_loop_device() {
    let Some((scratch, _image, device)) = loop_device(32 * MIB) else { return };
    let suite = scratch.suite(MANY_CELLS);
    let words = ["run", device.word(), "--erase", device.word(), "--suite", &suite];
    let mut tally = Tally::of("kills", "run and resume, loop device");
    killed_and_resumed(times("KILLS", 25), &mut Random::new(seed(2)), &mut tally, &words);
    tally.end();
}

#[test]
fn no_finished_cell_is_lost_in_a_directory_and_nothing_is_left_there() {
    let scratch = Scratch::new();
    let suite = scratch.suite(MANY_CELLS);
    let work = scratch.directory("work");
    let mut tally = Tally::of("kills", "run and resume, directory");
    for number in 0..times("KILLS", 25).div_ceil(10) {
        let words = ["run", work.to_str().unwrap(), "--suite", &suite];
        killed_and_resumed(1, &mut Random::new(seed(number)), &mut tally, &words);
        assert_eq!(
            fs::read_dir(&work).unwrap().count(),
            0,
            "a killed run left something in the directory"
        );
    }
    tally.end();
}

#[test]
fn a_run_killed_before_its_last_words_is_concluded() {
    let flashmark = Flashmark::new();
    flashmark.done("run sim:class10 --suite quick --only prime,sequential-read --quiet");
    let run = flashmark.run_dir();
    let (journal, record) = (run.join("journal.jsonl"), run.join("record.json"));
    let complete = fs::read_to_string(&journal).unwrap();
    let last = complete.trim_end().rfind('\n').unwrap();
    for (kept, what) in
        [(&complete[..=last], "without an ending"), (&complete[..], "without a record")]
    {
        fs::write(&journal, kept).unwrap();
        fs::remove_file(&record).unwrap();
        flashmark.done(&["resume", "latest"]);
        check_record(&run, &acknowledged(&flashmark));
        let runs = flashmark.done(&["runs"]).out;
        assert!(runs.contains("complete"), "{what}: {runs}");
    }
    let copy = run.join("copy.json");
    flashmark.done(&["resume", "latest", "--json", copy.to_str().unwrap()]);
    assert_eq!(fs::read(copy).unwrap(), fs::read(record).unwrap());
}

fn interrupt(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A run on a loop device that lasts until it is interrupted, with two cells done.
fn long_run(flashmark: &Flashmark, device: &LoopDevice, suite: &str) -> Child {
    let child = flashmark.start(&["run", device.word(), "--suite", suite]);
    eventually("the second cell", || {
        (flashmark.runs().len() == 1 && acknowledged(flashmark).len() >= 2).then_some(())
    });
    child
}

const LONG_END: &str =
    "sequential-read block=64KiB,1MiB span=4MiB min_time=1ms max_time=20ms; seek time=15m";

#[test]
fn an_interrupted_run_is_kept_and_taken_up_again() {
    let Some((scratch, _image, device)) = loop_device(16 * MIB) else { return };
    let suite = scratch.suite(LONG_END);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let flashmark = Flashmark::new();
        let child = long_run(&flashmark, &device, &suite);
        eventually("the cell that lasts", || (acknowledged(&flashmark).len() == 2).then_some(()));
        // What is asserted of it needs more than its first seek.
        std::thread::sleep(Duration::from_secs(2));
        interrupt(&child, signal);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{ran}");
        let name = flashmark.run_dir().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(ran.err.contains(&format!("flashmark resume {name}")), "{ran}");
        let record = flashmark.record();
        assert_eq!(record.run.ended, Ended::Interrupted);
        let seek = record.cells_of("seek").next().unwrap();
        assert!(seek.stop == Stop::Interrupted && seek.ops > 0, "what was measured of it is shown");
        let shown: Value =
            serde_json::from_str(&flashmark.done(&["show", &name, "--json"]).out).unwrap();
        assert_eq!(
            shown["cells"].as_array().unwrap().len(),
            3,
            "the interrupted cell is shown, too"
        );
        let before = acknowledged(&flashmark);
        assert_eq!(before.len(), 2);

        let child = flashmark.start(&["resume"]);
        eventually("the resumption", || {
            let journal = fs::read_to_string(flashmark.run_dir().join("journal.jsonl")).unwrap();
            journal.contains("\"resumed\":{").then_some(())
        });
        let second = flashmark.run(&["resume", &name]);
        let held = format!("is being written by process {}", child.id());
        assert!(second.code == Some(3) && second.err.contains(&held), "{second}");
        interrupt(&child, signal);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{ran}");
        assert_eq!(acknowledged(&flashmark), before, "no cell is measured again");
        assert!(flashmark.record().run.resumed >= 1);
    }
}

#[test]
fn a_run_goes_on_with_the_same_medium_only() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let suite = scratch.suite(LONG_END);
    let (image, other, larger) = (
        scratch.image("image", 16 * MIB),
        scratch.image("other", 16 * MIB),
        scratch.image("larger", 32 * MIB),
    );
    let flashmark = Flashmark::new();
    let node = node_of_its_own();
    let taken = || skipped("another program took the loop device at once");
    let Some(device) = LoopDevice::at(&node, &image) else { return taken() };
    let mut child = long_run(&flashmark, &device, &suite);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(device);
    let before = acknowledged(&flashmark);
    let mut refusals = Vec::new();
    for stranger in [&other, &larger] {
        let Some(_device) = LoopDevice::at(&node, stranger) else { return taken() };
        let ran = flashmark.run(&["resume"]);
        let refusal = ran.transcript(&[(scratch.word(), "SCRATCH"), (&node, "/dev/loopX")]);
        refusals.push(refusal);
    }
    insta::assert_snapshot!(refusals[0], @r"
    exit 3
    flashmark: this is not the medium the run began on: its backing file was SCRATCH/image (direct), is SCRATCH/other (direct); put the first one back, or start a new run
    ");
    insta::assert_snapshot!(refusals[1], @r"
    exit 3
    flashmark: this is not the medium the run began on: its size was 16777216 bytes, is 33554432 bytes; put the first one back, or start a new run
    ");
    insta::assert_snapshot!(flashmark.run(&["resume"]).transcript(&[(&node, "/dev/loopX"), (&node[5..], "loopX")]), @r"
    exit 2
    flashmark: loopX holds no medium (size 0); put one in, or see `flashmark list`
    ");
    assert_eq!(acknowledged(&flashmark), before, "nothing was measured on a stranger");
}
