//! From what the kernel says to what it means.
//!
//! Measured on real kernel devices that were made to fail: a USB stick pulled out gives ENODEV, then reads of 0 bytes and ENOSPC; an SD
//! card that is ejected gives EIO first; SCSI and NVMe medium errors come as ENODATA. So an I/O error is only the medium's once the
//! device has been asked whether it is still there.

use device::{IoError, IoErrorKind, Op, Request};
use rustix::io::Errno;

use crate::target::{Kind, Target};

/// The error that this number means for this request on this target.
#[cold]
pub(crate) fn io_error(target: &Target, request: &Request, errno: Errno) -> IoError {
    let kind = match errno {
        // The block layer's words for an I/O that failed (blk_errors in block/blk-core.c).
        Errno::IO | Errno::NODATA | Errno::REMOTEIO | Errno::ILSEQ | Errno::TIMEDOUT | Errno::NOLINK => {
            if target.is_gone() { IoErrorKind::Gone } else { IoErrorKind::Medium }
        }
        Errno::NODEV | Errno::NXIO | Errno::NOTCONN | Errno::STALE => IoErrorKind::Gone,
        // A block device has no space to run out of inside its capacity: it has shrunk to nothing.
        Errno::NOSPC if target.kind == Kind::Block => IoErrorKind::Gone,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => IoErrorKind::NoSpace,
        Errno::ROFS | Errno::PERM => IoErrorKind::ReadOnly,
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => IoErrorKind::Unsupported,
        _ => IoErrorKind::Other,
    };
    IoError::new(kind, request, std::io::Error::from(errno).to_string()).with_errno(errno.raw_os_error())
}

/// The error of a transfer that moved nothing where something had to be.
#[cold]
pub(crate) fn ended_early(target: &Target, request: &Request, moved_bytes: u64) -> IoError {
    let (verb, kind) = match (request.op, target.kind) {
        (Op::Read, Kind::Block) => ("read returned", IoErrorKind::Gone),
        (Op::Read, Kind::File) if !target.reaches(request) => {
            return IoError::new(IoErrorKind::Other, request, "nothing has been written there yet");
        }
        (Op::Read, Kind::File) => ("read returned", IoErrorKind::Other),
        _ => ("write took", IoErrorKind::Other),
    };
    IoError::new(kind, request, format!("{verb} 0 bytes inside the medium, after {moved_bytes} of {}", request.length_bytes))
}
