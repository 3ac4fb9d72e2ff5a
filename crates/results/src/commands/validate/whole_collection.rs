//! `flashmark validate DIR`: all records of a collection, or those of a pull request.

use std::path::{Path, PathBuf};
use std::process::Command;

use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print;
use record::text::printable;
use report::words;

use crate::cli::ValidateFlags;
use crate::commands::init::shown;
use crate::repository::judging::{JudgedRecord, MISPLACED, judge, look_at};
use crate::repository::{RECORDS, RecordFile, Repository, is_account};

/// Files that a pull request may change at most: no person looks through more.
const MAX_CHANGED: usize = 100;

/// Judges all records, or those that changed since a revision; exit code 1 if one is refused or
/// doubtful.
pub fn check(dir: &Path, flags: &ValidateFlags) -> Result {
    let repository = Repository::open(dir).or_usage()?;
    let sender = flags.sender.as_deref().map(str::to_lowercase);
    if let Some(sender) = sender.as_deref().filter(|sender| !is_account(sender)) {
        return usage(format_args!("'{}' is no account of a forge", printable(sender)));
    }
    let changes = match &flags.since {
        Some(revision) => Some(changes(repository.dir(), revision)?),
        None => None,
    };
    let count = changes.as_ref().map_or(0, Vec::len);
    if count > MAX_CHANGED {
        print(&format!(
            "{count} files change; at most {MAX_CHANGED} are looked at in one pull request\n"
        ))?;
        return Ok(Exit::MediumFailed);
    }
    let mut wrong = Vec::new();
    for change in changes.iter().flatten() {
        wrong.extend(foreign(&repository, change, sender.as_deref()));
        // Another repository in this one.
        if repository.dir().join(change).symlink_metadata().is_ok_and(|it| it.is_dir()) {
            wrong.push(format!("{}: {MISPLACED}", shown(change)));
        }
    }
    // No change of a pull request is a directory; a link to one is.
    let is_file = |place: &PathBuf| {
        let metadata = repository.dir().join(place).symlink_metadata();
        !metadata.is_ok_and(|metadata| metadata.is_dir())
    };
    let misplaced = repository.misplaced().into_iter().filter(is_file);
    wrong.extend(misplaced.map(|place| format!("{}: {MISPLACED}", shown(&place))));
    let is_changed = |file: &RecordFile| {
        changes.as_ref().is_none_or(|changes| {
            changes.iter().any(|change| change == repository.place_of(&file.path))
        })
    };
    let judged = judge(&repository, repository.records(), is_changed, |file| Ok(look_at(file)))
        .or_internal()?;
    let asked: Vec<&JudgedRecord> = judged.iter().filter(|one| is_changed(&one.file)).collect();
    for one in &asked {
        if let Err(why) = one.verdict() {
            wrong.push(format!("{}: {why}", shown(repository.place_of(&one.file.path))));
        }
    }
    wrong.iter().try_for_each(|line| print(&format!("{}\n", printable(line))))?;
    let taken = asked.iter().filter(|one| one.verdict().is_ok()).count();
    print(&format!("{} taken, {} wrong\n", words::count(taken, "record"), wrong.len()))?;
    Ok(if wrong.is_empty() { Exit::Done } else { Exit::MediumFailed })
}

/// Reason why the sender may not make a change; `None` if the sender may.
fn foreign(repository: &Repository, change: &Path, sender: Option<&str>) -> Option<String> {
    let is_of = |account: &String| change.starts_with(Path::new(RECORDS).join(account));
    if let Some(account) = repository.settings.reference.iter().find(|account| is_of(account)) {
        return Some(format!(
            "{}: refused: {account} has reference data, which maintainers change",
            shown(change)
        ));
    }
    let own = sender.map(|sender| Path::new(RECORDS).join(sender));
    let is_own = match &own {
        Some(own) => change.starts_with(own),
        None => change.starts_with(RECORDS),
    };
    (!is_own).then(|| {
        let whose = own.map_or_else(|| format!("{RECORDS}/"), |own| format!("{}/", own.display()));
        format!("{}: refused: a submission changes files below {whose} only", shown(change))
    })
}

/// Paths that differ between a revision and the working tree, by git.
fn changes(dir: &Path, revision: &str) -> Result<Vec<PathBuf>> {
    if revision.starts_with('-') {
        return usage(format_args!("'{}' is no revision", printable(revision)));
    }
    let mut paths = Vec::new();
    let diff = ["diff", "--name-only", "--no-renames", "-z", revision, "--", "."];
    let new = ["ls-files", "--others", "--exclude-standard", "-z", "--", "."];
    for words in [diff.as_slice(), new.as_slice()] {
        let ran = Command::new("git").arg("-C").arg(dir).args(words).output().or_usage()?;
        if !ran.status.success() {
            let message = printable(String::from_utf8_lossy(&ran.stderr).trim());
            return usage(format_args!("git cannot tell what changed since it: {message}"));
        }
        let names = ran.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        paths.extend(names.map(|name| PathBuf::from(String::from_utf8_lossy(name).into_owned())));
    }
    Ok(paths)
}
