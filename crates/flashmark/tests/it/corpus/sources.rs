//! Commands that make the records of the corpus.

use std::fs;

use record::{Cell, Ended, Pattern, Record, test};
use serde_json::Value;

use super::{RECORDS, stored};
use crate::support::{Flashmark, Scratch};

/// The records that a command makes again: names, commands, and faults that are added to the profile of
/// the medium.
const SOURCES: &str = include_str!("../../../../../fixtures/records/sources.txt");

struct Source {
    name: &'static str,
    command: &'static str,
    fault: &'static str,
}

fn sources() -> impl Iterator<Item = Source> {
    SOURCES.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (name, rest) = line.split_once(" | ").unwrap();
        let (command, fault) = rest.split_once(" | ").unwrap_or((rest, ""));
        Source { name, command, fault }
    })
}

/// Tests of `standard` that decide on a use.
const DECISIVE: &str = "capacity,prime,random-write,sequential-write,sequential-read,random-read,flush-cost,log-append";

/// Largest record of the corpus.
pub(super) const MAX_BYTES: usize = 40_000;
/// Most points of a curve and most cells of a test, tried from the left until a record is small
/// enough.
const THINNER: [(usize, usize); 9] =
    [(1000, 100), (100, 100), (48, 100), (24, 100), (16, 8), (12, 6), (8, 5), (6, 4), (3, 4)];

/// Writes the records that a command makes again, or those of which `FLASHMARK_RECORDS` is a part of
/// the name; `cargo test -p flashmark --test it corpus::sources -- --ignored`.
#[test]
#[ignore = "writes fixtures/records anew"]
fn records_are_made_anew() {
    let wanted = std::env::var("FLASHMARK_RECORDS").unwrap_or_default();
    for source in sources().filter(|it| it.name.contains(&wanted)) {
        let text = thin(&source.made(), source.name);
        fs::write(format!("{RECORDS}/{}.json", source.name), text).unwrap();
    }
}

/// Every record that can be made again is there.
#[test]
fn every_source_has_its_record() {
    let names: Vec<String> = stored().into_iter().map(|(name, _)| name).collect();
    let missing: Vec<&str> =
        sources().map(|it| it.name).filter(|name| !names.iter().any(|it| it == name)).collect();
    assert_eq!(missing, [""; 0]);
}

impl Source {
    /// The record, as the command makes it.
    fn made(&self) -> Record {
        let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
        let command = self.command.replace("FIXTURES", fixtures).replace("DECISIVE", DECISIVE);
        let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        if !self.fault.is_empty() {
            let target = words.iter_mut().find(|word| word.starts_with("sim:")).unwrap();
            let profile = flashmark.done(&["sim", "show", &target["sim:".len()..]]).out;
            let file = format!("{}.toml", self.name);
            scratch
                .file(&file, format!("{profile}\n[[fault]]\n{}\n", self.fault.replace(", ", "\n")));
            *target = format!("sim:{file}");
        }
        if self.command.contains("sim:") {
            words.extend(["--seed", "1"].map(str::to_owned));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = flashmark.command(&words).current_dir(scratch.at("")).output().unwrap();
        assert!(ran.status.code().is_some_and(|code| code < 5), "{}: {ran:?}", self.name);
        let shown = flashmark.done(&["show", "latest", "--json"]).out;
        let mut record = Record::from_json(&shown).unwrap();
        record.run.command =
            ["flashmark"].into_iter().chain(self.command.split(' ')).map(str::to_owned).collect();
        record
    }
}

/// The record made small, without its conclusions, which are drawn again when it is read.
fn thin(record: &Record, name: &str) -> String {
    let mut record = record.clone();
    record.run.software.commit = None;
    (record.findings, record.summary) = (Vec::new(), None);
    let thinned =
        THINNER.iter().map(|&(points, cells)| lines(&with_at_most(&record, points, cells)));
    let fitting = thinned.into_iter().find(|text| text.len() <= MAX_BYTES);
    let least = THINNER.last().map(|&(points, cells)| lines(&with_at_most(&record, points, cells)));
    fitting.unwrap_or_else(|| panic!("{name} is too large: {:?}", least.map(|text| text.len())))
}

/// The record with so many points a curve and cells a test, and figures of five digits.
fn with_at_most(record: &Record, points: usize, cells: usize) -> Record {
    let mut record = record.clone();
    let all = std::mem::take(&mut record.cells);
    for cell in &all {
        let of_test = |cells: &[Cell]| cells.iter().filter(|it| it.test == cell.test).count();
        let is_few = of_test(&all) <= cells;
        if is_few || (is_usual(cell) && of_test(&record.cells) < cells) {
            record.cells.push(cell.clone());
        }
    }
    // Of a run that is complete only what its probe was to do is asked for.
    let is_complete = record.run.ended == Ended::Complete;
    record.plan.retain(|planned| !is_complete || planned.test == test::CAPACITY);
    for cell in &mut record.cells {
        if cells < 100 && cell.written_bytes == 0 {
            // Conclusions read the times of writes alone.
            cell.histogram = None;
        }
        for series in &mut cell.series {
            let step = series.points.len().div_ceil(points).max(1);
            series.points = series.points.iter().copied().step_by(step).collect();
        }
    }
    let mut value = serde_json::to_value(&record).unwrap();
    shorten(&mut value["cells"]);
    serde_json::from_value(value).unwrap()
}

/// True for a cell of a block size that the screens show.
fn is_usual(cell: &Cell) -> bool {
    let sizes: &[u64] = match cell.params.pattern {
        Some(Pattern::Sequential) => &[64 << 10, 1 << 20],
        _ => &[512, 4 << 10, 16 << 10, 64 << 10],
    };
    cell.params.block_bytes.is_none_or(|bytes| sizes.contains(&bytes))
}

/// Rounds what has a fraction to five digits; order is kept, so that values stay within their
/// intervals.
fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|it| it.fract() != 0.0) => {
            let rounded = format!("{:.4e}", number.as_f64().unwrap()).parse::<f64>().unwrap();
            *value = Value::from(rounded);
        }
        Value::Array(list) => list.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        _ => {}
    }
}

/// JSON with a line for each cell.
fn lines(record: &Record) -> String {
    serde_json::to_string(record).unwrap().replace("},{\"id\":", "},\n{\"id\":") + "\n"
}
