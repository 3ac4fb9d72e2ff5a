//! Works on real directories: they return cells, leave nothing behind, end when interrupted, and
//! name failures.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kernel;
#[path = "../../../../tests/tmpfs.rs"]
mod tmpfs;
mod works;
