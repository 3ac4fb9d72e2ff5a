//! Queue depth by threads, where io_uring is refused.

mod handoff;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use device::{Completion, IoError, IoErrorKind, Request};

use crate::buffers::Buffers;
use crate::in_flight::InFlightTable;
use crate::priority::RaisedPriority;
use crate::psync::timed;
use crate::target::Target;
use handoff::Handoff;

/// Most threads, and so most I/Os in flight.
pub(crate) const MAX_THREADS: u32 = 32;

/// Longest wait of a pool that is dropped for its I/Os in flight.
const PATIENCE: Duration = Duration::from_secs(1);

/// A thread for each slot, each doing one I/O at a time by pread and pwrite. Times are taken on the
/// thread that does the I/O, so the time to wake it up does not count.
pub(crate) struct ThreadPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Number of I/Os submitted and not reaped.
    in_flight: usize,
}

struct Shared {
    target: Arc<Target>,
    in_flight_table: Arc<InFlightTable>,
    /// Owned by every thread, so that it outlives the pool if a thread hangs in the kernel.
    buffers: Arc<Buffers>,
    handoff: Handoff<Request, Completion>,
}

impl ThreadPool {
    pub fn new(
        target: Arc<Target>,
        in_flight_table: Arc<InFlightTable>,
        buffers: Arc<Buffers>,
    ) -> Result<ThreadPool, IoError> {
        let threads = buffers.slots();
        let shared = Arc::new(Shared { target, in_flight_table, buffers, handoff: Handoff::new() });
        let mut pool = ThreadPool { shared, threads: Vec::new(), in_flight: 0 };
        for _ in 0..threads {
            let shared = pool.shared.clone();
            let thread = std::thread::Builder::new()
                .name("flashmark-io".into())
                .stack_size(64 << 10)
                .spawn(move || {
                    let _raised = RaisedPriority::of_this_thread();
                    shared.work();
                })
                .map_err(|error| {
                    IoError::general(IoErrorKind::Other, format!("no thread for I/O: {error}"))
                })?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    pub fn submit(&mut self, request: &Request) {
        self.shared.handoff.submit(*request);
        self.in_flight += 1;
    }

    pub fn reap(&mut self, min: usize, done: &mut Vec<Completion>) {
        let before = done.len();
        self.shared.handoff.reap(min.min(self.in_flight), done);
        self.in_flight -= done.len() - before;
        done[before..].sort_by_key(|completion| completion.completed_ns);
    }
}

impl Drop for ThreadPool {
    /// Waits for the threads, so that the file is closed when the device is dropped; but not for
    /// long for one that hangs in the kernel.
    fn drop(&mut self) {
        if self.shared.handoff.close(self.threads.len(), PATIENCE) {
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}

impl Shared {
    /// Main loop of a thread.
    fn work(&self) {
        self.handoff.serve(|request| {
            // SAFETY: the request's slot is in flight from submission until its completion is
            // reaped, and one slot carries one request, so until the completion is handed back
            // nobody else uses the buffer.
            let buffer = unsafe { self.buffers.slot_mut(request.slot) };
            let length = buffer.len().min(request.length_bytes as usize);
            timed(&self.target, &self.in_flight_table, &request, &mut buffer[..length])
        });
    }
}
