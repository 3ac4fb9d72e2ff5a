//! Summary of each run, read without decoding its measurements.

use std::collections::HashSet;

use record::{Ended, Medium, Opening, PlannedCell, Record, Run, Stop, Target, test};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::journal_form::JournalError;
use crate::reached::{EntryOutline, JournalProgress};
use crate::reading::{self, JournalContents};
use crate::run_dir::{Loaded, RunDir};

/// One run in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Directory, with the name by which it is found.
    pub dir: RunDir,
    /// Description of the run, or the reason why it cannot be read.
    pub overview: Result<Overview, String>,
    /// Damage of its journal, in words.
    pub damage: Option<String>,
    /// True if its written record exists and has as much as the journal.
    pub has_its_record: bool,
}

/// Description and progress of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The record's id of the run.
    pub id: String,
    /// RFC 3339; none for a simulated medium.
    pub started: Option<String>,
    /// The best name of the medium.
    pub medium: String,
    /// Name of the suite.
    pub suite: String,
    /// Label that the user gave it.
    pub label: Option<String>,
    /// State at the end; `Running` while a live process writes it.
    pub ended: Ended,
    /// Cells that have their result.
    pub cells_done: usize,
    /// Cells in the plan.
    pub cells_planned: usize,
}

/// Fields that are read of a written record.
#[derive(Deserialize)]
struct RecordOutline {
    run: RunOutline,
    cells: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
struct RunOutline {
    ended: Ended,
    #[serde(default)]
    resumed: u32,
}

pub(crate) fn summary(dir: RunDir) -> RunSummary {
    let alone =
        |dir: RunDir, overview| RunSummary { dir, overview, damage: None, has_its_record: true };
    match reading::read(&dir.journal_path(), EntryOutline::decode) {
        Ok(contents) if contents.unread.is_some() => of_damaged(dir),
        Ok(contents) => of_journal(contents, dir),
        // A record that was imported or whose journal is gone is not a damaged run.
        Err(JournalError::Read { .. }) if dir.record_path().exists() => {
            let overview = dir.load().map(of_record).map_err(|error| error.to_string());
            alone(dir, overview)
        }
        Err(error) => alone(dir, Err(error.to_string())),
    }
}

/// Reads a damaged run as a whole: such runs are rare.
fn of_damaged(dir: RunDir) -> RunSummary {
    let has_its_record = dir.has_its_record();
    match dir.load_with_damage() {
        Ok(Loaded { record, damage }) => {
            RunSummary { dir, overview: Ok(of_record(record)), damage, has_its_record }
        }
        Err(error) => {
            RunSummary { dir, overview: Err(error.to_string()), damage: None, has_its_record }
        }
    }
}

fn of_journal(contents: JournalContents<EntryOutline>, dir: RunDir) -> RunSummary {
    let JournalProgress { cells, ended, resumed } = JournalProgress::of(contents.entries);
    let Opening { run, medium, target, plan, .. } = contents.opening;
    let unsaid = || if dir.is_being_written() { Ended::Running } else { Ended::Interrupted };
    let ended = ended.unwrap_or_else(unsaid);
    let has_its_record = is_written(&dir, ended, resumed, cells.len());
    RunSummary {
        overview: Ok(overview(run, &medium, &target, ended, &plan, cells.into_iter())),
        dir,
        damage: None,
        has_its_record,
    }
}

/// True if the written record has as much as the journal, by its outline.
fn is_written(dir: &RunDir, ended: Ended, resumed: u32, cells: usize) -> bool {
    let outline = |bytes: Vec<u8>| serde_json::from_slice::<RecordOutline>(&bytes).ok();
    let written = reading::read_regular(dir.record_path()).ok().and_then(outline);
    written.is_some_and(|it| {
        it.run.ended == ended && it.run.resumed == resumed && it.cells.len() == cells
    })
}

fn of_record(record: Record) -> Overview {
    let Record { run, medium, target, plan, cells, .. } = record;
    let ended = run.ended;
    let cells = cells.into_iter().map(|cell| (cell.id, cell.stop));
    overview(run, &medium, &target, ended, &plan, cells)
}

fn overview(
    run: Run,
    medium: &Medium,
    target: &Target,
    ended: Ended,
    plan: &[PlannedCell],
    cells: impl ExactSizeIterator<Item = (String, Stop)>,
) -> Overview {
    let ids: HashSet<&str> = plan.iter().map(|planned| planned.id.as_str()).collect();
    // Cells that other tools measured are in no plan of ours.
    let cells_planned = if ids.is_empty() { cells.len() } else { ids.len() };
    let is_matrix = run.suite == test::MATRIX;
    // Tries are added to a matrix until it is complete; parts of a work are no cells of the plan.
    let is_try = |id: &str| id.rsplit('#').next().is_some_and(|n| n.parse::<u32>().is_ok());
    let is_planned = |id: &str| ids.is_empty() || ids.contains(id) || is_matrix && is_try(id);
    let is_done = |(id, stop): &(String, Stop)| is_planned(id) && !stop.cut_short();
    let cells_done = cells.filter(is_done).count();
    let next = usize::from(is_matrix && ended != Ended::Complete);
    Overview {
        medium: medium_name(medium, target),
        id: run.id,
        started: run.started,
        suite: run.suite,
        label: run.label,
        ended,
        cells_done,
        cells_planned: cells_planned.max(cells_done + next),
    }
}

/// Name of the medium: "SanDisk SD32G", "sim:card", or the target as the user typed it if the
/// medium has no name.
fn medium_name(medium: &Medium, target: &Target) -> String {
    let maker = medium.vendor.as_ref().or(medium.manufacturer.as_ref());
    match (&medium.profile, maker, &medium.model) {
        (Some(profile), _, _) => format!("sim:{}", profile.trim_start_matches("sim:")),
        (None, Some(maker), Some(model)) => format!("{} {}", maker.trim(), model.trim()),
        (None, None, Some(model)) => model.trim().to_owned(),
        (None, _, None) => target.path.clone(),
    }
}
