//! A target from the word that was typed to the record of a run.
//!
//! [`flags`] is what was typed, [`request`] its meaning, [`target`] the target with everything known
//! about it, [`session`] one session of a run: it guards the medium, lets a body work, keeps,
//! restores what was overwritten, and ends in order.

pub mod backup_file;
pub mod begin;
pub mod claims;
pub mod concluding;
pub mod consent;
pub mod effort;
pub mod flags;
pub mod hand_over;
pub mod io_accounting;
pub mod kept;
pub mod medium_identity;
pub mod not_restored;
pub mod outputs;
pub mod progress_display;
pub mod progress_events;
pub mod published_run;
pub mod reopened;
pub mod request;
pub mod restore;
pub mod run_lock;
pub mod sampler;
pub mod session;
pub mod slow_answer;
pub mod suite_body;
pub mod target;
pub mod watchdog;
pub mod words;
