//! Commands that are killed with SIGKILL at random moments; `run` and `resume` are in `crash`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use stats::Random;

use crate::crash::{acknowledged, check_record};
use crate::support::{Flashmark, LoopDevice, MIB, Scratch, eventually, has_root, seed, times};
use crate::tally::Tally;

/// Kills it after a random time, at most `most_us`; true if it was still running.
fn kill_within(child: &mut Child, most_us: u64, chance: &mut Random) -> bool {
    std::thread::sleep(Duration::from_micros(chance.below(most_us)));
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// Waits for a kill: three of four come after a condition holds, however slow the machine is; the
/// others at the beginning.
fn begun(number: u64, child: &mut Child, is_so: impl Fn() -> bool) {
    if !number.is_multiple_of(4) {
        eventually("it to begin", || {
            (is_so() || !matches!(child.try_wait(), Ok(None))).then_some(())
        });
    }
}

/// Name of a run, by its directory.
pub fn name_of(run: &Path) -> String {
    run.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Data that `capacity` overwrote are there again after `restore`, whenever it was killed.
#[test]
#[ignore = "minutes: cargo validation torture --only kills"]
fn what_capacity_overwrites_is_restored() {
    if !has_root() {
        return;
    }
    let (mut tally, mut chance) = (
        Tally::of("kills", "check or capacity without --erase, then restore"),
        Random::new(seed(11)),
    );
    let scratch = Scratch::new();
    let image = scratch.image("image", 128 * MIB);
    let before = fs::read(&image).unwrap();
    for number in 0..times("KILLS", 5) {
        tally.attempt(1, &format!("kill {number}"), |tally| {
            fs::write(&image, &before).unwrap();
            let device = LoopDevice::new(&image);
            let flashmark = Flashmark::new();
            let device = device.word();
            let mut child = flashmark.start(&match number % 2 {
                0 => format!("check {device} --quiet"),
                _ => format!("run {device} --only capacity --quiet --set capacity.keep=8MiB"),
            });
            let overwritten =
                |run: &PathBuf| fs::metadata(run.join("undo.log")).is_ok_and(|log| log.len() > 0);
            let has_overwritten = || flashmark.runs().iter().any(overwritten);
            begun(number, &mut child, has_overwritten);
            tally.count("alive when killed", kill_within(&mut child, 120_000, &mut chance).into());
            let changed = fs::read(&image).unwrap() != before;
            tally.count("in the middle", changed.into());
            if changed && number.is_multiple_of(3) {
                let mut restore = flashmark.start(&["restore"]);
                tally
                    .count("restore killed", kill_within(&mut restore, 60_000, &mut chance).into());
            }
            if has_overwritten() {
                flashmark.done(&["restore"]);
            }
            assert!(fs::read(&image).unwrap() == before, "something was not restored");
        });
    }
    tally.end();
}

#[test]
#[ignore = "minutes: cargo validation torture --only kills"]
fn a_matrix_ends_after_it_was_killed() {
    if !has_root() {
        return;
    }
    let (mut tally, mut chance) =
        (Tally::of("kills", "matrix, loop device"), Random::new(seed(12)));
    for number in 0..times("KILLS", 5).div_ceil(5) {
        tally.attempt(1, &format!("kill {number}"), |tally| {
            let scratch = Scratch::new();
            let image = scratch.file("image", "");
            fs::File::options().write(true).open(&image).unwrap().set_len(96 * MIB).unwrap();
            let device = LoopDevice::new(&image);
            let flashmark = Flashmark::new();
            let line = format!(
                "matrix {0} --erase {0} --fs ext2,ext4 --repeats 1 --most-repeats 1 --scheduler none --work logger --set logger.lines=40 --quiet",
                device.word()
            );
            let mut child = flashmark.start(&line);
            begun(number, &mut child, || !flashmark.runs().is_empty());
            tally
                .count("alive when killed", kill_within(&mut child, 3_000_000, &mut chance).into());
            let before = acknowledged(&flashmark);
            let name = flashmark.runs().first().map(|run| name_of(run));
            tally.count("before the run had begun", name.is_none().into());
            let again = name.map_or(line, |name| format!("resume {name} --quiet"));
            // What the killed one had started (mkfs, mount) outlives it by a moment, and holds the
            // device: refused until then.
            let ended = eventually("the device to be free", || {
                Some(flashmark.run(&again)).filter(|ran| ran.code != Some(3))
            });
            assert_eq!(ended.code, Some(0), "{ended}");
            check_kept(&before, &acknowledged(&flashmark));
            let notes =
                || fs::read_dir(flashmark.home().join(".staged")).map_or(0, Iterator::count);
            // A program that the killed one had started may have lived on while this one began; the
            // next one undoes what it kept.
            tally.count("undone by the next but one", u64::from(notes() > 0));
            if notes() > 0 {
                let read = "--only sequential-read --quiet --time-limit 1s";
                flashmark.done(&format!("run {} {read}", device.word()));
            }
            assert_eq!(notes(), 0, "something is left to undo");
            let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
            assert!(
                !mounts.lines().any(|line| line.starts_with(&format!("{} ", device.word()))),
                "it is still mounted"
            );
        });
    }
    tally.end();
}

/// Checks that every acknowledged cell is there, as it was.
fn check_kept(
    before: &BTreeMap<String, serde_json::Value>,
    now: &BTreeMap<String, serde_json::Value>,
) {
    for (id, cell) in before {
        assert_eq!(now.get(id), Some(cell), "{id} was acknowledged and is gone or changed");
    }
}

#[test]
#[ignore = "minutes: cargo validation torture --only kills"]
fn a_killed_replay_leaves_a_run_that_can_be_shown() {
    let (mut tally, mut chance) =
        (Tally::of("kills", "replay, simulated medium"), Random::new(seed(14)));
    let trace =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/traces/fio-ext4.blktrace.0");
    for number in 0..times("KILLS", 5) {
        tally.attempt(1, &format!("kill {number}"), |tally| {
            let flashmark = Flashmark::new();
            let mut child = flashmark.start(&format!("replay {} sim:a1 --quiet", trace.display()));
            tally.count("alive when killed", kill_within(&mut child, 120_000, &mut chance).into());
            let before = acknowledged(&flashmark);
            for run in flashmark.runs() {
                let name = name_of(&run);
                // A replay is not gone on with; one that had ended is concluded.
                let resumed = flashmark.run(&format!("resume {name} --quiet"));
                assert!(matches!(resumed.code, Some(0 | 2 | 3)), "{resumed}");
                if run.join("record.json").is_file() {
                    flashmark.done(&format!("show {name}"));
                    check_record(&run, &before);
                }
                flashmark.done(&["runs"]);
                check_kept(&before, &acknowledged(&flashmark));
            }
        });
    }
    tally.end();
}
