//! `capture`: the trace holds what was done, and nothing of the capture is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use device::Op;
use rustix::process::{Pid, Signal, kill_process};
use workloads::trace::{self, Issue, TraceEvent};

use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, as_nobody, eventually, has_root, has_tool, skipped,
    tool,
};

/// Lock for one capture test at a time: each sees, and cleans up, what another has made.
static ONE: Mutex<()> = Mutex::new(());

/// Tracefs, mounted by the test if it is mounted nowhere, so that the test can see what is made in
/// it.
pub struct Tracefs {
    root: PathBuf,
    mounted: bool,
    _turn: MutexGuard<'static, ()>,
}

impl Tracefs {
    /// `None` if it is not allowed; the reason is printed.
    pub fn new(scratch: &Scratch) -> Option<Tracefs> {
        if !has_root() {
            return None;
        }
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = Path::new("/sys/kernel/tracing");
        if usual.join("instances").is_dir() {
            return Some(Tracefs { root: usual.to_owned(), mounted: false, _turn: turn });
        }
        let root = scratch.directory("tracefs");
        let made =
            Command::new("mount").args(["-t", "tracefs", "tracefs"]).arg(&root).output().unwrap();
        let tracefs = Tracefs { mounted: made.status.success(), root, _turn: turn };
        if !tracefs.root.join("events/block").is_dir() {
            skipped("needs tracefs with the events of the block layer");
            return None;
        }
        Some(tracefs)
    }

    /// True if a process has instances.
    pub fn instances_of(&self, pid: u32) -> bool {
        self.root.join(format!("instances/flashmark-{pid}")).exists()
    }
}

impl Drop for Tracefs {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg(&self.root).status();
        }
    }
}

/// A capture that runs until it is interrupted.
pub struct Capture {
    pub child: Child,
    pub trace: PathBuf,
}

impl Capture {
    /// Starts a capture, and waits until it records or has ended by itself.
    pub fn start(
        flashmark: &Flashmark,
        tracefs: &Tracefs,
        scratch: &Scratch,
        device: &str,
        more: &[&str],
    ) -> Capture {
        let words = [&[device], more].concat();
        Capture::of(flashmark, tracefs, scratch, &words, "block/block_rq_requeue")
    }

    /// Starts a capture of the files below a directory.
    pub fn of_files(
        flashmark: &Flashmark,
        tracefs: &Tracefs,
        scratch: &Scratch,
        directory: &Path,
    ) -> Capture {
        let words = ["--files", directory.to_str().unwrap()];
        Capture::of(flashmark, tracefs, scratch, &words, "syscalls/sys_exit_openat")
    }

    fn of(
        flashmark: &Flashmark,
        tracefs: &Tracefs,
        scratch: &Scratch,
        words: &[&str],
        event: &str,
    ) -> Capture {
        let trace = scratch.at("trace");
        let mut child =
            flashmark.start(&[&["capture", "-o", trace.to_str().unwrap()], words].concat());
        let instance = tracefs.root.join(format!("instances/flashmark-{}", child.id()));
        // A new instance is on, and without events; it is turned off before they are enabled.
        let is_on = |name: &str| {
            fs::read_to_string(instance.join(name)).is_ok_and(|text| text.trim() == "1")
        };
        let records = || is_on(&format!("events/{event}/enable")) && is_on("tracing_on");
        eventually("the capture", || {
            (records() || child.try_wait().unwrap().is_some()).then_some(())
        });
        Capture { child, trace }
    }

    /// Interrupts it; returns its output.
    pub fn stop(self) -> Ran {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        self.end()
    }

    /// Waits for its end.
    fn end(self) -> Ran {
        Ran::from(self.child.wait_with_output().unwrap())
    }
}

/// All requests of a trace with the time that each took, and the number that the recorder lost.
fn requests(path: &Path) -> (Vec<(Issue, Option<u64>)>, u64) {
    let mut steps = trace::open(path).unwrap().steps().unwrap();
    let mut requests: Vec<(Issue, Option<u64>)> = Vec::new();
    while let Some(step) = steps.next().unwrap() {
        match step {
            TraceEvent::Issued(issue) => requests.push((issue, None)),
            TraceEvent::Completed { time_ns, number } => {
                let request = &mut requests[usize::try_from(number).unwrap()];
                request.1 = Some(time_ns - request.0.time_ns);
            }
        }
    }
    let notes = steps.notes();
    assert_eq!(notes.cut_off, None);
    (requests, notes.lost)
}

/// Number of requests that can be read from a trace that may be cut off anywhere.
pub fn whatever_is_in(path: &Path) -> usize {
    let Ok(mut steps) = trace::open(path).and_then(|trace| trace.steps()) else { return 0 };
    std::iter::from_fn(|| steps.next().ok().flatten())
        .filter(|step| matches!(step, TraceEvent::Issued(_)))
        .count()
}

fn dd(words: &[&str]) {
    tool("dd", &[words, &["conv=notrunc", "status=none"]].concat());
}

#[test]
fn every_request_is_recorded_where_it_was_made() {
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let medium = LoopDevice::new(&scratch.image("image", 64 * MIB));
    let flashmark = Flashmark::new();
    let capture = Capture::start(&flashmark, &tracefs, &scratch, medium.word(), &[]);
    let (node, pid) = (medium.word(), capture.child.id());
    dd(&["if=/dev/zero", &format!("of={node}"), "bs=64k", "count=20", "seek=3", "oflag=direct"]);
    dd(&[&format!("if={node}"), "of=/dev/null", "bs=4k", "count=500", "skip=100", "iflag=direct"]);
    let trace = capture.trace.clone();
    let ran = capture.stop();
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.contains("no event lost") && ran.out.contains("20 writes"), "{ran}");
    assert!(!tracefs.instances_of(pid), "the instance is left behind");

    let (requests, lost) = requests(&trace);
    assert_eq!(lost, 0);
    let of = |op: Op, length: u64| {
        requests.iter().filter(move |(issue, _)| (issue.op, issue.length_bytes) == (op, length))
    };
    let writes: Vec<u64> = of(Op::Write, 64 << 10).map(|(issue, _)| issue.offset_bytes).collect();
    assert_eq!(writes, (3..23).map(|block| block << 16).collect::<Vec<u64>>());
    // Something else (udev) may read beside it.
    let reads: Vec<u64> = of(Op::Read, 4 << 10).map(|(issue, _)| issue.offset_bytes).collect();
    assert!((100..600u64).all(|block| reads.contains(&(block << 12))));
    assert!(
        requests.iter().all(|(_, took_ns)| took_ns.is_some_and(|ns| ns > 0)),
        "a request was not seen done"
    );
    assert!(
        requests.windows(2).all(|pair| pair[0].0.time_ns <= pair[1].0.time_ns),
        "not in the order of time"
    );
}

/// The tools of blktrace and fio are the witnesses that a capture is a file of blktrace's.
#[test]
fn other_tools_read_a_capture() {
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    if !["blkparse", "btt", "fio"].into_iter().all(has_tool) {
        return;
    }
    let medium = LoopDevice::new(&scratch.image("image", 64 * MIB));
    let capture = Capture::start(&Flashmark::new(), &tracefs, &scratch, medium.word(), &[]);
    let (node, trace) = (medium.word(), capture.trace.clone());
    dd(&["if=/dev/zero", &format!("of={node}"), "bs=64k", "count=20", "oflag=direct,sync"]);
    dd(&[&format!("if={node}"), "of=/dev/null", "bs=4k", "count=500", "iflag=direct"]);
    assert_eq!(capture.stop().code, Some(0));
    let (requests, word) = (requests(&trace).0, trace.to_str().unwrap());
    let count = |op| requests.iter().filter(|(issue, _)| issue.op == op).count() as u64;
    let (reads, writes) = (count(Op::Read), count(Op::Write));
    let output = |program: &str, words: &[&str]| {
        let stdin = fs::File::open(&trace).unwrap();
        let output = Command::new(program)
            .args(words)
            .stdin(stdin)
            .current_dir(scratch.word())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };

    let text = output("blkparse", &["-i", "-", "-f", "%a %S %n\n"]);
    for kind in ["Q ", "D ", "C "] {
        let events = text.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!(events, requests.len(), "{kind}");
    }
    let text = output("btt", &["-i", word]);
    let latencies = text.lines().find(|line| line.starts_with("D2C"));
    assert!(
        latencies.is_some_and(|line| line.ends_with(&format!(" {}", reads + writes))),
        "{text}"
    );
    let (log, image) = (format!("--read_iolog={word}"), scratch.image("replayed", 64 * MIB));
    let onto = format!("--replay_redirect={}", image.display());
    let words = ["--name=replay", &log, &onto, "--replay_no_stall=1", "--output-format=json"];
    let text = output("fio", &words);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let done = |what: &str| report["jobs"][0][what]["total_ios"].as_u64();
    assert_eq!((done("read"), done("write")), (Some(reads), Some(writes)));
}

#[test]
fn a_killed_capture_is_cleaned_up_by_the_next_and_a_living_one_is_not() {
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let medium = LoopDevice::new(&scratch.image("image", MIB));
    let (flashmark, others) = (Flashmark::new(), Scratch::new());
    let living = Capture::start(&flashmark, &tracefs, &others, medium.word(), &[]);
    let mut killed = Capture::start(&flashmark, &tracefs, &scratch, medium.word(), &[]).child;
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(tracefs.instances_of(killed.id()), "there is nothing to clean up");
    let next = Capture::start(&flashmark, &tracefs, &scratch, medium.word(), &["--time", "100ms"]);
    assert_eq!(next.end().code, Some(0));
    assert!(!tracefs.instances_of(killed.id()) && tracefs.instances_of(living.child.id()));
    let id = living.child.id();
    assert_eq!(living.stop().code, Some(0));
    assert!(!tracefs.instances_of(id));
}

#[test]
fn a_killed_capture_is_readable_up_to_the_kill() {
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let medium = LoopDevice::new(&scratch.image("image", 16 * MIB));
    let flashmark = Flashmark::new();
    let mut capture = Capture::start(&flashmark, &tracefs, &scratch, medium.word(), &["--quiet"]);
    let seen = |path: &Path| {
        let Ok(trace) = trace::open(path) else { return 0 };
        let (mut steps, mut reads) = (trace.steps().unwrap(), 0);
        while let Ok(Some(step)) = steps.next() {
            reads += u32::from(matches!(step, TraceEvent::Issued(issue) if issue.op == Op::Read));
        }
        reads
    };
    eventually("the header", || trace::open(&capture.trace).is_ok().then_some(()));
    dd(&[&format!("if={}", medium.word()), "of=/dev/null", "bs=4k", "count=300", "iflag=direct"]);
    eventually("what was read in the trace of a living capture", || {
        (seen(&capture.trace) >= 300).then_some(())
    });
    capture.child.kill().unwrap();
    capture.child.wait().unwrap();
    let plan =
        flashmark.done(&["replay", capture.trace.to_str().unwrap(), "sim:class10", "--plan"]);
    assert!(plan.out.contains("the trace is not whole: the recording was not ended"), "{plan}");
    // The kill may come in the middle of a record: what is before it counts.
    let text = fs::read(&capture.trace).unwrap();
    let torn = scratch.file("torn", &text[..text.len() - 7]);
    let plan = flashmark.run(&["replay", torn.to_str().unwrap(), "sim:class10", "--plan"]);
    assert!(plan.out.contains("breaks off within") || plan.err.contains("holds no read"), "{plan}");
}

#[test]
fn it_ends_when_the_trace_has_the_size_allowed() {
    let scratch = Scratch::new();
    let Some(tracefs) = Tracefs::new(&scratch) else { return };
    let medium = LoopDevice::new(&scratch.image("image", 16 * MIB));
    let mut capture = Capture::start(
        &Flashmark::new(),
        &tracefs,
        &scratch,
        medium.word(),
        &["--size-limit", "4KiB", "--time", "1h"],
    );
    let trace = capture.trace.clone();
    // On a busy machine events are lost: there is always more.
    while capture.child.try_wait().unwrap().is_none() {
        let from = format!("if={}", medium.word());
        dd(&[&from, "of=/dev/null", "bs=512", "count=4096", "iflag=direct"]);
    }
    let ran = capture.end();
    let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(ran.code == Some(0) && flat.contains("the size allowed"), "{ran}");
    let (requests, _) = requests(&trace);
    assert!(!requests.is_empty());
    assert!(fs::metadata(&trace).unwrap().len() < MIB, "it ends soon after");
}

#[test]
fn what_cannot_be_recorded_is_refused_with_its_reason() {
    let flashmark = Flashmark::new();
    let scratch = Scratch::new();
    let trace = scratch.at("trace");
    let run = |device: &str, output: &str, more: &[&str]| {
        flashmark.run(&[&["capture", device, "-o", output], more].concat())
    };
    let missing = run("no-such-disk-0", trace.to_str().unwrap(), &[]);
    assert_eq!(
        missing.transcript(&[]),
        "exit 2\nflashmark: there is no device 'no-such-disk-0'; `flashmark list` shows what is plugged in\n"
    );
    let disk = host::list(&host::Roots::default())
        .into_iter()
        .find(|disk| disk.size_bytes > 0 && !disk.name.starts_with("loop"));
    let Some(disk) = disk else { return skipped("needs a disk") };
    let directory = run(&disk.name, scratch.word(), &[]);
    assert!(
        directory.code == Some(2) && directory.err.contains("this is a directory"),
        "{directory}"
    );
    let onto_medium = run(&disk.name, disk.path.to_str().unwrap(), &[]);
    assert!(
        onto_medium.code == Some(3) && onto_medium.err.contains("this is a block device"),
        "{onto_medium}"
    );
    let no_time = run(&disk.name, trace.to_str().unwrap(), &["--time", "0"]);
    assert_eq!(no_time.code, Some(2), "{no_time}");
    assert!(!trace.exists());
    if has_root() {
        let (ran, _) = as_nobody(&["capture", &disk.name, "-o", "/nowhere"]);
        assert_eq!(
            ran.transcript(&[]),
            "exit 3\nflashmark: recording needs root: the kernel shows the I/O of all users; run it with sudo\n"
        );
    }
}
