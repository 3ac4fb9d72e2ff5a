//! Which I/Os of a thread count, and when it ends (docs/field/iozone.md#threads).

use std::io;
use std::sync::atomic::Ordering;

use suite::offsets::Permutation;

use super::{Form, Phase, Signals};
use crate::workload::clock::now_ns;
use crate::workload::ledger::Ledger;

/// The records of a thread's file, one after the other.
pub(super) struct Turns<'a> {
    pub form: Form,
    pub phase: &'a Phase,
    pub block_bytes: u64,
    /// Where the records come in no order of their places.
    pub order: Option<Permutation>,
    pub limit_ns: u64,
    pub signals: &'a Signals,
}

/// What a thread came to, up to the stonewall.
#[derive(Default)]
pub(super) struct WorkerEnd {
    /// Every I/O that counts.
    pub ledger: Ledger,
    /// I/Os that count: all, or in iozone's form those completed before the stonewall.
    pub ops: u64,
    /// From the common start to the last of them, or to the end of the one that was under way at
    /// the stonewall.
    pub elapsed_ns: u64,
    /// All bytes, counted or not.
    pub moved_bytes: u64,
    /// It was the time that ended it.
    pub timed_out: bool,
}

impl WorkerEnd {
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

impl Turns<'_> {
    /// Moves record after record with `transfer`, which is given the place in the file in bytes.
    pub fn run(&self, mut transfer: impl FnMut(u64) -> io::Result<()>) -> io::Result<WorkerEnd> {
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

    /// Counts an I/O, unless another thread was through meanwhile: as iozone, which takes its time
    /// and not its bytes.
    fn count(&self, end: &mut WorkerEnd, before_ns: u64, after_ns: u64) {
        if self.is_walled() {
            return;
        }
        end.ledger.count(before_ns, after_ns, self.block_bytes);
        end.ops += 1;
        self.signals.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether, in iozone's form, a thread is through.
    fn is_walled(&self) -> bool {
        self.form.time_ns.is_none() && self.signals.stonewall.load(Ordering::Relaxed)
    }

    fn is_through(&self, turn: u64) -> bool {
        // An initial write of a file cannot go round: it would be a rewrite from then on.
        let goes_round = self.form.time_ns.is_some() && self.phase.name != "write";
        turn >= self.records() && !goes_round || self.signals.give_up.load(Ordering::Relaxed)
    }

    fn records(&self) -> u64 {
        self.form.size_bytes / self.block_bytes
    }

    fn place(&self, turn: u64) -> u64 {
        let at = turn % self.records();
        let record = self.order.as_ref().map_or(Some(at), |order| order.at(at));
        record.unwrap_or(0) * self.block_bytes
    }
}

#[cfg(test)]
mod tests;
