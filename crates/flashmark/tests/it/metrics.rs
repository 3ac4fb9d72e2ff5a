//! Figures for Prometheus: the export, and the dashboard, rules and units that depend on it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use flashmark::cli::Cli;

use crate::support::{Flashmark, Ran, Scratch};

fn measured() -> Flashmark {
    let flashmark = Flashmark::new();
    let words = ["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"];
    flashmark.done(&[&words[..], &["--label", "root \"a\\b\""]].concat());
    flashmark
}

fn exported(flashmark: &Flashmark, words: &[&str]) -> Ran {
    flashmark.done(&[&["export"], words, &["--format", "openmetrics"]].concat())
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
    let out = exported(&flashmark, &["latest"]).out;
    let rounded = out.lines().map(|line| match line.rsplit_once(' ') {
        Some((series, value)) if !line.starts_with('#') => {
            format!("{series} {:.3e}", value.parse::<f64>().unwrap())
        }
        _ => line.to_owned(),
    });
    insta::assert_snapshot!(rounded.collect::<Vec<_>>().join("\n"), @r#"
    # HELP flashmark_findings Findings of the run by severity; a failure is a failed check.
    # TYPE flashmark_findings gauge
    flashmark_findings{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\"",severity="failure"} 0.000e0
    flashmark_findings{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\"",severity="warning"} 0.000e0
    flashmark_findings{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\"",severity="info"} 1.300e1
    # HELP flashmark_medium_capacity_bytes Capacity that the medium says it has.
    # TYPE flashmark_medium_capacity_bytes gauge
    flashmark_medium_capacity_bytes{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 3.436e10
    # HELP flashmark_random_read_4k_ci95_high_iops Random read, 4 KiB: high end of the 95 % interval.
    # TYPE flashmark_random_read_4k_ci95_high_iops gauge
    flashmark_random_read_4k_ci95_high_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 3.197e3
    # HELP flashmark_random_read_4k_ci95_low_iops Random read, 4 KiB: low end of the 95 % interval.
    # TYPE flashmark_random_read_4k_ci95_low_iops gauge
    flashmark_random_read_4k_ci95_low_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 2.761e3
    # HELP flashmark_random_read_4k_iops Random read, 4 KiB.
    # TYPE flashmark_random_read_4k_iops gauge
    flashmark_random_read_4k_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 2.971e3
    # HELP flashmark_random_write_16k_ci95_high_iops Random write, 16 KiB: high end of the 95 % interval.
    # TYPE flashmark_random_write_16k_ci95_high_iops gauge
    flashmark_random_write_16k_ci95_high_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 8.072e2
    # HELP flashmark_random_write_16k_ci95_low_iops Random write, 16 KiB: low end of the 95 % interval.
    # TYPE flashmark_random_write_16k_ci95_low_iops gauge
    flashmark_random_write_16k_ci95_low_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 7.691e2
    # HELP flashmark_random_write_16k_iops Random write, 16 KiB.
    # TYPE flashmark_random_write_16k_iops gauge
    flashmark_random_write_16k_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 7.879e2
    # HELP flashmark_random_write_4k_ci95_high_iops Random write, 4 KiB: high end of the 95 % interval.
    # TYPE flashmark_random_write_4k_ci95_high_iops gauge
    flashmark_random_write_4k_ci95_high_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 1.562e3
    # HELP flashmark_random_write_4k_ci95_low_iops Random write, 4 KiB: low end of the 95 % interval.
    # TYPE flashmark_random_write_4k_ci95_low_iops gauge
    flashmark_random_write_4k_ci95_low_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 1.395e3
    # HELP flashmark_random_write_4k_iops Random write, 4 KiB.
    # TYPE flashmark_random_write_4k_iops gauge
    flashmark_random_write_4k_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 1.476e3
    # HELP flashmark_random_write_512_ci95_high_iops Random write, 512 B: high end of the 95 % interval.
    # TYPE flashmark_random_write_512_ci95_high_iops gauge
    flashmark_random_write_512_ci95_high_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 8.774e2
    # HELP flashmark_random_write_512_ci95_low_iops Random write, 512 B: low end of the 95 % interval.
    # TYPE flashmark_random_write_512_ci95_low_iops gauge
    flashmark_random_write_512_ci95_low_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 8.315e2
    # HELP flashmark_random_write_512_iops Random write, 512 B.
    # TYPE flashmark_random_write_512_iops gauge
    flashmark_random_write_512_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 8.541e2
    # HELP flashmark_random_write_64k_ci95_high_iops Random write, 64 KiB: high end of the 95 % interval.
    # TYPE flashmark_random_write_64k_ci95_high_iops gauge
    flashmark_random_write_64k_ci95_high_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 2.700e2
    # HELP flashmark_random_write_64k_ci95_low_iops Random write, 64 KiB: low end of the 95 % interval.
    # TYPE flashmark_random_write_64k_ci95_low_iops gauge
    flashmark_random_write_64k_ci95_low_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 2.590e2
    # HELP flashmark_random_write_64k_iops Random write, 64 KiB.
    # TYPE flashmark_random_write_64k_iops gauge
    flashmark_random_write_64k_iops{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 2.644e2
    # HELP flashmark_run_duration_seconds Time that the run took.
    # TYPE flashmark_run_duration_seconds gauge
    flashmark_run_duration_seconds{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 6.275e1
    # HELP flashmark_run_info 1; its labels say what the run is.
    # TYPE flashmark_run_info gauge
    flashmark_run_info{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\"",run="sim-a1-quick-1",suite="quick",model="a1",version="0.1.0"} 1.000e0
    # HELP flashmark_sequential_read_bytes_per_second Sequential read.
    # TYPE flashmark_sequential_read_bytes_per_second gauge
    flashmark_sequential_read_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 6.744e7
    # HELP flashmark_sequential_read_ci95_high_bytes_per_second Sequential read: high end of the 95 % interval.
    # TYPE flashmark_sequential_read_ci95_high_bytes_per_second gauge
    flashmark_sequential_read_ci95_high_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 7.189e7
    # HELP flashmark_sequential_read_ci95_low_bytes_per_second Sequential read: low end of the 95 % interval.
    # TYPE flashmark_sequential_read_ci95_low_bytes_per_second gauge
    flashmark_sequential_read_ci95_low_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 6.202e7
    # HELP flashmark_sequential_write_bytes_per_second Sequential write.
    # TYPE flashmark_sequential_write_bytes_per_second gauge
    flashmark_sequential_write_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 5.920e7
    # HELP flashmark_sequential_write_ci95_high_bytes_per_second Sequential write: high end of the 95 % interval.
    # TYPE flashmark_sequential_write_ci95_high_bytes_per_second gauge
    flashmark_sequential_write_ci95_high_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 7.361e7
    # HELP flashmark_sequential_write_ci95_low_bytes_per_second Sequential write: low end of the 95 % interval.
    # TYPE flashmark_sequential_write_ci95_low_bytes_per_second gauge
    flashmark_sequential_write_ci95_low_bytes_per_second{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 4.762e7
    # HELP flashmark_worst_stall_seconds Slowest small write.
    # TYPE flashmark_worst_stall_seconds gauge
    flashmark_worst_stall_seconds{medium="a1 32 GB",kind="simulated",origin="simulated",label="root \"a\\b\""} 7.070e-2
    # EOF
    "#);
}

/// node_exporter refuses a file in which a series occurs twice.
#[test]
fn of_several_runs_of_a_medium_the_last_counts() {
    let flashmark = measured();
    for (seed, label) in [("2", "root"), ("3", "root"), ("4", "data")] {
        let words = ["run", "sim:a1", "--suite", "quick", "--only", "random-read", "--quiet"];
        flashmark.done(&[&words[..], &["--seed", seed, "--label", label]].concat());
    }
    let out = exported(&flashmark, &["--all"]).out;
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
    let mut text = exported(&flashmark, &["--all"]).out;
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
