//! The program: flags -> request -> opened target -> plan -> sitting -> record -> outputs.
//!
//! `main.rs` composes; [`cli`] is the command line as typed, [`request`] what is meant by it, [`opened`] the target with everything
//! known about it, [`session`] one sitting of a run. A library only so that `xtask` can print man pages from the same flags.

pub mod attach;
pub mod claims;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod consent;
pub mod damage;
pub mod exit;
pub mod lent;
pub mod opened;
pub mod outputs;
pub mod owed;
pub mod reach;
pub mod reopened;
pub mod request;
pub mod sampler;
pub mod say;
pub mod screen;
pub mod session;
pub mod settle;
pub mod signals;
pub mod watchdog;
pub mod words;
