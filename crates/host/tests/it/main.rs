//! Tests of the crate on fabricated machines, and on real loop devices if the rights allow it.
#![allow(clippy::unwrap_used, reason = "a test says by panicking what is wrong")]

mod changes;
mod claims;
mod contents;
mod identity;
mod layers;
mod machine;
mod mounts;
mod refusals;
#[path = "../../../../tests/skipped.rs"]
mod skipped;
mod stage;
mod used;
