//! Where results go: the terminal, the run's directory, and the files the user named.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;
use record::Record;
use store::{RunDir, atomic_write};

use crate::exit::{OrExit, Result, usage};

/// Name of the page in a run's directory.
pub const PAGE_FILE: &str = "report.html";

/// Where results go beside the store, as typed.
#[derive(Clone, Debug, Args)]
pub struct Outputs {
    /// Writes the record there as well; - for standard output.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Writes the page there; without it, it is kept with the run.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// No progress on the screen.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Outputs {
    /// Whether files can be written there, before anything is measured.
    pub fn check(&self) -> Result<()> {
        check(self.json.iter().chain(&self.html))
    }
}

/// Whether files can be written there; "-" is standard output.
pub fn check<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Result<()> {
    for path in paths.filter(|path| path.as_os_str() != "-") {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return usage(format_args!("{}: there is no directory {}; make it first", path.display(), folder.display()));
        }
        if path.is_dir() {
            return usage(format_args!("{}: this is a directory; name a file in it", path.display()));
        }
    }
    Ok(())
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
