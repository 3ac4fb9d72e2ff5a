//! Which records of a repository count, and what is wrong with the others.

use std::collections::BTreeMap;

use anyhow::Result;
use collection::{RunSketch, Upload, latency_marks};
use record::collection::{Model, Origin, RunHeadline};
use record::{Cell, Published};
use serde::{Deserialize, Serialize};

use super::{MOST_PACKED, RecordFile, Repository};
use crate::parallel::each_of;
use crate::shared_file;

/// A run without its cells, which are nearly all of it: thousands fit in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunInShort {
    /// The name that its whole content gives it.
    pub id: String,
    /// The run; it has no cells here.
    pub run: Published,
    /// Its line, drawn from the cells.
    pub headline: RunHeadline,
    /// When it was measured, in its own words.
    pub when: Option<String>,
    /// A digest of the file it was read from, for who notes that.
    #[serde(skip)]
    pub source: String,
    /// What is strange but possible.
    doubts: Vec<String>,
    /// Marks of its latencies, and its name.
    marks: Vec<String>,
    sketch: RunSketch,
}

impl RunInShort {
    /// A run in short, and its cells.
    ///
    /// # Errors
    /// Where a number of it is not finite.
    pub fn of(upload: Upload) -> Result<(RunInShort, Vec<Cell>)> {
        let Upload { mut run, headline, doubts } = upload;
        let id = store::collection::content_name(&run)?;
        let marks = latency_marks(&run).into_iter().chain([id.clone()]).collect();
        let sketch = RunSketch::of(&run);
        let cells = std::mem::take(&mut run.cells);
        let (when, source) = (run.started.clone(), String::new());
        Ok((RunInShort { id, run, headline, when, source, doubts, marks, sketch }, cells))
    }
}

/// A run in short, or why it is none: refused.
pub type InShort = std::result::Result<RunInShort, String>;

/// A record with what is wrong with it.
pub struct JudgedRecord {
    /// Where it lies.
    pub file: RecordFile,
    /// The run or why it does not count: refused, doubtful, a copy.
    pub verdict: InShort,
}

/// What is said of a file that is no record, or lies where none belongs.
pub const MISPLACED: &str = "refused: a record is records/ACCOUNT/ID.json.gz";

/// Judges records on all processors, in their order; `look` reads one ([`look_at`]). Of one
/// measurement the first of a sender counts, and what was here before counts before what `is_new`.
/// Where two senders have it and nobody knows who was first, neither does.
///
/// # Errors
/// The first that `look` returns.
pub fn judge(
    repository: &Repository,
    files: Vec<RecordFile>,
    is_new: impl Fn(&RecordFile) -> bool,
    look: impl Fn(&RecordFile) -> Result<InShort> + Sync,
) -> Result<Vec<JudgedRecord>> {
    let found = each_of(files.len(), |at| look(&files[at]))?;
    let mut judged: Vec<JudgedRecord> = files
        .into_iter()
        .zip(found)
        .map(|(file, found)| JudgedRecord { verdict: alone(repository, &file, found), file })
        .collect();
    judged.sort_by_key(|one| is_new(&one.file));
    refuse_copies(repository, &mut judged, is_new);
    Ok(judged)
}

/// Reads a record of a repository.
pub fn look_at(file: &RecordFile) -> InShort {
    RunInShort::of(read(file)?).map(|(run, _)| run).map_err(refused)
}

/// The bytes of a record, if they are no more than a repository takes.
pub fn bytes_of(file: &RecordFile) -> std::result::Result<Vec<u8>, String> {
    let metadata = std::fs::symlink_metadata(&file.path).map_err(refused)?;
    if !metadata.is_file() {
        return Err(refused("it is no file"));
    }
    if metadata.len() > MOST_PACKED as u64 {
        let bytes = metadata.len();
        return Err(refused(format!("{bytes} bytes; at most {MOST_PACKED} are taken")));
    }
    shared_file::read(&file.path).map_err(refused)
}

/// The run in the bytes of a record.
pub fn run_in(bytes: &[u8]) -> std::result::Result<Upload, String> {
    let mut verdicts = shared_file::judged(bytes).map_err(refused)?;
    let (Some(verdict), true) = (verdicts.pop(), verdicts.is_empty()) else {
        return Err(refused("a file holds one record"));
    };
    verdict.map_err(refused)
}

/// The whole run of a record.
pub fn read(file: &RecordFile) -> std::result::Result<Upload, String> {
    run_in(&bytes_of(file)?)
}

fn refused(why: impl std::fmt::Display) -> String {
    format!("refused: {why}")
}

/// What is wrong with a record by itself.
fn alone(repository: &Repository, file: &RecordFile, found: InShort) -> InShort {
    let run = found?;
    if run.id != file.id {
        let name = &run.id;
        return Err(refused(format!("its content is named {name}; call the file {name}.json.gz")));
    }
    if !run.doubts.is_empty() && !repository.has_accepted(&file.id) {
        return Err(format!("doubtful: {}", run.doubts.join("; ")));
    }
    Ok(run)
}

/// Refuses each record with latencies of one before it: those of a cell exactly, under any name, or
/// nearly, of the same model. The one before it is refused, too, where another sent it and it was
/// not here before.
fn refuse_copies(
    repository: &Repository,
    judged: &mut [JudgedRecord],
    is_new: impl Fn(&RecordFile) -> bool,
) {
    let mut exact: BTreeMap<String, usize> = BTreeMap::new();
    let mut near: BTreeMap<(Model, Origin), Vec<(RunSketch, usize)>> = BTreeMap::new();
    for at in 0..judged.len() {
        let Ok(RunInShort { run, marks, sketch, .. }) = &judged[at].verdict else { continue };
        let origin = Origin::of(run);
        // Simulated runs repeat to the byte.
        if origin == Origin::Simulated {
            continue;
        }
        let alike = near.entry((collection::model_of(run), origin)).or_default();
        let first = marks.iter().find_map(|mark| exact.get(mark)).copied();
        let first = first
            .or_else(|| Some(alike.iter().find(|(theirs, _)| sketch.is_copy_of(theirs))?.1))
            .filter(|first| {
                let (id, other) = (&judged[at].file.id, &judged[*first].file.id);
                !repository.has_accepted(id) || id == other
            });
        let Some(first) = first else {
            alike.push((sketch.clone(), at));
            for mark in marks {
                exact.entry(mark.clone()).or_insert(at);
            }
            continue;
        };
        let (one, other) = (&judged[at].file, &judged[first].file);
        let is_order_known = one.sender == other.sender
            || is_new(one) != is_new(other)
            || repository.has_accepted(&other.id) && one.id != other.id;
        let copy_of = |file: &RecordFile, rule: &str| {
            let RecordFile { sender, id, .. } = file;
            format!("doubtful: its latencies are those of {sender}/{id}; {rule}")
        };
        if is_order_known {
            judged[at].verdict = Err(copy_of(other, "one measurement counts once"));
        } else {
            const RULE: &str = "nobody knows who was first, so neither counts; remove one, or put \
                                the id of the first into accepted.txt";
            let both = (copy_of(other, RULE), copy_of(one, RULE));
            judged[at].verdict = Err(both.0);
            judged[first].verdict = Err(both.1);
        }
    }
}
