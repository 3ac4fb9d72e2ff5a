//! Opening of a target, and its properties.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device::Facts;
use rustix::fs::{
    AtFlags, FallocateFlags, Mode, OFlags, StatxFlags, fallocate, fcntl_getfl, fcntl_setfl, fstat,
    fstatfs, major, minor, open, statx,
};
use rustix::io::Errno;

use crate::exact::{open_exactly, own_name};
use crate::expect::{ExpectedFile, OpenError};
use crate::ioctl;
use crate::target::{FileKind, Target};

/// The way in which I/O is issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// pread/pwrite with one slot; with more, io_uring, or threads where that is refused.
    #[default]
    Auto,
    /// io_uring, or an error.
    Uring,
    /// pread/pwrite; with more than one slot, on a thread for each.
    Psync,
}

/// Settings that a caller may choose or knows better.
#[derive(Clone, Debug, Default)]
pub struct OpenSettings {
    /// The way in which I/O is issued.
    pub engine: EngineChoice,
    /// The largest command to the medium, from the queue's limits.
    pub max_transfer_bytes: Option<u64>,
    /// The unit of direct I/O in bytes, if the file system does not report it (Linux before 6.1);
    /// 4096 if unknown.
    pub logical_block_bytes: Option<u64>,
    /// The caller holds the block device exclusively by another descriptor, so it is not claimed a
    /// second time.
    pub claimed: bool,
    /// Once true, [`idle`](device::Device::idle) returns early.
    pub stop: Option<Arc<AtomicBool>>,
}

/// A target and the way to open it.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// File or device node to open.
    pub path: PathBuf,
    /// True to open it for writing too. A block device is then opened exclusively, unless the
    /// caller holds it: the kernel refuses if anything mounts or holds it.
    pub writable: bool,
    /// Kind and identity that the target must have.
    pub expect: ExpectedFile,
    /// Engine, sizes and rights that the caller chooses or knows better.
    pub settings: OpenSettings,
}

/// An open target and its properties.
pub(crate) struct OpenedFile {
    pub target: Target,
    pub facts: Facts,
}

pub(crate) fn open_path(options: &OpenOptions) -> Result<OpenedFile, OpenError> {
    let OpenOptions { path, writable, expect, settings } = options;
    let file = open_exactly(path, *writable, *writable && !settings.claimed, *expect)?;
    let kind = match expect {
        ExpectedFile::File { capacity_bytes, .. } => {
            AdoptedKind::File { capacity_bytes: *capacity_bytes }
        }
        ExpectedFile::Block { .. } => AdoptedKind::Block,
    };
    adopt(file, path, *writable, kind, settings)
}

/// Kind of an open file that is adopted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AdoptedKind {
    /// A regular file of which so many bytes are used.
    File { capacity_bytes: u64 },
    /// A block device, whole or a partition.
    Block,
}

/// Makes a target of an open file.
pub(crate) fn adopt(
    file: File,
    path: &Path,
    writable: bool,
    kind: AdoptedKind,
    settings: &OpenSettings,
) -> Result<OpenedFile, OpenError> {
    let refused = |source: io::Error| OpenError::Refused { path: path.to_owned(), source };
    let unit = direct_unit(file.as_fd());
    // A unit of 0 means that O_DIRECT is taken and not meant (encrypted files, journalled data); in
    // memory it cannot be meant.
    let pretended = unit == Some(0) || (kind != AdoptedKind::Block && lives_in_memory(&file));
    let direct =
        if pretended { None } else { reopen_direct(file.as_fd(), writable).map_err(refused)? };
    let target_kind = match kind {
        AdoptedKind::Block => FileKind::Block,
        AdoptedKind::File { .. } => FileKind::File,
    };
    let target = Target::of(target_kind, file.into(), direct);
    [Some(&target.buffered), target.direct.as_ref()].into_iter().flatten().for_each(keep_atime);
    let facts = match kind {
        AdoptedKind::Block => block_facts(&target, writable, settings),
        AdoptedKind::File { capacity_bytes } => {
            file_facts(&target, capacity_bytes, unit, writable, settings)
        }
    }
    .map_err(|errno| refused(errno.into()))?;
    if facts.capacity_bytes == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    Ok(OpenedFile { target, facts })
}

/// The same file past the page cache; `None` if its file system does not offer that (tmpfs).
fn reopen_direct(file: BorrowedFd<'_>, writable: bool) -> io::Result<Option<OwnedFd>> {
    let access = if writable { OFlags::RDWR } else { OFlags::RDONLY };
    match open(own_name(file), access | OFlags::CLOEXEC | OFlags::DIRECT, Mode::empty()) {
        Ok(direct) => Ok(Some(direct)),
        Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Leaves the time of the last access unchanged by reads, if the file is ours or we are root.
/// Otherwise the kernel spends a twentieth of a small read on it.
fn keep_atime(file: &OwnedFd) {
    if let Ok(flags) = fcntl_getfl(file) {
        let _ = fcntl_setfl(file, flags | OFlags::NOATIME);
    }
}

fn block_facts(
    target: &Target,
    writable: bool,
    settings: &OpenSettings,
) -> rustix::io::Result<Facts> {
    let fd = &target.buffered;
    let logical = u64::from(rustix::fs::ioctl_blksszget(fd)?);
    Ok(Facts {
        capacity_bytes: ioctl::capacity_bytes(fd)?,
        logical_block_bytes: logical,
        physical_block_bytes: rustix::fs::ioctl_blkpbszget(fd).map_or(logical, u64::from),
        read_only: !writable || ioctl::is_read_only(fd)?,
        discards: writable && takes_discards(fd),
        ..common_facts(target, settings)
    })
}

fn file_facts(
    target: &Target,
    capacity_bytes: u64,
    direct_unit: Option<u64>,
    writable: bool,
    settings: &OpenSettings,
) -> rustix::io::Result<Facts> {
    // Without direct I/O any sector will do.
    let unit = if target.direct.is_none() {
        Some(512)
    } else {
        direct_unit.or(settings.logical_block_bytes)
    };
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

/// Properties that do not depend on the kind of target.
fn common_facts(target: &Target, settings: &OpenSettings) -> Facts {
    Facts {
        max_transfer_bytes: settings.max_transfer_bytes,
        max_in_flight: 1,
        has_page_cache: target.direct.is_some(),
        direct_refused: target.direct.is_none(),
        keeps_data: true,
        ..Facts::default()
    }
}

/// The unit of direct I/O in bytes (STATX_DIOALIGN, Linux 6.1); `None` if the file system does not
/// report it, 0 if the file has no direct I/O.
fn direct_unit(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let is_reported = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::DIOALIGN);
    is_reported.then_some(u64::from(stat.stx_dio_offset_align))
}

/// True if a file is in tmpfs or ramfs, which accept O_DIRECT since Linux 6.6 but still use the
/// page cache.
fn lives_in_memory(file: &File) -> bool {
    const TMPFS_MAGIC: u32 = 0x0102_1994;
    const RAMFS_MAGIC: u32 = 0x8584_58f6;
    fstatfs(file).is_ok_and(|stat| [TMPFS_MAGIC, RAMFS_MAGIC].contains(&(stat.f_type as u32)))
}

/// True if a block device discards ranges, as its queue reports; a partition has its medium's
/// queue. The ioctl is not tried with an empty range: some kernels then drop everything that they
/// have cached of the device.
fn takes_discards(fd: &OwnedFd) -> bool {
    let Ok(stat) = fstat(fd) else { return false };
    let node = format!("/sys/dev/block/{}:{}", major(stat.st_rdev), minor(stat.st_rdev));
    let most = ["queue", "../queue"].iter().find_map(|queue| {
        std::fs::read_to_string(format!("{node}/{queue}/discard_max_bytes")).ok()
    });
    most.and_then(|text| text.trim().parse().ok()).is_some_and(|bytes: u64| bytes > 0)
}

/// Tries a hole behind the end of the file, where no data can be lost.
fn punches_holes(file: &OwnedFd, size_bytes: u64) -> bool {
    let behind = size_bytes.next_multiple_of(4096);
    fallocate(file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, behind, 4096).is_ok()
}
