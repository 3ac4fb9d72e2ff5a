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
    let site = scratch.at("site");
    store.done(&["publish", site.to_str().unwrap()]);
    gate.hold_badges(&site.join("compare"));
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

    /// Holds that a figure with the badge "best" is the largest of its row, or the shortest time.
    fn hold_badges(&mut self, pages: &Path) {
        let mut best = 0;
        for page in fs::read_dir(pages).unwrap().map(|entry| entry.unwrap().path()) {
            let text = fs::read_to_string(&page).unwrap();
            for row in text.split("<tr>").filter(|row| row.contains("badge\">best")) {
                let cells: Vec<&str> = row.split("<td").skip(1).collect();
                let quantity =
                    |cell: &&str| amount(cell.split_once("<b>")?.1.split_once("</b>")?.0);
                let all: Vec<(f64, bool)> = cells.iter().filter_map(quantity).collect();
                let marked = cells.iter().find(|cell| cell.contains("badge\">best")).unwrap();
                let (own, is_time) = quantity(marked).unwrap();
                let is_best =
                    |(other, _): &(f64, bool)| if is_time { own <= *other } else { own >= *other };
                best += 1;
                if !all.iter().all(is_best) {
                    self.wrong.push(format!("{}: best {own} of {all:?}", page.display()));
                }
            }
        }
        if best == 0 {
            self.wrong.push(format!("no badge on {}", pages.display()));
        }
    }
}

/// "18.6 MB/s" in bytes a second, "20.0 ms" in nanoseconds; and whether it is a time.
fn amount(text: &str) -> Option<(f64, bool)> {
    let text = text.replace('\u{a0}', " ");
    let (number, unit) = text.split_once(' ')?;
    let units = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("IOPS", 1.0), ("B/s", 1.0)];
    let rates = [("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)];
    let (unit, scale) = units.into_iter().chain(rates).find(|(name, _)| *name == unit)?;
    Some((number.parse::<f64>().ok()? * scale, unit.ends_with('s') && !unit.ends_with("/s")))
}
