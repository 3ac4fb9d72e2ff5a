//! The program as a user sees it: on simulated media, and on loop devices and file systems if the
//! tests have the rights.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod attach;
#[path = "../../../../tests/failing.rs"]
#[allow(dead_code, reason = "the tests of each program need a part of it")]
mod failing;
mod file_traces;
mod matrix;
mod replay;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
#[path = "../../../../tests/support.rs"]
#[allow(dead_code, reason = "the tests of each program need a part of it")]
mod support;
mod watch;
