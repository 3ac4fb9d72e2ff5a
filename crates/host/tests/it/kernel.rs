//! Test of mounts and media as the kernel of this machine reports them.

use std::path::Path;

use flashmark_host::{
    InUseReason, Roots, device_of_directory, list, mount_of, mounts, prove_on_device,
};

use crate::skipped::skipped;
use crate::tmpfs::Tmpfs;

/// The deepest mount point is not the answer if a later mount hides it.
#[test]
fn a_path_is_not_on_a_mount_that_a_later_one_hides() {
    let dir = tempfile::tempdir().unwrap();
    let (outer, inner) = (dir.path().join("outer"), dir.path().join("outer/inner"));
    std::fs::create_dir_all(&inner).unwrap();
    let Some(_hidden) = Tmpfs::mounted("hidden", &inner, "rw") else {
        return skipped("mounting needs root");
    };
    let later = Tmpfs::mounted("later", &outer, "rw").expect("the first mount worked");
    std::fs::create_dir(&inner).unwrap();
    let source = || {
        let (roots, inner) = (Roots::default(), std::fs::canonicalize(&inner).unwrap());
        mount_of(&roots, &mounts(&roots), &inner).unwrap().source.clone()
    };
    assert_eq!(source(), "later");
    drop(later);
    assert_eq!(source(), "hidden");
}

#[test]
fn memory_mounted_under_a_device_s_name_does_not_prove_to_be_on_it() {
    let node = Path::new("/dev/loop0");
    let roots = Roots::default();
    let Some(number) = roots.block_number(node).filter(|_| rustix::process::geteuid().is_root())
    else {
        skipped(&format!("needs root and {}", node.display()));
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let _memory = Tmpfs::mounted("/dev/loop0", dir.path(), "rw").expect("root may mount");
    let proved = prove_on_device(&roots, dir.path(), number);
    let place = device_of_directory(&roots, dir.path());
    assert!(proved.is_err(), "a fill would have gone to memory as if to a disk");
    assert!(place.is_ok_and(|place| place.in_memory && place.medium().is_none()));
}

#[test]
fn this_machine_knows_the_medium_it_runs_on() {
    let roots = Roots::default();
    let root = device_of_directory(&roots, Path::new("/")).unwrap();
    let Some(medium) = root.medium() else { return };
    let listed = list(&roots).into_iter().find(|disk| disk.name == medium.name).unwrap();
    assert!(
        listed.uses.iter().any(|used| matches!(used, InUseReason::Root { .. })),
        "{:?}",
        listed.uses
    );
}
