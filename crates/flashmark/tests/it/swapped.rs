//! `resume` on a loop device whose medium is not, or no longer, the run's own; `vm::away` of
//! `validation/` takes cards out of a reader while a run goes on.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::card::{self, SUITE, refused, unchanged};
use crate::crash::{acknowledged, check_record};
use crate::support::{
    Flashmark, LoopDevice, Ran, Scratch, eventually, has_root, node_of_its_own, skipped,
};

/// A path that stands for the slot of a reader: a file moved there is the card in the slot.
struct Slot {
    device: Option<LoopDevice>,
    node: String,
    flashmark: Flashmark,
    scratch: Scratch,
}

impl Slot {
    /// A slot with the run's own card, on which a run was interrupted with two cells done.
    fn interrupted() -> Option<Slot> {
        Slot::interrupted_in(|scratch, node| {
            let suite = scratch.suite(SUITE);
            ["run", node, "--erase", node, "--suite", &suite, "--quiet"].map(str::to_owned).into()
        })
    }

    /// A slot with the card of a command, which was interrupted with two cells done.
    fn interrupted_in(command: impl FnOnce(&Scratch, &str) -> Vec<String>) -> Option<Slot> {
        let scratch = has_root().then(Scratch::new)?;
        scratch.file("slot", card::used("mine"));
        let mut slot =
            Slot { device: None, node: node_of_its_own(), flashmark: Flashmark::new(), scratch };
        slot.attach()?;
        let words = command(&slot.scratch, &slot.node);
        let child = slot.flashmark.start(&words.iter().map(String::as_str).collect::<Vec<_>>());
        eventually("the second cell", || (acknowledged(&slot.flashmark).len() >= 2).then_some(()));
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, Some(130), "{ran}");
        Some(slot)
    }

    fn attach(&mut self) -> Option<()> {
        self.device = LoopDevice::at(&self.node, &self.scratch.at("slot"));
        if self.device.is_none() {
            skipped("another program took the loop device");
        }
        self.device.as_ref().map(|_| ())
    }

    /// Takes out the card and puts in another one; returns the path of the card that was taken out.
    fn swap(&mut self, card: &Path) -> Option<PathBuf> {
        self.device = None;
        let slot = self.scratch.at("slot");
        fs::rename(&slot, self.scratch.at("out")).unwrap();
        fs::rename(card, &slot).unwrap();
        self.attach()?;
        Some(slot)
    }

    /// Outcome of `resume` with these further words.
    fn resume(&self, more: &[&str]) -> Ran {
        self.flashmark.run(&[&["resume", "latest", "--quiet"], more].concat())
    }

    /// Checks that `resume` completes the run, and no cell is lost.
    fn ends(&self, more: &[&str]) {
        let before = acknowledged(&self.flashmark);
        let ran = self.resume(more);
        assert_eq!(ran.code, Some(0), "{ran}");
        check_record(&self.flashmark.run_dir(), &before);
    }
}

#[test]
fn another_medium_in_the_same_slot_is_refused() {
    let Some(mut slot) = Slot::interrupted() else { return };
    let photos = card::photos(&slot.scratch, "photos");
    let before = fs::read(&photos).unwrap();
    let Some(photos) = slot.swap(&photos) else { return };
    let ran = slot.resume(&[]);
    unchanged(&photos, &before, &ran);
    refused(&ran);
    let node = slot.node.clone();
    slot.ends(&["--erase", &node, "--yes"]);
}

/// A matrix makes file systems on all of its medium.
#[test]
fn another_medium_in_the_slot_of_a_matrix_is_refused() {
    let words =
        "--fs ext2 --scheduler none --repeats 99 --work logger --set logger.lines=40 --yes --quiet";
    let matrix = |_: &Scratch, node: &str| {
        ["matrix", node, "--erase", node]
            .into_iter()
            .chain(words.split(' '))
            .map(str::to_owned)
            .collect()
    };
    let Some(mut slot) = Slot::interrupted_in(matrix) else { return };
    let photos = card::photos(&slot.scratch, "photos");
    let before = fs::read(&photos).unwrap();
    let Some(photos) = slot.swap(&photos) else { return };
    let ran = slot.resume(&[]);
    unchanged(&photos, &before, &ran);
    refused(&ran);
    let ran = slot.resume(&["--erase", "somebody's card", "--yes"]);
    unchanged(&photos, &before, &ran);
    assert!(ran.code == Some(3) && ran.err.contains("its own name is"), "{ran}");
    let node = slot.node.clone();
    let ran = slot.resume(&["--erase", &node]);
    unchanged(&photos, &before, &ran);
    assert_eq!(ran.code, Some(3), "nobody is there to be asked: {ran}");
}

#[test]
fn another_medium_named_by_hand_is_refused() {
    let Some(slot) = Slot::interrupted() else { return };
    let photos = card::photos(&slot.scratch, "photos");
    let before = fs::read(&photos).unwrap();
    let other = LoopDevice::new(&photos);
    let ran = slot.resume(&[other.word()]);
    unchanged(&photos, &before, &ran);
    refused(&ran);
}

#[test]
fn the_same_medium_is_known_again_at_its_node_and_under_another() {
    let Some(mut slot) = Slot::interrupted() else { return };
    slot.device = None;
    let Some(()) = slot.attach() else { return };
    slot.ends(&[]);
    for is_named in [false, true] {
        let Some(mut slot) = Slot::interrupted() else { return };
        slot.device = None;
        slot.node = node_of_its_own();
        let Some(()) = slot.attach() else { return };
        let node = [slot.node.as_str()];
        slot.ends(if is_named { &node } else { &[] });
    }
}
