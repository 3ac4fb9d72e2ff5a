//! What types are called: one word, one meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;
use super::project::Project;

/// A type whose name stands in for another of the same crate, where that is not built.
const STAND_INS: [&str; 1] = ["Uring"];

/// Words that nobody but us knew, and what is said instead.
const REPLACED: [(&str, &str); 31] = [
    ("Along", "ReferenceAxis"),
    ("Asker", "RateLimitKey"),
    ("Bench", "CellContext"),
    ("Berth", "AttachDir"),
    ("Chance", "SimRng"),
    ("Circuit", "IoLoop"),
    ("Course", "what it is over time: CellSamples, LatencyTimeline"),
    ("Elsewhere", "DetailsLocation"),
    ("Fate", "RestoreDecision"),
    ("Filler", "DataGenerator"),
    ("Flights", "InFlightTable"),
    ("Found", "what was found: ResolvedTarget, ImportedRun, PlaceRead"),
    ("Ground", "WorkloadContext"),
    ("Held", "what is held"),
    ("Hunt", "ProbeStages"),
    ("Keeper", "JournalListener"),
    ("LookPoint", "InspectionPoint"),
    ("Marks", "RequestFlags"),
    ("Onlookers", "Observers"),
    ("Place", "what kind of place: Location, RequestKey, RankPlace"),
    ("Pulse", "ProgressReporter"),
    ("Shift", "WorkloadRun"),
    ("Site", "TargetInfo, MatrixBackend or SiteInfo"),
    ("Sitting", "RunSession, MatrixSession or ReplaySession"),
    ("Stand", "MediumBackend"),
    ("Trouble", "what kind of trouble: ImportTrouble, ProbeTrouble"),
    ("Wants", "CachingHeaders"),
    ("Way", "MatrixCombination, DirectionStats"),
    ("Where", "WritePlacement"),
    ("While", "ErrorContext"),
    ("Who", "Identity"),
];

/// Public types at the top of the files of the program's crates: name, file, line.
fn public_types(project: &Project) -> Vec<(&str, &str, usize)> {
    let mut found = Vec::new();
    for (path, tokens) in project.sources("crates/") {
        let mut depth = 0;
        let mut is_public = false;
        for pair in tokens.windows(2) {
            let (word, name) = (pair[0].text.as_str(), &pair[1]);
            depth += i32::from(word == "{") - i32::from(word == "}");
            let is_type = ["struct", "enum", "trait", "type", "union"].contains(&word);
            if is_type && is_public && depth == 0 {
                found.push((name.text.as_str(), path, name.line));
            }
            is_public = word == "pub" || is_public && ["(", "crate", "super", ")"].contains(&word);
        }
    }
    found
}

/// No public name has two meanings.
pub fn a_public_name_has_one_meaning(project: &Project) -> Vec<Fault> {
    let why = "whoever searches for a name must find the thing, and not choose among several";
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut faults = Vec::new();
    let types = public_types(project).into_iter();
    for (name, path, number) in types.filter(|(name, ..)| !STAND_INS.contains(name)) {
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
    public_types(project).into_iter().filter_map(replaced).collect()
}

/// Tokens after which a test or a metric is asked for by name.
const ASKED_FOR: [(&str, &str); 8] = [
    ("test", "test=="),
    ("test", "test!="),
    ("test", "cells_of("),
    ("test", "(record,"),
    ("metric", "of(cell,"),
    ("metric", "metrics.other.get("),
    ("metric", "metrics.other.insert("),
    ("metric", "quantity("),
];
/// Tokens of the longest of them.
const LONGEST: usize = 6;

/// Names of tests and metrics that `record` has are taken from there.
pub fn names_of_the_record_are_not_spelled_out(project: &Project) -> Vec<Fault> {
    let why =
        "a name that is misspelt finds nothing, and nobody notices; a constant does not build";
    let known = ["test", "metric"].map(|kind| {
        let file = format!("crates/record/src/{kind}.rs");
        let tokens = project.sources("crates/record/src/").find(|(path, _)| *path == file);
        let strings = tokens.into_iter().flat_map(|(_, tokens)| tokens);
        let names = strings.map(|token| token.text.as_str()).filter(|text| text.starts_with('"'));
        (kind, names.collect::<BTreeSet<&str>>())
    });
    let mut faults = Vec::new();
    for (path, tokens) in project.sources("crates/") {
        for (at, token) in tokens.iter().enumerate().filter(|(_, it)| it.text.starts_with('"')) {
            let before: String =
                tokens[at.saturating_sub(LONGEST)..at].iter().map(|it| it.text.as_str()).collect();
            let is_spelled_out = |(kind, names): &&(&str, BTreeSet<&str>)| {
                let asks = ASKED_FOR.iter().any(|(of, end)| of == kind && before.ends_with(end));
                asks && names.contains(token.text.as_str())
            };
            if let Some((kind, _)) = known.iter().find(is_spelled_out) {
                let constant = token.text.trim_matches('"').to_uppercase().replace('-', "_");
                let what = format!("line {}: {}; say {kind}::{constant}", token.line, token.text);
                faults.push(Fault::new(path, what, why));
            }
        }
    }
    faults
}
