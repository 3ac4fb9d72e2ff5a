//! Files with the notes of changes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::{Change, DIRECTORY_PREFIX};
use crate::change_error::ChangeError;
use crate::roots::{Roots, text};

const SUFFIX: &str = ".changes";

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Boot ID of the system: queues, mounts and devices of an earlier boot no longer exist.
    boot: Option<String>,
    change: Change,
}

/// One JSON line for each change. Locked for as long as its process lives, so that a running
/// session is not taken for a leftover. Programs started meanwhile inherit the lock: the mkfs of a
/// killed run counts as alive until it ends.
#[derive(Debug)]
pub(super) struct NoteFile {
    path: PathBuf,
    file: File,
}

impl NoteFile {
    /// Makes one in `state_dir`, which is made if it is missing.
    pub fn create(state_dir: &Path) -> Result<NoteFile, ChangeError> {
        fs::create_dir_all(state_dir).map_err(ChangeError::on("make", state_dir))?;
        let path = state_dir.join(fresh_name() + SUFFIX);
        let failed = ChangeError::on("make", &path);
        let file = OpenOptions::new().create_new(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(&failed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .and_then(|()| fcntl_setfd(&file, FdFlags::empty()))
            .map_err(|errno| failed(errno.into()))?;
        Ok(NoteFile { path, file })
    }

    /// Appends a change, durably.
    pub fn append(&mut self, change: &Change) -> Result<(), ChangeError> {
        let line = Line { boot: boot_id(&Roots::default()), change: change.clone() };
        let mut line = serde_json::to_string(&line).expect("a note has only string keys");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(ChangeError::on("write", &self.path))
    }

    /// Deletes the file: everything noted in it is undone.
    pub fn remove(self) {
        // a note that stays is harmless: the next clean-up finds nothing of it
        let _ = fs::remove_file(&self.path);
    }
}

/// A unique name: the process, and a count within it.
pub(super) fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{DIRECTORY_PREFIX}{}-{count}", std::process::id())
}

/// The kernel's identifier of this boot.
pub fn boot_id(roots: &Roots) -> Option<String> {
    text(&roots.proc.join("sys/kernel/random/boot_id"))
}

/// The changes in a file whose process is gone, as far as they still exist.
pub(super) struct Abandoned {
    pub path: PathBuf,
    pub changes: Vec<Change>,
    /// Locked, so that nobody else undoes them.
    _file: File,
}

/// All files with notes in `state_dir` whose process is gone.
pub(super) fn abandoned(state_dir: &Path) -> io::Result<Vec<Abandoned>> {
    let entries = match fs::read_dir(state_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let now = boot_id(&Roots::default());
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !path.to_string_lossy().ends_with(SUFFIX) {
            continue;
        }
        let mut file = File::open(&path)?;
        // who writes it holds the lock
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let mut text = String::new();
            file.read_to_string(&mut text)?;
            // a torn last line was never acknowledged, and what it notes was not done
            let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
            let there = lines.filter(|line| line.boot == now || line.change.is_on_disk());
            let changes = there.map(|line| line.change).collect();
            found.push(Abandoned { path, changes, _file: file });
        }
    }
    Ok(found)
}
