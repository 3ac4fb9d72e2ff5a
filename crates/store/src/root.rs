//! The directory that holds the runs.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use record::{Ended, Opening};

use crate::atomic::{
    Scratch, WriteError, is_plain_name, parent_of, sweep, sync_directory, unique_name,
};
use crate::find::{self, FindError};
use crate::journal;
use crate::journal_form::HEADER_FILE;
use crate::run_dir::{JOURNAL_FILE, RECORD_FILE, RunDir};
use crate::summary::{Overview, RunSummary, summary};

/// All runs of a user: a directory with one subdirectory for each run.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// A run's directory could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The id is not a valid name for a directory.
    #[error("'{0}' cannot name a run; use letters, digits, '-' and '_'")]
    BadId(String),
    /// Somebody else made the directory for the runs, in a place where everyone may.
    #[error("'{}' belongs to user {owner}, not to you; set FLASHMARK_HOME to a directory of your own", path.display())]
    NotYours {
        /// The directory for the runs.
        path: PathBuf,
        /// Number of the user to whom it belongs.
        owner: u32,
    },
    /// The opening holds a number that is not finite.
    #[error("this run cannot be kept in a journal: {0}")]
    Unrepresentable(#[from] serde_json::Error),
    /// A file or directory could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Store {
    /// Store in this directory, which need not exist yet.
    pub fn open(root: PathBuf) -> Store {
        Store { root }
    }

    /// Directory for the runs: `$FLASHMARK_HOME`, else `$XDG_DATA_HOME/flashmark`, else
    /// `$HOME/.local/share/flashmark`, else `/var/tmp/flashmark-<user number>`.
    pub fn default_root() -> PathBuf {
        default_root(|name| std::env::var_os(name), rustix::process::geteuid().as_raw())
    }

    /// The directory that holds the runs.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes the directory of a new run, with the opening of its journal in it. An id that is taken
    /// gets a number: `-2`, `-3`.
    ///
    /// The directory appears with its journal or not at all, and is durable when this returns.
    pub fn create(&self, id: &str, opening: &Opening) -> Result<RunDir, CreateError> {
        if !is_plain_name(id) {
            return Err(CreateError::BadId(id.to_owned()));
        }
        let header = journal::header(opening)?;
        self.make_root()?;
        sweep(&self.root);
        let scratch = Scratch(self.root.join(unique_name()));
        let files = [HEADER_FILE, JOURNAL_FILE].map(|name| (name, header.as_bytes()));
        fill(&scratch.0, files).map_err(WriteError::at(&scratch.0))?;
        let dir = self.claim(&scratch.0, id)?;
        // FAT's new name points to nothing until what was renamed is itself written once more
        // (fs/fat/namei_vfat.c, vfat_rename).
        sync_directory(&dir).map_err(WriteError::at(&dir))?;
        sync_directory(&self.root).map_err(WriteError::at(&self.root))?;
        Ok(RunDir::of_directory(&dir))
    }

    /// Makes a run of the files of another: its name, and each file's name and bytes. A name that
    /// is taken gets a number, as with [`Store::create`].
    ///
    /// # Errors
    /// If a name is not valid for a file or directory, or something cannot be written.
    pub fn adopt(&self, name: &str, files: &[(String, Vec<u8>)]) -> Result<RunDir, CreateError> {
        let names = std::iter::once(name).chain(files.iter().map(|(name, _)| name.as_str()));
        if let Some(bad) = names.into_iter().find(|name| !is_plain_file_name(name)) {
            return Err(CreateError::BadId(bad.to_owned()));
        }
        self.make_root()?;
        let scratch = Scratch(self.root.join(unique_name()));
        fill(&scratch.0, files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])))
            .map_err(WriteError::at(&scratch.0))?;
        let dir = self.claim(&scratch.0, name)?;
        sync_directory(&self.root).map_err(WriteError::at(&self.root))?;
        Ok(RunDir::of_directory(&dir))
    }

    /// Renames a finished directory to the first free name of `id`, `id-2`, `id-3`. No run
    /// directory is ever empty, so the kernel refuses to rename onto one that exists, and two
    /// processes never get the same name.
    fn claim(&self, scratch: &Path, id: &str) -> Result<PathBuf, WriteError> {
        let mut name = id.to_owned();
        for number in 2u64.. {
            let dir = self.root.join(&name);
            match fs::rename(scratch, &dir) {
                Ok(()) => return Ok(dir),
                Err(error) if is_taken(&error) => name = format!("{id}-{number}"),
                Err(error) => return Err(WriteError::at(&dir)(error)),
            }
        }
        unreachable!("there are fewer than 2^64 directories")
    }

    /// Makes the directory for the runs. Only this user may read it: records hold serial numbers.
    ///
    /// # Errors
    /// If it cannot be made, or somebody else made it in a place where everyone may.
    pub fn make_root(&self) -> Result<(), CreateError> {
        let at = WriteError::at(&self.root);
        if !self.root.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.root).map_err(&at)?;
            sync_directory(parent_of(&self.root)).map_err(&at)?;
        }
        // In /var/tmp anyone could have made it first, as a trap for root.
        let anyone_makes = |meta: fs::Metadata| meta.mode() & 0o1002 == 0o1002;
        let own = fs::symlink_metadata(&self.root).map_err(&at)?;
        let trusted = own.uid() == rustix::process::geteuid().as_raw();
        if !trusted && fs::metadata(parent_of(&self.root)).is_ok_and(anyone_makes) {
            return Err(CreateError::NotYours { path: self.root.clone(), owner: own.uid() });
        }
        Ok(())
    }

    /// Directories of all runs, the one written last at the end. A store that does not exist yet
    /// has no runs; one that cannot be read is an error.
    pub fn directories(&self) -> Result<Vec<RunDir>, FindError> {
        let unreadable = |source| FindError::Store { path: self.root.clone(), source };
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(unreadable)?.path();
            let dir = RunDir::of_directory(&path);
            if is_plain_name(dir.name()) && path.is_dir() {
                // Of runs written within one tick of the file system's clock, `run-10` comes after
                // `run-9`.
                found.push(((last_written(&path), dir.name().len(), dir.name().to_owned()), dir));
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(found.into_iter().map(|(_, dir)| dir).collect())
    }

    /// All runs, the one written last at the end. A run that cannot be read is in the list with the
    /// reason.
    pub fn runs(&self) -> Result<Vec<RunSummary>, FindError> {
        Ok(self.directories()?.into_iter().map(summary).collect())
    }

    /// The run a user names: its exact name, "latest", the beginning of only one name, or the path
    /// of a run's directory or of a record file.
    pub fn find(&self, name: &str) -> Result<RunDir, FindError> {
        find::find(name, &self.directories()?)
    }

    /// All runs that a user names: those of this label, or else the one run that [`Store::find`]
    /// finds, or else those of the medium with this name. A run's exact name comes before a label.
    pub fn find_all(&self, name: &str) -> Result<Vec<RunDir>, FindError> {
        let directories = self.directories()?;
        if !directories.iter().any(|dir| dir.name() == name) {
            let labelled = of(&directories, |run| run.label.as_deref() == Some(name));
            if !labelled.is_empty() {
                return Ok(labelled);
            }
        }
        let found = find::find(name, &directories);
        if matches!(found, Err(FindError::Unknown { .. })) {
            let of_medium = of(&directories, |run| {
                let own = run.medium.strip_prefix("sim:").unwrap_or(&run.medium);
                [own, &run.medium].iter().any(|medium| medium.eq_ignore_ascii_case(name))
            });
            if !of_medium.is_empty() {
                return Ok(of_medium);
            }
        }
        Ok(vec![found?])
    }

    /// Run to resume when the user names none: the one written last of those that are not complete
    /// and that nobody is writing. One that was killed between the end of its journal and its
    /// record is not complete.
    pub fn last_unfinished(&self) -> Result<Option<RunDir>, FindError> {
        let unfinished = |run: &RunSummary| {
            run.overview.as_ref().is_ok_and(|it| match it.ended {
                Ended::Interrupted | Ended::Error => true,
                Ended::Complete => !run.has_its_record && !run.dir.is_being_written(),
                Ended::Running => false,
            })
        };
        let mut newest_first = self
            .directories()?
            .into_iter()
            .rev()
            .filter(|dir| dir.journal_path().exists())
            .map(summary);
        Ok(newest_first.find(unfinished).map(|run| run.dir))
    }
}

impl Store {
    /// Run written last of those that have not restored everything they overwrote; one that somebody
    /// is writing only if there is no other.
    pub fn last_unrestored(&self) -> Result<Option<RunDir>, FindError> {
        let mut left = self.directories()?;
        left.retain(|dir| dir.unrestored().is_some());
        let idle = left.iter().rposition(|dir| !dir.is_being_written());
        Ok(idle.map(|at| left.swap_remove(at)).or_else(|| left.pop()))
    }
}

/// True if this is a plain file name that is not hidden.
fn is_plain_file_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

/// Makes a directory with these files in it, all durable.
fn fill<'a>(dir: &Path, files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> io::Result<()> {
    fs::create_dir(dir)?;
    for (name, bytes) in files {
        let mut file = File::create_new(dir.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_directory(dir)
}

fn is_taken(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::NotADirectory
    )
}

fn last_written(dir: &Path) -> Option<SystemTime> {
    let modified = |name| fs::metadata(dir.join(name)).and_then(|meta| meta.modified()).ok();
    modified(JOURNAL_FILE).or_else(|| modified(RECORD_FILE))
}

fn default_root(variable: impl Fn(&str) -> Option<OsString>, user: u32) -> PathBuf {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // The XDG specification: a relative path is to be ignored.
    let absolute = |name: &str| given(name).filter(|path| path.is_absolute());
    given("FLASHMARK_HOME")
        .or_else(|| Some(absolute("XDG_DATA_HOME")?.join("flashmark")))
        .or_else(|| Some(absolute("HOME")?.join(".local/share/flashmark")))
        .unwrap_or_else(|| format!("/var/tmp/flashmark-{user}").into())
}

/// The runs whose overview is wanted.
fn of(directories: &[RunDir], is_wanted: impl Fn(&Overview) -> bool) -> Vec<RunDir> {
    let runs = directories.iter().cloned().map(summary);
    let wanted = runs.filter(|run| run.overview.as_ref().is_ok_and(&is_wanted));
    wanted.map(|run| run.dir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_in_the_users_directory_or_the_data_directory() {
        let root = |set: &[(&str, &str)]| {
            let value = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
            };
            default_root(value, 1000).display().to_string()
        };
        let (own, data, home) =
            (("FLASHMARK_HOME", "here"), ("XDG_DATA_HOME", "/data"), ("HOME", "/home/ada"));
        assert_eq!(root(&[own, data, home]), "here");
        assert_eq!(root(&[data, home]), "/data/flashmark");
        assert_eq!(root(&[home]), "/home/ada/.local/share/flashmark");
        assert_eq!(root(&[]), "/var/tmp/flashmark-1000");
        assert_eq!(
            root(&[("FLASHMARK_HOME", ""), ("XDG_DATA_HOME", "relative"), home]),
            "/home/ada/.local/share/flashmark"
        );
    }
}
