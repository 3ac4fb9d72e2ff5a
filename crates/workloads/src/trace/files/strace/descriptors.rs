//! Which open file a descriptor means.
//!
//! Threads share descriptors and processes do not, and the text does not say which of them it shows.
//! A descriptor that a thread did not open is that of the same number and path of another one. Where
//! there is none it was opened before, or by a process that has closed it since.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;

/// Number of a descriptor that holds the file of the call a thread is in.
const IN_CALL: i64 = -1;

struct Opened {
    place: String,
    position: u64,
    appends: bool,
}

/// Open files by number, and who has them.
#[derive(Default)]
pub struct Descriptors {
    held: BTreeMap<(i64, u32), u64>,
    files: HashMap<u64, Opened>,
    opened: u64,
    /// Position of closed descriptors, and whether they append, by path.
    left: HashMap<(i64, String), (u64, bool)>,
    /// Files that somebody has less since they were last asked for.
    released: Vec<u64>,
}

impl Descriptors {
    /// Opens a file; its number.
    pub fn open(&mut self, place: &str, position: u64, appends: bool) -> u64 {
        self.opened += 1;
        let file = Opened { place: place.to_owned(), position, appends };
        self.files.insert(self.opened, file);
        self.opened
    }

    /// Opens a file as a descriptor had it before.
    pub fn open_again(&mut self, thread: u32, fd: i64, place: &str) -> u64 {
        let (position, appends) = self.left.remove(&(fd, place.to_owned())).unwrap_or_default();
        let file = self.open(place, position, appends);
        self.hold(thread, fd, file);
        file
    }

    /// The number of the file of a descriptor.
    pub fn find(&mut self, thread: u32, fd: i64, place: &str) -> Option<u64> {
        let is_it = |file: &u64| self.files.get(file).is_some_and(|file| file.place == place);
        if let Some(file) = self.held.get(&(fd, thread)).copied().filter(is_it) {
            return Some(file);
        }
        let of_others = self.held.range((fd, 0)..=(fd, u32::MAX)).map(|(_, file)| *file);
        let file = of_others.filter(is_it).max()?;
        self.hold(thread, fd, file);
        Some(file)
    }

    /// Gives a thread a descriptor of a file.
    pub fn hold(&mut self, thread: u32, fd: i64, file: u64) {
        self.released.extend(self.held.insert((fd, thread), file));
    }

    /// A descriptor of a thread means another file from now on.
    pub fn forget(&mut self, thread: u32, fd: i64) {
        self.released.extend(self.held.remove(&(fd, thread)));
    }

    /// Keeps a file open while a thread is in a call.
    pub fn enter(&mut self, thread: u32, file: u64) {
        self.hold(thread, IN_CALL, file);
    }

    /// Ends the call of a thread; the file it is about.
    pub fn leave(&mut self, thread: u32) -> Option<u64> {
        self.held.remove(&(IN_CALL, thread)).inspect(|file| self.released.push(*file))
    }

    /// Closes a descriptor, in all threads.
    pub fn close(&mut self, fd: i64, file: u64) {
        if let Some(opened) = self.files.get(&file) {
            self.left.insert((fd, opened.place.clone()), (opened.position, opened.appends));
        }
        self.held.retain(|(other, _), held| *other != fd || *held != file);
        self.released.push(file);
    }

    /// Closes what a thread has.
    pub fn exit(&mut self, thread: u32) {
        let held: Vec<i64> =
            self.held.keys().filter(|(_, of)| *of == thread).map(|(fd, _)| *fd).collect();
        for fd in held {
            self.forget(thread, fd);
        }
    }

    /// The files that nobody has any more.
    pub fn take_closed(&mut self) -> Vec<u64> {
        let mut closed = take(&mut self.released);
        closed.retain(|file| {
            !self.held.values().any(|held| held == file) && self.files.remove(file).is_some()
        });
        closed
    }

    /// Moves the position of a file by so many bytes; where it was.
    pub fn pass(&mut self, file: u64, bytes: u64) -> u64 {
        let Some(file) = self.files.get_mut(&file) else { return 0 };
        let before = file.position;
        file.position = before.saturating_add(bytes);
        before
    }

    pub fn seek(&mut self, file: u64, position: u64) {
        if let Some(file) = self.files.get_mut(&file) {
            file.position = position;
        }
    }

    pub fn appends(&self, file: u64) -> bool {
        self.files.get(&file).is_some_and(|file| file.appends)
    }

    /// Files have the new path from now on.
    pub fn rename(&mut self, from: &str, to: &str) {
        for file in self.files.values_mut() {
            if let Some(rest) = file.place.strip_prefix(from)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                file.place = format!("{to}{rest}");
            }
        }
    }
}
