use std::path::Path;
use std::process::Command;

use super::file::{RowWrite, Shape, State};
use super::page::dirty_pages;
use super::poll::write_update;
use super::*;

/// rrdtool's answer; `None` (and said) where it is not installed.
fn rrdtool(words: &[String]) -> Option<Vec<u8>> {
    let Ok(output) =
        Command::new("rrdtool").args(words).env("LC_ALL", "C").env("TZ", "UTC").output()
    else {
        println!(
            "rrdtool is not installed: files and writes are checked against the published layout only"
        );
        return None;
    };
    assert!(
        output.status.success(),
        "rrdtool {}: {}",
        words.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(output.stdout)
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Makes a file with rrdtool.
fn create(path: &Path, shape: &Shape, start_s: u64) -> Option<()> {
    let mut words =
        words(&format!("create {} --start {start_s} --step {}", path.display(), shape.step_s));
    words.extend(
        shape.sources.iter().map(|source| format!("DS:{source}:GAUGE:{}:0:U", shape.heartbeat_s)),
    );
    for consolidation in ["AVERAGE", "MAX"] {
        words.extend(
            [(1, 600), (6, 700), (24, 775), (288, 797)]
                .map(|(steps, rows)| format!("RRA:{consolidation}:0.5:{steps}:{rows}")),
        );
    }
    rrdtool(&words).map(|_| ())
}

fn typed(at_s: u64, readings: &[Option<u64>]) -> String {
    let values = readings
        .iter()
        .map(|reading| reading.map_or_else(|| "U".into(), |value| value.to_string()));
    std::iter::once(at_s.to_string()).chain(values).collect::<Vec<_>>().join(":")
}

/// The state of a file that rrdtool has just made: its own choice of rows.
fn state_of(path: &Path, shape: &Shape, start_s: u64) -> State {
    let bytes = std::fs::read(path).unwrap();
    let pointers = &bytes[(shape.header_bytes() - shape.live_pieces()[3]) as usize..];
    let mut rows = pointers.chunks(8).map(|row| u64::from_le_bytes(row.try_into().unwrap()));
    State::created(shape, start_s, |_| rows.next().unwrap())
}

/// Writes an update of ours; what it wrote.
fn update(
    path: &Path,
    shape: &Shape,
    state: &mut State,
    at_s: u64,
    readings: &[Option<u64>],
) -> (Vec<RowWrite>, (u64, u64)) {
    let rows = state.update(shape, at_s, readings);
    let written = write_update(path, shape, &state.live(), &rows).unwrap();
    (rows, written)
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
    let mut state = State::created(&shape, midnight, |rows| rows / 2);
    for poll in 1..=288 {
        let rows = state.update(&shape, midnight + 300 * poll, &[Some(poll), Some(7)]);
        let archives =
            2 + [6, 24, 288].into_iter().filter(|steps| poll.is_multiple_of(*steps)).count() as u64
                * 2;
        assert_eq!(rows.len() as u64, archives, "poll {poll}");
        assert!(dirty_pages(&shape, &rows).len() as u64 <= archives + 1);
        assert!(rows.iter().all(|row| row.values.len() == 16));
    }
}

#[test]
fn a_new_file_is_rrdtools_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.rrd");
    for (sources, start_s) in [(1, 1_700_000_000), (2, 1_700_006_400), (3, 1_600_000_123)] {
        let shape = Shape::cacti(sources);
        if create(&path, &shape, start_s).is_none() {
            return;
        }
        let ours = state_of(&path, &shape, start_s).image(&shape);
        assert!(ours == std::fs::read(&path).unwrap(), "{sources} sources from {start_s}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// 26 hours of polls, early and late in their step, now and then two in one, with readings that are
/// missing: both files are the same to the bit after each hour.
#[test]
fn updates_are_rrdtools_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let [theirs, ours] = ["theirs.rrd", "ours.rrd"].map(|name| folder.path().join(name));
    let (shape, start_s) = (Shape::cacti(2), 1_700_000_000);
    if create(&theirs, &shape, start_s).is_none() {
        return;
    }
    let mut state = state_of(&theirs, &shape, start_s);
    std::fs::write(&ours, state.image(&shape)).unwrap();
    let mut random = stats::Random::for_purpose(3, "readings");
    let mut at_s = start_s;
    for batch in 0..26 {
        let mut typed_updates = Vec::new();
        for number in 0..14 {
            // Twelve steps an hour; the thirteenth and fourteenth reading come within the last of
            // them.
            let next_step = (at_s / 300 + 1) * 300;
            at_s = if number < 12 {
                next_step + random.below(250)
            } else {
                at_s + 1 + random.below(20)
            };
            let readings =
                [0, 1].map(|_| (random.below(12) > 0).then(|| random.below(2_000_000_000)));
            update(&ours, &shape, &mut state, at_s, &readings);
            typed_updates.push(typed(at_s, &readings));
        }
        rrdtool(
            &[vec!["update".into(), theirs.display().to_string()], typed_updates.clone()].concat(),
        );
        let [left, right] = [&theirs, &ours].map(|path| std::fs::read(path).unwrap());
        let apart = left.iter().zip(&right).position(|(a, b)| a != b);
        assert_eq!((apart, left.len()), (None, right.len()), "batch {batch}: {typed_updates:?}");
    }
    let dump = |path: &Path| rrdtool(&words(&format!("dump {}", path.display()))).unwrap();
    assert!(dump(&ours) == dump(&theirs) && dump(&ours).len() > 100_000);
    let fetched = rrdtool(&words(&format!(
        "fetch {} AVERAGE --start {start_s} --end {at_s}",
        ours.display()
    )))
    .unwrap();
    assert!(
        String::from_utf8(fetched).unwrap().lines().filter(|line| line.contains("e+")).count()
            > 250
    );
}

/// The pages that the real rrdtool changes, against those that we write; all polls of a day, for
/// each file.
#[test]
fn the_pages_of_a_poll_are_rrdtools() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.rrd");
    let (shape, start_s) = (Shape::cacti(2), 1_700_006_400);
    let (mut our_pages, mut their_pages) = (0, 0);
    for file in 0..2 {
        if create(&path, &shape, start_s).is_none() {
            return;
        }
        let mut state = state_of(&path, &shape, start_s);
        for poll in 1..=144 {
            let (at_s, readings) =
                (start_s + poll * 300 + 7, [Some(poll * 1000 + file), Some(poll)]);
            let before = std::fs::read(&path).unwrap();
            rrdtool(
                &[vec!["update".into(), path.display().to_string()], vec![typed(at_s, &readings)]]
                    .concat(),
            );
            let after = std::fs::read(&path).unwrap();
            their_pages += before
                .chunks(4096)
                .zip(after.chunks(4096))
                .filter(|(before, after)| before != after)
                .count();
            our_pages += dirty_pages(&shape, &state.update(&shape, at_s, &readings)).len();
        }
        std::fs::remove_file(&path).unwrap();
    }
    let ratio = our_pages as f64 / their_pages as f64;
    assert!((ratio - 1.0).abs() <= 0.05, "we write {our_pages} pages, rrdtool {their_pages}");
}

/// What strace sees: an rrdtool built without memory maps writes as we do; one with them (the
/// default) opens, locks and maps the file, so that its writes are seen by pages only.
#[test]
fn the_calls_of_an_update_are_rrdtools() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.rrd");
    let (shape, start_s) = (Shape::cacti(2), 1_700_006_400);
    if create(&path, &shape, start_s).is_none() {
        return;
    }
    let mut state = state_of(&path, &shape, start_s);
    let readings = [Some(1), Some(2)];
    let calls = ["-e", "trace=openat,close,fcntl,mmap,write,pwrite64,writev,pwritev,lseek", "-P"];
    let traced = Command::new("strace")
        .args(calls)
        .arg(&path)
        .arg("rrdtool")
        .arg("update")
        .arg(&path)
        .arg(typed(start_s + 300, &readings))
        .output();
    let Some(traced) = traced.ok().filter(|output| output.status.success()) else {
        println!(
            "strace is not installed or not allowed here: the calls of rrdtool are not compared"
        );
        return;
    };
    let traced = String::from_utf8_lossy(&traced.stderr).into_owned();
    let has = |call: &str| traced.lines().any(|line| line.starts_with(call));
    assert!(has("openat(") && traced.contains("O_RDWR"), "{traced}");
    if traced.lines().any(|line| line.starts_with("mmap(") && line.contains("MAP_SHARED")) {
        assert!(
            !has("write(") && !has("pwrite64("),
            "it maps the file and writes to it as well:\n{traced}"
        );
        println!(
            "this rrdtool maps its files: strace sees no writes, the pages are compared instead"
        );
        return;
    }
    let theirs: Vec<u64> = traced
        .lines()
        .filter(|line| line.starts_with("write(") || line.starts_with("pwrite64("))
        .filter_map(|line| line.rsplit("= ").next()?.trim().parse().ok())
        .collect();
    let (writes, bytes) = update(&path, &shape, &mut state, start_s + 300, &readings).1;
    let [more_writes, more_bytes] =
        [writes as f64 / theirs.len() as f64, bytes as f64 / theirs.iter().sum::<u64>() as f64];
    assert!(
        (more_writes - 1.0).abs() <= 0.05 && (more_bytes - 1.0).abs() <= 0.05,
        "{writes} writes of {bytes} bytes; rrdtool:\n{traced}"
    );
}

#[test]
fn a_server_falls_behind_by_what_its_polls_take_too_long() {
    assert_eq!(backlog(&[100, 200, 299], 300), [0, 0]);
    assert_eq!(backlog(&[350, 350, 350], 300), [150, 150]);
    assert_eq!(backlog(&[700, 100, 100, 100], 300), [0, 400]);
    assert_eq!(backlog(&[], 300), [0, 0]);
}
