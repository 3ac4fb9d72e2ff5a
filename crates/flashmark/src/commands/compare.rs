//! `flashmark compare`: several media side by side.

use store::atomic_write;

use crate::cli::CompareFlags;
use crate::commands::show::load;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::{print, print_document};
use crate::terminal::OutputStream;

/// Compares runs: as text, as JSON (`--json`) and as a page (`--html`); exit code 0.
pub fn run(flags: &CompareFlags) -> Result {
    let records = flags.runs.iter().map(|name| load(name)).collect::<Result<Vec<_>>>()?;
    let comparison = findings::compare(&records);
    if let Some(path) = &flags.html {
        atomic_write(path, report::compare::page(&comparison).as_bytes()).or_internal()?;
    }
    let json = || serde_json::to_string_pretty(&comparison).map(|text| text + "\n").or_internal();
    match &flags.json {
        Some(path) if path.as_os_str() == "-" => print_document(&json()?)?,
        Some(path) => atomic_write(path, json()?.as_bytes()).or_internal()?,
        None => {}
    }
    if flags.json.as_ref().is_none_or(|path| path.as_os_str() != "-") {
        print(&report::compare::summary(&comparison, OutputStream::Output.width()))?;
    }
    Ok(Exit::Done)
}
