//! Recording what programs do with the files below a directory.
//!
//! System calls, with their descriptors, offsets, results and times, come from the events
//! `syscalls/sys_enter_*` and `sys_exit_*` of a private instance of tracefs. Paths are only
//! pointers there, so they come from fanotify: it holds each opening for an instant, which
//! therefore lies between the begin and the end of one system call of its thread; names that were
//! made, removed or changed come in the order in which their thread did it. Which descriptor is
//! which file is followed through dup, fork, exec and exit.

mod calls;
mod directories;
mod matcher;
mod tables;

use std::collections::HashMap;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use host::{FileHandle, NameChange, NameWatch, OpenEvent, OpenWatch, Roots};
use rustix::time::ClockId;

use self::calls::{CALLS, Call};
use self::matcher::{Event, Matcher, Opened};
use super::format::{EventFields, kind};
use super::page::PageLayout;
use super::recorder::{PAGE_BYTES, ROUND, SETTLED_NS, clean_tracefs};
use super::tracefs::{Buffer, Instance, Tracefs};
use super::{CaptureError, CaptureLimits, Counted, KEEP_NS, clock_ns};
use crate::trace::files::{FileOperation, FileTraceHeader, FileTraceWriter};

/// What was recorded so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CapturedFiles {
    /// Operations in the trace.
    pub operations: u64,
    /// Operations that were seen and are not in the trace: their file could not be told, or they
    /// cannot be done again (hard links, fallocate, syncfs, copies within the kernel).
    pub unattributed: u64,
    /// Events that the kernel lost.
    pub lost: u64,
    /// Length of the trace.
    pub trace_bytes: u64,
    /// How long it was recorded.
    pub elapsed_ns: u64,
    /// Processor time it cost this process, user and system.
    pub cpu_ns: u64,
    /// True if it ended because the trace had the size that was allowed.
    pub full: bool,
}

/// Records what is done below a directory until a limit or `stop`; `on_progress` is told several
/// times a second how far it is. What it makes in the kernel is gone when it returns, or is killed.
///
/// # Errors
/// What is missing, or went wrong.
pub fn capture_files<W: Write>(
    directory: &Path,
    started: Option<String>,
    out: W,
    limits: CaptureLimits,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(&CapturedFiles),
) -> Result<CapturedFiles, CaptureError> {
    let refused = |what: &str, source| CaptureError::Refused { what: what.to_owned(), source };
    let missing = |source| CaptureError::Directory { directory: directory.to_owned(), source };
    let directory = std::fs::canonicalize(directory).map_err(missing)?;
    // Opened before anything is recorded: the directory may go meanwhile.
    let top = std::fs::File::open(&directory).map_err(missing)?;
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let header = FileTraceHeader {
        directory: directory.display().to_string(),
        started,
        kernel: Some(release),
        ..FileTraceHeader::default()
    };
    let tracefs = Tracefs::open()?;
    let layout = tracefs.layout()?;
    let kinds = kinds(&tracefs)?;
    let instance = Instance::make(tracefs)?;
    let clock = instance.set_clock()?;
    let names = watch_names(&directory).map_err(|error| refused("fanotify (names)", error))?;
    let openings =
        Openings::watch(&directory, clock).map_err(|error| refused("fanotify", error))?;
    instance.set("set_event_notrace_pid", &own_threads())?;
    for kind in kinds.values() {
        instance.set(&format!("events/{}/enable", kind.name), "1")?;
    }
    let buffers = instance.buffers()?;
    // Before the first event, so that none of them is at a time below zero.
    let begun_ns = clock_ns(clock);
    instance.set("tracing_on", "1")?;
    let bytes = std::rc::Rc::default();
    let counted = Counted { out, bytes: std::rc::Rc::clone(&bytes) };
    let mut recorder = FileRecorder {
        layout,
        kinds,
        buffers,
        page: vec![0; PAGE_BYTES],
        waiting: Vec::new(),
        names,
        openings,
        matcher: Matcher::new(&directory, top.into()),
        writer: FileTraceWriter::new(counted, &header).map_err(CaptureError::Write)?,
        begun_ns,
        last_ns: 0,
        lost: 0,
    };
    let begun_cpu_ns = clock_ns(ClockId::ProcessCPUTime);
    let mut kept_ns = recorder.begun_ns;
    loop {
        let now_ns = clock_ns(clock);
        let elapsed_ns = now_ns.saturating_sub(recorder.begun_ns);
        let time_is_up = limits.time.is_some_and(|most| u128::from(elapsed_ns) >= most.as_nanos());
        let over = stop.load(Ordering::SeqCst) || time_is_up;
        if over {
            instance.set("tracing_on", "0")?;
        }
        recorder.round(if over { u64::MAX } else { now_ns.saturating_sub(SETTLED_NS) })?;
        let full = limits.size_bytes.is_some_and(|most| bytes.get() >= most);
        let captured = CapturedFiles {
            operations: recorder.writer.operations(),
            unattributed: recorder.matcher.unattributed,
            lost: recorder.lost,
            trace_bytes: bytes.get(),
            elapsed_ns,
            cpu_ns: clock_ns(ClockId::ProcessCPUTime).saturating_sub(begun_cpu_ns),
            full,
        };
        on_progress(&captured);
        if over || full {
            recorder
                .writer
                .finish(captured.unattributed, captured.lost)
                .map_err(CaptureError::Write)?;
            return Ok(CapturedFiles { trace_bytes: bytes.get(), ..captured });
        }
        if now_ns.saturating_sub(kept_ns) >= KEEP_NS {
            recorder.writer.flush().map_err(CaptureError::Write)?;
            kept_ns = now_ns;
        }
        std::thread::sleep(ROUND);
    }
}

/// Whether recording is possible here; if not, the error says what is missing. Removes what
/// captures that were killed left behind.
///
/// # Errors
/// What is missing.
pub fn prepare_files() -> Result<(), CaptureError> {
    kinds(&clean_tracefs()?).map(drop)
}

/// Counts the time of an operation from the begin of the recording, and gives where it begins. One
/// that went on for too long to wait for begins with the one before it, and ends when it did.
fn since(operation: &mut FileOperation, begun_ns: u64, before_ns: u64) -> u64 {
    let end_ns = (operation.at_ns + operation.took_ns).saturating_sub(begun_ns);
    operation.at_ns = operation.at_ns.saturating_sub(begun_ns).max(before_ns);
    operation.took_ns = end_ns.saturating_sub(operation.at_ns);
    operation.at_ns
}

/// A path relative to a directory; none where it is not below it.
fn below(path: &Path, directory: &Path) -> Option<String> {
    let path = path.strip_prefix(directory).ok()?.to_string_lossy();
    Some(if path.is_empty() { ".".to_owned() } else { path.into_owned() })
}

/// A kind of event.
struct Kind {
    name: String,
    fields: EventFields,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Enter(Call),
    Exit(Call),
    Forked,
    Executed,
    Ended,
    Dirtied,
}

/// The events to record, by their numbers; system calls that this machine lacks are left out.
fn kinds(tracefs: &Tracefs) -> Result<HashMap<u16, Kind>, CaptureError> {
    let others = [
        ("task/task_newtask", What::Forked),
        ("sched/sched_process_exec", What::Executed),
        ("sched/sched_process_exit", What::Ended),
        ("writeback/writeback_dirty_folio", What::Dirtied),
    ];
    let calls = CALLS.iter().flat_map(|(name, call)| {
        let event = |way: &str| format!("syscalls/sys_{way}_{name}");
        [(event("enter"), What::Enter(*call)), (event("exit"), What::Exit(*call))]
    });
    let all = others.map(|(name, what)| (name.to_owned(), what)).into_iter().chain(calls);
    let mut kinds = HashMap::new();
    for (name, what) in all {
        let text = match tracefs.text(&format!("events/{name}/format")) {
            Err(_) if !name.contains("_write") && !name.contains("process") => continue,
            text => text?,
        };
        let unknown = || CaptureError::Unknown { what: format!("its event {name}") };
        let fields = EventFields::parse(&text).ok_or_else(unknown)?;
        kinds.insert(fields.id, Kind { name, fields, what });
    }
    Ok(kinds)
}

/// Names on the file system of the directory; and on all others, so that the calls of a thread and
/// what became of them are as many.
fn watch_names(directory: &Path) -> std::io::Result<[NameWatch; 3]> {
    let others: Vec<PathBuf> =
        host::mounts(&Roots::default()).into_iter().map(|mount| mount.at).collect();
    let watch = |change| -> std::io::Result<NameWatch> {
        let watch = NameWatch::new(directory, change)?;
        // One that has no handles for its files cannot be watched.
        others.iter().for_each(|other| drop(watch.also(other)));
        Ok(watch)
    };
    Ok([watch(NameChange::Made)?, watch(NameChange::Removed)?, watch(NameChange::Renamed)?])
}

/// Numbers of all threads of this process, which are not recorded.
fn own_threads() -> String {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let numbers: Vec<String> =
        threads.map(|thread| thread.file_name().to_string_lossy().into_owned()).collect();
    numbers.join(" ")
}

/// A thread that lets openings go on, and tells of those below the directory.
struct Openings {
    seen: Receiver<Opened>,
    quit: Arc<AtomicBool>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Openings {
    fn watch(directory: &Path, clock: ClockId) -> std::io::Result<Openings> {
        let watch = OpenWatch::new(directory)?;
        let (opened_by, seen) = channel();
        let quit = Arc::new(AtomicBool::new(false));
        let (directory, asked) = (directory.to_owned(), Arc::clone(&quit));
        let thread =
            std::thread::spawn(move || let_go_on(watch, &directory, clock, &opened_by, &asked));
        Ok(Openings { seen, quit, thread: Some(thread) })
    }

    /// The error that ended the watch, if one did: what is opened afterwards is not seen.
    fn failed(&mut self) -> std::io::Result<()> {
        match self.thread.take_if(|thread| thread.is_finished()).map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Openings {
    fn drop(&mut self) {
        self.quit.store(true, Ordering::SeqCst);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

fn let_go_on(
    mut watch: OpenWatch,
    directory: &Path,
    clock: ClockId,
    opened_by: &Sender<Opened>,
    quit: &AtomicBool,
) -> std::io::Result<()> {
    while !quit.load(Ordering::SeqCst) {
        // What cannot be answered goes on when the watch is dropped.
        for event in watch.read(ROUND)? {
            // Sent before the opener goes on, so before its call can be seen to end.
            opened(&event, directory, clock)
                .into_iter()
                .for_each(|opened| drop(opened_by.send(opened)));
            watch.allow(&event)?;
        }
    }
    Ok(())
}

fn opened(event: &OpenEvent, directory: &Path, clock: ClockId) -> Option<Opened> {
    let mut path = below(&event.path()?, directory)?;
    let time_ns = clock_ns(clock);
    let is = std::fs::metadata(format!("/proc/self/fd/{}", number_of(event))).ok()?;
    // A file without a name (O_TMPFILE) is told by its directory.
    if path.ends_with(" (deleted)") && is.nlink() == 0 {
        path = path.rsplit_once('/').map_or(".".to_owned(), |(parent, _)| parent.to_owned());
    }
    (is.is_file() || is.is_dir()).then(|| Opened {
        time_ns,
        thread: event.thread,
        path,
        bytes: is.len(),
        inode: is.ino(),
        directory: FileHandle::of(&event.file).filter(|_| is.is_dir()),
    })
}

fn number_of(event: &OpenEvent) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(&event.file)
}

/// Empties the buffers again and again.
struct FileRecorder<W: Write> {
    layout: PageLayout,
    kinds: HashMap<u16, Kind>,
    buffers: Vec<Buffer>,
    page: Vec<u8>,
    /// Events that may not be in order yet: time, thread, event.
    waiting: Vec<(u64, u32, Event)>,
    names: [NameWatch; 3],
    openings: Openings,
    matcher: Matcher,
    writer: FileTraceWriter<Counted<W>>,
    begun_ns: u64,
    last_ns: u64,
    lost: u64,
}

impl<W: Write> FileRecorder<W> {
    /// Takes what there is, and writes what had begun and ended by `settled_ns`.
    fn round(&mut self, settled_ns: u64) -> Result<(), CaptureError> {
        // Names before calls: those of every call that has ended by then are there.
        for (change, watch) in self.names.iter_mut().enumerate() {
            loop {
                let events = watch
                    .read()
                    .map_err(|source| CaptureError::Refused { what: "fanotify".into(), source })?;
                if events.is_empty() {
                    break;
                }
                events.into_iter().for_each(|event| self.matcher.named(change, event));
            }
        }
        self.fetch()?;
        self.openings.failed().map_err(|source| CaptureError::Refused {
            what: "fanotify (openings)".into(),
            source,
        })?;
        self.openings.seen.try_iter().for_each(|opened| self.matcher.opened(opened));
        // Stable: what one processor wrote down in one nanosecond stays in its order.
        self.waiting.sort_by_key(|(time_ns, ..)| *time_ns);
        let settled = self.waiting.partition_point(|(time_ns, ..)| *time_ns < settled_ns);
        let ripe: Vec<_> = self.waiting.drain(..settled).collect();
        for (time_ns, thread, event) in ripe {
            self.matcher.take(time_ns, thread, event);
            self.write_complete(time_ns)?;
        }
        if settled_ns == u64::MAX {
            self.matcher.end();
        }
        self.write_complete(settled_ns)
    }

    /// Writes the operations that are complete at `now_ns`.
    fn write_complete(&mut self, now_ns: u64) -> Result<(), CaptureError> {
        while let Some(mut operation) = self.matcher.pop(now_ns) {
            self.last_ns = since(&mut operation, self.begun_ns, self.last_ns);
            self.writer.operation(&operation).map_err(CaptureError::Write)?;
        }
        Ok(())
    }

    fn fetch(&mut self) -> Result<(), CaptureError> {
        for buffer in &mut self.buffers {
            self.lost += buffer.newly_lost()?;
            loop {
                let length = buffer.read(&mut self.page)?;
                if length == 0 {
                    break;
                }
                let events = self.layout.events(&self.page[..length]);
                let read = events.filter_map(|(time_ns, event)| read(&self.kinds, time_ns, event));
                self.waiting.extend(read);
            }
        }
        Ok(())
    }
}

fn read(kinds: &HashMap<u16, Kind>, time_ns: u64, event: &[u8]) -> Option<(u64, u32, Event)> {
    let Kind { fields, what, .. } = kinds.get(&kind(event)?)?;
    let get = |name: &str| fields.get(event, name);
    let thread = get("common_pid")? as u32;
    let event = match what {
        What::Enter(call) => Event::Enter(*call, fields.arguments(event)),
        What::Exit(call) => Event::Exit(*call, get("ret")? as i64),
        What::Forked => {
            Event::Forked { child: get("pid")? as u32, clone_flags: get("clone_flags")? }
        }
        What::Executed => Event::Executed { old: get("old_pid")? as u32 },
        What::Ended => Event::Ended,
        What::Dirtied => Event::Dirtied { inode: get("ino")?, page: get("index")? },
    };
    Some((time_ns, thread, event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::files::FileAction;

    #[test]
    fn an_operation_that_comes_late_ends_when_it_did() {
        let times = |at_ns, took_ns, before_ns| {
            let action = FileAction::Fsync { file: 1 };
            let mut operation = FileOperation { at_ns, took_ns, thread: 1, action };
            let last_ns = since(&mut operation, 100, before_ns);
            assert_eq!(last_ns, operation.at_ns);
            (operation.at_ns, operation.took_ns)
        };
        assert_eq!((times(150, 20, 30), times(150, 20, 60)), ((50, 20), (60, 10)));
        assert_eq!(times(150, 20, 90), (90, 0));
    }
}
