//! A target from the word that was typed to the record of a run.
//!
//! [`flags`] is what was typed, [`request`] its meaning, [`open_target`] the target with everything
//! known about it, [`run_session`] one session of a run: it measures, keeps every cell, restores
//! what it overwrote, and ends in order.

pub mod backup_file;
pub mod begin;
pub mod claims;
pub mod consent;
pub mod effort;
pub mod flags;
pub mod hand_over;
pub mod io_accounting;
pub mod kept;
pub mod medium_identity;
pub mod not_restored;
pub mod open_target;
pub mod outputs;
pub mod progress_display;
pub mod progress_events;
pub mod published_run;
pub mod reopened;
pub mod reopened_medium;
pub mod request;
pub mod restore;
pub mod run_lock;
pub mod run_session;
pub mod sampler;
pub mod slow_answer;
pub mod watchdog;
pub mod words;
