//! `flashmark resume`: goes on with an interrupted run; no finished cell is repeated.

use std::io::IsTerminal;

use record::{Ended, TargetKind};
use store::{Lock, LockError, Replayed, Resumed, RunDir};

use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;
use program::programs::LAB;
use program::signals;
use session::begin::software;
use session::concluding::conclude_late;
use session::consent;
use session::flags::ResumeFlags;
use session::kept::{ResumeChoice, to_resume};
use session::outputs::keepable;
use session::reopened::{EarlierSession, plan_of};
use session::request::RunRequest;
use session::restore;
use session::session::Session;
use session::suite_body::SuiteBody;
use session::target::Target;

/// Goes on with a run or a matrix that was interrupted; a replay has to be started again.
pub fn run(flags: &ResumeFlags) -> Result {
    let ResumeChoice { dir, target, by_itself } = to_resume(flags)?;
    let lock = match session::run_lock::take(&dir) {
        Err(error @ LockError::RecordOnly(_)) => return usage(error),
        lock => lock.or_refuse()?,
    };
    let replayed = dir.replay().or_usage()?;
    replayed.unread.iter().for_each(|unread| session::kept::warn(&dir, &unread.to_string()));
    match replayed.record.run.suite.as_str() {
        record::test::REPLAY => {
            return usage(format_args!(
                "{} is a replay of a trace, which has no cells to go on with; start it again with `flashmark replay`",
                dir.name()
            ));
        }
        findings::matrix::SUITE if replayed.command.get("matrix").is_some() => {
            drop(lock);
            return usage(LAB.become_it());
        }
        _ => {}
    }
    let request: RunRequest = serde_json::from_value(replayed.command.clone()).or_usage()?;
    if is_done(&replayed) && dir.unrestored().is_none() {
        return end_late(&dir, lock, &replayed, &request, flags);
    }
    go_on(&dir, lock, &replayed, request, flags, (target, by_itself))
}

/// True if every planned cell has its result or was left out.
fn is_done(replayed: &Replayed) -> bool {
    let done: Vec<&str> = replayed.finished_cells().map(|cell| cell.id.as_str()).collect();
    let skipped = |id: &str| replayed.record.skipped.iter().any(|skip| skip.test == id);
    replayed
        .record
        .plan
        .iter()
        .all(|planned| done.contains(&planned.id.as_str()) || skipped(&planned.id))
}

/// Ends a run that has nothing left to measure: makes its record, unless it is there.
fn end_late(
    dir: &RunDir,
    lock: Lock,
    replayed: &Replayed,
    request: &RunRequest,
    flags: &ResumeFlags,
) -> Result {
    let is_recorded = replayed.record.run.ended == Ended::Complete && dir.has_its_record();
    if is_recorded && flags.outputs.json.is_none() && flags.outputs.html.is_none() {
        print(&format!(
            "{} is finished; show it with: flashmark show {}\n",
            dir.name(),
            dir.name()
        ))?;
        return Ok(Exit::Done);
    }
    conclude_late(dir, lock, request, &flags.outputs)
}

fn go_on(
    dir: &RunDir,
    lock: Lock,
    replayed: &Replayed,
    request: RunRequest,
    flags: &ResumeFlags,
    (target, by_itself): (Option<String>, bool),
) -> Result {
    let plan = plan_of(&replayed.record, request.time_limit_ns);
    if plan.max_written_bytes() > 0 && !flags.yes && findings::is_failing(&replayed.record) {
        ask_for_copy(dir)?;
    }
    let earlier = EarlierSession { request: &request, replayed, plan: &plan, run: dir.name() };
    let (mut opened, recognised) = earlier.open(target.as_deref())?;
    let taken_anew = opened.permit(recognised, dir, flags)?;
    if by_itself {
        confirm(&opened, dir, replayed, flags.yes)?;
    }
    let mut journal = dir.journal(lock).or_internal()?;
    if !taken_anew {
        restore_before_resuming(&mut opened, &earlier, dir, &mut journal)?;
    }
    let resumed =
        Resumed { started: opened.now(), host: opened.host.clone(), software: software() };
    keepable(journal.append(&resumed.into()), dir)?;
    let done = replayed.finished_cells().cloned().collect();
    let used_ns = replayed.record.run.elapsed_ns;
    let outputs = flags.outputs.clone();
    let (target, plan, dir) = (opened, plan.clone(), dir.clone());
    Session { target, plan, request, dir, journal, done, used_ns, taken_anew, outputs }
        .hold(&mut SuiteBody::default())
}

/// Asks before a run goes on that told to copy what is on the medium; refuses where nobody can be
/// asked.
fn ask_for_copy(dir: &RunDir) -> Result<()> {
    let why = format!(
        "{} found that its medium fails, and going on writes to it: copy what is on it first",
        dir.name()
    );
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return refuse(format_args!("{why}, then type: flashmark resume {} --yes", dir.name()));
    }
    program::say!("flashmark: {why}");
    consent::go_on()
}

/// Names the run and the medium that were chosen for the user, and asks him on a terminal.
fn confirm(opened: &Target, dir: &RunDir, replayed: &Replayed, yes: bool) -> Result<()> {
    let done = replayed.finished_cells().count();
    let what = format!(
        "going on with {} ({done} of {} cells are done) on {}",
        dir.name(),
        replayed.record.plan.len(),
        opened.describe()
    );
    program::say!("flashmark: {what}");
    let raw = opened.target.kind == TargetKind::Block && opened.info.writable.is_ok();
    if !raw || yes || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(());
    }
    consent::go_on()
}

/// Restores what was overwritten before anything else is done.
fn restore_before_resuming(
    opened: &mut Target,
    earlier: &EarlierSession<'_>,
    dir: &RunDir,
    journal: &mut store::Journal,
) -> Result<()> {
    let stop = signals::listen()?;
    let Some(put) = restore::on(opened, earlier, dir, &stop)? else { return Ok(()) };
    let (text, exit) = restore::outcome(&put, dir);
    program::say!("flashmark: {text}");
    restore::note(journal, &put)?;
    if exit == Exit::Done { Ok(()) } else { Err(anyhow::anyhow!("{text}")).or_io() }
}
