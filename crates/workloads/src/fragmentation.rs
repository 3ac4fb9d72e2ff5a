//! Fragmentation of the files of a work, and its cost.
//!
//! Extents are counted by FIEMAP, which not every file system answers. The cost compares
//! reading the files with reading the same bytes from a copy on the same file system, written in
//! one go right after.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use device::{Device as _, Request, do_io};

use crate::workload::open;

/// Most files that are looked at one by one.
const MAX_FILES: usize = 20_000;
/// Most bytes on which the cost is measured.
const MAX_READ_BYTES: u64 = 16 << 20;
/// Bytes of one read.
const READ_BYTES: u64 = 128 << 10;

/// Extents of the files of a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fragmentation {
    /// Files that have blocks.
    pub files: u64,
    /// Extents of these files together.
    pub extents: u64,
    /// Lengths of these files together, in bytes.
    pub bytes: u64,
    /// Files whose extents the file system does not report.
    pub unknown: u64,
}

impl Fragmentation {
    /// Counts all files below a directory, the first 20 000 that are found.
    pub fn of(directory: &Path, count: fn(&Path) -> io::Result<u64>) -> Fragmentation {
        let mut found = Fragmentation::default();
        for (path, bytes) in files_below(directory) {
            match count(&path) {
                // Files so small that they lie in their inode have none.
                Ok(0) => {}
                Ok(extents) => {
                    found.files += 1;
                    found.extents += extents;
                    found.bytes += bytes;
                }
                Err(_) => found.unknown += 1,
            }
        }
        found
    }

    /// Extents per file; `None` if there are no files or no extents are known.
    pub fn extents_per_file(&self) -> Option<f64> {
        (self.files > 0).then(|| self.extents as f64 / self.files as f64)
    }
}

/// Regular files with their sizes, links not followed.
fn files_below(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if metadata.is_file() && found.len() < MAX_FILES {
                found.push((entry.path(), metadata.len()));
            }
        }
    }
    found
}

/// Ratio of the times for reading the largest files below a directory and a copy of them that was
/// written in one go; at most 16 MiB are read. `None` if there is nothing to read or a read fails:
/// the result of the work counts without it.
pub fn cost(directory: &Path) -> Option<f64> {
    let mut files = files_below(directory);
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let (mut as_they_lie_ns, mut in_one_go_ns, mut left) = (0, 0, MAX_READ_BYTES);
    let copy = directory.join("flashmark-copy");
    for (path, bytes) in files {
        let bytes = bytes.min(left) / 4096 * 4096;
        if bytes == 0 {
            break;
        }
        left -= bytes;
        let timed = copied(&path, &copy, bytes)
            .ok()
            .and_then(|()| Some((read_ns(&path, bytes)?, read_ns(&copy, bytes)?)));
        let _ = fs::remove_file(&copy);
        let (lies, one_go) = timed?;
        as_they_lie_ns += lies;
        in_one_go_ns += one_go;
    }
    (in_one_go_ns > 0).then(|| as_they_lie_ns as f64 / in_one_go_ns as f64)
}

/// Copies the beginning of a file and makes the copy durable.
fn copied(from: &Path, to: &Path, bytes: u64) -> io::Result<()> {
    use io::{Read, Write};
    let mut content = Vec::with_capacity(bytes as usize);
    fs::File::open(from)?.take(bytes).read_to_end(&mut content)?;
    let mut file = fs::File::create_new(to)?;
    file.write_all(&content)?;
    file.sync_all()
}

/// Reads the beginning of a file sequentially, past the page cache; returns nanoseconds by the
/// device's clock.
fn read_ns(path: &Path, bytes: u64) -> Option<u64> {
    let mut device = open("fragmentation", path, bytes).ok()?;
    device.prepare(1, READ_BYTES as usize).ok()?;
    let (mut taken, mut at) = (0, 0);
    while at < bytes {
        let length = READ_BYTES.min(bytes - at);
        taken += do_io(&mut device, Request::read(0, at, length)).ok()?.latency_ns();
        at += length;
    }
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_counted_below_folders_and_silence_is_no_number() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        for (name, bytes) in [("a", 8192), ("sub/b", 4096), ("inline", 3)] {
            fs::write(dir.path().join(name), vec![1; bytes]).unwrap();
        }
        let extents_of = |path: &Path| Ok(if path.ends_with("inline") { 0 } else { 3 });
        let found = Fragmentation::of(dir.path(), extents_of);
        assert_eq!(found, Fragmentation { files: 2, extents: 6, bytes: 12288, unknown: 0 });
        assert_eq!(found.extents_per_file(), Some(3.0));
        let silent = Fragmentation::of(dir.path(), |_| Err(io::Error::other("not supported")));
        assert_eq!((silent.extents_per_file(), silent.unknown), (None, 3));
    }
}
