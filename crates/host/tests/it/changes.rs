//! Test that changes of the machine are noted first, and undone by the notes.

use std::fs;
use std::path::Path;

use flashmark_host::{Changes, LoopOptions, Roots, clean_changes};

use crate::skipped::skipped;

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root() && Path::new("/dev/loop-control").exists();
    if !root {
        skipped("needs root and loop devices");
    }
    root
}

fn setting(name: &str, setting: &str) -> String {
    fs::read_to_string(format!("/sys/block/{name}/queue/{setting}")).unwrap().trim().to_owned()
}

#[test]
fn everything_is_put_back() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    let mut outer = Changes::begin(&notes).unwrap();
    let file = outer.make_file(dir.path(), 16 << 20, true).unwrap();
    let device =
        outer.attach(&file, LoopOptions { direct_io: true, ..LoopOptions::default() }).unwrap();
    let block = crate::stage::block(device.path());
    let name = block.disk.name.clone();
    let before = ["scheduler", "nr_requests"].map(|what| setting(&name, what));
    let offered = block.disk.queue(&Roots::default()).schedulers;
    let mut changes = Changes::begin(&notes).unwrap();
    for scheduler in &offered {
        changes.set_queue(&block.disk, "scheduler", scheduler).unwrap();
        assert!(
            setting(&name, "scheduler").contains(&format!("[{scheduler}]")) || offered.len() == 1
        );
    }
    let missing = changes.set_queue(&block.disk, "scheduler", "nonesuch").unwrap_err().to_string();
    assert!(missing.contains("this kernel has no scheduler 'nonesuch'"), "{missing}");
    // whoever is alive is left alone
    assert!(clean_changes(&notes).unwrap().is_empty());
    changes.undo().unwrap();
    assert_eq!(["scheduler", "nr_requests"].map(|what| setting(&name, what)), before);
    drop(device);
    outer.undo().unwrap();
    assert!(!file.exists());
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 0);
}

#[test]
fn notes_of_the_dead_are_undone_by_identity_only() {
    if !is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let notes = dir.path().join("notes");
    fs::create_dir(&notes).unwrap();
    let (ours, theirs) =
        (dir.path().join("flashmark-lab-1-a.img"), dir.path().join("precious.img"));
    fs::write(&ours, "x").unwrap();
    fs::write(&theirs, "x").unwrap();
    let line = |path: &Path| {
        format!("{{\"boot\":null,\"change\":{{\"kind\":\"file\",\"path\":{path:?}}}}}\n")
    };
    // a queue that is another one by now, from another start of the system, and a torn last line
    let queue = "{\"boot\":\"another\",\"change\":{\"kind\":\"queue\",\"disk\":\"loop0\",\"number\":\"7:0\",\"diskseq\":1,\"setting\":\"scheduler\",\"before\":\"bfq\"}}\n";
    fs::write(
        notes.join("flashmark-stage-1-0.changes"),
        line(&ours) + &line(&theirs) + queue + "{\"boot\":nu",
    )
    .unwrap();
    let undone = clean_changes(&notes).unwrap();
    assert!(undone.len() == 1 && undone[0].undone.is_ok(), "{undone:?}");
    assert!(!ours.exists() && theirs.exists());
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 0);
}
