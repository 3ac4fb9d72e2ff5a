//! The refusals of a target.

use std::io;
use std::path::PathBuf;

use record::units::Bytes;

use crate::in_use::{InUseReason, summary};

/// The end of a message if no mount is known: the missing file, and the remedy.
pub const NO_MOUNTS: &str =
    "/proc/self/mountinfo cannot be read; type `mount -t proc proc /proc` as root first";

/// The reason why a target cannot be tested. Each message has the finding and the remedy. The first
/// field is the target as the user typed it, or where it says so the kernel name of the whole
/// device: "sdb".
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing has that name or path.
    #[error("'{0}' does not exist; `flashmark list` shows what is plugged in")]
    Missing(String),
    /// A link, and the file that is missing where it leads.
    #[error("'{}' is a link to '{}', which does not exist; is the medium plugged in? `flashmark list` shows what is", .0, .1.display())]
    Dangling(String, PathBuf),
    /// It is neither a directory, a file nor a block device: "character device", "named pipe",
    /// "socket", "pseudo file system (proc)".
    #[error("'{0}' is a {1}, which stores nothing; name a directory, a file or a block device")]
    NotStorage(String, String),
    /// The user lacks the right.
    #[error("no right to {right} '{target}'; {way_out}")]
    NoRights {
        /// Target as the user typed it.
        target: String,
        /// "open", "write to", "look at".
        right: &'static str,
        /// Remedy, as the end of the message.
        way_out: &'static str,
    },
    /// Its file system is mounted read-only (option `ro`, or EROFS).
    #[error("'{target}' is on a file system that is mounted read-only ({kind} at {}); remount it writable or name another directory", at.display())]
    ReadOnlyFilesystem {
        /// Target as the user typed it.
        target: String,
        /// Kind of file system.
        kind: String,
        /// Mount point of that file system.
        at: PathBuf,
    },
    /// The kernel refuses writes to this device.
    #[error("{0} is write-protected; move the lock slider of the card or adapter")]
    ReadOnlyMedium(String),
    /// It is on a network file system, or one of the host of this virtual machine.
    #[error(
        "'{target}' is on {source_name} over {kind}: that would measure the way there, not a medium; run flashmark where the medium is plugged in"
    )]
    Remote {
        /// Target as the user typed it.
        target: String,
        /// Kind of file system.
        kind: String,
        /// Source of the mount, by the mount table: "server:/export".
        source_name: String,
    },
    /// Less than 64 KiB is free there: the bytes that this user may still fill.
    #[error("'{}' has {} free; delete something there or name another directory", .0, Bytes(*.1))]
    Full(String, u64),
    /// This device is a reader without a card or an unused loop device.
    #[error("{0} holds no medium (size 0); put one in, or see `flashmark list`")]
    Empty(String),
    /// The medium, or a partition of it, is mounted or otherwise in use; the most serious use first.
    #[error("'{}' is in use: {}; {}", .0, summary(.1), remedy_for(.1))]
    InUse(String, Vec<InUseReason>),
    /// It is a partition of a medium whose other parts are in use.
    #[error(
        "'{target}' is a partition of {disk}, which is in use: {}; {}",
        summary(uses),
        remedy_for(uses)
    )]
    SiblingInUse {
        /// Target as the user typed it.
        target: String,
        /// Kernel name of the whole device.
        disk: String,
        /// Uses that were found, the most serious first.
        uses: Vec<InUseReason>,
    },
    /// It is a file that is in use: "swap space", "the content of loop3", "held open for writing by
    /// qemu-system-x86_64 (process 4242)".
    #[error("'{0}' is {1}; name another file or a directory")]
    FileInUse(String, String),
    /// Its node exists, its device does not.
    #[error(
        "'{0}' is a block device that the kernel does not know (any more); plug it in again, `flashmark list` shows what is there"
    )]
    Gone(String),
    /// The table of mounts is missing: every medium may be in use.
    #[error("cannot see what is mounted, so nothing is touched: {NO_MOUNTS}")]
    Blind,
    /// A system call failed for another reason: stat(2), open(2), faccessat(2) or statvfs(3).
    #[error("cannot look at '{0}': {1}")]
    Io(String, #[source] io::Error),
}

/// Advice on the most serious use, as the end of a message.
fn remedy_for(uses: &[InUseReason]) -> &'static str {
    match uses.first() {
        Some(InUseReason::Root { .. }) => "choose another medium, or a directory on this one",
        Some(InUseReason::Mounted { .. }) => "unmount it first, or name a directory on it",
        Some(InUseReason::MountedElsewhere { .. }) => {
            "unmount it there first, or choose another medium"
        }
        Some(InUseReason::Held { .. }) => "end that program first, or choose another medium",
        Some(InUseReason::Swap { .. }) => "swapoff it first, or choose another medium",
        _ => "release it first, or choose another medium",
    }
}
