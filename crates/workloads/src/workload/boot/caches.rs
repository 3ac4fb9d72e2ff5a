//! Empties the host's caches, so that a boot begins with none.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use crate::workload::ledger::sys;

/// Drops the pages of these files from the page cache; the files must be durable. Needs no rights.
pub(super) fn forget<'a>(files: impl Iterator<Item = &'a Path>) -> io::Result<()> {
    for path in files {
        sys(fadvise(File::open(path)?, 0, None, Advice::DontNeed))?;
    }
    Ok(())
}

/// Drops all pages, directories and inodes of the whole machine from its caches; false if that is
/// not allowed.
pub(super) fn drop_all_caches() -> bool {
    std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}
