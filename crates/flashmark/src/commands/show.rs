//! `flashmark show`: the summary of a run.

use std::io::Write;
use std::path::Path;

use record::Record;
use record::text::printable;
use report::text::DetailsLocation;
use store::{Loaded, RunDir, Store};

use crate::cli::ShowFlags;
use crate::commands::check;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::{self, print, print_document};
use crate::request::{RunRequest, read_uses};
use crate::session::{complete, concluded_for};
use crate::terminal::OutputStream;
use crate::{not_restored, published_run};

/// Prints a run: its summary, all cells, findings, JSON or Markdown; exit code 0.
pub fn run(flags: &ShowFlags) -> Result {
    let dir = find(&flags.run)?;
    let Loaded { mut record, damage } = dir.load_with_damage().or_usage()?;
    let is_document = flags.json || flags.markdown;
    let is_in_findings = record.findings.iter().any(|finding| finding.id == "not-put-back");
    match not_restored::line(&dir)
        .filter(|_| is_document || flags.all || flags.findings || !is_in_findings)
    {
        Some(line) if is_document => warn(&dir, &line),
        Some(line) => print(&format!("{line}\n"))?,
        None => {}
    }
    damage.iter().for_each(|line| warn(&dir, line));
    let uses = read_uses(&flags.uses)?;
    record = concluded(&dir, record);
    if !uses.is_empty() {
        concluded_for(&mut record, &uses);
    }
    if flags.findings {
        print(&report::text::findings(&record, OutputStream::Output.width()))?;
    } else if flags.json {
        print_document(&record.to_json())?;
    } else if flags.all {
        print(&report::text::table(&record, OutputStream::Output.width()))?;
    } else if flags.markdown {
        print_document(&markdown(flags, &dir, &record))?;
    } else if record.run.suite == check::SUITE && !flags.details {
        print(&outputs::check_screen(&record, &dir))?;
    } else {
        let (run, files) = named(flags, &dir);
        outputs::show(&record, &run, &files, flags.details, OutputStream::Output)?;
    }
    Ok(Exit::Done)
}

/// Name of the run, and the files that it left; a record that somebody sent has no files beside it.
fn named(flags: &ShowFlags, dir: &RunDir) -> (String, Vec<(&'static str, String)>) {
    if Path::new(&flags.run).is_file() {
        return (flags.run.clone(), Vec::new());
    }
    let files = outputs::files(dir).into_iter();
    (dir.name().to_owned(), files.filter(|(_, path)| Path::new(path).exists()).collect())
}

/// The table of the screen as Markdown. Paths of files are left out, but keep their lines.
fn markdown(flags: &ShowFlags, dir: &RunDir, record: &Record) -> String {
    let (run, files) = named(flags, dir);
    let rest = DetailsLocation { run: &run, files: &files };
    report::markdown::run(record, &rest, &published_run::private(record))
}

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
fn concluded(dir: &RunDir, mut record: Record) -> Record {
    if record.findings.is_empty() {
        let command = dir.replay().map(|replayed| replayed.command).unwrap_or_default();
        match serde_json::from_value::<RunRequest>(command) {
            Ok(request) => complete(&mut record, &request.uses),
            Err(_) => concluded_for(&mut record, &[]),
        }
    }
    record
}
