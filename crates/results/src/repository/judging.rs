//! Judges the records of a repository: which of them count, and why the others do not.

use anyhow::Result;
use collection::Upload;
use collection::copies::{Again, MarkedRun, RunMarks, again};
use record::collection::{Origin, RunHeadline};
use record::{Cell, Published};
use serde::{Deserialize, Serialize};

use super::{GUEST, MAX_PACKED, RecordFile, Repository};
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
    /// Marks by which the same measurement is found: its latencies, and its name.
    pub marks: RunMarks,
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

/// A record and what was found of it.
pub struct JudgedRecord {
    /// Its file.
    pub file: RecordFile,
    /// The run, or the reason why it is refused.
    pub found: InShort,
    /// What is doubtful of it, and no maintainer has accepted.
    pub doubts: Vec<String>,
}

impl JudgedRecord {
    /// The run, or the reason why it does not count: refused, doubtful.
    pub fn verdict(&self) -> std::result::Result<&RunInShort, String> {
        match &self.found {
            Ok(_) if !self.doubts.is_empty() => {
                Err(format!("doubtful: {}", self.doubts.join("; ")))
            }
            found => found.as_ref().map_err(String::clone),
        }
    }
}

/// Message about a file that is not a record, or is in the wrong place.
pub const MISPLACED: &str = "refused: a record is records/ACCOUNT/ID.json.gz";
/// Most bytes of an unpacked record: a small file can unpack to gigabytes.
const MAX_UNPACKED: usize = 2 << 20;

/// Judges records on all processors, in their order; `look` reads one ([`look_at`]). A record that
/// `is_new` is doubtful if its measurement is already in the collection under another name.
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
    let alone = |(file, found)| alone(repository, file, found);
    let mut judged: Vec<JudgedRecord> = files.into_iter().zip(found).map(alone).collect();
    let is_new: Vec<bool> = judged.iter().map(|one| is_new(&one.file)).collect();
    for (at, why) in sent_otherwise(repository, &judged, &is_new) {
        if is_new[at] {
            judged[at].doubts.push(why);
        }
    }
    Ok(judged)
}

/// Records whose measurement is also under another name, or another account's with other figures,
/// each with a sentence about it. Nothing
/// tells who of them is right: neither counts until a maintainer says so.
fn sent_otherwise(
    repository: &Repository,
    judged: &[JudgedRecord],
    is_new: &[bool],
) -> Vec<(usize, String)> {
    let (mut places, mut runs) = (Vec::new(), Vec::new());
    for (at, JudgedRecord { file, found, doubts }) in judged.iter().enumerate() {
        let Ok(RunInShort { run, marks, headline, .. }) = found else { continue };
        // What does not count, and what nobody answers for, makes nothing else doubtful.
        if file.sender == GUEST || !(doubts.is_empty() || is_new[at]) {
            continue;
        }
        let is_reference = repository.is_reference(&file.sender);
        let sender = Some(file.sender.as_str()).filter(|_| !is_reference);
        let origin = if is_reference { Origin::Reference } else { Origin::of(run) };
        let key = repository.names().entry(run, sender).key();
        let name = (key, origin, collection::link_of(run, sender));
        let is_settled = is_reference || repository.has_accepted(&file.id);
        places.push(at);
        runs.push(MarkedRun { marks, name, sender, headline, is_settled });
    }
    let sentence = |(at, why): (usize, Again)| {
        let Again::Otherwise(other) = why else { return None };
        let RecordFile { sender, id, .. } = &judged[places[other]].file;
        let why = format!(
            "its latencies are those of {sender}/{id}, which has another name, link or figures; \
             neither counts until a maintainer puts the id of the right one into accepted.txt"
        );
        Some((places[at], why))
    };
    again(&runs).into_iter().filter_map(sentence).collect()
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

/// Judges a record without regard to the others.
fn alone(repository: &Repository, file: RecordFile, found: InShort) -> JudgedRecord {
    let found = found.and_then(|run| match run.id == file.id {
        true => Ok(run),
        false => {
            let name = &run.id;
            Err(refused(format!("its content is named {name}; call the file {name}.json.gz")))
        }
    });
    let is_accepted = repository.has_accepted(&file.id);
    let doubts = found.as_ref().ok().filter(|_| !is_accepted).map(|run| run.caveats.clone());
    JudgedRecord { file, found, doubts: doubts.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use record::{MediumKind, TargetKind};

    use super::*;

    /// The measurement of a card, under a name.
    fn run(model: &str) -> RunInShort {
        let text = include_str!("../../../../fixtures/records/check-a1.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        (run.kind, run.target) = (MediumKind::Sd, TargetKind::Block);
        (run.profile, run.model) = (None, Some(model.to_owned()));
        let headline = findings::headline(&run.to_record("a"));
        RunInShort::of(Upload { run, headline, caveats: Vec::new() }).0
    }

    #[test]
    fn a_new_record_of_a_measurement_under_another_name_is_for_a_maintainer() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(crate::repository::SETTINGS, r#"{"schema":"flashmark-repository/1","title":"a"}"#);
        let doubtful = |models: [&str; 2], new: usize, accepted: &str| {
            write(crate::repository::ACCEPTED, accepted);
            let file = |model: &str| RecordFile {
                sender: "ada".to_owned(),
                id: run(model).id,
                path: PathBuf::from(model),
            };
            let repository = Repository::open(dir.path()).unwrap();
            let judged = judge(
                &repository,
                models.map(file).into(),
                |file| models.get(new).is_some_and(|new| file.path == Path::new(new)),
                |file| Ok(Ok(run(file.path.to_str().unwrap()))),
            );
            judged.unwrap().iter().filter(|one| one.verdict().is_err()).count()
        };
        assert_eq!(doubtful(["Ultra", "Extreme"], 1, ""), 1);
        assert_eq!(doubtful(["Ultra", "Extreme"], 2, ""), 0, "what was merged does not count");
        assert_eq!(doubtful(["Ultra", "Extreme"], 1, &run("Extreme").id), 0);
        assert_eq!(doubtful(["Ultra", "ULTRA"], 1, ""), 0, "the same name");
        // What else is doubtful of it hides nothing; what does not count makes nothing doubtful.
        let strange = |name: &str| RunInShort { caveats: vec!["strange".to_owned()], ..run(name) };
        let file = |sender: &str, name: &str| RecordFile {
            sender: sender.to_owned(),
            id: run(name).id,
            path: PathBuf::from(name),
        };
        let doubts = |of: &str, strange_one: &str, sender: &str| {
            let repository = Repository::open(dir.path()).unwrap();
            let files = vec![file(sender, "Ultra"), file("bea", "Extreme")];
            let look = |file: &RecordFile| {
                let name = file.path.to_str().unwrap();
                Ok(Ok(if name == strange_one { strange(name) } else { run(name) }))
            };
            let is_new = |file: &RecordFile| file.path == Path::new("Extreme");
            let judged = judge(&repository, files, is_new, look).unwrap();
            judged.into_iter().find(|one| one.file.path == Path::new(of)).unwrap().doubts.len()
        };
        write(crate::repository::ACCEPTED, "");
        assert_eq!(doubts("Extreme", "Extreme", "ada"), 2);
        assert_eq!(doubts("Extreme", "Ultra", "ada"), 0);
        assert_eq!(doubts("Extreme", "", GUEST), 0);
    }
}
