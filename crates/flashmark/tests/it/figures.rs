//! One figure for one thing on a screen: a rate in a sentence of a run is a rate of its tables, or
//! the sentence says what else it is.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::Flashmark;

/// Media, suites and tests that differ in which cells stand for a figure.
const RUNS: [(&str, &str, &str); 9] = [
    ("span-cheat-64", "full", "random-write,prime"),
    ("span-cheat-64", "quick", ""),
    ("class10", "quick", ""),
    ("class10", "full", "prime,sustained"),
    ("a2-cq", "check", ""),
    ("flush-liar", "quick", ""),
    ("ssd", "quick", ""),
    ("usb2-cruzer", "check", ""),
    ("disk-5400", "check", ""),
];

/// What stands before a rate that is no figure of the medium: a yardstick, a need.
const OTHER: [&str; 2] = ["disk", "needs"];
/// Findings that are about a curve, not about a cell.
const OF_CURVES: [&str; 2] = ["along-the-medium", "steady-state"];

/// Rates of a text, each with the word before it.
fn rates(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| "(),;:[]".contains(c)).trim_end_matches('.'))
        .collect();
    let is_unit = |word: &str| matches!(word, "IOPS" | "kB/s" | "MB/s" | "GB/s");
    let rate = |at: usize| {
        let is_number = words[at - 1].parse::<f64>().is_ok();
        let before = at.checked_sub(2).map_or("", |before| words[before]);
        is_number.then(|| (before.to_owned(), format!("{} {}", words[at - 1], words[at])))
    };
    (1..words.len()).filter(|at| is_unit(words[*at])).filter_map(rate).collect()
}

#[test]
fn a_rate_in_a_sentence_is_a_rate_of_the_table() {
    let mut checked = 0;
    for (medium, suite, only) in RUNS {
        let flashmark = Flashmark::new();
        let target = format!("sim:{medium}");
        let mut words = vec!["run", &target, "--suite", suite, "--seed", "3", "--quiet"];
        words.extend(["--only", only].into_iter().filter(|_| !only.is_empty()));
        flashmark.run(&words);
        let told = |more: &[&str]| flashmark.done(&[&["show"], more].concat()).out;
        let known = |text: &str| -> BTreeSet<String> {
            rates(text).into_iter().map(|(_, rate)| rate).collect()
        };
        let mut look = |what: &str, sentences: &str, table: &BTreeSet<String>| {
            for (before, rate) in rates(sentences) {
                checked += 1;
                let is_other = OTHER.iter().any(|other| before == *other);
                assert!(is_other || table.contains(&rate), "{medium} {suite}, {what}: {rate}");
            }
        };
        let screen = told(&[]);
        let (sentences, table) = screen.split_once("95 % interval").unwrap_or((&screen, ""));
        look("the screen", sentences, &known(table));
        let cells = known(&told(&["--all"]).replace("figure ", ""));
        for finding in flashmark.record().findings {
            if !OF_CURVES.contains(&finding.id.as_str()) {
                look(&finding.id, &finding.statement, &cells);
            }
        }
    }
    assert!(checked > 50, "{checked}");
}

/// A text of another tool.
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

/// Of CrystalDiskMark four rows were called "CrystalDiskMark:seque..".
#[test]
fn every_figure_of_an_import_has_a_row_that_can_be_told_apart() {
    for (name, rows, unit) in [
        ("as_ssd.txt", 8, "/s"),
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
        let told = single_rows(&screen);
        assert!(told.len() >= rows, "{name}: {screen}");
        assert!(told.iter().all(|row| row.chars().count() <= 80), "{name}: {screen}");
        assert!(!told.iter().any(|row| row.contains("..")), "{name}: {screen}");
        let is_rate = |row: &&str| row.contains(unit) || row.contains(" IOPS ");
        assert!(told.iter().all(is_rate), "{name}: {screen}");
    }
    let screen = imported("crystaldiskmark_8.txt").done(&["show"]).out;
    assert!(screen.contains("Sequential read, 1 MiB, QD 8 (CrystalDiskMark)"), "{screen}");
}

/// Two imports gave two names, and nothing else.
#[test]
fn imports_are_compared_and_nothing_to_compare_is_said() {
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
    let told = flashmark.run(&["compare", &one, &other]).out;
    assert!(told.contains("hdparm -t") && told.contains("without an interval"), "{told}");
    let told = flashmark.run(&["compare", &one, &named(ioping, "other")]).out;
    assert!(told.contains("Nothing to compare"), "{told}");
    assert!(told.contains("ioping: not measured of one"), "{told}");
}
