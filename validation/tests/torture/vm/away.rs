//! A card that leaves the slot, or is unplugged with its reader, at a random moment of a run, and
//! comes back: as it was, at another node, read-only, or with another card in its place.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::machine::Machine;
use super::reader::Card;
use super::scene::{READER, SERIAL, Scene};
use stats::Random;

use crate::card::unchanged;
use crate::crash::{MANY_CELLS, acknowledged, check_record};
use crate::support::{Flashmark, Ran, seed, times};
use crate::tally::Tally;

/// State in which it comes back.
#[derive(Clone, Copy, PartialEq)]
enum Back {
    AsItWas,
    AnotherNode,
    ReadOnly,
    AnotherCard,
}

const BACKS: [(&str, Back); 4] = [
    ("back as it was", Back::AsItWas),
    ("back under another node", Back::AnotherNode),
    ("back read-only", Back::ReadOnly),
    ("another card in its place", Back::AnotherCard),
];

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only medium --times 1"]
fn a_run_whose_card_was_gone_for_a_while_comes_to_its_end() {
    let Some(mut machine) = Machine::boot(&[]) else { return };
    let (seconds, mut chance) =
        (if times("GONE", 0) == 0 { &[1][..] } else { &[1, 5, 50] }, Random::new(seed(42)));
    let mut failed = Vec::new();
    for &seconds in seconds {
        for (what, back) in BACKS {
            let mut tally =
                Tally::of("medium", format!("card or reader gone for {seconds} s, {what}"));
            for number in 0..times("GONE", 1) {
                let mut scene =
                    Scene::keeping_at(&mut machine, &format!("/tmp/away-{seconds}-{number}"));
                tally.attempt(1, &format!("run {number}"), |tally| {
                    gone(&mut scene, (seconds, back), &mut chance, tally)
                });
                scene.clear();
            }
            failed.extend(tally.report());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// One run whose card is away from a random moment on.
fn gone(
    scene: &mut Scene<'_>,
    (seconds, back): (u64, Back),
    chance: &mut Random,
    tally: &mut Tally,
) {
    let (mine, photos) = (scene.used_card("mine"), scene.photos("photos"));
    let others = fs::read(&photos).unwrap();
    let suite = scene.scratch.suite(MANY_CELLS);
    scene.plug(&Card::new(&mine), "/dev/sda");
    if back == Back::AnotherNode {
        // Something else holds the node, so that it is not free when the reader comes back.
        scene.machine.start("exec 4</dev/sda; exec sleep 1000");
    }
    let run = scene.start(&format!("run /dev/sda --erase {SERIAL} --suite {}", suite));
    if chance.below(5) > 0 {
        scene.cells(1 + chance.below(12) as u32);
    }
    std::thread::sleep(Duration::from_millis(chance.below(1000)));
    let with_its_reader =
        matches!(back, Back::AnotherNode | Back::ReadOnly) || chance.below(2) == 0;
    take(scene, with_its_reader);
    std::thread::sleep(Duration::from_secs(seconds));
    let card = match back {
        Back::AsItWas | Back::AnotherNode => Card::new(&mine),
        Back::ReadOnly => Card::read_only(&mine),
        Back::AnotherCard => Card::new(&photos),
    };
    put(scene, with_its_reader, &card);
    let ran = scene.machine.wait(&run);
    assert!(matches!(ran.code, Some(0 | 2 | 3 | 4)), "{ran}");
    tally.count("ended early", u64::from(ran.code != Some(0)));
    if back == Back::AnotherCard {
        unchanged(&photos, &others, &ran);
    }
    goes_on(scene, (back, &mine), &ran, tally);
    if back == Back::AnotherCard {
        unchanged(&photos, &others, &ran);
    }
}

/// Checks that the run ends with its own card, writable, and that nothing is written before.
fn goes_on(scene: &mut Scene<'_>, (back, mine): (Back, &Path), ran: &Ran, tally: &mut Tally) {
    if !scene.has_runs() {
        assert_ne!(ran.code, Some(0), "{ran}");
        return tally.count("before the run had begun", 1);
    }
    let before = acknowledged(&Flashmark::keeping_at(&scene.kept()));
    if matches!(back, Back::ReadOnly | Back::AnotherCard) {
        let content = fs::read(mine).unwrap();
        let refused = scene.run("resume latest");
        unchanged(mine, &content, &refused);
        assert!(ran.code == Some(0) || refused.code != Some(0), "after {ran}resume: {refused}");
        tally.count("refused on it", u64::from(refused.code == Some(3)));
        take(scene, true);
        put(scene, true, &Card::new(mine));
    }
    let resumed = scene.run("resume latest");
    assert_eq!(resumed.code, Some(0), "after {ran}resume: {resumed}");
    check_record(&Flashmark::keeping_at(&scene.kept()).run_dir(), &before);
}

fn take(scene: &mut Scene<'_>, with_its_reader: bool) {
    if with_its_reader { scene.machine.unplug(READER) } else { scene.machine.eject(READER) }
}

/// Puts the card in, and waits until a node of the reader has a medium.
fn put(scene: &mut Scene<'_>, with_its_reader: bool, card: &Card) {
    if with_its_reader {
        scene.machine.plug(READER, SERIAL, Some(card));
    } else {
        scene.machine.swap(READER, card);
    }
    scene.machine.until(
        "for node in /dev/sd?; do blockdev --getsize64 $node 2>/dev/null; done | grep -qv '^0$'",
    );
}
