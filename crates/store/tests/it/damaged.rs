//! Damaged journals: each line that still passes its checksum counts, and the run can be ended.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flashmark_store::{
    Damage, Ending, HEADER_FILE, JOURNAL_FILE, JournalEntry, JournalError, LineDamage, Opening,
    RunDir, Store,
};
use record::{Cell, Ended, Flag};

use stats::Random;

use crate::common::{Sandbox, cell, writer};

/// A journal of the form before, without line numbers: a whole run on a simulated card.
const FORM_1: &str = include_str!("../../../../fixtures/journals/form-1-complete.jsonl");

fn below(chance: &mut Random, limit: usize) -> usize {
    chance.below(limit as u64) as usize
}

/// Content of the fixture.
fn journal_contents() -> (Opening, Vec<JournalEntry>) {
    let mut lines = FORM_1.lines();
    let header: serde_json::Value = serde_json::from_str(&lines.next().unwrap()[9..]).unwrap();
    (
        serde_json::from_value(header["opening"].clone()).unwrap(),
        lines.map(|line| serde_json::from_str(&line[9..]).unwrap()).collect(),
    )
}

/// Writes the same run as this version does.
fn form_2(store: &Store) -> RunDir {
    let (opening, entries) = journal_contents();
    let run = store.create("whole", &opening).unwrap();
    let mut journal = writer(&run);
    entries.iter().for_each(|entry| journal.append(entry).unwrap());
    run
}

/// Makes a run directory with these bytes.
fn run_of(root: &Path, journal: &[u8], copy: Option<&[u8]>) -> RunDir {
    let dir = root.join("damaged");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(JOURNAL_FILE), journal).unwrap();
    match copy {
        Some(copy) => fs::write(dir.join(HEADER_FILE), copy).unwrap(),
        None => drop(fs::remove_file(dir.join(HEADER_FILE))),
    }
    Store::open(root.to_owned()).find("damaged").unwrap()
}

/// Effect of a change on a journal.
struct JournalChange {
    bytes: Vec<u8>,
    /// Indices of the lines whose content may be lost.
    lost: BTreeSet<usize>,
    what: &'static str,
    /// True if a journal without numbers cannot detect it.
    unseen_in_form_1: bool,
}

/// Changes the lines of a journal at random; with `spare_first` never the first one, for journals
/// without a copy of it.
fn change_at_random(lines: &[&[u8]], chance: &mut Random, spare_first: bool) -> JournalChange {
    let first = usize::from(spare_first);
    let one = first + below(chance, lines.len() - first);
    let mut own: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
    let (mut lost, mut unseen) = (BTreeSet::from([one]), false);
    let what = match below(chance, 11) {
        0 | 1 => {
            let at = below(chance, own[one].len() - 1);
            own[one][at] ^= 1 << below(chance, 8);
            "a flipped bit"
        }
        2 => {
            unseen = true;
            own[one].clear();
            "a missing line"
        }
        3 => {
            own[one] = own[one].repeat(2);
            lost.clear();
            unseen = true;
            "a doubled line"
        }
        4 => {
            let other = first + below(chance, lines.len() - first);
            own.swap(one, other);
            lost.clear();
            unseen = true;
            "two lines swapped"
        }
        5 => {
            let keep = below(chance, own[one].len());
            own[one].truncate(keep);
            own.truncate(one + 1);
            lost = (one..lines.len()).collect();
            "a torn journal"
        }
        6 => {
            // The newline, and nothing else, is lost.
            *own[one].last_mut().unwrap() ^= 1 << below(chance, 8);
            if one + 1 == lines.len() {
                lost = BTreeSet::from([one])
            } else {
                lost.clear()
            }
            "a flipped newline"
        }
        7 => {
            let (from, to) = (below(chance, own[one].len()), below(chance, own[one].len()));
            own[one][from.min(to)..=from.max(to)].fill(0);
            lost.insert(one + 1);
            "zeros"
        }
        8 => {
            let junk: Vec<u8> =
                (0..below(chance, 5000)).map(|_| below(chance, 256) as u8).chain([b'\n']).collect();
            own.insert(one + 1, junk);
            lost.clear();
            "a line of junk"
        }
        9 => {
            own.iter_mut().for_each(|line| line.splice(line.len() - 1.., *b"\r\n").for_each(drop));
            lost.clear();
            unseen = true;
            "line ends of another system"
        }
        _ => {
            let until = (one + 1 + below(chance, 4)).min(lines.len());
            lost = (one..until).collect();
            own.drain(one..until);
            unseen = true;
            "several missing lines"
        }
    };
    JournalChange { bytes: own.concat(), lost, what, unseen_in_form_1: unseen }
}

fn finished(cells: &[Cell]) -> BTreeSet<String> {
    cells.iter().filter(|cell| !cell.stop.cut_short()).map(|cell| cell.id.clone()).collect()
}

/// Resumes the run as `resume` does: adds each missing result (here from `all`), and ends it.
fn end(run: &RunDir, all: &[Cell]) {
    let replayed = run.replay().unwrap();
    let done = finished(&replayed.record.cells);
    let mut journal = writer(run);
    for cell in all.iter().filter(|cell| !done.contains(&cell.id)) {
        journal.append(&cell.clone().into()).unwrap();
    }
    journal.append(&Ending { ended: Ended::Complete, ..Ending::default() }.into()).unwrap();
}

#[test]
fn of_300_damaged_journals_every_other_cell_is_kept_and_the_run_can_be_ended() {
    let sandbox = Sandbox::new();
    let new = fs::read(form_2(&sandbox.store).journal_path()).unwrap();
    let whole = sandbox.store.find("whole").unwrap().replay().unwrap().record;
    let mut chance = Random::new(13);
    let mut seen = BTreeSet::new();
    for number in 0..300 {
        let numbered = number % 2 == 0;
        let text = if numbered { &new[..] } else { FORM_1.as_bytes() };
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let change = change_at_random(&lines, &mut chance, !numbered);
        let run = run_of(sandbox.path(), &change.bytes, numbered.then_some(lines[0]));
        let what = format!("journal {number}, {}", change.what);
        seen.insert(change.what);

        let ids = lines
            .iter()
            .enumerate()
            .filter(|(place, _)| !change.lost.contains(place))
            .filter_map(|(_, line)| cell_of(line));
        let expected: BTreeSet<String> = ids.collect();
        let replayed = run.replay().unwrap_or_else(|error| panic!("{what}: {error}"));
        let kept = finished(&replayed.record.cells);
        assert!(
            expected.is_subset(&kept),
            "{what}: {:?} are gone",
            expected.difference(&kept).collect::<Vec<_>>()
        );
        for cell in &replayed.record.cells {
            assert!(whole.cells.contains(cell), "{what}: {} is not what was measured", cell.id);
        }
        let is_seen = !replayed.damage.is_empty()
            || change.bytes == text
            || change.what == "line ends of another system";
        // Without numbers a missing line can go undetected; at the end nobody knows if lines were
        // ever written.
        let is_the_end = change.lost.contains(&(lines.len() - 1));
        assert!(
            is_seen || is_the_end || !numbered && change.unseen_in_form_1,
            "{what}: nothing was noticed"
        );
        assert!(run.load().is_ok() && run.salvage().is_ok(), "{what}");

        end(&run, &whole.cells);
        let ended = run.replay().unwrap();
        assert_eq!(finished(&ended.record.cells), finished(&whole.cells), "{what}");
        assert_eq!(
            (ended.record.run.ended, ended.torn_tail),
            (Ended::Complete, false),
            "{what}: {:?}",
            ended.damage
        );
        assert_eq!(ended.record.flags, whole.flags, "{what}: the numbers are not accused");
        assert!(
            ended.damage.iter().all(|damage| damage.cells.is_empty()),
            "{what}: {:?}",
            ended.damage
        );
    }
    assert_eq!(seen.len(), 10, "every kind of damage came about: {seen:?}");
}

/// Id of the cell whose result a line holds.
fn cell_of(line: &[u8]) -> Option<String> {
    let entry: serde_json::Value = serde_json::from_slice(&line[9..line.len() - 1]).unwrap();
    entry.get("cell").map(|cell| cell["id"].as_str().unwrap().to_owned())
}

/// Makes a journal of three cells and changes it; returns what is left of it and its messages.
fn after(change: impl FnOnce(&mut Vec<String>)) -> String {
    let sandbox = Sandbox::new();
    let entries = ["a", "b", "c"].map(|id| cell(id).into());
    let run = sandbox.run(
        "one",
        &[&entries[..], &[Ending { ended: Ended::Complete, ..Ending::default() }.into()]].concat(),
    );
    let text = fs::read_to_string(run.journal_path()).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
    change(&mut lines);
    fs::write(run.journal_path(), lines.concat()).unwrap();
    let replayed = run.replay().unwrap();
    let ids: Vec<&str> = replayed.finished_cells().map(|cell| cell.id.as_str()).collect();
    let messages: Vec<String> = replayed.damage.iter().map(Damage::to_string).collect();
    format!("{} {:?}\n{}", ids.join(""), replayed.record.run.ended, messages.join("\n"))
}

#[test]
fn damage_is_reported_with_its_cost() {
    insta::assert_snapshot!(after(|_| {}), @"abc Complete");
    insta::assert_snapshot!(after(|lines| lines[2] = lines[2].replace("4096", "4097")), @r"
    ac Interrupted
    line 3 of the journal is damaged: cell b is measured again by resume
    ");
    insta::assert_snapshot!(after(|lines| lines[0].replace_range(..4, "\0\0\0\0")), @r"
    abc Complete
    line 1 of the journal is damaged: its copy was read instead, nothing is lost
    ");
    insta::assert_snapshot!(after(|lines| drop(lines.drain(2..4))), @r"
    a Interrupted
    lines 3 to 4 of the journal are missing: cells b, c are measured again by resume
    ");
    insta::assert_snapshot!(after(|lines| lines.insert(2, lines[1].clone())), @r"
    abc Complete
    line 2 of the journal is there twice: it counts once
    ");
    insta::assert_snapshot!(after(|lines| lines.swap(1, 2)), @r"
    abc Complete
    line 2 of the journal is out of order: it was read in its place
    ");
    insta::assert_snapshot!(after(|lines| lines[1].push_str("no line\n")), @r"
    abc Complete
    behind line 2 of the journal is something that is not a line of it: it is left out
    ");
    insta::assert_snapshot!(after(|lines| drop(lines.remove(0))), @r"
    abc Complete
    line 1 of the journal is damaged: its copy was read instead, nothing is lost
    ");
    insta::assert_snapshot!(after(|lines| lines[4].truncate(20)), @r"
    abc Interrupted
    the last line of the journal is incomplete: it was being written when the program was ended
    ");
    insta::assert_snapshot!(after(Vec::clear), @r"
     Interrupted
    line 1 of the journal is damaged: its copy was read instead, nothing is lost
    ");
}

#[test]
fn a_line_of_another_journal_is_left_out() {
    let stranger = {
        let sandbox = Sandbox::new();
        let run = sandbox.run("other", &["x", "b"].map(|id| cell(id).into()));
        fs::read_to_string(run.journal_path()).unwrap()
    };
    let line = format!("{}\n", stranger.lines().nth(2).unwrap());
    insta::assert_snapshot!(after(|lines| lines[2] = line), @r"
    ac Interrupted
    behind line 2 of the journal are lines of another run: they are left out
    line 3 of the journal is missing: cell b is measured again by resume
    ");
    insta::assert_snapshot!(after(|lines| lines.push(stranger.clone())), @r"
    abc Complete
    behind line 5 of the journal are lines of another run: they are left out
    ");
    insta::assert_snapshot!(after(|lines| lines.insert(0, stranger.clone())), @r"
    abc Complete
    before line 1 of the journal are lines of another run: they are left out
    ");
}

#[test]
fn without_the_first_line_and_its_copy_what_is_left_can_be_salvaged() {
    let sandbox = Sandbox::new();
    let run = form_2(&sandbox.store);
    let mut bytes = fs::read(run.journal_path()).unwrap();
    bytes[30] ^= 1;
    fs::write(run.journal_path(), &bytes).unwrap();
    fs::remove_file(run.path().join(HEADER_FILE)).unwrap();
    let before = sandbox.tree();
    insta::assert_snapshot!(sandbox.neutral(run.replay().unwrap_err()), @"the journal 'DIR/runs/whole/journal.jsonl' does not say what was run: its first line is damaged (its checksum does not match); start a new run, `flashmark show --salvage` shows what is left of this one");
    let salvage = run.salvage().unwrap();
    let (_, entries) = journal_contents();
    let cells: Vec<Cell> = entries
        .into_iter()
        .filter_map(|entry| if let JournalEntry::Cell(cell) = entry { Some(*cell) } else { None })
        .collect();
    assert_eq!((salvage.cells, salvage.replayed), (cells, None));
    assert_eq!(salvage.damage.len(), 1);
    assert!(salvage.header.is_some());
    assert_eq!(
        (sandbox.tree(), fs::read(run.journal_path()).unwrap()),
        (before, bytes),
        "nothing was written"
    );
}

#[test]
fn a_result_that_is_only_partly_understood_is_shown_as_it_stands() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into()]);
    let mut journal = fs::read_to_string(run.journal_path()).unwrap();
    let of = journal.lines().nth(1).unwrap().split('"').nth(5).unwrap().to_owned();
    let json =
        format!(r#"{{"line":3,"of":"{of}","cell":{{"id":"b","test":"b","stop":"by-magic"}}}}"#);
    journal += &format!(
        "{:08x} {json}\n",
        crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(json.as_bytes())
    );
    fs::write(run.journal_path(), journal).unwrap();
    let replayed = run.replay().unwrap();
    assert!(
        matches!(replayed.damage[..], [Damage { first: 3, kind: LineDamage::Unknown(_), .. }]),
        "{:?}",
        replayed.damage
    );
    let salvage = run.salvage().unwrap();
    assert_eq!(salvage.parts.len(), 1);
    assert_eq!(salvage.parts[0].1["id"], "b");
    assert_eq!(salvage.cells.len(), 1);
}

#[test]
fn a_number_that_no_journal_reaches_is_no_panic() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into()]);
    let mut journal = fs::read_to_string(run.journal_path()).unwrap();
    let of = journal.lines().nth(1).unwrap().split('"').nth(5).unwrap().to_owned();
    let json = format!(r#"{{"line":{},"of":"{of}","begun":"b"}}"#, u64::MAX);
    journal += &format!(
        "{:08x} {json}\nno line\n",
        crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(json.as_bytes())
    );
    fs::write(run.journal_path(), journal).unwrap();
    assert_eq!(run.replay().unwrap().record.cells.len(), 1);
    writer(&run).append(&cell("b").into()).unwrap();
    run.replay().unwrap();
}

#[test]
fn a_journal_without_numbers_is_continued_without_numbers() {
    let sandbox = Sandbox::new();
    let begun: String = FORM_1.split_inclusive('\n').take(8).collect();
    let run = run_of(sandbox.path(), begun.as_bytes(), None);
    let before = run.replay().unwrap();
    assert!(before.damage.is_empty());
    writer(&run).append(&cell("later").into()).unwrap();
    let text = fs::read_to_string(run.journal_path()).unwrap();
    assert!(
        text.starts_with(&begun)
            && text.lines().last().unwrap()[9..].starts_with(r#"{"cell":{"id":"later""#)
    );
    assert_eq!(run.replay().unwrap().record.cells.len(), before.record.cells.len() + 1);
    // After that it has a copy of its first line.
    let mut bytes = text.into_bytes();
    bytes[20] ^= 4;
    fs::write(run.journal_path(), bytes).unwrap();
    assert_eq!(
        run.replay().unwrap().damage,
        [Damage { first: 1, last: 1, kind: LineDamage::Header, cells: Vec::new() }]
    );
}

#[test]
fn a_complete_record_stands_for_a_line_that_was_lost_later() {
    let sandbox = Sandbox::new();
    let run = form_2(&sandbox.store);
    let mut record = run.replay().unwrap().record;
    // A caveat that was given after the end of the run.
    record.cells[0].flags.push(Flag::MayNotLast { written_bytes: 1 });
    run.write_record(&record).unwrap();
    let mut bytes = fs::read(run.journal_path()).unwrap();
    let place = bytes.len() - 400;
    bytes[place] ^= 1;
    fs::write(run.journal_path(), &bytes).unwrap();
    let replayed = run.replay().unwrap();
    assert_eq!((replayed.record, replayed.damage.len()), (record, 1));
    assert!(run.has_its_record());
    assert_eq!(
        sandbox.store.last_unfinished().unwrap(),
        None,
        "it is not taken up again by itself"
    );
}

#[test]
fn a_run_that_ended_without_its_record_is_unfinished() {
    let sandbox = Sandbox::new();
    let run = form_2(&sandbox.store);
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

#[test]
fn hostile_bytes_are_read_in_reasonable_time_and_nothing_is_made_of_them() {
    let sandbox = Sandbox::new();
    let heads = "00000000 {\"a\":[".repeat(1 << 16);
    for bytes in [
        vec![0; 8 << 20],
        vec![b'{'; 1 << 20],
        heads.into_bytes(),
        b"\n".repeat(1 << 16),
        vec![0xff; 1 << 20],
    ] {
        let run = run_of(sandbox.path(), &bytes, None);
        assert!(matches!(run.replay(), Err(JournalError::NoHeader { .. })));
        assert!(run.salvage().unwrap().cells.is_empty());
        let behind = [FORM_1.as_bytes(), &bytes].concat();
        assert_eq!(
            run_of(sandbox.path(), &behind, None).replay().unwrap().record.cells.len(),
            cells_in(FORM_1)
        );
    }
}

fn cells_in(journal: &str) -> usize {
    journal.lines().filter(|line| line[9..].starts_with("{\"cell\"")).count()
}
