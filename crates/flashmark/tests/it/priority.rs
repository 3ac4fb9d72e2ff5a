//! Priority of the thread that measures, and the effect of other work on the machine on it.

use std::fs;

use record::metric;

use crate::support::{Flashmark, Scratch, eventually, has_root};

/// Scheduling policy SCHED_OTHER of Linux.
const ORDINARY: i32 = 0;

/// (nice value, scheduling policy) of each thread of a process (proc(5), "/proc/pid/stat").
fn priorities(process: u32) -> Vec<(i32, i32)> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return Vec::new() };
    let of_thread = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        // The name in parentheses may hold blanks; after it the third field comes first.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some((fields.get(16)?.parse().ok()?, fields.get(38)?.parse().ok()?))
    };
    threads.filter_map(|thread| of_thread(thread.ok()?)).collect()
}

#[test]
fn the_thread_that_measures_has_the_highest_ordinary_priority() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let directory = scratch.directory("measured");
    let words =
        ["run", directory.to_str().unwrap(), "--only", "random-read", "--quiet", "--time", "5s"];
    let mut child = flashmark.start(&words);
    let is_raised = || priorities(child.id()).contains(&(-20, ORDINARY)).then_some(());
    eventually("a thread has the nice value -20", is_raised);
    let policies = priorities(child.id());
    assert!(policies.iter().all(|(_, policy)| *policy == ORDINARY), "{policies:?}");
    assert!(child.wait().unwrap().success());
    let record = flashmark.record();
    let reads = record.cells.iter().find(|cell| cell.test == record::test::RANDOM_READ).unwrap();
    let waited = reads.metrics.other[metric::RUN_DELAY_NS];
    assert!(waited.value >= 0.0 && waited.n == reads.ops, "{waited:?} of {}", reads.ops);
}
