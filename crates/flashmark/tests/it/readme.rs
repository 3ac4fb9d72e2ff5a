//! README's examples, typed in its order: each ends as it says there.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::Flashmark;

const README: &str = include_str!("../../../../README.md");
/// Commands of the other programs, and those that need a medium that may be lent or erased.
const ELSEWHERE: [&str; 9] =
    ["matrix", "replay", "watch", "import", "export", "publish", "submit", "attach", "/dev/sdX"];

/// A command after `flashmark`, its exit code, and words of its screen.
const TYPED: [(&str, i32, &str); 20] = [
    ("list", 0, ""),
    ("run sim:class10 --suite standard", 0, "NOT SUITABLE"),
    ("run sim:class10 --for root-disk", 1, "NOT SUITABLE"),
    ("compare class10 card-b.json", 0, "Random write"),
    ("compare --before B --after A --fail-if 10%", 0, "no"),
    ("run sim:a1 --claim random-write=500IOPS,p99=20ms --strict --quiet", 0, ""),
    ("show --details", 0, "Random write"),
    ("show --markdown", 0, "| "),
    ("articles", 0, "004"),
    ("report --article 004 latest", 0, "random"),
    ("explain flush", 0, "power"),
    ("show --json", 0, "\"random_write_4k_iops\""),
    ("show", 0, "95 % interval"),
    ("runs", 0, "sim:a1"),
    ("report latest --html run.html", 0, ""),
    ("tests", 0, "random-write"),
    ("sim list", 0, "class10"),
    ("resume", 2, ""),
    ("restore", 0, "No run has data left to restore"),
    ("check . --budget 5s", 0, "All of it: "),
];

/// Commands that README names, without what follows two blanks or a pipe.
fn named() -> BTreeSet<String> {
    let examples = README.split_once("## What else it does").expect("it has one").1;
    let examples = examples.split_once("\nExit codes:").expect("it ends").0;
    let lines = examples.lines().filter_map(|line| line.trim().strip_prefix("flashmark "));
    let commands = lines.flat_map(|line| {
        let line = line.split("   ").next().unwrap_or(line);
        line.split(" | ").next().unwrap_or(line).split("; flashmark ").map(str::trim)
    });
    let is_here = |line: &&str| {
        !line.split(' ').any(|word| ELSEWHERE.contains(&word) || word.starts_with("/dev/"))
    };
    commands.filter(is_here).map(str::to_owned).collect()
}

#[test]
fn every_example_ends_as_it_is_printed() {
    let typed: BTreeSet<String> = TYPED.iter().map(|(line, ..)| (*line).to_owned()).collect();
    let missing: Vec<String> = named().difference(&typed).cloned().collect();
    assert!(missing.is_empty(), "not typed: {missing:?}");
    let flashmark = Flashmark::new();
    let folder = flashmark.home().join("typed");
    std::fs::create_dir(&folder).expect("a folder");
    flashmark.run(&["run", "sim:a2", "--suite", "quick", "--label", "B"]);
    flashmark.run(&["run", "sim:a2", "--suite", "quick", "--label", "A", "--seed", "2"]);
    let record = flashmark.run(&["show", "latest", "--json"]).out;
    std::fs::write(folder.join("card-b.json"), record).expect("a file");
    for (line, code, words) in TYPED {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ran = typed_in(&flashmark, &folder, &arguments);
        assert_eq!(ran.code, Some(code), "{line}: {}\n{}", ran.out, ran.err);
        assert!(ran.out.contains(words), "{line}: no {words:?}\n{}", ran.out);
    }
}

fn typed_in(flashmark: &Flashmark, folder: &Path, arguments: &[&str]) -> crate::support::Ran {
    let mut command = flashmark.command(arguments);
    crate::support::Ran::of(command.current_dir(folder))
}
