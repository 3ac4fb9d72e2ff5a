//! The real device: a file or block device, its buffers, and an engine that moves data between
//! them.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use device::{Completion, Device, Extent, Facts, IoError, IoErrorKind, Op, Request, Slot};
use record::Path as IoPath;
use rustix::fs::{Advice, fadvise, fsync};

use crate::buffers::Buffers;
use crate::clock::{cpu_ns, now_ns, run_delay_ns, sleep};
use crate::directory::Directory;
use crate::errors::io_error;
use crate::expect::OpenError;
use crate::host_lateness;
use crate::in_flight::{InFlightTable, InFlightWatch, MAX_SLOTS};
use crate::ioctl;
use crate::open::{
    AdoptedKind, EngineChoice, OpenOptions, OpenSettings, OpenedFile, adopt, open_path,
};
use crate::pool::{MAX_THREADS, ThreadPool};
use crate::psync::Psync;
use crate::target::{FileKind, Target};
use crate::uring::{self, Uring};

/// Interval, in nanoseconds, at which an idling device checks the stop flag.
const SLICE_NS: u64 = 50_000_000;

/// A device on this machine.
///
/// After [`prepare`](Device::prepare) the device must stay on the thread that called it: the kernel
/// allows io_uring's cheapest form to one thread only.
pub struct RealDevice {
    // Before `buffers`: its I/O ends first.
    engine: Engine,
    buffers: Arc<Buffers>,
    /// For each slot, true between submission and completion.
    busy: Vec<bool>,
    /// True if the engine can no longer know the result of its I/Os.
    lost: bool,
    facts: Facts,
    target: Arc<Target>,
    in_flight_table: Arc<InFlightTable>,
    choice: EngineChoice,
    uring_available: bool,
    stop: Option<Arc<AtomicBool>>,
}

enum Engine {
    Psync(Psync),
    Pool(ThreadPool),
    Uring(Box<Uring>),
}

impl RealDevice {
    /// Opens a file or block device.
    pub fn open(options: &OpenOptions) -> Result<RealDevice, OpenError> {
        open_path(options)
            .and_then(|opened| RealDevice::with(opened, &options.settings, &options.path))
    }

    /// Makes a file in `dir` that grows to at most `capacity_bytes` and has no name: it disappears
    /// with the device or the process. For a directory that the caller has made; open a directory
    /// that a user has named first ([`Directory::open`], [`RealDevice::create_at`]).
    pub fn create_in(
        dir: &Path,
        capacity_bytes: u64,
        settings: &OpenSettings,
    ) -> Result<RealDevice, OpenError> {
        RealDevice::create_at(&Directory::trusted(dir)?, capacity_bytes, settings)
    }

    /// The same in an open directory, even if its name leads elsewhere now.
    pub fn create_at(
        dir: &Directory,
        capacity_bytes: u64,
        settings: &OpenSettings,
    ) -> Result<RealDevice, OpenError> {
        let opened = adopt(
            dir.nameless_file()?,
            dir.path(),
            true,
            AdoptedKind::File { capacity_bytes },
            settings,
        )?;
        RealDevice::with(opened, settings, dir.path())
    }

    /// Takes a regular file that is already open (for reading, and for writing if `writable`), of
    /// which at most `capacity_bytes` are used.
    pub fn from_file(
        file: File,
        capacity_bytes: u64,
        writable: bool,
        settings: &OpenSettings,
    ) -> Result<RealDevice, OpenError> {
        let path = Path::new("the open file");
        RealDevice::with(
            adopt(file, path, writable, AdoptedKind::File { capacity_bytes }, settings)?,
            settings,
            path,
        )
    }

    fn with(
        opened: OpenedFile,
        settings: &OpenSettings,
        path: &Path,
    ) -> Result<RealDevice, OpenError> {
        let OpenedFile { target, mut facts } = opened;
        let uring_available = uring_available(settings.engine, &target);
        if settings.engine == EngineChoice::Uring && !uring_available {
            let source =
                std::io::Error::new(std::io::ErrorKind::Unsupported, "io_uring is refused here");
            return Err(OpenError::Refused { path: path.to_owned(), source });
        }
        facts.max_in_flight = if uring_available { MAX_SLOTS } else { MAX_THREADS };
        facts.engine = engine_in_words(settings.engine, uring_available, target.direct.is_some());
        let (target, in_flight_table) = (Arc::new(target), InFlightTable::new());
        host_lateness::begin();
        Ok(RealDevice {
            engine: Engine::Psync(Psync::new(target.clone(), in_flight_table.clone())),
            buffers: Arc::new(Buffers::new(0, 0).expect("one page is always there")),
            busy: Vec::new(),
            lost: false,
            facts,
            target,
            in_flight_table,
            choice: settings.engine,
            uring_available,
            stop: settings.stop.clone(),
        })
    }

    /// A view of the I/Os in flight, for other threads.
    pub fn watch(&self) -> InFlightWatch {
        InFlightWatch(self.in_flight_table.clone())
    }

    fn make_engine(&self, buffers: &Arc<Buffers>) -> Result<Engine, IoError> {
        let slots = buffers.slots();
        let (target, in_flight_table) = (self.target.clone(), self.in_flight_table.clone());
        if self.uring_available && (slots > 1 || self.choice == EngineChoice::Uring) {
            let made = Uring::new(target, in_flight_table, buffers.clone());
            return made.map(|uring| Engine::Uring(Box::new(uring))).map_err(|error| {
                IoError::general(
                    IoErrorKind::Other,
                    format!("io_uring cannot be set up for {slots} I/Os in flight: {error}"),
                )
            });
        }
        match slots {
            0 | 1 => Ok(Engine::Psync(Psync::new(target, in_flight_table))),
            _ => ThreadPool::new(target, in_flight_table, buffers.clone()).map(Engine::Pool),
        }
    }

    /// Writes back what the host keeps of the medium, and forgets it.
    fn drop_caches_now(&self) -> Result<(), IoError> {
        let fd = &self.target.buffered;
        let flush = Request { path: IoPath::Buffered, ..Request::flush(0) };
        fsync(fd).map_err(|errno| io_error(&self.target, &flush, errno))?;
        let flushed = self.target.kind == FileKind::Block && ioctl::flush_buffers(fd).is_ok();
        if !flushed {
            fadvise(fd, 0, None, Advice::DontNeed)
                .map_err(|errno| io_error(&self.target, &flush, errno))?;
        }
        Ok(())
    }

    /// The reason for refusing a request, if there is one.
    #[inline]
    fn objection(&self, request: &Request) -> Option<(IoErrorKind, &'static str)> {
        use IoErrorKind::{ReadOnly, Refused, Unsupported};
        match self.busy.get(request.slot as usize) {
            None => return Some((Refused, "there is no such slot")),
            Some(true) => return Some((Refused, "its slot is in flight")),
            Some(false) if request.op == Op::Flush => return None,
            Some(false) => {}
        }
        let range = Extent::new(request.offset_bytes, request.length_bytes);
        if range.bytes == 0 || !Extent::new(0, self.facts.capacity_bytes).contains(&range) {
            return Some((Refused, "it is empty or reaches outside the medium"));
        }
        if request.modifies() && self.facts.read_only {
            return Some((ReadOnly, "it is open for reading only"));
        }
        if request.op == Op::Discard {
            let why = "the medium or its file system cannot discard";
            return (!self.facts.discards).then_some((Unsupported, why));
        }
        if range.bytes > self.buffers.slot_bytes() as u64 {
            return Some((Refused, "it is longer than its buffer"));
        }
        let block = self.facts.logical_block_bytes;
        if request.path == IoPath::Direct && (range.offset_bytes | range.bytes) & (block - 1) != 0 {
            return Some((Unsupported, "it does not begin and end with a logical block"));
        }
        None
    }
}

/// True if io_uring is wanted and available. Without direct I/O it is not wanted: the page cache is
/// emptied before each read instead.
fn uring_available(choice: EngineChoice, target: &Target) -> bool {
    choice != EngineChoice::Psync && target.direct.is_some() && uring::is_available()
}

fn engine_in_words(choice: EngineChoice, uring: bool, direct: bool) -> String {
    let engine = match (choice, uring) {
        (EngineChoice::Uring, _) => "io_uring",
        (_, true) => "io_uring; pread/pwrite with one I/O in flight",
        (_, false) => "pread/pwrite; one thread for each I/O in flight",
    };
    if direct { engine.to_owned() } else { format!("{engine}; direct I/O refused") }
}

impl Device for RealDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    #[inline]
    fn now(&mut self) -> u64 {
        now_ns()
    }

    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        if slots > self.facts.max_in_flight {
            let detail = format!(
                "{slots} I/Os in flight are more than the {} that this device takes",
                self.facts.max_in_flight
            );
            return Err(IoError::general(IoErrorKind::Refused, detail));
        }
        // An engine that is lost keeps its buffers for as long as the kernel may write into them.
        if self.busy.contains(&true) && !self.lost {
            return Err(IoError::general(
                IoErrorKind::Refused,
                "buffers cannot change while I/O is in flight",
            ));
        }
        let buffers = Arc::new(Buffers::new(slots, slot_bytes)?);
        self.engine = self.make_engine(&buffers)?;
        self.buffers = buffers;
        self.busy = vec![false; slots as usize];
        self.lost = false;
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.busy[slot as usize], "the buffer of slot {slot} is in flight");
        // SAFETY: no I/O uses the slot, since it is not in flight, and the slice borrows the
        // device, so that nothing is submitted and no other slice is made while it lives.
        unsafe { self.buffers.slot_mut(slot) }
    }

    #[inline]
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if let Some((kind, why)) = self.objection(&request) {
            return Err(IoError::new(kind, &request, why));
        }
        self.busy[request.slot as usize] = true;
        match &mut self.engine {
            Engine::Psync(psync) => {
                // SAFETY: the slot was not in flight, and this call is over before anyone else can
                // ask for it.
                let buffer = unsafe { self.buffers.slot_mut(request.slot) };
                let length = buffer.len().min(request.length_bytes as usize);
                psync.submit(&request, &mut buffer[..length]);
            }
            Engine::Pool(pool) => pool.submit(&request),
            Engine::Uring(uring) => uring.submit(&request),
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let before = done.len();
        let mut outcome = Ok(());
        match &mut self.engine {
            Engine::Psync(psync) => psync.reap(done),
            Engine::Pool(pool) => pool.reap(min, done),
            Engine::Uring(uring) => outcome = uring.reap(min, done),
        }
        for completion in &done[before..] {
            self.busy[completion.slot as usize] = false;
        }
        self.lost = outcome.is_err();
        outcome
    }

    fn idle(&mut self, duration_ns: u64) {
        let end = now_ns() + duration_ns;
        loop {
            let left_ns = end.saturating_sub(now_ns());
            if left_ns == 0 || self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return;
            }
            match &mut self.engine {
                // A ring that fails says so again when it is next reaped.
                Engine::Uring(uring) => drop(uring.idle(left_ns.min(SLICE_NS))),
                _ => sleep(left_ns.min(SLICE_NS)),
            }
        }
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        // It waits for the medium like an I/O, and nothing else is in flight.
        self.in_flight_table.announce(&Request::flush(0));
        self.in_flight_table.note_submission(0, now_ns());
        let dropped = self.drop_caches_now();
        self.in_flight_table.note_completion(0);
        dropped
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        Some(cpu_ns())
    }

    /// Run delay of the thread that waits for the I/O; `None` for a pool, whose threads wait
    /// instead.
    fn run_delay_ns(&mut self) -> Option<u64> {
        if matches!(self.engine, Engine::Pool(_)) { None } else { run_delay_ns() }
    }

    fn host_stalls(&mut self, from_ns: u64) -> Vec<record::HostStall> {
        host_lateness::since(from_ns)
    }
}
