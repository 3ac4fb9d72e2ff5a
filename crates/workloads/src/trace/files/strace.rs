//! What strace wrote about a program, as operations on files below a directory.
//!
//! A call counts where it began. Those after it wait until it has come back, as only then is known
//! what it did.

mod descriptors;
mod words;

use std::collections::{BTreeMap, HashMap};

use rustix::fs::OFlags;

use self::descriptors::Descriptors;
use self::words::{Call, Line, descriptor, normal, number, quoted};
use super::{FileAction, FileOperation, FileTraceEnd};

/// Calls on an open file.
const ON_FILES: &str = "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 \
    copy_file_range sendfile fsync fdatasync ftruncate lseek dup dup2 dup3 fcntl close";
/// Calls on paths.
const ON_PATHS: &str = "open openat openat2 creat mkdir mkdirat rmdir unlink unlinkat rename renameat \
    renameat2 link linkat symlink symlinkat chdir fchdir getcwd";
/// Calls that change files and cannot be done again.
const NOT_REPEATED: &str = "truncate fallocate syncfs sync_file_range splice mknod mknodat";
/// Calls that do not say which files they change.
const UNNAMED: &str = "io_submit io_uring_enter";
/// Operations that wait for one call; then it is given up.
const MOST_WAITING: usize = 1 << 16;

/// A call that has begun.
struct Begun {
    line: u64,
    at_ns: u64,
    text: String,
    /// True if later operations wait for it.
    holds: bool,
}

/// When and where an operation happened.
#[derive(Clone, Copy)]
struct Moment {
    thread: u32,
    line: u64,
    at_ns: u64,
    took_ns: u64,
}

/// The calls of a program, as they are read.
#[derive(Default)]
pub(super) struct Strace {
    below: String,
    first_ns: Option<u64>,
    /// The directory that each thread works in.
    working: HashMap<u32, String>,
    /// That which was seen last, for threads that have not said theirs.
    last_working: String,
    descriptors: Descriptors,
    under_way: HashMap<u32, Begun>,
    /// Operations by the line where they began and the order in which they were noted.
    waiting: BTreeMap<(u64, u64), FileOperation>,
    noted: u64,
    last_ns: u64,
    end: FileTraceEnd,
}

impl Strace {
    /// Reader of the operations below this directory, an absolute path.
    pub fn new(below: &str) -> Strace {
        Strace { below: normal(below), ..Strace::default() }
    }

    /// Takes in a line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn take(&mut self, text: &str, line: u64) -> Result<(), String> {
        let Line { thread, time_ns, rest } = Line::read(text).ok_or(
            "it does not begin with a thread and a time, as strace writes them with -f -ttt",
        )?;
        let at_ns = time_ns.saturating_sub(*self.first_ns.get_or_insert(time_ns));
        let now = Moment { thread, line, at_ns, took_ns: 0 };
        let resumed = rest.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"));
        if rest.starts_with("+++ ") {
            self.under_way.remove(&thread);
            self.descriptors.exit(thread);
        } else if let Some((_, tail)) = resumed {
            // Nothing is known of a call that began before the trace.
            if let Some(mut begun) = self.under_way.remove(&thread) {
                begun.text.push_str(tail);
                self.finish_call(&begun, now)?;
            }
        } else if let Some(text) = rest.strip_suffix("<unfinished ...>") {
            let begun = self.begin_call(text, now);
            self.under_way.insert(thread, begun);
        } else if !rest.starts_with("--- ") {
            let begun = self.begin_call(rest, now);
            self.finish_call(&begun, now)?;
        }
        for file in self.descriptors.take_closed() {
            self.add(now, FileAction::Close { file });
        }
        if self.waiting.len() > MOST_WAITING {
            let holding = self.under_way.values_mut().filter(|begun| begun.holds);
            if let Some(oldest) = holding.min_by_key(|begun| begun.line) {
                oldest.holds = false;
            }
        }
        Ok(())
    }

    /// The next operation, if no call that began before it is under way.
    pub fn pop(&mut self) -> Option<FileOperation> {
        let holding = self.under_way.values().filter(|begun| begun.holds);
        let oldest = holding.map(|begun| begun.line).min().unwrap_or(u64::MAX);
        let first = self.waiting.first_entry().filter(|first| first.key().0 < oldest)?;
        let mut operation = first.remove();
        self.last_ns = self.last_ns.max(operation.at_ns);
        operation.at_ns = self.last_ns;
        Some(operation)
    }

    /// Ends the trace; `cut` where its last line is not whole. Calls that are under way did nothing.
    pub fn finish(&mut self, cut: bool) {
        self.under_way.clear();
        self.end.cut = cut;
    }

    pub fn end(&self) -> FileTraceEnd {
        self.end
    }

    /// Notes what a call does when it begins: its file stays open while it is under way, and a
    /// descriptor is free from the beginning of `close` on.
    fn begin_call(&mut self, text: &str, now: Moment) -> Begun {
        let mut begun =
            Begun { line: now.line, at_ns: now.at_ns, text: text.to_owned(), holds: false };
        let Some(call) = Call::read(text) else { return begun };
        if is_among(ON_FILES, call.name) {
            let Some((fd, path)) = call.descriptor(0) else { return begun };
            let file = match call.name {
                "close" | "dup" | "dup2" | "dup3" | "fcntl" | "lseek" => {
                    self.descriptors.find(now.thread, fd, &path)
                }
                _ => self.open_file(now, fd, &path, !call.name.ends_with("sync")),
            };
            match file {
                Some(file) if call.name == "close" => self.descriptors.close(fd, file),
                Some(file) => self.descriptors.enter(now.thread, file),
                None => {}
            }
            begun.holds = file.is_some();
        } else if is_among(ON_PATHS, call.name) {
            let paths = self.paths(now.thread, &call);
            begun.holds = paths.iter().any(|path| self.inside(path).is_some());
        }
        begun
    }

    /// Notes what a call did, when it has come back.
    fn finish_call(&mut self, begun: &Begun, now: Moment) -> Result<(), String> {
        let file = self.descriptors.leave(now.thread);
        let call = Call::read(&begun.text).ok_or("this is no call as strace writes it")?;
        let result = call.result.ok_or("the call has no result")?;
        if result.starts_with(['-', '?']) {
            return Ok(());
        }
        let took_ns = now.at_ns.saturating_sub(begun.at_ns);
        let began = Moment { line: begun.line, at_ns: begun.at_ns, took_ns, ..now };
        match file {
            Some(file) => self.use_file(began, &call, result, file),
            None if call.name.starts_with("open") || call.name == "creat" => {
                self.open(began, &call, result)?;
            }
            None if is_among(ON_PATHS, call.name) => self.use_paths(began, &call),
            None => self.count_unrepeated(&call, result),
        }
        Ok(())
    }

    fn use_file(&mut self, at: Moment, call: &Call<'_>, result: &str, file: u64) {
        let bytes = number(result).unwrap_or(0);
        match call.name {
            "read" | "readv" => self.read(at, file, None, bytes),
            "pread64" | "preadv" | "preadv2" => self.read(at, file, call.number(3), bytes),
            "write" | "writev" => self.write(at, file, None, bytes),
            "pwrite64" | "pwritev" | "pwritev2" => self.write(at, file, call.number(3), bytes),
            "copy_file_range" => {
                self.read(at, file, call.number(1), bytes);
                if let Some(to) = self.other_file(at, call, 2) {
                    self.write(at, to, call.number(3), bytes);
                }
            }
            "sendfile" => {
                if let Some(from) = self.other_file(at, call, 1) {
                    self.read(at, from, call.number(2), bytes);
                }
                self.write(at, file, None, bytes);
            }
            "fsync" => self.add(at, FileAction::Fsync { file }),
            "fdatasync" => self.add(at, FileAction::Fdatasync { file }),
            "ftruncate" => {
                let bytes = call.number(1).unwrap_or(0);
                self.add(at, FileAction::Truncate { file, bytes });
            }
            "lseek" => self.descriptors.seek(file, bytes),
            "fcntl" if !call.arguments.get(1).is_some_and(|what| what.starts_with("F_DUPFD")) => {}
            _ => {
                if let Some((fd, _)) = descriptor(result) {
                    self.descriptors.hold(at.thread, fd, file);
                }
            }
        }
    }

    fn open(&mut self, at: Moment, call: &Call<'_>, result: &str) -> Result<(), String> {
        let (fd, place) =
            descriptor(result).ok_or("it does not show the path of the file: strace needs -y")?;
        let words = call.arguments.iter().find(|argument| argument.contains("O_"));
        let flags = if call.name == "creat" {
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC
        } else {
            words::flags(words.copied().unwrap_or_default())
        };
        let paths = self.paths(at.thread, call);
        let path = paths.last().filter(|_| flags.contains(OFlags::TMPFILE)).unwrap_or(&place);
        self.descriptors.forget(at.thread, fd);
        if let Some(path) = self.inside(path) {
            let file = self.descriptors.open(&place, 0, flags.contains(OFlags::APPEND));
            self.descriptors.hold(at.thread, fd, file);
            self.add(at, FileAction::Open { path, file, flags });
        }
        Ok(())
    }

    /// The file of a descriptor. One that nothing opened was open before.
    fn open_file(&mut self, at: Moment, fd: i64, place: &str, writes: bool) -> Option<u64> {
        let path = self.inside(place)?;
        if let Some(file) = self.descriptors.find(at.thread, fd, place) {
            return Some(file);
        }
        let file = self.descriptors.open_again(at.thread, fd, place);
        let mut flags = if writes { OFlags::RDWR } else { OFlags::RDONLY };
        flags.set(OFlags::APPEND, self.descriptors.appends(file));
        self.add(at, FileAction::Open { path, file, flags });
        Some(file)
    }

    /// The file of another argument than the first.
    fn other_file(&mut self, at: Moment, call: &Call<'_>, argument: usize) -> Option<u64> {
        let (fd, place) = call.descriptor(argument)?;
        self.open_file(at, fd, &place, true)
    }

    fn read(&mut self, at: Moment, file: u64, offset: Option<u64>, bytes: u64) {
        let offset = offset.unwrap_or_else(|| self.descriptors.pass(file, bytes));
        self.add(at, FileAction::Read { file, offset, bytes });
    }

    fn write(&mut self, at: Moment, file: u64, offset: Option<u64>, bytes: u64) {
        let appends = self.descriptors.appends(file);
        let offset = offset.unwrap_or_else(|| self.descriptors.pass(file, bytes));
        self.add(at, FileAction::Write { file, offset: (!appends).then_some(offset), bytes });
    }

    fn use_paths(&mut self, at: Moment, call: &Call<'_>) {
        let places = self.paths(at.thread, call);
        let Some(place) = places.last() else { return };
        if matches!(call.name, "chdir" | "fchdir" | "getcwd") {
            self.last_working.clone_from(place);
            self.working.insert(at.thread, place.clone());
            return;
        }
        let path = self.inside(place).filter(|path| path != ".");
        let from = places.first().and_then(|place| self.inside(place)).filter(|path| path != ".");
        let exchanges =
            call.arguments.last().is_some_and(|flags| flags.contains("RENAME_EXCHANGE"));
        let action = match (call.name, path, from) {
            ("mkdir" | "mkdirat", Some(path), _) => FileAction::Mkdir { path },
            ("rmdir", Some(path), _) => FileAction::Rmdir { path },
            ("unlinkat", Some(path), _) if call.arguments.last() == Some(&"AT_REMOVEDIR") => {
                FileAction::Rmdir { path }
            }
            ("unlink" | "unlinkat", Some(path), _) => FileAction::Unlink { path },
            ("symlink" | "symlinkat", Some(path), _) => {
                let target = quoted(call.arguments[0]).unwrap_or_default();
                FileAction::Symlink { path, target }
            }
            ("link" | "linkat", Some(to), Some(from)) => FileAction::Link { from, to },
            (name, Some(to), Some(from)) if name.starts_with("rename") && !exchanges => {
                self.descriptors.rename(&places[0], place);
                FileAction::Rename { from, to }
            }
            (_, None, None) => return,
            _ => {
                self.end.unattributed += 1;
                return;
            }
        };
        self.add(at, action);
    }

    fn count_unrepeated(&mut self, call: &Call<'_>, result: &str) {
        let inside = |at: usize| {
            let place = call.descriptor(at).map(|(_, place)| place);
            place
                .or_else(|| quoted(call.arguments.get(at)?))
                .is_some_and(|it| self.inside(&it).is_some())
        };
        let has =
            |at: usize, flag: &str| call.arguments.get(at).is_some_and(|it| it.contains(flag));
        if call.name.starts_with("mmap") {
            let writes = has(2, "PROT_WRITE") && has(3, "MAP_SHARED") && inside(4);
            self.end.mappings += u64::from(writes);
        } else {
            let is_one = is_among(NOT_REPEATED, call.name) && (0..4).any(inside);
            let unnamed = is_among(UNNAMED, call.name) && result != "0";
            self.end.unattributed += u64::from(is_one || unnamed);
        }
    }

    /// The paths among the arguments, absolute.
    fn paths(&mut self, thread: u32, call: &Call<'_>) -> Vec<String> {
        let mut places = Vec::new();
        let mut base = None;
        for argument in &call.arguments {
            if let Some(path) = quoted(argument) {
                let working = || self.working.get(&thread).unwrap_or(&self.last_working).clone();
                let base = base.take().unwrap_or_else(working);
                places.push(normal(&if path.starts_with('/') {
                    path
                } else {
                    format!("{base}/{path}")
                }));
            } else if let Some(directory) = words::in_angles(argument) {
                if argument.starts_with("AT_FDCWD") {
                    self.last_working.clone_from(&directory);
                    self.working.insert(thread, directory.clone());
                }
                base = Some(directory);
            }
        }
        places.extend(base.filter(|_| call.name == "fchdir"));
        places
    }

    /// A path as one below the directory; none where it is elsewhere, or of no medium.
    fn inside(&self, place: &str) -> Option<String> {
        let below = place.strip_prefix(self.below.trim_end_matches('/'))?;
        let is_pseudo = ["/proc/", "/sys/", "/dev/"].iter().any(|root| place.starts_with(root));
        match below.strip_prefix('/') {
            Some(path) if !is_pseudo => Some(if path.is_empty() { "." } else { path }.to_owned()),
            None if below.is_empty() => Some(".".to_owned()),
            _ => None,
        }
    }

    fn add(&mut self, at: Moment, action: FileAction) {
        let Moment { thread, line, at_ns, took_ns } = at;
        self.noted += 1;
        self.waiting
            .insert((line, self.noted), FileOperation { at_ns, took_ns, thread, line, action });
    }
}

fn is_among(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|other| other == name)
}
