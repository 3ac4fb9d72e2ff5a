//! `flashmark show`: the summary of a run.

use record::Record;
use store::Store;

use crate::cli::ShowFlags;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::{print, text_summary};
use crate::request::read_uses;

/// Runs the command.
pub fn run(flags: &ShowFlags) -> Result {
    let mut record = load(&flags.run)?;
    let uses = read_uses(&flags.uses)?;
    // A record whose run never came to its conclusions has none; those of another question are drawn anew.
    if record.findings.is_empty() || !uses.is_empty() {
        record.findings = findings::conclude_for(&record, &uses);
    }
    if flags.findings {
        print(&report::text::findings(&record, 80))?;
    } else if flags.json {
        print(&record.to_json())?;
    } else if flags.all {
        print(&report::text::table(&record))?;
    } else {
        print(&text_summary(&record, false))?;
    }
    Ok(Exit::Done)
}

/// The record of a run by its name, or from a file.
pub fn load(name: &str) -> Result<Record> {
    let dir = Store::open(Store::default_root()).find(name).or_usage()?;
    dir.load().or_usage()
}
