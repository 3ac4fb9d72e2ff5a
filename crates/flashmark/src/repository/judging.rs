//! Which records of a repository count, and what is wrong with the others.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::Result;
use collection::{RunSketch, Upload, latency_marks};
use record::collection::Model;

use super::{MOST_PACKED, RecordFile, Repository};
use crate::parallel::on_all_processors;
use crate::shared_file;

/// A record with what is wrong with it.
pub struct JudgedRecord {
    /// Where it lies.
    pub file: RecordFile,
    /// The record or why it does not count: refused, doubtful, a copy.
    pub verdict: std::result::Result<Upload, String>,
}

/// Judges records on all processors, in their order. Of two that are one measurement the first by
/// sender and id counts.
///
/// # Errors
/// Where a file cannot be read.
pub fn judge(repository: &Repository, files: Vec<RecordFile>) -> Result<Vec<JudgedRecord>> {
    let verdicts: Vec<_> = files.iter().map(|_| OnceLock::new()).collect();
    on_all_processors(files.len(), |at| {
        // Each place is set once.
        let _ = verdicts[at].set(alone(repository, &files[at])?);
        Ok(())
    })?;
    let verdicts = verdicts.into_iter().filter_map(OnceLock::into_inner);
    let mut judged: Vec<JudgedRecord> = files
        .into_iter()
        .zip(verdicts)
        .map(|(file, verdict)| JudgedRecord { file, verdict })
        .collect();
    refuse_copies(repository, &mut judged);
    Ok(judged)
}

/// Judges a record by itself.
fn alone(
    repository: &Repository,
    file: &RecordFile,
) -> Result<std::result::Result<Upload, String>> {
    let bytes = std::fs::metadata(&file.path)?.len();
    if bytes > MOST_PACKED as u64 {
        return Ok(Err(format!("refused: {bytes} bytes; at most {MOST_PACKED} are taken")));
    }
    let mut verdicts = shared_file::judged(&file.path)?;
    let (Some(verdict), true) = (verdicts.pop(), verdicts.is_empty()) else {
        return Ok(Err("refused: a file holds one record".to_owned()));
    };
    let upload = match verdict {
        Ok(upload) => upload,
        Err(rejection) => return Ok(Err(format!("refused: {rejection}"))),
    };
    let name = store::collection::content_name(&upload.run)?;
    if name != file.id {
        return Ok(Err(format!(
            "refused: its content is named {name}; call the file {name}.json.gz"
        )));
    }
    if !upload.doubts.is_empty() && !repository.has_accepted(&file.id) {
        return Ok(Err(format!("doubtful: {}", upload.doubts.join("; "))));
    }
    Ok(Ok(upload))
}

/// Refuses each record with latencies of one before it: those of a cell exactly, under any name, or
/// nearly, of the same model.
fn refuse_copies(repository: &Repository, judged: &mut [JudgedRecord]) {
    let mut exact: BTreeMap<String, String> = BTreeMap::new();
    let mut near: BTreeMap<(Model, &'static str), Vec<(RunSketch, String)>> = BTreeMap::new();
    for one in judged {
        let Ok(upload) = &one.verdict else { continue };
        let origin = record::collection::Origin::of(&upload.run);
        if origin == record::collection::Origin::Simulated {
            continue;
        }
        let marks = latency_marks(&upload.run);
        let sketch = RunSketch::of(&upload.run);
        let place = format!("{}/{}", one.file.sender, one.file.id);
        let alike = near.entry((collection::model_of(&upload.run), origin.name())).or_default();
        let first = marks.iter().find_map(|mark| exact.get(mark)).cloned().or_else(|| {
            alike
                .iter()
                .find(|(theirs, _)| sketch.is_copy_of(theirs))
                .map(|(_, place)| place.clone())
        });
        match first {
            Some(first) if !repository.has_accepted(&one.file.id) => {
                one.verdict = Err(format!(
                    "doubtful: its latencies are those of {first}; one measurement counts once"
                ));
            }
            _ => {
                for mark in marks {
                    exact.entry(mark).or_insert_with(|| place.clone());
                }
                alike.push((sketch, place));
            }
        }
    }
}
