//! Backup of `capacity`: what it overwrites on a medium without permission to erase is restored
//! afterwards, whatever happens in between.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stats::Random;

use super::machine::{Disk, Machine, Task};
use super::reader::Card;
use super::scene::{READER, SERIAL, Scenario, Scene};
use crate::card::{changed, unchanged};
use crate::support::{MIB, Scratch, eventually, seed, times, tool};
use crate::tally::Tally;

/// Rate in bytes per second that is slow enough for something to happen in the middle.
const MAX_BPS: u64 = 6 * MIB;

const CHECK: &str = "check /dev/sda";
const CAPACITY: &str =
    "run /dev/sda --only capacity --set capacity.keep=8MiB --set capacity.cache=16MiB";

pub const SCENARIOS: &[Scenario] = &[
    ("capacity, the card out of the slot for 3 s", out_of_the_slot),
    ("capacity, the reader pulled for 3 s", unplugged),
];

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only cards"]
fn a_card_is_restored_after_a_power_cut() {
    let mut tally = Tally::of("lent", "check or capacity, the power cut, then restore");
    let mut chance = Random::new(seed(52));
    for number in 0..times("CARDS", 1) {
        let words = [CHECK, CAPACITY][number as usize % 2];
        let waits = Duration::from_millis(chance.below(1500));
        tally.attempt(1, &format!("cut {number}"), |tally| cut_and_restored(words, waits, tally));
    }
    tally.end();
}

fn cut_and_restored(words: &str, waits: Duration, tally: &mut Tally) {
    let scratch = Scratch::new();
    let results = scratch.file("results", "");
    fs::File::options().write(true).open(&results).unwrap().set_len(256 * MIB).unwrap();
    tool("mkfs.ext4", &["-q", "-F", results.to_str().unwrap()]);
    let Some(mut machine) = Machine::boot(&[Disk(results.clone())]) else { return };
    mount(&mut machine);
    let mut scene = Scene::keeping_at(&mut machine, HOME);
    let (image, before, _run) = in_the_middle(&mut scene, words);
    std::thread::sleep(waits);
    let cards = scene.scratch;
    machine.cut_power();
    tally.count("in the middle", changed(&image, &before).is_some().into());

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
fn in_the_middle(scene: &mut Scene<'_>, words: &str) -> (PathBuf, Vec<u8>, Task) {
    let image = scene.used_card("card");
    let before = fs::read(&image).unwrap();
    scene.plug(&Card::slow(&image, MAX_BPS), "/dev/sda");
    let run = scene.start(words);
    is_touched(&image, &before);
    (image, before, run)
}

fn out_of_the_slot(scene: &mut Scene<'_>) {
    let (image, before, run) = in_the_middle(scene, CAPACITY);
    scene.machine.eject(READER);
    std::thread::sleep(Duration::from_secs(3));
    scene.machine.swap(READER, &Card::new(&image));
    let ran = scene.machine.wait(&run);
    unchanged(&image, &before, &ran);
}

fn unplugged(scene: &mut Scene<'_>) {
    let (image, before, run) = in_the_middle(scene, CAPACITY);
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
