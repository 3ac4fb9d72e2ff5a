//! Targets that are refused, each with its exit code and message, and the proof that nothing was
//! written.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::support::{
    EXT4, Flashmark, LoopDevice, MIB, Scratch, as_nobody, has_root, loop_device, mounted,
    node_of_its_own, refused, skipped, tool,
};

/// Message to a user without rights.
fn message_to_nobody(words: &[&str], names: &[(&str, &str)]) -> String {
    let (ran, kept) = as_nobody(words);
    assert_eq!(kept, 0, "a run was kept");
    ran.transcript(names)
}

/// Message about a device that `--erase` names, so that only its use is a reason to refuse.
fn refused_with_erase(device: &str, media: &[&Path], names: &[(&str, &str)]) -> String {
    refused(device, &["--erase", device], media, names)
}

#[test]
fn a_link_to_a_medium_is_resolved() {
    let Some((scratch, _image, device)) = loop_device(16 * MIB) else { return };
    let link = scratch.at("usb-Stick_0123-0:0");
    symlink(device.path(), &link).unwrap();
    let flashmark = Flashmark::new();
    flashmark.done(&format!(
        "run {} --suite quick --only sequential-read --quiet --time-limit 1s",
        link.to_str().unwrap()
    ));
    let record = flashmark.record();
    assert_eq!(record.target.device.as_deref(), Some(device.name()));
    assert_eq!(record.target.path, link.to_str().unwrap());
}

#[test]
fn a_locked_medium_is_read_but_not_erased() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let image = scratch.image("image", 16 * MIB);
    let device = LoopDevice::with(&image, &["--read-only"]);
    insta::assert_snapshot!(refused_with_erase(device.word(), &[&image], &[(device.name(), "loopX")]), @r"
    exit 3
    flashmark: loopX is write-protected; move the lock slider of the card or adapter, or leave out --erase for the tests that only read
    ");
    let flashmark = Flashmark::new();
    flashmark
        .done(&format!("run {} --only sequential-read --quiet --time-limit 1s", device.word()));
}

#[test]
fn places_without_rights() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let own = scratch.directory("own");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    let names = [(scratch.word(), "SCRATCH")];
    insta::assert_snapshot!(message_to_nobody(&["run", own.to_str().unwrap()], &names), @r"
    exit 3
    flashmark: no right to write to 'SCRATCH/own'; name a directory that is yours, or run it as root
    ");
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();
    insta::assert_snapshot!(message_to_nobody(&["run", own.join("inner").to_str().unwrap()], &names), @r"
    exit 3
    flashmark: no right to look at 'SCRATCH/own/inner'; name a directory that is yours, or run it as root
    ");
    let file = scratch.file("file", vec![1; 1 << 20]);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    insta::assert_snapshot!(message_to_nobody(&["run", file.to_str().unwrap()], &names), @r"
    exit 3
    flashmark: no right to read 'SCRATCH/file'; name a directory that is yours, or run it as root
    ");
    let image = scratch.image("image", 16 * MIB);
    let device = LoopDevice::new(&image);
    fs::set_permissions(device.path(), fs::Permissions::from_mode(0o660)).unwrap();
    insta::assert_snapshot!(message_to_nobody(&["run", device.word()], &[(device.name(), "loopX")]), @r"
    exit 3
    flashmark: no right to open '/dev/loopX'; run it as root, or name a directory on the medium instead
    ");
}

#[test]
fn a_full_file_system() {
    let Some((scratch, _image, _device, mount)) =
        mounted(64 * MIB, &["mkfs.ext4", "-q", "-F", "-m", "0"], &[])
    else {
        return;
    };
    let free = |bytes: u64| {
        let stat = rustix::fs::statvfs(mount.path()).unwrap();
        stat.f_bavail * stat.f_frsize - bytes
    };
    fs::write(mount.path().join("most"), vec![7; usize::try_from(free(10 * MIB)).unwrap()])
        .unwrap();
    let names = [(scratch.word(), "SCRATCH")];
    let message = refused(mount.word(), &[], &[], &names);
    let (before, rest) = message.split_once(" has ").unwrap();
    let (_, after) = rest.split_once(" free").unwrap();
    insta::assert_snapshot!(format!("{before} has .. free{after}"), @r"
    exit 3
    flashmark: 'SCRATCH/mnt' has .. free; a test file of at least 16 MiB and a reserve of 16 MiB must fit: delete something there or name another directory
    ");
    let _ = fs::write(mount.path().join("rest"), vec![7; 20 << 20]);
    insta::assert_snapshot!(refused(mount.word(), &[], &[], &names), @r"
    exit 3
    flashmark: 'SCRATCH/mnt' has 2046 KiB free; a test file of at least 16 MiB and a reserve of 16 MiB must fit: delete something there or name another directory
    ");
    let mut names: Vec<_> =
        fs::read_dir(mount.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lost+found", "most", "rest"]);
}

#[test]
fn a_loop_device_that_is_not_attached() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let Some(device) = LoopDevice::at(&node_of_its_own(), &scratch.image("image", MIB)) else {
        return skipped("another program took the loop device");
    };
    let (path, name) = (device.word().to_owned(), device.name().to_owned());
    drop(device);
    insta::assert_snapshot!(refused(&path, &[], &[], &[(&name, "loopX")]), @r"
    exit 2
    flashmark: loopX holds no medium (size 0); put one in, or see `flashmark list`
    ");
}

#[test]
fn a_mounted_medium() {
    let Some((scratch, image, device, mount)) = mounted(32 * MIB, EXT4, &["-o", "noatime"]) else {
        return;
    };
    tool("sync", &["-f", mount.word()]);
    let names = [(device.name(), "loopX"), (scratch.word(), "SCRATCH")];
    insta::assert_snapshot!(refused(device.word(), &[], &[&image], &names), @r"
    exit 3
    flashmark: '/dev/loopX' is in use: loopX is mounted at SCRATCH/mnt; unmount it first, or name a directory on it
    ");
    insta::assert_snapshot!(refused_with_erase(device.word(), &[&image], &names), @r"
    exit 3
    flashmark: '/dev/loopX' is in use: loopX is mounted at SCRATCH/mnt; unmount it first, or name a directory on it
    ");
    let file = image.to_str().unwrap();
    insta::assert_snapshot!(refused(file, &["--erase", file], &[&image], &names), @r"
    exit 3
    flashmark: 'SCRATCH/image' is the content of loopX; name another file or a directory
    ");
}

#[test]
fn erase_must_name_the_medium() {
    let Some((scratch, image, device)) = loop_device(16 * MIB) else { return };
    let names = [(device.name(), "loopX"), (scratch.word(), "SCRATCH")];
    insta::assert_snapshot!(refused(device.word(), &["--erase", "4C530001230712105454"], &[&image], &names), @r"
    exit 3
    flashmark: --erase 4C530001230712105454 does not name /dev/loopX: its own name is /dev/loopX; nothing was written
    ");
    let file = scratch.image("file", MIB);
    insta::assert_snapshot!(refused(file.to_str().unwrap(), &["--erase", "elsewhere"], &[&file], &names), @r"
    exit 3
    flashmark: --erase elsewhere does not name 'SCRATCH/file'; to overwrite this file, say --erase SCRATCH/file
    ");
}
