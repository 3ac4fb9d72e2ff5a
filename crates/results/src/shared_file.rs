//! A file with runs that somebody shared: a whole record, a published run as `submit --show` prints
//! it, or what `export --format json` writes; plain or packed with gzip.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use collection::{Rejection, Upload, UploadLimits};
use record::text::printable;
use record::{MAX_RECORD_BYTES, Record, unpacked};
use serde_json::value::RawValue;

use session::published_run;

/// A run that a collection would take, or the reason why it would not.
pub type Verdict = std::result::Result<Upload, Rejection>;

/// Judges every run in the bytes of a file.
///
/// # Errors
/// The published part of a whole record cannot be made.
pub fn judged(bytes: &[u8]) -> Result<Vec<Verdict>> {
    let limits = limits(MAX_RECORD_BYTES);
    let text = match unpacked(bytes, MAX_RECORD_BYTES) {
        Ok(text) => text,
        Err(error) => return Ok(vec![Err(error.into())]),
    };
    if let Ok(exported) = serde_json::from_slice::<Vec<ExportedEntry<'_>>>(&text) {
        let judged =
            |entry: &ExportedEntry<'_>| collection::read(entry.run.get().as_bytes(), &limits);
        return Ok(exported.iter().map(judged).collect());
    }
    Ok(vec![of_one(&text, &limits)?])
}

/// Judges the only run in the bytes of a file; unpacked, it may have at most `unpacked_bytes`.
///
/// # Errors
/// The published part of a whole record cannot be made.
pub fn judged_alone(bytes: &[u8], unpacked_bytes: usize) -> Result<Verdict> {
    match unpacked(bytes, unpacked_bytes) {
        Ok(text) => of_one(&text, &limits(unpacked_bytes)),
        Err(error) => Ok(Err(error.into())),
    }
}

fn limits(bytes: usize) -> UploadLimits {
    UploadLimits { unpacked_bytes: bytes, ..UploadLimits::default() }
}

fn of_one(text: &[u8], limits: &UploadLimits) -> Result<Verdict> {
    if serde_json::from_slice::<WholeRecord<'_>>(text).is_ok() {
        return of_record(text, limits);
    }
    Ok(collection::read(text, limits))
}

/// Members of an entry of an export that are read.
#[derive(serde::Deserialize)]
struct ExportedEntry<'a> {
    #[serde(borrow)]
    run: &'a RawValue,
}

/// Members that a whole record has and a published run has not.
#[derive(serde::Deserialize)]
struct WholeRecord<'a> {
    #[serde(borrow, rename = "run")]
    _run: &'a RawValue,
    #[serde(borrow, rename = "medium")]
    _medium: &'a RawValue,
}

fn of_record(text: &[u8], limits: &UploadLimits) -> Result<Verdict> {
    // Nearly all of them are UTF-8, and looking for where one is not takes longer.
    let text = str::from_utf8(text).map_or_else(|_| String::from_utf8_lossy(text), Cow::Borrowed);
    let record = match Record::from_json(&text) {
        Ok(record) => record,
        Err(error) => {
            let reason = error.to_string();
            return Ok(Err(Rejection { code: "not-a-run", reason }));
        }
    };
    let (run, _) = published_run::of(&record).map_err(|failure| anyhow::anyhow!("{failure}"))?;
    // As if it had been sent: what a person wrote into a record is looked through too.
    Ok(collection::read_run(&run, limits))
}

/// The bytes of a file.
///
/// # Errors
/// It cannot be read.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|open| open.take(MAX_RECORD_BYTES as u64).read_to_end(&mut bytes))
        .with_context(|| format!("cannot read {}", printable(&file.display().to_string())))?;
    Ok(bytes)
}
