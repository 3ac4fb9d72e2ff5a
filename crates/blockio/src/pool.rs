//! Depth by threads, where io_uring is refused.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use device::{Completion, IoError, IoErrorKind, Request};

use crate::buffers::Buffers;
use crate::flights::Flights;
use crate::priority::Ahead;
use crate::psync::timed;
use crate::target::Target;

/// Most threads, and so most I/Os in flight.
pub(crate) const MAX_THREADS: u32 = 32;

/// How long a pool that is dropped waits for I/Os that are still out.
const PATIENCE: Duration = Duration::from_secs(1);

/// A thread for each slot, each doing one I/O at a time by pread and pwrite. Times are taken on the
/// thread that does the I/O, so what a thread needs to wake up is not counted as the medium's.
pub(crate) struct ThreadPool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Submitted and not reaped.
    in_flight: usize,
}

struct Shared {
    target: Arc<Target>,
    flights: Arc<Flights>,
    /// Owned by every thread, so that it outlives a thread that hangs in the kernel after the pool
    /// is gone.
    buffers: Arc<Buffers>,
    state: Mutex<State>,
    work: Condvar,
    finished: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Request>,
    ready: Vec<Completion>,
    closing: bool,
    /// Threads that have nothing left to do but end.
    ended: usize,
}

impl ThreadPool {
    pub fn new(
        target: Arc<Target>,
        flights: Arc<Flights>,
        buffers: Arc<Buffers>,
    ) -> Result<ThreadPool, IoError> {
        let threads = buffers.slots();
        let (state, work, finished) = Default::default();
        let shared = Arc::new(Shared { target, flights, buffers, state, work, finished });
        let mut pool = ThreadPool { shared, threads: Vec::new(), in_flight: 0 };
        for _ in 0..threads {
            let shared = pool.shared.clone();
            let thread = std::thread::Builder::new()
                .name("flashmark-io".into())
                .stack_size(64 << 10)
                .spawn(move || {
                    let _ahead = Ahead::of_others();
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
        self.shared.lock().waiting.push_back(*request);
        self.shared.work.notify_one();
        self.in_flight += 1;
    }

    pub fn reap(&mut self, min: usize, done: &mut Vec<Completion>) {
        let min = min.min(self.in_flight);
        let mut state = self.shared.lock();
        while state.ready.len() < min {
            state =
                self.shared.finished.wait(state).expect("no thread panics while it holds the lock");
        }
        self.in_flight -= state.ready.len();
        state.ready.sort_by_key(|completion| completion.completed_ns);
        done.append(&mut state.ready);
    }
}

impl Drop for ThreadPool {
    /// Waits for the threads, so that the file is closed when the device is gone; but not for long
    /// for one that hangs in the kernel.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closing = true;
        self.shared.work.notify_all();
        let all = self.threads.len();
        let waited =
            self.shared.finished.wait_timeout_while(state, PATIENCE, |state| state.ended < all);
        if waited.is_ok_and(|(_, waited)| !waited.timed_out()) {
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the lock")
    }

    /// What a thread does from beginning to end.
    fn work(&self) {
        while let Some(request) = self.next() {
            // SAFETY: the request's slot is in flight from submission until its completion is
            // reaped, and one slot carries one request, so until the completion is pushed below
            // nobody else uses the buffer.
            let buffer = unsafe { self.buffers.slot_mut(request.slot) };
            let length = buffer.len().min(request.length_bytes as usize);
            let completion = timed(&self.target, &self.flights, &request, &mut buffer[..length]);
            self.lock().ready.push(completion);
            self.finished.notify_one();
        }
        self.lock().ended += 1;
        self.finished.notify_one();
    }

    /// The next request; `None` when the pool closes.
    fn next(&self) -> Option<Request> {
        let mut state = self.lock();
        loop {
            if let Some(request) = state.waiting.pop_front() {
                return Some(request);
            }
            if state.closing {
                return None;
            }
            state = self.work.wait(state).expect("no thread panics while it holds the lock");
        }
    }
}
