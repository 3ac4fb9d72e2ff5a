//! The refusals of a target.

use std::io;
use std::path::PathBuf;

use record::units::Bytes;

use crate::in_use::{InUseReason, summary};

/// Why a target cannot be tested. Each says what was found and what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Nothing there.
    #[error("'{target}' does not exist; `flashmark list` shows what is plugged in")]
    Missing {
        /// As given.
        target: String,
    },
    /// A link to nothing.
    #[error("'{target}' is a link to '{}', which does not exist; is the medium plugged in? `flashmark list` shows what is", to.display())]
    Dangling {
        /// As given.
        target: String,
        /// Where the link leads.
        to: PathBuf,
    },
    /// Neither directory, file nor block device.
    #[error(
        "'{target}' is a {what}, which stores nothing; name a directory, a file or a block device"
    )]
    NotStorage {
        /// As given.
        target: String,
        /// "character device", "named pipe", "socket", "pseudo file system (proc)".
        what: String,
    },
    /// The user may not.
    #[error("no right to {right} '{target}'; {way_out}")]
    NoRights {
        /// As given.
        target: String,
        /// "open", "write to", "look at".
        right: &'static str,
        /// What to do.
        way_out: &'static str,
    },
    /// Mounted read-only.
    #[error("'{target}' is on a file system that is mounted read-only ({kind} at {}); remount it writable or name another directory", at.display())]
    ReadOnlyFilesystem {
        /// As given.
        target: String,
        /// Kind of file system.
        kind: String,
        /// Mount point.
        at: PathBuf,
    },
    /// The kernel refuses writes.
    #[error(
        "{device} is read-only; move the lock slider of the card or adapter, or leave out --erase for the tests that only read"
    )]
    ReadOnlyMedium {
        /// Kernel name.
        device: String,
    },
    /// A network.
    #[error(
        "'{target}' is on {source_name} over {kind}: that would measure the way there, not a medium; run flashmark where the medium is plugged in"
    )]
    Remote {
        /// As given.
        target: String,
        /// Kind of file system.
        kind: String,
        /// What is mounted.
        source_name: String,
    },
    /// Full.
    #[error("'{target}' has {} free; delete something there or name another directory", Bytes(*free_bytes))]
    Full {
        /// As given.
        target: String,
        /// What is left.
        free_bytes: u64,
    },
    /// A reader without a card, an unused loop device.
    #[error("{device} holds no medium (size 0); put one in, or see `flashmark list`")]
    Empty {
        /// Kernel name.
        device: String,
    },
    /// The medium, or a partition of it, is mounted or otherwise in use.
    #[error("'{target}' is in use: {}; {}", summary(uses), way_out_of(uses))]
    InUse {
        /// As given.
        target: String,
        /// Why.
        uses: Vec<InUseReason>,
    },
    /// A partition of a medium whose other parts are in use.
    #[error(
        "'{target}' is a partition of {disk}, which is in use: {}; {}",
        summary(uses),
        way_out_of(uses)
    )]
    SiblingInUse {
        /// As given.
        target: String,
        /// Kernel name of the whole device.
        disk: String,
        /// Why.
        uses: Vec<InUseReason>,
    },
    /// A file something else lives in.
    #[error("'{target}' is {what}; name another file or a directory")]
    FileInUse {
        /// As given.
        target: String,
        /// "swap space", "the content of loop3", "held open for writing by qemu-system-x86_64
        /// (process 4242)".
        what: String,
    },
    /// A node whose device is gone.
    #[error(
        "'{target}' is a block device that the kernel does not know (any more); plug it in again, `flashmark list` shows what is there"
    )]
    Gone {
        /// As given.
        target: String,
    },
    /// Anything else.
    #[error("cannot look at '{target}': {source}")]
    Io {
        /// As given.
        target: String,
        /// Why.
        source: io::Error,
    },
}

fn way_out_of(uses: &[InUseReason]) -> &'static str {
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
