//! Damaged journals: what stands before the first line that does not check counts, and the run can
//! be ended.

use std::fs;

use flashmark_store::{Ending, HEADER_FILE, JournalEntry, JournalError, RunDir};
use proptest::prelude::*;
use record::{Ended, Flag};

use crate::common::{Sandbox, cell, opening, writer};

const IDS: [&str; 3] = ["a", "b", "c"];

fn ending() -> JournalEntry {
    Ending { ended: Ended::Complete, ..Ending::default() }.into()
}

/// A complete run of three cells, and the bytes of its journal.
fn complete(sandbox: &Sandbox) -> (RunDir, Vec<u8>) {
    let cells = IDS.into_iter().map(|id| cell(id).into());
    let run = sandbox.run("one", &cells.chain([ending()]).collect::<Vec<_>>());
    let journal = fs::read(run.journal_path()).unwrap();
    (run, journal)
}

fn lines(journal: &[u8]) -> Vec<&[u8]> {
    journal.split_inclusive(|byte| *byte == b'\n').collect()
}

fn cells(run: &RunDir) -> Vec<String> {
    run.replay().unwrap().record.cells.into_iter().map(|cell| cell.id).collect()
}

/// Gives a run these bytes as its journal. The lines that are as they were count, up to the first
/// that is not; then the run is ended as `resume` does, and everything is there.
fn is_read_up_to_the_damage_and_ended(sandbox: &Sandbox, run: &RunDir, whole: &[u8], bytes: &[u8]) {
    fs::write(run.journal_path(), bytes).unwrap();
    let sound = (0..=5).rfind(|count| bytes.starts_with(&lines(whole)[..*count].concat())).unwrap();
    let expected = &IDS[..sound.saturating_sub(1).min(3)];
    assert_eq!(cells(run), expected);
    assert_eq!(run.load().unwrap().cells.len(), expected.len());
    assert_eq!(
        sandbox.store.runs().unwrap()[0].overview.as_ref().unwrap().cells_done,
        expected.len()
    );

    let mut journal = writer(run);
    for id in IDS.iter().filter(|id| !expected.contains(id)) {
        journal.append(&cell(id).into()).unwrap();
    }
    journal.append(&ending()).unwrap();
    let ended = run.replay().unwrap();
    assert_eq!((ended.unread, ended.record.run.ended), (None, Ended::Complete));
    assert_eq!(cells(run), IDS);
}

proptest! {
    #[test]
    fn any_beginning_with_anything_behind_it_is_read_and_ended(
        cut in any::<prop::sample::Index>(),
        behind: Vec<u8>,
    ) {
        let sandbox = Sandbox::new();
        let (run, whole) = complete(&sandbox);
        let bytes = [&whole[..cut.index(whole.len() + 1)], &behind].concat();
        is_read_up_to_the_damage_and_ended(&sandbox, &run, &whole, &bytes);
    }

    #[test]
    fn a_journal_with_any_flipped_bit_is_read_and_ended(
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let sandbox = Sandbox::new();
        let (run, whole) = complete(&sandbox);
        let mut bytes = whole.clone();
        bytes[at.index(whole.len())] ^= 1u8 << bit;
        is_read_up_to_the_damage_and_ended(&sandbox, &run, &whole, &bytes);
    }

    #[test]
    fn arbitrary_bytes_are_no_journal(bytes: Vec<u8>) {
        let sandbox = Sandbox::new();
        let (run, _) = complete(&sandbox);
        fs::write(run.journal_path(), bytes).unwrap();
        fs::remove_file(run.path().join(HEADER_FILE)).unwrap();
        let refused = matches!(run.replay(), Err(JournalError::NoHeader { .. }));
        prop_assert!(refused);
    }
}

/// Changes the lines of a journal; returns the cells that are left of it, its end and its damage.
fn after(change: impl FnOnce(&mut Vec<Vec<u8>>)) -> String {
    let sandbox = Sandbox::new();
    let (run, whole) = complete(&sandbox);
    let mut own = lines(&whole).into_iter().map(<[u8]>::to_vec).collect();
    change(&mut own);
    is_read_up_to_the_damage_and_ended(&sandbox, &run, &whole, &own.concat());
    fs::write(run.journal_path(), own.concat()).unwrap();
    let replayed = run.replay().unwrap();
    let damage = replayed.unread.map_or_else(|| "nothing".to_owned(), |unread| unread.to_string());
    format!("{} {:?}: {damage}", cells(&run).concat(), replayed.record.run.ended)
}

#[test]
fn damage_is_reported_with_its_cost() {
    insta::assert_snapshot!(after(|_| {}), @"abc Complete: nothing");
    insta::assert_snapshot!(after(|lines| lines[2][90] ^= 1), @"a Interrupted: line 3 of the journal is damaged: it and the 2 lines after it are not used; 2 cells are measured again by resume");
    insta::assert_snapshot!(after(|lines| lines[3][90] ^= 1), @"ab Interrupted: line 4 of the journal is damaged: it and the line after it are not used; 1 cell is measured again by resume");
    insta::assert_snapshot!(after(|lines| lines[4][12] ^= 1), @"abc Interrupted: line 5 of the journal is damaged: it is not used; no cell is measured again");
    insta::assert_snapshot!(after(|lines| lines[0][3] ^= 1), @" Interrupted: line 1 of the journal is damaged: it and the 4 lines after it are not used; 3 cells are measured again by resume");
    insta::assert_snapshot!(after(|lines| lines[4].truncate(20)), @"abc Interrupted: nothing");
    insta::assert_snapshot!(after(Vec::clear), @" Interrupted: nothing");
}

#[test]
fn a_line_out_of_its_place_is_damage_too() {
    let stranger = {
        let sandbox = Sandbox::new();
        let run = sandbox.run("other", &["x", "b"].map(|id| cell(id).into()));
        lines(&fs::read(run.journal_path()).unwrap())[2].to_vec()
    };
    let damage = "a Interrupted: line 3 of the journal is damaged: ";
    assert!(after(|lines| lines.swap(2, 3)).starts_with(damage));
    assert!(after(|lines| drop(lines.remove(2))).starts_with(damage));
    assert!(after(|lines| lines.insert(2, lines[1].clone())).starts_with(damage));
    assert!(after(|lines| lines.insert(2, b"no line\n".to_vec())).starts_with(damage));
    assert!(after(|lines| lines[2] = stranger).starts_with(damage));
}

#[test]
fn a_complete_record_stands_for_lines_that_are_lost_later_and_puts_its_cells_back() {
    let sandbox = Sandbox::new();
    let (run, mut bytes) = complete(&sandbox);
    let mut record = run.replay().unwrap().record;
    // A caveat that was given after the end of the run.
    record.cells[0].flags.push(Flag::MayNotLast { written_bytes: 1 });
    run.write_record(&record).unwrap();
    let place = lines(&bytes)[..2].concat().len();
    bytes[place] ^= 1;
    fs::write(run.journal_path(), &bytes).unwrap();
    let replayed = run.replay().unwrap();
    assert_eq!(replayed.record, record);
    assert!(replayed.unread.is_some_and(|unread| unread.cells.is_empty()));
    assert!(run.has_its_record());
    assert_eq!(
        sandbox.store.last_unfinished().unwrap(),
        None,
        "it is not taken up again by itself"
    );
    assert_eq!(fs::read(run.journal_path()).unwrap(), bytes, "nothing was written");
    drop(writer(&run));
    let again = run.replay().unwrap();
    assert_eq!((again.record.cells, again.unread), (record.cells, None));
}

#[test]
fn a_backup_proves_that_its_cell_had_begun() {
    let sandbox = Sandbox::new();
    let mut opening = opening("one");
    opening.plan.truncate(1);
    let run = sandbox.store.create("one", &opening).unwrap();
    writer(&run).append(&JournalEntry::Begun("a".to_owned())).unwrap();
    let begun = || run.replay().unwrap().traces.begun;
    assert_eq!(begun(), ["a"]);
    let mut bytes = fs::read(run.journal_path()).unwrap();
    bytes.pop();
    fs::write(run.journal_path(), bytes).unwrap();
    assert_eq!(begun(), [""; 0]);
    let mut log = run.create_backup("card", 1 << 20).unwrap();
    log.keep(0, b"somebody's data").unwrap();
    log.seal().unwrap();
    assert_eq!(begun(), ["a"]);
}

#[test]
fn a_run_that_ended_without_its_record_is_unfinished() {
    let sandbox = Sandbox::new();
    let (run, _) = complete(&sandbox);
    let record = run.replay().unwrap().record;
    assert_eq!(sandbox.store.last_unfinished().unwrap(), Some(run.clone()), "there is no record");
    assert_eq!(run.load().unwrap(), record);
    run.write_record(&record).unwrap();
    assert_eq!(sandbox.store.last_unfinished().unwrap(), None);
    let mut behind = record.clone();
    behind.cells.pop();
    behind.run.ended = Ended::Interrupted;
    run.write_record(&behind).unwrap();
    assert_eq!(sandbox.store.last_unfinished().unwrap(), Some(run.clone()), "the record is behind");
    fs::write(run.record_path(), "{\"run\":").unwrap();
    assert_eq!(
        sandbox.store.last_unfinished().unwrap(),
        Some(run.clone()),
        "the record is damaged"
    );
    assert_eq!((run.load().unwrap(), run.has_its_record()), (record, false));
}
