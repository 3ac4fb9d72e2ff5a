//! File systems in memory, for tests of what is mounted.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A file system in memory that is mounted here until it is dropped.
pub struct Tmpfs(PathBuf);

impl Tmpfs {
    /// `None` if nothing may be mounted here.
    pub fn mounted(source: &str, at: &Path, options: &str) -> Option<Tmpfs> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, source]).arg(at);
        mount.status().is_ok_and(|status| status.success()).then(|| Tmpfs(at.to_path_buf()))
    }
}

impl Drop for Tmpfs {
    /// A program that a test beside this one starts holds what is open here for a moment.
    fn drop(&mut self) {
        let leaves = || Command::new("umount").arg(&self.0).status().is_ok_and(|it| it.success());
        let has_left = (0..100).any(|_| {
            leaves() || {
                std::thread::sleep(std::time::Duration::from_millis(100));
                false
            }
        });
        assert!(has_left, "{} stays mounted", self.0.display());
    }
}
