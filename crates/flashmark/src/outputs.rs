//! Where results go: the terminal, the run's directory, and the files the user named.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use record::Record;
use store::{RunDir, atomic_write};

use crate::exit::{OrExit, Result};

/// Name of the page in a run's directory.
pub const PAGE_FILE: &str = "report.html";

/// Where results go beside the store.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// The record; "-" is standard output.
    pub json: Option<PathBuf>,
    /// The page.
    pub html: Option<PathBuf>,
    /// No progress.
    pub quiet: bool,
}

/// Delivers a record: summary on the terminal, page, record file.
pub fn deliver(record: &Record, dir: &RunDir, outputs: &Outputs) -> Result<()> {
    let page = report::html::page(record);
    dir.write_file(PAGE_FILE, page.as_bytes()).or_internal()?;
    if let Some(path) = &outputs.html {
        atomic_write(path, page.as_bytes()).or_internal()?;
    }
    let to_stdout = outputs.json.as_ref().is_some_and(|path| path.as_os_str() == "-");
    match &outputs.json {
        Some(_) if to_stdout => print(&record.to_json())?,
        Some(path) => atomic_write(path, record.to_json().as_bytes()).or_internal()?,
        None => {}
    }
    let mut summary = text_summary(record, to_stdout);
    summary += &format!("\nRecord  {}\nPage    {}\n", dir.record_path().display(), dir.path().join(PAGE_FILE).display());
    if to_stdout {
        eprint!("{summary}")
    } else {
        print(&summary)?
    }
    Ok(())
}

/// The summary, as wide as the terminal but at most 80 columns, coloured on a terminal only.
pub fn text_summary(record: &Record, to_stderr: bool) -> String {
    let terminal = if to_stderr { std::io::stderr().is_terminal() } else { std::io::stdout().is_terminal() };
    let colour = terminal && std::env::var_os("NO_COLOR").is_none();
    report::text::summary(record, 80, colour)
}

/// Prints to standard output; a reader that has gone away is no error.
pub fn print(text: &str) -> Result<()> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).or_internal(),
        _ => Ok(()),
    }
}
