//! The visible processes, and the open files of each (proc_pid_fd(5), proc_pid_fdinfo(5),
//! proc_pid_maps(5)).

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use blockio::FileIdentity;
use rustix::fs::{AtFlags, CWD, FileType, OFlags, Statx, StatxFlags, makedev, statx};

use super::{DescriptorTarget, Entry, Hold, LockKind, Process};
use crate::mounts::{Mount, mounts_of};
use crate::roots::{DeviceNumber, Roots, names, text};

/// Our own process ID in this `/proc`; in another PID namespace it is another one.
pub(super) fn own_number(roots: &Roots) -> u32 {
    let number =
        fs::read_link(roots.proc.join("self")).ok().and_then(|name| name.to_str()?.parse().ok());
    number.unwrap_or_else(std::process::id)
}

/// An event of the visit to all processes.
pub(super) enum ProcessEntry {
    /// A file or device that a process has open.
    Entry(Entry),
    /// A mount namespace that is not ours, with its mounts.
    Namespace(Vec<Mount>, Process),
    /// A process whose files may not be read.
    Refused,
}

/// Visits all processes but our own, and reports wanted files.
pub(super) fn visit_all(
    roots: &Roots,
    wanted: &dyn Fn(&DescriptorTarget) -> bool,
    on_entry: &mut dyn FnMut(ProcessEntry),
) {
    let own = own_number(roots);
    let mut namespaces = BTreeSet::from([namespace(&roots.proc.join("self"))]);
    let numbers = names(&roots.proc).into_iter().filter_map(|name| name.parse::<u32>().ok());
    for number in numbers.filter(|number| *number != own) {
        let dir = roots.proc.join(number.to_string());
        // The name is only asked for where there is something to tell.
        let process = LazyCell::new(|| {
            Process::find(roots, number)
                .unwrap_or_else(|| Process { program: "a program".to_owned(), number })
        });
        match base(&dir) {
            Ok(base) => visit(&base, wanted, &mut |target, hold| {
                on_entry(ProcessEntry::Entry(Entry { target, hold, by: process.clone() }))
            }),
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && !is_kernel_thread(&dir) =>
            {
                on_entry(ProcessEntry::Refused)
            }
            // it has ended meanwhile
            Err(_) => {}
        }
        let namespace = namespace(&dir);
        if namespace.is_some() && namespaces.insert(namespace) {
            on_entry(ProcessEntry::Namespace(mounts_of(&dir), process.clone()));
        }
    }
}

/// The directory with the open files of a process: its own, or, if its first thread has ended, that
/// of another thread.
fn base(dir: &Path) -> io::Result<PathBuf> {
    let has_files =
        |dir: &Path| fs::read_dir(dir.join("fd")).is_ok_and(|mut entries| entries.next().is_some());
    if let Err(error) = fs::read_dir(dir.join("fd"))
        && error.kind() == io::ErrorKind::PermissionDenied
    {
        return Err(error);
    }
    if has_files(dir) || is_kernel_thread(dir) {
        return Ok(dir.to_owned());
    }
    let mut threads = names(&dir.join("task")).into_iter().map(|name| dir.join("task").join(name));
    Ok(threads.find(|thread| has_files(thread)).unwrap_or_else(|| dir.to_owned()))
}

/// Reports every wanted file that one process has open or mapped for writing.
fn visit(
    dir: &Path,
    wanted: &dyn Fn(&DescriptorTarget) -> bool,
    on_hold: &mut dyn FnMut(DescriptorTarget, Option<Hold>),
) {
    for descriptor in names(&dir.join("fd")) {
        let Some(target) = target_of(&dir.join("fd").join(&descriptor)).filter(wanted) else {
            continue;
        };
        let info = fs::read_to_string(dir.join("fdinfo").join(&descriptor)).unwrap_or_default();
        holds(&info).into_iter().for_each(|hold| on_hold(target, hold));
    }
    // a path in it may be any bytes
    let maps = fs::read(dir.join("maps")).unwrap_or_default();
    for target in String::from_utf8_lossy(&maps)
        .lines()
        .filter_map(|line| written_back(line, dir))
        .filter(wanted)
    {
        on_hold(target, Some(Hold::Mapped));
    }
}

/// The block device or regular file of a descriptor; `None` for others. Opens nothing, and asks no
/// server (a dead one would not answer).
fn target_of(link: &Path) -> Option<DescriptorTarget> {
    let name = fs::read_link(link).ok()?;
    let name = name.as_os_str().as_encoded_bytes();
    let is_path = name.starts_with(b"/") || name.starts_with(b"(unreachable)");
    let is_plain =
        [&b"/dev/null"[..], b"/memfd:", b"/dev/pts/"].iter().any(|start| name.starts_with(start));
    if is_path && !is_plain { target(&look(link)?) } else { None }
}

fn look(path: &Path) -> Option<Statx> {
    statx(CWD, path, AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS).ok()
}

fn target(stat: &Statx) -> Option<DescriptorTarget> {
    match FileType::from_raw_mode(stat.stx_mode.into()) {
        FileType::BlockDevice => Some(DescriptorTarget::Block(DeviceNumber {
            major: stat.stx_rdev_major,
            minor: stat.stx_rdev_minor,
        })),
        FileType::RegularFile => Some(DescriptorTarget::File(FileIdentity {
            device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
        })),
        _ => None,
    }
}

/// Ways in which a descriptor holds its file, from its fdinfo: empty for one that is only a path,
/// `None` for one that only reads.
fn holds(info: &str) -> Vec<Option<Hold>> {
    const WRITES: u32 = 3;
    let flags = info
        .lines()
        .find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    // closed meanwhile
    let Some(flags) = flags else { return Vec::new() };
    if flags & OFlags::PATH.bits() != 0 {
        return Vec::new();
    }
    let locks = info
        .lines()
        .filter_map(|line| LockKind::named(line.strip_prefix("lock:")?.split_whitespace().nth(1)?));
    let access = (flags & WRITES != 0).then_some(Hold::Writing);
    std::iter::once(access).chain(locks.map(|kind| Some(Hold::Lock(kind)))).collect()
}

/// True if a descriptor can write, from its fdinfo.
pub(crate) fn writes(info: &str) -> bool {
    holds(info).contains(&Some(Hold::Writing))
}

/// The file to which a mapping is written back, from its line: `7f00-7f10 rw-s 00000000 08:01 12345
/// /path`.
fn written_back(line: &str, dir: &Path) -> Option<DescriptorTarget> {
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    let [range, rights, _, device, inode] = words[..] else { return None };
    let inode: u64 = inode.parse().ok().filter(|inode| *inode != 0)?;
    let (writes, shared) =
        (rights.as_bytes().get(1) == Some(&b'w'), rights.as_bytes().get(3) == Some(&b's'));
    if !writes || !shared {
        return None;
    }
    let (from, to) = range.split_once('-')?;
    let range = [from, to]
        .map(|end| Some(end.trim_start_matches('0')).filter(|end| !end.is_empty()).unwrap_or("0"));
    // a thread has no map_files of its own
    let files = if dir.join("map_files").exists() {
        dir.join("map_files")
    } else {
        dir.join("../../map_files")
    };
    if let Some(stat) = look(&files.join(range.join("-"))) {
        return target(&stat);
    }
    let (major, minor) = device.split_once(':')?;
    let number =
        makedev(u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    Some(DescriptorTarget::File(FileIdentity { device: number, inode }))
}

/// The mount namespace of a process.
fn namespace(dir: &Path) -> Option<PathBuf> {
    fs::read_link(dir.join("ns/mnt")).ok()
}

/// True if it is a kernel thread, which has no files: PF_KTHREAD in the flags of its stat
/// (proc_pid_stat(5)).
fn is_kernel_thread(dir: &Path) -> bool {
    const KERNEL_THREAD: u64 = 0x0020_0000;
    let flags = text(&dir.join("stat"))
        .and_then(|stat| stat.rsplit_once(')')?.1.split_whitespace().nth(6)?.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::holding::plain;

    #[test]
    fn what_a_program_calls_itself_gives_no_commands_to_a_terminal() {
        assert_eq!(plain("evil\x1b[2Jname\n"), "evil?[2Jname?");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC*", line in "[0-9a-f: rwxsp/-]*") {
            let _ = holds(&text);
            let _ = written_back(&line, Path::new("/nowhere"));
        }
    }
}
