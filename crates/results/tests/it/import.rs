//! Import of other tools' output, as a user sees it.

use std::path::PathBuf;
use std::process::Stdio;

use crate::support::{Flashmark, Ran, read_record};

fn fixture(name: &str) -> String {
    format!("{}/../../fixtures/import/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Directories of the imported runs: they have a record and no journal.
fn imported(flashmark: &Flashmark) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(flashmark.home()).unwrap().map(|entry| entry.unwrap().path());
    let mut runs: Vec<_> = entries.filter(|path| path.join("record.json").is_file()).collect();
    runs.sort();
    runs
}

#[test]
fn the_same_file_again_is_the_same_run() {
    let flashmark = Flashmark::new();
    let file = fixture("hdparm_tT.txt");
    flashmark.done(&["import", &file]);
    assert!(flashmark.done(&["import", &file, &file]).out.contains("was there already"));
    assert_eq!(imported(&flashmark).len(), 1);
}

#[test]
fn a_later_description_of_the_medium_corrects_the_run() {
    let flashmark = Flashmark::new();
    let file = fixture("hdparm_tT.txt");
    flashmark.done(&["import", &file, "--vendor", "SanDisk", "--label", "first"]);
    let later = [
        "import",
        &file,
        "--model",
        "Extreme",
        "--kind",
        "sd",
        "--capacity",
        "32GB",
        "--label",
        "b",
    ];
    let planned = flashmark.done(&[&later[..], &["--plan"]].concat());
    assert!(planned.out.contains("would correct"), "{}", planned.out);
    let ran = flashmark.done(&later);
    assert!(ran.out.contains("(corrected)"), "{}", ran.out);
    let runs = imported(&flashmark);
    assert_eq!(runs.len(), 1, "no twin");
    let record = read_record(&runs[0].join("record.json"));
    let medium = &record.medium;
    assert_eq!(
        (medium.vendor.as_deref(), medium.model.as_deref(), record.run.label.as_deref()),
        (Some("SanDisk"), Some("Extreme"), Some("b")),
        "what was told before and not now still holds"
    );
    assert_eq!(
        (medium.kind, medium.capacity_bytes),
        (record::MediumKind::Sd, Some(32_000_000_000))
    );
    assert_eq!(std::fs::read(runs[0].join("imported.txt")).unwrap(), std::fs::read(&file).unwrap());
    let again = flashmark.done(&["import", &file, "--model", "Extreme"]);
    assert!(again.out.contains("was there already"), "{}", again.out);
}

#[test]
fn a_plan_keeps_nothing() {
    let flashmark = Flashmark::new();
    insta::assert_snapshot!(flashmark.done(&["import", "--plan", &fixture("f3read_damaged.txt"), &fixture("article_seeker_list.txt")]).out, @r"
    f3read_damaged.txt: f3 8.0, 2 results (f3:read, verify) -> would be
      f3-5e85ad62d512c049
    article_seeker_list.txt: seeker of Lexar, 1 result (seek) -> would be
      seeker-47a570366350b435-1
    article_seeker_list.txt: seeker of Transcend, 1 result (seek) -> would be
      seeker-47a570366350b435-2
    article_seeker_list.txt: seeker of Duracell, 1 result (seek) -> would be
      seeker-47a570366350b435-3
    ");
    assert_eq!(imported(&flashmark), [] as [PathBuf; 0]);
}

#[test]
fn standard_input_is_a_file_too() {
    let flashmark = Flashmark::new();
    let file = std::fs::File::open(fixture("ioping_c5.txt")).unwrap();
    let ran = Ran::of(flashmark.command(&["import", "-"]).stdin(Stdio::from(file)));
    assert_eq!(ran.code, Some(0), "{ran}");
    assert!(ran.out.starts_with("-: ioping of loop0, 1 result"), "{ran}");
}

/// A card of a published survey: the conclusions from flashbench's output are in words.
#[test]
fn what_a_listing_of_a_real_card_shows_is_concluded() {
    let flashmark = Flashmark::new();
    let findings_of = |file: &str| {
        flashmark.done(&["import", &fixture(file)]);
        let words = flashmark.done(&["show", "latest", "--findings"]).out;
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let card_21 = findings_of("flashbench_card_21.txt");
    for words in [
        "Its erase block (allocation unit) is 4 MiB.",
        "Its page, or the pages it programs at once, is 16 KiB",
        "It keeps 3 erase blocks open: writing to more in turn is",
    ] {
        assert!(card_21.contains(words), "{words}: {card_21}");
    }
    let sweep = findings_of("article_dd_sweep_comment03.txt");
    assert!(sweep.contains("Cannot be told here: in which unit it programs."), "{sweep}");
}

#[test]
fn an_error_of_the_medium_in_any_text_is_shown_first() {
    let flashmark = Flashmark::new();
    for file in
        ["dd_eio_de.txt", "fio_eio.txt", "f3read_eio.txt", "f3write_eio.txt", "iozone_eio.txt"]
    {
        flashmark.done(&["import", &fixture(file)]);
        let shown = flashmark.run(&["show", "latest", "--details"]).out;
        assert!(shown.contains("Do not use it. It failed"), "{file}: {shown}");
        assert!(!shown.contains("All 5028096"), "{file}: {shown}");
    }
}

#[test]
fn a_full_medium_is_not_condemned() {
    let flashmark = Flashmark::new();
    for file in ["fio_enospc.json", "fio_enospc.txt"] {
        flashmark.done(&["import", &fixture(file)]);
        let shown = flashmark.run(&["show", "latest", "--all"]).out;
        assert!(!shown.contains("Do not use it"), "{file}: {shown}");
        assert!(shown.contains("fio ended early: no space left"), "{file}: {shown}");
    }
}

#[test]
fn a_new_name_of_the_medium_is_reported() {
    let flashmark = Flashmark::new();
    let file = fixture("hdparm_t.txt");
    flashmark.done(&["import", &file, "--vendor", "SanDisk"]);
    let ran = flashmark.done(&["import", &file, "--vendor", "Kingston"]);
    assert!(ran.out.contains("vendor: Kingston, was SanDisk"), "{}", ran.out);
}
