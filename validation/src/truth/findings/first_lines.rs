//! The first lines of every suite on drawn media, held by the properties of the gate.

#[path = "../../../../tests/first_lines.rs"]
mod properties;

use ::findings::Analysis;
use record::{Claims, Record};
use report::text::DetailsLocation;
use suite::definition::Suite;

use super::look::Drawn;
use super::row::Target;
use super::trouble::Trouble;
use super::{Part, Wrong, each, some};
use properties::{PROPERTIES, Shown, wrong};

/// Number of media.
const MEDIA: u64 = 100;
/// Target of a run.
const TARGET: &str = "sim:drawn";

/// Makes a row of each property, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let media = some(MEDIA, share);
    let runs: Vec<(&str, u64)> =
        Suite::names().flat_map(|suite| (0..media).map(move |number| (suite, number))).collect();
    let found = each(runs.len() as u64, |run| {
        let (suite, number) = runs[run as usize];
        found(suite, seed, number)
    });
    let mut part = Part::default();
    for (property, _) in PROPERTIES {
        let lead = format!("{property}: ");
        let broken = found.iter().zip(&runs).map(|(found, (suite, number))| {
            let why = found.iter().find(|why| why.starts_with(&lead))?;
            Some(Wrong { what: format!("{suite}, medium {number}: {why}"), drawn: None })
        });
        part.row(format!("first lines: {property}"), Target::Below(0.1), broken.collect());
    }
    part
}

/// What is wrong with the first lines of a suite on a medium.
fn found(suite: &str, seed: u64, number: u64) -> Vec<String> {
    let (profile, _) = sim::truth::drawn(seed, number);
    let drawn = Drawn { profile, trouble: Trouble::default(), seed: number };
    let built_in = Suite::built_in(suite).expect("it comes with the program");
    let record = &concluded(drawn.run(&built_in, true), suite);
    let screen = match suite {
        "check" => report::text::check(record, 80, false, &DetailsLocation::default()),
        _ => report::text::summary(record, 80, false),
    };
    wrong(&Shown { record, screen: &screen, page: &pages::page(record) })
}

/// The record as its command keeps it, which claims what can be decided by random writes.
fn concluded(mut record: Record, suite: &str) -> Record {
    TARGET.clone_into(&mut record.target.path);
    suite.clone_into(&mut record.run.suite);
    let words: &[&str] = match suite {
        "check" => &["check", TARGET],
        "standard" => &["run", TARGET],
        other => &["run", TARGET, "--suite", other],
    };
    record.run.command = ["flashmark"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let claims = Claims {
        random_write_iops: Some(100.0),
        write_p99_ns: Some(20_000_000),
        ..Claims::default()
    };
    record.medium.claims = Some(claims);
    Analysis::of(&record, &[]).keep_in(&mut record);
    record
}
