//! What Flashmark's programs share: exit codes, the terminal, messages, signals, starting one another.

pub mod clock;
pub mod exit;
pub mod messages;
pub mod mistyped;
pub mod printing;
pub mod programs;
pub mod signals;
mod start;
pub mod terminal;

pub use start::start;
