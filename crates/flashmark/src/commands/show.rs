//! `flashmark show`: the summary of a run.

use std::path::Path;

use record::Record;
use report::text::DetailsLocation;
use store::{Loaded, RunDir};

use crate::cli::ShowFlags;
use program::exit::{Exit, OrExit, Result};
use program::printing::{print, print_document};
use program::terminal::OutputStream;
use session::concluding::concluded_for;
use session::kept::{concluded, find, warn};
use session::not_restored;
use session::outputs;
use session::published_run;
use session::request::read_uses;

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
    } else if record.run.suite == suite::CHECK && !flags.details {
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
