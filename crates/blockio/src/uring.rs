//! Many I/Os in flight through io_uring.
//!
//! To be cheap, it registers the file and the buffers once; it gathers requests and submits them in
//! the same call that waits for completions; the kernel posts completions when this thread asks for
//! them (SINGLE_ISSUER, DEFER_TASKRUN), without interrupting it. Older kernels get the flags that
//! they know.
//!
//! The time is taken once for all requests of a call, right before it, and once for all completions
//! that it brought, right after. So an I/O's latency begins when the kernel could first know of it,
//! and ends when this thread could first know that it is done.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use device::{Completion, IoError, IoErrorKind, Op, Request, Slot};
use io_uring::{IoUring, opcode, squeue, types};
use record::{Path, Sync};
use rustix::io::Errno;

use crate::buffers::Buffers;
use crate::clock::now_ns;
use crate::errors::{ended_early, io_error};
use crate::in_flight::InFlightTable;
use crate::psync::timed;
use crate::target::Target;
use crate::transfer::write_flags;

/// Places of the two descriptors in the ring's table of files.
const DIRECT: types::Fixed = types::Fixed(0);
const BUFFERED: types::Fixed = types::Fixed(1);

/// The one registered buffer: the mapping that holds all slots.
const BUFFER: u16 = 0;

/// An io_uring with its files and buffers.
pub(crate) struct Uring {
    /// Dropped only when the kernel no longer writes into `buffers`.
    inner: ManuallyDrop<(IoUring, Arc<Buffers>)>,
    target: Arc<Target>,
    in_flight_table: Arc<InFlightTable>,
    /// True if the buffers could be registered; the limit on locked memory may forbid it.
    fixed: bool,
    /// True if one call can wait for completions with a timeout (Linux 5.11).
    waits_timed: bool,
    /// The request of each slot.
    pending: Vec<Pending>,
    /// Slots that are not submitted yet.
    queued: Vec<Slot>,
    /// Number of I/Os submitted and not completed, those in `unfinished` included.
    in_flight: usize,
    /// Slots of short transfers: the rest must be submitted again.
    unfinished: Vec<Slot>,
    /// Completions that nobody has asked for yet.
    ready: Vec<Completion>,
}

#[derive(Clone, Copy)]
struct Pending {
    request: Request,
    /// Bytes that are done, after a short transfer.
    moved_bytes: u32,
}

/// True if this system allows io_uring at all (containers and hardened kernels do not).
pub(crate) fn is_available() -> bool {
    IoUring::new(2).is_ok()
}

impl Uring {
    /// Makes a ring for these buffers. It must be used on the thread that made it.
    pub fn new(
        target: Arc<Target>,
        in_flight_table: Arc<InFlightTable>,
        buffers: Arc<Buffers>,
    ) -> io::Result<Uring> {
        let ring = build(buffers.slots().next_power_of_two())?;
        Uring::with(ring, target, in_flight_table, buffers)
    }

    fn with(
        ring: IoUring,
        target: Arc<Target>,
        in_flight_table: Arc<InFlightTable>,
        buffers: Arc<Buffers>,
    ) -> io::Result<Uring> {
        let slots = buffers.slots();
        // Both are the same file where direct I/O was refused.
        let files = [Path::Direct, Path::Buffered].map(|path| target.fd(path).as_raw_fd());
        ring.submitter().register_files(&files)?;
        // SAFETY: the mapping lives as long as `buffers`, which is dropped with the ring and never
        // before it.
        let fixed = unsafe { ring.submitter().register_buffers(&[buffers.as_iovec()]) }.is_ok();
        let waits_timed = ring.params().is_feature_ext_arg();
        let nothing = Pending { request: Request::flush(0), moved_bytes: 0 };
        Ok(Uring {
            inner: ManuallyDrop::new((ring, buffers)),
            target,
            in_flight_table,
            fixed,
            waits_timed,
            pending: vec![nothing; slots as usize],
            queued: Vec::with_capacity(slots as usize),
            in_flight: 0,
            unfinished: Vec::new(),
            ready: Vec::new(),
        })
    }

    /// Queues one I/O; the next wait submits it. Discards at once, without the ring: not all kernels
    /// in use have a ring operation for it, and discards are not measured with queue depth.
    #[inline]
    pub fn submit(&mut self, request: &Request) {
        if request.op == Op::Discard {
            let discarded = timed(&self.target, &self.in_flight_table, request, &mut []);
            return self.ready.push(discarded);
        }
        self.in_flight_table.announce(request);
        self.pending[request.slot as usize] = Pending { request: *request, moved_bytes: 0 };
        self.queued.push(request.slot);
    }

    /// Writes all queued entries into the ring's memory, where the next call finds them.
    #[inline]
    fn push_all(&mut self) {
        let (ring, buffers) = &mut *self.inner;
        let mut submission = ring.submission();
        for &slot in self.unfinished.iter().chain(&self.queued) {
            let entry = self.pending[slot as usize].entry(slot, self.fixed, buffers);
            // SAFETY: the entry's buffer is the slot's, which nobody touches until the completion
            // is reaped, and which is not unmapped while the kernel has the entry (see `drop`).
            unsafe { submission.push(&entry) }.expect("the ring has a place for every slot");
        }
        self.unfinished.clear();
        self.in_flight += self.queued.len();
        let now = now_ns();
        for slot in self.queued.drain(..) {
            self.in_flight_table.note_submission(slot, now);
        }
    }

    /// Waits for at least `min` completions, or for all if fewer are in flight.
    #[inline]
    pub fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let outstanding = self.ready.len() + self.queued.len() + self.in_flight;
        let target = done.len() + min.min(outstanding);
        done.append(&mut self.ready);
        loop {
            let entered = self.enter(target.saturating_sub(done.len()), None);
            // What is back is back, even where the ring is lost.
            self.take_completions(done);
            if entered.is_err() || done.len() >= target {
                return entered;
            }
        }
    }

    /// Waits for `duration_ns`, and notes completions meanwhile.
    pub fn idle(&mut self, duration_ns: u64) -> Result<(), IoError> {
        let end = now_ns() + duration_ns;
        let mut ready = std::mem::take(&mut self.ready);
        let mut outcome = Ok(());
        while outcome.is_ok() && self.queued.len() + self.in_flight > 0 {
            let left_ns = end.saturating_sub(now_ns());
            if left_ns == 0 {
                break;
            }
            outcome = self.enter(1, Some(left_ns));
            self.take_completions(&mut ready);
        }
        self.ready = ready;
        let left_ns = end.saturating_sub(now_ns());
        if left_ns > 0 {
            crate::clock::sleep(left_ns);
        }
        outcome
    }

    /// Submits what is queued and waits for `want` completions, or until the timeout.
    #[inline]
    fn enter(&mut self, want: usize, timeout_ns: Option<u64>) -> Result<(), IoError> {
        if want == 0 && self.queued.is_empty() && self.in_flight == 0 {
            return Ok(());
        }
        self.push_all();
        let ring = &mut self.inner.0;
        loop {
            let entered = match timeout_ns {
                None => ring.submit_and_wait(want),
                Some(ns) if !self.waits_timed => {
                    crate::clock::sleep(ns.min(GLANCE_NS));
                    ring.submit().and_then(|_| poll_completions(ring))
                }
                Some(ns) => {
                    let timeout = types::Timespec::from(std::time::Duration::from_nanos(ns));
                    ring.submitter()
                        .submit_with_args(want, &types::SubmitArgs::new().timespec(&timeout))
                }
            };
            match entered.map_err(|error| Errno::from_io_error(&error)) {
                // Kernels before 5.18 stop at a request that fails at once; the rest is still to be
                // handed over.
                Ok(_) if ring.submission().is_empty() => return Ok(()),
                Ok(_) | Err(Some(Errno::INTR)) => {}
                // No memory for more just now, or nothing came in time: take what is there, then
                // try again.
                Err(Some(Errno::AGAIN | Errno::BUSY | Errno::TIME)) => return Ok(()),
                Err(errno) => return Err(lost(errno)),
            }
        }
    }

    /// Takes all completions that are ready.
    #[inline]
    fn take_completions(&mut self, done: &mut Vec<Completion>) {
        let (ring, _) = &mut *self.inner;
        let mut completions = ring.completion();
        if completions.is_empty() {
            return;
        }
        let completed_ns = now_ns();
        for entry in &mut completions {
            let slot = entry.user_data() as Slot;
            let pending = &mut self.pending[slot as usize];
            match pending.settle(&self.target, entry.result()) {
                Some(result) => {
                    self.in_flight -= 1;
                    let submitted_ns = self.in_flight_table.note_completion(slot);
                    done.push(Completion { slot, submitted_ns, completed_ns, result });
                }
                None => self.unfinished.push(slot),
            }
        }
    }
}

impl Pending {
    /// Ring entry for the remaining part of the request, with the slot's buffer registered
    /// (`fixed`) or not.
    #[inline]
    fn entry(&self, slot: Slot, fixed: bool, buffers: &Buffers) -> squeue::Entry {
        let Pending { request, moved_bytes } = self;
        let fd = if request.path == Path::Direct { DIRECT } else { BUFFERED };
        let offset = request.offset_bytes + u64::from(*moved_bytes);
        let length = request.length_bytes as u32 - moved_bytes;
        // SAFETY: `moved_bytes` is below the slot's size: the kernel never moves more than it was
        // asked to.
        let at = || unsafe { buffers.slot_ptr(slot).add(*moved_bytes as usize) };
        let flags = write_flags(request.sync).bits() as i32;
        match (request.op, fixed) {
            (Op::Read, true) => {
                opcode::ReadFixed::new(fd, at(), length, BUFFER).offset(offset).build()
            }
            (Op::Read, false) => opcode::Read::new(fd, at(), length).offset(offset).build(),
            (Op::Write, true) => opcode::WriteFixed::new(fd, at(), length, BUFFER)
                .offset(offset)
                .rw_flags(flags)
                .build(),
            (Op::Write, false) => {
                opcode::Write::new(fd, at(), length).offset(offset).rw_flags(flags).build()
            }
            (Op::Flush | Op::Discard, _) if request.sync == Sync::File => {
                opcode::Fsync::new(fd).build()
            }
            (Op::Flush | Op::Discard, _) => {
                opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build()
            }
        }
        .user_data(u64::from(slot))
    }

    /// Counts the kernel's result of this I/O; `None` if some of it is still to be done.
    #[inline]
    fn settle(&mut self, target: &Target, result: i32) -> Option<Result<(), IoError>> {
        let request = &self.request;
        let asked = if matches!(request.op, Op::Read | Op::Write) {
            request.length_bytes as u32
        } else {
            0
        };
        let left = asked - self.moved_bytes;
        match u32::try_from(result) {
            Ok(moved) if moved == left => Some(Ok(())),
            Ok(0) => Some(Err(ended_early(target, request, u64::from(self.moved_bytes)))),
            Ok(moved) => {
                self.moved_bytes += moved;
                None
            }
            Err(_) => match Errno::from_raw_os_error(-result) {
                Errno::INTR | Errno::AGAIN => None,
                errno => Some(Err(io_error(target, request, errno))),
            },
        }
    }
}

/// Ways to set up a ring, the cheapest first, for Linux 6.6, 6.1, 5.19 and 5.1.
fn setups() -> [io_uring::Builder; 4] {
    let mut setups = std::array::from_fn(|_| IoUring::builder());
    setups[0]
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_submit_all()
        .setup_no_sqarray();
    setups[1].setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
    setups[2].setup_coop_taskrun().setup_taskrun_flag().setup_submit_all();
    setups
}

/// A ring with the cheapest setup that this kernel accepts.
fn build(entries: u32) -> io::Result<IoUring> {
    let mut built = Err(io::ErrorKind::Unsupported.into());
    for setup in setups() {
        built = setup.build(entries);
        if built.is_ok() {
            break;
        }
    }
    let mut ring = built?;
    register_itself(&mut ring);
    Ok(ring)
}

/// Registers the ring's own descriptor, which saves a look-up on each call, from Linux 5.18 on.
fn register_itself(ring: &mut IoUring) {
    let _ = ring.submitter().register_ring_fd();
}

#[cold]
fn lost(errno: Option<Errno>) -> IoError {
    let detail = match errno {
        Some(Errno::EXIST) => {
            "the ring is used on another thread than the one that prepared it".to_owned()
        }
        Some(errno) => format!("io_uring does not answer: {}", io::Error::from(errno)),
        None => "io_uring does not answer".to_owned(),
    };
    IoError::general(IoErrorKind::Other, detail)
}

/// Longest wait of a ring that is dropped for its I/Os in flight, in nanoseconds.
const PATIENCE_NS: u64 = 1_000_000_000;

/// Interval in nanoseconds at which completions are polled on kernels that cannot wait for them
/// with a timeout.
const GLANCE_NS: u64 = 100_000;

/// Asks the kernel for pending completions, without submitting anything or waiting.
fn poll_completions(ring: &IoUring) -> io::Result<usize> {
    /// Flag IORING_ENTER_GETEVENTS of linux/io_uring.h.
    const GET_EVENTS: u32 = 1;
    // SAFETY: no argument is passed, and nothing is handed over whose buffers could be wrong.
    unsafe { ring.submitter().enter::<()>(0, 0, GET_EVENTS, None) }
}

impl Uring {
    /// Number of I/Os in the kernel: without those that it never took, and those that must be
    /// submitted again.
    fn kernel_has(&mut self) -> usize {
        self.in_flight - self.unfinished.len() - self.inner.0.submission().len()
    }
}

impl Drop for Uring {
    /// Never submits what is queued. The kernel may still write into the buffers of the rest: if it
    /// does not finish within [`PATIENCE_NS`], the memory is leaked.
    fn drop(&mut self) {
        let end = now_ns() + PATIENCE_NS;
        let mut ignored = Vec::new();
        while self.kernel_has() > 0 && now_ns() < end && poll_completions(&self.inner.0).is_ok() {
            self.take_completions(&mut ignored);
            if self.kernel_has() > 0 {
                crate::clock::sleep(GLANCE_NS);
            }
        }
        if self.kernel_has() == 0 {
            // A ring is taken apart in the background, and would keep the file open meanwhile:
            // whoever unmounts or reopens it next would find it busy.
            let _ = self.inner.0.submitter().unregister_files();
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}

#[cfg(test)]
mod tests;
