//! Data that a run has not restored, as it is reported first wherever the run is shown.

use record::Record;
use record::text::printable;
use record::units::Bytes;
use store::{RunDir, Store, Unrestored};

use crate::medium_identity::has_own_identity;
use crate::target::Target;
use program::exit::{OrExit, Result, refuse};

/// Refuses to write to a medium if a run that was cut short still has data of it to restore:
/// restoring later would overwrite what is written now. If it is not certain that it is the same
/// medium, prints a warning and goes on.
///
/// # Errors
/// The medium is the same, by its own identity or by the kernel's count of media.
pub fn refuse_to_write(opened: &Target) -> Result<()> {
    for run in Store::open(Store::default_root()).runs().or_usage()? {
        let Some(line) = line(&run.dir).filter(|_| !run.dir.is_being_written()) else { continue };
        let Ok(record) = run.dir.load() else { continue };
        if opened.same_as(&record).is_err() {
            continue;
        }
        if is_certain(opened, &record) {
            return refuse(format_args!(
                "{line}. To give that data up instead, delete '{}'",
                run.dir.path().display()
            ));
        }
        program::say!("flashmark: it may be this medium: {line}");
    }
    Ok(())
}

/// True if no other medium can have the same identity.
fn is_certain(opened: &Target, record: &Record) -> bool {
    has_own_identity(&opened.medium)
        || opened.target.backing.is_some()
        || opened.target.diskseq.is_some() && opened.target.diskseq == record.target.diskseq
}

/// One line about a run that still has something to restore, without a line break; `None` if it has
/// nothing.
pub fn line(dir: &RunDir) -> Option<String> {
    dir.unrestored().map(|unrestored| words(&unrestored, dir.name()))
}

fn words(unrestored: &Unrestored, run: &str) -> String {
    let medium = if unrestored.medium.is_empty() {
        "the medium".to_owned()
    } else {
        printable(&unrestored.medium)
    };
    format!(
        "NOT RESTORED: {} of data from {medium} is kept in this run; plug the medium in and type: flashmark restore {}",
        Bytes(unrestored.bytes),
        printable(run)
    )
}

/// The same as JSON, for other programs.
pub fn json(unrestored: &Unrestored) -> serde_json::Value {
    let Unrestored { medium, pieces, bytes, .. } = unrestored;
    serde_json::json!({ "medium": medium, "pieces": pieces, "bytes": bytes })
}
