//! `flashmark compare` before and after a change: labels, what fails, and what cannot be told.

use std::path::{Path, PathBuf};

use crate::support::{Flashmark, Scratch, read_record};

/// Runs of one medium with this label, each with a seed of its own.
fn labelled(flashmark: &Flashmark, label: &str, seeds: &[&str]) {
    for seed in seeds {
        let words = ["run", "sim:a1", "--suite", "quick", "--only", "random-write,random-read"];
        flashmark.done(&[&words[..], &["--label", label, "--seed", seed, "--quiet"]].concat());
    }
}

/// A copy of the first run of a store, with random writes at `times` the rate.
fn changed(flashmark: &Flashmark, scratch: &Scratch, times: f64) -> PathBuf {
    let mut record = read_record(&flashmark.runs()[0].join("record.json"));
    for cell in record.cells.iter_mut().filter(|cell| cell.test == record::test::RANDOM_WRITE) {
        let Some(iops) = &mut cell.metrics.iops else { continue };
        iops.value *= times;
        iops.ci95 = iops.ci95.map(|ends| ends.map(|end| end * times));
    }
    scratch.file(&format!("times-{times}.json"), record.to_json())
}

fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn all_runs_of_a_label_are_repeats_of_one_another() {
    let flashmark = Flashmark::new();
    labelled(&flashmark, "before", &["1", "2"]);
    labelled(&flashmark, "after", &["3", "4"]);
    let words = ["compare", "--before", "before", "--after", "after", "--fail-if", "20%"];
    let ran = flashmark.done(&words);
    assert!(ran.out.contains("after (2 runs)") && ran.out.contains("before (2 runs)"), "{ran}");
    assert!(ran.out.contains("Passed"), "{ran}");
    let plain = flashmark.done(&["compare", "before", "after"]);
    assert!(plain.out.contains("before      after  before is"), "{plain}");
}

#[test]
fn slower_figures_fail_and_undecided_ones_are_reported() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    labelled(&flashmark, "before", &["1"]);
    let compared = |times: f64, more: &[&str]| {
        let after = changed(&flashmark, &scratch, times);
        let words = ["compare", "--before", "before", "--after", word(&after), "--fail-if", "10%"];
        flashmark.run(&[&words[..], more].concat())
    };
    let slower = compared(0.5, &[]);
    assert_eq!(slower.code, Some(1), "{slower}");
    assert!(slower.out.contains("Failed: 4 of 5 figures are slower by more than 10 %"), "{slower}");
    assert!(slower.out.contains("random write, 4 KiB: 0.500x of before"), "{slower}");
    let faster = compared(2.0, &["--strict"]);
    assert_eq!(faster.code, Some(0), "{faster}");
    let unclear = compared(0.9, &[]);
    assert_eq!(unclear.code, Some(0), "{unclear}");
    assert!(
        unclear.out.contains("Cannot be told whether slower") && unclear.out.contains("--strict")
    );
    assert_eq!(compared(0.9, &["--strict"]).code, Some(1));
    let comparison: serde_json::Value =
        serde_json::from_str(&compared(0.5, &["--json", "-"]).out).unwrap();
    assert_eq!(
        comparison["regression"]["slower"].as_array().map(Vec::len),
        Some(4),
        "{comparison}"
    );
}

/// Gives a cell five rounds about this rate that differ by 2 %, and the interval of a repetition.
fn with_rounds(cell: &mut record::Cell, rate: f64) {
    cell.rounds = [0.976, 0.992, 1.0, 1.008, 1.024]
        .iter()
        .zip(1..)
        .map(|(times, nth)| record::Round {
            began_ns: nth * 3_000_000_000,
            ops: 1000,
            elapsed_ns: (1e12 / (rate * times)) as u64,
            iops: rate * times,
            half_width: None,
        })
        .collect();
    let ends = [rate / 1.032, rate * 1.032];
    cell.metrics.iops = Some(record::Estimate { value: rate, ci95: Some(ends), n: 5000 });
}

/// Makes the runs of a label as if all of their cells had been measured in rounds, at these rates.
fn measured_in_rounds(flashmark: &Flashmark, label: &str, rates: &[f64]) {
    let seeds: Vec<String> = (0..rates.len()).map(|nth| format!("{label}{nth}")).collect();
    let number = |seed: &String| seed.bytes().map(u32::from).sum::<u32>().to_string();
    let seeds: Vec<String> = seeds.iter().map(number).collect();
    labelled(flashmark, label, &seeds.iter().map(String::as_str).collect::<Vec<_>>());
    let mut rates = rates.iter();
    for run in flashmark.runs() {
        let file = run.join("record.json");
        let mut record = read_record(&file);
        if record.run.label.as_deref() == Some(label) {
            let rate = *rates.next().unwrap();
            record.cells.retain(|cell| cell.test == record::test::RANDOM_READ);
            record.cells.iter_mut().for_each(|cell| with_rounds(cell, rate));
            std::fs::write(&file, record.to_json()).unwrap();
            // A run with a journal is read from it.
            std::fs::remove_file(run.join("journal.jsonl")).unwrap();
        }
    }
}

/// One run of each passed where nothing could be told, and nothing said how many more it takes.
#[test]
fn runs_with_rounds_decide_or_report_how_many_more_runs_are_needed() {
    let flashmark = Flashmark::new();
    measured_in_rounds(&flashmark, "before", &[1000.0]);
    measured_in_rounds(&flashmark, "after", &[880.0]);
    measured_in_rounds(&flashmark, "before3", &[1000.0, 1010.0, 985.0]);
    measured_in_rounds(&flashmark, "after3", &[800.0, 792.0, 808.0]);
    measured_in_rounds(&flashmark, "same3", &[1004.0, 990.0, 1001.0]);
    let checked = |before: &str, after: &str, more: &[&str]| {
        let words = ["compare", "--before", before, "--after", after, "--fail-if", "10%"];
        let ran = flashmark.run(&[&words[..], more].concat());
        let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        (ran.code, flat)
    };
    let (code, text) = checked("before", "after", &[]);
    assert_eq!(code, Some(1), "{text}");
    // The root of (3.15 ^ 2 + 3.15 ^ 2) / 2: 0.88 over and under 1.032.
    assert!(text.contains("0.880x of before (0.853x to 0.908x)"), "{text}");
    assert!(text.contains("more runs of each would tell whether it is slower by more"), "{text}");
    assert!(text.contains("Failed: nothing could be told of"), "{text}");
    assert!(!text.contains("a difference of 10 %: "), "{text}");
    let (code, text) = checked("before3", "after3", &[]);
    assert!(code == Some(1) && text.contains("slower by more than 10 %."), "{text}");
    let (code, text) = checked("before3", "same3", &["--strict"]);
    assert!(code == Some(0) && text.contains("Passed: none of"), "{text}");
    let (_, text) = checked("before", "after", &["--json", "-"]);
    let comparison: serde_json::Value = serde_json::from_str(&text).unwrap();
    let more = &comparison["regression"]["unclear"][0]["more_runs"];
    assert!(more["of_each"].as_u64().is_some(), "{comparison}");
    assert_eq!(more["is_from_single_runs"], true, "{comparison}");
    let plain = flashmark.done(&["compare", "before", "after"]);
    assert!(plain.out.contains("1.14x faster (1.10x to 1.17x)"), "{plain}");
}

#[test]
fn another_medium_the_same_run_and_one_alone_are_refused() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    labelled(&flashmark, "before", &["1"]);
    let words = ["run", "sim:class10", "--suite", "quick", "--only", "random-read"];
    flashmark.done(&[&words[..], &["--label", "other", "--quiet"]].concat());
    let copy = scratch.file("copy.json", {
        let is_first = |run: &&PathBuf| {
            read_record(&run.join("record.json")).run.label.as_deref() == Some("before")
        };
        let runs = flashmark.runs();
        std::fs::read(runs.iter().find(is_first).unwrap().join("record.json")).unwrap()
    });
    let itself = flashmark.done(&["compare", "before", word(&copy)]);
    assert!(itself.out.contains("there is nothing to compare it with"), "{itself}");
    let cases: [(&[&str], &str); 5] = [
        (&["--before", "before", "--after", "other"], "different media"),
        (&["--before", "before", "--after", word(&copy)], "the same run"),
        (&["before"], "name a second run"),
        (&["before", "nowhere"], "there is no run"),
        (&["--before", "before", "--after", "other", "--fail-if", "110%"], "--fail-if"),
    ];
    for (words, message) in cases {
        let ran = flashmark.run(&[&["compare"], words].concat());
        assert_eq!(ran.code, Some(2), "{words:?}: {ran}");
        assert!(ran.err.contains(message), "{words:?}: {ran}");
    }
}

#[test]
fn markdown_has_the_figures_and_no_path() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    labelled(&flashmark, "before", &["1"]);
    let table = flashmark.done(&["show", "--markdown"]).out;
    assert!(table.starts_with("### ") && table.contains("Measured with Flashmark "), "{table}");
    let after = changed(&flashmark, &scratch, 0.5);
    let folder = word(after.parent().unwrap());
    for words in [
        ["before", word(&after), "--markdown"].to_vec(),
        vec!["--before", "before", "--after", word(&after), "--markdown"],
    ] {
        let markdown = flashmark.done(&[&["compare"], &words[..]].concat()).out;
        assert!(markdown.contains("2.00x") && markdown.contains("| Block | "), "{markdown}");
        assert!(markdown.contains("times-0.5") && !markdown.contains(folder), "{markdown}");
    }
    for more in ["--json", "--details", "--findings", "--all"] {
        assert_eq!(flashmark.run(&["show", "--markdown", more]).code, Some(2), "{more}");
    }
}
