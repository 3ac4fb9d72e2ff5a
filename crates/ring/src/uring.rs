//! Many I/Os in flight through io_uring.
//!
//! What it does to cost little: the file and the buffers are registered once; requests gather in the ring's own memory and go to the
//! kernel together, in the same call that waits for completions; completions are made on this thread, when it asks for them
//! (SINGLE_ISSUER, DEFER_TASKRUN), not by interrupting it. Older kernels get what they understand.
//!
//! Time is taken once for all requests of a call, right before it, and once for all completions that it brought, right after. So an
//! I/O's latency begins when the kernel could first know of it, and ends when this thread could first know that it is done.

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
use crate::flights::Flights;
use crate::target::Target;
use crate::transfer::{discard, write_flags};

/// Places of the two descriptors in the ring's table of files.
const DIRECT: types::Fixed = types::Fixed(0);
const BUFFERED: types::Fixed = types::Fixed(1);

/// The one registered buffer: the mapping that holds all slots.
const BUFFER: u16 = 0;

/// An io_uring with its files and buffers.
pub(crate) struct Uring {
    /// Dropped only when the kernel has nothing left that writes into `buffers`.
    inner: ManuallyDrop<(IoUring, Arc<Buffers>)>,
    target: Arc<Target>,
    flights: Arc<Flights>,
    /// Whether the buffers could be registered; the limit on locked memory may forbid it.
    fixed: bool,
    /// What each slot is doing.
    pending: Vec<Pending>,
    /// In the ring's memory, not handed over yet.
    queued: Vec<Slot>,
    /// Handed over and not back.
    in_flight: usize,
    /// Back before anyone asked.
    ready: Vec<Completion>,
}

#[derive(Clone, Copy)]
struct Pending {
    request: Request,
    /// How much of it is done, if the kernel stopped short.
    moved_bytes: u32,
}

/// Whether this system lets us use io_uring at all (containers and hardened kernels do not).
pub(crate) fn is_available() -> bool {
    IoUring::new(2).is_ok()
}

impl Uring {
    /// Makes a ring for these buffers. It must be used on the thread that made it.
    pub fn new(target: Arc<Target>, flights: Arc<Flights>, buffers: Arc<Buffers>) -> io::Result<Uring> {
        let ring = build(buffers.slots().next_power_of_two())?;
        Uring::with(ring, target, flights, buffers)
    }

    fn with(ring: IoUring, target: Arc<Target>, flights: Arc<Flights>, buffers: Arc<Buffers>) -> io::Result<Uring> {
        let slots = buffers.slots();
        // Both are the same file where direct I/O was refused.
        let files = [Path::Direct, Path::Buffered].map(|path| target.fd(path).as_raw_fd());
        ring.submitter().register_files(&files)?;
        // SAFETY: the mapping lives as long as `buffers`, which is dropped with the ring and never before it.
        let fixed = unsafe { ring.submitter().register_buffers(&[buffers.as_iovec()]) }.is_ok();
        let nothing = Pending { request: Request::flush(0), moved_bytes: 0 };
        Ok(Uring {
            inner: ManuallyDrop::new((ring, buffers)),
            target,
            flights,
            fixed,
            pending: vec![nothing; slots as usize],
            queued: Vec::with_capacity(slots as usize),
            in_flight: 0,
            ready: Vec::new(),
        })
    }

    /// Queues one I/O; it is handed over when someone waits.
    #[inline]
    pub fn submit(&mut self, request: &Request) {
        self.flights.announce(request);
        if request.op == Op::Discard {
            return self.discard(request);
        }
        self.pending[request.slot as usize] = Pending { request: *request, moved_bytes: 0 };
        self.push(request.slot);
        self.queued.push(request.slot);
    }

    /// No ring operation discards on all kernels in use; it is done at once, and nothing is lost: nobody measures depth with it.
    fn discard(&mut self, request: &Request) {
        let submitted_ns = now_ns();
        self.flights.depart(request.slot, submitted_ns);
        let result = discard(&self.target, request);
        self.flights.arrive(request.slot);
        self.ready.push(Completion { slot: request.slot, submitted_ns, completed_ns: now_ns(), result });
    }

    /// Puts what is left of a slot's I/O into the ring's memory.
    #[inline]
    fn push(&mut self, slot: Slot) {
        let entry = self.entry(slot);
        // SAFETY: the entry's buffer is the slot's, which nobody touches until the completion is reaped, and which is not unmapped
        // while the kernel has the entry (see `drop`).
        unsafe { self.inner.0.submission().push(&entry) }.expect("the ring has a place for every slot");
    }

    #[inline]
    fn entry(&self, slot: Slot) -> squeue::Entry {
        let Pending { request, moved_bytes } = &self.pending[slot as usize];
        let fd = if request.path == Path::Direct { DIRECT } else { BUFFERED };
        let offset = request.offset_bytes + u64::from(*moved_bytes);
        let length = request.length_bytes as u32 - moved_bytes;
        // SAFETY: `moved_bytes` is below the slot's size: the kernel never moves more than it was asked to.
        let at = || unsafe { self.inner.1.slot_ptr(slot).add(*moved_bytes as usize) };
        let flags = write_flags(request.sync).bits() as i32;
        match (request.op, self.fixed) {
            (Op::Read, true) => opcode::ReadFixed::new(fd, at(), length, BUFFER).offset(offset).build(),
            (Op::Read, false) => opcode::Read::new(fd, at(), length).offset(offset).build(),
            (Op::Write, true) => opcode::WriteFixed::new(fd, at(), length, BUFFER).offset(offset).rw_flags(flags).build(),
            (Op::Write, false) => opcode::Write::new(fd, at(), length).offset(offset).rw_flags(flags).build(),
            (Op::Flush | Op::Discard, _) if request.sync == Sync::File => opcode::Fsync::new(fd).build(),
            (Op::Flush | Op::Discard, _) => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
        }
        .user_data(u64::from(slot))
    }

    /// Waits for at least `min` completions, or all there are.
    #[inline]
    pub fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let outstanding = self.ready.len() + self.queued.len() + self.in_flight;
        let target = done.len() + min.min(outstanding);
        done.append(&mut self.ready);
        loop {
            self.enter(target.saturating_sub(done.len()), None)?;
            self.harvest(done);
            if done.len() >= target {
                return Ok(());
            }
        }
    }

    /// Lets so much time pass while taking note of what completes meanwhile.
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
            self.harvest(&mut ready);
        }
        self.ready = ready;
        let left_ns = end.saturating_sub(now_ns());
        if left_ns > 0 {
            crate::clock::sleep(left_ns);
        }
        outcome
    }

    /// Hands over what is queued and waits for `want` completions, or until the time is up.
    #[inline]
    fn enter(&mut self, want: usize, timeout_ns: Option<u64>) -> Result<(), IoError> {
        if want == 0 && self.queued.is_empty() && self.in_flight == 0 {
            return Ok(());
        }
        let now = now_ns();
        for slot in self.queued.drain(..) {
            self.flights.depart(slot, now);
            self.in_flight += 1;
        }
        let ring = &mut self.inner.0;
        loop {
            let entered = match timeout_ns {
                None => ring.submit_and_wait(want),
                Some(ns) => {
                    let timeout = types::Timespec::from(std::time::Duration::from_nanos(ns));
                    ring.submitter().submit_with_args(want, &types::SubmitArgs::new().timespec(&timeout))
                }
            };
            match entered.map_err(|error| Errno::from_io_error(&error)) {
                // Kernels before 5.18 stop at a request that fails at once; the rest is still to be handed over.
                Ok(_) if ring.submission().is_empty() => return Ok(()),
                Ok(_) | Err(Some(Errno::INTR)) => {}
                // No memory for more just now, or nothing came in time: take what is there, then try again.
                Err(Some(Errno::AGAIN | Errno::BUSY | Errno::TIME)) => return Ok(()),
                Err(errno) => return Err(lost(errno)),
            }
        }
    }

    /// Takes all completions that are there.
    #[inline]
    fn harvest(&mut self, done: &mut Vec<Completion>) {
        let (ring, _) = &mut *self.inner;
        let mut completions = ring.completion();
        if completions.is_empty() {
            return;
        }
        let completed_ns = now_ns();
        let mut short = Vec::new();
        for entry in &mut completions {
            let slot = entry.user_data() as Slot;
            let pending = &mut self.pending[slot as usize];
            match pending.settle(&self.target, entry.result()) {
                Some(result) => {
                    self.in_flight -= 1;
                    let submitted_ns = self.flights.arrive(slot);
                    done.push(Completion { slot, submitted_ns, completed_ns, result });
                }
                None => short.push(slot),
            }
        }
        drop(completions);
        short.into_iter().for_each(|slot| self.push(slot));
    }
}

impl Pending {
    /// Counts what the kernel says about this I/O; `None` if some of it is still to be done.
    #[inline]
    fn settle(&mut self, target: &Target, result: i32) -> Option<Result<(), IoError>> {
        let request = &self.request;
        let asked = if matches!(request.op, Op::Read | Op::Write) { request.length_bytes as u32 } else { 0 };
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

/// Ways to set a ring up, the cheapest first; each kernel takes one of them (Linux 6.6, 6.1, 5.19, 5.1).
fn setups() -> [io_uring::Builder; 4] {
    let mut setups = std::array::from_fn(|_| IoUring::builder());
    setups[0].setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all().setup_no_sqarray();
    setups[1].setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
    setups[2].setup_coop_taskrun().setup_taskrun_flag().setup_submit_all();
    setups
}

/// A ring with the cheapest set-up that this kernel knows.
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

/// Saves the look-up of the ring's own descriptor on each call, from Linux 5.18 on.
fn register_itself(ring: &mut IoUring) {
    let _ = ring.submitter().register_ring_fd();
}

#[cold]
fn lost(errno: Option<Errno>) -> IoError {
    let detail = match errno {
        Some(Errno::EXIST) => "the ring is used on another thread than the one that prepared it".to_owned(),
        Some(errno) => format!("io_uring does not answer: {}", io::Error::from(errno)),
        None => "io_uring does not answer".to_owned(),
    };
    IoError::general(IoErrorKind::Other, detail)
}

/// How long a ring that is dropped waits for I/Os that are still out.
const PATIENCE_NS: u64 = 1_000_000_000;

impl Drop for Uring {
    /// The kernel may still write into the buffers. If it does not finish within a second, the memory is left to it.
    fn drop(&mut self) {
        let end = now_ns() + PATIENCE_NS;
        let mut ignored = Vec::new();
        while self.in_flight + self.queued.len() > 0 && now_ns() < end {
            if self.enter(1, Some(PATIENCE_NS)).is_err() {
                break;
            }
            self.harvest(&mut ignored);
        }
        if self.in_flight + self.queued.len() == 0 {
            // A ring is taken apart in the background, and would keep the file open meanwhile: whoever unmounts or reopens it next
            // would find it busy.
            let _ = self.inner.0.submitter().unregister_files();
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.inner) };
        }
    }
}

#[cfg(test)]
mod tests;
