//! What Flashmark's programs share: exit codes, the terminal, messages, signals.

pub mod clock;
pub mod exit;
pub mod messages;
pub mod printing;
pub mod signals;
pub mod terminal;
