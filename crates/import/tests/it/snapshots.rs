//! Snapshots of the records of every sample, and of texts as people paste them.

use std::fmt::Write;

use import::{Import, ImportError, understand};
use record::Record;
use serde_json::{Value, json};

/// A value without its empty fields and without rounding errors of binary fractions; of a curve the
/// number and the sum of its points.
fn plain(value: Value) -> Value {
    let is_empty = |value: &Value| {
        matches!(value, Value::Null) || [json!(0), json!(""), json!([]), json!({})].contains(value)
    };
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, value)| match (&*name, value) {
                ("points", Value::Array(points)) => {
                    let all = points.iter().flat_map(|point| point.as_array().unwrap());
                    let sum: f64 = all.map(|value| value.as_f64().unwrap()).sum();
                    (name, plain(json!([points.len(), sum])))
                }
                ("histogram", _) => (name, json!("the times of all I/Os")),
                (_, value) => (name, plain(value)),
            });
            fields.filter(|(_, value)| !is_empty(value)).collect()
        }
        Value::Array(values) => values.into_iter().map(plain).collect(),
        Value::Number(n) if n.is_f64() => json!((n.as_f64().unwrap() * 1e6).round() / 1e6),
        other => other,
    }
}

/// A record: what it says of the run, the medium, the host; then its cells, each with its caveats if
/// those before had others.
fn record(record: &Record) -> String {
    let mut whole = serde_json::to_value(record).unwrap();
    let cells = whole["cells"].take();
    let line = |value: Value| plain(value).to_string().replace('"', "");
    let notes = |value: &mut Value| {
        let notes = value["flags"].take();
        let notes = notes.as_array().into_iter().flatten();
        let text = |note: &Value| note["text"].as_str().map_or(note.to_string(), str::to_owned);
        notes.map(|note| format!("    note: {}\n", text(note))).collect::<String>()
    };
    let mut text = notes(&mut whole);
    text = format!("{}\n{text}", line(whole));
    let mut before = String::new();
    for mut cell in cells.as_array().unwrap().clone() {
        let (id, notes) = (cell["id"].take(), notes(&mut cell));
        writeln!(text, "  {}: {}", id.as_str().unwrap(), line(cell)).unwrap();
        text += if notes == before { "" } else { &notes };
        before = notes;
    }
    text
}

/// All records and errors from a text, for the snapshot.
pub fn outcome_text(import: &Result<Import, ImportError>) -> String {
    let import = match import {
        Ok(import) => import,
        Err(error) => return format!("refused: {error}\n"),
    };
    let cells: usize = import.records.iter().map(|record| record.cells.len()).sum();
    let mut text = format!("{} records, {cells} results\n", import.records.len());
    import.records.iter().for_each(|one| text += &record(one));
    for line in &import.left {
        let why = line.why.as_ref().map(|why| format!(": {why}"));
        writeln!(text, "not taken, line {}: {}{}", line.line, line.text, why.unwrap_or_default())
            .unwrap();
    }
    text
}

fn outcome_of(bytes: &[u8]) -> String {
    outcome_text(&understand("text", bytes, None))
}

#[test]
fn sample_figures() {
    insta::glob!("../../../../fixtures/import", "*.{txt,json,csv}", |path| {
        let bytes = std::fs::read(path).unwrap();
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(outcome_of(&bytes));
        });
        for record in import::read("text", &bytes).unwrap_or_else(|error| panic!("{error}")) {
            assert_eq!(Record::from_json(&record.to_json()).unwrap(), record, "{}", path.display());
            assert!(record.cells.iter().all(|cell| !cell.label("tool").is_empty()));
        }
    });
}

/// Texts are separated by lines `==== what it is about`.
#[test]
fn pasted_texts() {
    insta::glob!("texts/*.txt", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut all = String::new();
        for part in text.split("==== ").skip(1) {
            let (about, text) = part.split_once('\n').unwrap_or_default();
            writeln!(all, "==== {about}\n{}", outcome_of(text.as_bytes())).unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(all);
        });
    });
}
