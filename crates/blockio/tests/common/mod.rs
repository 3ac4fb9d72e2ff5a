//! Loop devices and small file systems, removed when dropped.

#[path = "../../../../tests/skipped.rs"]
mod skipped;
pub use skipped::skipped as skip;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a program; returns its output if it succeeded.
fn output_of(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Tries again while something is refused, for at most so many seconds: a program that another test
/// has just started inherits open files of this one for a moment.
pub fn patiently<T>(seconds: u64, mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    for _ in 0..seconds * 50 {
        let done = attempt();
        if done.is_some() {
            return done;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    attempt()
}

/// A loop device over a sparse file.
pub struct LoopDevice {
    path: PathBuf,
    backing: File,
    _dir: TempDir,
    attached: std::cell::Cell<bool>,
}

impl LoopDevice {
    /// `None` without root rights.
    pub fn new(bytes: u64) -> Option<LoopDevice> {
        if !is_root() {
            return None;
        }
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
        let image = dir.path().join("image");
        let backing = File::options().read(true).write(true).create_new(true).open(&image).ok()?;
        backing.set_len(bytes).ok()?;
        let path = output_of("losetup", &["--find", "--show", "--direct-io=on", image.to_str()?])?;
        Some(LoopDevice { path: path.into(), backing, _dir: dir, attached: true.into() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn backing(&self) -> &File {
        &self.backing
    }

    /// Makes the medium larger or smaller while others have it open.
    pub fn resize(&self, bytes: u64) {
        self.backing.set_len(bytes).unwrap();
        let path = self.path.to_str().unwrap();
        output_of("losetup", &["--set-capacity", path]).expect("the kernel takes the new size");
    }

    /// Detaches it, once; the device disappears when nobody has it open.
    pub fn detach(&self) {
        if self.attached.replace(false) {
            let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.detach();
    }
}

/// A mounted ext4.
pub struct TinyFilesystem {
    dir: TempDir,
    medium: LoopDevice,
}

impl TinyFilesystem {
    /// `None` where it cannot be made or mounted.
    pub fn new(bytes: u64) -> Option<TinyFilesystem> {
        let medium = LoopDevice::new(bytes)?;
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).ok()?;
        output_of("mkfs.ext4", &["-q", medium.path().to_str()?])?;
        output_of("mount", &[medium.path().to_str()?, dir.path().to_str()?])?;
        Some(TinyFilesystem { dir, medium })
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Blocks all writes until the value is dropped.
    pub fn freeze(&self) -> Option<Frozen<'_>> {
        output_of("fsfreeze", &["--freeze", self.dir().to_str()?])?;
        Some(Frozen(self))
    }

    pub fn device(&self) -> &Path {
        self.medium.path()
    }
}

/// A file system in which every write waits.
pub struct Frozen<'a>(&'a TinyFilesystem);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = Command::new("fsfreeze").arg("--unfreeze").arg(self.0.dir()).status();
    }
}

impl Drop for TinyFilesystem {
    fn drop(&mut self) {
        patiently(10, || output_of("umount", &[self.dir.path().to_str()?]));
    }
}
