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
        let steps = commands(&screen);
        assert!(screen.contains("\nNext: ") && steps.len() <= 2, "{start:?}\n{screen}");
        for step in steps {
            // The standard suite has a journey of its own.
            let plan = if step.starts_with("flashmark run ") { " --plan" } else { "" };
            let ran = typed(&format!("{step}{plan}"), flashmark.home());
            assert!(matches!(ran.code, Some(0 | 1)), "{step}: {:?} {}", ran.code, ran.err);
            count += 1;
        }
    }
    assert!(count >= starts.len() - 1, "{count} steps of {} screens", starts.len());
}
