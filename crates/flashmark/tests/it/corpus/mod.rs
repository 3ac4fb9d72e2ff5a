//! Golden corpus: about fifty stored records, and what the program concludes and shows of each. The
//! records are files, so that nothing is measured here and a change of measuring changes no golden
//! file.

mod golden;
mod numbers;
mod page;
mod sources;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use record::Record;
use report::text::{DetailsLocation, check, one_screen};
use serde_json::Value;

use crate::support::{Flashmark, Scratch};
use crate::terminals::{LINES, wide_lines};

const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records");

/// Name and text of every stored record, by name.
fn stored() -> Vec<(String, String)> {
    let entries = fs::read_dir(RECORDS).unwrap().map(|entry| entry.unwrap().path());
    let mut records: Vec<(String, String)> = entries
        .filter(|path| path.extension().is_some_and(|it| it == "json"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    records.sort();
    records
}

/// A stored record as the program shows it.
struct Shown {
    name: String,
    /// The record with its findings and its summary.
    record: Record,
    /// `show` at 80 columns.
    screen: String,
    /// `show --all`.
    all: String,
}

/// All stored records, each shown once.
fn shown() -> &'static [Shown] {
    static SHOWN: OnceLock<Vec<Shown>> = OnceLock::new();
    SHOWN.get_or_init(|| {
        let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
        stored().iter().map(|(name, text)| Shown::of(name, text, &flashmark, &scratch)).collect()
    })
}

impl Shown {
    fn of(name: &str, text: &str, flashmark: &Flashmark, scratch: &Scratch) -> Shown {
        let file = format!("{name}.json");
        let done = |words: &[&str]| {
            let mut command = flashmark.command(words);
            let ran = command.current_dir(scratch.at("")).env("COLUMNS", "80").output().unwrap();
            assert!(ran.status.success(), "{name}: {ran:?}");
            String::from_utf8(ran.stdout).unwrap()
        };
        let uses = uses_of(&Record::from_json(text).unwrap());
        scratch.file(&file, text);
        let mut words = vec!["show", &file, "--json"];
        words.extend(uses.iter().flat_map(|it| ["--for", it]));
        let concluded = done(&words);
        scratch.file(&file, &concluded);
        Shown {
            name: name.to_owned(),
            record: Record::from_json(&concluded).unwrap(),
            screen: done(&["show", &file]),
            all: done(&["show", &file, "--all"]),
        }
    }
}

impl Shown {
    /// Its screen on a terminal of so many columns, as if it were a run of this machine.
    fn screen_of(&self, columns: usize, colour: bool) -> String {
        let files = [
            ("Record", "/runs/it/record.json".to_owned()),
            ("Page", "/runs/it/report.html".to_owned()),
        ];
        let rest = DetailsLocation { run: &self.record.run.id, files: &files };
        one_screen(&self.record, columns, colour, &rest).replace('\u{a0}', " ")
    }
}

/// The uses that the command of a record asked for.
fn uses_of(record: &Record) -> Vec<String> {
    let words = record.run.command.windows(2);
    words.filter(|two| two[0] == "--for").map(|two| two[1].clone()).collect()
}

#[test]
fn what_is_concluded_and_shown_stays() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(Path::new(RECORDS).join("../golden"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let changed = |it: &&Shown| {
        let check =
            || settings.bind(|| insta::assert_snapshot!(it.name.as_str(), golden::text(it)));
        catch_unwind(AssertUnwindSafe(check)).is_err()
    };
    let changed: Vec<&str> = shown().iter().filter(changed).map(|it| it.name.as_str()).collect();
    assert!(changed.is_empty(), "other than in fixtures/golden: {changed:?}");
}

#[test]
fn every_record_has_one_screen() {
    for it in shown() {
        for columns in [40, 80, 120] {
            let screen = it.screen_of(columns, false);
            let what = format!("{}, {columns} columns:\n{screen}", it.name);
            assert_eq!(wide_lines(&screen, columns), [""; 0], "{what}");
            assert!(columns == 40 || screen.lines().count() <= LINES, "{what}");
            for line in ["Details ", "Record ", "Page "] {
                assert!(screen.contains(&format!("\n{line}")), "{what}");
            }
            let private = ["doubt", "as seen"];
            assert!(!private.iter().any(|word| screen.to_lowercase().contains(word)), "{what}");
            let mut plain = it.screen_of(columns, true);
            assert!(plain.contains('\u{1b}'), "{what}");
            for code in ["0", "1", "2", "31", "33"] {
                plain = plain.replace(&format!("{}[{code}m", '\u{1b}'), "");
            }
            assert_eq!(plain, screen, "colours add colours and nothing else");
        }
    }
}

/// What a check shows of any record: eight lines, of which none is left open by a cut.
#[test]
fn a_first_screen_has_eight_lines() {
    for it in shown() {
        let rest = DetailsLocation { run: "sd-card-1", files: &[] };
        let screen = check(&it.record, 80, false, &rest).replace('\u{a0}', " ");
        let what = format!("{}\n{screen}", it.name);
        let claims = it.record.findings.iter().filter(|finding| finding.id == "claim").count();
        assert!(screen.lines().count() <= 8 + claims, "{what}");
        assert!(claims > 0 || screen.split_whitespace().count() <= 110, "{what}");
        let uncut = screen.lines().filter(|line| !line.starts_with("The claim of "));
        assert!(!uncut.clone().any(|line| line.ends_with("[...]")), "{what}");
        assert_eq!(wide_lines(&screen, 80), [""; 0], "{what}");
    }
}

/// A golden file without its record tests nothing.
#[test]
fn every_golden_file_has_its_record() {
    let names: Vec<String> = stored().into_iter().map(|(name, _)| format!("{name}.snap")).collect();
    for entry in fs::read_dir(Path::new(RECORDS).join("../golden")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(!file.ends_with(".snap") || names.contains(&file), "{file} has no record");
    }
}

/// A stored record is the same when it is read and written again, and fits the schema.
#[test]
fn stored_records_load_and_fit_the_schema() {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../../docs/record.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut sum = 0;
    for (name, text) in stored() {
        let read = Record::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Record::from_json(&read.to_json()).unwrap(), read, "{name}");
        let value: Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(text.len() <= sources::MAX_BYTES, "{name}: {}", text.len());
        sum += text.len();
    }
    assert!(sum < 1_500_000, "{sum}");
}
