//! Targets that are refused, each with its exit code and message, and the proof that nothing was
//! written.

use std::fs;
use std::process::Command;

use crate::support::{Flashmark, MIB, Ran, Scratch, has_root, loop_device, mounted, refused};

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
    let mut names: Vec<_> =
        fs::read_dir(mount.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lost+found", "most"]);
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
    flashmark: --erase elsewhere does not name SCRATCH/file: its own name is SCRATCH/file; nothing was written
    ");
}

/// Without /proc the mounts are not known: `list` called every disk free, and `check` ended with
/// the code of a failed medium.
#[test]
fn without_the_table_of_mounts_nothing_is_touched() {
    if !has_root() {
        return;
    }
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let program = assert_cmd::cargo::cargo_bin!("flashmark").to_str().unwrap();
    for words in [vec!["list"], vec!["check", scratch.word(), "--budget", "5s"]] {
        let mut command = Command::new("unshare");
        let script = r#"mount -t tmpfs none /proc && exec "$0" "$@""#;
        command.args(["--mount", "bash", "-c", script, program]).args(&words);
        let ran = Ran::of(command.env("FLASHMARK_HOME", flashmark.home()));
        assert_eq!(ran.code, Some(3), "{words:?}: {ran}");
        assert!(ran.err.contains("mount -t proc proc /proc"), "{words:?}: {ran}");
        assert!(!ran.out.contains("free"), "{words:?}: {ran}");
    }
}
