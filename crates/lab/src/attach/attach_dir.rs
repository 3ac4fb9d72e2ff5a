//! Private directory of an attached medium: its mount point, and a lock held while its server runs.
//!
//! The kernel frees the lock however the server ends. So what a killed server left behind is told
//! from a medium in use, and cleaned up.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use host::loopdev;
use rustix::fs::{FlockOperation, flock};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::queue;

/// Variable that names the directory in which media are attached; media attached elsewhere are not
/// seen.
const VARIABLE: &str = "FLASHMARK_RUN_DIR";

/// Default directory of attached media: emptied when the system starts, as the media end then.
const USUAL: &str = "/run/flashmark";

/// The one file of each mounted file system.
pub const FILE: &str = "medium";

const LOCK: &str = "lock";

/// Place of a medium that this process is attaching.
#[derive(Debug)]
pub struct AttachDir {
    place: AttachedMedium,
    /// Lock, held while this process runs.
    _lock: File,
}

/// The place of an attached medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedMedium {
    directory: PathBuf,
}

impl AttachDir {
    /// Makes a place for a medium of this name.
    pub fn make(name: &str, in_background: bool) -> Result<AttachDir> {
        let root = root()?;
        let _turn = turn(&root)?;
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let place =
            AttachedMedium { directory: root.join(format!("{name}-{}", std::process::id())) };
        private_directory(&place.directory)
            .with_context(|| format!("cannot make {}", place.directory.display()))?;
        let lock = lock_file(&place.lock_path(), in_background)
            .with_context(|| format!("cannot lock {}", place.lock_path().display()))?;
        Ok(AttachDir { place, _lock: lock })
    }

    /// Mount point of the file system.
    pub fn mount_point(&self) -> &Path {
        &self.place.directory
    }

    /// The one file of the mounted file system; the loop device is over it.
    pub fn file(&self) -> PathBuf {
        self.place.file()
    }
}

impl Drop for AttachDir {
    fn drop(&mut self) {
        // What cannot be removed now is found by the next one who attaches or detaches.
        let _ = self.place.remove();
    }
}

impl AttachedMedium {
    /// All places where a medium is attached, or was attached by a server that was killed.
    pub fn all() -> Result<Vec<AttachedMedium>> {
        let root = root()?;
        let entries =
            fs::read_dir(&root).with_context(|| format!("cannot read {}", root.display()))?;
        let files = entries.flatten().map(|entry| entry.path());
        let locks = files.filter(|path| path.extension().is_some_and(|end| end == LOCK));
        let mut places: Vec<AttachedMedium> =
            locks.map(|lock| AttachedMedium { directory: lock.with_extension("") }).collect();
        places.sort_by(|a, b| a.directory.cmp(&b.directory));
        Ok(places)
    }

    /// Cleans up after killed servers; returns an error for each place that could not be removed.
    pub fn clean_up() -> Result<Vec<anyhow::Error>> {
        let _turn = turn(&root()?)?;
        let dead = AttachedMedium::all()?.into_iter().filter(|place| !place.is_served());
        Ok(dead.filter_map(|place| place.remove().err()).collect())
    }

    /// Loop devices over its file; usually one.
    pub fn nodes(&self) -> Vec<PathBuf> {
        loopdev::over(&self.file())
    }

    /// True if its server is running.
    pub fn is_served(&self) -> bool {
        // A lock that cannot be opened is not ours to judge.
        File::open(self.lock_path())
            .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared).is_err())
    }

    /// Process and user that attached it; `None` if the lock file does not say.
    pub fn owner(&self) -> Option<Owner> {
        serde_json::from_slice(&fs::read(self.lock_path()).ok()?).ok()
    }

    /// True if this user may end it without naming it: the user attached it in the background, or
    /// its server was killed. A medium served in the foreground belongs to whoever sits at that
    /// terminal.
    pub fn is_ours(&self) -> bool {
        !self.is_served()
            || self.owner().is_none_or(|owner| owner.in_background && owner.user == user())
    }

    /// Asks its server to end.
    pub fn ask_to_end(&self) -> Result<()> {
        let server = self
            .owner()
            .and_then(|owner| Pid::from_raw(owner.server))
            .context("its server's number is not known")?;
        // Only while it holds the lock does the number stand for it.
        ensure!(self.is_served(), "its server has just ended");
        kill_process(server, Signal::TERM).context("its server cannot be asked to end")
    }

    /// Its directory, as text.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn file(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Undoes everything, from the top down.
    fn remove(&self) -> Result<()> {
        for node in self.nodes() {
            queue::restore(&node);
        }
        loopdev::detach_over(&self.file())?;
        // Lazily: the loop device may have a user to whom it clings. Nothing is mounted where that
        // was already done.
        let _ = unmount(&self.directory, UnmountFlags::DETACH);
        absent_is_fine(fs::remove_dir(&self.directory))
            .with_context(|| format!("cannot remove {}", self.directory.display()))?;
        absent_is_fine(fs::remove_file(self.lock_path()))
            .with_context(|| format!("cannot remove {}", self.lock_path().display()))
    }

    fn lock_path(&self) -> PathBuf {
        let mut name = self.directory.clone().into_os_string();
        name.push(".");
        name.push(LOCK);
        name.into()
    }
}

/// Directory of all places, made if it is missing. It must belong to root: what is found in it is
/// unmounted and removed.
fn root() -> Result<PathBuf> {
    let root = std::env::var_os(VARIABLE)
        .filter(|name| !name.is_empty())
        .map_or_else(|| PathBuf::from(USUAL), PathBuf::from);
    private_directory(&root).with_context(|| format!("cannot make {}", root.display()))?;
    let root = fs::canonicalize(&root)?;
    let metadata = fs::metadata(&root)?;
    let private =
        metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
    ensure!(
        private,
        "{} can be written by others; set {VARIABLE} to a directory of your own",
        root.display()
    );
    Ok(root)
}

/// Lock held while a place is made or removed, so that nobody takes a half-made place for a
/// leftover.
fn turn(root: &Path) -> Result<File> {
    let file = File::open(root)?;
    flock(&file, FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Process and user that attached a medium, as its lock file says in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Number of the process that serves it.
    pub server: i32,
    /// Number of the user.
    pub user: u32,
    /// True if it was started with --background.
    pub in_background: bool,
}

impl Owner {
    /// Server of the medium, for messages: "process 4711 of user 1000 serves it".
    pub fn words(&self) -> String {
        let how = if self.in_background { "" } else { " in the foreground" };
        format!("process {} of user {} serves it{how}", self.server, self.user)
    }
}

/// Number of the user behind this process: the one who called sudo, if sudo made it root.
fn user() -> u32 {
    let called = std::env::var("SUDO_UID").ok().and_then(|user| user.parse().ok());
    called.unwrap_or_else(|| rustix::process::getuid().as_raw())
}

/// Makes a file that names this process, locked while the process runs.
fn lock_file(path: &Path, in_background: bool) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    let server = std::process::id().cast_signed();
    serde_json::to_writer(&mut file, &Owner { server, user: user(), in_background })?;
    Ok(file)
}

fn private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn absent_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
