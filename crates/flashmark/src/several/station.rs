//! `flashmark station`: whatever is plugged in from now on is checked, until Ctrl-C.
//!
//! Media that were there at the start are never touched. Every check is a process of its own that
//! gets the identity of the medium: another medium in its place is refused.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use host::{DeviceNumber, InventoryEntry, Roots};
use report::summaries::table;

use super::child::{Child, Running};
use super::one_end::OneEnd;
use super::screen::SeveralScreen;
use crate::cli::StationFlags;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::print;
use crate::terminal::OutputStream;
use crate::{consent, messages, request, say, signals};

/// Time between two looks at what is plugged in.
const LOOK: Duration = Duration::from_millis(500);

/// A medium in a slot, by device number and the kernel's count of media: another medium in the same
/// slot has another count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PluggedMedium(DeviceNumber, Option<u64>);

impl PluggedMedium {
    fn of(disk: &InventoryEntry) -> PluggedMedium {
        PluggedMedium(disk.number, disk.diskseq)
    }
}

/// State of the slots.
#[derive(Default)]
struct Slots {
    /// Media that are not to be touched, or have had their check.
    done: BTreeSet<PluggedMedium>,
    /// Media seen at the last look: a new one waits for one look, until its partitions are read and
    /// the desktop has mounted it.
    seen: BTreeSet<PluggedMedium>,
    /// Media that were reported as in use.
    refused: BTreeSet<PluggedMedium>,
}

/// Next step for a medium.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Leave,
    ReportInUse,
    Check,
}

impl Slots {
    /// State in which the media that are there now are never touched.
    fn at_the_start(there: &[InventoryEntry]) -> Slots {
        let done = there.iter().filter(|disk| disk.size_bytes > 0).map(PluggedMedium::of).collect();
        Slots { done, ..Slots::default() }
    }

    fn step(&mut self, disk: &InventoryEntry) -> Step {
        let plugged = PluggedMedium::of(disk);
        let is_new = self.seen.insert(plugged);
        if disk.size_bytes == 0 || is_new || self.done.contains(&plugged) {
            return Step::Leave;
        }
        if disk.uses.is_empty() {
            return Step::Check;
        }
        if self.refused.insert(plugged) { Step::ReportInUse } else { Step::Leave }
    }

    /// Forgets media that have been pulled out: plugged in again, they are checked again.
    fn keep_only(&mut self, there: &[InventoryEntry]) {
        let there: BTreeSet<PluggedMedium> =
            there.iter().filter(|disk| disk.size_bytes > 0).map(PluggedMedium::of).collect();
        for set in [&mut self.done, &mut self.seen, &mut self.refused] {
            set.retain(|plugged| there.contains(plugged));
        }
    }
}

/// Checks what is plugged in until Ctrl-C; the exit code is the largest of the checks.
pub fn run(flags: &StationFlags) -> Result {
    request::read_duration("--budget", &flags.budget)?;
    request::read_uses(&flags.uses)?;
    let roots = Roots::default();
    let stop = signals::listen()?;
    let there = slots(&roots, flags);
    let mut slots_known = Slots::at_the_start(&there);
    if flags.erase {
        consent::ask_before_overwriting(
            "Every medium that is plugged in from now on is overwritten, all of it",
        )?;
    }
    if !flags.quiet {
        let left = there.iter().filter(|disk| disk.size_bytes > 0).count();
        say!("plug media in; Ctrl-C ends. {left} that are plugged in now are left as they are");
    }
    let (screen, running) = (SeveralScreen::open(flags.quiet), Running::default());
    let (sender, receiver) = channel();
    let mut station = Station {
        flags,
        screen: &screen,
        running: &running,
        busy: Vec::new(),
        begun: 0,
        worst: Exit::Done,
    };
    std::thread::scope(|scope| {
        let mut is_interrupted = false;
        while !stop.load(Ordering::SeqCst) || !station.busy.is_empty() {
            if stop.load(Ordering::SeqCst) {
                if !is_interrupted {
                    running.interrupt();
                    is_interrupted = true;
                }
            } else {
                let there = slots(&roots, flags);
                slots_known.keep_only(&there);
                for disk in &there {
                    match slots_known.step(disk) {
                        Step::Leave => {}
                        Step::ReportInUse => screen.print_line(&in_use(disk)),
                        Step::Check if station.is_busy(&roots, disk) => {}
                        Step::Check => {
                            slots_known.done.insert(PluggedMedium::of(disk));
                            station.begin(scope, &roots, disk, &sender);
                        }
                    }
                }
            }
            station.take(&receiver)?;
        }
        Ok(station.worst)
    })
}

/// The devices that media are plugged into.
fn slots(roots: &Roots, flags: &StationFlags) -> Vec<InventoryEntry> {
    let all = host::list(roots).into_iter();
    all.filter(|disk| flags.slot.is_empty() || flags.slot.contains(&disk.name)).collect()
}

fn in_use(disk: &InventoryEntry) -> String {
    let path = disk.path.display();
    format!("{path} is left as it is: {}; unmount it, and it is checked", host::summary(&disk.uses))
}

struct Station<'a> {
    flags: &'a StationFlags,
    screen: &'a SeveralScreen,
    running: &'a Running,
    /// Number and buses of each medium that is being checked.
    busy: Vec<(usize, BTreeSet<PathBuf>)>,
    begun: usize,
    worst: Exit,
}

impl<'a> Station<'a> {
    fn is_busy(&self, roots: &Roots, disk: &InventoryEntry) -> bool {
        let own = host::buses(roots, disk.number);
        self.busy.iter().any(|(_, buses)| !buses.is_disjoint(&own))
    }

    fn begin<'scope>(
        &mut self,
        scope: &'scope std::thread::Scope<'scope, '_>,
        roots: &Roots,
        disk: &InventoryEntry,
        sender: &Sender<anyhow::Result<OneEnd>>,
    ) where
        'a: 'scope,
    {
        let (nth, target) = (self.begun, disk.path.display().to_string());
        let words = self.words(disk, &target);
        self.begun += 1;
        self.busy.push((nth, host::buses(roots, disk.number)));
        let name = format!("{} {target}", self.label(nth));
        self.screen.add(&name);
        let (screen, running, sender) = (self.screen, self.running, sender.clone());
        scope.spawn(move || {
            let ended = Child::start(&name, nth, &words, running)
                .and_then(|child| child.wait(screen, running));
            let _ = sender.send(ended);
        });
    }

    fn label(&self, nth: usize) -> String {
        format!("{}{}", self.flags.label, nth + 1)
    }

    /// Command line of its check.
    fn words(&self, disk: &InventoryEntry, target: &str) -> Vec<String> {
        let label = self.label(self.begun);
        let mut words = vec!["check", target, "--progress", "json", "--label", &label];
        words.extend(["--budget", &self.flags.budget, "--again"]);
        let uses = self.flags.uses.join(",");
        if !uses.is_empty() {
            words.extend(["--for", &uses]);
        }
        let ids = disk.ids();
        if let Some(id) = ids.first().filter(|_| self.flags.erase) {
            words.extend(["--erase", id, "--yes"]);
        }
        words.into_iter().map(str::to_owned).collect()
    }

    /// Prints the outcome of a check that has ended, or waits for a moment.
    fn take(&mut self, receiver: &Receiver<anyhow::Result<OneEnd>>) -> Result<()> {
        let Ok(ended) = receiver.recv_timeout(LOOK) else { return Ok(()) };
        let ended = ended.or_internal()?;
        self.busy.retain(|(nth, _)| *nth != ended.nth);
        if ended.exit as u8 > self.worst as u8 {
            self.worst = ended.exit;
        }
        self.screen.remove(ended.nth);
        if messages::are_json() {
            return Ok(());
        }
        let text = table(&[ended.summarised()], OutputStream::Output.width());
        self.screen.print(|| print(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(minor: u32, diskseq: u64, size_bytes: u64) -> InventoryEntry {
        InventoryEntry {
            name: format!("sd{minor}"),
            path: "/dev/sdx".into(),
            number: DeviceNumber { major: 8, minor },
            diskseq: Some(diskseq),
            size_bytes,
            read_only: false,
            medium: record::Medium::default(),
            link: record::Link::default(),
            partitions: Vec::new(),
            uses: Vec::new(),
        }
    }

    #[test]
    fn only_what_is_plugged_in_later_is_checked_and_once() {
        let (there, empty) = (disk(0, 1, 100), disk(16, 2, 0));
        let mut slots = Slots::at_the_start(&[there.clone(), empty.clone()]);
        let mut look = |disk: &InventoryEntry| {
            slots.keep_only(std::slice::from_ref(disk));
            let step = slots.step(disk);
            if step == Step::Check {
                slots.done.insert(PluggedMedium::of(disk));
            }
            step
        };
        assert_eq!([look(&there), look(&there)], [Step::Leave, Step::Leave]);
        let card = disk(16, 3, 100);
        let steps = [&empty, &card, &card, &card, &empty, &disk(16, 4, 100), &disk(16, 4, 100)];
        let checked = steps.map(|disk| look(disk) == Step::Check);
        assert_eq!(checked, [false, false, true, false, false, false, true]);
    }

    #[test]
    fn a_disk_in_use_is_reported_once_and_checked_when_free() {
        let mut slots = Slots::default();
        let mut used = disk(0, 1, 100);
        used.uses =
            vec![host::InUseReason::ExclusivelyOpen { device: "sd0".into(), open_in: Vec::new() }];
        let steps = [slots.step(&used), slots.step(&used), slots.step(&used)];
        assert_eq!(steps, [Step::Leave, Step::ReportInUse, Step::Leave]);
        assert_eq!(slots.step(&disk(0, 1, 100)), Step::Check);
    }
}
