//! Runs that are kept: found by name, loaded with their conclusions.

use std::io::Write;

use program::exit::{OrExit, Result, usage};
use record::Record;
use record::text::printable;
use store::{Loaded, RunDir, Store};

use crate::concluding::{complete, concluded_for};
use crate::flags::ResumeFlags;
use crate::not_restored;
use crate::request::RunRequest;

/// The run of this name, or of this record file.
pub fn find(name: &str) -> Result<RunDir> {
    Store::open(Store::default_root()).find(name).or_usage()
}

/// Loads the record of a run by its name, or from a file, with its conclusions. Prints damage, and
/// data that the run has not restored, on standard error, a line each.
pub fn load(name: &str) -> Result<Record> {
    load_from(&find(name)?)
}

/// Loads the record of a run that was found, with its conclusions.
pub fn load_from(dir: &RunDir) -> Result<Record> {
    let Loaded { record, damage } = dir.load_with_damage().or_usage()?;
    not_restored::line(dir).iter().chain(&damage).for_each(|line| warn(dir, line));
    Ok(completed(dir, record))
}

/// Prints a line about a run on standard error. Errors of printing are ignored.
pub fn warn(dir: &RunDir, line: &str) {
    let _ =
        writeln!(std::io::stderr(), "flashmark: {}: {}", printable(dir.name()), printable(line));
}

/// Record of a run, completed if the run itself did not end. A record that somebody sent as a file
/// keeps the conclusions of its sender.
pub fn completed(dir: &RunDir, record: Record) -> Record {
    if dir.journal_path().exists() { concluded(dir, record) } else { record }
}

/// Record with conclusions. A run that was cut short has drawn none: they are drawn now, those that
/// the user asked for among them.
pub fn concluded(dir: &RunDir, mut record: Record) -> Record {
    if record.findings.is_empty() {
        let command = dir.replay().map(|replayed| replayed.command).unwrap_or_default();
        match serde_json::from_value::<RunRequest>(command) {
            Ok(request) => complete(&mut record, &request.uses),
            Err(_) => concluded_for(&mut record, &[]),
        }
    }
    record
}

/// The record of a run that measured its medium.
///
/// # Errors
/// It cannot be read, or has no result of its medium.
pub fn measured(dir: &RunDir) -> Result<Record> {
    let record = completed(dir, dir.load().or_usage()?);
    if record.cells.is_empty() {
        return usage("nothing was measured yet");
    }
    match record::not_medium_reason(&record.flags, &record.cells) {
        Some(why) => usage(format_args!("it {why}")),
        None => Ok(record),
    }
}

/// Run to resume, and the place that the user named for its medium.
pub struct ResumeChoice {
    /// The run.
    pub dir: RunDir,
    /// Place of its medium, if the user named one.
    pub target: Option<String>,
    /// True if the user named no run.
    pub by_itself: bool,
}

/// Finds the run to resume. A word that names no run but a device is the place of the medium of the latest
/// unfinished run.
pub fn to_resume(flags: &ResumeFlags) -> Result<ResumeChoice> {
    let store = Store::open(Store::default_root());
    let latest = |target| match store.last_unfinished().or_usage()? {
        Some(dir) => Ok(ResumeChoice { dir, target, by_itself: true }),
        None => usage("no run is unfinished; `flashmark runs` lists them all"),
    };
    let Some(first) = &flags.run else { return latest(None) };
    match store.find(first) {
        Ok(dir) => Ok(ResumeChoice { dir, target: flags.target.clone(), by_itself: false }),
        Err(_) if flags.target.is_none() && first.starts_with("/dev/") => {
            latest(Some(first.clone()))
        }
        Err(error) => Err(error).or_usage(),
    }
}
