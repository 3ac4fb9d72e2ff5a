//! The file or device behind a loop device, from the kernel (linux/loop.h): the name may have
//! changed since, the identity cannot.

use std::os::fd::AsFd;

use rustix::ioctl::{Getter, Opcode, ioctl};

/// LOOP_GET_STATUS64, a number from the time before opcodes had a structure.
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
pub fn loop_backing(node: impl AsFd) -> std::io::Result<LoopBacking> {
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

#[cfg(test)]
mod tests {
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
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(loop_backing(&null).is_err());
    }
}
