//! One directory a run: `journal.jsonl`, which grows by a line with every finished cell, and
//! `record.json`, written from it.
//!
//! The journal is authoritative while a run lasts and after any interruption; the record is a copy
//! of it, with conclusions, for people and other tools. Whatever is written here appears whole or
//! not at all: a new directory or file is made under another name, made durable, and renamed; a
//! line of the journal carries its own checksum and its number, and the journal is read up to the
//! first line that does not check. The run's directory also holds the backup of what the run
//! overwrote, until it is restored ([`BackupLog`]).
//!
//! This crate knows nothing of devices, HTML or HTTP, and never asks what time it is.

mod atomic;
mod backup;
mod find;
mod imported;
mod journal;
mod journal_form;
mod line;
mod lock;
mod reached;
mod reading;
mod replay;
mod root;
mod run_dir;
mod summary;

pub use atomic::{WriteError, atomic_write, atomic_write_with};
pub use backup::{BACKUP_FILE, BackupError, BackupLog, MAX_PIECE_BYTES, Unrestored};
pub use find::FindError;
pub use imported::{Batch, KeptHow, KeptRecord, SOURCE_FILE, stored_record};
pub use journal::Journal;
pub use journal_form::{FORM, HEADER_FILE, JournalError};
pub use lock::{LOCK_FILE, Lock, LockError};
pub use reading::Unread;
pub use record::{Ending, JournalEntry, Opening, Resumed};
pub use replay::{JournalFingerprints, Replayed};
pub use root::{CreateError, Store};
pub use run_dir::{JOURNAL_FILE, LoadError, Loaded, RECORD_FILE, RunDir};
pub use summary::{Overview, RunSummary};
