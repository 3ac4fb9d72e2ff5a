//! The files of all sources, and polls that update them: the writes of an update are here, what is
//! written is worked out in `file.rs`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};
use stats::Random;

use super::file::{RowWrite, Shape, State};
use crate::workload::WorkError;
use crate::workload::ledger::Ledger;
use crate::workload::run::WorkloadRun;

/// Files lie in folders of this many, as monitoring servers keep theirs by host.
const FILES_PER_FOLDER: u64 = 64;
/// When the files are made: a midnight, so that the sixth poll is the first in which rows of half
/// an hour are due.
const BEGUN_S: u64 = 1_700_006_400;
/// A server reaches its sources some seconds into the interval.
const DELAY_S: u64 = 7;

/// All files, and what waits to go into them.
pub(super) struct Polls {
    shape: Shape,
    files: Vec<(PathBuf, State)>,
    /// Readings of polls that are not in the files yet: time, then a value for each source of each
    /// file.
    waiting: Vec<(u64, Vec<u64>)>,
    random: Random,
    next_s: u64,
}

impl Polls {
    /// The files, not made yet.
    pub fn new(shape: &Shape, files: u64, run: &WorkloadRun<'_, '_>) -> Polls {
        let mut random = run.random("files");
        let state = |random: &mut Random| State::created(shape, BEGUN_S, |rows| random.below(rows));
        let path = |file: u64| {
            run.path(&format!("host-{}", file / FILES_PER_FOLDER))
                .join(format!("source-{file}.rrd"))
        };
        let files = (0..files).map(|file| (path(file), state(&mut random))).collect();
        Polls {
            shape: shape.clone(),
            files,
            waiting: Vec::new(),
            random,
            next_s: BEGUN_S + shape.step_s + DELAY_S,
        }
    }

    /// Makes the files and their folders, through the page cache.
    pub fn make_files(&self, run: &mut WorkloadRun<'_, '_>) -> Result<(), WorkError> {
        for (number, (path, state)) in self.files.iter().enumerate() {
            if let Some(folder) =
                path.parent().filter(|_| (number as u64).is_multiple_of(FILES_PER_FOLDER))
            {
                run.check("making a directory", std::fs::create_dir(folder))?;
            }
            let made = File::create_new(path)
                .and_then(|mut file| file.write_all(&state.image(&self.shape)));
            run.check("making the files", made)?;
            run.checkpoint("making files", 0.0, number as u64)?;
        }
        Ok(())
    }

    /// A reading of every source; the next poll comes a step later.
    pub fn read_sources(&mut self, files: u64) -> (u64, Vec<u64>) {
        let at_s = self.next_s;
        self.next_s += self.shape.step_s;
        let readings = (0..files * self.shape.sources.len() as u64)
            .map(|_| self.random.below(1_000_000_000))
            .collect();
        (at_s, readings)
    }

    /// The lines in which a caching daemon keeps a poll's readings.
    pub fn journal_lines(&self, (at_s, readings): &(u64, Vec<u64>)) -> Vec<u8> {
        let mut lines = Vec::new();
        for ((path, _), values) in self.files.iter().zip(readings.chunks(self.shape.sources.len()))
        {
            lines.extend(format!("update {} {at_s}", path.display()).bytes());
            values.iter().for_each(|value| lines.extend(format!(":{value}").bytes()));
            lines.push(b'\n');
        }
        lines
    }

    /// Readings that are to go into the files.
    pub fn wait(&mut self, readings: (u64, Vec<u64>)) {
        self.waiting.push(readings);
    }

    /// What waited is in the files.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Takes what waits into a file's head; the rows that become due: where, and what.
    pub fn due(&mut self, file: u64) -> Vec<RowWrite> {
        let sources = self.shape.sources.len();
        let state = &mut self.files[file as usize].1;
        let mut rows = Vec::new();
        for (at_s, readings) in &self.waiting {
            let readings: Vec<Option<u64>> =
                readings[file as usize * sources..][..sources].iter().copied().map(Some).collect();
            rows.extend(state.update(&self.shape, *at_s, &readings));
        }
        rows
    }

    /// Brings what waits for a file into it, as one update; writes and bytes.
    pub fn update(
        &mut self,
        file: u64,
        run: &WorkloadRun<'_, '_>,
        ledger: &mut Ledger,
    ) -> Result<(u64, u64), WorkError> {
        let rows = self.due(file);
        let (path, state) = &self.files[file as usize];
        let live = state.live();
        let written = ledger.time(0, || write_update(path, &self.shape, &live, &rows));
        run.check("updating a file", written)
    }
}

/// Writes an update as rrdtool does without memory maps: opens and locks the file, reads its head,
/// writes each value of each row that is due, then the four parts of the head that change. Writes
/// and bytes.
pub(super) fn write_update(
    path: &Path,
    shape: &Shape,
    live: &[u8],
    rows: &[RowWrite],
) -> io::Result<(u64, u64)> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    // Not every file system has locks; rrdtool fails there, but the writes are what counts here.
    let _ = fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive);
    let mut head = vec![0; shape.header_bytes() as usize];
    file.read_exact_at(&mut head, 0)?;
    let (mut writes, mut bytes) = (0, 0);
    let mut write = |at: u64, data: &[u8]| {
        (writes, bytes) = (writes + 1, bytes + data.len() as u64);
        file.write_all_at(data, at)
    };
    for row in rows {
        for (number, value) in row.values.chunks(8).enumerate() {
            write(row.offset_bytes + 8 * number as u64, value)?;
        }
    }
    let (mut at, mut rest) = (shape.live_offset(), live);
    for length in shape.live_pieces() {
        let (piece, after) = rest.split_at(length as usize);
        write(at, piece)?;
        (at, rest) = (at + length, after);
    }
    Ok((writes, bytes))
}
