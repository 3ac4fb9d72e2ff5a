//! Names of runs among those of other users, and owners of runs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use crate::support::{Flashmark, Ran, Scratch, has_root};

/// A column of a CSV export.
fn column(csv: &str, name: &str) -> Vec<String> {
    let mut rows = csv.lines();
    let at = rows.next().unwrap().split(',').position(|head| head == name).unwrap();
    rows.map(|row| row.split(',').nth(at).unwrap().to_owned()).collect()
}

/// Two machines that started a run in the same second gave it one name: a JOIN of their exports had
/// each cell twice.
#[test]
fn two_machines_never_share_a_run_id() {
    let [one, other] = [Flashmark::new(), Flashmark::new()];
    for (flashmark, label) in [(&one, "left"), (&other, "right")] {
        let words =
            ["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet", "--label", label];
        flashmark.done(&words);
    }
    let exported = [&one, &other].map(|flashmark| flashmark.done(&["export", "--all"]).out);
    let ids = exported.each_ref().map(|csv| column(csv, "run_id"));
    let names = exported.each_ref().map(|csv| column(csv, "local_name"));
    assert_eq!(names[0], names[1], "both machines call it the same");
    assert_ne!(ids[0], ids[1]);
    let distinct: BTreeSet<&String> = ids.iter().flatten().collect();
    assert_eq!(distinct.len(), 2, "one id a run: {distinct:?}");
}

#[test]
fn a_run_that_is_named_twice_is_exported_once() {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--seed", "1", "--quiet"]);
    let once = flashmark.done(&["export", "latest"]).out;
    assert_eq!(flashmark.done(&["export", "latest", "sim-a1-quick-1", "sim-a1"]).out, once);
    assert_eq!(flashmark.done(&["export", "--all"]).out, once);
}

/// Root's runs were kept in root's home: `show` without sudo printed an older run of another medium.
#[test]
fn what_root_measured_by_sudo_is_the_user_s() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let home = scratch.directory("home");
    const ADA: u32 = 54_321;
    std::os::unix::fs::chown(&home, Some(ADA), Some(ADA)).unwrap();
    let accounts = scratch.file(
        "passwd",
        format!("root:x:0:0::/root:/bin/sh\nada:x:{ADA}:{ADA}::{}:/bin/sh\n", home.display()),
    );
    // An account for this process alone: in a mount namespace of its own.
    let program = assert_cmd::cargo::cargo_bin!("flashmark");
    let script = format!(
        "mount --bind '{}' /etc/passwd && exec '{}' run sim:a1 --suite quick --only prime --seed 1",
        accounts.display(),
        program.display()
    );
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation", "private", "sh", "-c", &script])
        .env_remove("FLASHMARK_HOME")
        .env_remove("XDG_DATA_HOME")
        .env("HOME", scratch.directory("root"))
        .env("SUDO_UID", ADA.to_string())
        .env("SUDO_GID", ADA.to_string());
    let ran = Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran}");
    let kept = home.join(".local/share/flashmark");
    assert!(ran.err.contains(kept.to_str().unwrap()), "it says where: {ran}");
    let mut open = vec![home.join(".local")];
    let mut files = 0;
    while let Some(path) = open.pop() {
        assert_eq!(fs::symlink_metadata(&path).unwrap().uid(), ADA, "{}", path.display());
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert!(files >= 3, "journal, record and page");
    // He finds it, and may take it up again or remove it.
    let shown = Flashmark::keeping_at(&kept).done(&["show"]).out;
    assert!(shown.starts_with("a1, simulated medium"), "{shown}");
}
