//! Output of other tools as records.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod every_number;
mod hostile;
mod snapshots;

use std::path::{Path, PathBuf};

/// Folder of the samples.
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import"))
}

/// Paths of the samples.
fn samples() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| !path.ends_with("README.md")).collect();
    paths.sort();
    paths
}
