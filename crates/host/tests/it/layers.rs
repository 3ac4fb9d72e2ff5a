//! Test of directories on overlays and in memory: the storage of data written there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use flashmark_host::{Access, Location, Roots, device_of_directory, prove_on_device, resolve};
use record::Flag;

use crate::machine::Machine;

/// A machine with a root disk and a stick, and some directories that exist.
struct LayeredMachine {
    machine: Machine,
    dir: PathBuf,
}

impl LayeredMachine {
    fn new() -> LayeredMachine {
        let mut machine = Machine::new();
        machine.with_root_disk();
        machine.with_stick();
        let dir = fs::canonicalize(machine.path("")).unwrap();
        LayeredMachine { machine, dir }
    }

    /// A directory of the machine.
    fn directory(&self, name: &str) -> PathBuf {
        fs::create_dir_all(self.dir.join(name)).unwrap();
        self.dir.join(name)
    }

    fn mount(
        &mut self,
        number: &str,
        at: &str,
        kind: &str,
        source: &str,
        options: &str,
    ) -> PathBuf {
        let at = self.directory(at);
        self.machine.mount(number, &at, kind, source, options);
        at
    }

    fn overlay(&mut self, at: &str, options: &str) -> PathBuf {
        let options = format!("rw,{}", options.replace("DIR", self.dir.to_str().unwrap()));
        self.mount("0:50", at, "overlay", "overlay", &options)
    }

    fn place(&self, path: &Path) -> Location {
        device_of_directory(&self.machine.roots, path).unwrap()
    }

    /// Name of the disk, true if it is in memory, and the flags of a target there.
    fn found(&self, path: &Path) -> (Option<String>, bool) {
        let place = self.place(path);
        let found = resolve(&self.machine.roots, path.to_str().unwrap(), Access::Read).unwrap();
        let is_nowhere = place.disk.is_none() && !place.in_memory;
        assert_eq!(place.in_memory, found.flags().contains(&Flag::MemoryFilesystem));
        assert_eq!(is_nowhere, found.flags().contains(&Flag::UnknownMedium));
        assert!(
            !place.in_memory || found.medium().is_none(),
            "memory goes under the name of {:?}",
            found.medium()
        );
        (place.disk.map(|disk| disk.name), place.in_memory)
    }
}

fn on(disk: &str) -> (Option<String>, bool) {
    (Some(disk.to_owned()), false)
}

const MEMORY: (Option<String>, bool) = (None, true);
const NOWHERE: (Option<String>, bool) = (None, false);

#[test]
fn an_overlay_is_where_its_upper_layer_is() {
    let mut layered = LayeredMachine::new();
    layered.mount("0:30", "memory", "tmpfs", "tmpfs", "rw");
    layered.mount("8:17", "stick", "ext4", "/dev/sdb1", "rw");
    for layer in ["lower", "memory/upper", "stick/upper"] {
        layered.directory(layer);
    }
    let live = layered
        .overlay("live", "lowerdir=DIR/lower,upperdir=DIR/memory/upper,workdir=DIR/memory/work");
    assert_eq!(layered.found(&live), MEMORY);
    let kept = layered
        .overlay("kept", "lowerdir=DIR/lower,upperdir=DIR/stick/upper,workdir=DIR/stick/work");
    assert_eq!(layered.found(&kept), on("sdb"));
    // over one another
    layered.directory("live/upper");
    let twice = layered
        .overlay("twice", "lowerdir=DIR/lower,upperdir=DIR/live/upper,workdir=DIR/live/work");
    assert_eq!(layered.found(&twice), MEMORY);
    // and over themselves, as a bind mount can make it look
    let own =
        layered.overlay("own", "lowerdir=DIR/lower,upperdir=DIR/own/upper,workdir=DIR/own/work");
    layered.directory("own/upper");
    assert_eq!(layered.found(&own), NOWHERE);
}

#[test]
fn eight_overlays_over_one_another_are_followed_and_no_more() {
    let mut layered = LayeredMachine::new();
    layered.mount("8:17", "stick", "ext4", "/dev/sdb1", "rw");
    layered.directory("lower");
    layered.directory("stick/upper");
    let mut below = "stick".to_owned();
    for depth in 1..=9 {
        let name = format!("over{depth}");
        let options =
            format!("lowerdir=DIR/lower,upperdir=DIR/{below}/upper,workdir=DIR/{below}/work");
        let at = layered.overlay(&name, &options);
        layered.directory(&format!("{name}/upper"));
        assert_eq!(layered.found(&at), if depth <= 8 { on("sdb") } else { NOWHERE }, "{depth}");
        below = name;
    }
}

#[test]
fn layers_that_cannot_be_seen_are_nowhere() {
    let mut layered = LayeredMachine::new();
    layered.directory("lower");
    for options in [
        "lowerdir=DIR/lower,upperdir=diff,workdir=work",
        "lowerdir=DIR/lower,upperdir=/var/lib/gone/diff,workdir=/w",
    ] {
        let at = layered.overlay("merged", options);
        assert_eq!(layered.found(&at), NOWHERE, "{options}");
    }
    let fuse = layered.mount("0:51", "fuse", "fuse.fuse-overlayfs", "fuse-overlayfs", "rw");
    assert_eq!(layered.found(&fuse), NOWHERE);
}

#[test]
fn without_an_upper_layer_it_is_what_all_lower_ones_are_on() {
    let mut layered = LayeredMachine::new();
    layered.mount("8:17", "stick", "ext4", "/dev/sdb1", "rw");
    for layer in ["stick/a", "stick/b", "lower"] {
        layered.directory(layer);
    }
    let one = layered.overlay("one", r"lowerdir=DIR/stick/a:DIR/stick/b");
    assert_eq!(layered.place(&one).disk.unwrap().name, "sdb");
    let two = layered.overlay("two", r"lowerdir=DIR/stick/a:DIR/lower");
    assert!(layered.place(&two).disk.is_none(), "the lower layers are on two disks");
    // a file is in the first layer that has it
    fs::write(layered.dir.join("lower/file"), "content").unwrap();
    fs::write(two.join("file"), "as seen through the overlay").unwrap();
    assert_eq!(layered.place(&two.join("file")).disk.unwrap().name, "sda");
    let new = layered.overlay("new", "lowerdir+=DIR/stick/a,lowerdir+=DIR/stick/b");
    assert_eq!(layered.place(&new).disk.unwrap().name, "sdb");
}

#[test]
fn a_file_that_is_read_below_and_written_above_is_on_neither() {
    let mut layered = LayeredMachine::new();
    layered.mount("8:17", "stick", "ext4", "/dev/sdb1", "rw");
    for layer in ["stick/upper", "lower"] {
        layered.directory(layer);
    }
    let merged = layered
        .overlay("merged", "lowerdir=DIR/lower,upperdir=DIR/stick/upper,workdir=DIR/stick/work");
    for name in ["below", "above"] {
        fs::write(merged.join(name), vec![1; 8192]).unwrap();
    }
    fs::write(layered.dir.join("lower/below"), "").unwrap();
    fs::write(layered.dir.join("stick/upper/above"), "").unwrap();
    assert_eq!(layered.found(&merged.join("below")), NOWHERE);
    assert_eq!(layered.found(&merged.join("above")), on("sdb"));
}

#[test]
fn memory_stays_memory_whatever_its_source_is_called() {
    let mut layered = LayeredMachine::new();
    let memory = layered.mount("0:30", "memory", "tmpfs", "/dev/sdb1", "rw");
    assert_eq!(layered.found(&memory), MEMORY);
}

#[test]
fn memory_mounted_under_a_device_s_name_does_not_prove_to_be_on_it() {
    let node = Path::new("/dev/loop0");
    let roots = Roots::default();
    let Some(number) = roots.block_number(node).filter(|_| rustix::process::geteuid().is_root())
    else {
        crate::refusals::skipped(&format!("needs root and {}", node.display()));
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_str().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "/dev/loop0", at]).status().unwrap();
    let proved = prove_on_device(&roots, dir.path(), number);
    let place = device_of_directory(&roots, dir.path());
    // A program that a test beside this one starts holds what is open here for a moment.
    let leaves = || Command::new("umount").arg(at).status().is_ok_and(|status| status.success());
    let has_left = (0..100).any(|_| {
        leaves() || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            false
        }
    });
    assert!(mounted.success() && has_left);
    assert!(proved.is_err(), "a fill would have gone to memory as if to a disk");
    assert!(place.is_ok_and(|place| place.in_memory && place.medium().is_none()));
}

#[test]
fn a_file_system_in_a_file_in_memory_is_memory() {
    let mut layered = LayeredMachine::new();
    layered.mount("0:30", "memory", "tmpfs", "tmpfs", "rw");
    let device = layered.machine.disk("virtual/block/loop0", "7:0", 1 << 30);
    layered.machine.file(
        &format!("{device}/loop/backing_file"),
        layered.dir.join("memory/image").to_str().unwrap(),
    );
    let mounted = layered.mount("7:0", "mounted", "ext4", "/dev/loop0", "rw");
    assert_eq!(layered.found(&mounted), (Some("loop0".to_owned()), true));
    let zram = layered.machine.disk("virtual/block/zram0", "254:0", 1 << 30);
    assert!(!zram.is_empty());
    let compressed = layered.mount("254:0", "compressed", "ext4", "/dev/zram0", "rw");
    assert_eq!(layered.found(&compressed), (Some("zram0".to_owned()), true));
}
