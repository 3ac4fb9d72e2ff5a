//! Messages beside the results, on standard error.
//!
//! The macros of the standard library end the program if the terminal is closed, the reader of a
//! pipe has gone away, or the file behind it is full. A run must outlast all three: no measurement
//! ends because nobody reads. Clippy refuses these macros (`print_stderr`).

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Exit;

static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Makes every line of standard error a JSON object from now on: an event (docs/progress.md).
pub fn write_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// True if standard error holds events in place of text.
pub fn are_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}

/// Prints a message on standard error; errors of printing are ignored.
pub fn beside(words: fmt::Arguments<'_>) {
    let words = words.to_string();
    if are_json() {
        event("message", json!({ "text": words.trim() }));
    } else {
        write_whole(&crate::terminal::letters(&words));
    }
}

/// Writes an event of that name on standard error, an object with these members, if events are
/// written there.
pub fn event(name: &str, members: Value) {
    #[derive(Serialize)]
    struct Event<'a> {
        event: &'a str,
        #[serde(flatten)]
        members: Value,
    }
    if are_json() {
        write_whole(&format!(
            "{}\n",
            serde_json::to_string(&Event { event: name, members }).unwrap_or_default()
        ));
    }
}

/// Writes the last event of all.
pub fn ended(exit: Exit) {
    event("ended", json!({ "exit": exit as u8 }));
}

/// Writes in one piece, so that lines of several threads do not mix.
fn write_whole(text: &str) {
    let mut error = std::io::stderr().lock();
    let _ = error.write_all(text.as_bytes()).and_then(|()| error.flush());
}

/// Prints a line on standard error, formatted as by `format!`.
#[macro_export]
macro_rules! say {
    ($($words:tt)+) => { $crate::messages::beside(format_args!("{}\n", format_args!($($words)+))) };
}

/// Prints a text on standard error without adding a line break.
#[macro_export]
macro_rules! say_text {
    ($($words:tt)+) => { $crate::messages::beside(format_args!($($words)+)) };
}
