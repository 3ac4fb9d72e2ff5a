//! Test of the mount of a path, as the kernel reports it.

use std::path::{Path, PathBuf};
use std::process::Command;

use flashmark_host::{Roots, mount_of, mounts};

use crate::refusals::skipped;

/// A file system in memory that is mounted here until it is dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mounted(name: &str, at: &Path) -> Option<Tmpfs> {
        let done = Command::new("mount").args(["-t", "tmpfs", name]).arg(at).status();
        done.is_ok_and(|status| status.success()).then(|| Tmpfs(at.to_path_buf()))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// The deepest mount point is not the answer if a later mount hides it.
#[test]
fn a_path_is_not_on_a_mount_that_a_later_one_hides() {
    let dir = tempfile::tempdir().unwrap();
    let (outer, inner) = (dir.path().join("outer"), dir.path().join("outer/inner"));
    std::fs::create_dir_all(&inner).unwrap();
    let Some(_hidden) = Tmpfs::mounted("hidden", &inner) else {
        return skipped("mounting needs root");
    };
    let later = Tmpfs::mounted("later", &outer).expect("the first mount worked");
    std::fs::create_dir(&inner).unwrap();
    let source = || {
        let (roots, inner) = (Roots::default(), std::fs::canonicalize(&inner).unwrap());
        mount_of(&roots, &mounts(&roots), &inner).unwrap().source.clone()
    };
    assert_eq!(source(), "later");
    drop(later);
    assert_eq!(source(), "hidden");
}
