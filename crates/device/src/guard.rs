//! The extent guard: nothing outside the allowed extents is ever written. All I/O of a run passes
//! through it, so that it also keeps the one clock of long waits.

use crate::contract::forward;
use record::Wait;

use crate::waits::WaitClock;
use crate::{Completion, Device, Extent, Extents, IoError, IoErrorKind, Request, WriteLog};

/// Allows only writes and discards inside `allowed`; reads are free. Suites write through this type
/// only.
pub struct ExtentGuard<D> {
    inner: D,
    allowed: Extents,
    written_bytes: u64,
    log: Option<WriteLog>,
    clock: WaitClock,
}

impl<D: Device> ExtentGuard<D> {
    /// Guards `inner` so that writes and discards are possible only inside `allowed`.
    pub fn new(inner: D, allowed: Extents) -> Self {
        ExtentGuard { inner, allowed, written_bytes: 0, log: None, clock: WaitClock::default() }
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
            if !self.allowed.contain(&Extent::new(request.offset_bytes, request.length_bytes)) {
                return Err(IoError::new(
                    IoErrorKind::Refused,
                    &request,
                    "outside the span this run may write",
                ));
            }
            self.inner.submit(request)?;
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
    use super::*;

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
}
