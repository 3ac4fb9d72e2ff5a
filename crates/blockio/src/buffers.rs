//! Memory that the kernel reads from and writes into.

use std::ffi::c_void;
use std::ptr::NonNull;

use device::{IoError, IoErrorKind, Slot};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Alignment of every slot in bytes; no direct I/O needs more.
const ALIGNMENT: usize = 4096;

/// Equal slots in one anonymous mapping, which is unmapped when the last owner is dropped. Huge
/// pages are not asked for: a request from a huge page is one segment, and the kernel splits it less
/// than those of dd, fio and hdparm.
///
/// A slot is shared between the device and the code that does the I/O. The device's bookkeeping
/// gives it to one of them at a time; the methods that return a slot are therefore unsafe.
pub(crate) struct Buffers {
    base: NonNull<u8>,
    mapped_bytes: usize,
    stride: usize,
    slots: u32,
    slot_bytes: usize,
}

// SAFETY: it is plain memory without thread affinity; who may touch which slot is the callers'
// promise (see `slot_mut`).
unsafe impl Send for Buffers {}
// SAFETY: as above; `&Buffers` alone gives access to no byte.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// Maps `slots` zeroed buffers of `slot_bytes` each.
    pub fn new(slots: u32, slot_bytes: usize) -> Result<Buffers, IoError> {
        let refuse = |detail: String| IoError::general(IoErrorKind::Refused, detail);
        let stride = slot_bytes.max(1).next_multiple_of(ALIGNMENT);
        let mapped_bytes = stride
            .checked_mul(slots.max(1) as usize)
            .filter(|&bytes| bytes <= isize::MAX as usize && u32::try_from(stride).is_ok())
            .ok_or_else(|| {
                refuse(format!(
                    "{slots} buffers of {slot_bytes} bytes are more than can be addressed"
                ))
            })?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing
        // memory.
        let mapped =
            unsafe { mmap_anonymous(std::ptr::null_mut(), mapped_bytes, protection, flags) }
                .map_err(|errno| {
                    refuse(format!("no memory for {slots} buffers of {slot_bytes} bytes: {errno}"))
                })?;
        let base = NonNull::new(mapped.cast()).expect("a mapping is never at address 0");
        Ok(Buffers { base, mapped_bytes, stride, slots, slot_bytes })
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Size of each slot in bytes.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// Address of the first byte of a slot.
    #[inline]
    pub fn slot_ptr(&self, slot: Slot) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: slot * stride lies inside the mapping, which is slots * stride long.
        unsafe { self.base.as_ptr().add(slot as usize * self.stride) }
    }

    /// A slot as a slice.
    ///
    /// # Safety
    /// For as long as the slice lives, nobody else (no other slice, no I/O in flight) uses this
    /// slot.
    #[inline]
    #[expect(
        clippy::mut_from_ref,
        reason = "exclusive use of the slot is what the caller promises"
    )]
    pub unsafe fn slot_mut(&self, slot: Slot) -> &mut [u8] {
        // SAFETY: the slot is mapped, readable, writable and initialised (zeroed by the kernel);
        // exclusivity is the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.slot_ptr(slot), self.slot_bytes) }
    }

    /// The whole mapping, for registration with the kernel.
    #[cfg(target_pointer_width = "64")]
    pub fn as_iovec(&self) -> libc::iovec {
        libc::iovec { iov_base: self.base.as_ptr().cast(), iov_len: self.mapped_bytes }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and whoever could do I/O to it holds an owner of it, so
        // nobody does any more.
        let unmapped = unsafe { munmap(self.base.as_ptr().cast::<c_void>(), self.mapped_bytes) };
        debug_assert!(unmapped.is_ok());
    }
}
