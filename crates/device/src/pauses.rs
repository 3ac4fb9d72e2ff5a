//! A medium that stands still now and then while it is written to, and whose flush costs what it
//! costs, put on any device in virtual time.

use crate::forward::forward;
use crate::{Completion, Device, Facts, IoError, Op, Request};

/// How a medium stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pausing {
    /// Bytes written from one pause to the next; 0 where there are none.
    pub every_bytes: u64,
    /// How long a pause lasts, in nanoseconds.
    pub pause_ns: u64,
    /// What a flush takes more where something was written since the last one, in nanoseconds.
    pub flush_ns: u64,
    /// What one takes more that has nothing to do, in nanoseconds.
    pub idle_flush_ns: u64,
}

/// A device whose medium stands still now and then: everything that is under way, and all that
/// comes later, waits for it.
pub struct Pauses<D> {
    inner: D,
    how: Pausing,
    /// Bytes written since the last pause.
    since_bytes: u64,
    /// Something was written that no flush has seen.
    is_dirty: bool,
    /// By how much the clock of this device is ahead of the inner one's.
    late_ns: u64,
    /// When each slot was submitted, and for how long its I/O makes the medium stand still.
    under_way: Vec<(u64, u64)>,
}

impl<D: Device> Pauses<D> {
    /// The medium behind `inner` stands still like this.
    pub fn new(inner: D, how: Pausing) -> Pauses<D> {
        Pauses { inner, how, since_bytes: 0, is_dirty: false, late_ns: 0, under_way: Vec::new() }
    }

    /// For how long a request makes the medium stand still.
    fn stands_still_ns(&mut self, request: &Request) -> u64 {
        match request.op {
            Op::Flush if std::mem::take(&mut self.is_dirty) => self.how.flush_ns,
            Op::Flush => self.how.idle_flush_ns,
            Op::Write => {
                self.is_dirty = true;
                self.since_bytes += request.length_bytes;
                let is_due = self.how.every_bytes > 0 && self.since_bytes >= self.how.every_bytes;
                if is_due {
                    self.since_bytes = 0;
                }
                if is_due { self.how.pause_ns } else { 0 }
            }
            _ => 0,
        }
    }
}

impl<D: Device> Device for Pauses<D> {
    forward!(prepare buffer idle drop_caches cpu_ns set_data_needed);

    fn facts(&self) -> &Facts {
        self.inner.facts()
    }
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

    /// How long each of these takes more than on the medium that never stands still, in
    /// nanoseconds.
    fn more_ns(how: Pausing, ops: &[Op]) -> Vec<u64> {
        let times = |how: Pausing| {
            let mut device = Pauses::new(MemoryDevice::new(1 << 20), how);
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
            .zip(times(Pausing::default()))
            .map(|(with, without)| with - without)
            .collect()
    }

    #[test]
    fn it_stands_still_after_so_many_bytes_and_at_a_flush_that_has_something_to_do() {
        let how = Pausing { every_bytes: 8192, pause_ns: 400, flush_ns: 30, idle_flush_ns: 2 };
        let ops =
            [Op::Flush, Op::Write, Op::Write, Op::Flush, Op::Flush, Op::Read, Op::Write, Op::Write];
        assert_eq!(more_ns(how, &ops), [2, 0, 400, 30, 2, 0, 0, 400]);
        assert_eq!(
            more_ns(
                Pausing { flush_ns: 5, ..Pausing::default() },
                &[Op::Write, Op::Write, Op::Flush]
            ),
            [0, 0, 5]
        );
    }

    #[test]
    fn without_a_distance_there_are_no_pauses() {
        let how = Pausing { pause_ns: 400, ..Pausing::default() };
        assert_eq!(more_ns(how, &[Op::Write, Op::Write]), [0, 0]);
    }
}
