//! Figures for Prometheus: the export, and the dashboard, rules and units that depend on it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use flashmark::cli::Cli;

use crate::support::{Flashmark, Scratch};

fn measured() -> Flashmark {
    let flashmark = Flashmark::new();
    let words = ["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"];
    flashmark.done(&[&words[..], &["--label", "root \"a\\b\""]].concat());
    flashmark
}

fn exported(flashmark: &Flashmark) -> String {
    flashmark.done(&["runs", "--openmetrics", "-"]).out
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_name(c)).filter(|word| word.starts_with("flashmark_")).collect()
}

#[test]
fn a_run_is_gauges_in_base_units_without_times() {
    let flashmark = measured();
    let text = exported(&flashmark);
    let of_medium =
        r#"{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\"""#;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(series.contains(of_medium) && value.parse::<f64>().is_ok(), "{line}");
    }
    let value = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap();
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    let figure = "flashmark_sequential_read";
    let of_read = ["_ci95_low", "", "_ci95_high"]
        .map(|part| value(&format!("{figure}{part}_bytes_per_second{{")));
    assert!(of_read.is_sorted() && of_read[0] > 60e6, "{of_read:?}");
    assert!((0.01..0.5).contains(&value("flashmark_worst_stall_seconds{")));
    assert_eq!(value("flashmark_run_info{"), 1.0);
}

/// node_exporter refuses a file in which a series occurs twice.
#[test]
fn of_several_runs_of_a_medium_the_last_counts() {
    let flashmark = measured();
    for (seed, label) in [("2", "root"), ("3", "root"), ("4", "data")] {
        let words = ["run", "sim:a1", "--suite", "quick", "--only", "random-read", "--quiet"];
        flashmark.done(&[&words[..], &["--seed", seed, "--label", label]].concat());
    }
    let out = exported(&flashmark);
    let series = out.lines().filter_map(|line| line.rsplit_once(' ').map(|(series, _)| series));
    let all: Vec<&str> = series.filter(|series| !series.starts_with('#')).collect();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{out}");
    let infos: Vec<&&str> = all.iter().filter(|it| it.starts_with("flashmark_run_info")).collect();
    assert_eq!(infos.len(), 3, "{infos:?}");
    assert!(infos.iter().any(|it| it.contains("-3\"")), "{infos:?}");
    assert!(infos.iter().all(|it| !it.contains("-2\"")), "{infos:?}");
}

#[test]
fn dashboard_and_rules_name_what_is_exported() {
    let flashmark = Flashmark::new();
    flashmark.run(&["run", "sim:fake-wrap", "--suite", "quick", "--anyway", "--quiet"]);
    flashmark.done(&["run", "sim:a1", "--suite", "full", "--quiet"]);
    let mut text = exported(&flashmark);
    // A simulated medium has no time of day.
    text += "flashmark_run_timestamp_seconds";
    let known = names(&text);
    for path in ["deploy/metrics/grafana.json", "docs/metrics.md"] {
        let text = fs::read_to_string(file(path)).unwrap();
        let unknown: Vec<&str> = names(&text).difference(&known).copied().collect();
        assert!(unknown.is_empty(), "{path}: {unknown:?}");
    }
    let board = fs::read_to_string(file("deploy/metrics/grafana.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    assert!(board["panels"].as_array().is_some_and(|panels| !panels.is_empty()));
}

#[test]
fn the_service_types_what_the_program_knows() {
    let unit = fs::read_to_string(file("deploy/metrics/flashmark-check.service")).unwrap();
    let commands: Vec<&str> =
        unit.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    assert_eq!(commands.len(), 2);
    for command in commands {
        let parsed = Cli::try_parse_from(command.split(' '));
        assert!(parsed.is_ok(), "{command}: {:?}", parsed.err());
    }
}

#[test]
fn since_leaves_out_what_is_older_or_has_no_time() {
    let (flashmark, scratch) = (measured(), Scratch::new());
    let mut record = flashmark.record();
    record.run.finished = Some("2026-11-20T12:00:00Z".into());
    let file = scratch.file("run.json", record.to_json());
    let rows = |run: &str, since: &str| {
        let ran = flashmark.done(&["export", run, "--since", since]);
        ran.out.lines().count() - 1
    };
    let (dated, cells) = (file.to_str().unwrap(), record.cells.len());
    for (since, expected) in [
        ("2026-11-20", cells),
        ("2026-11-20T12:00:00Z", cells),
        ("2026-11-20T12:00:01Z", 0),
        ("2026-11-21", 0),
        ("100000d", cells),
    ] {
        assert_eq!(rows(dated, since), expected, "{since}");
    }
    assert_eq!(rows("latest", "100000d"), 0, "a simulated run has no time");
    let ran = flashmark.run(&["export", dated, "--since", "yesterday"]);
    assert!(ran.code == Some(2) && ran.err.contains("30d"), "{ran}");
}
