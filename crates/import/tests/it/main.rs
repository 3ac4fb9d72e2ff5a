//! Output of other tools and published figures, as records.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod import;
mod import_counts;
mod import_errors;
mod import_fio;
mod import_logs;
mod import_parts;
mod import_tools;
mod reference;
