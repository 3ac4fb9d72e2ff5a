//! Works on a file system that is too small (needs root).
#![allow(clippy::print_stdout, reason = "a test that cannot be run says so")]

use flashmark_workloads::workload::KINDS;

use crate::tmpfs::Tmpfs;
use crate::works::{run, small};

#[test]
fn a_full_file_system_is_named_and_emptied_again() {
    let folder = tempfile::tempdir().unwrap();
    let point = folder.path();
    let Some(_mounted) = Tmpfs::mounted("small", point, "size=4m") else {
        println!("nothing may be mounted here: works on small file systems are not tried");
        return;
    };
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
