//! Runs on disk: what is written is found again, and what is damaged says so.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod backup;
mod common;
mod damaged;
mod fixtures;
mod journal;
mod replay;
mod runs;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
