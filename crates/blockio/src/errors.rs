//! Translation of the kernel's error numbers to kinds of I/O errors.
//!
//! Measured on real kernel devices that were made to fail: a USB stick pulled out gives ENODEV,
//! then reads of 0 bytes and ENOSPC; an SD card that is ejected gives EIO for 0.2 s before the
//! kernel knows; SCSI and NVMe medium errors come as ENODATA. So an I/O error is only the medium's
//! once the device has been asked whether it is still there (`going.rs`).

use device::{IoError, IoErrorKind, Op, Request};
use rustix::io::Errno;

use crate::target::{FileKind, Target};

/// The error that `errno` means for this request on this target.
#[cold]
pub(crate) fn io_error(target: &Target, request: &Request, errno: Errno) -> IoError {
    let kind = match errno {
        // The block layer's words for an I/O that failed (blk_errors in block/blk-core.c).
        Errno::IO
        | Errno::NODATA
        | Errno::REMOTEIO
        | Errno::ILSEQ
        | Errno::TIMEDOUT
        | Errno::NOLINK => {
            if target.is_gone_or_going() {
                IoErrorKind::Gone
            } else {
                IoErrorKind::Medium
            }
        }
        Errno::NODEV | Errno::NXIO | Errno::NOTCONN | Errno::STALE => IoErrorKind::Gone,
        // A block device has no space to run out of inside its capacity: it has shrunk to nothing.
        Errno::NOSPC if target.kind == FileKind::Block => IoErrorKind::Gone,
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => IoErrorKind::NoSpace,
        // A file system whose device goes away refuses writes from then on.
        Errno::ROFS if target.kind == FileKind::File && target.is_gone() => IoErrorKind::Gone,
        Errno::ROFS | Errno::PERM => IoErrorKind::ReadOnly,
        Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOTTY => IoErrorKind::Unsupported,
        _ => IoErrorKind::Other,
    };
    let detail = match errno {
        Errno::NOSPC if kind == IoErrorKind::Gone => {
            format!("its size is 0 now (os error {})", errno.raw_os_error())
        }
        Errno::FBIG => "the limit of file size of this session (ulimit -f) or of the file system is reached; `ulimit -f unlimited` lifts the first".to_owned(),
        _ => std::io::Error::from(errno).to_string(),
    };
    IoError::new(kind, request, detail).with_errno(errno.raw_os_error())
}

/// The error of a transfer that moved 0 bytes before it was complete.
#[cold]
pub(crate) fn ended_early(target: &Target, request: &Request, moved_bytes: u64) -> IoError {
    let (verb, kind) = match (request.op, target.kind) {
        (Op::Read, FileKind::Block) => ("read returned", IoErrorKind::Gone),
        (Op::Read, FileKind::File) if !target.reaches(request) => {
            return IoError::new(IoErrorKind::Other, request, "nothing has been written there yet");
        }
        (Op::Read, FileKind::File) => ("read returned", IoErrorKind::Other),
        _ => ("write took", IoErrorKind::Other),
    };
    IoError::new(
        kind,
        request,
        format!(
            "{verb} 0 bytes inside the medium, after {moved_bytes} of {}",
            request.length_bytes
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A regular file that is treated as a block device has no size, as a medium that was pulled
    /// out.
    fn kinds(errno: Errno) -> [IoErrorKind; 2] {
        [FileKind::File, FileKind::Block].map(|kind| {
            let target = Target::of(kind, tempfile::tempfile().unwrap().into(), None);
            let error = io_error(&target, &Request::write(0, 4096, 512), errno);
            assert_eq!(error.errno, Some(errno.raw_os_error()));
            error.kind
        })
    }

    #[test]
    fn each_number_means_what_it_was_seen_to_mean() {
        use IoErrorKind::*;
        for (errno, in_file, on_medium_pulled_out) in [
            (Errno::IO, Medium, Gone),
            (Errno::NODATA, Medium, Gone),
            (Errno::NODEV, Gone, Gone),
            (Errno::NXIO, Gone, Gone),
            (Errno::NOSPC, NoSpace, Gone),
            (Errno::DQUOT, NoSpace, NoSpace),
            (Errno::ROFS, ReadOnly, ReadOnly),
            (Errno::PERM, ReadOnly, ReadOnly),
            (Errno::INVAL, Unsupported, Unsupported),
            (Errno::NOMEM, Other, Other),
        ] {
            assert_eq!(kinds(errno), [in_file, on_medium_pulled_out], "{errno:?}");
        }
    }

    #[test]
    fn the_message_has_the_operation_the_place_and_the_reason() {
        let target = Target::of(FileKind::File, tempfile::tempfile().unwrap().into(), None);
        insta::assert_snapshot!(io_error(&target, &Request::write(0, 4096, 512), Errno::IO), @"the medium reports an error while writing 512 B at byte 4096: Input/output error (os error 5)");
        let pulled_out = Target { kind: FileKind::Block, ..target };
        insta::assert_snapshot!(io_error(&pulled_out, &Request::write(0, 4096, 512), Errno::NOSPC), @"the medium is gone while writing 512 B at byte 4096: its size is 0 now (os error 28)");
        let target = Target { kind: FileKind::File, ..pulled_out };
        insta::assert_snapshot!(ended_early(&target, &Request::write(0, 4096, 1024), 512), @"the system reports an error while writing 1 KiB at byte 4096: write took 0 bytes inside the medium, after 512 of 1024");
        insta::assert_snapshot!(ended_early(&target, &Request::read(0, 4096, 1024), 0), @"the system reports an error while reading 1 KiB at byte 4096: nothing has been written there yet");
    }
}
