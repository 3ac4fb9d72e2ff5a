//! Which thread has which files open, below the directory that is recorded.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Flags of clone (sched.h).
const CLONE_FILES: u64 = 0x400;
const CLOEXEC: u64 = 0o2_000_000;

/// The descriptors of all threads.
#[derive(Default)]
pub(super) struct Tables {
    tables: HashMap<u64, Table>,
    threads: HashMap<u32, u64>,
    next: u64,
    /// How many descriptors there are of each open file.
    users: HashMap<u64, u32>,
}

/// Descriptors that threads share.
#[derive(Default)]
struct Table {
    files: HashMap<i32, (u64, bool)>,
    threads: u32,
}

/// A descriptor that was there before the recording.
pub(super) struct OpenBefore {
    pub path: String,
    pub flags: u64,
    pub position: u64,
    pub bytes: u64,
    pub inode: u64,
}

impl Tables {
    /// Everything that is open below a directory now; each file is told to `found`, which numbers
    /// it.
    pub fn scan(&mut self, directory: &Path, found: &mut dyn FnMut(OpenBefore) -> u64) {
        for process in numbers("/proc") {
            let table = self.table(process);
            for thread in numbers(&format!("/proc/{process}/task")) {
                if self.threads.insert(thread, table).is_none() {
                    self.tables.entry(table).or_default().threads += 1;
                }
            }
            for descriptor in numbers(&format!("/proc/{process}/fd")) {
                if let Some(file) = open_file(process, descriptor, directory) {
                    let close_on_exec = file.flags & CLOEXEC != 0;
                    let number = found(file);
                    self.insert(process, descriptor as i32, number, close_on_exec);
                }
            }
        }
    }

    /// The open file of a descriptor.
    pub fn file(&self, thread: u32, descriptor: i32) -> Option<u64> {
        let table = self.tables.get(self.threads.get(&thread)?)?;
        table.files.get(&descriptor).map(|(file, _)| *file)
    }

    /// A descriptor of a file; gives the file that was closed by that.
    pub fn insert(
        &mut self,
        thread: u32,
        descriptor: i32,
        file: u64,
        close_on_exec: bool,
    ) -> Option<u64> {
        let table = self.table(thread);
        *self.users.entry(file).or_default() += 1;
        let files = &mut self.tables.entry(table).or_default().files;
        let old = files.insert(descriptor, (file, close_on_exec));
        old.and_then(|(old, _)| self.release(old))
    }

    /// Sets whether exec closes a descriptor.
    pub fn set_close_on_exec(&mut self, thread: u32, descriptor: i32, close: bool) {
        let table = self.threads.get(&thread).and_then(|table| self.tables.get_mut(table));
        if let Some(entry) = table.and_then(|table| table.files.get_mut(&descriptor)) {
            entry.1 = close;
        }
    }

    /// Closes descriptors; gives the files of which these were the last.
    pub fn close(&mut self, thread: u32, which: impl Fn(i32, bool) -> bool) -> Vec<u64> {
        let table = self.threads.get(&thread).and_then(|table| self.tables.get_mut(table));
        let Some(table) = table else { return Vec::new() };
        let gone =
            |(descriptor, (_, close)): &(&i32, &mut (u64, bool))| which(**descriptor, *close);
        let mut closed: Vec<(i32, u64)> = table
            .files
            .iter_mut()
            .filter(gone)
            .map(|(number, (file, _))| (*number, *file))
            .collect();
        closed.sort_unstable();
        for (descriptor, _) in &closed {
            table.files.remove(descriptor);
        }
        closed.into_iter().filter_map(|(_, file)| self.release(file)).collect()
    }

    /// A thread made another.
    pub fn forked(&mut self, parent: u32, child: u32, clone_flags: u64) {
        let table = self.table(parent);
        if clone_flags & CLONE_FILES != 0 {
            self.threads.insert(child, table);
            self.tables.entry(table).or_default().threads += 1;
            return;
        }
        let files = self.tables.get(&table).map(|table| table.files.clone()).unwrap_or_default();
        files.values().for_each(|(file, _)| *self.users.entry(*file).or_default() += 1);
        self.next += 1;
        self.tables.insert(self.next, Table { files, threads: 1 });
        self.threads.insert(child, self.next);
    }

    /// A process runs another program now; gives the files that this closed.
    pub fn executed(&mut self, thread: u32, old: u32) -> Vec<u64> {
        if let Some(table) = self.threads.remove(&old) {
            self.threads.insert(thread, table);
        }
        self.close(thread, |_, close_on_exec| close_on_exec)
    }

    /// A thread ended; gives the files that this closed.
    pub fn ended(&mut self, thread: u32) -> Vec<u64> {
        let Some(number) = self.threads.get(&thread).copied() else { return Vec::new() };
        let threads = self.tables.get_mut(&number).map(|table| {
            table.threads = table.threads.saturating_sub(1);
            table.threads
        });
        let closed = if threads == Some(0) { self.close(thread, |_, _| true) } else { Vec::new() };
        if threads == Some(0) {
            self.tables.remove(&number);
        }
        self.threads.remove(&thread);
        closed
    }

    /// The table of a thread; that of its process where it was not seen to begin.
    fn table(&mut self, thread: u32) -> u64 {
        if let Some(table) = self.threads.get(&thread) {
            return *table;
        }
        let process = process_of(thread).and_then(|process| self.threads.get(&process).copied());
        let table = process.unwrap_or_else(|| {
            self.next += 1;
            self.next
        });
        self.tables.entry(table).or_default().threads += 1;
        self.threads.insert(thread, table);
        table
    }

    fn release(&mut self, file: u64) -> Option<u64> {
        let users = self.users.get_mut(&file)?;
        *users -= 1;
        if *users > 0 {
            return None;
        }
        self.users.remove(&file);
        Some(file)
    }
}

/// Names of a directory that are numbers.
fn numbers(directory: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn process_of(thread: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// A file or directory that a process has open below a directory.
fn open_file(process: u32, descriptor: u32, directory: &Path) -> Option<OpenBefore> {
    let link = format!("/proc/{process}/fd/{descriptor}");
    let path = super::below(&fs::read_link(&link).ok()?, directory)?;
    let kind = fs::metadata(&link).ok().filter(|kind| kind.is_file() || kind.is_dir())?;
    let (position, flags) = state_of(process, descriptor as i32)?;
    Some(OpenBefore { path, flags, position, bytes: kind.len(), inode: kind.ino() })
}

/// Position and flags of a descriptor.
pub(super) fn state_of(process: u32, descriptor: i32) -> Option<(u64, u64)> {
    let info = fs::read_to_string(format!("/proc/{process}/fdinfo/{descriptor}")).ok()?;
    let value = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((value("pos:")?.parse().ok()?, u64::from_str_radix(value("flags:")?, 8).ok()?))
}
