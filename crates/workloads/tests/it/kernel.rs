//! Works on a file system that is too small (needs root).
#![allow(clippy::print_stdout, reason = "a test that cannot be run says so")]

use std::path::Path;
use std::process::Command;

use flashmark_workloads::workload::KINDS;
use tempfile::TempDir;

use crate::works::{run, small};

/// A file system in memory, of so many bytes; unmounted when dropped.
struct Mounted(TempDir);

impl Mounted {
    /// `None` if nothing may be mounted here, which is printed.
    fn new(bytes: u64) -> Option<Mounted> {
        let point = tempfile::tempdir().unwrap();
        let options = format!("size={bytes}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "small"]).arg(point.path());
        if !mount.status().is_ok_and(|status| status.success()) {
            println!("nothing may be mounted here: works on small file systems are not tried");
            return None;
        }
        Some(Mounted(point))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // At once, though a program that a test beside this one starts may have a file open here.
        let unmounted = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{}", self.0.path().display());
    }
}

#[test]
fn a_full_file_system_is_named_and_emptied_again() {
    let Some(mounted) = Mounted::new(4 << 20) else { return };
    let point: &Path = mounted.0.path();
    for kind in KINDS {
        let more: &[(&str, &str)] = match kind.name {
            "record-ops" => &[("size", "8MiB")],
            "threads" => &[("honest_size", "2MiB")],
            "rrd" => &[("files", "100")],
            "untar" => &[("files", "2000")],
            "sqlite" => &[("value", "500KiB")],
            _ => &[("line", "500KiB")],
        };
        let settings = [&small(kind.name), more].concat();
        let (result, _) = run(kind.name, &settings, point, |_| false);
        let error = result.unwrap_err();
        let said = error.to_string();
        let is_named = said.starts_with(kind.name) && said.contains(": no space is left");
        assert!(is_named && !error.is_of_kernel(), "{error:?}");
        let left = std::fs::read_dir(point).unwrap().count();
        assert_eq!(left, 0, "{} leaves nothing behind", kind.name);
    }
}
