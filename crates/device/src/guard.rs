//! The guard of a run: nothing outside the allowed extents is ever written, and no more than was
//! announced. All I/O of a run passes through it, so that it also keeps the one clock of long waits.

use record::Wait;

use crate::forward;
use crate::waits::WaitClock;
use crate::{Completion, Device, Extent, Extents, IoError, IoErrorKind, Op, Request, WriteLog};

/// Allows only writes and discards inside `allowed`; reads are free. Suites write through this type
/// only.
pub struct ExtentGuard<D> {
    inner: D,
    allowed: Extents,
    /// Bytes that may still be written.
    left_bytes: u64,
    written_bytes: u64,
    log: Option<WriteLog>,
    clock: WaitClock,
}

impl<D: Device> ExtentGuard<D> {
    /// Guards `inner` so that writes and discards are possible only inside `allowed`.
    pub fn new(inner: D, allowed: Extents) -> Self {
        ExtentGuard {
            inner,
            allowed,
            left_bytes: u64::MAX,
            written_bytes: 0,
            log: None,
            clock: WaitClock::default(),
        }
    }

    /// The same with at most so many bytes to write, as the plan announced, so that no bug of ours
    /// wears out a medium. Discards carry no data and are not counted.
    pub fn with_budget(self, budget_bytes: u64) -> Self {
        ExtentGuard { left_bytes: budget_bytes, ..self }
    }

    /// Bytes submitted for writing so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Keeps a log of the writes from now on.
    pub fn keep_log(&mut self, log: WriteLog) {
        self.log = Some(log);
    }

    /// The log of the writes, if one is kept.
    pub fn log(&mut self) -> Option<&mut WriteLog> {
        self.log.as_mut()
    }

    /// Extents in which writing is allowed.
    pub fn allowed(&self) -> &Extents {
        &self.allowed
    }

    /// Names what the run does from now on: the turn of later waits.
    pub fn begin_turn(&mut self, turn: &str) {
        turn.clone_into(&mut self.clock.turn);
    }

    /// What the run does.
    pub fn turn(&self) -> &str {
        &self.clock.turn
    }

    /// Adds waits for another device of the same medium.
    pub fn add_waits(&mut self, waits: Vec<Wait>) {
        self.clock.waits.extend(waits);
    }

    /// The waits since the last call, in the order of time.
    pub fn take_waits(&mut self) -> Vec<Wait> {
        std::mem::take(&mut self.clock.waits)
    }

    /// Returns the inner device.
    pub fn into_inner(self) -> D {
        self.inner
    }
}

impl<D: Device> Device for ExtentGuard<D> {
    forward!(facts now buffer idle cpu_ns host_stalls run_delay_ns set_data_needed);

    #[inline]
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if request.modifies() {
            let refused = |why: &str| Err(IoError::new(IoErrorKind::Refused, &request, why));
            if !self.allowed.contain(&Extent::new(request.offset_bytes, request.length_bytes)) {
                return refused("outside the span this run may write");
            }
            let bytes = if request.op == Op::Write { request.length_bytes } else { 0 };
            let Some(left_bytes) = self.left_bytes.checked_sub(bytes) else {
                return refused("more than this run announced that it would write");
            };
            self.inner.submit(request)?;
            self.left_bytes = left_bytes;
            self.clock.asked(&request);
            self.written_bytes += request.length_bytes;
            if let Some(log) = &mut self.log {
                log.submitted(&request);
            }
            return Ok(());
        }
        self.inner.submit(request)?;
        self.clock.asked(&request);
        Ok(())
    }

    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.log.iter_mut().for_each(WriteLog::abandon);
        self.clock.abandon();
        self.inner.prepare(slots, slot_bytes)
    }

    #[inline]
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        let reaped = self.inner.reap(min, done);
        if let Some(log) = &mut self.log {
            log.completed(&done[before..]);
        }
        for completion in &done[before..] {
            self.clock.answered(completion, &mut self.inner);
        }
        reaped
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        let asked_ns = self.inner.now();
        let dropped = self.inner.drop_caches();
        self.clock.dropped_caches(asked_ns, dropped.is_err(), &mut self.inner);
        dropped
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::MemoryDevice;
    use crate::tracing::{TracedIo, Tracing};

    const CAPACITY: u64 = 1 << 20;
    const SECTOR: u64 = 512;

    fn any_request() -> impl Strategy<Value = Request> {
        let op = prop_oneof![Just(Op::Read), Just(Op::Write), Just(Op::Flush), Just(Op::Discard)];
        (op, 0..CAPACITY / SECTOR - 16, 0u64..16).prop_map(|(op, sector, sectors)| Request {
            op,
            ..Request::read(0, sector * SECTOR, sectors * SECTOR)
        })
    }

    fn traced_medium() -> Tracing<MemoryDevice> {
        Tracing::new(MemoryDevice::new(CAPACITY))
    }

    /// Issues each request alone and waits for it; refusals are allowed, as the tests are about
    /// them.
    fn issue_all(device: &mut impl Device, requests: &[Request]) {
        device.prepare(1, 16 * SECTOR as usize).unwrap();
        for request in requests {
            if device.submit(*request).is_ok() {
                device.reap(1, &mut Vec::new()).unwrap();
            }
        }
    }

    fn that_reached_the_medium(log: &[TracedIo]) -> impl Iterator<Item = &Request> {
        log.iter().filter_map(|event| match event {
            TracedIo::Submitted(request) => Some(request),
            _ => None,
        })
    }

    #[test]
    fn what_is_refused_is_not_counted_as_written() {
        let mut guard = ExtentGuard::new(
            crate::MemoryDevice::new(1 << 20),
            Extents::of([Extent::new(4096, 8192)]),
        );
        guard.prepare(1, 8192).unwrap();
        let mut written = |request: Request| {
            let taken = guard.submit(request).is_ok();
            guard.reap(1, &mut Vec::new()).unwrap();
            (taken, guard.written_bytes())
        };
        assert_eq!(written(Request::write(0, 4096, 4096)), (true, 4096));
        assert_eq!(written(Request::read(0, 0, 8192)), (true, 4096));
        assert_eq!(written(Request::write(0, 8192, 8192)), (false, 4096));
        assert_eq!(written(Request::write(0, 8192, 4096)), (true, 8192));
    }

    #[test]
    fn guards_that_allow_everything_keep_the_contract() {
        let everything = Extents::of([Extent::new(0, CAPACITY)]);
        let mut device = ExtentGuard::new(traced_medium(), everything).with_budget(u64::MAX);
        crate::conformance::device_conformance(&mut device);
    }

    proptest! {
        #[test]
        fn no_write_outside_the_span_reaches_the_medium(
            requests in proptest::collection::vec(any_request(), 0..60),
            spans in proptest::collection::vec((0..CAPACITY / SECTOR, 0u64..200), 0..4),
        ) {
            let allowed = Extents::of(spans.iter().map(|&(sector, sectors)| Extent::new(sector * SECTOR, sectors * SECTOR)));
            let mut device = ExtentGuard::new(traced_medium(), allowed.clone());
            issue_all(&mut device, &requests);
            let log = device.into_inner().take_log();
            for request in that_reached_the_medium(&log).filter(|request| request.modifies()) {
                let touched = request.offset_bytes..request.offset_bytes + request.length_bytes;
                prop_assert!(allowed.iter().any(|extent| extent.offset_bytes <= touched.start && touched.end <= extent.end()));
            }
        }

        #[test]
        fn the_budget_is_never_exceeded_and_never_stops_reads(requests in proptest::collection::vec(any_request(), 0..60), sectors in 0u64..100) {
            let requests: Vec<Request> = requests.into_iter().filter(|request| request.length_bytes > 0).collect();
            let everything = Extents::of([Extent::new(0, CAPACITY)]);
            let mut device = ExtentGuard::new(traced_medium(), everything).with_budget(sectors * SECTOR);
            issue_all(&mut device, &requests);
            let mut left = sectors * SECTOR;
            let is_taken = |request: &&Request| match request.op {
                Op::Write if request.length_bytes > left => false,
                Op::Write => {
                    left -= request.length_bytes;
                    true
                }
                _ => true,
            };
            let log = device.into_inner().take_log();
            let expected: Vec<&Request> = requests.iter().filter(is_taken).collect();
            prop_assert_eq!(that_reached_the_medium(&log).collect::<Vec<_>>(), expected);
        }
    }
}
