//! Backup of `capacity`: what it overwrites on a loop device's medium is restored, whatever happens
//! to the medium in between; `vm::restored` of `validation/` pulls cards and readers.

use std::fs;
use std::process::Child;
use std::time::Duration;

use rustix::io::Errno;

use crate::card::{self, CARD_BYTES, changed_to, unchanged};
use crate::failing::{Answer, FailingMedium};
use crate::support::{
    Flashmark, LoopDevice, MIB, Ran, Scratch, eventually, node_of_its_own, skipped, tool,
};

/// Answers slow enough for something to happen in the middle.
const SLOW: Answer = Answer::Slow(8 * MIB);

/// A run without `--erase` that has written to the medium and not yet restored everything.
struct RestoreCase {
    child: Option<Child>,
    flashmark: Flashmark,
    device: Option<LoopDevice>,
    medium: FailingMedium,
    before: Vec<u8>,
    scratch: Scratch,
}

impl RestoreCase {
    fn in_the_middle() -> Option<RestoreCase> {
        let scratch = Scratch::new();
        let before = card::used("card");
        assert_eq!(before.len() as u64, CARD_BYTES);
        let medium =
            FailingMedium::holding(&scratch.directory("fuse"), "fuse.case", before.clone())?;
        let Some(device) = LoopDevice::at(&node_of_its_own(), &medium.file()) else {
            skipped("another program took the loop device");
            return None;
        };
        medium.answers(SLOW);
        let flashmark = Flashmark::new();
        let words = format!(
            "run {} --only capacity --set capacity.keep=8MiB --set capacity.cache=16MiB --quiet",
            device.word()
        );
        let child = flashmark.start(&words);
        let case = RestoreCase {
            child: Some(child),
            flashmark,
            device: Some(device),
            medium,
            before,
            scratch,
        };
        eventually("the first change on the medium", || case.changed());
        Some(case)
    }

    fn changed(&self) -> Option<String> {
        changed_to(&self.medium.content(), &self.before)
    }

    /// Waits for the run; checks that the medium is as it was.
    fn ends_unchanged(&mut self) -> Ran {
        let ran = Ran::from(self.child.take().unwrap().wait_with_output().unwrap());
        assert_eq!(self.changed(), None, "{ran}");
        ran
    }

    /// Kills the run in the middle.
    fn killed(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(self.changed().is_some(), "it was killed in the middle");
        self.medium.answers(Answer::Well);
    }

    /// Checks that `restore` restores everything.
    fn restored(&self) {
        let ran = self.flashmark.run(&["restore"]);
        assert_eq!(self.changed(), None, "{ran}");
        assert_eq!(ran.code, Some(0), "{ran}");
    }
}

#[test]
fn a_medium_that_is_gone_for_three_seconds_is_restored() {
    for away in [
        Answer::Error(Errno::NODEV),
        Answer::Error(Errno::IO),
        Answer::WriteError(Errno::IO),
        Answer::Nothing,
    ] {
        let Some(mut case) = RestoreCase::in_the_middle() else { return };
        case.medium.answers(away);
        std::thread::sleep(Duration::from_secs(3));
        case.medium.answers(Answer::Well);
        let ran = case.ends_unchanged();
        // Where nothing is read a loop device gives zeros and no error: for as long the medium is
        // as bad as it seems.
        let damaged = matches!(away, Answer::Nothing) && ran.code == Some(1);
        assert!(damaged || matches!(ran.code, Some(0 | 4)), "{away:?}: {ran}");
    }
}

#[test]
fn a_medium_that_is_read_only_for_six_seconds_is_restored() {
    let Some(mut case) = RestoreCase::in_the_middle() else { return };
    let node = case.device.as_ref().unwrap().word().to_owned();
    tool("blockdev", &["--setro", &node]);
    std::thread::sleep(Duration::from_secs(6));
    tool("blockdev", &["--setrw", &node]);
    let ran = case.ends_unchanged();
    assert_ne!(ran.code, Some(1), "a medium that was read-only for 6 s is not a fake: {ran}");
}

/// `check` said "Genuine? yes" of such a medium, and `run --erase` overwrote the place of data that
/// was still to be restored.
#[test]
fn a_medium_with_a_pending_restore_is_not_written_to() {
    let Some(mut case) = RestoreCase::in_the_middle() else { return };
    let early = case.flashmark.run(&["restore"]);
    assert!(early.code == Some(3) && early.err.contains("is being written by"), "{early}");
    case.killed();
    let node = case.device.as_ref().unwrap().word().to_owned();
    let before = case.medium.content();
    let erase = ["run", &node, "--erase", &node, "--yes", "--suite", "quick", "--time-limit", "2s"];
    for words in [&["check", &node, "--budget", "5s"][..], &erase] {
        let ran = case.flashmark.run(words);
        assert_eq!(ran.code, Some(3), "{words:?}: {ran}");
        assert!(ran.err.contains("type: flashmark restore "), "{words:?}: {ran}");
        assert_eq!(changed_to(&case.medium.content(), &before), None, "{ran}");
    }
    case.restored();
    let ran = case.flashmark.run(&["check", &node, "--budget", "5s", "--quiet"]);
    assert_ne!(ran.code, Some(3), "{ran}");
}

#[test]
fn a_killed_run_is_restored_onto_its_own_medium_only() {
    let Some(mut case) = RestoreCase::in_the_middle() else { return };
    case.killed();
    let photos = card::photos(&case.scratch, "photos");
    let before = fs::read(&photos).unwrap();
    let node = case.device.take().unwrap().word().to_owned();
    let Some(other) = LoopDevice::at(&node, &photos) else {
        return skipped("another program took the loop device");
    };
    for words in [&["restore"][..], &["restore", "latest", &node]] {
        let ran = case.flashmark.run(words);
        unchanged(&photos, &before, &ran);
        assert_eq!(ran.code, Some(3), "{ran}");
    }
    drop(other);
    case.device = LoopDevice::at(&node, &case.medium.file());
    if case.device.is_none() {
        return skipped("another program took the loop device");
    }
    case.restored();
}

/// `restore` said "nothing is missing" of a log in which the place of a piece was damaged, and
/// deleted it.
#[test]
fn a_killed_run_is_restored_though_its_journal_is_damaged_and_keeps_a_damaged_log() {
    for line in [1, 2] {
        let Some(mut case) = RestoreCase::in_the_middle() else { return };
        case.killed();
        let dir = case.flashmark.run_dir();
        let (journal, log) = (dir.join("journal.jsonl"), dir.join(store::BACKUP_FILE));
        let text = fs::read_to_string(&journal).unwrap();
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        lines[line - 1].replace_range(..8, "00000000");
        fs::write(&journal, lines.concat()).unwrap();
        let whole = fs::read(&log).unwrap();
        let first = whole[1..].windows(8).position(|bytes| bytes == &whole[..8]).unwrap() + 1;
        let mut damaged = whole.clone();
        damaged[first + 16] ^= 1;
        fs::write(&log, damaged).unwrap();
        let ran = case.flashmark.run(&["restore"]);
        let is_reported = ran.out.contains("an unknown place: the copy is damaged");
        assert!(ran.code == Some(4) && is_reported && log.exists(), "{ran}");
        fs::write(&log, whole).unwrap();
        case.restored();
    }
}
