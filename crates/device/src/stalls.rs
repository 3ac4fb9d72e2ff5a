//! Simulation of a host that stands still now and then, on any device in virtual time: a test that
//! measurements do not blame the medium.

use record::HostStall;

use crate::forward::forward;
use crate::{Completion, Device, IoError, Request};

/// A device on a host that stands still at known times.
pub struct HostStalls<D> {
    inner: D,
    /// Stalls still to come, by the clock of this device, the next one last.
    ahead: Vec<HostStall>,
    seen: Vec<HostStall>,
    /// Nanoseconds by which the clock of this device is ahead of the inner one's.
    late_ns: u64,
    submitted_ns: Vec<u64>,
}

impl<D: Device> HostStalls<D> {
    /// Makes the host stand still in these stretches of this device's time.
    pub fn new(inner: D, stalls: impl IntoIterator<Item = HostStall>) -> HostStalls<D> {
        let mut ahead: Vec<HostStall> = stalls.into_iter().collect();
        ahead.sort_by_key(|stall| std::cmp::Reverse(stall.from_ns));
        HostStalls { inner, ahead, seen: Vec::new(), late_ns: 0, submitted_ns: Vec::new() }
    }

    /// The time of this device at which the host sees an event of the inner device at `inner_ns`:
    /// after every stall that had begun before.
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
    forward!(facts prepare buffer idle drop_caches cpu_ns run_delay_ns set_data_needed);

    fn now(&mut self) -> u64 {
        let inner_ns = self.inner.now();
        self.noticed(inner_ns)
    }
    fn host_stalls(&mut self, from_ns: u64) -> Vec<HostStall> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryDevice;

    fn stall(from_ns: u64, to_ns: u64) -> HostStall {
        HostStall { from_ns, to_ns }
    }

    #[test]
    fn time_stands_still_from_the_moment_on_at_which_it_begins() {
        let stalls = [stall(6_000, 7_500), stall(1_000, 5_000)];
        let mut device = HostStalls::new(MemoryDevice::new(1 << 20), stalls);
        // How long it is idle, and what time it is then.
        for (idle_ns, now_ns) in
            [(0, 0), (999, 999), (1, 5_000), (999, 5_999), (1, 7_500), (5, 7_505)]
        {
            device.idle(idle_ns);
            assert_eq!(device.now(), now_ns);
        }
        for (from_ns, seen) in [(0, 2), (4_999, 2), (5_000, 1), (7_499, 1), (7_500, 0)] {
            assert_eq!(device.host_stalls(from_ns).len(), seen, "{from_ns}");
        }
    }

    #[test]
    fn an_io_that_was_under_way_takes_as_much_longer() {
        let took_ns = |stalls: &[HostStall]| {
            let mut device = HostStalls::new(MemoryDevice::new(1 << 20), stalls.iter().copied());
            device.prepare(4, 4096).unwrap();
            let mut done = Vec::new();
            for slot in [3, 0] {
                device.submit(Request::write(slot, 0, 4096)).unwrap();
                device.reap(1, &mut done).unwrap();
            }
            done.iter().map(Completion::latency_ns).collect::<Vec<_>>()
        };
        let plain = took_ns(&[]);
        let end_ns = plain[0] + 1_000_000;
        assert_eq!(took_ns(&[stall(1, end_ns)]), [end_ns, plain[1]]);
    }
}
