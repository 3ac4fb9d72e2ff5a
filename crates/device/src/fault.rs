//! Simulation of faults of a medium and of its host, on any device in virtual time, as a process
//! sees them on real ones: a script for tests that measurements and conclusions allow for them.

use record::HostStall;
use stats::Random;

use crate::forward;
use crate::{Completion, Device, Extent, IoError, IoErrorKind, Op, Request, Slot};

/// Latency of an I/O that fails, in nanoseconds: more than nothing, so that a loop of retries moves
/// the clock.
const FAILURE_NS: u64 = 1_000_000;

/// Duration of a fault at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultDuration {
    /// It strikes one I/O; the next one succeeds.
    Once,
    /// It strikes every I/O that touches the place.
    Forever,
}

/// The time of a fault that heals: from the first of two values until before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultWindow {
    /// By the number of the I/O.
    Ops(u64, u64),
    /// By the device's clock, in nanoseconds.
    Ns(u64, u64),
}

impl FaultWindow {
    fn is_open(&self, number: u64, now_ns: u64) -> bool {
        match *self {
            FaultWindow::Ops(from, to) => (from..to).contains(&number),
            FaultWindow::Ns(from, to) => (from..to).contains(&now_ns),
        }
    }
}

/// A fault. I/Os are counted from 0 in order of submission; "after n I/Os" strikes number n.
#[derive(Clone, Debug, PartialEq)]
pub enum InjectedFault {
    /// Reads and writes that touch the extent fail with EIO.
    EioAt(Extent, FaultDuration),
    /// Some reads and writes, chosen by the seed, fail with EIO.
    EioNowAndThen {
        /// Number of failures in a million, on average.
        per_million: u32,
        /// Decides, together with the number of an I/O, whether that I/O fails.
        seed: u64,
    },
    /// A read that touches the extent ends early.
    ShortRead(Extent, FaultDuration),
    /// One I/O takes longer, and nothing else happens meanwhile.
    HangFor {
        /// Nanoseconds that are added to its latency.
        ns: u64,
        /// Number of the I/O that hangs.
        after_ops: u64,
    },
    /// Nothing is answered from the first of these times on before the second, in nanoseconds of
    /// the device's clock; dropping caches waits too.
    SilentDuring(u64, u64),
    /// Reads and writes that touch the extent fail after so many nanoseconds of silence.
    TimesOutAt(Extent, u64),
    /// Of so many I/Os one fails, if it is a write, after silence.
    TimesOutEach {
        /// I/Os from one error to the next.
        ops: u64,
        /// Nanoseconds of silence before the error.
        ns: u64,
    },
    /// The medium is pulled out: everything from then on fails for good, I/Os in flight included.
    Vanish {
        /// Number of the first I/O that finds the medium gone.
        after_ops: u64,
    },
    /// The medium refuses writes from then on, as worn-out cards do.
    ReadOnlyAfter {
        /// Number of the first I/O that may be refused.
        ops: u64,
    },
    /// The medium refuses writes for a while, as a card with a loose contact does.
    RefusesWritesDuring(FaultWindow),
    /// Writes fail with EIO for a while, and reads do not: a block device behaves so when its
    /// medium has become read-only.
    FailsWritesDuring(FaultWindow),
    /// The medium is missing for a while: everything fails, and later succeeds again.
    GoneDuring(FaultWindow),
    /// Reads from the extent return wrong data without an error.
    SilentCorruption(Extent),
    /// Writes that touch the extent report success and are lost, as on counterfeit media.
    LostWrites(Extent),
    /// All writes report success and are lost for a while, as behind a loose contact.
    LosesWritesDuring(FaultWindow),
    /// The medium pauses after so many bytes were written: I/Os in flight and later ones wait.
    PausesEach {
        /// Bytes written from one pause to the next.
        bytes: u64,
        /// Length of a pause in nanoseconds.
        ns: u64,
    },
    /// A flush takes longer.
    FlushTakes {
        /// Additional nanoseconds of a flush after a write.
        ns: u64,
        /// Additional nanoseconds of a flush without a write before it.
        idle_ns: u64,
    },
    /// The host stands still in this stretch of the device's time.
    HostStalls(HostStall),
    /// The host lengthens each I/O by a share of its own time that changes from one stretch of the
    /// device's time to the next.
    HostDrifts {
        /// Length of a stretch in nanoseconds.
        stretch_ns: u64,
        /// Share of each stretch; the list is repeated for ever.
        shares: Vec<f64>,
    },
}

/// Any device, with faults.
pub struct FaultInjection<D> {
    inner: D,
    faults: Vec<InjectedFault>,
    /// I/Os submitted so far, which is the number of the next one.
    ops: u64,
    gone: bool,
    /// Requests in flight on `inner`, each with its times of submission, by the inner clock and by
    /// this one, and the pause that it causes.
    in_flight: Vec<(Request, [u64; 2], u64)>,
    /// Nanoseconds by which the clock of this device is ahead of the inner one's.
    late_ns: u64,
    /// Latest completion of the inner device in nanoseconds, by its clock.
    done_ns: u64,
    /// Stalls of the host still to come, the next one last, and those that were.
    stalls: Vec<HostStall>,
    stalled: Vec<HostStall>,
    /// Bytes written since the last pause.
    since_bytes: u64,
    /// True if something was written since the last flush.
    is_dirty: bool,
    /// Slot that hangs, and its additional nanoseconds.
    hanging: Option<(Slot, u64)>,
    /// I/Os that never reached `inner`: slot, submission time, result.
    made_up: Vec<(Slot, u64, Result<(), IoError>)>,
}

impl<D: Device> FaultInjection<D> {
    /// Adds faults to `inner`.
    pub fn new(inner: D, faults: impl IntoIterator<Item = InjectedFault>) -> Self {
        let mut faults: Vec<InjectedFault> = faults.into_iter().collect();
        let stall = |fault: &InjectedFault| match fault {
            InjectedFault::HostStalls(stall) => Some(*stall),
            _ => None,
        };
        let mut stalls: Vec<HostStall> = faults.iter().filter_map(stall).collect();
        stalls.sort_by_key(|stall| std::cmp::Reverse(stall.from_ns));
        faults.retain(|fault| !matches!(fault, InjectedFault::HostStalls(_)));
        FaultInjection {
            inner,
            faults,
            ops: 0,
            gone: false,
            in_flight: Vec::new(),
            late_ns: 0,
            done_ns: 0,
            stalls,
            stalled: Vec::new(),
            since_bytes: 0,
            is_dirty: false,
            hanging: None,
            made_up: Vec::new(),
        }
    }

    /// Returns the inner device.
    pub fn into_inner(self) -> D {
        self.inner
    }

    /// Result of a request by the first fault that strikes it; `None` if it goes through.
    fn outcome(&mut self, request: &Request, number: u64) -> Option<Result<(), IoError>> {
        self.gone |= self.faults.iter().any(
            |fault| matches!(fault, InjectedFault::Vanish { after_ops } if number >= *after_ops),
        );
        if self.gone {
            return Some(Err(gone(request)));
        }
        let now_ns = self.now();
        let (index, outcome) =
            self.faults.iter().enumerate().find_map(|(index, fault)| {
                Some((index, fault.result_of(request, number, now_ns)?))
            })?;
        if let InjectedFault::TimesOutAt(_, ns) | InjectedFault::TimesOutEach { ns, .. } =
            self.faults[index]
        {
            self.inner.idle(ns);
        }
        if let InjectedFault::EioAt(_, FaultDuration::Once)
        | InjectedFault::ShortRead(_, FaultDuration::Once) = self.faults[index]
        {
            self.faults.remove(index);
        }
        Some(outcome)
    }

    /// The time of this device at which the host sees an event of the inner device at `inner_ns`:
    /// after every stall that had begun before.
    fn noticed(&mut self, inner_ns: u64) -> u64 {
        let late_ns = &mut self.late_ns;
        while let Some(stall) = self.stalls.pop_if(|stall| stall.from_ns <= inner_ns + *late_ns) {
            *late_ns = (*late_ns).max(stall.to_ns.saturating_sub(inner_ns));
            self.stalled.push(stall);
        }
        inner_ns + self.late_ns
    }

    /// Length in nanoseconds of the pause that a request causes.
    fn pause_ns(&mut self, request: &Request) -> u64 {
        let was_dirty = self.is_dirty;
        match request.op {
            Op::Flush => self.is_dirty = false,
            Op::Write => {
                self.is_dirty = true;
                self.since_bytes += request.length_bytes;
            }
            Op::Read | Op::Discard => return 0,
        }
        let pauses = self.faults.iter().map(|fault| match (fault, request.op) {
            (InjectedFault::FlushTakes { ns, .. }, Op::Flush) if was_dirty => *ns,
            (InjectedFault::FlushTakes { idle_ns, .. }, Op::Flush) => *idle_ns,
            (InjectedFault::PausesEach { bytes, ns }, Op::Write) if self.since_bytes >= *bytes => {
                self.since_bytes = 0;
                *ns
            }
            _ => 0,
        });
        pauses.sum()
    }

    /// Additional nanoseconds of an I/O that took `took_ns`, by the share of the present stretch.
    fn drift_ns(&self, took_ns: u64, now_ns: u64) -> u64 {
        let shares = self.faults.iter().filter_map(|fault| match fault {
            InjectedFault::HostDrifts { stretch_ns, shares } => {
                Some(shares[(now_ns / stretch_ns) as usize % shares.len()])
            }
            _ => None,
        });
        (took_ns as f64 * shares.sum::<f64>()) as u64
    }

    /// Lets a silence pass that has begun by now.
    fn wait(&mut self) {
        let now_ns = self.now();
        for fault in &self.faults {
            if let InjectedFault::SilentDuring(from_ns, to_ns) = fault
                && (*from_ns..*to_ns).contains(&now_ns)
            {
                self.inner.idle(to_ns - now_ns);
            }
        }
    }

    /// Applies the faults to an I/O that `inner` has finished.
    fn apply_faults(&mut self, completion: &mut Completion) {
        let is_it = |(request, ..): &(Request, [u64; 2], u64)| request.slot == completion.slot;
        let index = self.in_flight.iter().position(is_it).expect("it was submitted through here");
        let (request, [inner_ns, own_ns], pause_ns) = self.in_flight.swap_remove(index);
        let before_ns = self.inner.now();
        if let Some((_, ns)) = self.hanging.take_if(|(slot, _)| *slot == request.slot) {
            self.inner.idle(ns);
        }
        self.wait();
        if self.inner.now() > before_ns {
            completion.completed_ns = self.inner.now();
        }
        let took_ns = completion.completed_ns.saturating_sub(inner_ns.max(self.done_ns));
        self.late_ns += pause_ns + self.drift_ns(took_ns, completion.completed_ns + self.late_ns);
        self.done_ns = self.done_ns.max(completion.completed_ns);
        completion.submitted_ns = own_ns;
        completion.completed_ns = self.noticed(completion.completed_ns).max(own_ns);
        if self.gone {
            completion.result = Err(gone(&request));
        } else if request.op == Op::Read && completion.result.is_ok() {
            self.corrupt(&request);
        }
    }

    fn corrupt(&mut self, request: &Request) {
        let read = Extent::new(request.offset_bytes, request.length_bytes);
        for fault in &self.faults {
            if let InjectedFault::SilentCorruption(extent) = fault
                && extent.overlaps(&read)
            {
                let from = extent.offset_bytes.max(read.offset_bytes) - read.offset_bytes;
                let to = extent.end().min(read.end()) - read.offset_bytes;
                self.inner.buffer(request.slot)[from as usize..to as usize]
                    .iter_mut()
                    .for_each(|byte| *byte ^= 0xa5);
            }
        }
    }
}

impl InjectedFault {
    /// Result of the `number`-th request, submitted at `now_ns`, by this fault alone.
    fn result_of(
        &self,
        request: &Request,
        number: u64,
        now_ns: u64,
    ) -> Option<Result<(), IoError>> {
        use InjectedFault::*;
        use IoErrorKind::{Medium, ReadOnly};
        const EIO: &str = "input/output error";
        let place = Extent::new(request.offset_bytes, request.length_bytes);
        let moves_data = matches!(request.op, Op::Read | Op::Write);
        let is_write = request.op == Op::Write;
        let during = |window: &FaultWindow| window.is_open(number, now_ns);
        let writes = |window: &FaultWindow| request.modifies() && during(window);
        let (kind, detail) = match self {
            EioAt(at, _) | TimesOutAt(at, _) if moves_data && at.overlaps(&place) => (Medium, EIO),
            EioNowAndThen { per_million, seed }
                if moves_data && chance(*seed, number) < *per_million =>
            {
                (Medium, EIO)
            }
            TimesOutEach { ops, .. } if is_write && number % ops == ops - 1 => {
                (Medium, "connection timed out")
            }
            ShortRead(at, _) if request.op == Op::Read && at.overlaps(&place) => {
                (Medium, "the read ended before its end")
            }
            ReadOnlyAfter { ops } if request.modifies() && number >= *ops => {
                (ReadOnly, "operation not permitted")
            }
            RefusesWritesDuring(window) if writes(window) => (ReadOnly, "read-only file system"),
            FailsWritesDuring(window) if writes(window) => (Medium, EIO),
            GoneDuring(window) if during(window) => return Some(Err(gone(request))),
            LosesWritesDuring(window) if is_write && during(window) => return Some(Ok(())),
            LostWrites(at) if is_write && at.overlaps(&place) => return Some(Ok(())),
            _ => return None,
        };
        Some(Err(IoError::new(kind, request, detail)))
    }
}

fn gone(request: &Request) -> IoError {
    IoError::new(IoErrorKind::Gone, request, "no such device")
}

/// A number below a million for the `number`-th I/O.
fn chance(seed: u64, number: u64) -> u32 {
    (Random::after(seed, number).bits() % 1_000_000) as u32
}

impl<D: Device> Device for FaultInjection<D> {
    forward!(facts prepare buffer idle cpu_ns run_delay_ns set_data_needed);

    fn now(&mut self) -> u64 {
        let inner_ns = self.inner.now();
        self.noticed(inner_ns)
    }

    fn host_stalls(&mut self, from_ns: u64) -> Vec<HostStall> {
        self.stalled.iter().filter(|stall| stall.to_ns > from_ns).copied().collect()
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let number = self.ops;
        let (inner_ns, own_ns) = (self.inner.now(), self.now());
        match self.outcome(&request, number) {
            Some(result) => {
                self.made_up.push((request.slot, own_ns, result));
            }
            None => {
                self.inner.submit(request)?;
                let pause_ns = self.pause_ns(&request);
                self.in_flight.push((request, [inner_ns, own_ns], pause_ns));
                let hang = |fault: &InjectedFault| match fault {
                    InjectedFault::HangFor { ns, after_ops } if *after_ops == number => {
                        Some((request.slot, *ns))
                    }
                    _ => None,
                };
                self.hanging = self.faults.iter().find_map(hang).or(self.hanging);
            }
        }
        self.ops += 1;
        Ok(())
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        self.inner.reap(min.saturating_sub(self.made_up.len()), done)?;
        done[before..].iter_mut().for_each(|completion| self.apply_faults(completion));
        if !self.made_up.is_empty() {
            self.inner.idle(FAILURE_NS);
        }
        let completed_ns = self.now();
        done.extend(self.made_up.drain(..).map(|(slot, submitted_ns, result)| Completion {
            slot,
            submitted_ns,
            completed_ns,
            result,
        }));
        done[before..].sort_by_key(|completion| completion.completed_ns);
        Ok(())
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        if self.gone {
            return Err(IoError::general(IoErrorKind::Gone, "no such device"));
        }
        self.wait();
        self.inner.drop_caches()
    }
}

#[cfg(test)]
mod tests {
    use record::Content;

    use super::*;
    use crate::MemoryDevice;

    const BLOCK: u64 = 4096;

    fn device(faults: &[InjectedFault]) -> FaultInjection<MemoryDevice> {
        let mut device = FaultInjection::new(MemoryDevice::new(1 << 20), faults.iter().cloned());
        device.prepare(8, BLOCK as usize).unwrap();
        device
    }

    /// Does one I/O; returns its error kind, or its latency in nanoseconds.
    fn run(device: &mut impl Device, request: Request) -> Result<u64, IoErrorKind> {
        device.submit(request).unwrap();
        let mut done = Vec::new();
        device.reap(1, &mut done).unwrap();
        assert_eq!((done.len(), done[0].slot), (1, request.slot));
        done[0].result.clone().map(|()| done[0].latency_ns()).map_err(|error| error.kind)
    }

    fn check(fault: InjectedFault, requests: &[Request], expected: &[Result<(), IoErrorKind>]) {
        let mut device = device(std::slice::from_ref(&fault));
        let results: Vec<_> =
            requests.iter().map(|request| run(&mut device, *request).map(drop)).collect();
        assert_eq!(results, expected, "{fault:?}");
    }

    const READ: Request = Request {
        op: Op::Read,
        offset_bytes: 0,
        length_bytes: BLOCK,
        slot: 0,
        sync: record::Sync::None,
        path: record::Path::Direct,
        content: Content::Incompressible,
        pass: None,
    };
    const WRITE: Request = Request { op: Op::Write, ..READ };
    const ELSEWHERE: Request = Request { offset_bytes: 8 * BLOCK, ..READ };

    #[test]
    fn faults_strike_their_extent_and_operations() {
        use IoErrorKind::*;
        let here = Extent::new(512, 512);
        check(
            InjectedFault::EioAt(here, FaultDuration::Forever),
            &[READ, ELSEWHERE, WRITE, READ],
            &[Err(Medium), Ok(()), Err(Medium), Err(Medium)],
        );
        check(
            InjectedFault::EioAt(here, FaultDuration::Once),
            &[ELSEWHERE, READ, READ],
            &[Ok(()), Err(Medium), Ok(())],
        );
        check(
            InjectedFault::ShortRead(here, FaultDuration::Once),
            &[WRITE, READ, READ],
            &[Ok(()), Err(Medium), Ok(())],
        );
        check(
            InjectedFault::Vanish { after_ops: 1 },
            &[READ, READ, Request::flush(0)],
            &[Ok(()), Err(Gone), Err(Gone)],
        );
        check(
            InjectedFault::ReadOnlyAfter { ops: 1 },
            &[WRITE, WRITE, READ],
            &[Ok(()), Err(ReadOnly), Ok(())],
        );
    }

    #[test]
    fn faults_of_a_window_end_with_it() {
        use IoErrorKind::*;
        let (all, two) = ([READ, WRITE, READ, WRITE], FaultWindow::Ops(1, 3));
        check(
            InjectedFault::RefusesWritesDuring(two),
            &all,
            &[Ok(()), Err(ReadOnly), Ok(()), Ok(())],
        );
        check(InjectedFault::FailsWritesDuring(two), &all, &[Ok(()), Err(Medium), Ok(()), Ok(())]);
        check(InjectedFault::GoneDuring(two), &all, &[Ok(()), Err(Gone), Err(Gone), Ok(())]);
        // A read takes 10 microseconds, one that fails a millisecond.
        check(
            InjectedFault::GoneDuring(FaultWindow::Ns(5_000, 500_000)),
            &all,
            &[Ok(()), Err(Gone), Ok(()), Ok(())],
        );
    }

    #[test]
    fn without_faults_and_on_a_drifting_host_the_contract_is_kept() {
        let drift = InjectedFault::HostDrifts { stretch_ns: 1_000_000, shares: vec![0.3, 0.1] };
        for faults in [vec![], vec![drift]] {
            let mut device = FaultInjection::new(MemoryDevice::new(1 << 20), faults);
            crate::conformance::device_conformance(&mut device);
        }
    }

    const FLUSH: Request = Request { op: Op::Flush, ..READ };
    /// Time that each I/O takes without a fault.
    const USUAL_NS: u64 = 10_000;

    /// Additional nanoseconds of each I/O, one after the other.
    fn more_ns(faults: &[InjectedFault], requests: &[Request]) -> Vec<u64> {
        let mut device = device(faults);
        let more = |request: &Request| run(&mut device, *request).unwrap() - USUAL_NS;
        requests.iter().map(more).collect()
    }

    #[test]
    fn a_medium_pauses_after_so_many_bytes_and_at_a_flush_that_has_something_to_do() {
        let pauses = InjectedFault::PausesEach { bytes: 2 * BLOCK, ns: 400 };
        let flushes = InjectedFault::FlushTakes { ns: 30, idle_ns: 2 };
        let all = [FLUSH, WRITE, WRITE, FLUSH, FLUSH, READ, WRITE, WRITE];
        assert_eq!(more_ns(&[pauses, flushes], &all), [2, 0, 400, 30, 2, 0, 0, 400]);
        let flushes = InjectedFault::FlushTakes { ns: 5, idle_ns: 0 };
        assert_eq!(more_ns(&[flushes], &[WRITE, WRITE, FLUSH]), [0, 0, 5]);
    }

    fn stall(from_ns: u64, to_ns: u64) -> InjectedFault {
        InjectedFault::HostStalls(HostStall { from_ns, to_ns })
    }

    #[test]
    fn the_time_of_a_host_stands_still_from_the_moment_on_at_which_it_begins() {
        let mut device = device(&[stall(6_000, 7_500), stall(1_000, 5_000)]);
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
        // An I/O that was under way takes as much longer.
        let end_ns = USUAL_NS + 1_000_000;
        assert_eq!(more_ns(&[stall(1, end_ns)], &[WRITE, WRITE]), [1_000_000, 0]);
    }

    #[test]
    fn on_a_drifting_host_each_stretch_has_its_own_speed() {
        let drift = InjectedFault::HostDrifts { stretch_ns: 1_000_000, shares: vec![0.5, 0.0] };
        let mut device = device(&[drift]);
        assert_eq!(run(&mut device, READ), Ok(USUAL_NS * 3 / 2));
        device.idle(1_000_000);
        assert_eq!(run(&mut device, READ), Ok(USUAL_NS));
    }
}
