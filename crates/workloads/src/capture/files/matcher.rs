//! Makes operations on files of system calls, of files that were opened, and of names that changed.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::path::Path;

use host::{FileHandle, NameEvent, NameInDirectory};
use rustix::fs::OFlags;

use super::calls::Call;
use super::directories::{Directories, Outside};
use super::tables::{OpenBefore, Tables, state_of};
use crate::trace::files::{FileAction, FileOperation, flag_words};

const F_DUPFD: u64 = 0;
const F_SETFD: u64 = 2;
const F_DUPFD_CLOEXEC: u64 = 1030;
const CLOSE_RANGE_CLOEXEC: u64 = 4;
const MAP_SHARED: u64 = 1;
const PROT_WRITE: u64 = 2;
/// Operations that wait for one which began before them, at most; also names and openings of a
/// thread that wait for their call, as those of io_uring do in vain.
const MAX_WAITING: usize = 100_000;
/// Time that an operation waits for an opening which began before it: that of a named pipe may
/// never end. For calls on files that are recorded it waits until they end.
const LONGEST_WAIT_NS: u64 = 1_000_000_000;

/// What the kernel's trace says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    Enter(Call, [u64; 6]),
    Exit(Call, i64),
    Forked {
        child: u32,
        clone_flags: u64,
    },
    Executed {
        old: u32,
    },
    Ended,
    /// A page of a file in memory was changed.
    Dirtied {
        inode: u64,
        page: u64,
    },
}

/// A file that was opened, seen between the begin and the end of the system call.
pub(super) struct Opened {
    pub time_ns: u64,
    pub thread: u32,
    pub path: String,
    pub bytes: u64,
    pub inode: u64,
    /// Of a directory.
    pub directory: Option<FileHandle>,
}

/// A system call that goes on.
struct Begun {
    at_ns: u64,
    call: Call,
    arguments: [u64; 6],
    file: Option<u64>,
}

/// An open file.
struct OpenFile {
    position: u64,
    bytes: u64,
    append: bool,
    inode: u64,
    /// What is to be said of it before its first operation, where it was open before.
    before: Option<FileAction>,
}

impl OpenFile {
    /// Where an I/O begins; one without an offset, or with -1, moves the position.
    fn place(&mut self, offset: Option<u64>, bytes: u64) -> u64 {
        offset.filter(|offset| *offset != u64::MAX).unwrap_or_else(|| {
            self.position += bytes;
            self.position - bytes
        })
    }
}

/// Everything that is known between two events.
pub(super) struct Matcher {
    directories: Directories,
    tables: Tables,
    files: HashMap<u64, OpenFile>,
    next_file: u64,
    begun: HashMap<u32, Begun>,
    begun_at: BTreeSet<(u64, u32)>,
    opened: HashMap<u32, VecDeque<Opened>>,
    /// Names made, removed and renamed.
    names: [HashMap<u32, VecDeque<NameEvent>>; 3],
    /// Files that are mapped for writing, by inode.
    mapped: HashMap<u64, u64>,
    ready: BTreeMap<(u64, u64), FileOperation>,
    count: u64,
    /// Operations whose file could not be told, or that are not recorded.
    pub unattributed: u64,
}

impl Matcher {
    /// Below this directory, with what is open there now.
    pub fn new(directory: &Path, top: OwnedFd) -> Matcher {
        let mut files = HashMap::new();
        let mut tables = Tables::default();
        tables.scan(directory, &mut |found: OpenBefore| {
            let number = files.len() as u64 + 1;
            let flags = OFlags::from_bits_truncate(found.flags as u32);
            let words = flag_words(flags);
            let before = FileAction::WasOpen {
                path: found.path,
                file: number,
                flags: words,
                bytes: found.bytes,
            };
            let append = flags.contains(OFlags::APPEND);
            let (position, bytes, inode) = (found.position, found.bytes, found.inode);
            files.insert(number, OpenFile { position, bytes, append, inode, before: Some(before) });
            number
        });
        Matcher {
            directories: Directories::new(directory, top),
            tables,
            next_file: files.len() as u64,
            files,
            begun: HashMap::new(),
            begun_at: BTreeSet::new(),
            opened: HashMap::new(),
            names: Default::default(),
            mapped: HashMap::new(),
            ready: BTreeMap::new(),
            count: 0,
            unattributed: 0,
        }
    }

    /// A file is being opened.
    pub fn opened(&mut self, opened: Opened) {
        if let Some(handle) = &opened.directory {
            self.directories.learn(handle, &opened.path);
        }
        push(self.opened.entry(opened.thread).or_default(), opened);
    }

    /// A name changed; `change` is its place in `names`.
    pub fn named(&mut self, change: usize, event: NameEvent) {
        push(self.names[change].entry(event.thread).or_default(), event);
    }

    /// An operation that is complete at `now_ns`, in the order in which they began. One that began
    /// [`LONGEST_WAIT_NS`] before waits for no opening.
    pub fn pop(&mut self, now_ns: u64) -> Option<FileOperation> {
        let (&key, _) = self.ready.first_key_value()?;
        let has_waited = now_ns.saturating_sub(key.0) > LONGEST_WAIT_NS;
        let oldest_ns = if has_waited {
            let on_files = self.begun.values().filter(|begun| begun.file.is_some());
            on_files.map(|begun| begun.at_ns).min()
        } else {
            self.begun_at.first().map(|(at_ns, _)| *at_ns)
        };
        let is_next = oldest_ns.is_none_or(|oldest_ns| key.0 < oldest_ns);
        let next = is_next || self.ready.len() > MAX_WAITING;
        next.then(|| self.ready.remove(&key)).flatten()
    }

    /// Ends the recording: calls that have not ended by now are none.
    pub fn end(&mut self) {
        self.begun.clear();
        self.begun_at.clear();
    }

    /// Takes an event; they come in the order of time.
    pub fn take(&mut self, time_ns: u64, thread: u32, event: Event) {
        match event {
            Event::Enter(call, arguments) => self.enter(time_ns, thread, call, arguments),
            Event::Exit(call, result) => {
                let Some(begun) = self.begun.remove(&thread) else { return };
                self.begun_at.remove(&(begun.at_ns, thread));
                if begun.call == call {
                    self.exit(&begun, time_ns, thread, result);
                }
            }
            Event::Forked { child, clone_flags } => self.tables.forked(thread, child, clone_flags),
            Event::Executed { old } => {
                let closed = self.tables.executed(thread, old);
                self.closed(closed, time_ns, thread);
            }
            Event::Ended => {
                let closed = self.tables.ended(thread);
                self.closed(closed, time_ns, thread);
                if let Some(begun) = self.begun.remove(&thread) {
                    self.begun_at.remove(&(begun.at_ns, thread));
                }
                self.opened.remove(&thread);
                self.names.iter_mut().for_each(|names| drop(names.remove(&thread)));
            }
            Event::Dirtied { inode, page } => self.dirtied(time_ns, thread, inode, page),
        }
    }

    fn enter(&mut self, at_ns: u64, thread: u32, call: Call, arguments: [u64; 6]) {
        let place = match call {
            Call::Map => 4,
            Call::OtherPair(first, second) => {
                let tracked = |place: usize| self.tables.file(thread, arguments[place] as i32);
                if tracked(first).is_none() { second } else { first }
            }
            _ => 0,
        };
        let descriptor = arguments[place] as i32;
        let file = if call.takes_path() { None } else { self.tables.file(thread, descriptor) };
        let relevant = file.is_some()
            || call.takes_path()
            || matches!(call, Call::Duplicate(_) | Call::CloseRange);
        if !relevant {
            return;
        }
        if call == Call::Close {
            let closed = self.tables.close(thread, |number, _| number == descriptor);
            if closed.is_empty() {
                return;
            }
        }
        self.begun_at.insert((at_ns, thread));
        if let Some(old) = self.begun.insert(thread, Begun { at_ns, call, arguments, file }) {
            self.begun_at.remove(&(old.at_ns, thread));
        }
    }

    fn exit(&mut self, begun: &Begun, time_ns: u64, thread: u32, result: i64) {
        if begun.call == Call::Close {
            return self.emit_close(begun.file, begun.at_ns, time_ns, thread);
        }
        if result < 0 {
            return;
        }
        let arguments = begun.arguments;
        let action = match begun.call {
            Call::Open(flags) => {
                let flags = flags.map(|place| arguments[place]);
                self.open(begun, (time_ns, thread), flags, result as i32)
            }
            Call::Rename => self.rename(thread),
            Call::Remove => self.remove(thread),
            Call::MakeDirectory => self.made(thread, true).map(|path| FileAction::Mkdir { path }),
            Call::MakeLink => self.made(thread, false).map(|path| {
                let target =
                    std::fs::read_link(self.directories.top.join(&path)).unwrap_or_default();
                FileAction::Symlink { path, target: target.to_string_lossy().into_owned() }
            }),
            Call::MakeOther => {
                self.unattributed += u64::from(self.made(thread, false).is_some());
                None
            }
            Call::Close => None,
            Call::CloseRange => {
                let range = arguments[0] as i32..=i32::try_from(arguments[1]).unwrap_or(i32::MAX);
                if arguments[2] & CLOSE_RANGE_CLOEXEC != 0 {
                    range
                        .take(1 << 16)
                        .for_each(|fd| self.tables.set_close_on_exec(thread, fd, true));
                } else {
                    let closed = self.tables.close(thread, |number, _| range.contains(&number));
                    self.closed(closed, begun.at_ns, thread);
                }
                None
            }
            Call::Duplicate(flags) => {
                let close = flags.is_some_and(|place| arguments[place] & 0o2_000_000 != 0);
                self.duplicate(begun, (time_ns, thread), result as i32, close);
                None
            }
            Call::Control => {
                match arguments[1] {
                    F_DUPFD => self.duplicate(begun, (time_ns, thread), result as i32, false),
                    F_DUPFD_CLOEXEC => {
                        self.duplicate(begun, (time_ns, thread), result as i32, true)
                    }
                    F_SETFD => {
                        let close = arguments[2] & 1 != 0;
                        self.tables.set_close_on_exec(thread, arguments[0] as i32, close);
                    }
                    _ => {}
                }
                None
            }
            _ => begun.file.and_then(|file| self.transfer(begun, file, result as u64)),
        };
        if let Some(action) = action {
            self.emit(action, begun.at_ns, time_ns, thread);
        }
    }

    /// What is done with an open file.
    fn transfer(&mut self, begun: &Begun, number: u64, result: u64) -> Option<FileAction> {
        let file = self.files.get_mut(&number)?;
        let given = |place: Option<usize>| place.map(|place| begun.arguments[place]);
        match begun.call {
            Call::Read(place) => {
                let offset = file.place(given(place), result);
                Some(FileAction::Read { file: number, offset, bytes: result })
            }
            Call::Write(place) => {
                let offset = file.place(given(place), result);
                file.bytes = file.bytes.max(offset + result);
                let offset = (!file.append).then_some(offset);
                Some(FileAction::Write { file: number, offset, bytes: result })
            }
            Call::Seek => {
                file.position = result;
                None
            }
            Call::Fsync => Some(FileAction::Fsync { file: number }),
            Call::Fdatasync => Some(FileAction::Fdatasync { file: number }),
            Call::Truncate => {
                file.bytes = begun.arguments[1];
                Some(FileAction::Truncate { file: number, bytes: file.bytes })
            }
            Call::Map => {
                let shared = begun.arguments[3] & MAP_SHARED != 0;
                if shared && begun.arguments[2] & PROT_WRITE != 0 {
                    self.mapped.insert(file.inode, number);
                }
                None
            }
            _ => {
                self.unattributed += 1;
                None
            }
        }
    }

    fn open(
        &mut self,
        begun: &Begun,
        (time_ns, thread): (u64, u32),
        flags: Option<u64>,
        descriptor: i32,
    ) -> Option<FileAction> {
        let all = self.opened.entry(thread).or_default();
        let mut opened = None;
        while all.front().is_some_and(|opened| opened.time_ns < time_ns) {
            opened = all.pop_front().filter(|opened| opened.time_ns > begun.at_ns);
        }
        // Whatever had this number before is closed, even where that was not seen.
        let closed = self.tables.close(thread, |number, _| number == descriptor);
        self.closed(closed, begun.at_ns, thread);
        let opened = opened?;
        let of_descriptor = || state_of(thread, descriptor).map(|(_, flags)| flags);
        let bits = flags.or_else(of_descriptor).unwrap_or(OFlags::RDWR.bits().into());
        let mut flags = OFlags::from_bits_truncate(bits as u32);
        if opened.directory.is_some() {
            flags |= OFlags::DIRECTORY;
        }
        let new = self.was_made(thread, &opened.path);
        self.next_file += 1;
        let file = self.next_file;
        let bytes = if flags.contains(OFlags::TRUNC) { 0 } else { opened.bytes };
        let append = flags.contains(OFlags::APPEND);
        let state = OpenFile { position: 0, bytes, append, inode: opened.inode, before: None };
        self.files.insert(file, state);
        self.tables.insert(thread, descriptor, file, flags.contains(OFlags::CLOEXEC));
        let flags = flag_words(flags);
        Some(FileAction::Open { path: opened.path, file, flags, new, bytes: opened.bytes })
    }

    fn duplicate(&mut self, begun: &Begun, when: (u64, u32), descriptor: i32, close: bool) {
        let (time_ns, thread) = when;
        let closed = match begun.file {
            Some(file) if begun.arguments[0] as i32 != descriptor => {
                self.tables.insert(thread, descriptor, file, close).into_iter().collect()
            }
            Some(_) => Vec::new(),
            None => self.tables.close(thread, |number, _| number == descriptor),
        };
        self.closed(closed, time_ns, thread);
    }

    /// True if a thread has just made this file.
    fn was_made(&mut self, thread: u32, path: &str) -> bool {
        let Some(made) = self.names[0].get_mut(&thread) else { return false };
        let directories = &mut self.directories;
        let is_it = |event: &NameEvent| {
            !event.directory && directories.path(event.name.as_ref()).as_deref() == Ok(path)
        };
        let place = made.iter().position(is_it);
        place.is_some_and(|place| made.drain(..=place).next_back().is_some())
    }

    fn made(&mut self, thread: u32, directory: bool) -> Option<String> {
        let made = self.names[0].get_mut(&thread)?;
        let place = made.iter().position(|event| event.directory == directory)?;
        let event = made.drain(..=place).next_back()?;
        let path = self.place(event.name.as_ref())?;
        if let Some(object) = event.object.filter(|_| directory) {
            self.directories.learn(&object, &path);
        }
        Some(path)
    }

    fn remove(&mut self, thread: u32) -> Option<FileAction> {
        let event = self.names[1].get_mut(&thread)?.pop_front()?;
        let path = self.place(event.name.as_ref())?;
        if let Some(object) = event.object {
            self.directories.known.remove(&object);
        }
        let directory = event.directory;
        Some(if directory { FileAction::Rmdir { path } } else { FileAction::Unlink { path } })
    }

    /// A rename from outside, or to it, is none that can be done again.
    fn rename(&mut self, thread: u32) -> Option<FileAction> {
        let event = self.names[2].get_mut(&thread)?.pop_front()?;
        let from = self.directories.path(event.name.as_ref());
        let to = self.directories.path(event.to.as_ref());
        let (Ok(from), Ok(to)) = (&from, &to) else {
            let inside = [from, to].iter().any(|path| *path != Err(Outside::Elsewhere));
            self.unattributed += u64::from(inside);
            return None;
        };
        if event.directory {
            self.directories.moved(from, to);
        }
        Some(FileAction::Rename { from: from.clone(), to: to.clone(), directory: event.directory })
    }

    /// The path of a name; one that cannot be told is counted.
    fn place(&mut self, name: Option<&NameInDirectory>) -> Option<String> {
        let path = self.directories.path(name);
        self.unattributed += u64::from(path == Err(Outside::Gone));
        path.ok()
    }

    /// A page that was changed through a mapping, in no system call that writes.
    fn dirtied(&mut self, time_ns: u64, thread: u32, inode: u64, page: u64) {
        let Some(file) = self.mapped.get(&inode).copied() else { return };
        let writes =
            self.begun.get(&thread).is_some_and(|begun| matches!(begun.call, Call::Write(_)));
        let bytes = self.files.get(&file).map(|file| file.bytes);
        match bytes {
            Some(bytes) if !writes => {
                let offset = page * 4096;
                let bytes = bytes.saturating_sub(offset).min(4096);
                self.emit(FileAction::Store { file, offset, bytes }, time_ns, time_ns, thread);
            }
            _ => self.unattributed += u64::from(!writes),
        }
    }

    fn closed(&mut self, files: Vec<u64>, at_ns: u64, thread: u32) {
        files.into_iter().for_each(|file| self.emit_close(Some(file), at_ns, at_ns, thread));
    }

    fn emit_close(&mut self, file: Option<u64>, at_ns: u64, end_ns: u64, thread: u32) {
        let Some(file) = file else { return };
        let known = self.files.get(&file).is_some_and(|file| file.before.is_none());
        if known {
            self.emit(FileAction::Close { file }, at_ns, end_ns, thread);
        }
        self.files.remove(&file);
    }

    fn emit(&mut self, action: FileAction, at_ns: u64, end_ns: u64, thread: u32) {
        if let Some(number) = action.file() {
            let before = self.files.get_mut(&number).and_then(|file| file.before.take());
            before.into_iter().for_each(|before| self.push(before, at_ns, at_ns, thread));
        }
        self.push(action, at_ns, end_ns, thread);
    }

    fn push(&mut self, action: FileAction, at_ns: u64, end_ns: u64, thread: u32) {
        self.count += 1;
        let took_ns = end_ns.saturating_sub(at_ns);
        self.ready.insert((at_ns, self.count), FileOperation { at_ns, took_ns, thread, action });
    }
}

/// Adds what is newest, in place of the oldest where there are too many.
fn push<T>(queue: &mut VecDeque<T>, newest: T) {
    if queue.len() >= MAX_WAITING {
        queue.pop_front();
    }
    queue.push_back(newest);
}
