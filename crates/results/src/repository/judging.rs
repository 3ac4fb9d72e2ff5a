//! Judges the records of a repository: which of them count, and why the others do not.

use anyhow::Result;
use collection::Upload;
use collection::copies::{CopyRegister, RunMarks};
use record::collection::RunHeadline;
use record::{Cell, Published};
use serde::{Deserialize, Serialize};

use super::{MAX_PACKED, RecordFile, Repository};
use crate::parallel::each_of;
use crate::shared_file;

/// A run without its cells, which take nearly all of its bytes: thousands fit in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunInShort {
    /// Name made from its whole content.
    pub id: String,
    /// Run without cells.
    pub run: Published,
    /// Its headline, drawn from the cells.
    pub headline: RunHeadline,
    /// Time of the measurement, as the record has it.
    pub when: Option<String>,
    /// Digest of the file that it was read from, to recognise it later.
    #[serde(skip)]
    pub source: String,
    /// Caveats about it: values that are strange but possible.
    caveats: Vec<String>,
    /// Marks by which a copy of it is found: its latencies, and its name.
    marks: RunMarks,
}

impl RunInShort {
    /// Takes the cells out of a run; returns both.
    pub fn of(upload: Upload) -> (RunInShort, Vec<Cell>) {
        let Upload { mut run, headline, caveats } = upload;
        let id = collection::content_name(&run);
        let mut marks = RunMarks::of(&run);
        marks.exact.insert(id.clone());
        let cells = std::mem::take(&mut run.cells);
        let (when, source) = (run.started.clone(), String::new());
        (RunInShort { id, run, headline, when, source, caveats, marks }, cells)
    }
}

/// A run without cells, or the reason why it is refused.
pub type InShort = std::result::Result<RunInShort, String>;

/// A record and its verdict.
pub struct JudgedRecord {
    /// Its file.
    pub file: RecordFile,
    /// The run, or the reason why it does not count: refused, doubtful, a copy.
    pub verdict: InShort,
}

/// Message about a file that is not a record, or is in the wrong place.
pub const MISPLACED: &str = "refused: a record is records/ACCOUNT/ID.json.gz";
/// Most bytes of an unpacked record: a small file can unpack to gigabytes.
const MAX_UNPACKED: usize = 2 << 20;

/// Judges records on all processors, in their order; `look` reads one ([`look_at`]). Of several
/// copies of one measurement one counts: of one sender the first, an old record before one that
/// `is_new`, and reference data before a copy of them. If two other senders have it and nobody
/// knows who was first, neither counts.
///
/// # Errors
/// The first error that `look` returns.
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
    let is_simulated =
        |one: &JudgedRecord| one.verdict.as_ref().is_ok_and(|run| run.marks.is_simulated());
    let is_of_a_sender = |one: &JudgedRecord| !repository.is_reference(&one.file.sender);
    judged.sort_by_key(|one| (is_of_a_sender(one), is_new(&one.file), is_simulated(one)));
    refuse_copies(repository, &mut judged, is_new);
    Ok(judged)
}

/// Reads a record of a repository.
pub fn look_at(file: &RecordFile) -> InShort {
    Ok(RunInShort::of(read(file)?).0)
}

/// Bytes of a record, if they are no more than a repository takes.
pub fn bytes_of(file: &RecordFile) -> std::result::Result<Vec<u8>, String> {
    let metadata = std::fs::symlink_metadata(&file.path).map_err(refused)?;
    if !metadata.is_file() {
        return Err(refused("it is no file"));
    }
    if metadata.len() > MAX_PACKED as u64 {
        let bytes = metadata.len();
        return Err(refused(format!("{bytes} bytes; at most {MAX_PACKED} are taken")));
    }
    shared_file::read(&file.path).map_err(refused)
}

/// The run in the bytes of a record.
pub fn run_in(bytes: &[u8]) -> std::result::Result<Upload, String> {
    shared_file::judged_alone(bytes, MAX_UNPACKED).map_err(refused)?.map_err(refused)
}

/// Reads the whole run of a record.
pub fn read(file: &RecordFile) -> std::result::Result<Upload, String> {
    run_in(&bytes_of(file)?)
}

fn refused(why: impl std::fmt::Display) -> String {
    format!("refused: {why}")
}

/// Verdict on a record without regard to the others.
fn alone(repository: &Repository, file: &RecordFile, found: InShort) -> InShort {
    let run = found?;
    if run.id != file.id {
        let name = &run.id;
        return Err(refused(format!("its content is named {name}; call the file {name}.json.gz")));
    }
    if !run.caveats.is_empty() && !repository.has_accepted(&file.id) {
        return Err(format!("doubtful: {}", run.caveats.join("; ")));
    }
    Ok(run)
}

/// Refuses each record that is a copy of one before it. The earlier one is refused as well if
/// another account sent it and it is new. If one of two copies is called simulated, that one is
/// refused, unless it is old and the other is new: anybody can call a copied measurement simulated.
fn refuse_copies(
    repository: &Repository,
    judged: &mut [JudgedRecord],
    is_new: impl Fn(&RecordFile) -> bool,
) {
    let mut known = CopyRegister::default();
    for at in 0..judged.len() {
        let Ok(RunInShort { marks, .. }) = &judged[at].verdict else { continue };
        let id = &judged[at].file.id;
        let may_be_original =
            |first: usize| !repository.has_accepted(id) || *id == judged[first].file.id;
        let Some(first) = known.find(marks, may_be_original) else {
            known.add(at, marks);
            continue;
        };
        let (one, other) = (&judged[at].file, &judged[first].file);
        let is_order_known = marks.is_simulated()
            || one.sender == other.sender
            || is_new(one) != is_new(other)
            || repository.is_reference(&other.sender)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use record::{MediumKind, TargetKind};

    use super::*;
    use crate::repository::Settings;

    /// A run of a simulated medium, or the same run as if it had been measured on a card.
    fn run(is_simulated: bool) -> RunInShort {
        let text = include_str!("../../../../fixtures/records/check-a1.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        if !is_simulated {
            (run.kind, run.target) = (MediumKind::Sd, TargetKind::Block);
            (run.profile, run.engine) = (None, Some("io_uring".into()));
        }
        let headline = findings::headline(&run.to_record("a"));
        RunInShort::of(Upload { run, headline, caveats: Vec::new() }).0
    }

    /// Senders who are left out, of `ada`, who measured, and `abe`, who sends the same as
    /// simulated.
    fn left_out(new: &[&str]) -> Vec<String> {
        let repository = Repository {
            dir: PathBuf::new(),
            settings: Settings::new("Cards", None),
            accepted: BTreeSet::new(),
        };
        let file = |sender: &str| RecordFile {
            sender: sender.to_owned(),
            id: run(sender == "abe").id,
            path: PathBuf::new(),
        };
        let judged = judge(
            &repository,
            vec![file("abe"), file("ada")],
            |file| new.contains(&file.sender.as_str()),
            |file| Ok(Ok(run(file.sender == "abe"))),
        );
        let refused =
            |one: JudgedRecord| one.verdict.err().map(|why| format!("{}: {why}", one.file.sender));
        judged.unwrap().into_iter().filter_map(refused).collect()
    }

    #[test]
    fn of_a_measurement_and_a_simulation_the_one_that_was_here_counts() {
        let refused = |new: &[&str], whom: &str, of: &str| {
            let [reason] = &left_out(new)[..] else {
                panic!("both or none of {new:?} are left out")
            };
            let start = format!("{whom}: doubtful: its latencies are those of {of}/");
            assert!(reason.starts_with(&start), "{reason}");
            assert!(reason.ends_with("one measurement counts once"), "{reason}");
        };
        refused(&["ada"], "ada", "abe");
        refused(&["abe"], "abe", "ada");
        refused(&["abe", "ada"], "abe", "ada");
        refused(&[], "abe", "ada");
    }
}
