use std::path::Path;
use std::process::Command;

use super::file::{CACTI, CurrentRows, Shape};
use super::page::dirty_pages;
use super::*;

/// Runs rrdtool; false (and said) where it is not installed.
fn rrdtool(words: &str) -> bool {
    let mut command = Command::new("rrdtool");
    let command = command.args(words.split_whitespace()).env("LC_ALL", "C").env("TZ", "UTC");
    let Ok(output) = command.output() else {
        println!(
            "rrdtool is not installed: files and writes are checked against the published layout only"
        );
        return false;
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "rrdtool {words}: {said}");
    true
}

/// Makes a file of two sources with rrdtool.
fn create(path: &Path, shape: &Shape, start_s: u64) -> bool {
    let Shape { step_s, .. } = shape;
    let mut words = format!("create {} --start {start_s} --step {step_s}", path.display());
    for number in 0..2 {
        words += &format!(" DS:source_{number}:GAUGE:{}:0:U", 2 * step_s);
    }
    for consolidation in ["AVERAGE", "MAX"] {
        for (steps, rows) in CACTI {
            words += &format!(" RRA:{consolidation}:0.5:{steps}:{rows}");
        }
    }
    rrdtool(&words)
}

/// The rows of a file that rrdtool has just made: its own choice.
fn rows_of(path: &Path, shape: &Shape) -> CurrentRows {
    let bytes = std::fs::read(path).unwrap();
    let pointers = &bytes[(shape.header_bytes() - shape.live_pieces()[3]) as usize..];
    let mut rows = pointers.chunks(8).map(|row| u64::from_le_bytes(row.try_into().unwrap()));
    CurrentRows::drawn(shape, |_| rows.next().unwrap())
}

#[test]
fn files_have_the_published_layout() {
    let offsets = |sources| {
        let shape = Shape::cacti(sources);
        let starts: Vec<u64> = (0..8).map(|archive| shape.archive_offset(archive)).collect();
        (shape.header_bytes(), starts, shape.file_bytes())
    };
    assert_eq!(
        offsets(2),
        (2912, vec![2912, 12512, 23712, 36112, 48864, 58464, 69664, 82064], 94816)
    );
    assert_eq!(
        offsets(1),
        (2040, vec![2040, 6840, 12440, 18640, 25016, 29816, 35416, 41616], 47992)
    );
}

/// docs/field/rrdtool.md#rrdtool: three pages each poll, two more every 30 minutes, two more every
/// 2 hours, two more every 24 hours.
#[test]
fn a_poll_dirties_the_published_pages() {
    let shape = Shape::cacti(2);
    let midnight = 1_700_006_400;
    // Rows in the middle of a page, so that none shares the header's.
    let mut current = CurrentRows::drawn(&shape, |rows| rows / 2);
    for poll in 1..=288 {
        let rows = current.update(&shape, midnight + 300 * poll);
        let archives =
            2 + [6, 24, 288].into_iter().filter(|steps| poll.is_multiple_of(*steps)).count() as u64
                * 2;
        assert_eq!(rows.len() as u64, archives, "poll {poll}");
        assert!(dirty_pages(&shape, &rows).len() as u64 <= archives + 1);
    }
}

/// The pages that the real rrdtool changes, against those that we write; all polls of half a day,
/// for each of two files.
#[test]
fn the_pages_of_a_poll_are_rrdtools() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.rrd");
    let (shape, start_s) = (Shape::cacti(2), 1_700_006_400);
    let (mut our_pages, mut their_pages) = (0, 0);
    for file in 0..2 {
        if !create(&path, &shape, start_s) {
            return;
        }
        let mut current = rows_of(&path, &shape);
        for poll in 1..=144 {
            let at_s = start_s + poll * 300 + 7;
            let before = std::fs::read(&path).unwrap();
            let reading = poll * 1000 + file;
            rrdtool(&format!("update {} {at_s}:{reading}:{poll}", path.display()));
            let after = std::fs::read(&path).unwrap();
            their_pages += before
                .chunks(4096)
                .zip(after.chunks(4096))
                .filter(|(before, after)| before != after)
                .count();
            our_pages += dirty_pages(&shape, &current.update(&shape, at_s)).len();
        }
        std::fs::remove_file(&path).unwrap();
    }
    let ratio = our_pages as f64 / their_pages as f64;
    assert!((ratio - 1.0).abs() <= 0.05, "we write {our_pages} pages, rrdtool {their_pages}");
}

#[test]
fn a_server_falls_behind_by_what_its_polls_take_too_long() {
    assert_eq!(backlog(&[100, 200, 299], 300), [0, 0]);
    assert_eq!(backlog(&[350, 350, 350], 300), [150, 150]);
    assert_eq!(backlog(&[700, 100, 100, 100], 300), [0, 400]);
    assert_eq!(backlog(&[], 300), [0, 0]);
}
