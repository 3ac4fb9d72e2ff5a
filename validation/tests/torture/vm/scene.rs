//! One scenario in a machine: cards are made on the host, the program runs in the guest, and its
//! results are checked on the host.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use super::machine::{Machine, Task};
use super::reader::Card;
use crate::card;
use crate::support::{Ran, Scratch, times};
use crate::tally::Tally;

/// A machine, and a directory for the files of the scenario.
pub struct Scene<'a> {
    pub machine: &'a mut Machine,
    pub scratch: Scratch,
    home: String,
}

/// Name and function of a scenario.
pub type Scenario = (&'static str, fn(&mut Scene<'_>));

/// Runs all of them in one machine, as booting takes longer than most scenarios; fails with a list
/// of those that failed.
pub fn play(machine: &mut Machine, parts: &[(&'static str, &[Scenario])]) {
    let mut failed = Vec::new();
    for (part, (name, scenario)) in
        parts.iter().flat_map(|(part, scenarios)| scenarios.iter().map(move |one| (part, one)))
    {
        let mut tally = Tally::of(part, *name);
        for number in 0..times("CARDS", 1) {
            let mut scene = Scene {
                machine: &mut *machine,
                scratch: Scratch::new(),
                home: format!("/tmp/{part}-{number}"),
            };
            tally.attempt(1, &number.to_string(), |_| scenario(&mut scene));
            scene.clear();
        }
        failed.extend(tally.report());
    }
    assert!(failed.is_empty(), "{} scenarios failed:\n{}", failed.len(), failed.join("\n"));
}

/// Serial number of the reader; every card in it has this one.
pub const SERIAL: &str = "READER0001";
/// Id of the reader in QEMU.
pub const READER: &str = "reader";

impl<'a> Scene<'a> {
    /// A scene with the results kept in this directory of the guest.
    pub fn keeping_at(machine: &'a mut Machine, home: &str) -> Scene<'a> {
        Scene { machine, scratch: Scratch::new(), home: home.to_owned() }
    }

    /// Command line of the program for the shell, with the results of this scenario.
    fn line(&self, words: &str) -> String {
        let program = crate::support::program();
        format!("export FLASHMARK_HOME={}\nexec {} {words} --quiet\n", self.home, program.display())
    }

    /// Outcome of these words.
    pub fn run(&mut self, words: &str) -> Ran {
        let line = self.line(words);
        self.machine.run(&line)
    }

    /// Starts the program and returns at once.
    pub fn start(&mut self, words: &str) -> Task {
        let line = self.line(words);
        self.machine.start(&line)
    }

    /// Starts the program with its progress shown.
    pub fn start_aloud(&mut self, words: &str) -> Task {
        let line = self.line(words);
        self.machine.start(line.trim_end().trim_end_matches("--quiet"))
    }

    /// True if a run has begun.
    pub fn has_runs(&mut self) -> bool {
        let home = self.home.clone();
        self.machine.run(&format!("ls {home}/[!.]*/journal.jsonl")).code == Some(0)
    }

    /// Copies its results to the host; returns the directory.
    pub fn kept(&mut self) -> PathBuf {
        let copy = format!("kept-{}", self.scratch.path().file_name().unwrap().to_str().unwrap());
        self.machine.done(&format!("rm -rf ./{copy}; cp -r {} ./{copy}", self.home));
        self.machine.shared(&copy)
    }

    /// Removes its results.
    pub fn forget(&mut self) {
        let home = self.home.clone();
        self.machine.done(&format!("rm -r {home}"));
    }

    /// Sends a signal to the program.
    pub fn signal(&mut self, name: &str) {
        self.machine.done(&format!("kill -{name} $(pidof flashmark)"));
    }

    /// Plugs in the reader with a card and waits for the node.
    pub fn plug(&mut self, card: &Card, node: &str) {
        self.machine.plug(READER, SERIAL, Some(card));
        self.machine
            .until(&format!("[ \"$(blockdev --getsize64 {node} 2>/dev/null || echo 0)\" -gt 0 ]"));
    }

    /// Waits until so many cells are in the journal.
    pub fn cells(&mut self, count: u32) {
        let cells = format!("cat {}/*/journal.jsonl | grep -c '\"cell\":{{'", self.home);
        self.machine.until(&format!("[ \"$({cells})\" -ge {count} ]"));
    }

    /// Ends programs that still run and unplugs the reader, whatever became of the scenario.
    pub fn clear(&mut self) {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            self.machine.run(&format!(
                "kill -KILL $(pidof flashmark sleep); sleep 0.2; rm -rf {}",
                self.home
            ));
            if self.machine.plugged.contains(READER) {
                self.machine.unplug(READER);
            }
            self.machine.until("[ ! -e /sys/block/sda ] && [ ! -e /sys/block/sdb ]");
        }));
    }

    /// A card of 64 MiB as somebody uses it: random bytes everywhere.
    pub fn used_card(&self, name: &str) -> PathBuf {
        self.scratch.file(name, card::used(name))
    }

    /// A card of the same size with a file system called HOLIDAY, full of photos.
    pub fn photos(&self, name: &str) -> PathBuf {
        card::photos(&self.scratch, name)
    }
}
