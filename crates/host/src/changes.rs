//! Changes of the machine by a session, noted before they are made, so that all of them can be
//! undone: at the end, on an error, and on the next start after a kill.
//!
//! A note is one line of a file that is locked for as long as its process (or a program it started)
//! lives. Undoing goes from the last line to the first and touches only objects that are exactly as
//! noted: a loop device by the inode behind it, a queue by the device's number and the kernel's
//! count of media, a file by a name that only this module makes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::inventory::InventoryEntry;
use crate::loopdev::{self, Backing, Loop, LoopError, LoopOptions};
use crate::roots::Roots;
use crate::scheduler::{QueueError, QueueOf, REMEMBERED};
use crate::stage::{NoteFile, StagingError, abandoned, boot_id};
use crate::tool::ToolError;

const SUFFIX: &str = ".changes";
/// Prefix of the names of files made here.
const FILE_PREFIX: &str = "flashmark-lab-";

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum Change {
    /// A file that is made here.
    File { path: PathBuf },
    /// A loop device that is about to be made over a file.
    Loop { backing: Backing },
    /// The previous value of a queue's setting.
    Queue {
        #[serde(flatten)]
        of: QueueOf,
        setting: String,
        before: String,
    },
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Boot ID of the system: queues and loop devices of an earlier boot no longer exist.
    boot: Option<String>,
    change: Change,
}

/// The error of a change that could not be made, noted or undone.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// It could not be noted, and so was not done.
    #[error(transparent)]
    Note(#[from] StagingError),
    /// A loop device could not be attached.
    #[error(transparent)]
    Loop(#[from] LoopError),
    /// A program that undoes a change failed (losetup, to detach a loop device).
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A setting of a medium's queue could not be changed or restored.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// An image file of this session (`flashmark-lab-*.img`) could not be made or removed.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The failed action, as a verb: "make", "remove".
        what: &'static str,
        /// The file that was to be made or removed.
        path: PathBuf,
        /// Error of the system call.
        source: io::Error,
    },
}

/// The changes of this session. Undone on drop; [`Changes::undo`] returns the errors.
#[derive(Debug)]
pub struct Changes {
    file: Option<NoteFile>,
    made: Vec<Change>,
}

impl Changes {
    /// Begins to take notes in `state_dir`, which is made if it is missing.
    pub fn begin(state_dir: &Path) -> Result<Changes, ChangeError> {
        Ok(Changes { file: Some(NoteFile::create(state_dir, SUFFIX)?), made: Vec::new() })
    }

    fn note(&mut self, change: Change) -> Result<(), ChangeError> {
        if let Some(file) = &mut self.file {
            file.append(&Line { boot: boot_id(&Roots::default()), change: change.clone() })?;
        }
        self.made.push(change);
        Ok(())
    }

    /// Makes a file of `bytes` in `directory`, for this session only. With `filled`, all of it is
    /// written (zeros), so that its blocks are allocated before anything is measured; otherwise it
    /// has only holes.
    pub fn make_file(
        &mut self,
        directory: &Path,
        bytes: u64,
        filled: bool,
    ) -> Result<PathBuf, ChangeError> {
        let unique =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let path = directory.join(format!("{FILE_PREFIX}{}-{unique:x}.img", std::process::id()));
        self.note(Change::File { path: path.clone() })?;
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|file| fill(file, bytes, filled));
        made.map_err(|source| ChangeError::File { what: "make", path: path.clone(), source })?;
        Ok(path)
    }

    /// Attaches a loop device, which is detached with these changes.
    pub fn attach(&mut self, file: &Path, options: LoopOptions) -> Result<Loop, ChangeError> {
        let backing = Backing::of(file, options)
            .map_err(|source| LoopError::Io { path: file.to_owned(), source })?;
        self.note(Change::Loop { backing })?;
        Ok(loopdev::attach_with(file, options)?)
    }

    /// Changes a setting of a device's queue ("scheduler"). All settings that it may affect are
    /// noted before the first change.
    pub fn set_queue(
        &mut self,
        disk: &InventoryEntry,
        setting: &str,
        value: &str,
    ) -> Result<(), ChangeError> {
        let of = QueueOf::new(disk);
        let known = self
            .made
            .iter()
            .any(|change| matches!(change, Change::Queue { of: known, .. } if *known == of));
        if !known {
            for setting in REMEMBERED {
                if let Some(before) = of.get(setting) {
                    self.note(Change::Queue {
                        of: of.clone(),
                        setting: setting.to_owned(),
                        before,
                    })?;
                }
            }
        }
        Ok(of.set(setting, value)?)
    }

    /// Undoes everything. Failed steps stay noted for [`clean_changes`].
    pub fn undo(mut self) -> Result<(), ChangeError> {
        self.undo_once()
    }

    fn undo_once(&mut self) -> Result<(), ChangeError> {
        let Some(file) = self.file.take() else { return Ok(()) };
        undo_all(&self.made)?;
        file.remove();
        Ok(())
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        // nobody is left to hear of a failure; the notes stay and the next start undoes them
        let _ = self.undo_once();
    }
}

/// Gives a new file its size, and allocates its blocks if `filled`.
fn fill(mut file: File, bytes: u64, filled: bool) -> io::Result<()> {
    file.set_len(bytes)?;
    let zeros = vec![0; 1 << 20];
    let mut left = if filled { bytes } else { 0 };
    while left > 0 {
        let part = left.min(zeros.len() as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    file.sync_all()
}

/// Undoes all, the last change first. Goes on after a failure and returns the first one.
fn undo_all(changes: &[Change]) -> Result<(), ChangeError> {
    let mut first = Ok(());
    for change in changes.iter().rev() {
        let undone = change.undo();
        if first.is_ok() {
            first = undone;
        }
    }
    first
}

impl Change {
    /// Undoes the change, if it was made and the object is still ours.
    fn undo(&self) -> Result<(), ChangeError> {
        match self {
            Change::File { path } => remove(path),
            Change::Loop { backing } => {
                for node in loopdev::attached_to(backing) {
                    loopdev::detach_node(&node)?;
                }
                Ok(())
            }
            Change::Queue { of, .. } if !of.is_there() => Ok(()),
            Change::Queue { of, setting, before } => Ok(of.set(setting, before)?),
        }
    }
}

/// Removes a file that this module made.
fn remove(path: &Path) -> Result<(), ChangeError> {
    let is_ours =
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FILE_PREFIX));
    match fs::symlink_metadata(path) {
        Ok(metadata) if is_ours && metadata.is_file() => fs::remove_file(path)
            .map_err(|source| ChangeError::File { what: "remove", path: path.to_owned(), source }),
        _ => Ok(()),
    }
}

/// Changes left by a killed session, and the result of undoing them.
#[derive(Debug)]
pub struct Undone {
    /// In words: "a loop device", "scheduler of sda".
    pub what: Vec<String>,
    /// Error of undoing, if any: then the changes stay noted.
    pub undone: Result<(), ChangeError>,
}

/// Undoes the changes of killed sessions, by the notes in `state_dir`. Leaves living sessions
/// alone.
pub fn clean_changes(state_dir: &Path) -> io::Result<Vec<Undone>> {
    abandoned(state_dir, SUFFIX, clean_one)
}

fn clean_one(path: &Path, text: &str) -> io::Result<Option<Undone>> {
    let now = boot_id(&Roots::default());
    // a torn last line was never acknowledged, and what it notes was not done
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let still_there = |line: &Line| line.boot == now || matches!(line.change, Change::File { .. });
    let changes: Vec<Change> = lines.filter(still_there).map(|line| line.change).collect();
    let undone = undo_all(&changes);
    if undone.is_ok() {
        fs::remove_file(path)?;
    }
    let what: Vec<String> = changes.iter().filter_map(in_words).collect();
    Ok((!what.is_empty()).then_some(Undone { what, undone }))
}

/// Description of a change; of a queue only for the scheduler.
fn in_words(change: &Change) -> Option<String> {
    match change {
        Change::File { path } => Some(format!("the file {}", path.display())),
        Change::Loop { .. } => Some("a loop device".to_owned()),
        Change::Queue { of, setting, before } => {
            (setting == "scheduler").then(|| format!("the scheduler of {} ({before})", of.name()))
        }
    }
}
