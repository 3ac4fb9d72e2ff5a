//! A collection that is a repository of records and needs no server: the forge decides who may
//! change what, and a page is made from it (docs/collection.md).
//!
//! `flashmark-collection.json` marks a directory as a collection. Records are
//! `records/SENDER/ID.json.gz`: the account of the sender, and the name that is made from the
//! content. `accepted.txt` names doubtful records that a person has accepted, `names.toml` the
//! media that a person has listed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, anyhow, bail};
pub use collection::GUEST;
use collection::Names;
use record::Moment;
use record::collection::NO_TIME;
use record::text::printable;
use serde::{Deserialize, Serialize};

pub mod judging;
mod packing;

pub use packing::{MAX_PACKED, PackedRecord, packed, thinned, write_packed};

/// File that marks a directory as a collection.
pub const SETTINGS: &str = "flashmark-collection.json";
/// File of the ids of doubtful records that are accepted, a line each; what follows the id is the
/// reason.
pub const ACCEPTED: &str = "accepted.txt";
/// File of names that this collection has beside those of the program, in the same form.
pub const NAMES: &str = "names.toml";
/// Directory of the records.
pub const RECORDS: &str = "records";
const SCHEMA: &str = "flashmark-repository/1";
/// Most characters of an account: GitLab allows 255, others 39 or 40.
const LONGEST_SENDER: usize = 100;

/// Settings of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Format of the repository.
    pub schema: String,
    /// Title of its pages.
    pub title: String,
    /// Address at which its pages are published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Accounts whose records are of measurements that others have published (reference data). Only
    /// maintainers change these records and this file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// Release of Flashmark that the workflows use.
    #[serde(default)]
    pub release: Release,
}

/// A release by its address and checksum; the workflows fail until both are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Address of the archive of the programs.
    pub url: Option<String>,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: Option<String>,
}

impl Settings {
    /// Settings of a new repository, in the format of this version.
    pub fn new(title: &str, address: Option<String>) -> Settings {
        Settings {
            schema: SCHEMA.to_owned(),
            title: title.to_owned(),
            address,
            reference: Vec::new(),
            release: Release::default(),
        }
    }
}

/// A record file of a repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordFile {
    /// Account of the sender.
    pub sender: String,
    /// Name made from its content.
    pub id: String,
    /// The file itself.
    pub path: PathBuf,
}

/// A repository of records.
#[derive(Clone)]
pub struct Repository {
    dir: PathBuf,
    /// Its settings.
    pub settings: Settings,
    accepted: BTreeSet<String>,
    names: Arc<Names>,
}

impl Repository {
    /// True if the directory is marked as a collection.
    pub fn is_at(dir: &Path) -> bool {
        dir.join(SETTINGS).is_file()
    }

    /// Opens the repository in a directory.
    ///
    /// # Errors
    /// The directory is not a repository, or one of a newer version.
    pub fn open(dir: &Path) -> Result<Repository> {
        let shown = printable(&dir.display().to_string());
        let text = fs::read_to_string(dir.join(SETTINGS)).with_context(|| {
            format!("'{shown}' is no collection: it has no {SETTINGS}; flashmark collection init makes one")
        })?;
        let settings: Settings = serde_json::from_str(&text)
            .with_context(|| format!("{shown}/{SETTINGS} cannot be read"))?;
        if settings.schema != SCHEMA {
            bail!(
                "{shown} has the form '{}', this version knows '{SCHEMA}'; a newer flashmark reads it",
                printable(&settings.schema)
            );
        }
        if let Some(word) = settings.reference.iter().find(|word| !is_sender(word)) {
            bail!(
                "{shown}/{SETTINGS} has the account '{}', which is not an account name: small letters, digits and \
                 single hyphens",
                printable(word)
            );
        }
        let accepted = fs::read_to_string(dir.join(ACCEPTED)).unwrap_or_default();
        let accepted = accepted
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|word| !word.starts_with('#'))
            .map(str::to_owned)
            .collect();
        let names = fs::read_to_string(dir.join(NAMES)).unwrap_or_default();
        let names = Names::with(&names)
            .map_err(|why| anyhow!("{shown}/{NAMES} cannot be read: {}", printable(&why)))?;
        Ok(Repository { dir: dir.to_owned(), settings, accepted, names: Arc::new(names) })
    }

    /// The names that a sender's medium can have.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Times at which records were received, by their paths in the repository, in RFC 3339 in UTC:
    /// those of the commits of the main line that added them, which the forge makes when it merges.
    /// No commit counts as older than the one before it, nor as younger than `now`; a fraction of a
    /// second tells its place. Records that
    /// are not in git have the times of their files, which the slot for records sets.
    pub fn received(&self, now: &str) -> BTreeMap<PathBuf, String> {
        let words = "log --reverse --first-parent -m --no-renames --diff-filter=A --name-only \
                     --relative --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%x00@%cd -z --";
        let mut git = Command::new("git");
        git.env("TZ", "UTC").arg("-C").arg(&self.dir).args(words.split(' ')).arg(RECORDS);
        let log = git.output().ok().filter(|ran| ran.status.success()).map(|ran| ran.stdout);
        let (mut times, mut time, mut commit) = (BTreeMap::new(), NO_TIME.to_owned(), 0);
        for part in log.unwrap_or_default().split(|byte| *byte == 0) {
            let part = String::from_utf8_lossy(part);
            match part.strip_prefix('@') {
                Some(next) => {
                    time = time.max(next.to_owned()).min(now.to_owned());
                    commit += 1;
                }
                None => {
                    // Two commits are never at one time, whatever their authors say.
                    let at = format!("{}.{commit:06}Z", time.trim_end_matches('Z'));
                    times.entry(PathBuf::from(part.trim())).or_insert(at);
                }
            }
        }
        for file in self.records() {
            times.entry(self.place_of(&file.path).to_owned()).or_insert_with(|| {
                let modified = fs::metadata(&file.path).and_then(|it| it.modified()).ok();
                let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let time = since.map(|since| Moment(since.as_nanos() as i128).to_the_second());
                time.map_or_else(|| NO_TIME.to_owned(), |time| time.to_string()).min(now.to_owned())
            });
        }
        times
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// True if a person has accepted this doubtful record.
    pub fn has_accepted(&self, id: &str) -> bool {
        self.accepted.contains(id)
    }

    /// True if records of this account are reference data. The settings decide, and no record.
    pub fn is_reference(&self, sender: &str) -> bool {
        self.settings.reference.iter().any(|account| account == sender)
    }

    /// Path for a record of a sender.
    pub fn place(&self, sender: &str, id: &str) -> PathBuf {
        self.place_in(RECORDS, sender, id)
    }

    /// The same in a folder beside the records.
    pub fn place_in(&self, folder: &str, sender: &str, id: &str) -> PathBuf {
        self.dir.join(folder).join(sender).join(format!("{id}.json.gz"))
    }

    /// All records, in the order of senders and ids. Other files are left out;
    /// [`Repository::misplaced`] names them.
    pub fn records(&self) -> Vec<RecordFile> {
        self.records_in(RECORDS)
    }

    /// The same of a folder beside the records.
    pub fn records_in(&self, folder: &str) -> Vec<RecordFile> {
        let (mut found, dir) = (Vec::new(), self.dir.join(folder));
        for sender in entries(&dir).into_iter().filter(|path| is_dir(path)) {
            for path in entries(&sender) {
                let is_file = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
                let place = Path::new(RECORDS).join(path.strip_prefix(&dir).unwrap_or(&path));
                if let Some((sender, id)) = parse_place(&place).filter(|_| is_file) {
                    found.push(RecordFile { sender, id, path });
                }
            }
        }
        found
    }

    /// Files below the records that are not records, links, and directories without files, such as
    /// another repository in this one; each by its path in the repository, sorted.
    pub fn misplaced(&self) -> Vec<PathBuf> {
        let records = self.dir.join(RECORDS);
        let keeper = records.join(".gitkeep");
        let mut wrong = Vec::new();
        let mut waiting = vec![records.clone()];
        while let Some(path) = waiting.pop() {
            let place = self.place_of(&path);
            let within = if is_dir(&path) { entries(&path) } else { Vec::new() };
            let is_sound = match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => path == records || !within.is_empty(),
                Ok(metadata) => {
                    metadata.is_file() && (path == keeper || parse_place(place).is_some())
                }
                Err(_) => path == records,
            };
            if !is_sound {
                wrong.push(place.to_owned());
            }
            waiting.extend(within);
        }
        wrong.sort();
        wrong
    }

    /// Path relative to the repository.
    pub fn place_of<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.dir).unwrap_or(path)
    }
}

/// Writes a file completely or not at all, and makes its directories.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    Ok(store::atomic_write(path, bytes)?)
}

/// True if a path is a directory and not a link to one: a record elsewhere belongs to no sender.
fn is_dir(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// Paths in a directory, sorted; empty if it cannot be read.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Reads sender and id of `records/SENDER/ID.json.gz`; `None` for any other path.
pub fn parse_place(path: &Path) -> Option<(String, String)> {
    let mut parts = path.iter().map(|part| part.to_str());
    let (records, sender, file) = (parts.next()??, parts.next()??, parts.next()??);
    let id = file.strip_suffix(".json.gz")?;
    let is_one = records == RECORDS
        && parts.next().is_none()
        && is_sender(sender)
        && collection::site::is_slug(id);
    is_one.then(|| (sender.to_owned(), id.to_owned()))
}

/// True if a text can be the sender of a record: letters, digits and what forges allow between
/// them. Forges do not distinguish accounts by case: one account has one directory, in small letters.
pub fn is_sender(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !text.is_empty()
        && text.len() <= LONGEST_SENDER
        && text.bytes().all(|byte| is_word(byte) || b"-_.".contains(&byte))
        && text.bytes().next().is_some_and(is_word)
}

/// True if a text can be an account of a forge.
pub fn is_account(text: &str) -> bool {
    is_sender(text) && text != GUEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_sender_and_an_id_and_nothing_else() {
        let read = |path: &str| parse_place(Path::new(path));
        assert_eq!(
            read("records/ada/abc234.json.gz"),
            Some(("ada".to_owned(), "abc234".to_owned()))
        );
        for other in [
            "records/ada/abc234.json",
            "records/abc234.json.gz",
            "records/ada/more/abc234.json.gz",
            "records/../abc234.json.gz",
            "records/a b/abc234.json.gz",
            "records/-ada/abc234.json.gz",
            "records/Ada/abc234.json.gz",
            "README.md",
            "records/ada/../../x.json.gz",
        ] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
