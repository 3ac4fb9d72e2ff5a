//! The contract that every device fulfils.

use record::HostStall;

use crate::{DataGenerator, IoError, Request, Slot};

/// The completion of an I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Number of the buffer that is free again; holds the data if it was a read.
    pub slot: Slot,
    /// Time of submission in nanoseconds, by the device's clock.
    pub submitted_ns: u64,
    /// Time of completion in nanoseconds, by the device's clock; never before `submitted_ns`.
    pub completed_ns: u64,
    /// Result of the I/O. A short transfer is an error, never a success.
    pub result: Result<(), IoError>,
}

impl Completion {
    /// Time from submission to completion in nanoseconds.
    pub fn latency_ns(&self) -> u64 {
        self.completed_ns - self.submitted_ns
    }
}

/// Properties of a device, fixed while it is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Size in bytes; for a file the most it may grow to.
    pub capacity_bytes: u64,
    /// Smallest addressable unit of a direct I/O, in bytes.
    pub logical_block_bytes: u64,
    /// Unit without read-modify-write, as the device declares it.
    pub physical_block_bytes: u64,
    /// Largest command in bytes that goes to the medium in one piece, if known; the system splits
    /// larger I/Os.
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
    /// True if the file system refuses direct I/O, so that every result is one of the page cache.
    pub direct_refused: bool,
    /// True if the contents of buffers matter: false for a simulated medium that keeps no data; its
    /// writers need not fill them.
    pub keeps_data: bool,
    /// True for a simulated medium that can make anew what was written, and holds none of it.
    pub makes_data_anew: bool,
    /// The way in which I/O is issued: "io_uring", "pread/pwrite", "virtual time".
    pub engine: String,
}

/// A device does I/O to a medium and is the only clock.
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
///   error, not an error of `reap`; `reap` itself fails only if the device can no longer know the
///   results of its I/Os.
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

    /// Submits one I/O.
    fn submit(&mut self, request: Request) -> Result<(), IoError>;

    /// Waits for at least `min` completions and appends all that are there.
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError>;

    /// Lets time pass without I/O.
    fn idle(&mut self, duration_ns: u64);

    /// Drops everything that the host has cached of the medium.
    fn drop_caches(&mut self) -> Result<(), IoError>;

    /// Processor time this process has used, in nanoseconds; `None` where there is no processor
    /// (virtual time).
    fn cpu_ns(&mut self) -> Option<u64>;

    /// Stretches since `from_ns` in which the host did not run threads that were ready to run, by
    /// this device's clock, oldest first: they lengthen the latencies of I/Os in flight. Empty if
    /// the device does not detect them. May wait some milliseconds until the latest is known.
    fn host_stalls(&mut self, _from_ns: u64) -> Vec<HostStall> {
        Vec::new()
    }

    /// Time in nanoseconds, since some fixed point, in which the thread that waits for I/O was
    /// ready to run and waited for a processor: the part of latencies that other work on the host
    /// caused. `None` if that is not known, or if there is no processor.
    fn run_delay_ns(&mut self) -> Option<u64> {
        None
    }

    /// Announces whether the data of reads is needed from now on. A simulated device that keeps
    /// data in memory may stop keeping what is written (`facts().keeps_data`), except for the pass
    /// of a write that has one: `generator` makes its data again. Older data stays until it is
    /// overwritten. All other devices ignore this.
    fn set_data_needed(&mut self, _looked_at: bool, _generator: &DataGenerator) {}
}

/// Inside `impl Device for Wrapper`: forwards the named methods to `self.inner`, or with `to
/// pointer` to what `self` points to.
#[macro_export]
macro_rules! forward {
    (to pointer: $($method:ident)*) => { $($crate::forward!(@ $method pointer);)* };
    ($($method:ident)*) => { $($crate::forward!(@ $method inner);)* };
    (@to $self:ident pointer) => { **$self };
    (@to $self:ident inner) => { $self.inner };
    (@ facts $to:ident) => {
        fn facts(&self) -> &$crate::Facts {
            ($crate::forward!(@to self $to)).facts()
        }
    };
    (@ now $to:ident) => {
        fn now(&mut self) -> u64 {
            ($crate::forward!(@to self $to)).now()
        }
    };
    (@ prepare $to:ident) => {
        fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), $crate::IoError> {
            ($crate::forward!(@to self $to)).prepare(slots, slot_bytes)
        }
    };
    (@ buffer $to:ident) => {
        fn buffer(&mut self, slot: $crate::Slot) -> &mut [u8] {
            ($crate::forward!(@to self $to)).buffer(slot)
        }
    };
    (@ submit $to:ident) => {
        fn submit(&mut self, request: $crate::Request) -> Result<(), $crate::IoError> {
            ($crate::forward!(@to self $to)).submit(request)
        }
    };
    (@ reap $to:ident) => {
        #[inline]
        fn reap(&mut self, min: usize, done: &mut Vec<$crate::Completion>) -> Result<(), $crate::IoError> {
            ($crate::forward!(@to self $to)).reap(min, done)
        }
    };
    (@ idle $to:ident) => {
        fn idle(&mut self, duration_ns: u64) {
            ($crate::forward!(@to self $to)).idle(duration_ns)
        }
    };
    (@ drop_caches $to:ident) => {
        fn drop_caches(&mut self) -> Result<(), $crate::IoError> {
            ($crate::forward!(@to self $to)).drop_caches()
        }
    };
    (@ set_data_needed $to:ident) => {
        fn set_data_needed(&mut self, looked_at: bool, generator: &$crate::DataGenerator) {
            ($crate::forward!(@to self $to)).set_data_needed(looked_at, generator)
        }
    };
    (@ run_delay_ns $to:ident) => {
        fn run_delay_ns(&mut self) -> Option<u64> {
            ($crate::forward!(@to self $to)).run_delay_ns()
        }
    };
    (@ host_stalls $to:ident) => {
        fn host_stalls(&mut self, from_ns: u64) -> Vec<$crate::HostStall> {
            ($crate::forward!(@to self $to)).host_stalls(from_ns)
        }
    };
    (@ cpu_ns $to:ident) => {
        fn cpu_ns(&mut self) -> Option<u64> {
            ($crate::forward!(@to self $to)).cpu_ns()
        }
    };
}

impl<D: Device + ?Sized> Device for Box<D> {
    forward!(to pointer: facts now prepare buffer submit reap idle drop_caches cpu_ns host_stalls run_delay_ns set_data_needed);
}

impl<D: Device + ?Sized> Device for &mut D {
    forward!(to pointer: facts now prepare buffer submit reap idle drop_caches cpu_ns host_stalls run_delay_ns set_data_needed);
}

/// Does one I/O and waits for it. Buffers must be prepared, and nothing may be in flight. What was
/// read is in the buffer of the request's slot.
///
/// # Errors
/// The request was refused, or failed.
pub fn do_io(device: &mut dyn Device, request: Request) -> Result<Completion, IoError> {
    let mut done = Vec::with_capacity(1);
    device.submit(request)?;
    device.reap(1, &mut done)?;
    let completion = done.pop().expect("reap waits for the one request in flight");
    completion.result.clone().map(|()| completion)
}
