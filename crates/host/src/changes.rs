//! Changes of the machine by a session, noted before they are made, so that all of them can be
//! undone: at the end, on an error, and on the next start after a kill.
//!
//! A note is one line of a file that is locked for as long as its process (or a program it started)
//! lives. Undoing goes from the last line to the first and touches only objects that are exactly as
//! noted: a loop device by the inode behind it, a partition by its place on the medium, a mount by
//! its device, a queue by the device's number and the kernel's count of media, a file or directory
//! by a name that only this module makes.

mod note;
mod partition;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::mount::{UnmountFlags, unmount};
use serde::{Deserialize, Serialize};

use crate::change_error::ChangeError;
use crate::inventory::InventoryEntry;
use crate::location::prove_on_device;
use crate::loopdev::{self, Backing, Loop, LoopOptions};
use crate::roots::{DeviceNumber, Roots};
use crate::scheduler::{QueueOf, REMEMBERED};
use note::NoteFile;
pub use note::boot_id;
pub(crate) use partition::KernelPartition;

/// Prefixes of the names of files and of private directories made here.
const FILE_PREFIX: &str = "flashmark-lab-";
const DIRECTORY_PREFIX: &str = "flashmark-stage-";

/// A change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Change {
    /// A file that is made here.
    File { path: PathBuf },
    /// A private directory in the temporary one, or one in it.
    Directory { path: PathBuf },
    /// A loop device that is about to be made over a file or device.
    Loop { backing: Backing },
    /// A partition that is about to be told to the kernel.
    Partition(KernelPartition),
    /// A file system that is about to be mounted in a private directory, and its device.
    Mount { at: PathBuf, number: DeviceNumber },
    /// The previous value of a queue's setting.
    Queue {
        #[serde(flatten)]
        of: QueueOf,
        setting: String,
        before: String,
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
        Ok(Changes { file: Some(NoteFile::create(state_dir)?), made: Vec::new() })
    }

    /// Notes a change that the caller is about to make.
    pub(crate) fn note(&mut self, change: Change) -> Result<(), ChangeError> {
        if let Some(file) = &mut self.file {
            file.append(&change)?;
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
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .and_then(|file| fill(file, bytes, filled))
            .map_err(ChangeError::on("make", &path))?;
        Ok(path)
    }

    /// Makes a private directory with a mount point in it, which only their owner may enter;
    /// returns the latter.
    pub(crate) fn make_mount_point(&mut self) -> Result<PathBuf, ChangeError> {
        let directory = std::env::temp_dir().join(note::fresh_name());
        let at = directory.join("mnt");
        for path in [&directory, &at] {
            self.note(Change::Directory { path: path.clone() })?;
            DirBuilder::new().mode(0o700).create(path).map_err(ChangeError::on("make", path))?;
        }
        Ok(at)
    }

    /// Attaches a loop device, which is detached with these changes.
    pub fn attach(&mut self, file: &Path, options: LoopOptions) -> Result<Loop, ChangeError> {
        self.note(Change::Loop { backing: Backing::of(file, options)? })?;
        loopdev::attach_with(file, options)
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
        of.set(setting, value)
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

/// Undoes all, the last change first. Goes on after a failure, but not below a file system that is
/// still mounted, and returns the first one.
fn undo_all(changes: &[Change]) -> Result<(), ChangeError> {
    let mut first = Ok(());
    for change in changes.iter().rev() {
        let undone = change.undo();
        let is_below = undone.is_err() && matches!(change, Change::Mount { .. });
        if first.is_ok() {
            first = undone;
        }
        if is_below {
            break;
        }
    }
    first
}

impl Change {
    /// Undoes the change, if it was made and the object is still ours.
    fn undo(&self) -> Result<(), ChangeError> {
        match self {
            Change::File { path } => remove(path),
            Change::Directory { path } if is_private(path) => remove_directory(path),
            Change::Directory { .. } => Ok(()),
            Change::Loop { backing } => {
                for node in loopdev::attached_to(backing) {
                    retry_while_busy(20, || loopdev::detach_node(&node))?;
                }
                Ok(())
            }
            Change::Partition(partition) => partition.remove(),
            Change::Mount { at, number } if is_private(at) => unmount_ours(at, *number),
            Change::Mount { .. } => Ok(()),
            Change::Queue { of, .. } if !of.is_there() => Ok(()),
            Change::Queue { of, setting, before } => of.set(setting, before),
        }
    }

    /// True if it outlives the system that made it: queues, mounts and devices do not.
    fn is_on_disk(&self) -> bool {
        matches!(self, Change::File { .. } | Change::Directory { .. })
    }

    /// Description; of a queue only for the scheduler, and none of a private directory.
    fn in_words(&self) -> Option<String> {
        match self {
            Change::File { path } => Some(format!("the file {}", path.display())),
            Change::Directory { .. } => None,
            Change::Loop { .. } => Some("a loop device".to_owned()),
            Change::Partition(partition) => Some(format!("a partition of {}", partition.disk())),
            Change::Mount { at, .. } => Some(format!("a file system mounted at {}", at.display())),
            Change::Queue { of, setting, before } => (setting == "scheduler")
                .then(|| format!("the scheduler of {} ({before})", of.name())),
        }
    }
}

/// Removes a file that this module made.
fn remove(path: &Path) -> Result<(), ChangeError> {
    let is_ours =
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(FILE_PREFIX));
    match fs::symlink_metadata(path) {
        Ok(metadata) if is_ours && metadata.is_file() => {
            fs::remove_file(path).map_err(ChangeError::on("remove", path))
        }
        _ => Ok(()),
    }
}

/// True for a private directory that this module made, and for one in it.
fn is_private(path: &Path) -> bool {
    let is_ours = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DIRECTORY_PREFIX))
    };
    is_ours(path) || path.parent().is_some_and(is_ours)
}

/// Removes an empty directory; ignores a missing one.
fn remove_directory(path: &Path) -> Result<(), ChangeError> {
    match fs::remove_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ChangeError::on("remove", path)(error))
        }
        _ => Ok(()),
    }
}

/// Unmounts the file system at `at`, if it is on the device `number`.
fn unmount_ours(at: &Path, number: DeviceNumber) -> Result<(), ChangeError> {
    let roots = Roots::default();
    let is_ours =
        |mount: &crate::Mount| mount.at == at && prove_on_device(&roots, at, number).is_ok();
    while crate::mounts(&roots).iter().any(is_ours) {
        retry_while_busy(20, || unmount(at, UnmountFlags::empty())).map_err(|errno| {
            let why = "a program is still in it (lsof or fuser name it)";
            ChangeError::Other(format!("cannot unmount {}: {errno}; {why}", at.display()))
        })?;
    }
    Ok(())
}

/// Repeats `attempt` while udev or an indexer has the device open: `tries` times, a tenth of a
/// second apart.
pub(crate) fn retry_while_busy<T, E>(
    tries: u32,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    for _ in 1..tries {
        if let Ok(done) = attempt() {
            return Ok(done);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    attempt()
}

/// Changes left by a killed session, and the result of undoing them.
#[derive(Debug)]
pub struct Undone {
    /// In words: "a loop device", "a file system mounted at /tmp/flashmark-stage-1-0/mnt".
    pub what: Vec<String>,
    /// Error of undoing, if any: then the changes stay noted.
    pub undone: Result<(), ChangeError>,
}

/// Undoes the changes of killed sessions, by the notes in `state_dir`: what is mounted first, as it
/// holds the devices below it. Leaves living sessions alone.
pub fn clean_changes(state_dir: &Path) -> io::Result<Vec<Undone>> {
    let mut all = note::abandoned(state_dir)?;
    all.sort_by_key(|left| !left.changes.iter().any(|it| matches!(it, Change::Mount { .. })));
    let mut cleaned = Vec::new();
    for left in all {
        let undone = undo_all(&left.changes);
        if undone.is_ok() {
            fs::remove_file(&left.path)?;
        }
        let mut what: Vec<String> = left.changes.iter().filter_map(Change::in_words).collect();
        if undone.is_err() && what.is_empty() {
            what.push("a directory".to_owned());
        }
        if !what.is_empty() {
            cleaned.push(Undone { what, undone });
        }
    }
    Ok(cleaned)
}
