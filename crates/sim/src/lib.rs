//! Simulated media in virtual time.
//!
//! A profile (TOML, `profiles/*.toml`) describes a medium; [`SimDevice`] simulates it: it merges,
//! caches, throttles, lies and fails as docs/field/ftl.md#translation-layers describes, and the
//! same profile and seed give the same bytes and times. It must never know a wall clock, threads,
//! files, or which test is running.

mod cache;
mod cheat;
mod device;
mod fault;
mod file_form;
mod filling;
mod fit;
mod heat;
mod mapping;
mod medium;
mod memory;
pub mod profile;
mod queue;
mod recent;
mod rng;
mod stamps;
mod timing;
pub mod truth;
mod wear;
mod write_history;

pub use device::{SimDevice, SimOptions};
pub use file_form::FileForm;
pub use fit::{FitCheck, Quantity, fit_table, fits};
pub use profile::{Profile, ProfileError};
