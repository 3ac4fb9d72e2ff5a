//! One thread's part of a phase, on a file of its own.

use std::sync::atomic::Ordering;

use blockio::RealDevice;
use device::content::DataGenerator;
use device::{Device as _, IoError, Request, do_io};
use record::{Content, Direction, Pattern};
use stats::Random;
use suite::offsets::Permutation;

use super::turns::{Turns, WorkerEnd};

/// Does a thread's part of a phase, from the common start on. The file has room for a record.
pub(super) fn work(
    mut file: RealDevice,
    thread: u64,
    content: Content,
    seed: u64,
    mut turns: Turns<'_>,
) -> Result<WorkerEnd, IoError> {
    let generator = DataGenerator::new(thread);
    let mut random = Random::for_purpose(seed, &format!("thread {thread}"));
    if turns.phase.pattern == Pattern::Permutation {
        turns.order = Some(Permutation::new(turns.records(), &mut random));
    }
    let block_bytes = turns.block_bytes;
    let fill = |file: &mut RealDevice, at| {
        generator.fill(&mut file.buffer(0)[..block_bytes as usize], content, 1, at);
    };
    fill(&mut file, 0);
    let is_write = turns.phase.direction == Direction::Write;
    let signals = turns.signals;
    signals.begin.wait();
    let end = turns.run(|at| {
        if is_write && !content.is_same_everywhere() {
            fill(&mut file, at);
        }
        let request = if is_write { Request::write } else { Request::read };
        do_io(&mut file, request(0, at, block_bytes)).map(drop)
    });
    signals.stonewall.store(true, Ordering::Relaxed);
    if end.is_err() {
        signals.give_up.store(true, Ordering::Relaxed);
    }
    signals.finished.fetch_add(1, Ordering::Relaxed);
    end
}
