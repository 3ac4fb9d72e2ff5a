//! Emptying the host's caches, so that a boot begins cold.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::workload::ledger::sys;

/// Forgets the pages of these files, which must be durable. Needs no rights.
pub(super) fn forget<'a>(files: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    for path in files {
        sys(fadvise(File::open(path)?, 0, None, Advice::DontNeed))?;
    }
    Ok(())
}

/// Forgets directories and inodes too, of the whole machine; `false` where that is not allowed.
pub(super) fn forget_everything() -> bool {
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}
