//! A machine whose power is cut while it writes its journal, on every file system for results. Its
//! disks lose what was not flushed: some of it, part of it, or all of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use stats::Random;

use crate::crash::{acknowledged, check_record};
use crate::forgetful::ForgetfulDisk;
use crate::support::{Flashmark, MIB, Scratch, has_root, has_tool, seed, times, tool};
use crate::tally::Tally;
use crate::vm::{Disk, Machine};

/// File systems, and the program that makes each.
const FILE_SYSTEMS: [(&str, &[&str]); 4] = [
    ("ext4", &["mkfs.ext4", "-q", "-F"]),
    ("xfs", &["mkfs.xfs", "-q", "-f"]),
    ("btrfs", &["mkfs.btrfs", "-q", "-f"]),
    ("vfat", &["mkfs.vfat"]),
];
/// Number of tests of a run on each: some file systems keep a cell ten times as fast as others, and
/// every run must be in its middle when the power is cut.
const TESTS: [usize; 4] = [80, 80, 40, 15];

/// A suite of very many short cells, four for each test.
fn very_many_cells(tests: usize) -> String {
    let one = "random-read block=4KiB span=4MiB iterations=50 min_time=10ms max_time=20ms";
    [one].repeat(tests).join("; ")
}

/// The program in the guest.
fn program() -> String {
    crate::support::program().display().to_string()
}

/// Number of cells that a guest showed of a run before the power was cut; each is shown when it is
/// durable.
pub fn shown(text: &str) -> usize {
    text.lines()
        .filter(|line| {
            line.starts_with("  ")
                && !line.starts_with("   ")
                && !line.contains("left out")
                && !line.trim_start().starts_with("note:")
        })
        .count()
}

#[test]
#[ignore = "minutes in a virtual machine: cargo validation torture --only power --times 1"]
fn results_shown_survive_a_power_cut() {
    if !has_root() || !FILE_SYSTEMS.iter().all(|(_, mkfs)| has_tool(mkfs[0])) {
        return;
    }
    let mut tallies = FILE_SYSTEMS.map(|(name, _)| {
        Tally::of("power", format!("power cuts, results on {name}, the disk's cache lost"))
    });
    let mut chance = Random::new(seed(51));
    for number in 0..times("CUTS", 1) {
        let scratch = Scratch::new();
        let disks = FILE_SYSTEMS.map(|(name, mkfs)| made(&scratch, name, mkfs));
        let suites = TESTS.map(|tests| scratch.suite(&very_many_cells(tests)));
        let Some((shown, lost)) = cut(&scratch, &disks, &suites, &mut chance) else { return };
        let Some(mut machine) = Machine::boot(&disks.clone().map(Disk)) else { return };
        for (index, (name, _)) in FILE_SYSTEMS.iter().enumerate() {
            tallies[index].attempt(1, &format!("cut {number}"), |tally| {
                tally.count("cells shown before", shown[index] as u64);
                tally.count("writes lost or torn", lost[index]);
                check_after(&mut machine, index, name, shown[index]);
            });
        }
    }
    tallies.into_iter().for_each(Tally::end);
}

/// A new file system in an image file.
fn made(scratch: &Scratch, name: &str, mkfs: &[&str]) -> PathBuf {
    let image = scratch.file(name, "");
    fs::File::options().write(true).open(&image).unwrap().set_len(320 * MIB).unwrap();
    tool(mkfs[0], &[&mkfs[1..], &[image.to_str().unwrap()]].concat());
    image
}

/// Node of a disk in the guest.
fn node(index: usize) -> String {
    format!("/dev/vd{}", char::from(b'a' + index as u8))
}

/// Mounts a file system in the guest; returns the mount point.
fn mount(machine: &mut Machine, index: usize, name: &str) -> String {
    let at = format!("/run/{name}");
    machine
        .done(&format!("modprobe {name}; mkdir -p {at} && mount -t {name} {} {at}", node(index)));
    at
}

/// Starts a run on each of the file systems and cuts the power in their middle; returns how many
/// cells each had shown, and how many writes its disk has lost.
fn cut(
    scratch: &Scratch,
    disks: &[PathBuf; 4],
    suites: &[String; 4],
    chance: &mut Random,
) -> Option<([usize; 4], [u64; 4])> {
    let mut forgetful = Vec::new();
    for ((name, _), disk) in FILE_SYSTEMS.iter().zip(disks) {
        forgetful.push(ForgetfulDisk::over(disk, &scratch.directory(&format!("{name}-disk")))?);
    }
    let mut machine =
        Machine::boot(&forgetful.iter().map(|disk| Disk(disk.file())).collect::<Vec<_>>())?;
    let mut index = 0;
    let tasks = FILE_SYSTEMS.map(|(name, _)| {
        let at = mount(&mut machine, index, name);
        let suite = &suites[index];
        index += 1;
        machine.start(&format!(
            "FLASHMARK_HOME={at}/runs exec {} run sim:class10 --suite {suite}",
            program()
        ))
    });
    let seen = |machine: &Machine| tasks.each_ref().map(|task| shown(&machine.output(task, "err")));
    crate::support::eventually("a cell on each file system", || {
        seen(&machine).iter().all(|cells| *cells > 0).then_some(())
    });
    std::thread::sleep(Duration::from_millis(chance.below(1000)));
    // In the middle of making something safe: there is nothing to lose at any other time.
    forgetful.iter().for_each(ForgetfulDisk::fails);
    crate::support::eventually("a flush on each disk", || {
        forgetful.iter().all(ForgetfulDisk::is_flushing).then_some(())
    });
    let seen = seen(&machine);
    machine.kill();
    let lost = std::array::from_fn(|index| forgetful[index].goes_off(chance));
    machine.cut_power();
    Some((seen, lost))
}

/// Checks after the cut that every cell that was shown can be shown again at once and is in the
/// journal, and that `resume` ends the run without changing one of them.
fn check_after(machine: &mut Machine, index: usize, name: &str, seen: usize) {
    let at = mount(machine, index, name);
    let text =
        machine.done(&format!("FLASHMARK_HOME={at}/runs exec {} show latest --json", program()));
    let record: Value = serde_json::from_str(&text).unwrap();
    let there = record["cells"].as_array().unwrap().len();
    assert!(there >= seen, "{seen} cells were shown, {there} are shown after the cut");
    if name == "vfat" {
        // Nothing of FAT mends itself when it is mounted. It says 1 where something was mended.
        machine
            .done(&format!("umount {at} && fsck.vfat -a {} || [ $? = 1 ] || exit 1", node(index)));
        mount(machine, index, name);
    }
    let copy = |machine: &mut Machine, to: &str| -> (Flashmark, BTreeMap<String, Value>) {
        machine.done(&format!("cp -r {at}/runs ./{name}-{to}"));
        let copy = Flashmark::keeping_at(&machine.shared(&format!("{name}-{to}")));
        let cells = acknowledged(&copy);
        (copy, cells)
    };
    let (_, before) = copy(machine, "before");
    assert!(before.len() >= seen, "{seen} cells were shown, {} are in the journal", before.len());
    machine.done(&format!("FLASHMARK_HOME={at}/runs exec {} resume latest --quiet", program()));
    let (after, _) = copy(machine, "after");
    check_record(&after.run_dir(), &before);
}
