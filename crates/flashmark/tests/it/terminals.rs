//! Screens of every kind of medium, on terminals of every width, with and without colours and
//! letters beyond ASCII.

use crate::support::{Flashmark, Ran};

/// Lines of the smallest terminal.
pub(crate) const LINES: usize = 24;

/// Lines that are too wide; a path or a command may be, if nothing but its name is beside it.
pub(crate) fn wide_lines(text: &str, width: usize) -> Vec<&str> {
    let is_to_copy = |line: &str| {
        let alone = line.trim_start();
        let named = line.rsplit_once("  ").map_or(alone, |(_, rest)| rest);
        named.starts_with("flashmark ") || named.contains('/') && !named.contains(' ')
    };
    let is_wide = |line: &&str| report::display::width(line) > width && !is_to_copy(line);
    text.lines().filter(is_wide).collect()
}

/// Output of these words on a terminal of so many columns.
fn printed(flashmark: &Flashmark, words: &[&str], columns: usize) -> String {
    let ran = Ran::of(flashmark.command(words).env("COLUMNS", columns.to_string()));
    assert!(matches!(ran.code, Some(0 | 1 | 4)), "{words:?}: {ran}");
    ran.out
}

#[test]
fn what_is_to_be_copied_stays_whole() {
    let flashmark = Flashmark::new();
    let label = "存储卡第二次测量".repeat(8);
    flashmark.done(&["run", "sim:a1", "--suite", "quick", "--label", &label, "--quiet"]);
    for columns in [40, 80] {
        let run = "sim-a1-quick-1";
        let screen = printed(&flashmark, &["show", run], columns);
        let details = printed(&flashmark, &["show", run, "--details"], columns);
        for (end, screen) in [("record.json", &screen), ("report.html", &screen)]
            .into_iter()
            .chain([("record.json", &details), ("report.html", &details)])
        {
            let line = screen.lines().find(|line| line.ends_with(end)).unwrap_or_else(|| {
                panic!("{columns}: {screen}");
            });
            assert!(std::path::Path::new(line.rsplit_once("  ").unwrap().1).is_file(), "{line}");
        }
        let check = printed(&flashmark, &["check", "sim:a1", "--quiet"], columns);
        let ends = |screen: &str, end: &str| {
            let words = screen.lines().find(|line| line.ends_with(end));
            assert!(words.is_some_and(|line| line.contains("flashmark show ")), "{screen}");
        };
        ends(&screen, " --details");
        ends(&details, " --findings");
        ends(&check, " --details");
        for screen in [&screen, &details, &printed(&flashmark, &["runs"], columns)] {
            assert_eq!(wide_lines(screen, columns), [""; 0], "{columns} columns");
        }
    }
}

#[test]
fn no_screen_is_wider_than_its_terminal() {
    let flashmark = Flashmark::new();
    for profile in ["class10", "a1"] {
        flashmark.done(&["run", &format!("sim:{profile}"), "--suite", "quick", "--quiet"]);
    }
    let screens: [&[&str]; 17] = [
        &["runs"],
        &["tests"],
        &["tests", "random-write"],
        &["sim", "list"],
        &["list"],
        &["show", "--findings"],
        &["show", "--all"],
        &["show", "--details"],
        &["run", "sim:class10", "--plan"],
        &["compare", "sim-class10-quick-1", "sim-a1-quick-1"],
        &["check", "sim:class10", "--quiet"],
        &["check", "sim:fake-wrap", "--quiet"],
        &["check", "--help"],
        &["run", "--help"],
        &["--help"],
        &["show", "--help"],
        &["list", "--help"],
    ];
    for words in screens {
        for columns in [40, 80, 120] {
            let screen = printed(&flashmark, words, columns);
            assert_eq!(wide_lines(&screen, columns), [""; 0], "{words:?}, {columns} columns");
            let is_help = words.last() == Some(&"--help") && columns >= 80;
            assert!(!is_help || screen.lines().count() <= 60, "{words:?}: {screen}");
        }
    }
}

#[test]
fn without_unicode_everything_is_ascii() {
    let flashmark = Flashmark::new();
    let ascii = |words: &[&str]| {
        let ran = Ran::of(flashmark.command(words).env("LC_ALL", "C"));
        assert_eq!(ran.code, Some(0), "{words:?}: {ran}");
        for text in [&ran.out, &ran.err] {
            let other: Vec<char> = text.chars().filter(|letter| !letter.is_ascii()).collect();
            assert!(other.is_empty(), "{words:?}: {other:?} in {text}");
        }
    };
    ascii(&["run", "sim:ssd", "--suite", "quick", "--label", "Schlüssel"]);
    for words in
        [&["show"][..], &["show", "--details"], &["show", "--all"], &["show", "--findings"]]
    {
        ascii(words);
    }
    for words in [&["runs"][..], &["tests"], &["sim", "list"], &["list"], &["--help"]] {
        ascii(words);
    }
    for words in [["show", "--json"], ["runs", "--json"]] {
        let ran = Ran::of(flashmark.command(&words).env("LC_ALL", "C"));
        assert!(ran.out.contains("Schlüssel"), "for programs it is left as it is: {ran}");
    }
    let shown = Ran::of(&mut flashmark.command(&["show", "--details"]));
    assert!(shown.out.contains('µ'), "where there is Unicode, it is used: {shown}");
}

#[test]
fn time_is_spent_about_as_it_was_given() {
    for (given, seconds) in [("30s", 30.0), ("5m", 300.0)] {
        let flashmark = Flashmark::new();
        flashmark.done(&["run", "sim:class10", "--suite", "quick", "--time", given, "--quiet"]);
        let spent = flashmark.record().run.elapsed_ns as f64 / 1e9;
        assert!((0.5 * seconds..=1.2 * seconds).contains(&spent), "{given}: {spent} s");
    }
}
