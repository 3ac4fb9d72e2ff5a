//! The journal as a file: appended to, refused, full.

use std::fs;

use flashmark_store::{FORM, HEADER_FILE, JournalEntry, JournalError, RunDir, Store};
use record::{Flag, Histogram, Skip};

use crate::common::{Sandbox, cell, limited, writer};

fn entries() -> Vec<JournalEntry> {
    let skip = Skip::new("ext2-fill", "needs a raw medium");
    let mut measured = cell("a");
    let mut histogram = Histogram::default();
    (1..1000).for_each(|n| histogram.record(n * n));
    measured.histogram = Some(histogram);
    vec![
        measured.into(),
        JournalEntry::Skip(skip),
        JournalEntry::Flag(Flag::Note { text: "line\nbreak".to_owned() }),
        cell("b").into(),
    ]
}

fn rewrite(run: &RunDir, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(run.journal_path()).unwrap();
    change(&mut bytes);
    fs::write(run.journal_path(), bytes).unwrap();
}

/// Message of reading a journal of four events after this change, without the copy of its first
/// line. Continuing it gives the same message and changes nothing.
fn refusal(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &entries());
    rewrite(&run, change);
    fs::remove_file(run.path().join(HEADER_FILE)).unwrap();
    let before = fs::read(run.journal_path()).unwrap();
    let error = run.replay().unwrap_err().to_string();
    assert_eq!(run.journal(run.lock().unwrap()).unwrap_err().to_string(), error);
    assert_eq!(fs::read(run.journal_path()).unwrap(), before);
    sandbox.neutral(error)
}

/// Makes a first line with a right checksum.
fn first_line(json: &str) -> Vec<u8> {
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(json.as_bytes());
    format!("{crc:08x} {json}\n").into_bytes()
}

#[test]
fn what_was_appended_is_read_back() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &entries());
    let replayed = run.replay().unwrap();
    let [first, .., last] = &entries()[..] else { unreachable!() };
    assert_eq!(
        replayed.record.cells.iter().cloned().map(JournalEntry::from).collect::<Vec<_>>(),
        [first.clone(), last.clone()]
    );
    assert_eq!(replayed.command, crate::common::opening("one").command);
    assert_eq!(replayed.unread, None);
    let text = fs::read_to_string(run.journal_path()).unwrap();
    assert_eq!(text.lines().count(), 5, "one line each");
    assert!(text.lines().next().unwrap().contains(FORM));
}

#[test]
fn a_journal_that_does_not_say_what_was_run_is_refused_with_advice() {
    let changes: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes[3] ^= 1,
        |bytes| *bytes = first_line(r#"{"form":"shopping-list/7"}"#),
        Vec::clear,
        |bytes| bytes.truncate(40),
    ];
    for change in changes {
        insta::allow_duplicates! {
            insta::assert_snapshot!(refusal(change), @"the journal 'DIR/runs/one/journal.jsonl' does not say what was run: its first line and the copy of it are damaged; start a new run");
        }
    }
    insta::assert_snapshot!(refusal(|bytes| *bytes = first_line(r#"{"form":"flashmark-journal/2"}"#)), @"the journal 'DIR/runs/one/journal.jsonl' does not say what was run: missing field `opening`; start a new run");
    insta::assert_snapshot!(refusal(|bytes| *bytes = first_line(r#"{"form":"flashmark-journal/3","news":[]}"#)), @"the journal 'DIR/runs/one/journal.jsonl' is of form 'flashmark-journal/3', this version reads 'flashmark-journal/2'; a newer flashmark can resume it");
}

#[test]
fn a_missing_journal_names_itself() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    fs::remove_file(run.journal_path()).unwrap();
    insta::assert_snapshot!(sandbox.neutral(run.replay().unwrap_err()), @"cannot read the journal 'DIR/runs/one/journal.jsonl': No such file or directory (os error 2); name another run, `flashmark runs` lists them");
}

#[test]
fn a_number_that_json_cannot_hold_is_refused_and_spoils_nothing() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into()]);
    let mut journal = writer(&run);
    let mut odd = cell("b");
    odd.params.other.insert("share".to_owned(), f64::NAN);
    let error = journal.append(&odd.into()).unwrap_err();
    assert!(matches!(error, JournalError::Unrepresentable(_)), "{error}");
    journal.append(&cell("c").into()).unwrap();
    assert_eq!(
        run.replay().unwrap().finished_cells().map(|cell| &cell.id).collect::<Vec<_>>(),
        ["a", "c"]
    );
}

#[test]
fn a_full_medium_leaves_whole_lines_only() {
    // A limit on the size of files stops write(2) in the middle of a line, as a full file system
    // does.
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into()]);
    limited("trap '' XFSZ; ulimit -f 100", "journal::limited_writer", &sandbox);
    let replayed = run.replay().unwrap();
    assert_eq!(replayed.unread, None);
    assert_eq!(replayed.finished_cells().map(|cell| &cell.id).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
#[ignore = "runs as a process of its own, with a limit on the size of files"]
fn limited_writer() {
    let run =
        Store::open(std::env::var_os("FLASHMARK_TEST_ROOT").unwrap().into()).find("one").unwrap();
    let mut journal = writer(&run);
    let mut large = cell("b");
    large.reason = Some("x".repeat(1 << 20));
    let error = journal.append(&large.into()).unwrap_err();
    assert!(matches!(error, JournalError::Write(_)), "{error}");
    journal.append(&cell("c").into()).unwrap();
}
