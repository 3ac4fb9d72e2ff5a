//! What a run has not put back, in the words that stand first wherever the run is spoken of.

use record::Record;
use record::units::Bytes;
use report::words::clean;
use store::{Owed, RunDir, Store};

use crate::exit::{OrExit, Result, refuse};
use crate::medium_identity::knows_itself;
use crate::open_target::OpenTarget;

/// Refuses to write to a medium of which a run that was cut short still keeps data: what is put back
/// later would meet what was written since. Says so, and goes on, where it is not certain that it is
/// the same medium.
///
/// # Errors
/// The medium is the same, by what it says of itself or by the kernel's count of media.
pub fn refuse_to_write(opened: &OpenTarget) -> Result<()> {
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
        crate::say!("flashmark: it may be this medium: {line}");
    }
    Ok(())
}

/// True where no other medium says the same of itself.
fn is_certain(opened: &OpenTarget, record: &Record) -> bool {
    knows_itself(&opened.medium)
        || opened.target.backing.is_some()
        || opened.target.diskseq.is_some() && opened.target.diskseq == record.target.diskseq
}

/// One line for a run that still owes its medium something, without a newline; none where it owes
/// nothing.
pub fn line(dir: &RunDir) -> Option<String> {
    dir.owed().map(|owed| words(&owed, dir.name()))
}

fn words(owed: &Owed, run: &str) -> String {
    let medium = if owed.medium.is_empty() { "the medium".to_owned() } else { clean(&owed.medium) };
    format!(
        "NOT PUT BACK: {} of data from {medium} is kept in this run; plug the medium in and type: flashmark restore {}",
        Bytes(owed.bytes),
        clean(run)
    )
}

/// The same for other programs.
pub fn json(owed: &Owed) -> serde_json::Value {
    serde_json::json!({ "medium": owed.medium, "pieces": owed.pieces, "bytes": owed.bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_owes_says_what_and_how_to_put_it_back() {
        let owed = |medium: &str| Owed {
            medium: medium.to_owned(),
            pieces: 9,
            bytes: 9 << 20,
            first_offset_bytes: Some(0),
        };
        insta::assert_snapshot!(words(&owed("Generic SD 32 GB"), "20260101-sd"), @"NOT PUT BACK: 9 MiB of data from Generic SD 32 GB is kept in this run; plug the medium in and type: flashmark restore 20260101-sd");
        insta::assert_snapshot!(words(&owed(""), "20260101-sd"), @"NOT PUT BACK: 9 MiB of data from the medium is kept in this run; plug the medium in and type: flashmark restore 20260101-sd");
        assert!(!words(&owed("\x1b[2Jcard"), "x").contains('\x1b'));
    }
}
