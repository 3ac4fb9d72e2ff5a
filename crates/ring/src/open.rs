//! Opening what is to be measured, and finding out what it is.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device::Facts;
use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, StatxFlags, fallocate, fstat, fstatfs, open, statx};
use rustix::io::Errno;

use crate::ioctl;
use crate::target::{Kind, Target};

/// What a path is expected to be; anything else is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// A regular file, which may grow to so many bytes.
    File {
        /// How many.
        capacity_bytes: u64,
    },
    /// A block device.
    Block,
}

/// How I/O is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// pread/pwrite with one slot; with more io_uring, or threads where that is refused.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// pread/pwrite; with more than one slot on a thread for each.
    Psync,
}

/// What a caller may choose or knows better.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// How I/O is issued.
    pub engine: EngineChoice,
    /// The largest command to the medium, from the queue's limits.
    pub max_transfer_bytes: Option<u64>,
    /// The unit of direct I/O, where the file system does not say (Linux before 6.1); 4096 if unknown.
    pub logical_block_bytes: Option<u64>,
    /// The caller holds the block device exclusively by another descriptor, so it is not claimed a second time.
    pub claimed: bool,
    /// Once true, [`idle`](device::Device::idle) returns early.
    pub stop: Option<Arc<AtomicBool>>,
}

/// What to open and how.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What.
    pub path: PathBuf,
    /// Whether for writing too. A block device is then opened exclusively, unless the caller holds it: the kernel
    /// refuses it while anything mounts or holds it.
    pub writable: bool,
    /// What it must be.
    pub expect: Expect,
    /// The rest.
    pub settings: Settings,
}

/// Why something could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The kernel refused.
    #[error("cannot open {path}: {source}")]
    Refused {
        /// What was to be opened.
        path: PathBuf,
        /// What the kernel said; EBUSY for a block device that something else uses.
        source: io::Error,
    },
    /// It is something else.
    #[error("{path} is {found}, not {expected}")]
    WrongType {
        /// What was opened.
        path: PathBuf,
        /// What it is.
        found: &'static str,
        /// What it should have been.
        expected: &'static str,
    },
    /// A block device without a medium.
    #[error("{path} has no size: there is no medium in it")]
    Empty {
        /// What was opened.
        path: PathBuf,
    },
}

/// An open target and what it is.
pub(crate) struct Opened {
    pub target: Target,
    pub facts: Facts,
}

pub(crate) fn open_path(options: &OpenOptions) -> Result<Opened, OpenError> {
    let path = &options.path;
    let refused = |source: io::Error| OpenError::Refused { path: path.clone(), source };
    // Looked at first: opening a pipe for reading would wait for a writer.
    check_type(path, &std::fs::metadata(path).map_err(refused)?, options.expect)?;
    let mut flags = OFlags::CLOEXEC | if options.writable { OFlags::RDWR } else { OFlags::RDONLY };
    if options.writable && options.expect == Expect::Block && !options.settings.claimed {
        flags |= OFlags::EXCL;
    }
    let file = File::from(open(path, flags, Mode::empty()).map_err(|errno| refused(errno.into()))?);
    // And again: it may have been exchanged in between.
    check_type(path, &file.metadata().map_err(refused)?, options.expect)?;
    adopt(file, path, options.writable, options.expect, &options.settings)
}

/// A file without a name in this directory: however the process ends, nothing is left behind.
pub(crate) fn nameless_file(dir: &Path) -> Result<File, OpenError> {
    let mode = Mode::RUSR | Mode::WUSR;
    let made = match open(dir, OFlags::RDWR | OFlags::CLOEXEC | OFlags::TMPFILE, mode) {
        // What file systems and kernels without O_TMPFILE answer.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) if dir.is_dir() => named_for_a_moment(dir, mode),
        made => made,
    };
    made.map(File::from).map_err(|errno| OpenError::Refused { path: dir.to_owned(), source: errno.into() })
}

fn named_for_a_moment(dir: &Path, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let path = dir.join(format!(".flashmark-{}-{}", std::process::id(), crate::now_ns()));
    let file = open(&path, OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL, mode)?;
    rustix::fs::unlink(&path)?;
    Ok(file)
}

/// Makes a target of an open file.
pub(crate) fn adopt(file: File, path: &Path, writable: bool, expect: Expect, settings: &Settings) -> Result<Opened, OpenError> {
    let refused = |source: io::Error| OpenError::Refused { path: path.to_owned(), source };
    let unit = direct_unit(file.as_fd());
    // A unit of 0 means that O_DIRECT is taken and not meant (encrypted files, journalled data); in memory it cannot be meant.
    let pretended = unit == Some(0) || (expect != Expect::Block && lives_in_memory(&file));
    let direct = if pretended { None } else { reopen_direct(file.as_fd(), writable).map_err(refused)? };
    let kind = match expect {
        Expect::Block => Kind::Block,
        Expect::File { .. } => Kind::File,
    };
    let target = Target { kind, buffered: file.into(), direct };
    let facts = match expect {
        Expect::Block => block_facts(&target, writable, settings),
        Expect::File { capacity_bytes } => file_facts(&target, capacity_bytes, unit, writable, settings),
    }
    .map_err(|errno| refused(errno.into()))?;
    if facts.capacity_bytes == 0 {
        return Err(OpenError::Empty { path: path.to_owned() });
    }
    Ok(Opened { target, facts })
}

/// The same file past the page cache; `None` where its file system does not offer that (tmpfs).
fn reopen_direct(file: BorrowedFd<'_>, writable: bool) -> io::Result<Option<OwnedFd>> {
    let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
    match open(format!("/proc/self/fd/{}", file.as_raw_fd()), access | OFlags::CLOEXEC | OFlags::DIRECT, Mode::empty()) {
        Ok(direct) => Ok(Some(direct)),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

fn check_type(path: &Path, metadata: &std::fs::Metadata, expect: Expect) -> Result<(), OpenError> {
    let kind = metadata.file_type();
    let found = match () {
        () if kind.is_file() => "a regular file",
        () if kind.is_block_device() => "a block device",
        () if kind.is_dir() => "a directory",
        () if kind.is_char_device() => "a character device",
        () if kind.is_fifo() => "a pipe",
        () => "a socket",
    };
    let expected = match expect {
        Expect::File { .. } => "a regular file",
        Expect::Block => "a block device",
    };
    if found == expected { Ok(()) } else { Err(OpenError::WrongType { path: path.to_owned(), found, expected }) }
}

fn block_facts(target: &Target, writable: bool, settings: &Settings) -> rustix::io::Result<Facts> {
    let fd = &target.buffered;
    let logical = u64::from(rustix::fs::ioctl_blksszget(fd)?);
    Ok(Facts {
        capacity_bytes: ioctl::capacity_bytes(fd)?,
        logical_block_bytes: logical,
        physical_block_bytes: rustix::fs::ioctl_blkpbszget(fd).map_or(logical, u64::from),
        read_only: !writable || ioctl::is_read_only(fd)?,
        discards: writable && ioctl::discards(fd),
        ..common_facts(target, settings)
    })
}

fn file_facts(
    target: &Target,
    capacity_bytes: u64,
    direct_unit: Option<u64>,
    writable: bool,
    settings: &Settings,
) -> rustix::io::Result<Facts> {
    // Without direct I/O any sector will do.
    let unit = if target.direct.is_none() { Some(512) } else { direct_unit.or(settings.logical_block_bytes) };
    let stat = fstat(&target.buffered)?;
    Ok(Facts {
        capacity_bytes,
        logical_block_bytes: unit.unwrap_or(4096),
        physical_block_bytes: stat.st_blksize as u64,
        read_only: !writable,
        discards: writable && punches_holes(&target.buffered, stat.st_size as u64),
        ..common_facts(target, settings)
    })
}

/// What does not depend on the target.
fn common_facts(target: &Target, settings: &Settings) -> Facts {
    Facts {
        capacity_bytes: 0,
        logical_block_bytes: 0,
        physical_block_bytes: 0,
        max_transfer_bytes: settings.max_transfer_bytes,
        max_in_flight: 1,
        read_only: true,
        discards: false,
        has_page_cache: target.direct.is_some(),
        keeps_data: true,
        engine: String::new(),
    }
}

/// The unit of direct I/O as the file system says it (STATX_DIOALIGN, Linux 6.1); 0 if it has none.
fn direct_unit(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let told = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN);
    told.then_some(u64::from(stat.stx_dio_offset_align))
}

/// Whether a file is in tmpfs or ramfs, which take O_DIRECT since Linux 6.6 and go to the page cache all the same.
fn lives_in_memory(file: &File) -> bool {
    const TMPFS_MAGIC: u32 = 0x0102_1994;
    const RAMFS_MAGIC: u32 = 0x8584_58f6;
    fstatfs(file).is_ok_and(|stat| [TMPFS_MAGIC, RAMFS_MAGIC].contains(&(stat.f_type as u32)))
}

/// Tries it behind the end, where there is nothing to lose.
fn punches_holes(file: &OwnedFd, size_bytes: u64) -> bool {
    let behind = size_bytes.next_multiple_of(4096);
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, behind, 4096).is_ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn where_nameless_files_cannot_be_made_the_name_is_gone_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::from(named_for_a_moment(dir.path(), Mode::RUSR | Mode::WUSR).unwrap());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        file.write_all_at(b"still here", 0).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 10);
    }

    #[test]
    fn where_no_file_can_be_made_the_directory_is_named() {
        let error = nameless_file(Path::new("/proc/self")).unwrap_err().to_string();
        assert!(error.starts_with("cannot open /proc/self: "), "{error}");
    }
}
