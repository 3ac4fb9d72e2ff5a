//! The readers of what we export: each opens it, and finds what is there.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Flashmark, Ran, Scratch, skipped};

/// Python with the packages of `consumers.py`: `./test` makes it, or another is named.
fn python() -> Option<PathBuf> {
    let made = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/consumers/bin/python");
    let named = std::env::var_os("FLASHMARK_CONSUMERS").map(PathBuf::from);
    let found = named.unwrap_or_else(|| made.into());
    if found.is_file() {
        return Some(found);
    }
    skipped("needs DuckDB, pandas, openpyxl, fio-plot and prometheus-client; ./test installs them");
    None
}

#[test]
fn consumers_open_what_is_exported() {
    let Some(python) = python() else { return };
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"]);
    for (format, file) in [
        ("csv", "cells.csv"),
        ("xlsx", "cells.xlsx"),
        ("parquet", "parquet"),
        ("fio", "fio.json"),
        ("openmetrics", "figures.prom"),
    ] {
        let to = scratch.at(file);
        flashmark.done(&["export", "latest", "--format", format, "-o", to.to_str().unwrap()]);
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/journeys/consumers.py");
    let cells = flashmark.record().cells.len().to_string();
    let ran = Ran::of(Command::new(python).args([script, scratch.word(), &cells]));
    assert_eq!(ran.code, Some(0), "{ran}");
}
