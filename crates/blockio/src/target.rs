//! The file or block device behind a device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use device::Request;
use record::Path;

use crate::ioctl;

/// What it is to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Block,
}

/// An open target: the same file twice, past the page cache and through it.
pub(crate) struct Target {
    pub kind: FileKind,
    /// Through the page cache.
    pub buffered: OwnedFd,
    /// Past it; `None` where that was refused, and `buffered` has to do.
    pub direct: Option<OwnedFd>,
}

impl Target {
    /// The descriptor for an I/O that goes this way.
    #[inline]
    pub fn fd(&self, path: Path) -> BorrowedFd<'_> {
        match (path, &self.direct) {
            (Path::Direct, Some(direct)) => direct.as_fd(),
            _ => self.buffered.as_fd(),
        }
    }

    /// Whether the medium has been taken out: a block device then has no size. Of a file nothing
    /// can be told.
    pub fn is_gone(&self) -> bool {
        self.kind == FileKind::Block
            && !ioctl::capacity_bytes(&self.buffered).is_ok_and(|bytes| bytes > 0)
    }

    /// Whether the file is long enough for the request.
    pub fn reaches(&self, request: &Request) -> bool {
        rustix::fs::fstat(&self.buffered).is_ok_and(|stat| {
            stat.st_size as u64 >= request.offset_bytes.saturating_add(request.length_bytes)
        })
    }
}
