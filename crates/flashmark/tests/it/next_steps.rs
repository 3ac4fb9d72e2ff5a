//! The gate on first lines: of every medium that comes with the program and of ten drawn ones, what
//! `check` and `quick` say is right by each property of `first_lines.rs`, and so is what the next
//! steps say, which work when they are typed as they are printed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::first_lines::{Shown, wrong};
use crate::support::{Flashmark, Ran, Scratch, read_record};

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

/// Media that are drawn.
const DRAWN: u64 = 10;

#[test]
fn the_first_lines_of_every_medium_are_true() {
    let scratch = Scratch::new();
    let mut media: Vec<String> =
        sim::Profile::all().iter().map(|profile| format!("sim:{}", profile.name())).collect();
    media.extend((0..DRAWN).map(|number| {
        let file = scratch.file(&format!("drawn-{number}.toml"), sim::truth::drawn(62, number).0);
        format!("sim:{}", file.display())
    }));
    let directory = scratch.directory("a drawer's card");
    media.push(format!("'{}'", directory.to_str().unwrap().replace('\'', r"'\''")));
    let (mut gate, store) = (Gate::default(), Flashmark::new());
    for medium in &media {
        let budget = if medium.starts_with("sim:") { "" } else { " --budget 5s" };
        gate.follow(&mut vec![format!("flashmark check {medium}{budget}")], store.home());
        if budget.is_empty() {
            let claim = "--suite quick --claim random-write=100IOPS,p99=20ms";
            gate.take(&format!("flashmark run {medium} {claim}"), store.home());
        }
    }
    assert!(gate.wrong.is_empty(), "{}\n{}", gate.wrong.len(), gate.wrong.join("\n"));
    assert!(gate.seen.len() > 2 * media.len(), "{} runs", gate.seen.len());
}

/// What the gate saw.
#[derive(Default)]
struct Gate {
    /// Commands, and those after "Next:" on their screens.
    seen: BTreeMap<String, Vec<String>>,
    wrong: Vec<String>,
}

impl Gate {
    /// Follows the steps of the last command and of those after it, three in a row. None leads back.
    fn follow(&mut self, chain: &mut Vec<String>, home: &Path) {
        let command = chain[chain.len() - 1].clone();
        let steps = match self.seen.get(&command) {
            Some(steps) => steps.clone(),
            None => self.take(&command, home),
        };
        let steps = if chain.len() <= 3 { steps } else { Vec::new() };
        for step in steps {
            if chain.contains(&step) {
                self.wrong.push(format!("{step} again after {chain:?}"));
            }
            chain.push(step);
            self.follow(chain, home);
            chain.pop();
        }
    }

    /// Types a command, holds what it shows, and gives the commands that it names.
    fn take(&mut self, command: &str, home: &Path) -> Vec<String> {
        // The longer suites are held by `cargo validation truth`.
        let is_long = command.contains("flashmark run ") && !command.contains("--suite quick");
        let ran =
            typed(&format!("{command} --seed 1{}", if is_long { " --plan" } else { "" }), home);
        if !matches!(ran.code, Some(0 | 1 | 4)) {
            self.wrong.push(format!("{command}: {:?} {}", ran.code, ran.err));
        }
        let steps = commands(&ran.out);
        if let Some(name) = ran.out.split("flashmark show ").nth(1).filter(|_| !is_long) {
            let dir = home.join(name.split_whitespace().next().unwrap());
            let record = &read_record(&dir.join("record.json"));
            let page = &fs::read_to_string(dir.join("report.html")).unwrap();
            let found = wrong(&Shown { record, screen: &ran.out, page });
            self.wrong.extend(found.into_iter().map(|why| format!("{command}: {why}")));
        }
        self.seen.insert(command.to_owned(), steps.clone());
        steps
    }
}
