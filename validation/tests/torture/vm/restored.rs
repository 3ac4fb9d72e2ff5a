//! Backup of `capacity`: what it overwrites on a medium without permission to erase is restored
//! afterwards, whatever happens in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::machine::Task;
use super::machine::{Disk, Machine};
use super::reader::Card;
use super::scene::{READER, SERIAL, Scenario, Scene};
use crate::card::{changed, unchanged};
use crate::support::{MIB, Scratch, eventually, tool};

/// Rate in bytes per second that is slow enough for something to happen in the middle.
const MAX_BPS: u64 = 6 * MIB;

pub const SCENARIOS: &[Scenario] = &[
    ("capacity, the card out of the slot for 3 s", out_of_the_slot),
    ("capacity, the reader pulled for 3 s", unplugged),
];

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only cards"]
fn a_card_is_restored_after_a_power_cut() {
    let scratch = Scratch::new();
    let results = scratch.file("results", "");
    fs::File::options().write(true).open(&results).unwrap().set_len(256 * MIB).unwrap();
    tool("mkfs.ext4", &["-q", "-F", results.to_str().unwrap()]);
    let Some(mut machine) = Machine::boot(&[Disk(results.clone())]) else { return };
    mount(&mut machine);
    let mut scene = Scene::keeping_at(&mut machine, HOME);
    let (image, before, _run) = in_the_middle(&mut scene);
    let cards = scene.scratch;
    machine.cut_power();
    assert!(changed(&image, &before).is_some(), "the power was cut in the middle");

    let Some(mut machine) = Machine::boot(&[Disk(results)]) else { return };
    mount(&mut machine);
    let mut scene = Scene::keeping_at(&mut machine, HOME);
    scene.plug(&Card::new(&image), "/dev/sda");
    let ran = scene.run("restore");
    unchanged(&image, &before, &ran);
    assert_eq!(ran.code, Some(0), "{ran}");
    drop(cards);
}

/// Directory of results on a disk that outlives the machine.
const HOME: &str = "/run/results/home";

fn mount(machine: &mut Machine) {
    machine.done("mkdir -p /run/results && mount /dev/vda /run/results");
}

/// A run that has written to the card and not yet restored everything: the card, what was on it,
/// and the run.
fn in_the_middle(scene: &mut Scene<'_>) -> (PathBuf, Vec<u8>, Task) {
    let image = scene.used_card("card");
    let before = fs::read(&image).unwrap();
    scene.plug(&Card::slow(&image, MAX_BPS), "/dev/sda");
    let run = scene
        .start("run /dev/sda --only capacity --set capacity.keep=8MiB --set capacity.cache=16MiB");
    is_touched(&image, &before);
    (image, before, run)
}

fn out_of_the_slot(scene: &mut Scene<'_>) {
    let (image, before, run) = in_the_middle(scene);
    scene.machine.eject(READER);
    std::thread::sleep(Duration::from_secs(3));
    scene.machine.swap(READER, &Card::new(&image));
    let ran = scene.machine.wait(&run);
    unchanged(&image, &before, &ran);
}

fn unplugged(scene: &mut Scene<'_>) {
    let (image, before, run) = in_the_middle(scene);
    scene.machine.unplug(READER);
    std::thread::sleep(Duration::from_secs(3));
    scene.machine.plug(READER, SERIAL, Some(&Card::new(&image)));
    let ran = scene.machine.wait(&run);
    unchanged(&image, &before, &ran);
}

/// Waits until the image is no longer what it was.
fn is_touched(image: &Path, before: &[u8]) {
    eventually("the first change on the card", || (changed(image, before).is_some()).then_some(()));
}
