//! `resume` on a card that is not, or no longer, the run's own: nobody's photos are overwritten.

use std::fs;

use super::reader::Card;
use super::scene::{READER, SERIAL, Scenario, Scene};
use crate::card::{SUITE, refused, unchanged};
use crate::support::{MIB, Ran, tool};

pub const SCENARIOS: &[Scenario] = &[
    ("a reader is plugged in, its card swapped and ejected, the reader pulled", seen),
    ("resume on the same card, out of the slot meanwhile", the_same_card),
    ("resume on another card", another_card),
    ("resume on the card, formatted meanwhile", formatted_meanwhile),
    ("resume on the card behind another node", another_node),
    ("resume on the card behind another node, named", another_node_by_hand),
];

/// The guest sees each change of the reader.
fn seen(scene: &mut Scene<'_>) {
    let (one, other) = (scene.used_card("one"), scene.used_card("other"));
    let sum = |path: &std::path::Path| {
        tool("md5sum", &[path.to_str().unwrap()]).split_whitespace().next().unwrap().to_owned()
    };
    let content = |scene: &mut Scene<'_>| {
        scene.machine.done("dd if=/dev/sda bs=1M iflag=direct status=none | md5sum | cut -d' ' -f1")
    };
    scene.plug(&Card::slow(&one, 64 * MIB), "/dev/sda");
    assert_eq!(content(scene), sum(&one));
    scene.swap(&Card::new(&other));
    assert_eq!(content(scene), sum(&other));
    scene.machine.eject(READER);
    assert_ne!(scene.machine.run("dd if=/dev/sda of=/dev/null count=1 iflag=direct").code, Some(0));
    scene.machine.unplug(READER);
    scene.machine.until("[ ! -e /sys/block/sda ]");
}

/// Interrupts a run on a card in the reader with two cells done; returns the card.
fn interrupted(scene: &mut Scene<'_>) -> Card {
    let card = Card::new(&scene.used_card("mine"));
    let suite = scene.scratch.file("card.toml", SUITE.replace("4s", "15s"));
    scene.plug(&card, "/dev/sda");
    let run = scene.start(&format!("run /dev/sda --erase {SERIAL} --suite {}", suite.display()));
    scene.signal_after_cells(2, "INT");
    let ran = scene.machine.wait(&run);
    assert_eq!(ran.code, Some(130), "{ran}");
    card
}

fn another_card(scene: &mut Scene<'_>) {
    interrupted(scene);
    let photos = scene.photos("photos");
    let before = fs::read(&photos).unwrap();
    scene.swap(&Card::new(&photos));
    let ran = scene.run("resume latest");
    unchanged(&photos, &before, &ran);
    refused(&ran);
    let ran = scene.run(&format!("resume latest --erase {SERIAL} --yes"));
    assert_eq!(ran.code, Some(0), "{ran}");
}

fn formatted_meanwhile(scene: &mut Scene<'_>) {
    interrupted(scene);
    let photos = scene.photos("photos");
    // The owner's computer writes another file system and photos to the very same card.
    scene.machine.unplug(READER);
    let card = scene.scratch.at("mine");
    fs::copy(&photos, &card).unwrap();
    let before = fs::read(&card).unwrap();
    scene.plug(&Card::new(&card), "/dev/sda");
    let ran = scene.run("resume latest");
    unchanged(&card, &before, &ran);
    refused(&ran);
}

fn the_same_card(scene: &mut Scene<'_>) {
    let card = interrupted(scene);
    scene.swap(&card);
    let ran = scene.run("resume latest");
    assert_eq!(ran.code, Some(0), "{ran}");
}

/// Unplugs the reader while the program runs, which keeps the node in use: the next reader becomes
/// /dev/sdb.
fn unplugged(scene: &mut Scene<'_>) -> Ran {
    let card = Card::new(&scene.used_card("mine"));
    let suite = scene.scratch.file("card.toml", SUITE.replace("4s", "15s"));
    scene.plug(&card, "/dev/sda");
    // Something else holds the node, so that it is not free when the reader comes back.
    scene.machine.start("exec 4</dev/sda; exec sleep 1000");
    let run = scene.start(&format!("run /dev/sda --erase {SERIAL} --suite {}", suite.display()));
    scene.signal_after_cells(2, "INT");
    let ran = scene.machine.wait(&run);
    assert_eq!(ran.code, Some(130), "{ran}");
    scene.machine.unplug(READER);
    scene.plug(&card, "/dev/sdb");
    ran
}

fn another_node(scene: &mut Scene<'_>) {
    unplugged(scene);
    let ran = scene.run("resume latest");
    assert_eq!(ran.code, Some(0), "{ran}");
}

fn another_node_by_hand(scene: &mut Scene<'_>) {
    unplugged(scene);
    let ran = scene.run("resume latest /dev/sdb");
    assert_eq!(ran.code, Some(0), "{ran}");
}
