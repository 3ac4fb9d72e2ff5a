//! A log of all requests and completions, for tests of the code above a device.

use crate::forward;
use crate::{Completion, Device, IoError, Request};

/// An entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub enum TracedIo {
    /// The device accepted it.
    Submitted(Request),
    /// The device refused it.
    Refused(Request, IoError),
    /// The device completed it.
    Completed(Completion),
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

    /// Returns the log so far and empties it.
    pub fn take_log(&mut self) -> Vec<TracedIo> {
        std::mem::take(&mut self.log)
    }

    /// Returns the inner device.
    pub fn into_inner(self) -> D {
        self.inner
    }
}

impl<D: Device> Device for Tracing<D> {
    forward!(facts now prepare buffer idle drop_caches cpu_ns host_stalls run_delay_ns set_data_needed);

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
}
