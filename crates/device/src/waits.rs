//! The clock of long waits: a medium that was asked and does not answer.

use record::{Asked, SLOW_NS, SilentError, Wait};

use crate::{Completion, Device, IoErrorKind, Op, Request};

/// Measures the silence of a medium, and keeps each of [`SLOW_NS`] or more.
#[derive(Default)]
pub(crate) struct WaitClock {
    /// What the run does.
    pub turn: String,
    /// Waits in the order of time.
    pub waits: Vec<Wait>,
    /// For each slot its last request, and whether nothing was in flight before it.
    requests: Vec<Option<(Request, bool)>>,
    in_flight: u32,
    /// Time of the last answer in nanoseconds; `None` before the first.
    answered_ns: Option<u64>,
    /// True if something was written since the last flush.
    is_dirty: bool,
}

impl WaitClock {
    #[inline]
    pub fn asked(&mut self, request: &Request) {
        let slot = request.slot as usize;
        if slot >= self.requests.len() {
            self.requests.resize(slot + 1, None);
        }
        self.requests[slot] = Some((*request, self.in_flight == 0));
        self.in_flight += 1;
        self.is_dirty |= request.modifies();
    }

    /// Forgets what is in flight.
    pub fn abandon(&mut self) {
        self.in_flight = 0;
    }

    /// Silence is counted from the last answer on: in a queue each I/O waits for those before it.
    #[inline]
    pub fn answered(&mut self, done: &Completion, device: &mut impl Device) {
        let before_ns = self.answered_ns.replace(done.completed_ns).unwrap_or(done.submitted_ns);
        self.in_flight = self.in_flight.saturating_sub(1);
        let from_ns = done.submitted_ns.max(before_ns);
        if done.completed_ns.saturating_sub(from_ns) >= SLOW_NS {
            self.note(done, from_ns, before_ns, device);
        }
        // A flush that is over has made durable all that was complete before it.
        if let Some((Request { op: Op::Flush, .. }, _)) = self.requests[done.slot as usize] {
            self.is_dirty = false;
        }
    }

    #[cold]
    fn note(&mut self, done: &Completion, from_ns: u64, before_ns: u64, device: &mut impl Device) {
        let Some((request, was_idle)) = self.requests[done.slot as usize] else { return };
        let asked = match request.op {
            Op::Read => Asked::Read,
            Op::Write => Asked::Write,
            Op::Flush => Asked::Flush,
            Op::Discard => Asked::Discard,
        };
        let moves = matches!(request.op, Op::Read | Op::Write | Op::Discard);
        let idle_ns = if was_idle { done.submitted_ns.saturating_sub(before_ns) } else { 0 };
        // Only the medium's errors say something of places; a device that is gone has none.
        let is_by_medium =
            done.result.as_ref().is_err_and(|error| error.kind == IoErrorKind::Medium);
        self.keep(
            Wait {
                turn: self.turn.clone(),
                asked,
                offset_bytes: moves.then_some(request.offset_bytes),
                block_bytes: moves.then_some(request.length_bytes),
                silent_ns: done.completed_ns - from_ns,
                idle_ns,
                host_stall_ns: 0,
                error: is_by_medium.then_some(SilentError::NotReadAgain),
            },
            from_ns,
            device,
        );
    }

    /// Counts the time in which the host dropped its caches, which flushes what was written and may
    /// wait for the medium without any.
    pub fn dropped_caches(&mut self, asked_ns: u64, failed: bool, device: &mut impl Device) {
        let now_ns = device.now();
        let before_ns = self.answered_ns.replace(now_ns).unwrap_or(asked_ns);
        let is_flush = std::mem::take(&mut self.is_dirty);
        if now_ns.saturating_sub(asked_ns) < SLOW_NS {
            return;
        }
        self.keep(
            Wait {
                turn: self.turn.clone(),
                asked: if is_flush { Asked::Flush } else { Asked::DropCaches },
                offset_bytes: None,
                block_bytes: None,
                silent_ns: now_ns - asked_ns,
                idle_ns: asked_ns.saturating_sub(before_ns),
                host_stall_ns: 0,
                error: failed.then_some(SilentError::NotReadAgain),
            },
            asked_ns,
            device,
        );
    }

    /// Keeps a wait that began at `from_ns`, with the time of it that is the host's.
    fn keep(&mut self, wait: Wait, from_ns: u64, device: &mut impl Device) {
        let to_ns = from_ns + wait.silent_ns;
        let within = |from: u64, to: u64| to.min(to_ns).saturating_sub(from.max(from_ns));
        let stalls = device.host_stalls(from_ns);
        let host_stall_ns = stalls.iter().map(|stall| within(stall.from_ns, stall.to_ns)).sum();
        self.waits.push(Wait { host_stall_ns, ..wait });
    }
}

#[cfg(test)]
mod tests {
    use record::HostStall;

    use super::*;
    use crate::fault::{FaultInjection, InjectedFault};
    use crate::{Extent, ExtentGuard, Extents, MemoryDevice};

    const S: u64 = record::units::SECOND_NS;

    /// Waits of a device on which these I/Os (numbers from 0) take so many seconds longer.
    fn waits(requests: &[Request], hangs: &[(u64, u64)], stall: Option<HostStall>) -> Vec<Wait> {
        let hang = |(after_ops, s): &(u64, u64)| InjectedFault::HangFor {
            ns: s * S,
            after_ops: *after_ops,
        };
        let faults = hangs.iter().map(hang).chain(stall.map(InjectedFault::HostStalls));
        let device = FaultInjection::new(MemoryDevice::new(1 << 20), faults);
        let mut guard = ExtentGuard::new(device, Extents::of([Extent::new(0, 1 << 20)]));
        guard.begin_turn("x/1");
        guard.prepare(4, 4096).unwrap();
        for (turn, request) in requests.iter().enumerate() {
            guard.idle(if turn == 1 { 30 * S } else { 0 });
            guard.submit(*request).unwrap();
            guard.reap(1, &mut Vec::new()).unwrap();
        }
        guard.take_waits()
    }

    #[test]
    fn every_silence_of_two_seconds_is_kept_with_its_place_and_turn() {
        let asked = [Request::read(0, 8192, 4096), Request::write(1, 4096, 512), Request::flush(0)];
        assert_eq!(waits(&asked, &[(0, 1)], None), []);
        let seen = waits(&asked, &[(0, 2), (1, 12), (2, 3)], None);
        let texts: Vec<String> = seen.iter().map(Wait::to_string).collect();
        assert_eq!(
            texts,
            [
                "a read at 8 KiB took 2.00 s (x/1)",
                "a write at 4 KiB took 12.0 s (x/1)",
                "a flush took 3.00 s (x/1)",
            ]
        );
        assert_eq!(seen.iter().map(|wait| wait.idle_ns / S).collect::<Vec<_>>(), [0, 30, 0]);
        assert_eq!(seen[1].block_bytes, Some(512));
        // The host stood still for eight of the first ten seconds.
        let still = HostStall { from_ns: 1, to_ns: 8 * S };
        let [wait] = &waits(&asked[..1], &[(0, 10)], Some(still))[..] else { panic!() };
        assert_eq!((wait.silent_ns / S, wait.own_ns() / S), (10, 2));
    }

    #[test]
    fn in_a_queue_the_silence_is_from_answer_to_answer() {
        let hang = [InjectedFault::HangFor { ns: 5 * S, after_ops: 1 }];
        let device = FaultInjection::new(MemoryDevice::new(1 << 20), hang);
        let mut guard = ExtentGuard::new(device, Extents::of([]));
        guard.prepare(4, 4096).unwrap();
        (0..4).for_each(|slot| guard.submit(Request::read(slot, 0, 4096)).unwrap());
        let mut done = Vec::new();
        while done.len() < 4 {
            guard.reap(1, &mut done).unwrap();
        }
        let seen = guard.take_waits();
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert_eq!(seen[0].silent_ns / S, 5);
    }
}
