//! The right to write to a run, with a warning where its file system knows no locks.

use store::{Lock, LockError, RunDir};

/// Takes the lock of a run. Goes on where the file system knows none, and says so.
pub fn take(dir: &RunDir) -> Result<Lock, LockError> {
    let lock = dir.lock()?;
    if !lock.is_held() {
        crate::say!(
            "flashmark: '{}' is on a file system without file locks: run no second flashmark on this run; FLASHMARK_HOME names another place for results",
            dir.path().display()
        );
    }
    Ok(lock)
}
