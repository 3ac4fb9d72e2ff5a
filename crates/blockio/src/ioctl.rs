//! What only the kernel can tell of a file or block device, and what no crate wraps: ioctls of block
//! and loop devices (linux/fs.h, linux/loop.h), extents (linux/fiemap.h), writers (fcntl(2)).

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;

use rustix::ioctl::{Getter, NoArg, Opcode, Setter, Updater, ioctl, opcode};

const BLKROGET: Opcode = opcode::none(0x12, 94);
const BLKFLSBUF: Opcode = opcode::none(0x12, 97);
const BLKGETSIZE64: Opcode = opcode::read::<usize>(0x12, 114);
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// Size in bytes; 0 once the medium is removed.
pub(crate) fn capacity_bytes(fd: impl AsFd) -> rustix::io::Result<u64> {
    // SAFETY: BLKGETSIZE64 writes one u64 (its opcode says size_t for historical reasons).
    unsafe { ioctl(fd, Getter::<BLKGETSIZE64, u64>::new()) }
}

/// True if the device refuses writes.
pub(crate) fn is_read_only(fd: impl AsFd) -> rustix::io::Result<bool> {
    // SAFETY: BLKROGET writes one int.
    unsafe { ioctl(fd, Getter::<BLKROGET, i32>::new()) }.map(|flag| flag != 0)
}

/// Writes back and drops what the host has cached of the device. Needs CAP_SYS_ADMIN.
pub(crate) fn flush_buffers(fd: impl AsFd) -> rustix::io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    unsafe { ioctl(fd, NoArg::<BLKFLSBUF>::new()) }
}

/// Tells the device that a range is no longer needed.
pub(crate) fn discard(
    fd: impl AsFd,
    offset_bytes: u64,
    length_bytes: u64,
) -> rustix::io::Result<()> {
    // SAFETY: BLKDISCARD reads two u64: start and length.
    unsafe { ioctl(fd, Setter::<BLKDISCARD, [u64; 2]>::new([offset_bytes, length_bytes])) }
}

/// LOOP_GET_STATUS64, a number from the time before opcodes had a structure: the name of a backing
/// file may have changed since, its identity cannot.
const LOOP_GET_STATUS64: Opcode = 0x4C05;

/// The file or device behind a loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopBacking {
    /// Number of the device that the file is on (`st_dev`).
    pub device: u64,
    /// The file's number there (`st_ino`).
    pub inode: u64,
    /// Number of the block device behind it (`st_rdev`); 0 for a file.
    pub rdevice: u64,
    /// Offset in bytes in the file or device at which the loop device begins.
    pub offset_bytes: u64,
    /// Visible length in bytes; 0 for everything.
    pub size_limit_bytes: u64,
}

/// Layout of the kernel's `struct loop_info64` (linux/loop.h).
#[repr(C)]
struct Info {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// The file or device behind the loop device of an open node.
///
/// # Errors
/// ENXIO if nothing is attached to it; ENOTTY if it is not a loop device; those of the backing
/// file's file system.
pub fn loop_backing(node: impl AsFd) -> io::Result<LoopBacking> {
    // SAFETY: LOOP_GET_STATUS64 writes one `struct loop_info64`, of which `Info` is the form; any
    // bytes are valid in it.
    let info = unsafe { ioctl(node, Getter::<LOOP_GET_STATUS64, Info>::new()) }?;
    Ok(LoopBacking {
        device: info.device,
        inode: info.inode,
        rdevice: info.rdevice,
        offset_bytes: info.offset,
        size_limit_bytes: info.size_limit,
    })
}

/// `struct fiemap` of linux/fiemap.h without room for extents: the kernel then only counts them.
#[repr(C)]
#[derive(Default)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

const FS_IOC_FIEMAP: Opcode = opcode::read_write::<Fiemap>(b'f', 11);
/// Flag that writes the file out first: data without a place on the medium has no extents yet.
const FIEMAP_FLAG_SYNC: u32 = 1;

/// Number of extents of a file, as reported by its file system. Two that follow each other on the
/// medium may be reported as one or as two.
///
/// # Errors
/// Those of the kernel; "not supported" on a file system that does not report extents (vfat,
/// network file systems).
pub fn file_extents(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    let mut map = Fiemap { length: u64::MAX, flags: FIEMAP_FLAG_SYNC, ..Fiemap::default() };
    // SAFETY: FS_IOC_FIEMAP reads and writes one struct fiemap,
    // of this layout, and no extent beyond it as it has room for none.
    unsafe { ioctl(&file, Updater::<FS_IOC_FIEMAP, Fiemap>::new(&mut map)) }?;
    Ok(u64::from(map.mapped_extents))
}

/// True if anybody has the regular file open for writing: also processes that `/proc` does not show
/// here, descriptors on their way through a socket, the kernel itself. `file` must be open for
/// reading only, and be the caller's only descriptor for it; `None` if the file system or the
/// rights do not allow an answer.
///
/// Takes a read lease for an instant, which the kernel grants only while nobody writes (fcntl(2),
/// F_SETLEASE).
pub fn has_writer(file: impl AsFd) -> io::Result<Option<bool>> {
    let file = file.as_fd();
    // Whoever opens the file for writing in this instant makes the kernel send a signal here: one
    // that is ignored unless asked for.
    control(file, F_SETSIG, libc::SIGURG)?;
    match control(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => control(file, libc::F_SETLEASE, libc::F_UNLCK).map(|()| Some(false)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Some(true)),
        Err(_) => Ok(None),
    }
}

/// Command that sets the signal for I/O (asm-generic/fcntl.h); the libc crate does not have it for
/// every C library.
const F_SETSIG: libc::c_int = 10;

fn control(file: BorrowedFd<'_>, command: libc::c_int, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open, and these commands of fcntl take an int.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    #[test]
    fn the_form_is_the_kernels() {
        assert_eq!(
            (
                size_of::<Info>(),
                std::mem::offset_of!(Info, file_name),
                std::mem::offset_of!(Info, init)
            ),
            (232, 56, 216)
        );
    }

    #[test]
    fn another_device_has_no_loop_backing() {
        let null = File::open("/dev/null").unwrap();
        assert!(loop_backing(&null).is_err());
    }

    #[test]
    fn holes_part_a_file_into_extents() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("file");
        let mut file = File::create(&path).unwrap();
        for part in 0..5 {
            file.seek(SeekFrom::Start(part << 20)).unwrap();
            file.write_all(&[1; 65536]).unwrap();
        }
        match file_extents(&path) {
            Ok(extents) => assert!(extents >= 5, "{extents}"),
            Err(error) => assert!(
                matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)),
                "{error}"
            ),
        }
        assert_eq!(
            file_extents(&dir.path().join("missing")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_writer_is_noticed_while_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let writer = File::create(&path).unwrap();
        let seen = || has_writer(File::open(&path).unwrap()).unwrap();
        assert_eq!(seen(), Some(true));
        drop(writer);
        assert_eq!(seen(), Some(false));
        let _reader = File::open(&path).unwrap();
        assert_eq!(seen(), Some(false));
    }
}
