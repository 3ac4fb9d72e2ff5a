//! Figures for Prometheus: the dashboard, rules and units that depend on the export, whose answer is
//! in `cases/metrics.trycmd`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use flashmark::cli::Cli;

use crate::support::Flashmark;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_name(c)).filter(|word| word.starts_with("flashmark_")).collect()
}

#[test]
fn dashboard_and_rules_name_what_is_exported() {
    let flashmark = Flashmark::new();
    flashmark.run(&["run", "sim:fake-wrap", "--suite", "quick", "--anyway", "--quiet"]);
    let label = "root \"a\\b\"";
    flashmark.done(&["run", "sim:a1", "--suite", "full", "--label", label, "--quiet"]);
    let mut text = flashmark.done(&["runs", "--openmetrics", "-"]).out;
    assert!(text.contains(r#",label="root \"a\\b\"","#), "{text}");
    // A simulated medium has no time of day.
    text += "flashmark_run_timestamp_seconds";
    let known = names(&text);
    for path in ["deploy/metrics/grafana.json", "deploy/metrics/alerts.yml", "docs/metrics.md"] {
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
    let unit = fs::read_to_string(file("deploy/metrics/flashmark-check@.service")).unwrap();
    let commands: Vec<&str> =
        unit.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    assert_eq!(commands.len(), 2);
    for command in commands {
        let parsed = Cli::try_parse_from(command.split(' '));
        assert!(parsed.is_ok(), "{command}: {:?}", parsed.err());
    }
}
