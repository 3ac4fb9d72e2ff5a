//! Queue depth by threads, where io_uring is refused.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use device::{Completion, IoError, IoErrorKind, Request};

use crate::buffers::Buffers;
use crate::clock::now_ns;
use crate::in_flight::InFlightTable;
use crate::priority::RaisedPriority;
use crate::psync::timed;
use crate::target::Target;

/// Most threads, and so most I/Os in flight.
pub(crate) const MAX_THREADS: u32 = 32;

/// Longest wait of a pool that is dropped for its I/Os in flight, in nanoseconds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// A thread for each slot, each doing one I/O at a time by pread and pwrite. Times are taken on the
/// thread that does the I/O, so the time to wake it up does not count.
pub(crate) struct ThreadPool {
    /// The way to the thread of each slot; empty at the end.
    work: Vec<Sender<Request>>,
    done: Receiver<Completion>,
    threads: Vec<JoinHandle<()>>,
    /// Number of I/Os submitted and not reaped.
    in_flight: usize,
}

impl ThreadPool {
    pub fn new(
        target: Arc<Target>,
        in_flight_table: Arc<InFlightTable>,
        buffers: Arc<Buffers>,
    ) -> Result<ThreadPool, IoError> {
        let (finished, done) = channel();
        let mut pool = ThreadPool { work: vec![], done, threads: vec![], in_flight: 0 };
        for _ in 0..buffers.slots() {
            let (work, requests) = channel();
            let thread = PoolThread {
                target: target.clone(),
                in_flight_table: in_flight_table.clone(),
                buffers: buffers.clone(),
                requests,
                finished: finished.clone(),
            };
            let begun = std::thread::Builder::new()
                .name("flashmark-io".into())
                .stack_size(64 << 10)
                .spawn(move || thread.work());
            pool.threads.push(begun.map_err(|error| {
                IoError::general(IoErrorKind::Other, format!("no thread for I/O: {error}"))
            })?);
            pool.work.push(work);
        }
        Ok(pool)
    }

    pub fn submit(&mut self, request: &Request) {
        let thread = &self.work[request.slot as usize];
        thread.send(*request).expect("a thread ends only with its pool");
        self.in_flight += 1;
    }

    pub fn reap(&mut self, min: usize, done: &mut Vec<Completion>) {
        let before = done.len();
        done.extend(self.done.iter().take(min.min(self.in_flight)));
        done.extend(self.done.try_iter());
        self.in_flight -= done.len() - before;
        done[before..].sort_by_key(|completion| completion.completed_ns);
    }
}

impl Drop for ThreadPool {
    /// Waits for the threads, so that the file is closed when the device is dropped; but not for
    /// long for one that hangs in the kernel.
    fn drop(&mut self) {
        self.work.clear();
        let end_ns = now_ns() + PATIENCE_NS;
        let left = || Duration::from_nanos(end_ns.saturating_sub(now_ns()));
        loop {
            match self.done.recv_timeout(left()) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// What a thread has; it outlives the pool if it hangs in the kernel.
struct PoolThread {
    target: Arc<Target>,
    in_flight_table: Arc<InFlightTable>,
    buffers: Arc<Buffers>,
    requests: Receiver<Request>,
    finished: Sender<Completion>,
}

impl PoolThread {
    /// Does one I/O after the other until the pool ends.
    fn work(self) {
        let _raised = RaisedPriority::of_this_thread();
        for request in &self.requests {
            // SAFETY: the request's slot is in flight from submission until its completion is
            // reaped, and one slot carries one request, so until the completion is handed back
            // nobody else uses the buffer.
            let buffer = unsafe { self.buffers.slot_mut(request.slot) };
            let length = buffer.len().min(request.length_bytes as usize);
            let (target, table) = (&self.target, &self.in_flight_table);
            // Nobody waits for it any more if the pool has been dropped.
            let _ = self.finished.send(timed(target, table, &request, &mut buffer[..length]));
        }
    }
}
