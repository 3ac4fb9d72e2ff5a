//! The file of one thread, and the thread's I/O to it.

use std::sync::atomic::Ordering;

use device::content::DataGenerator;
use device::{IoError, Request};
use record::{Content, Direction, Pattern};
use stats::Random;
use suite::offsets::Permutation;

use super::turns::{Turns, WorkerEnd};
use super::{Form, Phase, Signals};
use crate::single_io::do_io;
use crate::workload::WorkFile;

/// A thread with its open file.
pub(super) struct Worker {
    file: WorkFile,
    thread: u32,
    block_bytes: u64,
    content: Content,
    generator: DataGenerator,
}

impl Worker {
    /// Takes a file that was opened, and makes its buffer.
    pub fn new(
        mut file: WorkFile,
        content: Content,
        block_bytes: u64,
        thread: u32,
    ) -> Result<Worker, IoError> {
        file.prepare(1, block_bytes as usize)?;
        Ok(Worker {
            file,
            thread,
            block_bytes,
            content,
            generator: DataGenerator::new(u64::from(thread)),
        })
    }

    /// True if its file goes past the page cache.
    pub fn is_direct(&self) -> bool {
        !self.file.facts().direct_refused
    }

    /// Runs one phase, from the common start on.
    pub fn run(
        mut self,
        form: Form,
        phase: &Phase,
        seed: u64,
        limit_ns: u64,
        signals: &Signals,
    ) -> Result<WorkerEnd, IoError> {
        let records = form.size_bytes / self.block_bytes;
        let mut random = Random::for_purpose(seed, &format!("thread {}", self.thread));
        let order =
            (phase.pattern == Pattern::Permutation).then(|| Permutation::new(records, &mut random));
        self.fill(0);
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
    fn transfer(&mut self, direction: Direction, at: u64) -> Result<(), IoError> {
        let request = match direction {
            Direction::Write => {
                if !self.content.is_same_everywhere() {
                    self.fill(at);
                }
                Request::write(0, at, self.block_bytes)
            }
            Direction::Read => Request::read(0, at, self.block_bytes),
        };
        do_io(&mut *self.file, request).map(drop)
    }

    /// Puts the data of a record into the buffer.
    fn fill(&mut self, at: u64) {
        let buffer = &mut self.file.buffer(0)[..self.block_bytes as usize];
        self.generator.fill(buffer, self.content, 1, at);
    }
}
