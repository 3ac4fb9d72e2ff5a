//! The program: flags -> request -> opened target -> plan -> session -> record -> outputs.
//!
//! `main.rs` composes; [`cli`] is the command line as typed, [`request`] its meaning,
//! [`open_target`] the target with everything known about it, [`session`] one session of a run. It
//! is a library only so that `xtask` and `validation` can use the same flags.

#[cfg(feature = "attach")]
pub mod attach;
pub mod cli;
pub mod commands;
pub mod mistyped;
#[cfg(feature = "export")]
pub mod parallel;
#[cfg(feature = "export")]
pub mod repository;
#[cfg(feature = "workloads")]
pub mod run_end;
pub mod several;
#[cfg(feature = "export")]
pub mod shared_file;
