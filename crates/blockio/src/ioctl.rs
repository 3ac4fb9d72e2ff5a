//! The few block device ioctls that no crate wraps (linux/fs.h).

use std::os::fd::AsFd;

use rustix::io;
use rustix::ioctl::{Getter, NoArg, Setter, ioctl, opcode};

const BLKROGET: rustix::ioctl::Opcode = opcode::none(0x12, 94);
const BLKFLSBUF: rustix::ioctl::Opcode = opcode::none(0x12, 97);
const BLKGETSIZE64: rustix::ioctl::Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: rustix::ioctl::Opcode = opcode::none(0x12, 119);

/// Size in bytes; 0 once the medium is removed.
pub(crate) fn capacity_bytes(fd: impl AsFd) -> io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64 (its opcode says size_t for historical reasons).
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// True if the device refuses writes.
pub(crate) fn is_read_only(fd: impl AsFd) -> io::Result<bool> {
    // SAFETY: BLKROGET writes one int.
    unsafe { ioctl(fd, Getter::<BLKROGET, i32>::new()) }.map(|flag| flag != 0)
}

/// Writes back and drops what the host has cached of the device. Needs CAP_SYS_ADMIN.
pub(crate) fn flush_buffers(fd: impl AsFd) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }
}

/// Tells the device that a range is no longer needed.
pub(crate) fn discard(fd: impl AsFd, offset_bytes: u64, length_bytes: u64) -> io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64: start and length.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, length_bytes])) }
}
