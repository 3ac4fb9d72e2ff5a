//! The program: flags -> request -> opened target -> plan -> session -> record -> outputs.
//!
//! `main.rs` composes; [`cli`] is the command line as typed, [`request`] its meaning,
//! [`open_target`] the target with everything known about it, [`session`] one session of a run. It
//! is a library only so that `xtask` and `validation` can use the same flags.

#[cfg(feature = "attach")]
pub mod attach;
pub mod backup_file;
pub mod claims;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod consent;
pub mod effort;
pub mod exit;
pub mod hand_over;
pub mod io_accounting;
pub mod medium_identity;
pub mod messages;
pub mod mistyped;
pub mod not_restored;
pub mod open_target;
pub mod outputs;
#[cfg(feature = "export")]
pub mod parallel;
pub mod progress_display;
pub mod progress_events;
pub mod published_run;
pub mod reopened;
pub mod reopened_medium;
#[cfg(feature = "export")]
pub mod repository;
pub mod request;
pub mod restore;
#[cfg(feature = "workloads")]
pub mod run_end;
pub mod run_lock;
pub mod sampler;
pub mod session;
pub mod several;
#[cfg(feature = "export")]
pub mod shared_file;
pub mod signals;
pub mod slow_answer;
pub mod terminal;
pub mod watchdog;
pub mod words;
