//! A guard that limits the bytes written to the number that was announced.

use crate::contract::forward;
use crate::{Device, IoError, IoErrorKind, Op, Request};

/// Limits the bytes written to the number that the plan announced, so that no bug of ours wears out
/// a medium. Discards carry no data and are not counted.
pub struct WriteBudget<D> {
    inner: D,
    left_bytes: u64,
}

impl<D: Device> WriteBudget<D> {
    /// Allows `budget_bytes` to be written to `inner`.
    pub fn new(inner: D, budget_bytes: u64) -> Self {
        WriteBudget { inner, left_bytes: budget_bytes }
    }

    /// Bytes that may still be written.
    pub fn left_bytes(&self) -> u64 {
        self.left_bytes
    }

    /// Returns the inner device.
    pub fn into_inner(self) -> D {
        self.inner
    }
}

impl<D: Device> Device for WriteBudget<D> {
    forward!(facts now prepare buffer reap idle drop_caches cpu_ns host_stalls run_delay_ns set_data_needed);

    #[inline]
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if request.op != Op::Write {
            return self.inner.submit(request);
        }
        let Some(left_bytes) = self.left_bytes.checked_sub(request.length_bytes) else {
            return Err(IoError::new(
                IoErrorKind::Refused,
                &request,
                "more than this run announced that it would write",
            ));
        };
        self.inner.submit(request)?;
        self.left_bytes = left_bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tracing::{TracedIo, Tracing};
    use crate::{Extent, ExtentGuard, Extents, MemoryDevice};

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
    fn guards_that_allow_everything_keep_the_contract() {
        let everything = Extents::of([Extent::new(0, CAPACITY)]);
        let mut device = WriteBudget::new(ExtentGuard::new(traced_medium(), everything), u64::MAX);
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
            let mut device = WriteBudget::new(traced_medium(), sectors * SECTOR);
            issue_all(&mut device, &requests);
            let left = device.left_bytes();
            let log = device.into_inner().take_log();
            let reached: Vec<&Request> = that_reached_the_medium(&log).collect();
            let written: u64 = reached.iter().filter(|request| request.op == Op::Write).map(|request| request.length_bytes).sum();
            prop_assert_eq!(written + left, sectors * SECTOR);
            let others = |request: &&Request| request.op != Op::Write;
            prop_assert_eq!(reached.iter().copied().filter(others).count(), requests.iter().filter(others).count());
        }
    }
}
