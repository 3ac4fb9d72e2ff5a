//! All runs of this machine that measured something, for commands that take them all.

use record::Record;
use report::words::clean;
use store::{RunSummary, Store};

use crate::commands::show::completed;
use crate::exit::{OrExit, Result};

/// Runs that have results of their medium, each with the name it is kept under, the one written
/// last at the end. What is left out is said on standard error, with the reason.
pub fn measured_runs() -> Result<Vec<(String, Record)>> {
    let runs = Store::open(Store::default_root()).runs().or_usage()?;
    let mut found = Vec::new();
    for run in &runs {
        match measured(run) {
            Ok(record) => found.push((run.dir.name().to_owned(), record)),
            Err(why) => crate::say!("flashmark: {} is left out: {}", run.dir.name(), clean(&why)),
        }
    }
    Ok(found)
}

/// The record of a run, or the reason why it has nothing to show.
pub fn measured(run: &RunSummary) -> std::result::Result<Record, String> {
    if let Err(why) = &run.overview {
        return Err(why.clone());
    }
    let record = run.dir.load().map_err(|error| error.to_string())?;
    let record = completed(&run.dir, record);
    if record.cells.is_empty() {
        return Err("nothing was measured yet".to_owned());
    }
    match record::strayed(&record.flags, &record.cells) {
        Some(why) => Err(format!("it {why}")),
        None => Ok(record),
    }
}
