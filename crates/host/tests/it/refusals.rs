//! Test of each refusal with its message: the finding, and the remedy.

pub use crate::skipped::skipped;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;

use flashmark_host::{Access, ResolvedTarget, Roots, TargetError, resolve};
use record::Flag;

use crate::machine::Machine;

/// The refusal, with the changing path of the machine removed.
fn refusal(machine: &Machine, target: &str) -> String {
    let error = resolve(&machine.roots, target, Access::Write).expect_err("it is refused");
    error.to_string().replace(machine.path("").to_str().unwrap(), "/fake/")
}

/// A directory of the machine under a mount of its own.
fn mounted(machine: &mut Machine, kind: &str, source: &str, options: &str) -> String {
    let dir = machine.path("mnt");
    fs::create_dir_all(&dir).unwrap();
    let dir = fs::canonicalize(dir).unwrap();
    machine.mount("0:77", &dir, kind, source, options);
    dir.to_str().unwrap().to_owned()
}

/// `targets.trycmd` of flashmark has devices of characters, pseudo file systems, and what is missing.
#[test]
fn what_stores_nothing() {
    let machine = Machine::new();
    let _listener = UnixListener::bind(machine.path("dev/log")).unwrap();
    insta::assert_snapshot!(refusal(&machine, "/dev/log"), @"'/dev/log' is a socket, which stores nothing; name a directory, a file or a block device");
    let fifo = machine.path("dev/initctl");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    insta::assert_snapshot!(refusal(&machine, "/dev/initctl"), @"'/dev/initctl' is a named pipe, which stores nothing; name a directory, a file or a block device");
}

#[test]
fn the_running_system_whole_and_in_part() {
    let mut machine = Machine::new();
    machine.with_root_disk();
    insta::assert_snapshot!(refusal(&machine, "/dev/sda"), @"'/dev/sda' is in use: the running system is on it (/), sda1 is mounted at /; choose another medium, or a directory on this one");
    insta::assert_snapshot!(refusal(&machine, "/dev/sda2"), @"'/dev/sda2' is a partition of sda, which is in use: the running system is on it (/), sda1 is mounted at /; choose another medium, or a directory on this one");
}

#[test]
fn a_mounted_stick_by_whatever_link() {
    let mut machine = Machine::new();
    machine.with_stick();
    machine.mount("8:17", Path::new("/media/card"), "vfat", "/dev/sdb1", "rw");
    insta::assert_snapshot!(refusal(&machine, "/dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0"), @"'/dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0' is in use: sdb1 is mounted at /media/card; unmount it first, or name a directory on it");
    assert!(
        matches!(resolve(&machine.roots, "/dev/sdb", Access::Read), Err(TargetError::InUse { .. })),
        "reading is refused, too"
    );
}

#[test]
fn a_node_whose_device_is_gone() {
    let machine = Machine::new();
    machine.file("dev/sdx", "block 65:112");
    insta::assert_snapshot!(refusal(&machine, "/dev/sdx"), @"'/dev/sdx' is a block device that the kernel does not know (any more); plug it in again, `flashmark list` shows what is there");
}

#[test]
fn a_locked_card_may_be_read() {
    let machine = Machine::new();
    let disk = machine.with_stick();
    machine.file(&format!("{disk}/ro"), "1\n");
    insta::assert_snapshot!(refusal(&machine, "/dev/sdb"), @"sdb is write-protected; move the lock slider of the card or adapter");
    assert!(resolve(&machine.roots, "/dev/sdb", Access::Read).is_ok());
}

#[test]
fn an_empty_reader() {
    let machine = Machine::new();
    machine.disk("pci0000:00/usb1/1-2/host7/target7:0:0/7:0:0:0/block/sdc", "8:32", 0);
    insta::assert_snapshot!(refusal(&machine, "/dev/sdc"), @"sdc holds no medium (size 0); put one in, or see `flashmark list`");
}

#[test]
fn a_network() {
    let mut machine = Machine::new();
    let dir = mounted(&mut machine, "nfs4", "nas:/export", "rw");
    insta::assert_snapshot!(refusal(&machine, &dir), @"'/fake/mnt' is on nas:/export over nfs4: that would measure the way there, not a medium; run flashmark where the medium is plugged in");
}

#[test]
fn a_read_only_file_system() {
    let mut machine = Machine::new();
    let dir = mounted(&mut machine, "ext4", "/dev/sdc1", "ro,relatime");
    insta::assert_snapshot!(refusal(&machine, &dir), @"'/fake/mnt' is on a file system that is mounted read-only (ext4 at /fake/mnt); remount it writable or name another directory");
}

#[test]
fn a_file_that_is_swapped_on_or_the_content_of_a_loop_device() {
    let mut machine = Machine::new();
    let dir = mounted(&mut machine, "ext4", "/dev/sdc1", "rw");
    let file = format!("{dir}/image");
    fs::write(&file, "content").unwrap();
    assert!(
        matches!(resolve(&machine.roots, &file, Access::Write), Ok(ResolvedTarget::File(found)) if found.size_bytes == 7)
    );
    let image = machine.disk("virtual/block/loop0", "7:0", 1 << 30);
    machine.file(&format!("{image}/loop/backing_file"), &file);
    insta::assert_snapshot!(refusal(&machine, &file), @"'/fake/mnt/image' is the content of loop0; name another file or a directory");
    machine.file("proc/swaps", &format!("Filename Type\n{file} file 1 0 -2\n"));
    insta::assert_snapshot!(refusal(&machine, &file), @"'/fake/mnt/image' is swap space; name another file or a directory");
}

#[test]
fn places_without_permission_are_refused() {
    let Some(message) = refusal_to_another_user("/usr") else { return };
    assert_eq!(
        message,
        "no right to write to '/usr'; name a directory that is yours, or run it as root"
    );
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let hidden = dir.path().join("inside");
    let message = refusal_to_another_user(hidden.to_str().unwrap()).unwrap();
    assert_eq!(
        message,
        format!(
            "no right to look at '{}'; name a directory that is yours, or run it as root",
            hidden.display()
        )
    );
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("file");
    fs::write(&file, [1; 512]).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let message = refusal_to_another_user(file.to_str().unwrap()).unwrap();
    let read = format!("no right to write to '{}'; name a directory", file.display());
    assert!(message.starts_with(&read), "{message}");
}

const TARGET: &str = "FLASHMARK_TEST_RESOLVES";

/// Message for a target on this machine to a user without rights; runs this test program again as
/// that user.
pub fn refusal_to_another_user(target: &str) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can become another user");
        return None;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "refusals::resolve_as_another_user", "--ignored", "--nocapture"])
        .env(TARGET, target)
        .uid(65534)
        .gid(65534)
        .output();
    let Ok(output) = output else {
        skipped("another user cannot run this program");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let message = text
        .lines()
        .find_map(|line| line.split_once("said: ").map(|(_, message)| message.to_owned()));
    Some(message.unwrap_or_else(|| panic!("{text}")))
}

/// Not a test of its own: `refusal_to_another_user` starts it.
#[test]
#[ignore = "is run by another test"]
fn resolve_as_another_user() {
    let Ok(target) = std::env::var(TARGET) else { return };
    println!("said: {}", resolve(&Roots::default(), &target, Access::Write).unwrap_err());
}

#[test]
fn memory_compression_and_sparse_files_are_allowed_with_a_caveat() {
    for (kind, source, options, flags) in [
        ("tmpfs", "tmpfs", "rw", &[Flag::MemoryFilesystem][..]),
        // On a device that this process does not see, and in a pool.
        (
            "btrfs",
            "/dev/no",
            "rw,compress=zstd:3",
            &[Flag::CompressedFilesystem, Flag::UnknownMedium],
        ),
        ("zfs", "pool/data", "rw", &[Flag::CompressedFilesystem, Flag::UnknownMedium]),
    ] {
        let mut machine = Machine::new();
        let dir = mounted(&mut machine, kind, source, options);
        assert_eq!(resolve(&machine.roots, &dir, Access::Write).unwrap().flags(), flags, "{kind}");
    }
    let mut machine = Machine::new();
    let file = format!("{}/sparse", mounted(&mut machine, "ext4", "/dev/sdc1", "rw"));
    fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
    assert_eq!(
        resolve(&machine.roots, &file, Access::Write).unwrap().flags(),
        [Flag::UnknownMedium, Flag::Sparse { hole_bytes: 1 << 20 }]
    );
}

#[test]
fn a_disk_in_memory_has_a_caveat_and_another_has_none() {
    for (place, number, flags) in [
        ("virtual/block/ram0", "1:0", &[Flag::MemoryFilesystem][..]),
        ("virtual/block/zram0", "252:0", &[Flag::MemoryFilesystem]),
        ("virtual/block/nvme0n1", "259:0", &[]),
    ] {
        let machine = Machine::new();
        machine.disk(place, number, 1 << 30);
        let node = format!("/dev/{}", place.rsplit('/').next().unwrap());
        assert_eq!(resolve(&machine.roots, &node, Access::Write).unwrap().flags(), flags, "{node}");
    }
}

#[test]
fn a_free_stick_is_found_by_any_name_and_recorded() {
    let machine = Machine::new();
    machine.with_stick();
    for name in ["/dev/sdb1", "/dev/disk/by-id/usb-SanDisk_Ultra_4C530001230712105454-0:0-part1"] {
        let found = resolve(&machine.roots, name, Access::Write).unwrap();
        let target = found.record(&machine.roots, name);
        assert_eq!(
            (target.device.as_deref(), target.device_number.as_deref(), target.diskseq),
            (Some("sdb1"), Some("8:17"), Some(7))
        );
        assert_eq!((target.path.as_str(), target.queue.unwrap().max_sectors_kb), (name, Some(120)));
        assert!(
            matches!(found, ResolvedTarget::Block(block) if block.size_bytes() == 8 << 30 && block.path == Path::new("/dev/sdb1"))
        );
    }
}

#[test]
fn a_loop_device_through_the_page_cache_has_a_caveat() {
    let mut machine = Machine::new();
    let dir = mounted(&mut machine, "tmpfs", "tmpfs", "rw");
    let image = machine.disk("virtual/block/loop0", "7:0", 1 << 30);
    machine.file(&format!("{image}/loop/backing_file"), &format!("{dir}/image"));
    machine.file(&format!("{image}/loop/dio"), "0\n");
    let found = resolve(&machine.roots, "/dev/loop0", Access::Write).unwrap();
    assert_eq!(found.flags(), [Flag::MemoryFilesystem, Flag::HostCached]);
    let at = fs::canonicalize(machine.path("dev")).unwrap();
    machine.mount("7:0", &at, "ext4", "/dev/loop0", "rw");
    let on_it = resolve(&machine.roots, at.to_str().unwrap(), Access::Read).unwrap();
    assert_eq!(on_it.flags(), [Flag::MemoryFilesystem, Flag::HostCached]);
    assert_eq!(
        found.record(&machine.roots, "/dev/loop0").backing,
        Some(format!("{dir}/image (through the page cache)"))
    );
}
