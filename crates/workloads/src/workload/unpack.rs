//! Makes a tree on the file system, entry by entry.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use device::content::DataGenerator;
use record::Content;
use rustix::io::Errno;

use super::WorkError;
use super::clock::now_ns;
use super::ledger::{Ledger, sys};
use super::run::WorkloadRun;
use super::tree::TreeEntry;

/// Largest write in bytes, so that an interruption is noticed; tar's own are 10 KiB, cp's 128 KiB.
const PIECE_BYTES: usize = 128 << 10;

/// Makes the entries of a tree.
pub(super) struct Unpacker {
    generator: DataGenerator,
    content: Content,
    piece: Vec<u8>,
    /// True to make every file durable before the next one, as package managers do.
    sync_each: bool,
    /// Number of symbolic links that the file system does not support (vfat, exfat) and that are
    /// left out, as tar does.
    pub links_left_out: u64,
}

impl Unpacker {
    /// Unpacker for files of this content, drawn from the seed.
    pub fn new(seed: u64, content: Content, sync_each: bool) -> Unpacker {
        Unpacker {
            generator: DataGenerator::new(seed),
            content,
            piece: vec![0; PIECE_BYTES],
            sync_each,
            links_left_out: 0,
        }
    }

    /// Makes one entry below `top` and counts it as one step. Making the data does not count.
    pub fn make(
        &mut self,
        top: &Path,
        entry: &TreeEntry,
        number: usize,
        run: &WorkloadRun<'_, '_>,
        ledger: &mut Ledger,
    ) -> Result<(), WorkError> {
        match entry {
            TreeEntry::Directory(path) => {
                run.check("making a directory", ledger.time(0, || fs::create_dir(top.join(path))))
            }
            TreeEntry::Link(path, target) => {
                match ledger.time(0, || sys(rustix::fs::symlink(target, top.join(path)))) {
                    Err(error)
                        if matches!(
                            Errno::from_io_error(&error),
                            Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS)
                        ) =>
                    {
                        self.links_left_out += 1;
                        Ok(())
                    }
                    made => run.check("making a link", made),
                }
            }
            TreeEntry::File(path, bytes) => self.file(&top.join(path), *bytes, number, run, ledger),
        }
    }

    fn file(
        &mut self,
        path: &Path,
        bytes: u64,
        number: usize,
        run: &WorkloadRun<'_, '_>,
        ledger: &mut Ledger,
    ) -> Result<(), WorkError> {
        let begun_ns = now_ns();
        let mut away_ns = 0;
        let mut file = run.check("making a file", File::create_new(path))?;
        let mut at = 0;
        while at < bytes {
            run.go_on()?;
            let length = (bytes - at).min(PIECE_BYTES as u64);
            let before_ns = now_ns();
            let piece = &mut self.piece[..(length as usize).next_multiple_of(512)];
            // The file's number as pass: no two files hold the same.
            self.generator.fill(piece, self.content, number as u32, at);
            away_ns += now_ns() - before_ns;
            run.check("writing a file", file.write_all(&piece[..length as usize]))?;
            at += length;
        }
        if self.sync_each {
            run.check("making a file durable", sys(rustix::fs::fsync(&file)))?;
        }
        drop(file);
        ledger.count(begun_ns + away_ns, now_ns(), bytes);
        Ok(())
    }
}
