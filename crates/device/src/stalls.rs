//! A host that stands still now and then, put on any device in virtual time: what measures must
//! find out that it was not the medium.

use record::Standstill;

use crate::forward::forward;
use crate::{Completion, Device, Facts, IoError, Request};

/// A device on a host that stands still at known times.
pub struct HostStalls<D> {
    inner: D,
    /// Still to come, by the clock of this device, the next one last.
    ahead: Vec<Standstill>,
    seen: Vec<Standstill>,
    /// By how much the clock of this device is ahead of the inner one's.
    late_ns: u64,
    submitted_ns: Vec<u64>,
}

impl<D: Device> HostStalls<D> {
    /// The host stands still in these stretches of this device's time.
    pub fn new(inner: D, stalls: impl IntoIterator<Item = Standstill>) -> HostStalls<D> {
        let mut ahead: Vec<Standstill> = stalls.into_iter().collect();
        ahead.sort_by_key(|stall| std::cmp::Reverse(stall.from_ns));
        HostStalls { inner, ahead, seen: Vec::new(), late_ns: 0, submitted_ns: Vec::new() }
    }

    /// The time of this device at which something is noticed that the inner one did by `inner_ns`:
    /// after every stretch that had begun before.
    fn noticed(&mut self, inner_ns: u64) -> u64 {
        while let Some(stall) = self.ahead.pop_if(|stall| stall.from_ns <= inner_ns + self.late_ns)
        {
            self.late_ns = self.late_ns.max(stall.to_ns.saturating_sub(inner_ns));
            self.seen.push(stall);
        }
        inner_ns + self.late_ns
    }
}

impl<D: Device> Device for HostStalls<D> {
    forward!(prepare buffer drop_caches cpu_ns set_data_needed);

    fn facts(&self) -> &Facts {
        self.inner.facts()
    }
    fn now(&mut self) -> u64 {
        let inner_ns = self.inner.now();
        self.noticed(inner_ns)
    }
    fn idle(&mut self, duration_ns: u64) {
        self.inner.idle(duration_ns);
    }
    fn standstills(&mut self, from_ns: u64) -> Vec<Standstill> {
        self.seen.iter().filter(|stall| stall.to_ns > from_ns).copied().collect()
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let (slot, now_ns) = (request.slot as usize, self.now());
        self.inner.submit(request)?;
        self.submitted_ns.resize(self.submitted_ns.len().max(slot + 1), 0);
        self.submitted_ns[slot] = now_ns;
        Ok(())
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        self.inner.reap(min, done)?;
        for completion in &mut done[before..] {
            completion.submitted_ns = self.submitted_ns[completion.slot as usize];
            completion.completed_ns =
                self.noticed(completion.completed_ns).max(completion.submitted_ns);
        }
        Ok(())
    }
}
