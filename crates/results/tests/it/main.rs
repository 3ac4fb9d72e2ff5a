//! The program as a user sees it.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod browser;
mod import;
mod publish;
mod repository;
mod serve;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod submit;
#[path = "../../../../tests/support.rs"]
#[allow(dead_code, reason = "the tests of each program need a part of it")]
mod support;
mod validate;
