//! Output of other tools and published figures, as records.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod reference;
mod snapshots;
