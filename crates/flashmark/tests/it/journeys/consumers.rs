//! Programs that read our exports: each opens them and finds the contents.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Flashmark, Ran, Scratch, skipped};

/// Python with the packages of `consumers.py`: `./test` makes it, or the user names another.
fn python() -> Option<PathBuf> {
    let made = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/consumers/bin/python");
    let named = std::env::var_os("FLASHMARK_CONSUMERS").map(PathBuf::from);
    let found = named.unwrap_or_else(|| made.into());
    if found.is_file() {
        return Some(found);
    }
    skipped("needs DuckDB, pandas and prometheus-client; ./test installs them");
    None
}

#[test]
fn consumers_open_what_is_exported() {
    let Some(python) = python() else { return };
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"]);
    flashmark.done(&["runs", "--openmetrics", scratch.at("figures.prom").to_str().unwrap()]);
    for (format, file) in [("csv", "cells.csv"), ("parquet", "parquet")] {
        let to = scratch.at(file);
        flashmark.done(&["export", "latest", "--format", format, "-o", to.to_str().unwrap()]);
    }
    let runs = as_measured(&scratch);
    let data = scratch.at("data");
    let words = ["export", "--format", "parquet", "-o", data.to_str().unwrap()];
    flashmark.done(&words.into_iter().chain(runs.iter().map(String::as_str)).collect::<Vec<_>>());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/journeys/consumers.py");
    let cells = flashmark.record().cells.len().to_string();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let ran = Ran::of(Command::new(python).args([script, scratch.word(), &cells, root]));
    assert_eq!(ran.code, Some(0), "{ran}");
}

/// Records of three cards and a stick, as if they were measured on two hosts: records of simulated
/// media with another medium and host.
fn as_measured(scratch: &Scratch) -> Vec<String> {
    [
        ("check-a1", "sd", "A32", "C10 A1", "Pi 4", Value::Null, "2026-11-02"),
        ("check-a1", "sd", "A32", "C10 A1", "PC", json!("Slow Reader"), "2026-11-05"),
        ("quick-claims", "sd", "B4", "C10", "PC", json!("Slow Reader"), "2025-06-30"),
        ("quick-class6", "usb", "S4", "", "PC", Value::Null, "2025-06-30"),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (fixture, kind, model, classes, board, reader, day))| {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records");
        let text = fs::read_to_string(format!("{fixtures}/{fixture}.json")).unwrap();
        let mut record: Value = serde_json::from_str(&text).unwrap();
        let medium = &mut record["medium"];
        (medium["kind"], medium["profile"]) = (json!(kind), Value::Null);
        (medium["vendor"], medium["model"]) = (json!("Ada"), json!(model));
        medium["claims"] = Value::Null;
        medium["classes"] = json!({
            "speed_class": classes.contains("C10").then_some(10),
            "app_class": classes.contains("A1").then_some(1),
        });
        record["run"]["started"] = json!(format!("{day}T12:00:00Z"));
        record["host"] = json!({ "arch": "aarch64", "board": board });
        record["target"]["kind"] = json!("block");
        record["target"]["engine"] = json!("io_uring");
        record["target"]["link"] = json!({ "usb_name": &reader });
        // The reader halves what it reads.
        let cells = record["cells"].as_array_mut().unwrap().iter_mut();
        for cell in cells.filter(|cell| !reader.is_null() && cell["test"] == "sequential-read") {
            let bps = &mut cell["metrics"]["bps"];
            *bps = json!({ "value": bps["value"].as_f64().unwrap() / 2.0, "ci95": null, "n": bps["n"] });
        }
        let path = scratch.at(&format!("run-{at}.json"));
        fs::write(&path, record.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    })
    .collect()
}
