//! Reads a file or a block device for a moment. It is opened anew each time: the kernel takes over
//! a read-ahead when a file is opened.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSliceMut};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

use rustix::fs::{Advice, OFlags, fadvise};
use rustix::io::{ReadWriteFlags, preadv2};
use stats::Random;

use super::{ReadFigures, ReadKind};

/// Bytes of a sequential read: as many as programs that copy ask for, and fewer than most
/// read-aheads.
pub const SEQUENTIAL_BLOCK_BYTES: u64 = 64 << 10;
/// Bytes of a random read.
pub const RANDOM_BLOCK_BYTES: u64 = 4 << 10;
/// Alignment in bytes of a buffer for O_DIRECT.
const ALIGNED: usize = 4096;

/// Reads a file or a device, at most its first `bytes`.
pub struct TimedReader {
    path: PathBuf,
    bytes: u64,
    window_ns: u64,
    clock: fn() -> u64,
    random: Random,
    /// Offset of the next sequential read, in bytes.
    at: u64,
    buffer: Vec<u8>,
}

impl TimedReader {
    /// Reader of so many bytes at a path; each call of [`TimedReader::read`] lasts `window_ns`
    /// nanoseconds.
    pub fn new(
        path: PathBuf,
        bytes: u64,
        window_ns: u64,
        clock: fn() -> u64,
        seed: u64,
    ) -> TimedReader {
        let buffer = vec![0; SEQUENTIAL_BLOCK_BYTES as usize + ALIGNED];
        TimedReader { path, bytes, window_ns, clock, random: Random::new(seed), at: 0, buffer }
    }

    /// Reads for `window_ns`; `None` if the target cannot be read past the page cache, or is too
    /// small.
    ///
    /// # Errors
    /// The target cannot be opened or read.
    pub fn read(&mut self, kind: ReadKind) -> io::Result<Option<ReadFigures>> {
        if self.bytes < SEQUENTIAL_BLOCK_BYTES {
            return Ok(None);
        }
        match kind {
            ReadKind::Sequential => self.sequential().map(Some),
            ReadKind::Random => self.random(),
        }
    }

    fn sequential(&mut self) -> io::Result<ReadFigures> {
        let file = File::open(&self.path)?;
        fadvise(&file, 0, None, Advice::DontNeed)?;
        let mut at = self.at;
        let mut figures = self.timed(SEQUENTIAL_BLOCK_BYTES, &file, &mut |bytes, _| {
            let now = if at + SEQUENTIAL_BLOCK_BYTES > bytes { 0 } else { at };
            at = now + SEQUENTIAL_BLOCK_BYTES;
            now
        })?;
        // what the read-ahead brought and nobody has read yet was read from the medium as well
        let ahead_bytes = self.cached_bytes(&file, at);
        figures.bytes += ahead_bytes;
        self.at = at + ahead_bytes;
        Ok(figures)
    }

    /// Bytes from an offset on that are in the page cache.
    fn cached_bytes(&mut self, file: &File, from: u64) -> u64 {
        let mut at = from;
        while at < self.bytes {
            let buffers = &mut [IoSliceMut::new(&mut self.buffer)];
            match preadv2(file, buffers, at, ReadWriteFlags::NOWAIT) {
                Ok(read) if read > 0 => at += read as u64,
                _ => break,
            }
        }
        at - from
    }

    fn random(&mut self) -> io::Result<Option<ReadFigures>> {
        let direct = i32::try_from(OFlags::DIRECT.bits()).unwrap_or_default();
        let Ok(file) = OpenOptions::new().read(true).custom_flags(direct).open(&self.path) else {
            return Ok(None);
        };
        let mut place = |bytes, random: &mut Random| {
            random.below(bytes / RANDOM_BLOCK_BYTES) * RANDOM_BLOCK_BYTES
        };
        // it waits for what a read-ahead left in the queue
        self.read_at(&file, RANDOM_BLOCK_BYTES, 0)?;
        self.timed(RANDOM_BLOCK_BYTES, &file, &mut place).map(Some)
    }

    fn read_at(&mut self, file: &File, block_bytes: u64, at: u64) -> io::Result<()> {
        let begin = self.buffer.as_ptr().align_offset(ALIGNED);
        file.read_exact_at(&mut self.buffer[begin..begin + block_bytes as usize], at)
    }

    fn timed(
        &mut self,
        block_bytes: u64,
        file: &File,
        place: &mut dyn FnMut(u64, &mut Random) -> u64,
    ) -> io::Result<ReadFigures> {
        let (mut ops, began) = (0, (self.clock)());
        loop {
            let at = place(self.bytes, &mut self.random);
            self.read_at(file, block_bytes, at)?;
            ops += 1;
            let elapsed_ns = (self.clock)().saturating_sub(began);
            if elapsed_ns >= self.window_ns {
                return Ok(ReadFigures { ops, bytes: ops * block_bytes, elapsed_ns });
            }
        }
    }
}
