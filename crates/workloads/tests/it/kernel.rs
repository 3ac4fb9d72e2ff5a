//! Works on file systems made for the purpose (needs root): one that is too small, and one that refuses
//! writes.
#![allow(clippy::print_stdout, reason = "a test that cannot be run says so")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flashmark_workloads::workload::KINDS;
use host::loopdev::attach_with;
use host::{Loop, LoopOptions};
use tempfile::TempDir;

use crate::works::{run, small};

const MKFS: [&str; 8] =
    ["-q", "-F", "-b", "4096", "-O", "^has_journal", "-E", "lazy_itable_init=0"];

/// A mounted ext4 without a journal; unmounted and detached when dropped.
struct Mounted {
    // In this order: unmounted, detached, removed.
    point: PathBuf,
    _medium: Loop,
    _folder: TempDir,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Tests beside this one start programs; between fork and exec such a child holds every file
        // that is open here, and the file system is busy for that moment.
        let unmounted = || Command::new("umount").arg(&self.point).status();
        let is_unmounted = (0..100).any(|_| {
            unmounted().is_ok_and(|status| status.success()) || {
                std::thread::sleep(Duration::from_millis(100));
                false
            }
        });
        assert!(is_unmounted, "cannot unmount {}", self.point.display());
    }
}

/// `None` if file systems may not be mounted here, which is printed.
fn mounted(bytes: u64) -> Option<Mounted> {
    let folder = tempfile::tempdir().unwrap();
    let (file, point) = (folder.path().join("medium"), folder.path().join("mounted"));
    File::create(&file).unwrap().set_len(bytes).unwrap();
    std::fs::create_dir(&point).unwrap();
    let Ok(medium) = attach_with(&file, LoopOptions::default()) else {
        println!("loop devices need root: works on small file systems are not tried");
        return None;
    };
    let succeeds = |command: &mut Command| {
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let made = succeeds(Command::new("mkfs.ext4").args(MKFS).arg(medium.path()));
    if !made
        || !succeeds(Command::new("mount").args(["-o", "noatime"]).arg(medium.path()).arg(&point))
    {
        println!("ext4 cannot be made or mounted here: works on small file systems are not tried");
        return None;
    }
    Some(Mounted { point, _medium: medium, _folder: folder })
}

#[test]
fn a_full_file_system_is_named_and_emptied_again() {
    let Some(mounted) = mounted(4 << 20) else { return };
    let names = |point: &Path| {
        std::fs::read_dir(point)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    for kind in KINDS {
        let more: &[(&str, &str)] = match kind.name {
            "record-ops" => &[("size", "8MiB")],
            "threads" => &[("honest_size", "2MiB")],
            "rrd" => &[("files", "100")],
            "untar" => &[("files", "2000")],
            "sqlite" => &[("value", "500KiB")],
            "logger" => &[("line", "500KiB")],
            _ => &[("files", "2000")],
        };
        let mut settings = small(kind.name);
        settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let (result, _) = run(kind.name, &settings, &mounted.point, |_| false);
        let error = result.unwrap_err();
        assert!(
            error.is_no_space() && error.to_string().contains(kind.name),
            "{}: {error:?}",
            kind.name
        );
        assert_eq!(names(&mounted.point), ["lost+found"], "{} leaves nothing behind", kind.name);
    }
}
