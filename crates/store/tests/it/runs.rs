//! Making, naming, listing and locking runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flashmark_store::{
    CreateError, Ending, HEADER_FILE, JournalEntry, RunDir, Store, atomic_write,
};
use record::Ended;

use crate::common::{Sandbox, cell, opening, writer};

fn complete() -> JournalEntry {
    JournalEntry::Ended(Ending { ended: Ended::Complete, ..Ending::default() })
}

/// Gives a run this journal, and removes the copy of its first line.
fn headless(run: &RunDir, journal: &str) {
    fs::write(run.journal_path(), journal).unwrap();
    fs::remove_file(run.path().join(HEADER_FILE)).unwrap();
}

fn names(sandbox: &Sandbox) -> Vec<String> {
    sandbox.store.runs().unwrap().iter().map(|run| run.dir.name().to_owned()).collect()
}

#[test]
fn a_new_run_is_its_directory_with_a_journal_the_copy_of_its_first_line_and_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.store.create("one", &opening("one")).unwrap();
    let tree: Vec<String> = sandbox.tree().iter().map(|path| path.display().to_string()).collect();
    assert_eq!(tree, ["runs", "runs/one", "runs/one/header.jsonl", "runs/one/journal.jsonl"]);
    assert_eq!(
        fs::metadata(sandbox.store.root()).unwrap().permissions().mode() & 0o777,
        0o700,
        "serial numbers are in there"
    );
}

#[test]
fn what_a_killed_process_had_begun_is_swept_away_and_nothing_else() {
    let sandbox = Sandbox::new();
    let store = &sandbox.store;
    // No process has this number: Linux gives out 2^22 at most.
    let (dead, alive) = (
        store.root().join(".flashmark-4194305-0.tmp"),
        store.root().join(format!(".flashmark-{}-9.tmp", std::process::id())),
    );
    let other = store.root().join(".flashmark-notes");
    for dir in [&dead, &alive, &other] {
        fs::create_dir_all(dir.join("inside")).unwrap();
    }
    store.create("run", &opening("run")).unwrap();
    assert_eq!([dead.exists(), alive.exists(), other.exists()], [false, true, true]);
}

#[test]
fn a_taken_id_gets_a_number_and_the_record_keeps_its_id() {
    let sandbox = Sandbox::new();
    let made: Vec<RunDir> = (0..11).map(|_| sandbox.run("sim", &[])).collect();
    assert_eq!(made[0].name(), "sim");
    assert_eq!(made[1].name(), "sim-2");
    assert_eq!(made[10].name(), "sim-11");
    assert!(made.iter().all(|run| run.replay().unwrap().record.run.id == "sim"));
    fs::write(sandbox.store.root().join("file"), "").unwrap();
    assert_eq!(sandbox.run("file", &[]).name(), "file-2");
}

#[test]
fn an_id_is_no_path() {
    let sandbox = Sandbox::new();
    for id in ["", ".", "..", "a/b", "/tmp/x", ".hidden", "a\nb", "a/"] {
        assert!(
            matches!(sandbox.store.create(id, &opening(id)), Err(CreateError::BadId(_))),
            "{id:?}"
        );
        let run = sandbox.run("good", &[]);
        assert!(run.write_file(id, b"x").is_err(), "{id:?}");
    }
    insta::assert_snapshot!(sandbox.store.create("../up", &opening("x")).unwrap_err(), @"'../up' cannot name a run; use letters, digits, '-' and '_'");
}

#[test]
fn a_store_that_cannot_be_made_is_refused_with_the_reason() {
    let sandbox = Sandbox::new();
    atomic_write(sandbox.path().join("file"), b"").unwrap();
    let store = Store::open(sandbox.path().join("file/runs"));
    insta::assert_snapshot!(sandbox.neutral(store.create("one", &opening("one")).unwrap_err()), @"cannot write 'DIR/file/runs': 'DIR/file' is not a directory; name another");
}

#[test]
fn a_store_that_someone_else_made_where_everyone_may_is_not_trusted() {
    let sandbox = Sandbox::new();
    let shared = sandbox.path().join("shared");
    let root = shared.join("runs");
    fs::create_dir_all(&root).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let store = Store::open(root.clone());
    assert!(store.create("mine", &opening("mine")).is_ok());
    // Only root can give a directory away.
    if std::os::unix::fs::chown(&root, Some(4242), None).is_ok() {
        insta::assert_snapshot!(sandbox.neutral(store.create("one", &opening("one")).unwrap_err()), @"'DIR/shared/runs' belongs to user 4242, not to you; set FLASHMARK_HOME to a directory of your own");
    }
}

#[test]
fn the_list_shows_the_state_of_each_run_and_damaged_ones_too() {
    let sandbox = Sandbox::new();
    assert!(sandbox.store.runs().unwrap().is_empty(), "no store, no runs");
    sandbox.run("1-done", &[cell("a").into(), cell("b").into(), cell("c").into(), complete()]);
    let live = sandbox.run("2-live", &[]);
    let _writing = writer(&live);
    headless(&sandbox.run("3-damaged", &[cell("a").into()]), "0\n1\n");
    sandbox.run("4-killed", &[cell("a").into()]);
    fs::create_dir(sandbox.store.root().join("5-empty")).unwrap();
    fs::create_dir(sandbox.store.root().join(".flashmark-1-0.tmp")).unwrap();

    let mut lines: Vec<String> = sandbox
        .store
        .runs()
        .unwrap()
        .into_iter()
        .map(|run| {
            let state = match run.overview {
                Ok(it) => format!(
                    "{} {} {:?} {}/{}",
                    it.medium, it.suite, it.ended, it.cells_done, it.cells_planned
                ),
                Err(reason) => sandbox.neutral(reason),
            };
            format!("{}: {state}", run.dir.name())
        })
        .collect();
    lines.sort();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    1-done: sim:card quick Complete 3/3
    2-live: sim:card quick Running 0/3
    3-damaged: the journal 'DIR/runs/3-damaged/journal.jsonl' does not say what was run: its first line and the copy of it are damaged; start a new run
    4-killed: sim:card quick Interrupted 1/3
    5-empty: cannot read the journal 'DIR/runs/5-empty/journal.jsonl': No such file or directory (os error 2); name another run, `flashmark runs` lists them
    "#);
}

#[test]
fn the_run_written_last_is_the_latest() {
    let sandbox = Sandbox::new();
    let first = sandbox.run("first", &[]);
    sandbox.run("second", &[]);
    assert_eq!(sandbox.store.find("latest").unwrap().name(), "second");
    // The file system's clock may not have moved on since; the test sets a later time than any it
    // gave.
    let journal = fs::File::options().append(true).open(first.journal_path()).unwrap();
    journal
        .set_modified(
            fs::metadata(first.journal_path()).unwrap().modified().unwrap()
                + std::time::Duration::from_secs(60),
        )
        .unwrap();
    assert_eq!(sandbox.store.find("latest").unwrap().name(), "first");
    assert_eq!(names(&sandbox), ["second", "first"]);
}

#[test]
fn a_run_is_found_by_name_beginning_and_path() {
    let sandbox = Sandbox::new();
    for id in ["2026-01-01-card", "2026-01-02-stick", "2026-01-02-stick-old"] {
        let run = sandbox.run(id, &[complete()]);
        run.write_record(&run.replay().unwrap().record).unwrap();
    }
    let copy = sandbox.path().join("copy.json");
    fs::copy(sandbox.store.find("2026-01-01").unwrap().record_path(), &copy).unwrap();
    let dir = sandbox.store.root().join("2026-01-01-card");
    let path = |name: &str| dir.join(name).display().to_string();
    for (typed, found) in [
        ("2026-01-01-card", "2026-01-01-card"),
        ("2026-01-01", "2026-01-01-card"),
        ("2026-01-02-stick", "2026-01-02-stick"),
        ("2026-01-02-stick-", "2026-01-02-stick-old"),
        (&path(""), "2026-01-01-card"),
        (&path("record.json"), "2026-01-01-card"),
        (&path("journal.jsonl"), "2026-01-01-card"),
        (&path("../2026-01-01-card"), "2026-01-01-card"),
        (copy.to_str().unwrap(), "copy"),
    ] {
        assert_eq!(sandbox.store.find(typed).unwrap().name(), found, "{typed}");
    }
    let single = sandbox.store.find(copy.to_str().unwrap()).unwrap();
    assert_eq!(single.load().unwrap().run.id, "2026-01-01-card");
    insta::assert_snapshot!(sandbox.neutral(single.lock().unwrap_err()), @"'DIR/copy.json' is a record without its journal; it can be shown, not resumed");
    insta::assert_snapshot!(sandbox.neutral(single.replay().unwrap_err()), @"'DIR/copy.json' is a record without its journal; it can be shown, not resumed");
}

#[test]
fn the_last_unfinished_run_is_neither_complete_nor_live_nor_damaged() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.store.last_unfinished().unwrap(), None);
    let wanted = sandbox.run("a-killed", &[cell("a").into()]);
    let done = sandbox.run("b-done", &[complete()]);
    done.write_record(&done.replay().unwrap().record).unwrap();
    let _writing = writer(&sandbox.run("c-live", &[]));
    headless(&sandbox.run("d-damaged", &[]), "");
    assert_eq!(sandbox.store.last_unfinished().unwrap(), Some(wanted));
}

#[test]
fn a_run_has_one_writer() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[]);
    let lock = run.lock().unwrap();
    assert!(run.is_being_written());
    let message = run.lock().unwrap_err().to_string();
    insta::assert_snapshot!(message.replace(&std::process::id().to_string(), "PROCESS"), @"run 'one' is being written by process PROCESS; wait for it, or end it first");
    drop(lock);
    assert!(!run.is_being_written());
    run.lock().unwrap();
}
