//! One directory a run: `journal.jsonl`, which grows by a line with every finished cell, and `record.json`, written from it.
//!
//! The journal is the truth while a run lasts and after any interruption; the record is a copy of it, with conclusions, for
//! people and other tools. Whatever is written here appears whole or not at all: a new directory or file is made under another
//! name, made durable, and renamed; a line of the journal carries its own checksum.
//!
//! This room knows nothing of devices, HTML or HTTP, and never asks what time it is. Collections of published runs are in [`collection`]; [`Store`]
//! only knows single runs.

mod atomic;
pub mod collection;
pub mod export;
mod find;
pub mod import;
mod journal;
mod line;
mod lock;
pub mod reference;
mod replay;
mod root;
mod run_dir;
mod summary;
pub mod workbook;

pub use atomic::{WriteError, atomic_write, atomic_write_with};
pub use find::FindError;
pub use journal::{Ending, Entry, FORM, Journal, JournalError, Opening, Resumed};
pub use lock::{Lock, LockError};
pub use replay::{Replayed, Traces};
pub use root::{CreateError, Store};
pub use run_dir::{JOURNAL_FILE, LoadError, RECORD_FILE, RunDir};
pub use summary::{Overview, RunSummary};
