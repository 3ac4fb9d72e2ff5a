//! Results, on standard output.

use std::io::Write;

use crate::exit::{OrExit, Result};
use crate::terminal::OutputStream;

/// Prints for a person, to standard output: no line is wider than the terminal, and no letter is
/// beyond the locale. A reader that has gone away is no error.
pub fn print(text: &str) -> Result<()> {
    print_document(&OutputStream::Output.fitted(text))
}

/// Prints to standard output without changes, for programs and files. A reader that has gone away
/// is no error.
pub fn print_document(text: &str) -> Result<()> {
    match print_whole(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!("standard output cannot be written: {error}")).or_internal()
        }
        _ => Ok(()),
    }
}

/// Prints a whole text to standard output; returns every error of writing.
pub fn print_whole(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
