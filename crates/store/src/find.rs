//! Finding of runs by the words that a user types.

use std::io;
use std::path::{Path, PathBuf};

use record::alike::{edits, edits_to_beginnings};

use crate::run_dir::{JOURNAL_FILE, RECORD_FILE, RunDir};

/// Name that stands for the run written last.
const LATEST: &str = "latest";

/// A run could not be found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No run, file or directory has this name.
    #[error("there is no run '{name}'; {}`flashmark runs` lists them", suggestion(closest))]
    Unknown {
        /// Name that was asked for.
        name: String,
        /// Names of the runs that resemble it most, best first.
        closest: Vec<String>,
    },
    /// Several runs have names that begin so.
    #[error("'{name}' is the beginning of {} runs: {}; type more of it", matches.len(), some_of(matches))]
    Ambiguous {
        /// Name that was asked for.
        name: String,
        /// Names of all runs that begin so.
        matches: Vec<String>,
    },
    /// There are no runs at all.
    #[error("there is no run yet; `flashmark run .` makes one")]
    NoRuns,
    /// The path exists, but is not a run.
    #[error("'{}' is neither a run's directory nor a record file; name a run from `flashmark runs` or a record file", .0.display())]
    NotARun(PathBuf),
    /// The store cannot be read.
    #[error("cannot read the runs in '{}': {source}; set FLASHMARK_HOME to a directory of your own", path.display())]
    Store {
        /// The directory for the runs.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

fn suggestion(closest: &[String]) -> String {
    match closest {
        [] => String::new(),
        names => format!("did you mean {}? ", names.join(" or ")),
    }
}

fn some_of(names: &[String]) -> String {
    let shown = &names[..names.len().min(5)];
    format!("{}{}", shown.join(", "), if names.len() > shown.len() { ", .." } else { "" })
}

/// Finds `name` among the runs (the one written last at the end) and on disk.
pub(crate) fn find(name: &str, runs: &[RunDir]) -> Result<RunDir, FindError> {
    if let Some(run) = runs.iter().find(|run| run.name() == name) {
        return Ok(run.clone());
    }
    if name == LATEST {
        return runs.last().cloned().ok_or(FindError::NoRuns);
    }
    if name.contains('/')
        || [".json", ".json.gz"].iter().any(|end| name.ends_with(end))
        || name == "."
        || name == ".."
    {
        return at_path(Path::new(name), runs);
    }
    let matches: Vec<&RunDir> =
        runs.iter().filter(|run| !name.is_empty() && run.name().starts_with(name)).collect();
    match matches[..] {
        [run] => Ok(run.clone()),
        [] => at_path(Path::new(name), runs),
        _ => Err(FindError::Ambiguous {
            name: name.to_owned(),
            matches: matches.iter().map(|run| run.name().to_owned()).collect(),
        }),
    }
}

fn at_path(path: &Path, runs: &[RunDir]) -> Result<RunDir, FindError> {
    let is_run =
        |dir: &Path| [JOURNAL_FILE, RECORD_FILE].iter().any(|name| dir.join(name).is_file());
    match path {
        file if file.is_file() => Ok(RunDir::of_file(file)),
        dir if is_run(dir) => Ok(RunDir::of_directory(dir)),
        other if other.exists() => Err(FindError::NotARun(other.to_owned())),
        _ => Err(unknown(&path.to_string_lossy(), runs)),
    }
}

fn unknown(name: &str, runs: &[RunDir]) -> FindError {
    let mut ranked: Vec<(usize, &str)> =
        runs.iter().rev().map(|run| (distance(name, run.name()), run.name())).collect();
    // The user may mistype this word too.
    ranked.push((edits(name, LATEST), LATEST));
    ranked.sort_by_key(|(distance, _)| *distance);
    let alike = ranked.iter().filter(|(distance, _)| *distance <= name.chars().count() / 3 + 1);
    FindError::Unknown {
        name: name.to_owned(),
        closest: alike.take(3).map(|(_, run)| (*run).to_owned()).collect(),
    }
}

/// Edit distance between what was typed and the beginning of a run's name, in letters to insert,
/// delete or replace. A letter that is not typed yet costs a tenth: a beginning with one typing
/// error is closer than another name of the same length.
fn distance(typed: &str, run: &str) -> usize {
    let edits = edits_to_beginnings(typed, run);
    let letters = edits.len() - 1;
    edits
        .iter()
        .enumerate()
        .map(|(taken, edits)| edits * 10 + (letters - taken))
        .min()
        .unwrap_or(0)
        .div_ceil(10)
}
