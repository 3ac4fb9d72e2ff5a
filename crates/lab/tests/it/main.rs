//! Works on real directories: they give cells, leave nothing behind, end when told to, and name
//! what went wrong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod file_device;
mod kernel;
mod works;
