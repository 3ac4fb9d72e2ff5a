//! A machine whose power is cut while it journals, on every file system that results may lie on.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::crash::{acknowledged, check_record};
use crate::support::{Chance, Flashmark, MIB, Scratch, has_root, has_tool, seed, times, tool};
use crate::torture::Tally;
use crate::vm::{Disk, Machine};

/// File systems, and the program that makes each.
const FILE_SYSTEMS: [(&str, &[&str]); 4] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"]),
    ("xfs", &["mkfs.xfs", "-q", "-f"]),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"]),
    ("vfat", &["mkfs.vfat"]),
];

/// A suite of very many cells of a moment each.
fn very_many_cells() -> String {
    let one = "\n[[test]]\nname = \"random-read\"\nblock = \"4KiB\"\nspan = \"4MiB\"\niterations = 50\nmin_time = \"10ms\"\nmax_time = \"20ms\"\n";
    format!("name = \"very-many\"\n{}", one.repeat(80))
}

/// The program in the guest.
fn program() -> String {
    assert_cmd::cargo::cargo_bin!("flashmark").display().to_string()
}

/// What a guest showed of the run on a file system before the power was cut: cells, each shown when it was durable.
fn shown(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("  ") && !line.contains("left out") && !line.trim_start().starts_with("note:")).count()
}

#[test]
fn what_was_shown_outlives_a_power_cut() {
    if !has_root() || !FILE_SYSTEMS.iter().all(|(_, mkfs)| has_tool(mkfs[0])) {
        return;
    }
    let mut tallies = FILE_SYSTEMS.map(|(name, _)| Tally::of("power", format!("power cuts, results on {name}")));
    let mut chance = Chance(seed(51));
    for number in 0..times("CUTS", 1) {
        let scratch = Scratch::new();
        let disks = FILE_SYSTEMS.map(|(name, mkfs)| made(&scratch, name, mkfs));
        let suite = scratch.file("very-many.toml", very_many_cells());
        let Some(shown) = cut(&disks, &suite, &mut chance) else { return };
        let Some(mut machine) = Machine::boot(&disks.clone().map(Disk)) else { return };
        for (index, (name, _)) in FILE_SYSTEMS.iter().enumerate() {
            tallies[index].attempt(1, &format!("cut {number}"), |tally| {
                tally.count("cells shown before", shown[index] as u64);
                check_after(&mut machine, index, name, shown[index]);
            });
        }
    }
    tallies.into_iter().for_each(Tally::end);
}

/// An empty file system in a file.
fn made(scratch: &Scratch, name: &str, mkfs: &[&str]) -> PathBuf {
    let image = scratch.file(name, "");
    fs::File::options().write(true).open(&image).unwrap().set_len(320 * MIB).unwrap();
    tool(mkfs[0], &[&mkfs[1..], &[image.to_str().unwrap()]].concat());
    image
}

/// Where a file system is mounted in the guest.
fn mount(machine: &mut Machine, index: usize, name: &str) -> String {
    let (node, at) = (format!("/dev/vd{}", char::from(b'a' + index as u8)), format!("/run/{name}"));
    machine.done(&format!("modprobe {name}; mkdir -p {at} && mount -t {name} {node} {at}"));
    at
}

/// Starts a run on each of the file systems and cuts the power in their middle; how many cells each had shown.
fn cut(disks: &[PathBuf; 4], suite: &Path, chance: &mut Chance) -> Option<[usize; 4]> {
    let mut machine = Machine::boot(&disks.clone().map(Disk))?;
    let mut index = 0;
    let tasks = FILE_SYSTEMS.map(|(name, _)| {
        let at = mount(&mut machine, index, name);
        index += 1;
        machine.start(&format!("FLASHMARK_HOME={at}/runs exec {} run sim:class10 --suite {}", program(), suite.display()))
    });
    let seen = |machine: &Machine| tasks.each_ref().map(|task| shown(&machine.said(task, "err")));
    crate::support::eventually("a cell on each file system", || seen(&machine).iter().all(|cells| *cells > 0).then_some(()));
    std::thread::sleep(Duration::from_millis(chance.below(2000)));
    let seen = seen(&machine);
    machine.cut_power();
    Some(seen)
}

/// After the cut: every cell that was shown is in the journal, and `resume` ends the run without changing one of them.
fn check_after(machine: &mut Machine, index: usize, name: &str, shown: usize) {
    let at = mount(machine, index, name);
    let copy = |machine: &mut Machine, to: &str| -> (Flashmark, BTreeMap<String, Value>) {
        machine.done(&format!("cp -r {at}/runs ./{name}-{to}"));
        let copy = Flashmark::keeping_at(&machine.shared(&format!("{name}-{to}")));
        let cells = acknowledged(&copy);
        (copy, cells)
    };
    let (_, before) = copy(machine, "before");
    assert!(before.len() >= shown, "{shown} cells were shown, {} are in the journal", before.len());
    machine.done(&format!("FLASHMARK_HOME={at}/runs exec {} resume latest --quiet", program()));
    let (after, _) = copy(machine, "after");
    check_record(&after.run_dir(), &before);
}
