//! The file of one thread, and the thread's I/O to it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use device::content::Filler;
use record::{Content, Direction, Pattern};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use stats::Random;
use suite::offsets::Permutation;

use super::turns::{Turns, WorkerEnd};
use super::{Form, Phase, Signals};
use crate::workload::ledger::sys;

/// Alignment in bytes that direct I/O needs at most.
const ALIGNMENT: usize = 4096;
/// Bytes of one write while nothing is measured.
const LAYING_BYTES: u64 = 1 << 20;

/// A thread's file, open.
pub(super) struct Worker {
    file: File,
    thread: u32,
    /// True if it goes past the page cache.
    pub direct: bool,
    block_bytes: u64,
    content: Content,
    buffer: Aligned,
    filler: Filler,
}

/// Bytes that begin at a multiple of [`ALIGNMENT`].
struct Aligned {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Aligned {
        let bytes = vec![0; length + ALIGNMENT];
        let from = bytes.as_ptr().align_offset(ALIGNMENT);
        Aligned { bytes, from, length }
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }
}

impl Worker {
    /// Opens or makes a file, past the page cache if its file system allows that.
    pub fn open(
        path: &Path,
        content: Content,
        block_bytes: u64,
        thread: u32,
    ) -> io::Result<Worker> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let (file, direct) = match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) => (rustix::fs::open(path, flags, mode), false),
            opened => (opened, true),
        };
        let (file, buffer) =
            (File::from(sys(file)?), Aligned::new(LAYING_BYTES.max(block_bytes) as usize));
        Ok(Worker {
            file,
            thread,
            direct,
            block_bytes,
            content,
            buffer,
            filler: Filler::new(u64::from(thread)),
        })
    }

    /// Writes the next piece that the file lacks of `size_bytes`; true if it is complete.
    pub fn lay_piece(&mut self, size_bytes: u64) -> io::Result<bool> {
        let at = self.file.metadata()?.len() / self.block_bytes * self.block_bytes;
        if at >= size_bytes {
            return Ok(true);
        }
        let piece = (LAYING_BYTES / self.block_bytes * self.block_bytes).max(self.block_bytes);
        let buffer = &mut self.buffer.get()[..piece.min(size_bytes - at) as usize];
        self.filler.fill(buffer, self.content, 0, at);
        self.file.write_all_at(buffer, at)?;
        Ok(false)
    }

    /// Runs one phase, from the common start on.
    pub fn run(
        mut self,
        form: Form,
        phase: &Phase,
        seed: u64,
        limit_ns: u64,
        signals: &Signals,
    ) -> io::Result<WorkerEnd> {
        let records = form.size_bytes / self.block_bytes;
        let mut random = Random::for_purpose(seed, &format!("thread {}", self.thread));
        let order =
            (phase.pattern == Pattern::Permutation).then(|| Permutation::new(records, &mut random));
        self.buffer.length = self.block_bytes as usize;
        self.filler.fill(self.buffer.get(), self.content, 1, 0);
        let block_bytes = self.block_bytes;
        let turns = Turns { form, phase, block_bytes, order, limit_ns, signals };
        signals.begin.wait();
        let end = turns.run(|place| self.transfer(phase.direction, place));
        signals.stonewall.store(true, Ordering::Relaxed);
        if end.is_err() {
            signals.give_up.store(true, Ordering::Relaxed);
        }
        signals.finished.fetch_add(1, Ordering::Relaxed);
        end
    }

    #[inline]
    fn transfer(&mut self, direction: Direction, at: u64) -> io::Result<()> {
        match direction {
            Direction::Write => {
                if !self.content.is_same_everywhere() {
                    self.filler.fill(self.buffer.get(), self.content, 1, at);
                }
                let Worker { file, buffer, .. } = self;
                file.write_all_at(buffer.get(), at)
            }
            Direction::Read => {
                let Worker { file, buffer, .. } = self;
                file.read_exact_at(buffer.get(), at)
            }
        }
    }
}
