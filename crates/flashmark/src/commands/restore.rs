//! `flashmark restore`: restores what a run overwrote on a medium.

use std::time::Duration;

use store::{RunDir, Store};

use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;
use program::signals;
use session::concluding::judged_and_written;
use session::flags::RestoreFlags;
use session::reopened::{EarlierSession, plan_of};
use session::request::RunRequest;
use session::restore;
use session::target::clean_up_after_killed_runs;

/// Restores what a run overwrote and could not restore; exit code 4 if something is still missing
/// then.
///
/// Settings of the host that a killed run changed are restored first; they need no medium.
pub fn run(flags: &RestoreFlags) -> Result {
    clean_up_after_killed_runs();
    let store = Store::open(Store::default_root());
    let Some((dir, by_hand)) = choose(&store, flags)? else {
        print("No run has data left to restore.\n")?;
        return Ok(Exit::Done);
    };
    let lock = session::run_lock::take(&dir).or_refuse()?;
    if dir.unrestored().is_none() {
        print(&format!("{} has no data left to restore.\n", dir.name()))?;
        return Ok(Exit::Done);
    }
    if flags.forget {
        return forget(&dir, flags.yes);
    }
    let stop = signals::listen()?;
    let replayed = dir.replay().or_usage()?;
    let request: RunRequest = serde_json::from_value(replayed.command.clone()).or_usage()?;
    let plan = plan_of(&replayed.record, None);
    let earlier =
        EarlierSession { request: &request, replayed: &replayed, plan: &plan, run: dir.name() };
    // Whoever types this has the medium in: only what settles by itself is waited for.
    let patience = Duration::from_secs(3);
    let put = restore::when_it_is_back(
        &earlier,
        &dir,
        (by_hand.as_deref(), patience),
        &stop,
        &mut |text| {
            if !flags.quiet {
                program::say!("flashmark: {text}");
            }
        },
    )?;
    let Some(put) = put else { return Ok(Exit::Done) };
    // A damaged journal is left as it is: opening it would cut it off.
    if replayed.unread.is_none() {
        restore::note(&mut dir.journal(lock).or_internal()?, &put)?;
    }
    judged_and_written(&dir, &request)?;
    let (text, exit) = restore::outcome(&put, &dir);
    print(&format!("{}: {text}\n", dir.name()))?;
    Ok(exit)
}

/// The run, and the place that the user names for its medium. A word that names no run but begins
/// with `/dev/` is the place of the medium, unless another place is named.
fn choose(store: &Store, flags: &RestoreFlags) -> Result<Option<(RunDir, Option<String>)>> {
    let latest = || store.last_unrestored().or_usage();
    let Some(first) = &flags.run else { return Ok(latest()?.map(|dir| (dir, None))) };
    match store.find(first) {
        Ok(dir) => Ok(Some((dir, flags.target.clone()))),
        Err(_) if flags.target.is_none() && first.starts_with("/dev/") => {
            Ok(latest()?.map(|dir| (dir, Some(first.clone()))))
        }
        Err(error) => Err(error).or_usage(),
    }
}

/// Deletes the backup of a run.
fn forget(dir: &RunDir, yes: bool) -> Result {
    let unrestored = dir
        .unrestored()
        .map(|unrestored| record::units::Bytes(unrestored.bytes).to_string())
        .unwrap_or_default();
    if !yes {
        return refuse(format_args!(
            "{unrestored} of data from the medium are kept only in {}; if you no longer need them, type: flashmark restore {} --forget --yes",
            dir.name(),
            dir.name()
        ));
    }
    match dir.open_backup().or_internal()? {
        Some(log) => log.clear().or_internal()?,
        None => return usage("nothing is kept"),
    }
    if let Ok(replayed) = dir.replay() {
        let request: RunRequest = serde_json::from_value(replayed.command).or_usage()?;
        judged_and_written(dir, &request)?;
    }
    print(&format!(
        "{}: {unrestored} that were kept are deleted; the medium stays as it is.\n",
        dir.name()
    ))?;
    Ok(Exit::Done)
}
