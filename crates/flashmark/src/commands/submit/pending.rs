//! Runs that a collection could not take yet, kept below the directory of the runs until they are
//! sent.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use record::text::printable;
use serde::{Deserialize, Serialize};
use store::{Store, atomic_write};

use super::document::packed;
use super::server::{CollectionServer, RunRefused, ServerReceipt};
use crate::exit::{Exit, Failure, OrExit, Result};

/// The directory below that of the runs; its dot keeps it out of their list.
const DIRECTORY: &str = ".pending";

/// A run to be sent, as it was shown to its sender.
#[derive(Debug, Hash, Serialize, Deserialize)]
pub struct PendingRun {
    /// The address of the collection.
    pub to: String,
    /// The name of the run on this machine.
    pub name: String,
    /// The document, to the byte.
    pub json: String,
}

impl PendingRun {
    /// Keeps the run; a run that already waits for the same collection is kept once.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self) -> Result<()> {
        Store::open(Store::default_root()).make_root().or_internal()?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory()).or_internal()?;
        atomic_write(self.file(), &serde_json::to_vec(self).or_internal()?).or_internal()
    }

    /// Removes the run from the list, if it is there.
    ///
    /// # Errors
    /// It is there and cannot be removed.
    pub fn forget(&self) -> Result<()> {
        remove(&self.file())
    }

    fn file(&self) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        directory().join(format!("{:016x}.json", hasher.finish()))
    }

    fn read(path: &Path) -> Result<PendingRun> {
        let bytes = fs::read(path).or_internal()?;
        serde_json::from_slice(&bytes)
            .map_err(|error| {
                anyhow::anyhow!(
                    "'{}' is no run that waits to be sent ({error}); remove it",
                    path.display()
                )
            })
            .or_usage()
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error).or_internal(),
        _ => Ok(()),
    }
}

fn directory() -> PathBuf {
    Store::default_root().join(DIRECTORY)
}

/// Files of the list with their contents: those for one collection or for all.
fn waiting(to: Option<&str>) -> Result<Vec<(PathBuf, Result<PendingRun>)>> {
    let entries = match fs::read_dir(directory()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.or_internal()?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<BTreeSet<_>>>();
    let is_run = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    let is_wanted = |run: &Result<PendingRun>| {
        run.as_ref().map_or(true, |run| to.is_none_or(|to| run.to == to))
    };
    let paths = paths.or_internal()?.into_iter().filter(is_run);
    let runs = paths.map(|path| {
        let run = PendingRun::read(&path);
        (path, run)
    });
    Ok(runs.filter(|(_, run)| is_wanted(run)).collect())
}

/// Sends the runs that wait, for one collection or for all; `sent` is called for each that arrived,
/// and every failure is printed. If a collection cannot be reached, its other runs continue to
/// wait.
///
/// Returns how many waited, and the largest of the exit codes.
///
/// # Errors
/// The list cannot be read, or `sent` fails.
pub fn send_all(
    to: Option<&str>,
    token: Option<&str>,
    sent: impl Fn(&PendingRun, &CollectionServer, &ServerReceipt) -> Result<()>,
) -> Result<(usize, Exit)> {
    let (mut exit, mut unreachable) = (Exit::Done, BTreeSet::new());
    let runs = waiting(to)?;
    let count = runs.len();
    for (path, run) in runs {
        let outcome = match run {
            Ok(run) if unreachable.contains(&run.to) => continue,
            Ok(run) => send(&path, &run, token, &sent).map_err(|Failure { exit, error }| {
                if exit == Exit::Internal {
                    unreachable.insert(run.to);
                }
                Failure { exit, error: error.context(printable(&run.name)) }
            }),
            Err(failure) => Err(failure),
        };
        if let Err(failure) = outcome {
            crate::say!("flashmark: {failure}");
            exit = if exit as i32 > failure.exit as i32 { exit } else { failure.exit };
        }
    }
    Ok((count, exit))
}

fn send(
    path: &Path,
    run: &PendingRun,
    token: Option<&str>,
    sent: &impl Fn(&PendingRun, &CollectionServer, &ServerReceipt) -> Result<()>,
) -> Result<()> {
    let server = CollectionServer::at(&run.to, token)?;
    match server.submit(&packed(&run.json)?) {
        Ok(receipt) => {
            sent(run, &server, &receipt)?;
            remove(path)
        }
        Err(failure) if failure.error.is::<RunRefused>() => {
            remove(path)?;
            Err(failure)
        }
        Err(failure) => Err(failure),
    }
}
