//! Runs on disk: written data is read back, and damage is reported.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backup;
mod common;
mod damaged;
mod journal;
mod replay;
mod runs;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
#[path = "../../../../tests/tmpfs.rs"]
mod tmpfs;
