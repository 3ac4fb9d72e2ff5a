//! A thread's part of a phase, on a file of its own: its I/Os, those that count, and its end
//! (docs/field/iozone.md#threads).

use std::sync::atomic::Ordering;

use blockio::{RealDevice, now_ns};
use device::content::DataGenerator;
use device::{Device as _, IoError, Request, do_io};
use record::{Content, Direction, Pattern};
use stats::Random;
use suite::offsets::Permutation;

use super::{Form, Phase, Signals};
use crate::workload::ledger::Ledger;

/// Sequence of the records of a thread's file.
pub(super) struct Turns<'a> {
    pub form: Form,
    pub phase: &'a Phase,
    pub block_bytes: u64,
    /// Random order of the records; `None` for sequential ones.
    pub order: Option<Permutation>,
    pub limit_ns: u64,
    pub signals: &'a Signals,
}

/// Results of a thread, up to the stonewall.
#[derive(Default)]
pub(super) struct WorkerEnd {
    /// The I/Os that count: all, or in iozone's form those completed before the stonewall.
    pub ledger: Ledger,
    /// Time from the common start to the end of the last of them, or of the one that was in flight
    /// at the stonewall, in nanoseconds.
    pub elapsed_ns: u64,
    /// All bytes, counted or not.
    pub moved_bytes: u64,
    /// True if the time limit ended it.
    pub timed_out: bool,
}

impl WorkerEnd {
    /// I/Os per second of wall-clock time, as iozone counts.
    pub fn iops(&self) -> f64 {
        self.ledger.ops() as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }

    /// 95 % interval of these I/Os per second.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let busy = self.ledger.tally.rate.estimate()?;
        Some([busy.ci95.low, busy.ci95.high].map(|end| end / busy.per_second * self.iops()))
    }
}

impl Turns<'_> {
    /// Moves record after record with `transfer`, which gets the offset in the file in bytes.
    pub fn run(
        &self,
        mut transfer: impl FnMut(u64) -> Result<(), IoError>,
    ) -> Result<WorkerEnd, IoError> {
        let mut end = WorkerEnd::default();
        let begun_ns = now_ns();
        for turn in 0.. {
            let is_timed = !self.is_walled();
            let is_stopped = !is_timed && !self.phase.finishes;
            if is_stopped || self.is_through(turn) {
                break;
            }
            let before_ns = now_ns();
            if before_ns - begun_ns >= self.limit_ns {
                end.timed_out = true;
                break;
            }
            transfer(self.place(turn))?;
            end.moved_bytes += self.block_bytes;
            if is_timed {
                let after_ns = now_ns();
                end.elapsed_ns = after_ns - begun_ns;
                self.count(&mut end, before_ns, after_ns);
            }
        }
        Ok(end)
    }

    /// Counts an I/O, unless another thread has finished meanwhile: like iozone, which counts its
    /// time and not its bytes.
    fn count(&self, end: &mut WorkerEnd, before_ns: u64, after_ns: u64) {
        if self.is_walled() {
            return;
        }
        end.ledger.count(before_ns, after_ns, self.block_bytes);
        self.signals.done.fetch_add(1, Ordering::Relaxed);
    }

    /// True if, in iozone's form, a thread has finished.
    fn is_walled(&self) -> bool {
        self.form.time_ns.is_none() && self.signals.stonewall.load(Ordering::Relaxed)
    }

    fn is_through(&self, turn: u64) -> bool {
        // An initial write of a file cannot go round: it would be a rewrite from then on.
        let goes_round = self.form.time_ns.is_some() && self.phase.name != "write";
        turn >= self.records() && !goes_round || self.signals.give_up.load(Ordering::Relaxed)
    }

    pub fn records(&self) -> u64 {
        self.form.size_bytes / self.block_bytes
    }

    fn place(&self, turn: u64) -> u64 {
        let at = turn % self.records();
        let record = self.order.as_ref().map_or(Some(at), |order| order.at(at));
        record.unwrap_or(0) * self.block_bytes
    }
}

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

#[cfg(test)]
mod tests;
