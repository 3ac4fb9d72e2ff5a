//! Every way through the program that its help names, as a person goes it: command in; screen,
//! record, page, file, exit code out. `starts.txt` has the commands that make runs, `STEPS` what is
//! done with each run afterwards; a command, suite or format that is in neither fails.

mod consumers;
mod names;
mod starts;
mod steps;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clap::ValueEnum;
use flashmark_results::cli::ExportFormat;

use starts::{ELSEWHERE, Start, starts};
use steps::{STEPS, Walk};

/// Runs the journeys of one group with every step; lists all that failed.
fn walk(group: &str) {
    let mut failures = Vec::new();
    for start in starts().filter(|start| start.group == group) {
        let name = start.command;
        let Some(walk) = Walk::begin(start) else { continue };
        for step in STEPS {
            if let Err(why) = (step.take)(&walk) {
                failures.push(format!("{name} -> {}: {why}", step.name));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn checks() {
    walk("check");
}

#[test]
fn quick_runs() {
    walk("quick");
}

#[test]
fn standard_runs() {
    walk("standard");
}

#[test]
fn full_runs() {
    walk("full");
}

#[test]
fn seeds_runs() {
    walk("seeds");
}

#[test]
fn work_on_file_systems() {
    walk("work");
}

#[test]
fn imports() {
    walk("import");
}

/// A command, suite or export format without a journey would not be tested at all.
#[test]
fn every_command_suite_and_format_is_walked() {
    let known: BTreeSet<&str> = program::programs::names().collect();
    let first = |start: Start| start.command.split(' ').next().unwrap();
    let walked: BTreeSet<&str> = starts()
        .map(first)
        .chain(STEPS.iter().map(|step| step.name.split(' ').next().unwrap()))
        .chain(ELSEWHERE.iter().map(|(command, _)| *command))
        .collect();
    assert_eq!(known, walked);
    let suites = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites")).unwrap();
    for suite in suites.map(|entry| entry.unwrap().path()) {
        let name = suite.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_walked = |start: Start| start.command.split(' ').any(|word| word == name);
        assert!(starts().any(is_walked), "suite {name}");
    }
    for format in ExportFormat::value_variants() {
        let value = format.to_possible_value().unwrap();
        let step = format!("export {}", value.get_name());
        assert!(STEPS.iter().any(|it| it.name == step), "{step}");
    }
}
