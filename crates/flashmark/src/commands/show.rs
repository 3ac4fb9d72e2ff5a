//! `flashmark show`: the summary of a run.

use record::Record;
use store::Store;

use crate::cli::ShowFlags;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::{print, text_summary};

/// Runs the command.
pub fn run(flags: &ShowFlags) -> Result {
    let record = load(&flags.run)?;
    if flags.json {
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
