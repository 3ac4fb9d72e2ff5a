//! The files of all sources, and polls that update them: the calls of an update are here, the
//! places that it writes are worked out in `file.rs`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};
use stats::Random;

use super::Account;
use super::file::{CurrentRows, Shape, VALUE};
use crate::workload::WorkError;
use crate::workload::run::WorkloadRun;

/// Files lie in folders of this many, as monitoring servers keep theirs by host.
const FILES_PER_FOLDER: u64 = 64;
/// When the files are made: a midnight, so that the sixth poll is the first in which rows of half
/// an hour are due.
const BEGUN_S: u64 = 1_700_006_400;
/// A server reaches its sources some seconds into the interval.
const DELAY_S: u64 = 7;
/// rrdtool's "unknown", of which a new file is full. Zeros would not do: some media and file systems
/// treat them in a way of their own.
const UNKNOWN: [u8; VALUE as usize] = 0xfff8_0000_0000_0000_u64.to_le_bytes();

/// All files, and what waits to go into them.
pub(super) struct Polls {
    pub shape: Shape,
    files: Vec<(PathBuf, CurrentRows)>,
    /// Times of the polls whose readings are not in the files yet.
    waiting: Vec<u64>,
    random: Random,
    next_s: u64,
}

impl Polls {
    /// The files, not made yet.
    pub fn new(shape: Shape, files: u64, run: &WorkloadRun<'_, '_>) -> Polls {
        let mut random = run.random("files");
        let path = |file: u64| {
            run.path(&format!("host-{}", file / FILES_PER_FOLDER))
                .join(format!("source-{file}.rrd"))
        };
        let files = (0..files)
            .map(|file| (path(file), CurrentRows::drawn(&shape, |rows| random.below(rows))))
            .collect();
        let next_s = BEGUN_S + shape.step_s + DELAY_S;
        Polls { shape, files, waiting: Vec::new(), random, next_s }
    }

    /// Makes the files and their folders, through the page cache.
    pub fn make_files(&self, run: &mut WorkloadRun<'_, '_>) -> Result<(), WorkError> {
        let image = UNKNOWN.repeat((self.shape.file_bytes() / VALUE) as usize);
        for (number, (path, _)) in self.files.iter().enumerate() {
            if let Some(folder) =
                path.parent().filter(|_| (number as u64).is_multiple_of(FILES_PER_FOLDER))
            {
                run.check("making a directory", std::fs::create_dir(folder))?;
            }
            let made = File::create_new(path).and_then(|mut file| file.write_all(&image));
            run.check("making the files", made)?;
            run.checkpoint("making files", 0.0, number as u64)?;
        }
        Ok(())
    }

    /// Reads every source: the readings wait until they go into the files. The next poll comes a
    /// step later.
    pub fn read_sources(&mut self) {
        self.waiting.push(self.next_s);
        self.next_s += self.shape.step_s;
    }

    /// The lines in which a caching daemon keeps the readings of the last poll.
    pub fn journal_lines(&mut self) -> Vec<u8> {
        let mut lines = Vec::new();
        let at_s = self.next_s - self.shape.step_s;
        for (path, _) in &self.files {
            lines.extend(format!("update {} {at_s}", path.display()).bytes());
            for _ in 0..self.shape.sources {
                lines.extend(format!(":{}", self.random.below(1_000_000_000)).bytes());
            }
            lines.push(b'\n');
        }
        lines
    }

    /// What waited is in the files.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Takes what waits for a file; the bytes at which the rows that become due begin.
    pub fn due(&mut self, file: u64) -> Vec<u64> {
        let current = &mut self.files[file as usize].1;
        self.waiting.iter().flat_map(|at_s| current.update(&self.shape, *at_s)).collect()
    }

    /// Brings what waits for a file into it, as one update.
    pub fn update(
        &mut self,
        file: u64,
        run: &WorkloadRun<'_, '_>,
        account: &mut Account,
    ) -> Result<(), WorkError> {
        let rows = self.due(file);
        let path = &self.files[file as usize].0;
        let update = || write_update(path, &self.shape, &rows, self.next_s);
        let (writes, bytes) = run.check("updating a file", account.ledger.time(0, update))?;
        account.wrote(writes, bytes);
        Ok(())
    }
}

/// Writes an update as rrdtool does without memory maps: opens and locks the file, reads its head,
/// writes each value of each row that is due, then the four parts of the head that change. Writes
/// and bytes. What is written is `value` again and again: another one each time, so that no medium
/// and no file system can find that nothing changed.
fn write_update(path: &Path, shape: &Shape, rows: &[u64], value: u64) -> io::Result<(u64, u64)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // Not every file system has locks; rrdtool fails there, but the writes are what counts here.
    let _ = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    let mut head = vec![0; shape.header_bytes() as usize];
    file.read_exact_at(&mut head, 0)?;
    let (mut writes, mut bytes) = (0, 0);
    let mut write = |at: u64, length: u64| {
        (writes, bytes) = (writes + 1, bytes + length);
        file.write_all_at(&value.to_le_bytes().repeat((length / VALUE) as usize), at)
    };
    for row in rows {
        for number in 0..shape.sources {
            write(row + number * VALUE, VALUE)?;
        }
    }
    let mut at = shape.live_offset();
    for length in shape.live_pieces() {
        write(at, length)?;
        at += length;
    }
    Ok((writes, bytes))
}
