//! The tests of a suite as the body of a session: each cell is on disk, with what the kernel counted
//! beside it, before the screen shows it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use device::{Extents, IoError, IoErrorKind};
use record::units::Bytes;
use record::{Cell, CellError, Flag, HostState, IoAccounting, Sample, SilentError, Wait};
use store::{Journal, JournalEntry};
use suite::{Backup, Plan, RunEnd, RunEvent, RunListener, RunOptions};

use crate::backup_file::BackupOnDisk;
use crate::io_accounting::MediumCheck;
use crate::progress_display::Screen;
use crate::sampler::Sampler;
use crate::session::{Body, Workplace};
use crate::target::Target;
use crate::words;
use program::exit::{OrExit, Result};

/// Message before a test writes to a medium and restores it later.
const BACKUP_NOTICE: &str = "To measure it, the medium is written: what is overwritten is kept in the run's directory first and restored at the end, also after Ctrl-C.\nIf the program is killed or the medium pulled out meanwhile: flashmark restore. --erase ID allows the medium to be overwritten, which is faster and finds larger caches";

/// The tests of a plan.
#[derive(Default)]
pub struct SuiteBody {
    /// Long waits while the medium was looked at.
    pub waits: Vec<Wait>,
}

impl Body for SuiteBody {
    fn writes(&self, plan: &Plan, lost: bool) -> Option<(Extents, u64)> {
        Some((plan.writes(), budget_bytes(plan, lost)))
    }

    fn announcement(&self, target: &Target, plan: &Plan, used_ns: u64) -> String {
        let notice = target.info.must_restore.as_ref().map(|_| format!("\n{BACKUP_NOTICE}"));
        format!(
            "{} cells, {}; writes at most {}{}",
            plan.cells.len(),
            words::longest(plan, used_ns),
            Bytes(plan.max_written_bytes()),
            notice.unwrap_or_default()
        )
    }

    fn work(&mut self, at: Workplace<'_>) -> Result<RunEnd> {
        let Workplace { target, medium, plan, request, dir, journal, done, used_ns, lost, .. } = at;
        let medium = medium.expect("a suite measures a device");
        let mut on_disk = BackupOnDisk::none(dir, target.describe());
        let is_real = !target.is_simulated();
        let backup: Option<&mut dyn Backup> = if is_real { Some(&mut on_disk) } else { None };
        let options = RunOptions {
            seed: request.seed,
            target: &target.info,
            done,
            used_ns,
            lost,
            stop: at.stop,
            anyway: request.anyway,
            backup,
        };
        let mut keeper = JournalListener {
            journal,
            screen: at.screen,
            pending: at.pending,
            sampler: Sampler::start(&target.target, used_ns),
            medium_check: MediumCheck::of(target),
            is_in_place: target.is_in_place(),
            is_gone: false,
            seen: HashMap::new(),
        };
        for wait in std::mem::take(&mut self.waits) {
            let waited = keeper.on_event(&RunEvent::Flagged(&Flag::Waited(wait)));
            waited.map_err(anyhow::Error::msg).or_internal()?;
        }
        let _raised = is_real.then(blockio::RaisedPriority::of_this_thread);
        let _raised_session = is_real.then(blockio::RaisedSession::of_this_process);
        let mut end = suite::run(medium, &mut *target.stage, plan, options, &mut keeper);
        if keeper.is_gone {
            (end.failed, end.error) = (None, Some(gone()));
        }
        Ok(end)
    }
}

/// Most bytes that this session may write: as many as the plan announced, and the fills once more
/// if they are lost.
fn budget_bytes(plan: &Plan, lost: bool) -> u64 {
    let fills = plan
        .cells
        .iter()
        .filter(|cell| lost && suite::is_filling(cell))
        .map(|cell| cell.max_written_bytes);
    fills.fold(plan.max_written_bytes(), u64::saturating_add)
}

/// Listener that writes events to the journal and shows them on the screen.
struct JournalListener<'a> {
    journal: &'a mut Journal,
    screen: &'a Screen,
    /// True while the medium is not as its owner left it.
    pending: &'a AtomicBool,
    /// Samples of the medium's counters beside the measurement.
    sampler: Option<Sampler>,
    medium_check: MediumCheck,
    /// Whether the medium is still the one that was claimed.
    is_in_place: Box<dyn Fn() -> bool>,
    is_gone: bool,
    /// Counts of each cell by its id: a cell that is revised later keeps them.
    seen: HashMap<String, CellCounts>,
}

/// Counts of a cell's first measurement, and what its rounds add.
#[derive(Clone, Default)]
struct CellCounts {
    activity: Vec<Sample>,
    host_state: HostState,
    reach: Option<IoAccounting>,
    /// Caveats that the counters raised, those of its rounds included.
    caveats: Vec<Flag>,
}

impl JournalListener<'_> {
    /// A cell that has ended or is revised, with what the kernel counted meanwhile.
    fn counted(&mut self, event: &RunEvent<'_>) -> Option<Cell> {
        let cell = match event {
            RunEvent::CellStarted { .. } | RunEvent::RoundStarted { .. } => {
                self.sampler.iter().for_each(Sampler::begin);
                return None;
            }
            RunEvent::CellFinished { cell, .. } => {
                self.note(cell);
                cell
            }
            RunEvent::RoundFinished { cell } => {
                self.note(cell);
                return None;
            }
            RunEvent::CellRevised { cell } => cell,
            _ => return None,
        };
        // A cell of an earlier part of the run has its counts.
        let CellCounts { activity, host_state, reach, caveats } = self.seen.get(&cell.id)?.clone();
        let mut cell = Cell { activity, reach, ..(*cell).clone() };
        if host_state != HostState::default() {
            cell.host_state.get_or_insert_default().add(host_state);
        }
        for flag in caveats {
            if !cell.flags.contains(&flag) {
                cell.flags.push(flag);
            }
        }
        Some(cell)
    }

    /// Notes the counts of a cell that has just been measured, or of a round of it.
    fn note(&mut self, cell: &Cell) {
        let (activity, host_state) = self.sampler.as_ref().map(Sampler::end).unwrap_or_default();
        let (reach, caveats) = self.medium_check.of_cell(cell, &activity);
        let is_first = !self.seen.contains_key(&cell.id);
        let seen = self.seen.entry(cell.id.clone()).or_default();
        if is_first {
            (seen.activity, seen.reach) = (activity, reach);
        }
        seen.host_state.add(host_state);
        seen.caveats.extend(caveats);
    }
}

/// The error where another medium is found, or none.
fn gone() -> IoError {
    IoError::general(IoErrorKind::Gone, "another one is in its place, or it has been out")
}

/// A cell that failed, if its medium is no longer in place: a device that is removed may end I/Os
/// with a medium error, or by a time-out, before the kernel knows that it is gone.
fn of_going(cell: &Cell, is_in_place: &dyn Fn() -> bool) -> Option<Cell> {
    let error = cell.error.filter(|error| error.kind == IoErrorKind::Medium && !is_in_place())?;
    let error = CellError { kind: IoErrorKind::Gone, ..error };
    let reason = cell.reason.as_ref().map(|reason| format!("{}; before that: {reason}", gone()));
    Some(Cell { error: Some(error), reason, ..cell.clone() })
}

/// The flag of a wait that ended with an error, if its medium is no longer in place.
fn wait_for_what_is_gone(event: &RunEvent<'_>, is_in_place: &dyn Fn() -> bool) -> Option<Flag> {
    let RunEvent::Flagged(Flag::Waited(wait)) = event else { return None };
    let revised = || Flag::Waited(Wait { error: Some(SilentError::Gone), ..wait.clone() });
    (wait.error.is_some() && !is_in_place()).then(revised)
}

impl RunListener for JournalListener<'_> {
    fn on_event(&mut self, event: &RunEvent<'_>) -> std::result::Result<(), String> {
        let begins = matches!(event, RunEvent::CellStarted { .. } | RunEvent::RoundStarted { .. });
        if begins && !(self.is_in_place)() {
            self.is_gone = true;
            return Err(String::new());
        }
        let mut counted = self.counted(event);
        if let Some(going) = counted.as_ref().and_then(|cell| of_going(cell, &*self.is_in_place)) {
            (self.is_gone, counted) = (true, Some(going));
        }
        let silent = wait_for_what_is_gone(event, &*self.is_in_place);
        self.is_gone |= silent.is_some();
        let event = &match (event, &counted) {
            (RunEvent::CellFinished { index, .. }, Some(cell)) => {
                RunEvent::CellFinished { index: *index, cell }
            }
            (RunEvent::CellRevised { .. }, Some(cell)) => RunEvent::CellRevised { cell },
            _ => silent.as_ref().map_or_else(|| event.clone(), RunEvent::Flagged),
        };
        // On disk first, and what is not there is not shown: what the screen has shown is never
        // lost.
        let kept = match event {
            RunEvent::CellFinished { cell, .. } | RunEvent::CellRevised { cell } => {
                self.journal.append_cell(cell)
            }
            RunEvent::Skipped(skip) => self.journal.append(&(*skip).clone().into()),
            RunEvent::Flagged(flag) => self.journal.append(&(*flag).clone().into()),
            RunEvent::RestorePending(pending) => {
                self.pending.store(*pending, Ordering::SeqCst);
                Ok(())
            }
            RunEvent::CellStarted { cell, .. } if cell.max_written_bytes > 0 => {
                self.journal.append(&JournalEntry::Begun(cell.id.clone()))
            }
            RunEvent::Marked(marks) => self.journal.append(&JournalEntry::Marked(marks.to_vec())),
            RunEvent::RoundStarted { cell, .. } if cell.max_written_bytes > 0 => {
                self.journal.append(&JournalEntry::Begun(cell.id.clone()))
            }
            RunEvent::CellStarted { .. }
            | RunEvent::RoundStarted { .. }
            | RunEvent::RoundFinished { .. }
            | RunEvent::RoundsDone { .. }
            | RunEvent::Progress(_) => Ok(()),
        };
        kept.map_err(|error| error.to_string())?;
        self.screen.show(event);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use record::{Asked, PlannedCell};
    use suite::CellOutcome;

    use super::*;
    use crate::request::RunRequest;
    use crate::session::tests::session;

    fn planned() -> PlannedCell {
        PlannedCell {
            id: "seek/1".into(),
            test: "seek".into(),
            params: record::Params::default(),
            max_ns: 0,
            max_written_bytes: 0,
        }
    }

    /// A card that was exchanged while the run went on.
    #[test]
    fn no_cell_begins_on_another_card() {
        let scratch = tempfile::tempdir().unwrap();
        let target = "sim:class10".to_owned();
        let session = session(RunRequest { target, ..RunRequest::default() }, scratch.path());
        let (mut journal, pending) = (session.journal, AtomicBool::new(false));
        let screen = Screen::open(1, true, Box::new(|| 0));
        let cell = planned();
        for is_same in [true, false] {
            let mut listener = JournalListener {
                journal: &mut journal,
                screen: &screen,
                pending: &pending,
                sampler: None,
                medium_check: MediumCheck::of(&session.target),
                is_in_place: Box::new(move || is_same),
                is_gone: false,
                seen: HashMap::new(),
            };
            let begun = RunEvent::CellStarted { index: 0, cell: &cell, allotted_ns: 0 };
            assert_eq!(listener.on_event(&begun).is_ok(), is_same);
            assert_eq!(listener.is_gone, !is_same);
        }
    }

    /// A card that was pulled out: the kernel reports an error before it knows that there is none.
    #[test]
    fn an_error_of_a_medium_that_is_gone_is_not_the_mediums() {
        let error = CellError::of(IoErrorKind::Medium);
        let cell = CellOutcome::new(&planned()).cell;
        let failed = Cell { error: Some(error), ..cell.clone() };
        let kept = |is_same| of_going(&failed, &|| is_same).and_then(|cell| cell.error);
        assert_eq!(kept(true), None);
        assert_eq!(kept(false).map(|error| error.kind), Some(IoErrorKind::Gone));
        assert_eq!(of_going(&cell, &|| false), None, "it did not fail");
        let wait = |error| Wait {
            turn: "checksums".into(),
            asked: Asked::Flush,
            offset_bytes: None,
            block_bytes: None,
            silent_ns: 3_000_000_000,
            idle_ns: 0,
            host_stall_ns: 0,
            error,
        };
        let kept = |error, is_same| {
            let flag = Flag::Waited(wait(error));
            wait_for_what_is_gone(&RunEvent::Flagged(&flag), &|| is_same)
        };
        let failed = Some(SilentError::NotReadAgain);
        assert_eq!(kept(failed, false), Some(Flag::Waited(wait(Some(SilentError::Gone)))));
        assert_eq!((kept(failed, true), kept(None, false)), (None, None));
    }
}
