//! Remembers everything that passes, for tests of what stands above.

use crate::forward::forward;
use crate::{Completion, Device, IoError, Request};

/// One thing that passed.
#[derive(Clone, Debug, PartialEq)]
pub enum TracedIo {
    /// The device took it.
    Submitted(Request),
    /// The device did not take it.
    Refused(Request, IoError),
    /// The device finished it.
    Completed(Completion),
    /// Nothing was done for so long, in nanoseconds.
    Idled(u64),
    /// The host's caches were dropped.
    CachesDropped,
}

/// Keeps every request and completion in memory, in order.
pub struct Tracing<D> {
    inner: D,
    log: Vec<TracedIo>,
}

impl<D: Device> Tracing<D> {
    /// Keeps a log of everything that passes to and from `inner`.
    pub fn new(inner: D) -> Self {
        Tracing { inner, log: Vec::new() }
    }

    /// What passed so far.
    pub fn log(&self) -> &[TracedIo] {
        &self.log
    }

    /// Forgets what passed so far, and gives it out.
    pub fn take_log(&mut self) -> Vec<TracedIo> {
        std::mem::take(&mut self.log)
    }

    /// Gives the device back.
    pub fn into_inner(self) -> D {
        self.inner
    }
}

impl<D: Device> Device for Tracing<D> {
    forward!(facts now prepare buffer cpu_ns host_stalls run_delay_ns set_data_needed);

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let result = self.inner.submit(request);
        self.log.push(match &result {
            Ok(()) => TracedIo::Submitted(request),
            Err(error) => TracedIo::Refused(request, error.clone()),
        });
        result
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        self.inner.reap(min, done)?;
        self.log.extend(done[before..].iter().cloned().map(TracedIo::Completed));
        Ok(())
    }

    fn idle(&mut self, duration_ns: u64) {
        self.log.push(TracedIo::Idled(duration_ns));
        self.inner.idle(duration_ns);
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        self.log.push(TracedIo::CachesDropped);
        self.inner.drop_caches()
    }
}
