//! `flashmark collection`: a collection that is a repository of records and needs no server.

use std::path::{Path, PathBuf};
use std::process::Command;

use record::text::printable;
use report::words;

use crate::cli::{CollectionCheckFlags, CollectionCommand, CollectionInitFlags};
use crate::repository::judging::{JudgedRecord, MISPLACED, judge, look_at};
use crate::repository::{
    ACCEPTED, RECORDS, RecordFile, Repository, SETTINGS, Settings, is_sender, write,
};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;

/// Files of a new repository beside its settings.
const FILES: [(&str, &str); 3] = [
    ("README.md", include_str!("../../repository/README.md")),
    (".github/workflows/validate.yml", include_str!("../../repository/validate.yml")),
    (".github/workflows/publish.yml", include_str!("../../repository/publish.yml")),
];

/// Files that a pull request may change at most: no person looks through more.
const MAX_CHANGED: usize = 100;

/// Makes a repository, or judges one.
pub fn run(command: &CollectionCommand) -> Result {
    match command {
        CollectionCommand::Init(flags) => init(flags),
        CollectionCommand::Check(flags) => check(flags),
    }
}

/// Makes a repository in a directory that is new, empty or a fresh clone.
fn init(flags: &CollectionInitFlags) -> Result {
    let dir = &flags.dir;
    if Repository::is_at(dir) {
        return refuse(format_args!("'{}' is a collection already", printable(&shown(dir))));
    }
    let taken = FILES.iter().map(|(name, _)| *name).chain([ACCEPTED, RECORDS]);
    if let Some(name) = taken.clone().find(|name| dir.join(name).exists()) {
        return refuse(format_args!(
            "'{}' has a file '{name}', which would be replaced; take an empty directory",
            printable(&shown(dir))
        ));
    }
    let settings = Settings::new(&flags.title, flags.address.clone());
    let pages = flags.address.as_deref().unwrap_or("the address of this repository's pages");
    for (name, text) in FILES {
        let text = text.replace("TITLE", &flags.title).replace("PAGES", pages);
        write(&dir.join(name), text.as_bytes()).or_internal()?;
    }
    let reasons =
        "# Ids of doubtful records that a person has looked at, and why they are taken.\n";
    write(&dir.join(ACCEPTED), reasons.as_bytes()).or_internal()?;
    write(&dir.join(RECORDS).join(".gitkeep"), "".as_bytes()).or_internal()?;
    let json = serde_json::to_string_pretty(&settings).or_internal()? + "\n";
    write(&dir.join(SETTINGS), json.as_bytes()).or_internal()?;
    let dir = printable(&shown(dir));
    print(&format!(
        "A collection in {dir}. To share it:\n  cd {dir} && git init -b main && git add -A && git commit -m \"Begin a collection\"\n  git remote add origin URL && git push -u origin main\nTo add a run to it:\n  flashmark submit latest --to {dir}\nIts pages:\n  flashmark publish site --collection {dir}\n"
    ))?;
    Ok(Exit::Done)
}

/// Judges all records, or those that changed since a revision; exit code 1 if one is refused or
/// doubtful.
fn check(flags: &CollectionCheckFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let sender = flags.sender.as_deref().map(str::to_lowercase);
    if let Some(sender) = sender.as_deref().filter(|sender| !is_sender(sender)) {
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
        if let Err(why) = &one.verdict {
            wrong.push(format!("{}: {why}", shown(repository.place_of(&one.file.path))));
        }
    }
    wrong.iter().try_for_each(|line| print(&format!("{}\n", printable(line))))?;
    let taken = asked.iter().filter(|one| one.verdict.is_ok()).count();
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

fn shown(path: &Path) -> String {
    path.display().to_string()
}
