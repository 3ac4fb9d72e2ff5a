//! What every device must do.

use record::HostStall;

use crate::{IoError, Request, Slot};

/// The end of an I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Which buffer is free again, holding the data if it was a read.
    pub slot: Slot,
    /// When it was handed over, by the device's clock.
    pub submitted_ns: u64,
    /// When it was done, by the device's clock; never before `submitted_ns`.
    pub completed_ns: u64,
    /// What came of it. A transfer that is short is an error, never a success.
    pub result: Result<(), IoError>,
}

impl Completion {
    /// How long it took.
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns - self.submitted_ns
    }
}

/// What a device is, fixed while it is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Size in bytes; for a file the most it may grow to.
    pub capacity_bytes: u64,
    /// Smallest addressable unit of a direct I/O, in bytes.
    pub logical_block_bytes: u64,
    /// Unit without read-modify-write, as the device declares it.
    pub physical_block_bytes: u64,
    /// Largest command that goes to the medium in one piece, where known; larger I/Os are split
    /// below us.
    pub max_transfer_bytes: Option<u64>,
    /// Most I/Os in flight.
    pub max_in_flight: u32,
    /// True if writes are refused.
    pub read_only: bool,
    /// True if ranges can be discarded.
    pub discards: bool,
    /// True if there is a page cache on the way, so that `Path::Buffered` differs from
    /// `Path::Direct`.
    pub has_page_cache: bool,
    /// True if buffers matter: false for a simulated medium that keeps no data, whose writers need
    /// not fill them.
    pub keeps_data: bool,
    /// How I/O is issued, in words: "io_uring", "pread/pwrite", "virtual time".
    pub engine: String,
}

/// A device does I/O to a medium and is the only clock there is.
///
/// # Contract
/// - **Clock.** [`now`](Device::now) never goes back. Times in completions come from the same
///   clock. Nothing that uses a device asks any other clock, so the same program on a simulated
///   device runs in virtual time and is repeatable to the byte.
/// - **Buffers** belong to the device. [`prepare`](Device::prepare) makes `slots` buffers of
///   `slot_bytes`, aligned as direct I/O needs; it is called with nothing in flight and may be
///   called again. A buffer must not be touched while its slot is in flight.
/// - **Submission** does not wait for the medium where the device can avoid it (a device without a
///   queue may do the I/O at once). An `Err` means that nothing was issued. At most `max_in_flight`
///   requests are in flight, one per slot.
/// - **Reaping** waits until at least `min` completions are there (or all that are in flight, if
///   fewer) and appends them in order of completion. An I/O that fails is a completion with an
///   error, not an error of `reap`; `reap` itself fails only when the device can no longer tell
///   what became of its I/Os.
/// - **Order.** Requests in flight together may be done in any order. A write that is complete is
///   seen by every later read.
/// - **Durability.** A write is durable after a completed flush, or at completion if it was
///   submitted with [`Sync`].
/// - **Failure.** After an error the device stays usable; if the medium is gone
///   ([`IoErrorKind::Gone`](crate::IoErrorKind)) every later request says so.
pub trait Device {
    /// Capacity, block sizes and abilities of the device, fixed while it is open.
    fn facts(&self) -> &Facts;

    /// The time in nanoseconds since some fixed point.
    fn now(&mut self) -> u64;

    /// Makes `slots` buffers of `slot_bytes` each. Their first contents are unspecified.
    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError>;

    /// The buffer of a slot that is not in flight. Panics if there is no such slot.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];

    /// Hands over one I/O.
    fn submit(&mut self, request: Request) -> Result<(), IoError>;

    /// Waits for at least `min` completions and appends all that are there.
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError>;

    /// Lets time pass without I/O.
    fn idle(&mut self, duration_ns: u64);

    /// Forgets what the host has cached of the medium.
    fn drop_caches(&mut self) -> Result<(), IoError>;

    /// Processor time this process has used, in nanoseconds; `None` where there is no processor
    /// (virtual time).
    fn cpu_ns(&mut self) -> Option<u64>;

    /// Stretches since `from_ns` in which the host did not run what was ready to run, by this
    /// device's clock, oldest first: what was under way then took longer by the host's doing. Empty
    /// where nobody looks. It may wait some milliseconds until the latest is known.
    fn host_stalls(&mut self, _from_ns: u64) -> Vec<HostStall> {
        Vec::new()
    }

    /// Time that the thread which waits for I/O was ready to run and waited for a processor, in
    /// nanoseconds, since some fixed point: what other work on the host added to the I/O. `None`
    /// where that is not known, or where there is no processor.
    fn run_delay_ns(&mut self) -> Option<u64> {
        None
    }

    /// Says whether reads will be looked at from now on. A device that keeps data in memory,
    /// because there is no medium, may stop keeping what is written (`facts().keeps_data`): what
    /// lies there already stays until it is overwritten. Every other has nothing to do with this.
    fn set_data_needed(&mut self, _looked_at: bool) {}
}

/// What points to a device is one.
macro_rules! through_a_pointer {
    ($pointer:ty) => {
        impl<D: Device + ?Sized> Device for $pointer {
            fn facts(&self) -> &Facts {
                (**self).facts()
            }
            fn now(&mut self) -> u64 {
                (**self).now()
            }
            fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
                (**self).prepare(slots, slot_bytes)
            }
            fn buffer(&mut self, slot: Slot) -> &mut [u8] {
                (**self).buffer(slot)
            }
            fn submit(&mut self, request: Request) -> Result<(), IoError> {
                (**self).submit(request)
            }
            fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
                (**self).reap(min, done)
            }
            fn idle(&mut self, duration_ns: u64) {
                (**self).idle(duration_ns)
            }
            fn drop_caches(&mut self) -> Result<(), IoError> {
                (**self).drop_caches()
            }
            fn cpu_ns(&mut self) -> Option<u64> {
                (**self).cpu_ns()
            }
            fn host_stalls(&mut self, from_ns: u64) -> Vec<HostStall> {
                (**self).host_stalls(from_ns)
            }
            fn run_delay_ns(&mut self) -> Option<u64> {
                (**self).run_delay_ns()
            }
            fn set_data_needed(&mut self, looked_at: bool) {
                (**self).set_data_needed(looked_at)
            }
        }
    };
}

through_a_pointer!(Box<D>);
through_a_pointer!(&mut D);
