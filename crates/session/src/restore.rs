//! Restores what a run has backed up: at the end of a session that lost its medium, before a run is
//! resumed, and for `flashmark restore`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use device::content::DataGenerator;
use device::{ExtentGuard, Extents};
use record::Flag;
use record::units::Bytes;
use store::{Journal, RunDir};
use suite::Backup;
use suite::backup::{Interruption, LostPlace, NotRestoredReason, Restored, Trust, restore};
use suite::fingerprint::Recognition;

use crate::backup_file::BackupOnDisk;
use crate::consent;
use crate::reopened::EarlierSession;
use crate::target::Target;
use program::exit::{Exit, Failure, OrExit, Result, refuse};

/// Longest time to wait for a medium that has gone.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks for it.
const PAUSE: Duration = Duration::from_millis(250);
/// Most places that are named one by one.
const MAX_NAMED: usize = 8;

/// Restores what the run overwrote onto an open medium that was recognised; `None` if nothing is to
/// be restored. Data that are neither this run's nor what was backed up are left as they are.
pub fn on(
    opened: &mut Target,
    earlier: &EarlierSession<'_>,
    dir: &RunDir,
    stop: &AtomicBool,
) -> Result<Option<Restored>> {
    let Some(log) = dir.open_backup().or_internal()? else { return Ok(None) };
    let mut backup = BackupOnDisk::left(dir, log);
    opened.recheck().or_refuse()?;
    // Nothing but what was backed up may be written.
    let places = Extents::of(backup.places().into_iter().flatten());
    let mut guarded = ExtentGuard::new(opened.device(), places);
    let generator = DataGenerator::new(earlier.request.seed);
    let put = restore(&mut guarded, &mut backup, Trust::Look, &generator, &mut |_| {
        !stop.load(Ordering::Relaxed)
    });
    Ok(Some(put))
}

/// Waits for the medium, at most `patience`, at whatever node it comes back, and restores what the
/// run overwrote. `None` if nothing is to be restored. `print_line` gets the reason for waiting,
/// once for each.
///
/// # Errors
/// Another medium is there; what is to be restored stays in the run.
pub fn when_it_is_back(
    earlier: &EarlierSession<'_>,
    dir: &RunDir,
    (by_hand, patience): (Option<&str>, Duration),
    stop: &AtomicBool,
    print_line: &mut dyn FnMut(&str),
) -> Result<Option<Restored>> {
    if dir.unrestored().is_none() {
        return Ok(None);
    }
    let began = Instant::now();
    let mut reported = String::new();
    loop {
        let tried = once(earlier, dir, by_hand, stop);
        let (why, exit) = match tried {
            Ok(Some(Restored { interrupted: Some(Interruption::Medium(error)), .. })) => {
                (error.to_string(), Exit::Io)
            }
            // Another medium there, or the right one in use.
            Err(failure) if failure.exit == Exit::Refused => (failure.to_string(), Exit::Refused),
            Err(failure) if may_pass(&failure) => (failure.to_string(), Exit::Io),
            ended => return ended,
        };
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return Err(not_there(&why, exit, dir));
        }
        if why != reported {
            print_line(&format!(
                "data from the medium must be restored ({}): {why}; waiting up to {} s for it",
                size_left(dir),
                left.as_secs()
            ));
            reported = why;
        }
        std::thread::sleep(PAUSE.min(left));
    }
}

fn once(
    earlier: &EarlierSession<'_>,
    dir: &RunDir,
    by_hand: Option<&str>,
    stop: &AtomicBool,
) -> Result<Option<Restored>> {
    let (mut opened, recognised) = earlier.open(by_hand)?;
    match recognised {
        Recognition::Ours => on(&mut opened, earlier, dir, stop),
        Recognition::Strange { why, .. } | Recognition::CannotTell { why } => refuse(format_args!(
            "{} is not the medium whose data this run has to restore: {why}{}; nothing was written (if it is that medium, written to since: flashmark restore {} --forget gives up what was kept)",
            opened.target.path,
            consent::holds(opened.contents.as_ref()),
            dir.name()
        )),
    }
}

/// True if waiting may help: the medium is not there, does not answer, or is held by a program that
/// looks at new media.
fn may_pass(failure: &Failure) -> bool {
    failure.exit != Exit::Internal
}

fn not_there(why: &str, exit: Exit, dir: &RunDir) -> Failure {
    let error = anyhow::anyhow!(
        "{why}. NOT RESTORED: {}; put the medium in and type: flashmark restore {}",
        size_left(dir),
        dir.name()
    );
    Failure { exit, error }
}

fn size_left(dir: &RunDir) -> String {
    dir.unrestored()
        .map_or_else(|| "nothing".to_owned(), |unrestored| Bytes(unrestored.bytes).to_string())
}

/// Outcome in a few lines for people, and the exit code.
pub fn outcome(put: &Restored, dir: &RunDir) -> (String, Exit) {
    let not_all = |why: &str| {
        format!(
            "{why} before everything was restored ({}); go on with: flashmark restore {}",
            size_left(dir),
            dir.name()
        )
    };
    match &put.interrupted {
        Some(Interruption::Stopped) => return (not_all("interrupted"), Exit::Interrupted),
        Some(Interruption::Medium(error)) => return (not_all(&error.to_string()), Exit::Io),
        None => {}
    }
    let mut text = format!("{} of data from the medium are restored", Bytes(put.bytes));
    if let Some(reason) = &put.not_cleared {
        return (
            text + &format!("; what was kept of them could not be removed: {reason}"),
            Exit::Io,
        );
    }
    if put.lost.is_empty() {
        return (text + "; nothing is missing", Exit::Done);
    }
    let bytes: u64 = put.lost.iter().filter_map(|lost| lost.place).map(|place| place.bytes).sum();
    text += &format!("; {} are not:", Bytes(bytes));
    put.lost.iter().take(MAX_NAMED).for_each(|lost| text += &format!("\n  {}", lost_words(lost)));
    if put.lost.len() > MAX_NAMED {
        text += &format!("\n  and {} places more", put.lost.len() - MAX_NAMED);
    }
    text += &format!(
        "\nWhat was kept of them stays in the run: flashmark restore {0} tries again, flashmark restore {0} --forget gives up",
        dir.name()
    );
    (text, Exit::Io)
}

fn lost_words(lost: &LostPlace) -> String {
    let place = lost.place.map_or_else(
        || "an unknown place".to_owned(),
        |place| format!("{} at byte {}", Bytes(place.bytes), place.offset_bytes),
    );
    let why = match &lost.why {
        NotRestoredReason::Damaged(reason) => format!("the copy is damaged ({reason})"),
        NotRestoredReason::Refused(error) => error.to_string(),
        NotRestoredReason::NotKept => "it was written, and something else is read there".to_owned(),
        NotRestoredReason::Newer => {
            "somebody has written something new there, which was left".to_owned()
        }
    };
    format!("{place}: {why}")
}

/// Notes in the journal that everything is restored.
pub fn note(journal: &mut Journal, put: &Restored) -> Result<()> {
    if !put.is_whole() {
        return Ok(());
    }
    let text = format!(
        "{} of overwritten data were restored later, after the run had been cut short",
        Bytes(put.bytes)
    );
    journal.append(&Flag::Note { text }.into()).or_internal()
}

#[cfg(test)]
mod tests {
    use device::{IoError, IoErrorKind};

    use super::*;

    #[test]
    fn a_restore_that_was_interrupted_or_left_its_log_is_no_success() {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join(store::JOURNAL_FILE), "").unwrap();
        let dir = store::Store::open(home.path().to_owned()).find(run.to_str().unwrap()).unwrap();
        let exit = |put| outcome(&put, &dir).1;
        let ended = |interrupted| exit(Restored { interrupted, ..Restored::default() });
        let gone = Interruption::Medium(IoError::general(IoErrorKind::Gone, "pulled out"));
        assert_eq!(
            [ended(Some(gone)), ended(Some(Interruption::Stopped)), ended(None)],
            [Exit::Io, Exit::Interrupted, Exit::Done]
        );
        let not_cleared = Some("its file system is read-only".to_owned());
        assert_eq!(exit(Restored { not_cleared, ..Restored::default() }), Exit::Io);
    }
}
