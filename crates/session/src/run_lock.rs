//! Lock of a run, with a warning if its file system has no locks.

use store::{Lock, LockError, RunDir};

/// Takes the lock of a run. If the file system has no locks, prints a warning and goes on.
pub fn take(dir: &RunDir) -> Result<Lock, LockError> {
    let lock = dir.lock()?;
    if !lock.is_held() {
        program::say!(
            "flashmark: '{}' is on a file system without file locks: run no second flashmark on this run; FLASHMARK_HOME names another place for results",
            dir.path().display()
        );
    }
    Ok(lock)
}
