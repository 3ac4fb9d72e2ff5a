//! One session of a run: measures what is left of the plan, keeps every cell, and ends in order.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use device::{Device, ExtentGuard, IoError, IoErrorKind, WriteBudget};
use record::units::Bytes;
use record::{Cell, Ended, Flag, HostState, IoAccounting, Record, Sample, Stop, Wait};
use store::{Ending, Journal, JournalEntry, Lock, RunDir};
use suite::{Backup, Plan, RunEnd, RunEvent, RunListener, RunOptions};

use crate::backup_file::BackupOnDisk;
use crate::io_accounting::MediumCheck;
use crate::open_target::OpenTarget;
use crate::outputs::{self, Outputs, keepable};
use crate::progress_display::Screen;
use crate::progress_events;
use crate::reopened::EarlierSession;
use crate::request::RunRequest;
use crate::restore;
use crate::sampler::Sampler;
use crate::watchdog::Watchdog;
use crate::words;
use program::exit::{Exit, Failure, OrExit, Result};
use program::signals;

/// Message before a test writes to a medium and restores it later.
const BACKUP_NOTICE: &str = "To measure it, the medium is written: what is overwritten is kept in the run's directory first and restored at the end, also after Ctrl-C.\nIf the program is killed or the medium pulled out meanwhile: flashmark restore. --erase ID allows the medium to be overwritten, which is faster and finds larger caches";

/// Session of a run, with all that it needs.
pub struct RunSession {
    /// The target, opened, with its device.
    pub opened: OpenTarget,
    /// Plan of the whole run, finished cells included.
    pub plan: Plan,
    /// Request of the user.
    pub request: RunRequest,
    /// The run on disk.
    pub dir: RunDir,
    /// Its journal, open at its end; holds the run's lock.
    pub journal: Journal,
    /// Cells finished in earlier sessions.
    pub done: Vec<Cell>,
    /// Time of earlier sessions, or of looking at the medium, in nanoseconds.
    pub used_ns: u64,
    /// Long waits while it was looked at.
    pub waits: Vec<Wait>,
    /// True if the medium no longer holds what earlier sessions had written, and the user allowed
    /// overwriting it all the same.
    pub taken_anew: bool,
    /// Places that get the results beside the store.
    pub outputs: Outputs,
}

impl RunSession {
    /// Measures, keeps, reports; returns the exit code.
    pub fn hold(self) -> Result {
        let RunSession {
            mut opened,
            plan,
            request,
            dir,
            mut journal,
            done,
            used_ns,
            waits,
            taken_anew,
            outputs,
        } = self;
        let stop = signals::listen()?;
        let lost = !done.is_empty() && (taken_anew || opened.loses_its_data());
        let device = WriteBudget::new(opened.take_device(&plan), budget_bytes(&plan, lost));
        let mut medium = ExtentGuard::new(Box::new(device) as Box<dyn Device>, plan.writes());
        if plan.max_written_bytes() > 0 {
            opened.recheck().or_refuse()?;
        }
        let screen = Screen::open(plan.cells.len(), outputs.is_silent(), opened.waiting());
        let screen = screen.naming(&plan.cells);
        progress_events::planned(&dir, &plan.cells, &plan.skipped, &done);
        screen.print(&format!(
            "{}\n{} cells, {}; writes at most {}",
            opened.describe(),
            plan.cells.len(),
            words::longest(&plan, used_ns),
            Bytes(plan.max_written_bytes())
        ));
        if opened.info.must_restore.is_some() {
            screen.print(BACKUP_NOTICE);
        }
        let pending = Arc::new(AtomicBool::new(false));
        let watchdog =
            Watchdog::start(&stop, &pending, opened.waiting(), last_words(&dir, &request));
        let mut on_disk = BackupOnDisk::none(&dir, opened.describe());
        let backup: Option<&mut dyn Backup> =
            if opened.is_simulated() { None } else { Some(&mut on_disk) };
        let options = RunOptions {
            seed: request.seed,
            target: &opened.info,
            done,
            used_ns,
            lost,
            stop: &stop,
            anyway: request.anyway,
            backup,
        };
        let sampler = Sampler::start(&opened.target, used_ns);
        let medium_check = MediumCheck::of(&opened);
        let mut keeper = JournalListener {
            journal: &mut journal,
            screen: &screen,
            pending: &pending,
            sampler,
            medium_check,
            is_in_place: opened.is_in_place(),
            is_gone: false,
            seen: HashMap::new(),
        };
        for wait in waits {
            keeper
                .on_event(&RunEvent::Flagged(&Flag::Waited(wait)))
                .map_err(anyhow::Error::msg)
                .or_internal()?;
        }
        let is_real = !opened.is_simulated();
        let raised = is_real.then(blockio::RaisedPriority::of_this_thread);
        let raised_session = is_real.then(blockio::RaisedSession::of_this_process);
        let mut end = suite::run(&mut medium, &mut *opened.stage, &plan, options, &mut keeper);
        if keeper.is_gone {
            let error = "another one is in its place, or it has been out";
            (end.failed, end.error) = (None, Some(IoError::general(IoErrorKind::Gone, error)));
        }
        drop((raised, raised_session, keeper));
        watchdog.end();
        drop(screen);
        drop(medium);
        drop(on_disk);
        opened.close();
        restore_pending(&request, &plan, &dir, &mut journal, &stop);
        conclude(end, &opened, &request, &dir, &mut journal, &outputs)
    }
}

/// Restores what the run could not because its medium was away: waits for it, and prints why. What
/// is still missing then is reported whenever the run is shown.
fn restore_pending(
    request: &RunRequest,
    plan: &Plan,
    dir: &RunDir,
    journal: &mut Journal,
    stop: &AtomicBool,
) {
    if dir.unrestored().is_none() {
        return;
    }
    let put = dir.replay().or_internal().and_then(|replayed| {
        let earlier = EarlierSession { request, replayed: &replayed, plan, run: dir.name() };
        restore::when_it_is_back(&earlier, dir, (None, restore::PATIENCE), stop, &mut |text| {
            program::say!("flashmark: {text}")
        })
    });
    match put {
        Ok(Some(put)) => {
            program::say!("flashmark: {}", restore::outcome(&put, dir).0);
            if let Err(error) = restore::note(journal, &put) {
                program::say!("flashmark: {error}");
            }
        }
        Ok(None) => {}
        Err(failure) => program::say!("flashmark: {failure}"),
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
        let counted = self.medium_check.checked(Cell { activity, ..cell.clone() });
        let is_new = |flag: &Flag| !cell.flags.contains(flag);
        let caveats: Vec<Flag> = counted.flags.into_iter().filter(is_new).collect();
        let is_first = !self.seen.contains_key(&cell.id);
        let seen = self.seen.entry(cell.id.clone()).or_default();
        if is_first {
            (seen.activity, seen.reach) = (counted.activity, counted.reach);
        }
        seen.host_state.add(host_state);
        seen.caveats.extend(caveats);
    }
}

impl RunListener for JournalListener<'_> {
    fn on_event(&mut self, event: &RunEvent<'_>) -> std::result::Result<(), String> {
        let begins = matches!(event, RunEvent::CellStarted { .. } | RunEvent::RoundStarted { .. });
        if begins && !(self.is_in_place)() {
            self.is_gone = true;
            return Err(String::new());
        }
        let counted = self.counted(event);
        let event = &match (event, &counted) {
            (RunEvent::CellFinished { index, .. }, Some(cell)) => {
                RunEvent::CellFinished { index: *index, cell }
            }
            (RunEvent::CellRevised { .. }, Some(cell)) => RunEvent::CellRevised { cell },
            _ => event.clone(),
        };
        // On disk first, and what is not there is not shown: what the screen has shown is never
        // lost.
        let kept = match event {
            RunEvent::CellFinished { cell, .. } | RunEvent::CellRevised { cell } => {
                self.journal.append(&(*cell).clone().into())
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

/// Last actions of a run that is interrupted while its medium does not answer: writes the record
/// and prints how to go on.
fn last_words(dir: &RunDir, request: &RunRequest) -> impl FnOnce() + Send + use<> {
    let (dir, request) = (dir.clone(), request.clone());
    move || {
        if let Ok(replayed) = dir.replay() {
            let record = judged(replayed.record, &request, &dir);
            let _ = dir.write_record(&record);
        }
        // A medium that hangs may answer never again.
        program::say!(
            "\nflashmark: interrupted while the medium did not answer; the finished cells are kept. {COPY_FIRST}; another reader or port may make it answer, and then it goes on with: flashmark resume {}",
            dir.name()
        );
    }
}

/// Adds what is still to be restored to the medium, and the conclusions, those for the user's
/// claims and uses included.
fn judged(mut record: Record, request: &RunRequest, dir: &RunDir) -> Record {
    record.flags.extend(dir.unrestored().map(|unrestored| Flag::NotRestored {
        bytes: unrestored.bytes,
        first_offset_bytes: unrestored.first_offset_bytes.unwrap_or(0),
        run: dir.name().to_owned(),
    }));
    complete(&mut record, &request.uses);
    record
}

/// Adds what follows only from the whole run and is not in its journal: the caveats that the record
/// gives its cells, and the conclusions.
pub fn complete(record: &mut Record, uses: &[record::Use]) {
    findings::add_caveats(record);
    concluded_for(record, uses);
}

/// Draws the conclusions and the summary of a record, for these uses.
pub fn concluded_for(record: &mut Record, uses: &[record::Use]) {
    findings::Analysis::of(record, uses).keep_in(record);
}

fn conclude(
    end: RunEnd,
    opened: &OpenTarget,
    request: &RunRequest,
    dir: &RunDir,
    journal: &mut Journal,
    outputs: &Outputs,
) -> Result {
    let ending = Ending {
        ended: end.ended,
        finished: opened.now(),
        elapsed_ns: end.elapsed_ns,
        temperatures: opened.temperatures(),
        // A medium that has just failed may take long to say how it feels, and whoever interrupted
        // wants the prompt back.
        health: if end.ended == Ended::Complete { opened.health() } else { None },
    };
    // What an interrupted cell had measured is shown, though it will be measured again.
    let mut half_done =
        end.cells.iter().filter(|cell| cell.stop == Stop::Interrupted && cell.ops > 0);
    let kept = half_done
        .try_for_each(|cell| journal.append(&cell.clone().into()))
        .and_then(|()| journal.append(&ending.into()));
    let record = dir.replay().or_internal()?.record;
    let record = judged(record, request, dir);
    keepable(dir.write_record(&record), dir)?;
    let exit = request.exit(&record, end.error.as_ref());
    outputs::deliver(&record, dir, exit, outputs)?;
    request.print_outcome(&record, exit, outputs.shows_a_screen());
    if let Some(reason) = end.failed {
        return keepable(
            Err(anyhow::anyhow!(
                "the run was ended, because its results could not be kept: {reason}"
            )),
            dir,
        );
    }
    keepable(kept, dir)?;
    match (exit, end.error) {
        (Exit::Internal, Some(error)) => Err(anyhow::anyhow!("{error}")).or_internal(),
        (Exit::Interrupted, _) => {
            program::say!("flashmark: interrupted; {}", next_step(&record, dir.name()));
            Ok(exit)
        }
        // A medium that fails is copied from next, not measured on.
        (Exit::Io, Some(error))
            if matches!(error.kind, IoErrorKind::Medium | IoErrorKind::ReadOnly) =>
        {
            program::say!(
                "flashmark: {error}; what was measured before is kept in {}. {COPY_FIRST}.",
                dir.name()
            );
            Ok(exit)
        }
        (Exit::Io, Some(error)) if error.is_gone() => {
            program::say!(
                "flashmark: {error}; what was measured before is kept. With another reader, port or cable, go on with: flashmark resume {}",
                dir.name()
            );
            Ok(exit)
        }
        (Exit::Io, Some(error)) => {
            program::say!(
                "flashmark: {error}; what was measured before is kept, go on with: flashmark resume {}",
                dir.name()
            );
            Ok(exit)
        }
        (Exit::Io | Exit::Refused, _) => {
            Err(Failure { exit, error: anyhow::anyhow!(unfinished(&record)) })
        }
        _ => Ok(exit),
    }
}

/// Advice for a medium that fails, if it holds data.
pub const COPY_FIRST: &str = "Copy what is on it first, if that is needed";

/// Next step after an interruption: resume the run, unless its medium fails.
fn next_step(record: &Record, run: &str) -> String {
    if findings::is_failing(record) {
        format!("the medium fails; what was measured is kept in {run}. {COPY_FIRST}.")
    } else {
        format!("go on with: flashmark resume {run}")
    }
}

/// Ends a run that was killed after its last cell, before it was marked complete. Needs no medium.
pub fn conclude_late(dir: &RunDir, lock: Lock, request: &RunRequest, outputs: &Outputs) -> Result {
    let record = dir.replay().or_internal()?.record;
    if record.run.ended != Ended::Complete {
        // When it was done is not known.
        let ending = Ending {
            ended: Ended::Complete,
            elapsed_ns: record.run.elapsed_ns,
            ..Ending::default()
        };
        dir.journal(lock).or_internal()?.append(&ending.into()).or_internal()?;
    }
    let record = judged_and_written(dir, request)?;
    let exit = request.exit(&record, None);
    outputs::deliver(&record, dir, exit, outputs)?;
    request.print_outcome(&record, exit, outputs.shows_a_screen());
    Ok(exit)
}

/// Makes the record of a run again from its journal.
pub fn judged_and_written(dir: &RunDir, request: &RunRequest) -> Result<Record> {
    let record = judged(dir.replay().or_internal()?.record, request, dir);
    dir.write_record(&record).or_internal()?;
    Ok(record)
}

/// Reason why a run could not be finished though the medium gave no error (a file system that could
/// not be made).
fn unfinished(record: &Record) -> String {
    record
        .cells
        .iter()
        .find_map(|cell| cell.reason.clone())
        .unwrap_or_else(|| "a test failed".into())
}

#[cfg(test)]
mod tests {
    use record::{Cell, Params};

    use super::*;

    /// Ctrl-C after errors of the medium: "go on with: flashmark resume".
    #[test]
    fn a_failing_medium_is_copied_and_not_measured_on() {
        let mut record = Record::new(record::Run::default());
        assert_eq!(next_step(&record, "a"), "go on with: flashmark resume a");
        let mut cell = Cell::begun("a", "random-read", Params::default());
        cell.stop = Stop::Error;
        cell.error = Some(record::CellError::of(IoErrorKind::Medium));
        record.cells.push(cell);
        let step = next_step(&record, "a");
        assert!(step.contains("Copy what is on it first") && !step.contains("resume"), "{step}");
    }
}
