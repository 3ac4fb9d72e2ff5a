//! JSON Schema of the record, for readers other than flashmark.

use std::path::Path;

use anyhow::Result;
use record::Record;
use serde_json::{Map, Value, json};

use crate::generated::{Flags, settle};

const FILE: &str = "docs/record.schema.json";

/// Writes or compares the schema.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    settle(root, FILE, &text(), "schema", flags)
}

/// Text of the schema: keys in order, the same bytes whatever else is built.
fn text() -> String {
    let mut schema = Value::from(schemars::schema_for!(Record));
    schema["title"] = json!("A Flashmark record");
    schema["properties"]["schema"]["const"] = json!(record::SCHEMA);
    let mut text =
        serde_json::to_string_pretty(&sorted(schema)).expect("a schema has only string keys");
    text.push('\n');
    text
}

/// Sorts the keys of objects; serde_json keeps another order if some dependency enables that.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<(String, Value)> =
                object.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn fixtures(folder: &str) -> Vec<(PathBuf, Value)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(folder);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|form| form == "json"));
        files.sort();
        assert!(!files.is_empty());
        files
            .into_iter()
            .map(|file| {
                (file.clone(), serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
            })
            .collect()
    }

    fn validator() -> jsonschema::Validator {
        jsonschema::validator_for(&serde_json::from_str(&text()).unwrap()).unwrap()
    }

    #[test]
    fn every_released_record_fits_the_schema() {
        for (file, record) in fixtures("records") {
            let errors: Vec<String> =
                validator().iter_errors(&record).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", file.display());
        }
    }

    /// `fixtures/schema` has a record and patches that each break it in one place.
    #[test]
    fn a_record_that_is_wrong_in_one_place_does_not_fit() {
        let (_, good) = fixtures("records").remove(0);
        for (file, patches) in fixtures("schema") {
            for patch in patches.as_array().unwrap() {
                let mut bad = good.clone();
                let place = patch["at"].as_str().unwrap();
                *bad.pointer_mut(place)
                    .unwrap_or_else(|| panic!("{}: no {place}", file.display())) =
                    patch["becomes"].clone();
                assert!(
                    !validator().is_valid(&bad),
                    "{}: {place} may become {}",
                    file.display(),
                    patch["becomes"]
                );
            }
        }
    }

    #[test]
    fn every_figure_has_a_description() {
        let schema: Value = serde_json::from_str(&text()).unwrap();
        let definitions = schema["$defs"].as_object().unwrap();
        for (name, definition) in definitions
            .iter()
            .filter(|(name, _)| ["Cell", "Estimate", "Latency", "Params"].contains(&name.as_str()))
        {
            for (key, property) in definition["properties"].as_object().unwrap() {
                let described =
                    property.get("description").is_some() || property.get("$ref").is_some();
                assert!(described, "{name}.{key} has no description");
            }
        }
    }
}
