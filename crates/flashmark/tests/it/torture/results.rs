//! Results that cannot be written: the disk is full from a random moment on.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::crash::{MANY_CELLS, acknowledged, check_record};
use crate::support::{Chance, Flashmark, MIB, Mount, Ran, Scratch, has_root, seed, times};
use crate::torture::Tally;

/// How results stop being writable, and become it again.
type Fault = (&'static str, fn(&Path), fn(&Path));

const FAULTS: [Fault; 1] = [("results full", fill, empty)];

/// All that is left is taken.
fn fill(at: &Path) {
    let filler = fs::File::create(at.join("filler")).unwrap();
    let mut taken = 0;
    // Byte by byte at the end, as the journal's lines are short.
    for step in [64 << 10, 4 << 10, 1] {
        while rustix::fs::fallocate(&filler, rustix::fs::FallocateFlags::empty(), taken, step).is_ok() {
            taken += step;
            if step == 1 {
                break;
            }
        }
    }
}

fn empty(at: &Path) {
    fs::remove_file(at.join("filler")).unwrap();
}

#[test]
fn a_run_whose_results_cannot_be_written_goes_on_later() {
    if !has_root() {
        return;
    }
    let mut chance = Chance(seed(31));
    for (what, begins, ends) in FAULTS {
        let mut tally = Tally::of("results", what);
        for number in 0..times("RESULTS", 3) {
            tally.attempt(1, &format!("run {number}"), |tally| {
                let scratch = Scratch::new();
                let suite = scratch.file("many.toml", MANY_CELLS);
                let image = scratch.image("image", 32 * MIB);
                let device = crate::support::LoopDevice::new(&image);
                let mount = Mount::new(&["-t", "tmpfs", "-o", "size=8m", "none"], &scratch.directory("results"));
                let home = mount.path().join("runs");
                let flashmark = Flashmark::keeping_at(&home);
                let words = ["run", device.word(), "--erase", device.word(), "--quiet", "--suite", suite.to_str().unwrap()];
                let child = flashmark.start(&words);
                std::thread::sleep(Duration::from_millis(20 + chance.below(400)));
                begins(mount.path());
                let ran = Ran::from(child.wait_with_output().unwrap());
                let before = acknowledged(&flashmark);
                ends(mount.path());
                tally.count("in the middle", u64::from(ran.code != Some(0)));
                check_said(&ran, &flashmark);
                if let Some(run) = flashmark.runs().first() {
                    flashmark.done(&["resume", run.file_name().unwrap().to_str().unwrap(), "--quiet"]);
                    check_record(run, &before);
                }
            });
        }
        tally.end();
    }
}

/// Whoever reads it knows that the run can be gone on with.
fn check_said(ran: &Ran, flashmark: &Flashmark) {
    let begun = !flashmark.runs().is_empty();
    match ran.code {
        Some(0) => {}
        Some(5) => assert!(!begun || ran.err.contains("flashmark resume"), "nothing is said of resume: {ran}"),
        _ => panic!("{ran}"),
    }
}
