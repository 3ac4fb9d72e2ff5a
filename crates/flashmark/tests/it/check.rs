//! `flashmark check`: three answers and four figures, on simulated media, on a loop device without
//! permission to erase, and where it must refuse.

use std::fs;

use serde_json::Value;

use crate::support::{
    EXT4, Flashmark, LoopDevice, MIB, Ran, Scratch, has_root, loop_device, mounted, read_record,
    refused,
};

fn line(flashmark: &Flashmark, words: &[&str], code: i32) -> Value {
    let ran = flashmark.run(&[&["check"], words, &["--quiet", "--json"]].concat());
    assert_eq!(ran.code, Some(code), "{words:?}: {ran}");
    assert_eq!(ran.out.lines().count(), 1, "one line: {ran}");
    serde_json::from_str(&ran.out).unwrap()
}

/// The three answers: genuine, fit, healthy.
fn answers(line: &Value) -> [&str; 3] {
    ["genuine", "fit", "healthy"].map(|question| line["summary"][question].as_str().unwrap())
}

/// The reader was unplugged in the middle of a run: "It failed ... Do not store data on it".
#[test]
fn a_reader_that_goes_away_is_no_bad_medium() {
    let flashmark = Flashmark::new();
    let scratch = Scratch::new();
    let card = flashmark.done(&["sim", "show", "a1"]).out;
    for when in ["after = \"12 s\"", "after_ops = 40", "after_written = \"600 MiB\""] {
        let file = scratch
            .file("unplugged.toml", format!("{card}\n[[fault]]\nkind = \"vanish\"\n{when}\n"));
        let target = format!("sim:{}", file.display());
        for words in [["check", target.as_str()], ["run", target.as_str()]] {
            let ran = flashmark.run(&words);
            assert_eq!(ran.code, Some(4), "{ran}");
            let flat = ran.flat();
            assert!(
                flat.contains("it was unplugged, or its reader or its port reset it."),
                "{ran}"
            );
            for blamed in ["Do not store", "Do not use", "throw it", "medium failed", "Copy what"] {
                assert!(!flat.contains(blamed), "{blamed}: {ran}");
            }
        }
    }
    let runs = flashmark.runs();
    let words: Vec<&str> =
        ["compare"].into_iter().chain(runs.iter().filter_map(|run| run.to_str())).collect();
    let compared = flashmark.run(&words);
    assert!(!compared.out.contains("Do not use it"), "{compared}");
}

#[test]
fn the_budget_bounds_the_time_of_the_device() {
    let flashmark = Flashmark::new();
    for (budget, seconds) in [("5s", 5.0), ("15s", 15.0), ("1m", 60.0), ("2m", 117.0)] {
        // The slowest medium of all.
        let found = line(&flashmark, &["sim:sd-worst", "--budget", budget], 0);
        let run = found["run"].as_str().unwrap();
        let record = read_record(&flashmark.home().join(run).join("record.json"));
        let elapsed = record.run.elapsed_ns as f64 / 1e9;
        // One write that was begun is waited for.
        assert!(elapsed < seconds * 1.1 + 1.0, "{budget}: {elapsed} s");
        assert!(elapsed > seconds * 0.5, "{budget} is used: {elapsed} s");
    }
}

#[test]
fn a_medium_that_was_not_given_away_holds_what_it_held() {
    let Some((_scratch, image, device)) = loop_device(96 * MIB) else { return };
    let bytes = fs::read(&image).unwrap();
    let flashmark = Flashmark::new();
    let found = line(&flashmark, &[device.word(), "--budget", "10m"], 0);
    let [genuine, fit, healthy] = answers(&found);
    assert_eq!((genuine, fit), ("no-sign", "not-tested"), "{found}");
    // On a busy machine its slow reads may be those of a medium that fails.
    assert!(["not-tested", "cannot-be-told"].contains(&healthy), "{found}");
    let summary = &found["summary"];
    assert!(summary["fit_reason"].as_str().unwrap().contains("--erase"), "{found}");
    // What a busy machine reads in what time is no matter of this test.
    let writes = ["sequential_write_bps", "random_write_4k_iops"];
    assert!(writes.iter().all(|figure| summary[figure].is_null()), "{found}");
    assert!(fs::read(&image).unwrap() == bytes, "what was overwritten is there again");
    // Who it is it does not tell: it is measured each time.
    let again = line(&flashmark, &[device.word(), "--budget", "10s"], 0);
    assert!(again["run"] != found["run"] && again["cached"] == false);
}

#[test]
fn a_limit_of_file_size_is_the_fault_of_the_session() {
    let (flashmark, scratch) = (Flashmark::new(), Scratch::new());
    let program = assert_cmd::cargo::cargo_bin!("flashmark").to_str().unwrap();
    let script = r#"ulimit -f 20480; exec "$0" "$@""#;
    let mut command = std::process::Command::new("bash");
    let words = ["-c", script, program, "check", scratch.word(), "--budget", "5s", "--quiet"];
    let ran = Ran::of(command.args(words).env("FLASHMARK_HOME", flashmark.home()));
    assert_eq!(ran.code, Some(5), "{ran}");
    assert!(ran.err.contains("(ulimit -f) is 20 MiB"), "{ran}");
    assert!(ran.err.contains("type `ulimit -f unlimited`"), "{ran}");
    assert!(flashmark.runs().is_empty() && scratch.names().is_empty());
}

#[test]
fn a_write_protected_medium_is_read_and_not_erased() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let image = scratch.image("image", 32 * MIB);
    let device = LoopDevice::with(&image, &["--read-only"]);
    let flashmark = Flashmark::new();
    let ran = flashmark.done(&["check", device.word(), "--budget", "5s", "--quiet"]);
    let flat = ran.flat();
    let expected = format!("Genuine: not tested: {} is write-protected", device.word());
    assert!(flat.contains(&expected), "{ran}");
    assert!(!flat.contains("--erase"), "nothing was given away: {ran}");
    let erase = ["--erase", device.word()];
    insta::assert_snapshot!(refused(device.word(), &erase, &[&image], &[(device.name(), "loopX")]), @r"
    exit 3
    flashmark: loopX is write-protected; move the lock slider of the card or adapter, or leave out --erase for the tests that only read
    ");
}

/// "Genuine? yes" of a partition that lay within the flash of a fake, and "256 MiB found" against the
/// claim of a genuine medium.
#[test]
fn a_partition_is_no_evidence_for_its_medium() {
    if !has_root() {
        return;
    }
    let scratch = Scratch::new();
    let device = LoopDevice::with(&scratch.image("image", 256 * MIB), &["--direct-io=on"]);
    let part = device.partition(1, 1, 100);
    let words = ["check", &part, "--budget", "30s", "--claim", "capacity=256MB", "--quiet"];
    let ran = Flashmark::new().done(&words);
    let screen = ran.flat();
    for part in [
        format!("a partition of 100 MiB on {}, 256 MiB", device.name()),
        "Genuine: cannot be told: only a partition was tested, 100 MiB of 256 MiB".into(),
        format!("type `flashmark check {}`", device.word()),
        "it declares 256 MiB".into(),
    ] {
        assert!(screen.contains(&part), "{part}: {ran}");
    }
}

#[test]
fn a_mount_point_names_the_way_to_its_device() {
    let Some((_scratch, _image, device, mount)) = mounted(64 * MIB, EXT4, &[]) else { return };
    let flashmark = Flashmark::new();
    let check = |target: &str| flashmark.done(&["check", target, "--budget", "5s", "--quiet"]);
    check(mount.word());
    let screen = flashmark.done("show --details").flat();
    let way = format!("type `umount {}`, then `flashmark check {}`", mount.word(), device.word());
    assert!(screen.contains(&way), "{screen}");
    drop(mount);
    let screen = check(device.word()).flat();
    assert!(screen.contains("Genuine:") && !screen.contains("type `umount"), "{screen}");
}
