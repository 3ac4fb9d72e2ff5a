//! Replay of a journal to a record.

use flashmark_store::{Ending, HEADER_FILE, JournalEntry, RECORD_FILE, Resumed};
use record::{Ended, Flag, Health, Skip, Stop, Temperature};

use crate::common::{Sandbox, cell, host, software};

fn ending(ended: Ended, elapsed_ns: u64) -> JournalEntry {
    JournalEntry::Ended(Ending {
        ended,
        finished: Some("2026-01-01T00:00:00Z".to_owned()),
        elapsed_ns,
        ..Ending::default()
    })
}

fn resumed(kernel: &str, version: &str) -> JournalEntry {
    Resumed { started: None, host: Some(host(kernel)), software: software(version) }.into()
}

#[test]
fn a_run_without_an_end_was_interrupted() {
    let run = Sandbox::new();
    let record = run.run("one", &[cell("a").into(), cell("b").into()]).replay().unwrap().record;
    assert_eq!(
        (record.run.ended, record.run.elapsed_ns, record.run.finished),
        (Ended::Interrupted, 2_000, None)
    );
    assert_eq!(record.run.seed, u64::MAX, "a seed needs all its bits");
}

#[test]
fn an_ending_holds_until_the_run_is_taken_up_again() {
    let sandbox = Sandbox::new();
    let mut events = vec![cell("a").into(), ending(Ended::Interrupted, 5_000)];
    let ended = sandbox.run("one", &events).replay().unwrap().record.run;
    assert_eq!((ended.ended, ended.elapsed_ns, ended.resumed), (Ended::Interrupted, 5_000, 0));
    assert_eq!(ended.finished.as_deref(), Some("2026-01-01T00:00:00Z"));

    events.extend([resumed("6.12", "0.1.0"), cell("b").into()]);
    let again = sandbox.run("two", &events).replay().unwrap().record;
    assert_eq!(
        (again.run.ended, again.run.elapsed_ns, again.run.resumed),
        (Ended::Interrupted, 6_000, 1)
    );
    assert_eq!((again.run.finished, again.flags), (None, Vec::new()));

    events.push(ending(Ended::Complete, 9_000));
    let done = sandbox.run("three", &events).replay().unwrap().record.run;
    assert_eq!((done.ended, done.elapsed_ns, done.resumed), (Ended::Complete, 9_000, 1));
}

#[test]
fn a_repeated_cell_replaces_the_first_try_in_its_place() {
    let sandbox = Sandbox::new();
    let mut failed = cell("a");
    failed.stop = Stop::Error;
    let before = sandbox.run("one", &[failed.clone().into(), cell("b").into()]).replay().unwrap();
    assert_eq!(before.finished_cells().map(|cell| &cell.id).collect::<Vec<_>>(), ["b"]);
    let after =
        sandbox.run("two", &[failed.into(), cell("b").into(), cell("a").into()]).replay().unwrap();
    assert_eq!(after.record.cells, [cell("a"), cell("b")]);
    assert_eq!(after.finished_cells().map(|cell| &cell.id).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn another_host_and_another_version_are_caveats_given_once() {
    let sandbox = Sandbox::new();
    let events = [resumed("6.13", "0.2.0"), resumed("6.13", "0.2.0")];
    let record = sandbox.run("one", &events).replay().unwrap().record;
    assert_eq!((record.run.resumed, record.host), (2, Some(host("6.12"))));
    let notes: Vec<String> = record.flags.iter().map(Flag::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"), @r#"
    begun with flashmark 0.1.0, resumed with flashmark 0.2.0
    resumed on a changed host: kernel '6.12', then '6.13'
    "#);
}

#[test]
fn what_a_resumed_run_finds_again_is_listed_once() {
    let sandbox = Sandbox::new();
    let skip = JournalEntry::Skip(Skip::new("prime", "no time"));
    let flag = JournalEntry::Flag(Flag::Throttled);
    let record =
        sandbox.run("one", &[skip.clone(), flag.clone(), skip, flag]).replay().unwrap().record;
    assert_eq!((record.skipped.len(), record.flags.len()), (1, 1));
}

#[test]
fn temperatures_of_the_end_join_those_of_the_start() {
    let sandbox = Sandbox::new();
    let reading = |sensor: &str, start_celsius, end_celsius| Temperature {
        sensor: sensor.to_owned(),
        start_celsius,
        end_celsius,
    };
    let mut opening = crate::common::opening("one");
    opening.host.as_mut().unwrap().temperatures = vec![reading("cpu", Some(40.0), None)];
    let run = sandbox.store.create("one", &opening).unwrap();
    let temperatures = vec![reading("cpu", None, Some(55.5)), reading("nvme", None, Some(60.0))];
    crate::common::writer(&run)
        .append(&JournalEntry::Ended(Ending { temperatures, ..Ending::default() }))
        .unwrap();
    let host = run.replay().unwrap().record.host.unwrap();
    assert_eq!(
        host.temperatures,
        [reading("cpu", Some(40.0), Some(55.5)), reading("nvme", None, Some(60.0))]
    );
}

#[test]
fn health_of_the_end_stands_beside_that_of_the_start_and_is_not_lost_by_a_later_ending() {
    let sandbox = Sandbox::new();
    let health = |used| Some(Health { used_percent: Some(used), ..Health::default() });
    let mut opening = crate::common::opening("one");
    opening.medium.health = health(10.0);
    let run = sandbox.store.create("one", &opening).unwrap();
    let mut journal = crate::common::writer(&run);
    journal
        .append(&JournalEntry::Ended(Ending { health: health(20.0), ..Ending::default() }))
        .unwrap();
    journal.append(&JournalEntry::Ended(Ending::default())).unwrap();
    let medium = run.replay().unwrap().record.medium;
    assert_eq!((medium.health, medium.health_after), (health(10.0), health(20.0)));
}

#[test]
fn the_written_record_is_shown_until_the_journal_is_ahead() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into(), ending(Ended::Interrupted, 5_000)]);
    let mut record = run.replay().unwrap().record;
    record.flags.push(Flag::Throttled); // stands for the findings, which only the written record has
    run.write_record(&record).unwrap();
    assert_eq!(run.load().unwrap(), record);

    let mut journal = crate::common::writer(&run);
    journal.append(&resumed("6.12", "0.1.0")).unwrap();
    journal.append(&cell("b").into()).unwrap();
    let live = run.load().unwrap();
    assert_eq!((live.cells.len(), live.run.ended), (2, Ended::Running));
    drop(journal);
    assert_eq!(run.load().unwrap().run.ended, Ended::Interrupted);
}

#[test]
fn of_record_and_journal_either_is_enough() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("one", &[cell("a").into(), ending(Ended::Complete, 5_000)]);
    let record = run.replay().unwrap().record;
    std::fs::write(run.record_path(), "{").unwrap();
    assert_eq!(run.load().unwrap(), record, "a damaged record");
    run.write_record(&record).unwrap();
    std::fs::write(run.journal_path(), "damaged\nlines\n").unwrap();
    std::fs::remove_file(run.path().join(HEADER_FILE)).unwrap();
    assert_eq!(run.load().unwrap(), record, "a damaged journal");
    std::fs::remove_file(run.journal_path()).unwrap();
    assert_eq!(run.load().unwrap(), record, "no journal");
    std::fs::write(run.record_path(), "{").unwrap();
    insta::assert_snapshot!(sandbox.neutral(run.load().unwrap_err()), @"'DIR/runs/one/record.json': not a flashmark record: EOF while parsing an object at line 1 column 1");
    std::fs::write(run.path().join(RECORD_FILE), r#"{"schema":"flashmark/2"}"#).unwrap();
    insta::assert_snapshot!(sandbox.neutral(run.load().unwrap_err()), @"'DIR/runs/one/record.json': the record is of form 'flashmark/2', this version reads 'flashmark/1'; a newer flashmark reads it");
}
