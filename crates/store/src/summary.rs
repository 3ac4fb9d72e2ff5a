//! One line about each run, read without decoding its measurements.

use std::collections::HashMap;

use record::{Ended, Medium, Record, Run, Stop, Target};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::journal::{self, Contents, JournalError};
use crate::run_dir::RunDir;

/// One run in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its directory, with the name by which it is found.
    pub dir: RunDir,
    /// What it is, or why it cannot be read.
    pub overview: Result<Overview, String>,
}

/// What a run is and how far it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The record's id of the run.
    pub id: String,
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The medium, by the best name it has.
    pub medium: String,
    /// Name of the suite.
    pub suite: String,
    /// The user's words for it.
    pub label: Option<String>,
    /// How it ended; `Running` while a live process writes it.
    pub ended: Ended,
    /// Cells that have their result.
    pub cells_done: usize,
    /// Cells there were to be.
    pub cells_planned: usize,
}

/// What is taken from the opening of a journal.
#[derive(Deserialize)]
struct Outline {
    run: Run,
    medium: Medium,
    target: Target,
    plan: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct CellOutline {
    id: String,
    stop: Stop,
}

/// What is taken from the other lines of a journal.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum EntryOutline {
    Cell(CellOutline),
    Skip(IgnoredAny),
    Flag(IgnoredAny),
    Resumed(IgnoredAny),
    Ended(EndingOutline),
    Begun(IgnoredAny),
    Marked(IgnoredAny),
}

#[derive(Deserialize)]
struct EndingOutline {
    ended: Ended,
}

pub(crate) fn summary(dir: RunDir) -> RunSummary {
    let overview = match journal::read::<Outline, EntryOutline>(&dir.journal_path()) {
        Ok(contents) => Ok(of_journal(contents, &dir)),
        // A record that was imported or whose journal is gone is no damaged run.
        Err(JournalError::Read { .. }) if dir.record_path().exists() => of_record(&dir),
        Err(error) => Err(error.to_string()),
    };
    RunSummary { dir, overview }
}

fn of_journal(contents: Contents<Outline, EntryOutline>, dir: &RunDir) -> Overview {
    let mut ended = None;
    let mut cells = HashMap::new();
    for entry in contents.entries {
        match entry {
            EntryOutline::Cell(cell) => drop(cells.insert(cell.id, cell.stop)),
            EntryOutline::Ended(ending) => ended = Some(ending.ended),
            EntryOutline::Resumed(_) => ended = None,
            EntryOutline::Skip(_) | EntryOutline::Flag(_) | EntryOutline::Begun(_) | EntryOutline::Marked(_) => {}
        }
    }
    let unsaid = || if dir.is_being_written() { Ended::Running } else { Ended::Interrupted };
    let ended = ended.unwrap_or_else(unsaid);
    overview(contents.opening, ended, cells.into_values())
}

fn of_record(dir: &RunDir) -> Result<Overview, String> {
    let Record { run, medium, target, plan, cells, .. } = dir.load().map_err(|error| error.to_string())?;
    // What other tools did was never planned by us.
    let (ended, plan) = (run.ended, vec![IgnoredAny; plan.len().max(cells.len())]);
    Ok(overview(Outline { run, medium, target, plan }, ended, cells.into_iter().map(|cell| cell.stop)))
}

fn overview(outline: Outline, ended: Ended, stops: impl Iterator<Item = Stop>) -> Overview {
    let Outline { run, medium, target, plan } = outline;
    Overview {
        medium: medium_name(&medium, &target),
        id: run.id,
        started: run.started,
        suite: run.suite,
        label: run.label,
        ended,
        cells_done: stops.filter(|stop| !stop.cut_short()).count(),
        cells_planned: plan.len(),
    }
}

/// "SanDisk SD32G", "sim:card", or what the user named where the medium does not say what it is.
fn medium_name(medium: &Medium, target: &Target) -> String {
    let maker = medium.vendor.as_ref().or(medium.manufacturer.as_ref());
    match (&medium.profile, maker, &medium.model) {
        (Some(profile), _, _) => format!("sim:{}", profile.trim_start_matches("sim:")),
        (None, Some(maker), Some(model)) => format!("{} {}", maker.trim(), model.trim()),
        (None, None, Some(model)) => model.trim().to_owned(),
        (None, _, None) => target.path.clone(),
    }
}
