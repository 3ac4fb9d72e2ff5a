//! kill -9 at any moment loses no cell that was acknowledged.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use flashmark_store::{Resumed, Store};

use crate::common::{cell, opening, writer};

const ROOT: &str = "FLASHMARK_TEST_ROOT";
const RUN: &str = "crash";
const KILLS: u64 = 50;

/// Takes the run up where it is and adds cells until it is killed, saying each number once it is
/// safe.
#[test]
#[ignore = "runs as a process of its own, which the crash test kills"]
fn endless_writer() {
    let mut output = std::io::stdout().lock();
    writeln!(output, "begun").unwrap();
    let store = Store::open(std::env::var_os(ROOT).unwrap().into());
    let run = store.find(RUN).unwrap_or_else(|_| store.create(RUN, &opening(RUN)).unwrap());
    let mut journal = writer(&run);
    journal.append(&Resumed::default().into()).unwrap();
    let done = run.replay().unwrap().record.cells.len();
    for number in done.. {
        let mut cell = cell(&number.to_string());
        // Lines of many pages, so that a kill also falls into the middle of a write.
        cell.reason = Some("x".repeat(number % 7 * 50_000));
        journal.append(&cell.into()).unwrap();
        writeln!(output, "safe {number}").unwrap();
    }
}

/// Lets a writer live for a while after it has begun to write, and kills it; the last number it
/// acknowledged. How long a process takes to start is no matter of the store's.
fn killed_after(life: Duration, root: &Path) -> Option<usize> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "crash::endless_writer", "--nocapture"]);
    let mut child = command.env(ROOT, root).stdout(Stdio::piped()).spawn().unwrap();
    let mut pipe = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    while !said.ends_with("begun\n") {
        assert!(pipe.read_line(&mut said).unwrap() > 0, "the writer did not begin: {said}");
    }
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        pipe.read_to_string(&mut said).unwrap();
        said
    });
    std::thread::sleep(life);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "the writer ended before it was killed");
    let said = reader.join().unwrap();
    let whole_lines = said.rsplit_once('\n').map_or("", |(lines, _)| lines);
    whole_lines.lines().filter_map(|line| line.strip_prefix("safe ")?.parse().ok()).next_back()
}

#[test]
fn no_acknowledged_cell_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("runs");
    let (mut acknowledged, mut survived, mut torn) = (0, 0, 0);
    for kill in 0..KILLS {
        // Spread over the first instants, in which the run is made, and the writing after; no two
        // alike.
        let life = Duration::from_micros(kill * 7_919 % 90_000);
        if let Some(last) = killed_after(life, &root) {
            assert!(last + 1 >= acknowledged, "numbers go on where they stopped");
            survived += last + 1 - acknowledged;
            acknowledged = last + 1;
        }
        let Ok(run) = Store::open(root.clone()).find(RUN) else {
            assert_eq!(acknowledged, 0);
            continue;
        };
        let replayed = run.replay().unwrap();
        torn += usize::from(replayed.torn_tail);
        let ids: Vec<usize> =
            replayed.record.cells.iter().map(|cell| cell.id.parse().unwrap()).collect();
        assert_eq!(ids, (0..ids.len()).collect::<Vec<_>>(), "no gap, no doubles");
        assert!(
            ids.len() >= acknowledged,
            "{} of {acknowledged} acknowledged cells are left",
            ids.len()
        );
        // Kept small, or reading it would take most of the time.
        if ids.len() > 150 {
            std::fs::remove_dir_all(run.path()).unwrap();
            acknowledged = 0;
        }
    }
    assert!(survived > 0, "no writer lived long enough to acknowledge anything");
    writeln!(std::io::stderr(), "{KILLS} kills: {survived} acknowledged cells, {torn} torn lines")
        .unwrap();
}
