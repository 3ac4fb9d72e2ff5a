//! Output of other tools as records.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod every_number;
mod hostile;
mod snapshots;
