//! Events of files that are opened, made, renamed and removed, from the kernel (fanotify(7)). All
//! watches end with their descriptor, and so with the process.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Bytes of an event before its records (`struct fanotify_event_metadata`).
const HEAD_BYTES: usize = 24;
/// Bytes of a record before its file handle: type, length, number of the file system.
const RECORD_BYTES: usize = 12;
/// Bytes of a file handle before the part that the file system defines.
const HANDLE_BYTES: usize = 8;
/// Most bytes of that part (`MAX_HANDLE_SZ`).
const MAX_HANDLE_BYTES: u32 = 128;
/// Size in bytes of the buffer for events.
const ROOM_BYTES: usize = 64 << 10;

/// Changes of names that a [`NameWatch`] reports. Each kind needs a watch of its own: the kernel
/// merges the events of one file, and their order would be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameChange {
    /// A file, directory or link was made.
    Made,
    /// It was removed.
    Removed,
    /// It was given another name.
    Renamed,
}

/// A change of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameEvent {
    /// Thread ID of the thread that did it.
    pub thread: u32,
    /// True if it is a directory.
    pub directory: bool,
    /// The name; for a rename the old one. `None` on another file system.
    pub name: Option<NameInDirectory>,
    /// The new name, for a rename.
    pub to: Option<NameInDirectory>,
    /// The file or directory that has the name, if it still exists.
    pub object: Option<FileHandle>,
}

/// Number of a file or directory in its file system, for as long as it exists (`struct
/// file_handle`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileHandle(Box<[u8]>);

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameInDirectory {
    /// The directory.
    pub directory: FileHandle,
    /// The name in it.
    pub name: OsString,
}

impl FileHandle {
    /// The handle of an open file; `None` if its file system has no handles.
    pub fn of(file: &OwnedFd) -> Option<FileHandle> {
        let mut room = [0_u64; (HANDLE_BYTES + MAX_HANDLE_BYTES as usize) / 8];
        room[0] =
            u64::from_ne_bytes([MAX_HANDLE_BYTES.to_ne_bytes(), [0; 4]].concat().try_into().ok()?);
        let (number, mut mount) = (file.as_raw_fd(), 0);
        let handle = room.as_mut_ptr().cast();
        // SAFETY: the path is empty, and the handle has the room that its first field says.
        let got = unsafe {
            libc::name_to_handle_at(number, c"".as_ptr(), handle, &mut mount, libc::AT_EMPTY_PATH)
        };
        let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
        (got == 0).then(|| FileHandle::first(&bytes)).flatten()
    }

    /// The handle at the start of `bytes`.
    fn first(bytes: &[u8]) -> Option<FileHandle> {
        let length = HANDLE_BYTES + u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
        Some(FileHandle(bytes.get(..length)?.into()))
    }

    /// Its current path, on the file system of the directory `mount`.
    pub fn path(&self, mount: &OwnedFd) -> Option<PathBuf> {
        // 64-bit words: a file handle begins with two ints, and bytes may lie anywhere.
        let words = self.0.chunks(8).map(|part| {
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            u64::from_ne_bytes(whole)
        });
        let mut aligned: Vec<u64> = words.collect();
        let flags = libc::O_PATH | libc::O_CLOEXEC;
        let handle = aligned.as_mut_ptr().cast();
        // SAFETY: the handle is aligned and as long as its first field says.
        let opened = unsafe { libc::open_by_handle_at(mount.as_raw_fd(), handle, flags) };
        path_of(&owned(opened).ok()?)
    }
}

/// Reports changes of names on file systems.
#[derive(Debug)]
pub struct NameWatch {
    group: OwnedFd,
    /// The kernel's number of its file system.
    number: u64,
    change: NameChange,
    room: Vec<u8>,
}

impl NameWatch {
    /// Watches the file system of a directory. Needs root and Linux 5.17.
    ///
    /// # Errors
    /// Those of the kernel for the group, the directory or the mark.
    pub fn new(directory: &Path, change: NameChange) -> io::Result<NameWatch> {
        let group = group(
            libc::FAN_CLASS_NOTIF
                | libc::FAN_NONBLOCK
                | libc::FAN_REPORT_FID
                | libc::FAN_REPORT_DFID_NAME
                | libc::FAN_REPORT_TARGET_FID,
        )?;
        let number = rustix::fs::statvfs(directory)?.f_fsid;
        let watch = NameWatch { group, number, change, room: vec![0; ROOM_BYTES] };
        watch.also(directory)?;
        Ok(watch)
    }

    /// Watches another file system too. Its events have no names.
    ///
    /// # Errors
    /// Those of the kernel for the mark.
    pub fn also(&self, directory: &Path) -> io::Result<()> {
        let mask = match self.change {
            NameChange::Made => libc::FAN_CREATE,
            NameChange::Removed => libc::FAN_DELETE,
            NameChange::Renamed => libc::FAN_RENAME,
        };
        mark(&self.group, directory, mask | libc::FAN_ONDIR)
    }

    /// Events since the last call; empty when there are no more.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn read(&mut self) -> io::Result<Vec<NameEvent>> {
        let length = match rustix::io::read(&self.group, &mut self.room) {
            Err(rustix::io::Errno::AGAIN) => 0,
            read => read?,
        };
        Ok(events(&self.room[..length]).map(|event| self.name(&event)).collect())
    }

    fn name(&self, event: &Event<'_>) -> NameEvent {
        let directory = event.mask & libc::FAN_ONDIR != 0;
        let mut all =
            NameEvent { thread: event.thread, directory, name: None, to: None, object: None };
        for record in event.records() {
            let number = record[4..RECORD_BYTES].try_into().map_or(0, u64::from_ne_bytes);
            let handle = &record[RECORD_BYTES..];
            match record[0] {
                _ if number != self.number => {}
                libc::FAN_EVENT_INFO_TYPE_FID => all.object = FileHandle::first(handle),
                libc::FAN_EVENT_INFO_TYPE_NEW_DFID_NAME => all.to = named(handle),
                libc::FAN_EVENT_INFO_TYPE_DFID_NAME | libc::FAN_EVENT_INFO_TYPE_OLD_DFID_NAME => {
                    all.name = named(handle);
                }
                _ => {}
            }
        }
        all
    }
}

/// A handle and the name that follows it.
fn named(bytes: &[u8]) -> Option<NameInDirectory> {
    let directory = FileHandle::first(bytes)?;
    let name = bytes.get(directory.0.len()..)?.split(|byte| *byte == 0).next()?;
    Some(NameInDirectory { directory, name: OsString::from_vec(name.to_vec()) })
}

/// Holds back every opening of a file on a file system until it is allowed.
#[derive(Debug)]
pub struct OpenWatch {
    group: OwnedFd,
    room: Vec<u8>,
}

/// A file that is being opened; its opener waits until this is dropped or
/// [allowed](OpenWatch::allow).
#[derive(Debug)]
pub struct OpenEvent {
    /// Thread ID of the thread that opens it.
    pub thread: u32,
    /// The file, open for reading.
    pub file: OwnedFd,
}

impl OpenEvent {
    /// Its path.
    pub fn path(&self) -> Option<PathBuf> {
        path_of(&self.file)
    }
}

impl OpenWatch {
    /// Watches the file system of a directory. Needs root.
    ///
    /// # Errors
    /// Those of the kernel for the group or the mark.
    pub fn new(directory: &Path) -> io::Result<OpenWatch> {
        let group = group(libc::FAN_CLASS_CONTENT | libc::FAN_NONBLOCK)?;
        mark(&group, directory, libc::FAN_OPEN_PERM | libc::FAN_ONDIR)?;
        Ok(OpenWatch { group, room: vec![0; ROOM_BYTES] })
    }

    /// Files that are being opened; empty if there is none within `wait`.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn read(&mut self, wait: std::time::Duration) -> io::Result<Vec<OpenEvent>> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.group, PollFlags::IN)], Some(&wait)) {
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            polled => polled?,
        };
        let length = match rustix::io::read(&self.group, &mut self.room) {
            Err(rustix::io::Errno::AGAIN) => 0,
            read => read?,
        };
        let opened = events(&self.room[..length]).filter_map(|event| {
            let file = owned(event.file).ok()?;
            Some(OpenEvent { thread: event.thread, file })
        });
        Ok(opened.collect())
    }

    /// Lets an opener continue.
    ///
    /// # Errors
    /// Those of the kernel.
    pub fn allow(&self, event: &OpenEvent) -> io::Result<()> {
        let answer = [event.file.as_raw_fd().to_ne_bytes(), libc::FAN_ALLOW.to_ne_bytes()].concat();
        rustix::io::write(&self.group, &answer)?;
        Ok(())
    }
}

fn group(flags: libc::c_uint) -> io::Result<OwnedFd> {
    let flags = flags | libc::FAN_CLOEXEC | libc::FAN_UNLIMITED_QUEUE | libc::FAN_REPORT_TID;
    let files = (libc::O_RDONLY | libc::O_CLOEXEC | libc::O_LARGEFILE) as libc::c_uint;
    // SAFETY: two integers.
    owned(unsafe { libc::fanotify_init(flags, files) })
}

fn mark(group: &OwnedFd, directory: &Path, mask: u64) -> io::Result<()> {
    let path = std::ffi::CString::new(directory.to_path_buf().into_os_string().into_vec())?;
    let flags = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM;
    let group = group.as_fd().as_raw_fd();
    // SAFETY: the path ends with a zero and outlives the call.
    match unsafe { libc::fanotify_mark(group, flags, mask, libc::AT_FDCWD, path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The descriptor that the kernel has just given, or its error.
fn owned(file: libc::c_int) -> io::Result<OwnedFd> {
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel made it for this process, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

fn path_of(file: &OwnedFd) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

/// An event in the kernel's layout.
struct Event<'a> {
    mask: u64,
    file: libc::c_int,
    thread: u32,
    records: &'a [u8],
}

impl<'a> Event<'a> {
    fn records(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.records;
        std::iter::from_fn(move || {
            let length = usize::from(u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?));
            let record = rest.get(..length).filter(|record| record.len() >= RECORD_BYTES)?;
            rest = &rest[length..];
            Some(record)
        })
    }
}

fn events(mut rest: &[u8]) -> impl Iterator<Item = Event<'_>> {
    std::iter::from_fn(move || {
        let head = rest.get(..HEAD_BYTES)?;
        let number = |at: usize| head[at..at + 4].try_into().map(i32::from_ne_bytes).ok();
        let length = number(0)? as usize;
        let event = rest.get(..length).filter(|event| event.len() >= HEAD_BYTES)?;
        rest = &rest[length..];
        Some(Event {
            mask: u64::from_ne_bytes(head[8..16].try_into().ok()?),
            file: number(16)?,
            thread: number(20)? as u32,
            records: &event[HEAD_BYTES..],
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Watches of all three kinds; `None`, with the reason printed, if they are not allowed.
    fn watches(directory: &Path) -> Option<[NameWatch; 3]> {
        let all = [NameChange::Made, NameChange::Removed, NameChange::Renamed]
            .map(|change| NameWatch::new(directory, change));
        match all {
            [Ok(made), Ok(removed), Ok(renamed)] => Some([made, removed, renamed]),
            _ => {
                println!("skipped: needs root, and a file system with handles");
                None
            }
        }
    }

    #[test]
    fn names_are_reported_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut all) = watches(dir.path()) else { return };
        let at = |name: &str| dir.path().join(name);
        for name in ["a", "b", "a"] {
            std::fs::write(at(name), "").unwrap();
            std::fs::rename(at(name), at("c")).unwrap();
            std::fs::remove_file(at("c")).unwrap();
        }
        std::fs::create_dir(at("d")).unwrap();
        let mut seen = |watch: usize| -> Vec<NameEvent> {
            let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            let events = all[watch].read().unwrap();
            events.into_iter().filter(|event| event.thread == thread).collect()
        };
        let mount = std::fs::File::open(dir.path()).unwrap().into();
        let place = |named: Option<NameInDirectory>| {
            let named = named.unwrap();
            named.directory.path(&mount).unwrap().join(named.name)
        };
        let made: Vec<_> =
            seen(0).into_iter().map(|event| (place(event.name), event.directory)).collect();
        let file = |name: &str| (at(name), false);
        assert_eq!(made, [file("a"), file("b"), file("a"), (at("d"), true)]);
        assert_eq!(seen(1).len(), 3);
        let renamed: Vec<_> =
            seen(2).into_iter().map(|event| (place(event.name), place(event.to))).collect();
        let pair = |name: &str| (at(name), at("c"));
        assert_eq!(renamed, [pair("a"), pair("b"), pair("a")]);
        let handle = FileHandle::of(&mount).unwrap();
        assert_eq!(handle.path(&mount).as_deref(), Some(dir.path()));
    }

    #[test]
    fn malformed_event_bytes_end_the_iteration() {
        assert_eq!(events(&[255; 100]).count() + events(&[0; 100]).count(), 0);
    }
}
