//! Simulation of a host whose speed drifts, on any device in virtual time: a test of intervals that
//! must contain the result of a repetition.

use crate::forward::forward;
use crate::{Completion, Device, IoError, Request};

/// A device on a host that lengthens each I/O by a share that changes from one stretch of time to
/// the next.
pub struct DriftingHost<D> {
    inner: D,
    /// Additional time in each stretch, as a share of the I/O's own time; the list is repeated for
    /// ever.
    shares: Vec<f64>,
    stretch_ns: u64,
    /// Nanoseconds by which the clock of this device is ahead of the inner one's.
    late_ns: u64,
    /// Latest completion of the inner device in nanoseconds, by its clock.
    done_ns: u64,
    submitted_ns: Vec<[u64; 2]>,
}

impl<D: Device> DriftingHost<D> {
    /// Adds these shares, each for `stretch_ns` nanoseconds of this device's time.
    pub fn new(inner: D, stretch_ns: u64, shares: Vec<f64>) -> DriftingHost<D> {
        assert!(!shares.is_empty() && stretch_ns > 0, "there is at least one stretch");
        DriftingHost { inner, shares, stretch_ns, late_ns: 0, done_ns: 0, submitted_ns: Vec::new() }
    }

    fn share(&self, now_ns: u64) -> f64 {
        self.shares[(now_ns / self.stretch_ns) as usize % self.shares.len()]
    }
}

impl<D: Device> Device for DriftingHost<D> {
    forward!(facts prepare buffer idle drop_caches cpu_ns run_delay_ns host_stalls set_data_needed);

    fn now(&mut self) -> u64 {
        self.inner.now() + self.late_ns
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let (slot, inner_ns) = (request.slot as usize, self.inner.now());
        self.inner.submit(request)?;
        self.submitted_ns.resize(self.submitted_ns.len().max(slot + 1), [0; 2]);
        self.submitted_ns[slot] = [inner_ns, inner_ns + self.late_ns];
        Ok(())
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        self.inner.reap(min, done)?;
        for completion in &mut done[before..] {
            let [inner_ns, own_ns] = self.submitted_ns[completion.slot as usize];
            let took_ns = completion.completed_ns.saturating_sub(inner_ns.max(self.done_ns));
            let share = self.share(completion.completed_ns + self.late_ns);
            self.late_ns += (took_ns as f64 * share) as u64;
            self.done_ns = self.done_ns.max(completion.completed_ns);
            completion.submitted_ns = own_ns;
            completion.completed_ns += self.late_ns;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryDevice;
    use crate::conformance::device_conformance;

    #[test]
    fn each_stretch_has_its_own_speed() {
        let mut device =
            DriftingHost::new(MemoryDevice::new(1 << 20), 1_000_000_000, vec![0.5, 0.0]);
        device.prepare(1, 4096).unwrap();
        let mut timed = |at_ns: u64| {
            let idle_ns = at_ns - device.now();
            device.idle(idle_ns);
            let inner_ns = device.inner.now();
            device.submit(Request::read(0, 0, 4096)).unwrap();
            let mut done = Vec::new();
            device.reap(1, &mut done).unwrap();
            done[0].latency_ns() as f64 / (device.inner.now() - inner_ns).max(1) as f64
        };
        let (slow, usual) = (timed(100_000_000), timed(1_100_000_000));
        assert!((slow - 1.5).abs() < 0.01 && (usual - 1.0).abs() < 0.01, "{slow} {usual}");
    }

    #[test]
    fn it_keeps_the_contract_of_a_device() {
        let memory = MemoryDevice::new(8 << 20);
        device_conformance(&mut DriftingHost::new(memory, 1_000_000, vec![0.3, 0.1]));
    }
}
