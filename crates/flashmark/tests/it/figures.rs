//! Imported figures: each has a row of its own on the screen, and can be compared.

use std::path::Path;

use crate::support::Flashmark;

/// Imports a text of another tool.
fn imported(name: &str) -> Flashmark {
    let flashmark = Flashmark::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import").join(name);
    flashmark.run(&["import", file.to_str().unwrap()]);
    flashmark
}

/// Rows of a screen of 80 columns that hold a figure without an interval.
fn single_rows(screen: &str) -> Vec<&str> {
    screen.lines().filter(|line| line.contains("  one run  ")).collect()
}

/// Four rows of CrystalDiskMark were called "CrystalDiskMark:seque..".
#[test]
fn every_figure_of_an_import_has_a_distinct_row() {
    for (name, rows, unit) in [
        ("crystaldiskmark_4.txt", 8, "/s"),
        ("crystaldiskmark_7_fr.txt", 3, "/s"),
        ("crystaldiskmark_8.txt", 8, "/s"),
        ("dd_busybox.txt", 1, " MB/s "),
        ("dd_freebsd.txt", 1, " MB/s "),
        ("dd_languages.txt", 10, " MB/s "),
        ("dd_macos.txt", 1, " MB/s "),
        ("dd_sweep_summary.txt", 10, "/s"),
        ("fio_randwrite-4k-qd1_normal.txt", 1, " IOPS "),
        ("fio_three_forms.txt", 4, " IOPS "),
        ("hdparm_old.txt", 2, " MB/s "),
        ("hdparm_slow.txt", 1, "/s "),
        ("hdparm_tT.txt", 2, "/s"),
        ("ioping_R.txt", 1, " IOPS "),
        ("iozone_O.txt", 4, " IOPS "),
        ("f3_9_write.txt", 1, " MB/s "),
    ] {
        let screen = imported(name).done(&["show"]).out;
        let shown_rows = single_rows(&screen);
        assert!(shown_rows.len() >= rows, "{name}: {screen}");
        assert!(shown_rows.iter().all(|row| row.chars().count() <= 80), "{name}: {screen}");
        assert!(!shown_rows.iter().any(|row| row.contains("..")), "{name}: {screen}");
        let is_rate = |row: &&str| row.contains(unit) || row.contains(" IOPS ");
        assert!(shown_rows.iter().all(is_rate), "{name}: {screen}");
    }
    let screen = imported("crystaldiskmark_8.txt").done(&["show"]).out;
    assert!(screen.contains("Sequential read, 1 MiB, QD 8 (CrystalDiskMark)"), "{screen}");
}

/// A comparison of two imports gave two names, and no figures.
#[test]
fn imports_are_compared_and_nothing_to_compare_is_reported() {
    let flashmark = imported("hdparm_tT.txt");
    let file = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import").join(name);
        path.to_str().unwrap().to_owned()
    };
    for name in ["hdparm_t.txt", "ioping_R.txt"] {
        flashmark.run(&["import", &file(name)]);
    }
    let entries = std::fs::read_dir(flashmark.home()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let runs: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    let hdparm: Vec<&str> =
        runs.iter().filter(|run| run.starts_with("hdparm")).map(String::as_str).collect();
    let ioping = runs.iter().find(|run| run.starts_with("ioping")).unwrap();
    let named = |run: &str, name: &str| format!("{name}={run}");
    let (one, other) = (named(hdparm[0], "one"), named(hdparm[1], "other"));
    let screen = flashmark.run(&["compare", &one, &other]).out;
    assert!(screen.contains("hdparm -t") && screen.contains("without an interval"), "{screen}");
    let screen = flashmark.run(&["compare", &one, &named(ioping, "other")]).out;
    assert!(screen.contains("Nothing to compare"), "{screen}");
    assert!(screen.contains("ioping: not measured of one"), "{screen}");
}
