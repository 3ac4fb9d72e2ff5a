//! One session of a run, whatever it does: a suite, a matrix, a replay. The order of what protects
//! the data of the user stands here once. [`Target::open`] has looked, refused and claimed, the
//! caller has shown and asked ([`Target::confirm`]), and [`crate::begin::begin`] has begun the
//! journal. Then the device gets its guards, the claim is checked again, the body does its work while
//! signals and medium are watched, the medium is released, what is missing is restored, and the record
//! is written.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device::{Device, ExtentGuard, Extents, IoErrorKind};
use record::{Cell, Ended, Record, Stop};
use store::{Ending, Journal, RunDir};
use suite::{Plan, RunEnd};

use crate::concluding::judged;
use crate::outputs::{self, Outputs, ResultFile, keepable};
use crate::progress_display::Screen;
use crate::progress_events;
use crate::reopened::EarlierSession;
use crate::request::RunRequest;
use crate::restore;
use crate::target::Target;
use crate::watchdog::{Watchdog, last_words};
use crate::words::COPY_FIRST;
use program::exit::{Exit, Failure, OrExit, Result};
use program::signals;

/// Session of a run, with all that it needs.
pub struct Session {
    /// The target, opened and claimed.
    pub target: Target,
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
    /// True if the medium no longer holds what earlier sessions had written, and the user allowed
    /// overwriting it all the same.
    pub taken_anew: bool,
    /// Places that get the results beside the store.
    pub outputs: Outputs,
}

/// What a session does with its medium.
pub trait Body {
    /// Extents of the device that it writes, and most bytes in all; `lost` says that what earlier
    /// sessions had filled is filled again. `None` if it opens no device itself.
    fn writes(&self, plan: &Plan, lost: bool) -> Option<(Extents, u64)>;

    /// Lines about what is going to be done, printed below that of the medium.
    fn announcement(&self, target: &Target, plan: &Plan, used_ns: u64) -> String;

    /// Does it, and keeps each finished cell in the journal before it shows it.
    ///
    /// # Errors
    /// What has nothing to do with the medium; its errors are in the end.
    fn work(&mut self, at: Workplace<'_>) -> Result<RunEnd>;

    /// Undoes what it changed beside the medium's data.
    ///
    /// # Errors
    /// Something could not be undone; the record is written before this is reported.
    fn leave(&mut self) -> Result<()> {
        Ok(())
    }

    /// Files of the run beside its record and page.
    ///
    /// # Errors
    /// One cannot be made.
    fn files(&self, _record: &Record) -> Result<Vec<ResultFile>> {
        Ok(Vec::new())
    }

    /// How to go on after this session was cut short.
    fn way_on(&self, run: &str) -> String {
        format!("go on with: flashmark resume {run}")
    }
}

/// A device that writes only what was announced.
pub type Guarded = ExtentGuard<Box<dyn Device>>;

/// What a body works with.
pub struct Workplace<'a> {
    /// The target.
    pub target: &'a mut Target,
    /// Its device within its guards; `None` for a body that opens none.
    pub medium: Option<&'a mut Guarded>,
    /// The plan.
    pub plan: &'a Plan,
    /// The request.
    pub request: &'a RunRequest,
    /// The run on disk.
    pub dir: &'a RunDir,
    /// Its journal.
    pub journal: &'a mut Journal,
    /// Where progress is shown.
    pub screen: &'a Screen,
    /// Set by a signal: end soon.
    pub stop: &'a Arc<AtomicBool>,
    /// Set by the body while the medium is not as its owner left it: a signal waits then.
    pub pending: &'a AtomicBool,
    /// Cells finished in earlier sessions.
    pub done: Vec<Cell>,
    /// Time of earlier sessions, in nanoseconds.
    pub used_ns: u64,
    /// True if what earlier sessions had filled is gone.
    pub lost: bool,
}

impl Session {
    /// Does the work of the body, keeps, restores, reports; returns the exit code.
    pub fn hold(self, body: &mut dyn Body) -> Result {
        let Session { mut target, plan, request, dir, mut journal, done, used_ns, .. } = self;
        let stop = signals::listen()?;
        let lost = !done.is_empty() && (self.taken_anew || target.loses_its_data());
        let allowed = body.writes(&plan, lost);
        let reads_only = allowed.as_ref().is_some_and(|(_, bytes)| *bytes == 0);
        let mut guarded = allowed.map(|(extents, bytes)| {
            ExtentGuard::new(target.take_device(&plan), extents).with_budget(bytes)
        });
        if !reads_only {
            target.recheck().or_refuse()?;
        }
        let screen = Screen::open(plan.cells.len(), self.outputs.is_silent(), target.waiting());
        let screen = screen.naming(&plan.cells);
        progress_events::planned(&dir, &plan.cells, &plan.skipped, &done);
        let announcement = body.announcement(&target, &plan, used_ns);
        screen.print(&format!("{}\n{announcement}", target.describe()));
        let pending = Arc::new(AtomicBool::new(false));
        let last_words = last_words(&dir, &request, body.way_on(dir.name()));
        let watchdog = Watchdog::start(&stop, &pending, target.waiting(), last_words);
        let worked = body.work(Workplace {
            target: &mut target,
            medium: guarded.as_mut(),
            plan: &plan,
            request: &request,
            dir: &dir,
            journal: &mut journal,
            screen: &screen,
            stop: &stop,
            pending: &pending,
            done,
            used_ns,
            lost,
        });
        watchdog.end();
        drop(screen);
        drop(guarded);
        let left = body.leave();
        target.close();
        restore_pending(&request, &plan, &dir, &mut journal, &stop);
        let ended = finish(worked?, &target, &request, (&dir, &mut journal), &self.outputs, body);
        left.and(ended)
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

fn finish(
    end: RunEnd,
    target: &Target,
    request: &RunRequest,
    (dir, journal): (&RunDir, &mut Journal),
    outputs: &Outputs,
    body: &dyn Body,
) -> Result {
    let ending = Ending {
        ended: end.ended,
        finished: target.now(),
        elapsed_ns: end.elapsed_ns,
        temperatures: target.temperatures(),
        // A medium that has just failed may take long to say how it feels, and whoever interrupted
        // wants the prompt back.
        health: if end.ended == Ended::Complete { target.health() } else { None },
    };
    // What an interrupted cell had measured is shown, though it will be measured again.
    let mut half_done =
        end.cells.iter().filter(|cell| cell.stop == Stop::Interrupted && cell.ops > 0);
    let kept = half_done
        .try_for_each(|cell| journal.append_cell(cell))
        .and_then(|()| journal.append(&ending.into()));
    let record = judged(dir.replay().or_internal()?.record, request, dir);
    let way_on = body.way_on(dir.name());
    keepable(dir.write_record(&record), dir)?;
    let exit = request.exit(&record, end.error.as_ref());
    outputs::deliver(&record, dir, exit, outputs, body.files(&record)?)?;
    request.print_outcome(&record, exit, outputs.shows_a_screen());
    if let Some(reason) = end.failed {
        let why = "the run was ended, because its results could not be kept";
        return keepable(Err(anyhow::anyhow!("{why}: {reason}")), dir);
    }
    keepable(kept, dir)?;
    match (exit, end.error) {
        (Exit::Internal, Some(error)) => Err(anyhow::anyhow!("{error}")).or_internal(),
        (Exit::Interrupted, _) => {
            program::say!("flashmark: interrupted; {}", next_step(&record, dir.name(), way_on));
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
        (Exit::Io, Some(error)) => {
            let another = if error.is_gone() { ". With another reader, port or cable" } else { "" };
            program::say!(
                "flashmark: {error}; what was measured before is kept{another}, {way_on}"
            );
            Ok(exit)
        }
        (Exit::Io | Exit::Refused, _) => {
            Err(Failure { exit, error: anyhow::anyhow!(unfinished(&record)) })
        }
        _ => Ok(exit),
    }
}

/// Next step after an interruption: resume the run, unless its medium fails.
fn next_step(record: &Record, run: &str, way_on: String) -> String {
    if findings::is_failing(record) {
        format!("the medium fails; what was measured is kept in {run}. {COPY_FIRST}.")
    } else {
        way_on
    }
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
pub(crate) mod tests;
