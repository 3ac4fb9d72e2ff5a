//! What is said beside the results, on standard error.
//!
//! The macros of the standard library end the program when the terminal is closed, the reader of a
//! pipe has gone, or the file behind it is full. A run must outlast all three: nothing that
//! measures ends because nobody listens. Clippy refuses them (`print_stderr`).

use std::fmt;
use std::io::Write;

/// Says this; whoever cannot hear it is no reason to end.
pub fn beside(words: fmt::Arguments<'_>) {
    let mut error = std::io::stderr().lock();
    // In one piece, so that lines of several threads do not mix.
    let words = crate::terminal::letters(&words.to_string());
    let _ = error.write_all(words.as_bytes()).and_then(|()| error.flush());
}

/// Says a line on standard error, as `format!` words it.
#[macro_export]
macro_rules! say {
    ($($words:tt)+) => { $crate::messages::beside(format_args!("{}\n", format_args!($($words)+))) };
}

/// Says a text on standard error that ends as it is.
#[macro_export]
macro_rules! say_text {
    ($($words:tt)+) => { $crate::messages::beside(format_args!($($words)+)) };
}
