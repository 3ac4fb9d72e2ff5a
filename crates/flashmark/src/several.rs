//! Several media in one call. Each is measured by a process of its own, so that one that hangs or
//! is pulled out does not disturb the others. Media that share a bus take turns; the others are
//! measured side by side.

mod child;
mod interference;
mod one_end;
mod screen;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host::{Access, InventoryEntry, ResolvedTarget, Roots};
use report::summaries::{MediumSummary, table};

use child::Child;
use one_end::OneEnd;
use program::exit::{Exit, OrExit, Result, usage};
use program::messages;
use program::printing::{print, print_document};
use program::signals;
use program::terminal::OutputStream;
use screen::SeveralScreen;
use session::flags::MoreTargets;

/// Time between two looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Names of all targets if several were typed; `None` if there is one, which is then in `target`.
pub fn targets(target: &mut String, more: &mut MoreTargets) -> Result<Option<Vec<String>>> {
    let all: Vec<String> = std::iter::once(target.clone()).chain(more.more.drain(..)).collect();
    match more.nth.take() {
        Some(nth) => {
            let Some(own) = all.get(nth) else { return usage("--nth: there is no such target") };
            *target = own.clone();
            child::end_with_the_parent();
            Ok(None)
        }
        None if all.len() == 1 => Ok(None),
        None => Ok(Some(all)),
    }
}

/// Flags that several media have in common.
pub struct SeveralFlags<'a> {
    /// Names of media that may be overwritten (`--erase`).
    pub erase: &'a [String],
    /// Only say what would be done.
    pub plan_only: bool,
    /// Print a line of JSON for each medium and no table.
    pub json: bool,
    /// Show no progress.
    pub quiet: bool,
}

/// One of several targets.
struct OneTarget {
    /// As it was typed.
    name: String,
    /// Its place among the targets that were typed.
    nth: usize,
    disk: Option<InventoryEntry>,
    /// Path that may be read to find out whether it slows others down.
    readable: Option<PathBuf>,
    /// Names in `--erase` that are those of this medium.
    erase: Vec<String>,
    buses: BTreeSet<PathBuf>,
}

/// Measures all of them and prints one table. The exit code is the largest of their exit codes.
pub fn run(names: &[String], flags: &SeveralFlags<'_>) -> Result {
    let targets = look_at(names, flags.erase)?;
    let stop = signals::listen()?;
    let mut groups = grouped(&targets);
    if groups.len() > 1 && !flags.plan_only {
        groups = interference::take_turns_if_needed(groups, flags.quiet);
    }
    if flags.plan_only {
        groups = vec![groups.into_iter().flatten().collect()];
    }
    let screen = SeveralScreen::open(flags.quiet);
    targets.iter().for_each(|one| screen.add(&one.name));
    let mut ended = all_ended(&groups, &screen, &stop)?;
    drop(screen);
    ended.sort_by_key(|one| one.nth);
    for one in &ended {
        if flags.json {
            print_document(&one.output)?;
        } else if flags.plan_only {
            print(&one.output)?;
        }
    }
    if !flags.plan_only && !flags.json && !messages::are_json() {
        let media: Vec<MediumSummary<'_>> = ended.iter().map(OneEnd::summarised).collect();
        print(&table(&media, OutputStream::Output.width()))?;
    }
    let exits = ended.iter().map(|one| one.exit);
    Ok(exits.max_by_key(|exit| *exit as u8).unwrap_or(Exit::Internal))
}

/// Finds out what was named; refuses names of one medium that occur twice.
fn look_at(names: &[String], erase: &[String]) -> Result<Vec<OneTarget>> {
    let roots = Roots::default();
    let mut targets: Vec<OneTarget> =
        names.iter().enumerate().map(|(nth, name)| look(&roots, nth, name)).collect();
    for (at, one) in targets.iter().enumerate() {
        let number = one.disk.as_ref().map(|disk| disk.number);
        let is_same = |other: &&OneTarget| {
            other.name == one.name
                || number.is_some() && other.disk.as_ref().map(|disk| disk.number) == number
        };
        if let Some(other) = targets[at + 1..].iter().find(is_same).filter(|_| number.is_some()) {
            return usage(format_args!(
                "'{}' and '{}' are on the same medium; name each medium once",
                one.name, other.name
            ));
        }
    }
    for id in erase {
        let mut own = targets.iter_mut().filter(|one| answers_to(one, id));
        match (own.next(), own.next()) {
            (Some(one), None) => one.erase.push(id.clone()),
            (Some(_), Some(_)) => {
                return usage(format_args!(
                    "--erase {id} names more than one of these media; nothing was written"
                ));
            }
            _ => {
                return usage(format_args!(
                    "--erase {id} names none of these media; nothing was written"
                ));
            }
        }
    }
    Ok(targets)
}

fn look(roots: &Roots, nth: usize, name: &str) -> OneTarget {
    // what cannot be resolved is said by the process that measures it
    let found = host::resolve(roots, name, Access::Read).ok();
    let disk = found.as_ref().and_then(ResolvedTarget::medium).cloned();
    let readable = match &found {
        Some(ResolvedTarget::Block(block)) => Some(block.path.clone()),
        Some(ResolvedTarget::File(file)) => Some(file.place.path.clone()),
        _ => None,
    };
    let buses = disk.as_ref().map(|disk| host::buses(roots, disk.number)).unwrap_or_default();
    OneTarget { name: name.to_owned(), nth, disk, readable, erase: Vec::new(), buses }
}

fn answers_to(one: &OneTarget, id: &str) -> bool {
    let is_path = one.name == id;
    is_path
        || one.disk.as_ref().is_some_and(|disk| {
            disk.answers_to(id)
                || disk.partitions.iter().any(|partition| disk.answers_for(Some(partition), id))
        })
}

/// Targets grouped by bus: those of a group share one and take turns.
fn grouped(targets: &[OneTarget]) -> Vec<Vec<&OneTarget>> {
    let mut groups: Vec<(BTreeSet<PathBuf>, Vec<&OneTarget>)> = Vec::new();
    for one in targets {
        let (sharing, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|(buses, _)| !buses.is_disjoint(&one.buses));
        let mut joined = (one.buses.clone(), Vec::new());
        for (buses, members) in sharing {
            joined.0.extend(buses);
            joined.1.extend(members);
        }
        joined.1.push(one);
        groups = apart;
        groups.push(joined);
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Measures all targets: starts a process for the first of each group, and the next one when it has
/// ended.
fn all_ended(
    groups: &[Vec<&OneTarget>],
    screen: &SeveralScreen,
    stop: &AtomicBool,
) -> Result<Vec<OneEnd>> {
    let running = child::Running::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = groups
            .iter()
            .map(|group| scope.spawn(|| one_after_another(group, screen, &running, stop)))
            .collect();
        let mut is_interrupted = false;
        while threads.iter().any(|thread| !thread.is_finished()) {
            if stop.load(Ordering::SeqCst) && !is_interrupted {
                running.interrupt();
                is_interrupted = true;
            }
            std::thread::sleep(LOOK);
        }
        let ended: anyhow::Result<Vec<Vec<OneEnd>>> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        ended.map(|all| all.into_iter().flatten().collect()).or_internal()
    })
}

fn one_after_another(
    group: &[&OneTarget],
    screen: &SeveralScreen,
    running: &child::Running,
    stop: &AtomicBool,
) -> anyhow::Result<Vec<OneEnd>> {
    let typed: Vec<String> = std::env::args().skip(1).collect();
    let mut ended = Vec::new();
    for one in group {
        if stop.load(Ordering::SeqCst) {
            ended.push(OneEnd::never_begun(&one.name, one.nth));
            continue;
        }
        let words = child::words(&typed, one.nth, &one.erase);
        ended.push(Child::start(&one.name, one.nth, &words, running)?.wait(screen, running)?);
    }
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(nth: usize, buses: &[&str]) -> OneTarget {
        OneTarget {
            name: nth.to_string(),
            nth,
            disk: None,
            readable: None,
            erase: Vec::new(),
            buses: buses.iter().map(PathBuf::from).collect(),
        }
    }

    #[test]
    fn what_shares_a_bus_with_any_of_a_group_joins_it() {
        let targets = [
            on(0, &["usb1"]),
            on(1, &["usb2"]),
            on(2, &[]),
            on(3, &["usb1"]),
            on(4, &["usb2", "usb1"]),
        ];
        let groups = |count: usize| {
            let of = |group: &Vec<&OneTarget>| {
                let mut members: Vec<usize> = group.iter().map(|one| one.nth).collect();
                members.sort_unstable();
                members
            };
            let mut found: Vec<Vec<usize>> = grouped(&targets[..count]).iter().map(of).collect();
            found.sort();
            found
        };
        assert_eq!(groups(4), [vec![0, 3], vec![1], vec![2]]);
        assert_eq!(groups(5), [vec![0, 1, 3, 4], vec![2]]);
    }
}
