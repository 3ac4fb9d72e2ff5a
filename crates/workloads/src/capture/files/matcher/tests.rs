use std::ffi::OsString;

use tempfile::TempDir;

use super::*;

/// Threads that no kernel has: their numbers are too high.
const A: u32 = 5_000_001;
const B: u32 = 5_000_002;
const OPEN: Call = Call::Open(Some(1));
const READ_WRITE: u64 = 2;
const CLOEXEC: u64 = 0o2_000_000;

struct Bench {
    folder: TempDir,
    matcher: Matcher,
}

impl Bench {
    fn new() -> Bench {
        let folder = TempDir::new().unwrap();
        let top = std::fs::File::open(folder.path()).unwrap().into();
        // Nothing is open below a directory that is not there: the first file has the number 1.
        let matcher = Matcher::new(&folder.path().join("none"), top);
        Bench { folder, matcher }
    }

    fn enter(&mut self, at_ns: u64, thread: u32, call: Call, arguments: &[u64]) {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        self.matcher.take(at_ns, thread, Event::Enter(call, all));
    }

    fn exit(&mut self, at_ns: u64, thread: u32, call: Call, result: i64) {
        self.matcher.take(at_ns, thread, Event::Exit(call, result));
    }

    fn call(&mut self, at_ns: u64, thread: u32, call: Call, arguments: &[u64], result: i64) {
        self.enter(at_ns, thread, call, arguments);
        self.exit(at_ns + 5, thread, call, result);
    }

    fn opening(&mut self, time_ns: u64, thread: u32, path: &str) {
        let (path, directory) = (path.to_owned(), None);
        self.matcher.opened(Opened { time_ns, thread, path, bytes: 10, inode: 1, directory });
    }

    /// Opens a file from `at_ns` until 5 ns later.
    fn open(&mut self, at_ns: u64, thread: u32, path: &str, flags: u64, descriptor: i64) {
        self.opening(at_ns + 2, thread, path);
        self.call(at_ns, thread, OPEN, &[0, flags], descriptor);
    }

    /// Operations that are complete: begin, thread, what.
    fn done(&mut self) -> Vec<String> {
        self.done_at(0)
    }

    /// The same at a time.
    fn done_at(&mut self, now_ns: u64) -> Vec<String> {
        let all = std::iter::from_fn(|| self.matcher.pop(now_ns));
        let lines = all.map(|operation| {
            let what = match &operation.action {
                FileAction::Open { path, file, .. } => format!("open {path} as {file}"),
                FileAction::Write { file, offset, bytes } => {
                    format!("write {file} {bytes}@{}", offset.unwrap_or(u64::MAX))
                }
                FileAction::Rename { from, to, .. } => format!("rename {from} {to}"),
                FileAction::Unlink { path } => format!("unlink {path}"),
                other => format!("{} {}", other.name(), other.file().unwrap_or(0)),
            };
            let thread = if operation.thread == A { "A" } else { "B" };
            format!("{} {thread} {what}", operation.at_ns)
        });
        lines.collect()
    }
}

#[test]
fn an_opening_belongs_to_the_call_it_is_seen_in() {
    let mut bench = Bench::new();
    // Of no call, as exec opens: before it, and of another thread within it.
    bench.opening(5, A, "exec");
    bench.opening(12, B, "other");
    bench.open(10, A, "file", READ_WRITE, 3);
    // One that is elsewhere, as no opening was seen in it.
    bench.call(30, A, OPEN, &[0, READ_WRITE], 4);
    bench.call(40, A, Call::Write(None), &[3, 0, 7], 7);
    bench.call(50, A, Call::Write(None), &[4, 0, 7], 7);
    bench.call(60, A, Call::Write(None), &[3, 0, 9], 8);
    assert_eq!(bench.done(), ["10 A open file as 1", "40 A write 1 7@0", "60 A write 1 8@7"]);
}

#[test]
fn calls_of_two_threads_come_in_the_order_they_began() {
    let mut bench = Bench::new();
    bench.opening(14, A, "a");
    bench.opening(13, B, "b");
    bench.enter(10, A, OPEN, &[0, READ_WRITE]);
    bench.enter(12, B, OPEN, &[0, READ_WRITE]);
    bench.exit(20, B, OPEN, 3);
    // The other one began first, and is not done.
    assert!(bench.done().is_empty());
    bench.exit(25, A, OPEN, 3);
    // The same number is another file in each process.
    bench.enter(30, B, Call::Fsync, &[3]);
    bench.call(31, A, Call::Write(Some(3)), &[3, 0, 4, 100], 4);
    bench.exit(40, B, Call::Fsync, 0);
    let all = ["10 A open a as 2", "12 B open b as 1", "30 B fsync 1", "31 A write 2 4@100"];
    assert_eq!(bench.done(), all);
}

#[test]
fn a_call_that_never_ends_holds_nothing_back_for_long() {
    let mut bench = Bench::new();
    // The opening of a named pipe that nobody writes to.
    bench.enter(5, 5_000_003, OPEN, &[0, 0]);
    bench.open(10, A, "file", READ_WRITE, 3);
    assert!(bench.done_at(LONGEST_WAIT_NS).is_empty());
    assert_eq!(bench.done_at(LONGEST_WAIT_NS + 11), ["10 A open file as 1"]);
    // A call on a file is waited for: it says what was done when.
    bench.enter(15, A, Call::Fsync, &[3]);
    bench.open(20, B, "other", READ_WRITE, 3);
    assert!(bench.done_at(3 * LONGEST_WAIT_NS).is_empty());
    bench.exit(4 * LONGEST_WAIT_NS, A, Call::Fsync, 0);
    let all = ["15 A fsync 1", "20 B open other as 2"];
    assert_eq!(bench.done_at(4 * LONGEST_WAIT_NS), all);
    bench.enter(30, B, Call::Fsync, &[3]);
    bench.call(40, A, Call::Write(None), &[3, 0, 7], 7);
    assert!(bench.done_at(3 * LONGEST_WAIT_NS).is_empty());
    bench.matcher.end();
    assert_eq!(bench.done(), ["40 A write 1 7@0"], "at the end of the recording");
}

#[test]
fn calls_that_failed_or_have_no_begin_are_no_operations() {
    let mut bench = Bench::new();
    bench.open(10, A, "file", READ_WRITE, 3);
    bench.exit(20, A, Call::Fsync, 0);
    bench.call(30, A, Call::Fsync, &[3], -5);
    bench.call(40, B, Call::Fsync, &[3], 0);
    assert_eq!(bench.done(), ["10 A open file as 1"]);
    // A thread that is killed within a call holds nothing up.
    bench.enter(50, B, OPEN, &[0, READ_WRITE]);
    bench.matcher.take(60, B, Event::Ended);
    bench.call(70, A, Call::Fsync, &[3], 0);
    assert_eq!(bench.done(), ["70 A fsync 1"]);
}

#[test]
fn a_file_is_closed_with_its_last_descriptor() {
    let mut bench = Bench::new();
    bench.open(10, A, "file", READ_WRITE, 3);
    bench.call(20, A, Call::Duplicate(None), &[3], 4);
    bench.matcher.take(30, A, Event::Forked { child: B, clone_flags: 0 });
    bench.call(40, A, Call::Close, &[3], 0);
    bench.call(50, A, Call::Close, &[4], 0);
    bench.call(60, B, Call::Write(Some(3)), &[4, 0, 1, 0], 1);
    bench.call(70, B, Call::Close, &[3], 0);
    assert_eq!(bench.done(), ["10 A open file as 1", "60 B write 1 1@0"]);
    bench.matcher.take(80, B, Event::Ended);
    assert_eq!(bench.done(), ["80 B close 1"]);
}

#[test]
fn threads_of_a_process_share_descriptors_and_exec_closes_some() {
    let mut bench = Bench::new();
    bench.matcher.take(5, A, Event::Forked { child: B, clone_flags: 0x400 });
    bench.open(10, A, "kept", READ_WRITE, 3);
    bench.open(20, B, "closed", READ_WRITE | CLOEXEC, 4);
    bench.call(30, A, Call::Fsync, &[4], 0);
    bench.matcher.take(40, B, Event::Ended);
    bench.matcher.take(50, A, Event::Executed { old: A });
    bench.call(60, A, Call::Fsync, &[3], 0);
    let all = ["10 A open kept as 1", "20 B open closed as 2", "30 A fsync 2", "50 A close 2"];
    assert_eq!(bench.done(), [&all[..], &["60 A fsync 1"]].concat());
}

#[test]
fn names_that_changed_belong_to_calls_in_their_order() {
    let mut bench = Bench::new();
    let top = std::fs::File::open(bench.folder.path()).unwrap().into();
    let Some(handle) = FileHandle::of(&top) else {
        return println!("skipped: needs a file system with handles");
    };
    bench.matcher.directories.learn(&handle, ".");
    let place = |name: &str| {
        Some(NameInDirectory { directory: handle.clone(), name: OsString::from(name) })
    };
    let event = |name, to| NameEvent { thread: A, directory: false, name, to, object: None };
    bench.matcher.named(2, event(place("a"), place("b")));
    // On another file system.
    bench.matcher.named(2, event(None, None));
    bench.matcher.named(2, event(place("b"), place("c")));
    bench.matcher.named(1, event(place("c"), None));
    for (at_ns, call) in [(10, Call::Rename), (20, Call::Rename), (30, Call::Rename)] {
        bench.call(at_ns, A, call, &[], 0);
    }
    bench.call(40, A, Call::Remove, &[], 0);
    bench.call(50, A, Call::Remove, &[], 0);
    assert_eq!(bench.done(), ["10 A rename a b", "30 A rename b c", "40 A unlink c"]);
    assert_eq!(bench.matcher.unattributed, 0);
}

#[test]
fn openings_without_a_call_are_bounded() {
    let mut bench = Bench::new();
    for number in 0..MAX_WAITING as u64 + 10 {
        bench.opening(number, A, "file");
    }
    assert_eq!(bench.matcher.opened[&A].len(), MAX_WAITING);
    assert_eq!(bench.matcher.opened[&A][0].time_ns, 10);
}
