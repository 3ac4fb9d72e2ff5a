//! Notes of staged file systems, so that a killed run can be undone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::region::StagedRegion;
use super::{DIRECTORY_PREFIX, StagingError, fresh_directory_name, remove_directory, unmount_ours};
use crate::roots::{DeviceNumber, Roots, text};

pub(super) const SUFFIX: &str = ".stage";

/// Steps done so far; a field that is not set belongs to a step that was not begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Boot ID of the system: mounts and devices of an earlier boot no longer exist.
    boot: Option<String>,
    /// Private directory, `flashmark-stage-PID-N` in the temporary directory.
    pub directory: PathBuf,
    /// Device that shows the region; noted before it is made.
    pub region: Option<StagedRegion>,
    /// The device mounted below the directory.
    pub mounted: Option<DeviceNumber>,
}

impl Note {
    pub fn mount_point(&self) -> PathBuf {
        self.directory.join("mnt")
    }

    /// True if the directory has a name that this program makes.
    fn is_ours(&self) -> bool {
        self.directory
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(DIRECTORY_PREFIX))
    }

    /// Undoes everything noted that still exists and is still ours.
    pub fn undo(&self) -> Result<(), StagingError> {
        if let Some(number) = self.mounted {
            unmount_ours(&self.mount_point(), number)?;
        }
        if let Some(region) = &self.region {
            region.remove()?;
        }
        remove_directory(&self.mount_point())?;
        remove_directory(&self.directory)
    }

    /// The part of a note from an earlier boot that can be undone: only the directories still
    /// exist.
    fn without_devices(self) -> Note {
        Note { region: None, mounted: None, ..self }
    }
}

/// The file with the note: one JSON line per step, the last whole one counts. Locked for as long as
/// its process lives, so that a running stage is not taken for a leftover. Programs started
/// meanwhile inherit the lock: the mkfs of a killed run counts as alive until it ends.
#[derive(Debug)]
pub(crate) struct NoteFile {
    path: PathBuf,
    file: File,
}

impl NoteFile {
    /// Makes one in `state_dir`, which is made if it is missing.
    pub fn create(state_dir: &Path, suffix: &str) -> Result<NoteFile, StagingError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| StagingError::Io { what: "make", path, source }
        };
        fs::create_dir_all(state_dir).map_err(failed(state_dir))?;
        let name = fresh_directory_name()
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let path = state_dir.join(name + suffix);
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed(&path))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| failed(&path)(errno.into()))?;
        fcntl_setfd(&file, FdFlags::empty()).map_err(|errno| failed(&path)(errno.into()))?;
        Ok(NoteFile { path, file })
    }

    /// Appends the present note.
    pub(super) fn write(&mut self, note: &Note) -> Result<(), StagingError> {
        self.append(&Note { boot: boot_id(&Roots::default()), ..note.clone() })
    }

    /// Appends a line, durably.
    pub fn append(&mut self, noted: &impl Serialize) -> Result<(), StagingError> {
        let mut line = serde_json::to_string(noted).expect("a note has only string keys");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(|source| StagingError::Io {
            what: "write",
            path: self.path.clone(),
            source,
        })
    }

    /// Deletes the file: everything noted in it is undone.
    pub fn remove(self) {
        // a note that stays is harmless: the next clean-up finds nothing of it
        let _ = fs::remove_file(&self.path);
    }
}

/// The kernel's identifier of this boot.
pub fn boot_id(roots: &Roots) -> Option<String> {
    text(&roots.proc.join("sys/kernel/random/boot_id"))
}

/// A stage left by a killed run, and the result of undoing it.
#[derive(Debug)]
pub struct Leftover {
    /// Its private directory.
    pub directory: PathBuf,
    /// Error of undoing, if any: then it stays noted.
    pub undone: Result<(), StagingError>,
}

/// Undoes the stages of killed runs, by the notes in `state_dir`: unmounts, removes devices and
/// directories; only those that are exactly as noted, by device number, offset, size or backing.
/// Leaves stages of living runs alone.
pub fn clean_leftovers(state_dir: &Path) -> io::Result<Vec<Leftover>> {
    abandoned(state_dir, SUFFIX, clean_one)
}

/// Results of `clean` for each note in `state_dir` that ends with `suffix` and whose process is
/// gone; `clean` gets the path and the text.
pub(crate) fn abandoned<T>(
    state_dir: &Path,
    suffix: &str,
    clean: impl Fn(&Path, &str) -> io::Result<Option<T>>,
) -> io::Result<Vec<T>> {
    let entries = match fs::read_dir(state_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut cleaned = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !path.to_string_lossy().ends_with(suffix) {
            continue;
        }
        let mut file = File::open(&path)?;
        // who writes it holds the lock
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            cleaned.extend(clean(&path, &text)?);
        }
    }
    Ok(cleaned)
}

/// Undoes one note, and deletes it if that succeeds.
fn clean_one(path: &Path, text: &str) -> io::Result<Option<Leftover>> {
    let last = text.lines().rev().find_map(|line| serde_json::from_str::<Note>(line).ok());
    // killed before the first step was noted, or not written here: nothing was done
    let Some(note) = last.filter(Note::is_ours) else {
        return fs::remove_file(path).map(|()| None);
    };
    let note = if note.boot == boot_id(&Roots::default()) { note } else { note.without_devices() };
    let undone = note.undo();
    if undone.is_ok() {
        fs::remove_file(path)?;
    }
    Ok(Some(Leftover { directory: note.directory, undone }))
}
