//! Damage of a backup, in words.

use std::fmt;

use record::units::Bytes;

/// Something in a backup that is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupDamage {
    /// The copy of a piece is damaged.
    Data {
        /// Offset of the piece on the medium, in bytes.
        offset_bytes: u64,
        /// Length of the piece, in bytes.
        bytes: u64,
    },
    /// Pieces whose offset and length are unknown, by their numbers in the order of keeping, from
    /// 1.
    Lost {
        /// Number of the first piece that is lost.
        first: u64,
        /// Number of the last one; the same where one piece is lost.
        last: u64,
    },
    /// The end of the log cannot be read; it may have held pieces.
    Tail {
        /// Length of that end, in bytes.
        bytes: u64,
    },
    /// The last piece was being kept when the program was ended. Nothing was overwritten at its
    /// place.
    Torn {
        /// Offset of the piece on the medium, in bytes.
        offset_bytes: u64,
        /// Length of the piece, in bytes.
        bytes: u64,
    },
}

impl BackupDamage {
    /// True if the former content of an overwritten place may be lost.
    pub fn is_loss(&self) -> bool {
        !matches!(self, BackupDamage::Torn { .. })
    }
}

impl fmt::Display for BackupDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BackupDamage::Data { offset_bytes, bytes } => {
                write!(
                    f,
                    "{} at {} cannot be restored: the copy is damaged",
                    Bytes(bytes),
                    Bytes(offset_bytes)
                )
            }
            BackupDamage::Lost { first, last } if first == last => {
                write!(
                    f,
                    "piece {first} of the undo log is lost: its place is not known, at most 1 MiB is missing"
                )
            }
            BackupDamage::Lost { first, last } => {
                let most = last.abs_diff(first).saturating_add(1);
                write!(
                    f,
                    "pieces {first} to {last} of the undo log are lost: their places are not known, at most {most} MiB are missing"
                )
            }
            BackupDamage::Tail { bytes } => {
                write!(
                    f,
                    "the last {} of the undo log cannot be read: whether something is missing is not known",
                    Bytes(bytes)
                )
            }
            BackupDamage::Torn { offset_bytes, bytes } => {
                let (bytes, place) = (Bytes(bytes), Bytes(offset_bytes));
                write!(
                    f,
                    "{bytes} at {place} were being kept when the program was ended: nothing was overwritten there"
                )
            }
        }
    }
}
