//! Every work, small, in a temporary directory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use flashmark_workloads::workload::{
    InspectionPoint, KINDS, WorkError, WorkloadContext, WorkloadProgress, find,
};
use record::{Cell, Stop};

/// Settings with which each work takes a moment.
pub fn small(name: &str) -> Vec<(&'static str, &'static str)> {
    match name {
        "record-ops" => vec![("size", "256KiB")],
        "threads" => vec![("honest_size", "256KiB"), ("time", "50ms"), ("pause", "0s")],
        "rrd" => vec![("files", "70"), ("polls", "7"), ("coalesce", "3")],
        "untar" => vec![("files", "60")],
        "sqlite" => vec![("commits", "40")],
        "logger" => vec![("lines", "40")],
        other => panic!("no settings for '{other}'"),
    }
}

/// Progress and phases that a work reported.
#[derive(Default)]
pub struct Counted {
    pub shares: Vec<f64>,
    pub points: Vec<InspectionPoint>,
}

/// Runs a work; `interrupt` decides at each report of progress whether to stop.
pub fn run(
    name: &str,
    settings: &[(&str, &str)],
    directory: &Path,
    mut interrupt: impl FnMut(&WorkloadProgress) -> bool,
) -> (Result<Vec<Cell>, WorkError>, Counted) {
    let stop = AtomicBool::new(false);
    let (mut shares, mut points) = (Vec::new(), Vec::new());
    let mut on_progress = |progress: WorkloadProgress| {
        shares.push(progress.share);
        if interrupt(&progress) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let mut look = |point| points.push(point);
    let mut context = WorkloadContext {
        directory,
        seed: 11,
        stop: &stop,
        on_progress: &mut on_progress,
        look: &mut look,
    };
    let result = find(name, settings).and_then(|work| work.run(&mut context));
    (result, Counted { shares, points })
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).unwrap().next().is_none()
}

fn done(name: &str, more: &[(&'static str, &'static str)]) -> Vec<Cell> {
    let folder = tempfile::tempdir().unwrap();
    let settings = [&small(name), more].concat();
    let (result, counted) = run(name, &settings, folder.path(), |_| false);
    assert!(counted.points.contains(&InspectionPoint::After), "{name} shows its files");
    assert!(
        counted.shares.iter().all(|share| (0.0..=1.0).contains(share)),
        "{name}: {:?}",
        counted.shares
    );
    assert!(is_empty(folder.path()), "{name} leaves nothing behind");
    result.unwrap()
}

fn forms(cells: &[Cell]) -> Vec<&str> {
    cells.iter().map(|cell| cell.params.form.as_deref().unwrap()).collect()
}

fn other(cell: &Cell, name: &str) -> f64 {
    cell.metrics.other.get(name).unwrap_or_else(|| panic!("{} has no {name}", cell.id)).value
}

#[test]
fn every_work_gives_a_headline_and_leaves_nothing_behind() {
    for kind in KINDS {
        let cells = done(kind.name, &[]);
        let headline = &cells[0];
        assert!(headline.metrics.iops.is_some() || headline.elapsed_ns > 0, "{}", kind.name);
        for cell in &cells {
            assert_eq!(cell.test, kind.name);
            assert!(
                cell.ops > 0 && cell.metrics.latency_ns.is_some() && cell.histogram.is_some(),
                "{}: {:?}",
                cell.id,
                cell.params.form
            );
            assert!(matches!(cell.stop, Stop::Ops | Stop::Bytes | Stop::Time | Stop::Converged));
        }
        let mut ids: Vec<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), cells.len(), "each cell has a name of its own");
    }
}

#[test]
fn record_ops_are_the_suites_with_random_writes_first() {
    let cells = done("record-ops", &[]);
    assert_eq!(forms(&cells), ["random-write", "write", "rewrite", "random-read"]);
    assert!(
        cells.iter().all(|cell| cell.ops == 64 && cell.bytes == 64 * 4096 && cell.on.is_some()),
        "{:?}",
        cells.iter().map(|cell| (cell.ops, &cell.on)).collect::<Vec<_>>()
    );
}

#[test]
fn threads_move_every_record_once_in_the_published_form() {
    let cells = done("threads", &[("forms", "published"), ("threads", "3"), ("size", "128KiB")]);
    assert_eq!(forms(&cells)[0], "published-random-write");
    for cell in &cells {
        // The first through ends the counting, so each of the others has at most as many.
        assert!((32..=96).contains(&cell.ops), "{} of {:?}", cell.ops, cell.params.form);
        assert!(other(cell, "min_transferred_bytes") <= 32.0 * 4096.0);
        assert!((1.0 / 3.0 - 1e-9..=1.0 + 1e-9).contains(&other(cell, "fairness")));
        let [min, mean, max] = ["thread_min_iops", "thread_mean_iops", "thread_max_iops"]
            .map(|name| other(cell, name));
        assert!(min <= mean && mean <= max);
        assert!((mean * 3.0 / cell.metrics.iops.unwrap().value - 1.0).abs() < 1e-9);
        // Those that write for the first time or at random finish their files.
        let (file, written) = (128 * 1024, cell.written_bytes);
        let is_as_iozone = match cell.params.form.as_deref() {
            Some("published-write" | "published-random-write") => written == 3 * file,
            Some("published-rewrite") => (cell.bytes..=3 * file).contains(&written),
            _ => written == 0,
        };
        assert!(is_as_iozone, "{written} bytes of {:?}", cell.params.form);
    }
}

#[test]
fn coalesced_polls_write_less_often() {
    let cells = done("rrd", &[]);
    assert_eq!(forms(&cells), ["buffered", "coalesced", "page"]);
    let [buffered, coalesced, page] = [0, 1, 2].map(|number| &cells[number]);
    // Seven polls: the head's four parts and both archives of two sources each, and in the sixth
    // two more archives.
    assert_eq!(other(buffered, "writes_per_poll"), 70.0 * (7.0 * 8.0 + 4.0) / 7.0);
    assert_eq!(buffered.ops, 7 * 70);
    assert_eq!(coalesced.ops, 3 * 70);
    assert!(other(coalesced, "writes_per_poll") < other(buffered, "writes_per_poll"));
    assert!((2.0..=3.3).contains(&(page.ops as f64 / 7.0 / 70.0)), "{} pages", page.ops);
    assert_eq!(page.written_bytes, page.ops * 4096);
}

#[test]
fn untar_makes_the_whole_tree_in_each_form() {
    let cells = done("untar", &[]);
    assert_eq!(forms(&cells), ["end", "each"]);
    assert!(cells.iter().all(|cell| cell.ops as f64 == other(cell, "entries") && cell.ops >= 60));
    assert_eq!(cells[0].bytes, cells[1].bytes);
}

#[test]
fn sqlite_commits_in_both_modes() {
    let cells = done("sqlite", &[("rows", "3")]);
    assert_eq!(forms(&cells), ["wal", "delete"]);
    assert!(cells.iter().all(|cell| cell.ops == 40 && other(cell, "database_bytes") > 4096.0));
}

#[test]
fn a_logged_line_is_append_and_sync() {
    let cells = done("logger", &[("sync", "data")]);
    assert_eq!(forms(&cells), ["commit", "append", "sync"]);
    let [commit, append, sync] = [0, 1, 2].map(|number| cells[number].elapsed_ns);
    assert_eq!(commit, append + sync);
    assert_eq!(cells[0].bytes, 40 * 128);
}

fn is_interrupted(result: &Result<Vec<Cell>, WorkError>, name: &str) -> bool {
    matches!(result, Err(error) if error.to_string() == format!("{name} was interrupted"))
}

#[test]
fn an_interrupted_workload_is_reported_and_leaves_nothing_behind() {
    for kind in KINDS {
        let folder = tempfile::tempdir().unwrap();
        // More than a tenth of a second of everything, so that there is a beat in which to stop it.
        let settings: &[(&str, &str)] = match kind.name {
            "record-ops" => &[("size", "256MiB")],
            "threads" => &[("time", "30s"), ("honest_size", "1MiB")],
            _ => &[],
        };
        let mut beats = 0;
        let (result, _) = run(kind.name, settings, folder.path(), |_| {
            beats += 1;
            true
        });
        assert!(
            beats > 0 && is_interrupted(&result, kind.name),
            "{} after {beats} beats: {:?}",
            kind.name,
            result.err()
        );
        assert!(is_empty(folder.path()), "{} leaves nothing behind", kind.name);
    }
}

#[test]
fn a_directory_that_is_gone_is_named() {
    for kind in KINDS {
        let (result, _) =
            run(kind.name, &small(kind.name), Path::new("/proc/no-such-directory"), |_| false);
        let error = result.unwrap_err();
        assert!(error.is_of_kernel(), "{error:?}");
        let error = error.to_string();
        assert!(error.starts_with(kind.name) && error.contains("no-such-directory"), "{error}");
    }
}

#[test]
fn every_workload_declares_the_bytes_it_needs() {
    for kind in KINDS {
        let needs = |settings: &[(&str, &str)]| find(kind.name, settings).unwrap().needs_bytes();
        let small = needs(&small(kind.name));
        assert!(needs(&[]) >= small && small > 1 << 20, "{}", kind.name);
    }
}
