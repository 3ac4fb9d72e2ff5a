//! Runs on disk: what is written is found again, and what is damaged says so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;
mod crash;
mod damaged;
mod fixtures;
mod import;
mod import_counts;
mod import_errors;
mod import_fio;
mod import_logs;
mod import_parts;
mod import_tools;
mod journal;
mod reference;
mod replay;
mod runs;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod undo;
