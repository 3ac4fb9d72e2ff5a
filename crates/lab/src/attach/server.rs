//! The medium as a file of FUSE, in wall-clock time.
//!
//! One thread takes requests from the kernel, in order, and puts them on the timeline; another
//! answers each when it is due. With more threads taking, the halves of a large write could swap
//! places.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use device::{IoError, IoErrorKind};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, WriteFlags,
};

use super::cost::{HarnessCost, TRIAL};
use super::timeline::{LONGEST_BYTES, Timeline, TimelineRequest};

/// Inode number of the only file.
const FILE: INodeNo = INodeNo(2);

/// Time before an answer is due at which its thread stops sleeping and watches the clock: longer
/// than waking up takes.
const WATCH: Duration = Duration::from_micros(100);

/// Requests the kernel may send before it waits for answers; a loop device has 128.
const BACKGROUND: u16 = 256;

/// Lifetime of entries in the kernel's caches: name and size of the file never change.
const ALWAYS: Duration = Duration::from_secs(1 << 30);

/// Data of every read before time runs. Made when it is needed: as a constant it would add a
/// megabyte of zeros to the program.
static NOTHING: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; LONGEST_BYTES]);

/// A medium that is being served. Ends when dropped, if nothing holds the file open any more.
pub struct MediumServer {
    session: Option<BackgroundSession>,
    answering: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

impl MediumServer {
    /// Mounts at an empty directory a file system with one file of this name: the medium on the
    /// timeline.
    ///
    /// Time does not run yet: until [`MediumServer::start`] every request takes [`TRIAL`] and
    /// changes nothing.
    pub fn mount(
        at: &Path,
        name: &str,
        bytes: u64,
        discards: bool,
        timeline: Timeline<PendingReply>,
    ) -> io::Result<MediumServer> {
        let state = State { timeline, trials: VecDeque::new(), running: None, ended: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let file = OneFile {
            name: name.to_owned(),
            bytes,
            discards,
            made: SystemTime::now(),
            shared: Arc::clone(&shared),
        };
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(format!("sim:{name}")),
            MountOption::Subtype("flashmark".to_owned()),
        ];
        config.n_threads = Some(1);
        let session = Session::new(file, at, &config)?.spawn()?;
        let for_thread = Arc::clone(&shared);
        let answering =
            thread::Builder::new().name("answer".to_owned()).spawn(move || for_thread.answer())?;
        Ok(MediumServer { session: Some(session), answering: Some(answering), shared })
    }

    /// Time begins to run. `cost` is what the way to the medium takes, beside the medium.
    pub fn start(&self, cost: HarnessCost) {
        self.shared.state().running = Some(Running { since: Instant::now(), cost });
    }

    /// True if the file system is still there: an administrator may have unmounted it.
    pub fn is_mounted(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.guard.is_finished())
    }

    /// Unmounts, and waits until both threads have ended.
    pub fn unmount(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        let unmounted = self.session.take().map_or(Ok(()), BackgroundSession::umount_and_join);
        self.shared.state().ended = true;
        self.shared.changed.notify_all();
        if let Some(answering) = self.answering.take() {
            // It has nobody to tell of its end.
            let _ = answering.join();
        }
        unmounted
    }
}

impl Drop for MediumServer {
    fn drop(&mut self) {
        // What stays mounted is found and cleaned up by the next `attach` or `detach`.
        let _ = self.end();
    }
}

/// State that both threads share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    timeline: Timeline<PendingReply>,
    /// Requests from before time ran: when they are answered, who waits, and how many bytes they
    /// read.
    trials: VecDeque<(Instant, PendingReply, usize)>,
    running: Option<Running>,
    ended: bool,
}

impl State {
    /// Time at which the next answer is due.
    fn due(&self) -> Option<Instant> {
        let trial = self.trials.front().map(|(due, ..)| *due);
        let next = self
            .running
            .zip(self.timeline.next_ns())
            .map(|(running, ns)| running.since + Duration::from_nanos(ns));
        trial.into_iter().chain(next).min()
    }

    /// Gives every answer that is due.
    fn finish(&mut self, now: Instant) {
        let due = self.trials.partition_point(|(due, ..)| *due <= now);
        for (_, waits, bytes) in self.trials.drain(..due) {
            waits.answer(Ok(&NOTHING[..bytes]));
        }
        if let Some(running) = self.running {
            self.timeline.finish(running.at(now), PendingReply::answer);
        }
    }
}

/// Start of the medium's time, and the cost that is subtracted.
#[derive(Clone, Copy)]
struct Running {
    since: Instant,
    cost: HarnessCost,
}

impl Running {
    fn at(&self, instant: Instant) -> u64 {
        instant.saturating_duration_since(self.since).as_nanos() as u64
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked has left the timeline as it was between two requests.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request on the timeline.
    fn take(&self, asked: TimelineRequest<'_>, waits: PendingReply) {
        let arrived = Instant::now();
        let mut state = self.state();
        let Some(running) = state.running else {
            let bytes = (asked.bytes() as usize).min(LONGEST_BYTES);
            state.trials.push_back((arrived + TRIAL, waits, bytes));
            return self.changed.notify_all();
        };
        while !state.timeline.has_room() && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        // Before the request came here, and after its answer leaves, the way to the medium takes
        // time that the medium does not.
        let at_ns = running.at(arrived).saturating_sub(running.cost.of(&asked));
        if let Err((error, waits)) = state.timeline.arrive(at_ns, asked, waits) {
            return waits.answer(Err(error));
        }
        // A medium that is faster than the way to it answers from here, without waking anybody.
        state.finish(Instant::now());
        if state.due().is_some() {
            self.changed.notify_all();
        }
    }

    /// Answers every request when it is due, until the server ends.
    fn answer(&self) {
        let mut state = self.state();
        while !state.ended {
            let Some(due) = state.due() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = due.saturating_duration_since(Instant::now());
            if left > WATCH {
                state = self
                    .changed
                    .wait_timeout(state, left - WATCH)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
                continue;
            }
            drop(state);
            while Instant::now() < due {
                std::hint::spin_loop();
            }
            state = self.state();
            state.finish(Instant::now());
            // Whoever waits for room has it now.
            self.changed.notify_all();
        }
    }
}

/// Reply to the one who waits for an answer.
pub enum PendingReply {
    /// To a reader, with the bytes.
    Read(ReplyData),
    /// To a writer of so many bytes.
    Write(ReplyWrite, u32),
    /// To a flush or a discard, which only hears that it is done.
    Other(ReplyEmpty),
}

impl PendingReply {
    fn answer(self, result: Result<&[u8], IoError>) {
        match (self, result) {
            (PendingReply::Read(reply), Ok(data)) => reply.data(data),
            (PendingReply::Write(reply, bytes), Ok(_)) => reply.written(bytes),
            (PendingReply::Other(reply), Ok(_)) => reply.ok(),
            (PendingReply::Read(reply), Err(error)) => reply.error(errno(&error)),
            (PendingReply::Write(reply, _), Err(error)) => reply.error(errno(&error)),
            (PendingReply::Other(reply), Err(error)) => reply.error(errno(&error)),
        }
    }
}

/// Error number of the kernel for an error of the medium.
fn errno(error: &IoError) -> Errno {
    match (error.errno, error.kind) {
        (Some(number), _) => Errno::from_i32(number),
        (None, IoErrorKind::Gone) => Errno::ENODEV,
        (None, IoErrorKind::NoSpace) => Errno::ENOSPC,
        (None, IoErrorKind::ReadOnly) => Errno::EROFS,
        (None, IoErrorKind::Refused) => Errno::EINVAL,
        (None, IoErrorKind::Unsupported) => Errno::EOPNOTSUPP,
        (None, IoErrorKind::Medium | IoErrorKind::Other) => Errno::EIO,
    }
}

/// The file system: a directory with one file in it.
struct OneFile {
    name: String,
    bytes: u64,
    discards: bool,
    made: SystemTime,
    shared: Arc<Shared>,
}

impl OneFile {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let is_root = ino == INodeNo::ROOT;
        FileAttr {
            ino,
            size: if is_root { 0 } else { self.bytes },
            blocks: if is_root { 0 } else { self.bytes / 512 },
            atime: self.made,
            mtime: self.made,
            ctime: self.made,
            crtime: self.made,
            kind: if is_root { FileType::Directory } else { FileType::RegularFile },
            perm: if is_root { 0o700 } else { 0o600 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for OneFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let unsupported = || io::Error::from(io::ErrorKind::Unsupported);
        config.set_max_write(LONGEST_BYTES as u32).map_err(|_| unsupported())?;
        config.set_max_background(BACKGROUND).map_err(|_| unsupported())?;
        config.set_congestion_threshold(BACKGROUND).map_err(|_| unsupported())?;
        // Without it one request at a time comes through, whatever the depth above.
        config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).map_err(|_| unsupported())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == self.name.as_str() {
            reply.entry(&ALWAYS, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ALWAYS, &self.attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(
            FileHandle(0),
            FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES,
        );
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let inside = self.bytes.saturating_sub(offset).min(u64::from(size));
        match inside as u32 {
            0 => reply.data(&[]),
            inside => {
                self.shared.take(TimelineRequest::Read(offset, inside), PendingReply::Read(reply))
            }
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        self.shared.take(
            TimelineRequest::Write(offset, data),
            PendingReply::Write(reply, data.len() as u32),
        );
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Closing a file is nothing to a medium.
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.shared.take(TimelineRequest::Flush, PendingReply::Other(reply));
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        /// FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE: how a loop device passes a discard on.
        const PUNCH: i32 = 0x03;
        if mode == PUNCH && self.discards {
            self.shared.take(TimelineRequest::Discard(offset, length), PendingReply::Other(reply));
        } else {
            reply.error(Errno::EOPNOTSUPP);
        }
    }
}
