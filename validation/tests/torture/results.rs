//! Results that cannot be written: from a random moment on their file system is full or read-only,
//! or their disk takes no writes.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::power::shown;
use stats::Random;

use crate::crash::{MANY_CELLS, acknowledged, check_record, somewhere};
use crate::failing::{Answer, FailingMedium};
use crate::support::{
    EXT4, Flashmark, LoopDevice, MIB, Mount, Ran, Scratch, fill, has_root, seed, times, tool,
};
use crate::tally::Tally;

/// Reason why results cannot be written.
#[derive(Clone, Copy)]
enum Fault {
    Full,
    /// The kernel has aborted the file system, and refuses every write to it.
    GivenUp,
    /// The disk below answers writes with errors.
    NoWrites,
}

const FAULTS: [(&str, Fault); 3] = [
    ("results full (tmpfs)", Fault::Full),
    ("results read-only (ext4 that the kernel has given up), mounted again", Fault::GivenUp),
    ("results on a disk that takes no writes (ext4), mounted again", Fault::NoWrites),
];

/// A file system for results, with its disk.
struct Results {
    mount: Option<Mount>,
    at: PathBuf,
    device: Option<LoopDevice>,
    disk: Option<FailingMedium>,
}

impl Results {
    /// `None` if it cannot be made; the reason is printed.
    fn for_fault(fault: Fault, scratch: &Scratch) -> Option<Results> {
        let at = scratch.directory("results");
        if matches!(fault, Fault::Full) {
            let mount = Mount::new(&["-t", "tmpfs", "-o", "size=8m", "none"], &at);
            return Some(Results { mount: Some(mount), at, device: None, disk: None });
        }
        let disk = FailingMedium::mounted(&scratch.directory("disk"), "fuse.results", 32 << 20)?;
        let device = LoopDevice::new(&disk.file());
        tool(EXT4[0], &[&EXT4[1..], &[device.word()]].concat());
        let mut results = Results { mount: None, at, device: Some(device), disk: Some(disk) };
        results.mount();
        Some(results)
    }

    fn mount(&mut self) {
        self.mount = Some(Mount::new(&[self.device.as_ref().unwrap().word()], &self.at));
    }

    fn begins(&self, fault: Fault) {
        match fault {
            Fault::Full => fill(&self.at),
            Fault::GivenUp => {
                drop(tool("mount", &["-o", "remount,abort", self.at.to_str().unwrap()]))
            }
            Fault::NoWrites => self.disk.as_ref().unwrap().answers(Answer::WriteError(Errno::IO)),
        }
    }

    /// Ends the fault; what was not durable is gone.
    fn ends(&mut self) {
        if self.device.is_none() {
            return fs::remove_file(self.at.join("filler")).unwrap();
        }
        self.mount = None;
        self.disk.as_ref().unwrap().answers(Answer::Well);
        self.mount();
    }
}

#[test]
#[ignore = "minutes: cargo validation torture --only results"]
fn a_run_whose_results_cannot_be_written_goes_on_later() {
    if !has_root() {
        return;
    }
    let (mut chance, mut failed) = (Random::new(seed(31)), Vec::new());
    for (what, fault) in FAULTS {
        let mut tally = Tally::of("results", what);
        for number in 0..times("RESULTS", 3) {
            tally.attempt(1, &format!("run {number}"), |tally| one(fault, &mut chance, tally));
        }
        failed.extend(tally.report());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// One run whose results cannot be written from a random moment on. What it has shown must be there
/// afterwards.
fn one(fault: Fault, chance: &mut Random, tally: &mut Tally) {
    let scratch = Scratch::new();
    let suite = scratch.suite(MANY_CELLS);
    let device = LoopDevice::new(&scratch.image("image", 32 * MIB));
    let Some(mut results) = Results::for_fault(fault, &scratch) else { return };
    let flashmark = Flashmark::keeping_at(&results.at.join("runs"));
    tool("sync", &["--file-system", results.at.to_str().unwrap()]);
    let mut child =
        flashmark.start(&format!("run {0} --erase {0} --suite {1}", device.word(), suite));
    somewhere(&mut child, &flashmark, 40, chance);
    results.begins(fault);
    let ran = Ran::from(child.wait_with_output().unwrap());
    let begun = !flashmark.runs().is_empty();
    results.ends();
    let before = acknowledged(&flashmark);
    tally.count("in the middle", u64::from(ran.code != Some(0)));
    tally.count("cells shown before", shown(&ran.err) as u64);
    check_message(&ran, begun);
    // ext4 of Linux 6.18 that is given up during a fdatasync says that all is safe, and loses it:
    // no program can know.
    let lost = (shown(&ran.err) as u64).saturating_sub(before.len() as u64);
    let given_up = matches!(fault, Fault::GivenUp);
    let by_ext4 = u64::from(given_up).min(lost);
    if given_up {
        tally.count("ext4 lost what it had called safe", by_ext4);
    }
    // A run that had ended shows itself once more as a whole.
    assert!(
        ran.code == Some(0) || lost == by_ext4,
        "{} cells are in the journal: {ran}",
        before.len()
    );
    if let Some(run) = flashmark.runs().first() {
        tally.count(
            "refused for writes that ext4 lost the word of",
            u64::from(goes_on(&flashmark, run, &device, given_up)),
        );
        check_record(run, &before);
    }
}

/// Resumes the run; true if it was refused at first. If ext4 may have lost the notes of writes, the
/// run may take its own data for foreign data. It then goes on with the user's permission.
fn goes_on(flashmark: &Flashmark, run: &Path, device: &LoopDevice, may_lose: bool) -> bool {
    let name = run.file_name().unwrap().to_str().unwrap();
    let resumed = flashmark.run(&["resume", name, "--quiet"]);
    let refused =
        resumed.code == Some(3) && resumed.err.contains("holds data that this run has not written");
    assert!(resumed.code == Some(0) || refused && may_lose, "{resumed}");
    if refused {
        flashmark.done(&["resume", name, "--quiet", "--erase", device.word()]);
    }
    refused
}

/// Checks that the message names `resume`.
fn check_message(ran: &Ran, begun: bool) {
    match ran.code {
        Some(0) => {}
        Some(5) => assert!(
            !begun || ran.err.contains("flashmark resume"),
            "nothing is said of resume: {ran}"
        ),
        _ => panic!("{ran}"),
    }
}
