//! Next steps of a verdict: they work when they are typed as they are printed.

use std::path::Path;
use std::process::Command;

use crate::support::{Flashmark, Ran, Scratch};

/// The commands after "Next: .. :" of a screen, wherever its lines end.
fn commands(screen: &str) -> Vec<String> {
    let from = screen.lines().skip_while(|line| !line.starts_with("Next: "));
    let steps = from.take_while(|line| line.starts_with("Next: ") || line.starts_with("  "));
    let text = steps.collect::<Vec<_>>().join("\n").replace("\n  ", " ");
    let command = |line: &str| Some(format!("flashmark {}", line.split_once(": flashmark ")?.1));
    text.lines().filter_map(command).collect()
}

/// Types a line into a shell that finds this program and its runs.
fn typed(line: &str, home: &Path) -> Ran {
    let program = Path::new(env!("CARGO_BIN_EXE_flashmark")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("FLASHMARK_HOME", home).env("PATH", path);
    Ran::of(&mut shell)
}

#[test]
fn each_step_works_as_it_is_printed() {
    let flashmark = Flashmark::new();
    let scratch = Scratch::new();
    let directory = scratch.directory("a drawer's card");
    let mut starts: Vec<Vec<String>> = Vec::new();
    let mut start = |line: &[&str]| starts.push(line.iter().map(|word| word.to_string()).collect());
    start(&["check", directory.to_str().expect("UTF-8"), "--budget", "5s"]);
    for medium in ["a1", "class10", "flush-liar", "fake-wrap", "cf-kingston-266x"] {
        let target = format!("sim:{medium}");
        start(&["check", &target]);
        start(&["check", &target, "--for", "video=400Mbit,logger"]);
        start(&["run", &target, "--suite", "quick"]);
    }
    let mut count = 0;
    for start in &starts {
        let words: Vec<&str> = start.iter().map(String::as_str).collect();
        let screen = flashmark.run(&words).out;
        assert!(screen.contains("\nNext: "), "{start:?}\n{screen}");
        let mut chain = vec![format!("flashmark {}", start.join(" "))];
        count += follow(&screen, &mut chain, flashmark.home());
    }
    assert!(count >= starts.len() - 1, "{count} steps of {} screens", starts.len());
}

/// Follows the steps of a screen and of those after it, three in a row; returns their number. None
/// leads back.
fn follow(screen: &str, chain: &mut Vec<String>, home: &Path) -> usize {
    let steps = commands(screen);
    assert!(steps.len() <= 2, "{chain:?}\n{screen}");
    for step in &steps {
        assert!(!chain.contains(step), "{step} again after {chain:?}");
        // The standard suite has a journey of its own.
        let plan = if step.starts_with("flashmark run ") { " --plan" } else { "" };
        let ran = typed(&format!("{step}{plan}"), home);
        assert!(matches!(ran.code, Some(0 | 1)), "{step}: {:?} {}", ran.code, ran.err);
        if plan.is_empty() && chain.len() < 3 {
            chain.push(step.clone());
            follow(&ran.out, chain, home);
            chain.pop();
        }
    }
    steps.len()
}
