//! Tests of the crate on fabricated machines, and on real loop devices if the rights allow it.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

#[path = "../../../../tests/cases.rs"]
mod cases;
mod changes;
mod contents;
mod kernel;
mod machine;
mod machines;
mod rights;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod stage;
#[path = "../../../../tests/tmpfs.rs"]
mod tmpfs;
