//! One I/O by plain system calls, from beginning to end.

use std::io::IoSlice;

use device::{IoError, Op, Request};
use record::{Path, Sync};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, fdatasync, fsync};
use rustix::io::{self, Errno, ReadWriteFlags, pread, pwrite, pwritev2};

use crate::errors::{ended_early, io_error};
use crate::ioctl;
use crate::target::{FileKind, Target};

/// Does the I/O and waits for it. `buffer` is as long as the transfer.
pub(crate) fn perform(
    target: &Target,
    request: &Request,
    buffer: &mut [u8],
) -> Result<(), IoError> {
    match request.op {
        Op::Read => read(target, request, buffer),
        Op::Write => write(target, request, buffer),
        Op::Flush => flush(target, request),
        Op::Discard => discard(target, request),
    }
}

fn read(target: &Target, request: &Request, buffer: &mut [u8]) -> Result<(), IoError> {
    if target.direct.is_none() && request.path == Path::Direct {
        forget(target, request);
    }
    let fd = target.fd(request.path);
    whole(target, request, |moved| {
        pread(fd, &mut buffer[moved..], request.offset_bytes + moved as u64)
    })
}

fn write(target: &Target, request: &Request, buffer: &[u8]) -> Result<(), IoError> {
    let fd = target.fd(request.path);
    let flags = write_flags(request.sync);
    whole(target, request, |moved| {
        let (rest, offset) = (&buffer[moved..], request.offset_bytes + moved as u64);
        if flags.is_empty() {
            pwrite(fd, rest, offset)
        } else {
            pwritev2(fd, &[IoSlice::new(rest)], offset, flags)
        }
    })
}

/// Flags that make one write durable before it completes.
pub(crate) fn write_flags(sync: Sync) -> ReadWriteFlags {
    match sync {
        Sync::None => ReadWriteFlags::empty(),
        Sync::Data => ReadWriteFlags::DSYNC,
        Sync::File => ReadWriteFlags::SYNC,
    }
}

/// Repeats a transfer that came back short until all is moved; a transfer that moves nothing is an
/// error.
fn whole(
    target: &Target,
    request: &Request,
    mut transfer: impl FnMut(usize) -> io::Result<usize>,
) -> Result<(), IoError> {
    let mut moved = 0;
    while moved < request.length_bytes as usize {
        match transfer(moved) {
            Ok(0) => return Err(ended_early(target, request, moved as u64)),
            Ok(bytes) => moved += bytes,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(io_error(target, request, errno)),
        }
    }
    Ok(())
}

fn flush(target: &Target, request: &Request) -> Result<(), IoError> {
    let fd = target.fd(request.path);
    let flushed = if request.sync == Sync::File { fsync(fd) } else { fdatasync(fd) };
    flushed.map_err(|errno| io_error(target, request, errno))
}

fn discard(target: &Target, request: &Request) -> Result<(), IoError> {
    let fd = target.fd(request.path);
    match target.kind {
        FileKind::Block => ioctl::discard(fd, request.offset_bytes, request.length_bytes),
        FileKind::File => fallocate(
            fd,
            FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
            request.offset_bytes,
            request.length_bytes,
        ),
    }
    .map_err(|errno| io_error(target, request, errno))
}

/// Drops a range from the page cache, if direct I/O is refused. No effect on a file system in
/// memory.
fn forget(target: &Target, request: &Request) {
    let length = std::num::NonZeroU64::new(request.length_bytes);
    let _ = fadvise(&target.buffered, request.offset_bytes, length, Advice::DontNeed);
}
