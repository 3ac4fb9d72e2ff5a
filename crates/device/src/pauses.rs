//! Simulation of a medium that pauses during writes and has slow flushes, on any device in virtual
//! time.

use crate::forward::forward;
use crate::{Completion, Device, IoError, Op, Request};

/// Pauses and flush times of a medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseTimes {
    /// Bytes written from one pause to the next; 0 for no pauses.
    pub every_bytes: u64,
    /// Length of a pause in nanoseconds.
    pub pause_ns: u64,
    /// Additional nanoseconds of a flush after a write.
    pub flush_ns: u64,
    /// Additional nanoseconds of a flush without a write before it.
    pub idle_flush_ns: u64,
}

/// A device whose medium pauses now and then: I/Os in flight and later ones wait for it.
pub struct PausingDevice<D> {
    inner: D,
    how: PauseTimes,
    /// Bytes written since the last pause.
    since_bytes: u64,
    /// True if something was written since the last flush.
    is_dirty: bool,
    /// Nanoseconds by which the clock of this device is ahead of the inner one's.
    late_ns: u64,
    /// For each slot, its submission time and the pause that its I/O causes, in nanoseconds.
    under_way: Vec<(u64, u64)>,
}

impl<D: Device> PausingDevice<D> {
    /// Adds pauses to `inner`.
    pub fn new(inner: D, how: PauseTimes) -> PausingDevice<D> {
        PausingDevice { inner, how, since_bytes: 0, is_dirty: false, late_ns: 0, under_way: vec![] }
    }

    /// Length in nanoseconds of the pause that a request causes.
    fn stands_still_ns(&mut self, request: &Request) -> u64 {
        match request.op {
            Op::Flush if std::mem::take(&mut self.is_dirty) => self.how.flush_ns,
            Op::Flush => self.how.idle_flush_ns,
            Op::Write => {
                self.is_dirty = true;
                self.since_bytes += request.length_bytes;
                if self.how.every_bytes == 0 || self.since_bytes < self.how.every_bytes {
                    return 0;
                }
                self.since_bytes = 0;
                self.how.pause_ns
            }
            _ => 0,
        }
    }
}

impl<D: Device> Device for PausingDevice<D> {
    forward!(facts prepare buffer idle drop_caches cpu_ns set_data_needed);

    fn now(&mut self) -> u64 {
        self.inner.now() + self.late_ns
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let (slot, now_ns) = (request.slot as usize, self.now());
        self.inner.submit(request)?;
        self.under_way.resize(self.under_way.len().max(slot + 1), (0, 0));
        self.under_way[slot] = (now_ns, self.stands_still_ns(&request));
        Ok(())
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        self.inner.reap(min, done)?;
        for completion in &mut done[before..] {
            let (submitted_ns, still_ns) =
                std::mem::take(&mut self.under_way[completion.slot as usize]);
            self.late_ns += still_ns;
            completion.submitted_ns = submitted_ns;
            completion.completed_ns = (completion.completed_ns + self.late_ns).max(submitted_ns);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryDevice;

    /// Additional nanoseconds of each operation over a medium without pauses.
    fn more_ns(how: PauseTimes, ops: &[Op]) -> Vec<u64> {
        let times = |how: PauseTimes| {
            let mut device = PausingDevice::new(MemoryDevice::new(1 << 20), how);
            device.prepare(1, 4096).unwrap();
            let mut done = Vec::new();
            for op in ops {
                let request =
                    if *op == Op::Flush { Request::flush(0) } else { Request::write(0, 0, 4096) };
                device.submit(Request { op: *op, ..request }).unwrap();
                device.reap(1, &mut done).unwrap();
            }
            assert_eq!(device.now(), done.last().unwrap().completed_ns);
            done.iter().map(Completion::latency_ns).collect::<Vec<_>>()
        };
        times(how)
            .iter()
            .zip(times(PauseTimes::default()))
            .map(|(with, without)| with - without)
            .collect()
    }

    #[test]
    fn it_stands_still_after_so_many_bytes_and_at_a_flush_that_has_something_to_do() {
        let how = PauseTimes { every_bytes: 8192, pause_ns: 400, flush_ns: 30, idle_flush_ns: 2 };
        let ops =
            [Op::Flush, Op::Write, Op::Write, Op::Flush, Op::Flush, Op::Read, Op::Write, Op::Write];
        assert_eq!(more_ns(how, &ops), [2, 0, 400, 30, 2, 0, 0, 400]);
        assert_eq!(
            more_ns(
                PauseTimes { flush_ns: 5, ..PauseTimes::default() },
                &[Op::Write, Op::Write, Op::Flush]
            ),
            [0, 0, 5]
        );
    }

    #[test]
    fn without_a_distance_there_are_no_pauses() {
        let how = PauseTimes { pause_ns: 400, ..PauseTimes::default() };
        assert_eq!(more_ns(how, &[Op::Write, Op::Write]), [0, 0]);
    }
}
