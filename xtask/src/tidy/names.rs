//! What types are called: one word, one meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;
use super::project::Project;
use super::sources::{code, is_tests};

/// A type whose name stands in for another of the same crate, where that is not built.
const STAND_INS: [&str; 1] = ["Uring"];

/// Words that nobody but us knew, and what is said instead.
const REPLACED: [(&str, &str); 16] = [
    ("Bench", "CellContext"),
    ("Berth", "AttachDir"),
    ("Circuit", "IoLoop"),
    ("Found", "what was found: ResolvedTarget, ImportedRun, PlaceRead"),
    ("Ground", "WorkloadContext"),
    ("Held", "what is held"),
    ("Hunt", "ProbeStages"),
    ("Keeper", "JournalListener"),
    ("Onlookers", "Observers"),
    ("Place", "what kind of place: Location, RequestKey, RankPlace"),
    ("Pulse", "ProgressReporter"),
    ("Shift", "WorkloadRun"),
    ("Site", "TargetInfo, MatrixBackend or SiteInfo"),
    ("Sitting", "RunSession, MatrixSession or ReplaySession"),
    ("Stand", "MediumBackend"),
    ("Trouble", "what kind of trouble: ImportTrouble, ProbeTrouble"),
];

/// The public type that a line of code at the left margin defines.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => rest,
    };
    let (kind, rest) = rest.trim_start().split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&kind);
    let name = rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
    is_type.then_some(name)
}

/// Public types of the program's crates: name, file, line.
fn public_types(project: &Project) -> impl Iterator<Item = (&str, &str, usize)> {
    let sources = project
        .below("crates/", ".rs")
        .filter(|(path, _)| path.contains("/src/") && !is_tests(path));
    sources.flat_map(|(path, text)| {
        code(text).filter_map(move |(number, line)| Some((public_type(line)?, path, number)))
    })
}

/// No public name has two meanings.
pub fn a_public_name_has_one_meaning(project: &Project) -> Vec<Fault> {
    let why = "whoever searches for a name must find the thing, and not choose among several";
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    for (name, path, number) in public_types(project).filter(|(name, ..)| !STAND_INS.contains(name))
    {
        match first.get(name) {
            Some(other) if *other != path => faults.push(Fault::new(
                path,
                format!("line {number}: {name} is something else in {other}"),
                why,
            )),
            _ => drop(first.insert(name, path)),
        }
    }
    faults
}

/// Words that were replaced do not come back.
pub fn replaced_words_stay_away(project: &Project) -> Vec<Fault> {
    let why = "a person of the field must be able to guess a name";
    let replaced = |(name, path, number)| {
        let (_, instead) = REPLACED.iter().find(|(word, _)| *word == name)?;
        Some(Fault::new(path, format!("line {number}: {name}; say {instead}"), why))
    };
    public_types(project).filter_map(replaced).collect()
}

/// Where a test or a metric is asked for by name: what stands before the name, and behind it.
const ASKED_FOR: [(&str, &str, &str); 8] = [
    ("test", "test == \"", "\""),
    ("test", "test != \"", "\""),
    ("test", "cells_of(\"", "\""),
    ("test", "(record, \"", "\""),
    ("metric", "of(cell, \"", "\""),
    ("metric", "metrics.other.get(\"", "\""),
    ("metric", "metrics.other.insert(\"", "\""),
    ("metric", "quantity(\"", "\""),
];

/// Names of tests and metrics that `record` has are taken from there.
pub fn names_of_the_record_are_not_spelled_out(project: &Project) -> Vec<Fault> {
    let why =
        "a name that is misspelt finds nothing, and nobody notices; a constant does not build";
    let named = |kind: &str| -> BTreeSet<&str> {
        let text = project.text(&format!("crates/record/src/{kind}.rs")).unwrap_or_default();
        code(text).filter_map(|(_, line)| line.split('"').nth(1)).collect()
    };
    let known = [("test", named("test")), ("metric", named("metric"))];
    let spelled_out = |line: &str| {
        ASKED_FOR.iter().find_map(|(kind, before, after)| {
            let (_, rest) = line.split_once(before)?;
            let (name, _) = rest.split_once(after)?;
            let (_, names) = known.iter().find(|(of, _)| of == kind)?;
            names.contains(name).then(|| {
                let constant = name.to_uppercase().replace('-', "_");
                format!("\"{name}\"; say {kind}::{constant}")
            })
        })
    };
    let sources = project
        .below("crates/", ".rs")
        .filter(|(path, _)| path.contains("/src/") && !is_tests(path));
    sources
        .flat_map(|(path, text)| {
            code(text).filter_map(move |(number, line)| {
                Some(Fault::new(path, format!("line {number}: {}", spelled_out(line)?), why))
            })
        })
        .collect()
}
