//! One thread's file, and what the thread does to it.

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

use super::{Form, Phase, Signals};
use crate::workload::clock::now_ns;
use crate::workload::ledger::{Ledger, sys};

/// What direct I/O asks of the buffer's place in memory, at most.
const ALIGNMENT: usize = 4096;
/// What is written at once where nothing is measured.
const LAYING_BYTES: u64 = 1 << 20;

/// A thread's file, open.
pub(super) struct Lane {
    file: File,
    thread: u32,
    /// Whether it goes past the page cache.
    pub direct: bool,
    block_bytes: u64,
    content: Content,
    buffer: Aligned,
    filler: Filler,
}

/// What a thread came to, up to the stonewall.
#[derive(Default)]
pub(super) struct LaneEnd {
    /// Every I/O that counts.
    pub ledger: Ledger,
    /// I/Os that count: all, or in iozone's form those begun before the stonewall.
    pub ops: u64,
    /// From the common start to the last of them.
    pub elapsed_ns: u64,
    /// All bytes, counted or not.
    pub moved_bytes: u64,
    /// It was the time that ended it.
    pub timed_out: bool,
}

impl LaneEnd {
    /// I/Os a second by the clock on the wall, as iozone counts.
    pub fn iops(&self) -> f64 {
        self.ops as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    /// Its 95 % interval.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let busy = self.ledger.tally.rate.estimate()?;
        Some([busy.ci95.low, busy.ci95.high].map(|end| end / busy.per_second * self.iops()))
    }
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

impl Lane {
    /// Opens or makes a file, past the page cache if its file system lets it.
    pub fn open(path: &Path, content: Content, block_bytes: u64, thread: u32) -> io::Result<Lane> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let (file, direct) = match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
            Err(Errno::INVAL | Errno::OPNOTSUPP) => (rustix::fs::open(path, flags, mode), false),
            opened => (opened, true),
        };
        let (file, buffer) =
            (File::from(sys(file)?), Aligned::new(LAYING_BYTES.max(block_bytes) as usize));
        Ok(Lane {
            file,
            thread,
            direct,
            block_bytes,
            content,
            buffer,
            filler: Filler::new(u64::from(thread)),
        })
    }

    /// Writes the next piece of what the file lacks of `size_bytes`; `true` when it lacks nothing.
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

    /// Does one phase, from the common start on.
    pub fn run(
        mut self,
        form: Form,
        phase: &Phase,
        seed: u64,
        limit_ns: u64,
        signals: &Signals,
    ) -> io::Result<LaneEnd> {
        let records = form.size_bytes / self.block_bytes;
        let mut random = Random::for_purpose(seed, &format!("thread {}", self.thread));
        let order =
            (phase.pattern == Pattern::Permutation).then(|| Permutation::new(records, &mut random));
        self.buffer.length = self.block_bytes as usize;
        self.filler.fill(self.buffer.get(), self.content, 1, 0);
        // An initial write of a file cannot go round: it would be a rewrite from then on.
        let rounds = form.time_ns.is_some() && phase.name != "write";
        let mut end = LaneEnd::default();
        let mut frozen = false;
        signals.begin.wait();
        let begun_ns = now_ns();
        let done = (|| {
            for turn in 0.. {
                if turn >= records && !rounds || signals.give_up.load(Ordering::Relaxed) {
                    break;
                }
                let record =
                    order.as_ref().map_or(Some(turn % records), |order| order.at(turn % records));
                let before_ns = now_ns();
                if before_ns - begun_ns >= limit_ns {
                    end.timed_out = true;
                    break;
                }
                // As iozone: looked at before the I/O, so that the one under way when the first is
                // through still counts.
                frozen |= form.time_ns.is_none() && signals.stonewall.load(Ordering::Relaxed);
                self.transfer(phase.direction, record.unwrap_or(0) * self.block_bytes)?;
                end.moved_bytes += self.block_bytes;
                if !frozen {
                    let after_ns = now_ns();
                    end.ledger.count(before_ns, after_ns, self.block_bytes);
                    (end.ops, end.elapsed_ns) = (end.ops + 1, after_ns - begun_ns);
                    signals.done.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(())
        })();
        signals.stonewall.store(true, Ordering::Relaxed);
        if done.is_err() {
            signals.give_up.store(true, Ordering::Relaxed);
        }
        signals.finished.fetch_add(1, Ordering::Relaxed);
        done.map(|()| end)
    }

    #[inline]
    fn transfer(&mut self, direction: Direction, at: u64) -> io::Result<()> {
        match direction {
            Direction::Write => {
                if !self.content.is_same_everywhere() {
                    self.filler.fill(self.buffer.get(), self.content, 1, at);
                }
                let Lane { file, buffer, .. } = self;
                file.write_all_at(buffer.get(), at)
            }
            Direction::Read => {
                let Lane { file, buffer, .. } = self;
                file.read_exact_at(buffer.get(), at)
            }
        }
    }
}
