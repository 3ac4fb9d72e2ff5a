//! Test of the reasons why media are in use: by number, through every stack, for whole devices and
//! partitions alike.

use std::path::Path;

use flashmark_host::{
    Access, InUseReason, ResolvedTarget, device_of_directory, list, resolve, uses,
};

use crate::machine::Machine;

fn reasons(machine: &Machine, disk: &str) -> Vec<String> {
    uses(&machine.roots, disk).iter().map(InUseReason::to_string).collect()
}

#[test]
fn a_mount_on_a_partition_is_a_use_of_the_whole_whatever_its_source_is_called() {
    let mut machine = Machine::new();
    machine.with_root_disk();
    machine.with_stick();
    assert_eq!(reasons(&machine, "sdb"), [""; 0]);
    machine.mount("8:17", Path::new("/media/card"), "vfat", "/dev/disk/by-label/lies", "rw");
    assert_eq!(reasons(&machine, "sdb"), ["sdb1 is mounted at /media/card"]);
    assert_eq!(
        reasons(&machine, "sda"),
        ["the running system is on it (/)", "sda1 is mounted at /"]
    );
}

#[test]
fn an_anonymous_number_falls_back_on_what_was_mounted() {
    let mut machine = Machine::new();
    machine.with_stick();
    machine.mount("0:45", Path::new("/data"), "btrfs", "/dev/sdb1", "rw,subvol=/@");
    assert_eq!(reasons(&machine, "sdb"), ["sdb1 is mounted at /data"]);
}

#[test]
fn every_member_of_a_mounted_btrfs_is_in_use() {
    let machine = Machine::new();
    let disk = machine.with_stick();
    machine.link("sys/fs/btrfs/6a1c/devices/sdb1", &format!("{disk}/sdb1"));
    assert_eq!(reasons(&machine, "sdb"), ["sdb1 is part of the mounted btrfs 6a1c"]);
}

#[test]
fn swap_is_found_by_number_through_a_link() {
    let machine = Machine::new();
    machine.with_stick();
    machine.file("proc/swaps", "Filename Type\n/dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0-part1 partition 1 0 -2\n");
    assert_eq!(reasons(&machine, "sdb"), ["sdb1 is swap space"]);
}

#[test]
fn lvm_on_luks_on_a_partition_is_followed_to_its_mount() {
    let mut machine = Machine::new();
    let stick = machine.with_stick();
    let crypt = machine.disk("virtual/block/dm-0", "253:0", 1 << 30);
    machine.file(&format!("{crypt}/dm/uuid"), "CRYPT-LUKS2-11-luks\n");
    let volume = machine.disk("virtual/block/dm-1", "253:1", 1 << 30);
    machine.file(&format!("{volume}/dm/uuid"), "LVM-abcdef\n");
    machine.stack(&crypt, &format!("{stick}/sdb1"));
    machine.stack(&volume, &crypt);
    machine.mount("253:1", Path::new("/home"), "ext4", "/dev/mapper/vg-home", "rw");
    assert_eq!(
        reasons(&machine, "sdb"),
        ["dm-1 is mounted at /home", "dm-0 is part of dm-1 (LVM)", "sdb1 is part of dm-0 (LUKS)"]
    );
}

#[test]
fn a_stacked_device_is_not_in_use_by_itself_but_by_what_else_is_on_its_medium() {
    let mut machine = Machine::new();
    let stick = machine.with_stick();
    let (one, two) = (
        machine.disk("virtual/block/dm-0", "253:0", 1 << 30),
        machine.disk("virtual/block/dm-1", "253:1", 1 << 30),
    );
    machine.stack(&one, &format!("{stick}/sdb1"));
    assert_eq!(reasons(&machine, "dm-0"), [""; 0]);
    machine.stack(&two, &format!("{stick}/sdb1"));
    machine.mount("253:1", Path::new("/srv"), "ext4", "/dev/dm-1", "rw");
    assert_eq!(reasons(&machine, "dm-0"), ["dm-1 is mounted at /srv", "sdb1 is part of dm-1 (dm)"]);
}

#[test]
fn a_raid_carries_the_running_system_on_both_its_halves() {
    let mut machine = Machine::new();
    let stick = machine.with_stick();
    let other =
        machine.disk("pci0000:00/ata2/host1/target1:0:0/1:0:0:0/block/sdc", "8:32", 1 << 30);
    let raid = machine.disk("virtual/block/md0", "9:0", 1 << 30);
    machine.stack(&raid, &stick);
    machine.stack(&raid, &other);
    machine.mount("9:0", Path::new("/"), "ext4", "/dev/md0", "rw");
    for name in ["sdb", "sdc"] {
        let holder = format!("{name} is part of md0 (MD)");
        assert_eq!(
            reasons(&machine, name),
            ["the running system is on it (/)", "md0 is mounted at /", &holder]
        );
    }
}

#[test]
fn a_live_system_on_an_image_on_a_stick_is_the_running_system() {
    let mut machine = Machine::new();
    machine.with_stick();
    let image = machine.disk("virtual/block/loop0", "7:0", 1 << 30);
    machine.mount("8:17", Path::new("/run/live/medium"), "vfat", "/dev/sdb1", "ro");
    machine.file(&format!("{image}/loop/backing_file"), "/run/live/medium/filesystem.squashfs\n");
    machine.mount("7:0", Path::new("/run/live/rootfs"), "squashfs", "/dev/loop0", "ro");
    machine.mount("0:30", Path::new("/"), "overlay", "overlay", "rw,lowerdir=/run/live/rootfs");
    assert_eq!(reasons(&machine, "sdb")[0], "the running system is on it (/)");
}

/// What is written to one of them is read from the others, under whatever names.
#[test]
fn a_loop_device_is_its_backing_file() {
    let mut machine = Machine::new();
    let (image, link) = (machine.path("image"), machine.path("link"));
    std::fs::write(&image, "").unwrap();
    std::fs::hard_link(&image, &link).unwrap();
    let attach = |name: &str, number: &str, file: &Path| {
        let dir = machine.disk(&format!("virtual/block/{name}"), number, 1 << 30);
        machine.file(&format!("{dir}/loop/backing_file"), &format!("{}\n", file.display()));
    };
    attach("loop0", "7:0", &image);
    attach("loop1", "7:1", &image);
    attach("loop2", "7:2", &link);
    assert_eq!(reasons(&machine, "loop1"), [""; 0]);
    attach("loop3", "7:3", Path::new("/dev/loop2"));
    machine.mount("7:0", Path::new("/media/image"), "vfat", "/dev/loop0", "rw");
    for name in ["loop0", "loop1", "loop2", "loop3"] {
        let found = reasons(&machine, name);
        assert!(
            found.iter().any(|it| it == "loop0 is mounted at /media/image"),
            "{name} {found:?}"
        );
    }
}

#[test]
fn a_loop_over_a_device_holds_it_and_one_over_a_file_on_it_does_not() {
    let machine = Machine::new();
    machine.with_stick();
    let image = machine.disk("virtual/block/loop0", "7:0", 1 << 30);
    machine.file(&format!("{image}/loop/backing_file"), "/media/card/image\n");
    assert_eq!(reasons(&machine, "sdb"), [""; 0]);
    machine.file(&format!("{image}/loop/backing_file"), "/dev/sdb1\n");
    assert_eq!(reasons(&machine, "sdb"), ["sdb1 is part of loop0 (loop)"]);
    assert_eq!(reasons(&machine, "loop0"), [""; 0]);
}

#[test]
fn zram_that_writes_back_to_a_stick_holds_it() {
    let machine = Machine::new();
    machine.with_stick();
    let zram = machine.disk("virtual/block/zram0", "252:0", 1 << 30);
    machine.file(&format!("{zram}/backing_dev"), "none\n");
    assert_eq!(reasons(&machine, "sdb"), [""; 0]);
    machine.file(&format!("{zram}/backing_dev"), "/dev/sdb\n");
    machine.file("proc/swaps", "Filename Type\n/dev/zram0 partition 1 0 100\n");
    assert_eq!(reasons(&machine, "sdb"), ["zram0 is swap space", "sdb is part of zram0 (zram)"]);
}

#[test]
fn a_directory_on_a_stack_is_about_the_one_medium_below() {
    let mut machine = Machine::new();
    let stick = machine.with_stick();
    let volume = machine.disk("virtual/block/dm-0", "253:0", 1 << 30);
    machine.stack(&volume, &format!("{stick}/sdb1"));
    let dir = std::fs::canonicalize(machine.path("")).unwrap();
    machine.mount("253:0", &dir, "ext4", "/dev/mapper/vg-data", "rw");
    let place = device_of_directory(&machine.roots, &dir).unwrap();
    assert_eq!(
        (place.disk.as_ref().unwrap().name.as_str(), place.medium().unwrap().name.as_str()),
        ("dm-0", "sdb")
    );

    // of a striped volume there is no one medium below
    let other =
        machine.disk("pci0000:00/ata2/host1/target1:0:0/1:0:0:0/block/sdc", "8:32", 1 << 30);
    machine.stack(&volume, &other);
    let place = device_of_directory(&machine.roots, &dir).unwrap();
    assert_eq!(
        (place.medium_below.is_none(), place.medium().unwrap().name.as_str()),
        (true, "dm-0")
    );
}

#[test]
fn a_directory_on_a_partition_knows_where_that_begins() {
    let mut machine = Machine::new();
    machine.with_stick();
    let dir = std::fs::canonicalize(machine.path("")).unwrap();
    machine.mount("8:17", &dir, "vfat", "/dev/sdb1", "rw");
    let ResolvedTarget::Directory(found) =
        resolve(&machine.roots, dir.to_str().unwrap(), Access::Write).unwrap()
    else {
        panic!()
    };
    assert_eq!(found.filesystem.partition_offset_bytes, Some(4 << 20));
    assert_eq!(
        (found.filesystem.kind.as_deref(), found.filesystem.free_bytes > Some(0)),
        (Some("vfat"), true)
    );
}

#[test]
fn this_machine_knows_the_medium_it_runs_on() {
    let roots = flashmark_host::Roots::default();
    let root = flashmark_host::device_of_directory(&roots, Path::new("/")).unwrap();
    let Some(medium) = root.medium() else { return };
    let listed = list(&roots).into_iter().find(|disk| disk.name == medium.name).unwrap();
    assert!(
        listed.uses.iter().any(|used| matches!(used, InUseReason::Root { .. })),
        "{:?}",
        listed.uses
    );
}

/// A live system whose root is an overlay over an overlay.
#[test]
fn a_running_system_is_found_through_five_overlays() {
    let root_is_found = |overlays: usize| {
        let mut machine = Machine::new();
        machine.with_stick();
        machine.mount("8:17", Path::new("/over0"), "ext4", "/dev/sdb1", "rw");
        for number in 1..=overlays {
            let at = if number == overlays { "/".to_owned() } else { format!("/over{number}") };
            let upper = format!("rw,lowerdir=/low,upperdir=/over{}/up", number - 1);
            machine.mount(&format!("0:{}", 90 + number), Path::new(&at), "overlay", "over", &upper);
        }
        reasons(&machine, "sdb").iter().any(|use_| use_.contains("running system"))
    };
    assert!((1..=5).all(root_is_found) && !root_is_found(6));
}
