//! Changes of the rate: how often `compare --before --after --fail-if 10%` calls storage slower,
//! for storage whose rate was lowered and for storage whose rate was not.
//!
//! The runs are those of `check` on a file system whose rate the kernel caps, and below caps that
//! are lowered by some shares. Single runs and triples of these runs are compared: the caps tell
//! the truth of each.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::judged::{ALLOWED, Counts, judge, picked};
use super::sides::{Pools, Sides};
use super::{Flags, LOOP, PAGE, Target, goals_missed, record_of};
use crate::attached::medium::Program;
use crate::section::Section;
use crate::truth::Share;

const TABLE: Section<'static> = Section {
    page: PAGE,
    heading: "Before and after",
    name: "cargo validation truth --reruns --changes",
};

/// Levels of the caps; the first are the runs before.
pub const LEVELS: [Target; 4] = [
    LOOP,
    Target { name: "loop-10-percent-slower", lowered: Some(10), ..LOOP },
    Target { name: "loop-20-percent-slower", lowered: Some(20), ..LOOP },
    Target { name: "loop-40-percent-slower", lowered: Some(40), ..LOOP },
];
/// Level and percent of comparisons of three runs a side that must find each capped figure slower.
const DETECTED: (u64, f64) = (20, 95.0);
/// Most comparisons that may find something slower where nothing was lowered, in percent.
const FALSE_ALARMS: f64 = 2.0;
/// Tests whose rate the caps decide. Tests that wait for the file system's journal are not among
/// them: the kernel writes that outside the group.
const CAPPED: [&str; 5] = [
    record::test::RANDOM_WRITE,
    record::test::RANDOM_READ,
    record::test::SEQUENTIAL_WRITE,
    record::test::SEQUENTIAL_READ,
    record::test::PRIME,
];

/// Counts of one level.
struct Level {
    percent: u64,
    /// Counts with one run a side, and with three.
    counts: [Counts; 2],
}

/// Makes the table; returns it with its place and the number of missed goals.
pub fn counted(
    program: &Program,
    (flags, seed): (&Flags, u64),
    directory: &Path,
) -> Result<(Section<'static>, String, usize)> {
    let compare = |level: &Target| compare(program, directory, *level, (flags.runs(), seed));
    let levels = LEVELS.iter().map(compare).collect::<Result<Vec<_>>>()?;
    Ok((TABLE, table(&levels, flags), missed(&levels).len()))
}

/// Compares the runs of a level with those before it.
fn compare(
    program: &Program,
    directory: &Path,
    level: Target,
    (runs, seed): (usize, u64),
) -> Result<Level> {
    let percent = level.lowered.unwrap_or_default();
    let pool = |level| -> Vec<PathBuf> {
        (0..runs).map(|number| record_of(directory, level, number)).collect()
    };
    let (before, after) = (pool(LOOP), pool(level));
    let pools = if level == LOOP { Pools::Same(runs) } else { Pools::Two(runs, runs) };
    let counted = |all: Vec<Sides>| -> Result<Counts> {
        let mut counts = Counts::new();
        for of in all {
            let (before, after) = (picked(&before, &of.before), picked(&after, &of.after));
            judge(program, &before, &after, &mut counts)?;
        }
        Ok(counts)
    };
    let counts = [counted(pools.singles())?, counted(pools.triples(seed + percent))?];
    Ok(Level { percent, counts })
}

fn table(levels: &[Level], flags: &Flags) -> String {
    let mut text = format!(
        "`{} {}`: percent of comparisons by\n\
         `compare --before --after --fail-if {ALLOWED}` that found the figure slower, by how much the caps on\n\
         the rate were lowered; with one run a side, and with three. At 0 % these are false alarms; at 10 %,\n\
         the limit itself, either answer is right.\n\n",
        TABLE.name,
        flags.words(),
    );
    let heads = |level: &Level| format!(" {0} %, one run | {0} %, three |", level.percent);
    writeln!(text, "| figure |{}", levels.iter().map(heads).collect::<String>()).ok();
    writeln!(text, "|---|{}", "---:|---:|".repeat(levels.len())).ok();
    let mut figures: Vec<_> =
        levels.iter().flat_map(|level| &level.counts).flat_map(Counts::keys).collect();
    figures.sort();
    figures.dedup();
    for figure in figures {
        let of = |counts: &Counts| cell(counts.get(figure).copied().unwrap_or_default());
        writeln!(text, "| {} |{}", figure.name(), row(levels, of)).ok();
    }
    writeln!(text, "| all |{}", row(levels, |counts| cell(sum(counts)))).ok();
    writeln!(
        text,
        "\nGoals: at {} %, three runs find each figure whose rate is capped\n\
         ({}) in {} % or more;\n\
         of all figures at most {FALSE_ALARMS} % are false alarms. {}",
        DETECTED.0,
        CAPPED.join(", "),
        DETECTED.1,
        goals_missed(&missed(levels))
    )
    .ok();
    text
}

/// Cells of a line, two for each level.
fn row(levels: &[Level], cell: impl Fn(&Counts) -> String) -> String {
    let cells = levels.iter().flat_map(|level| &level.counts).map(cell);
    cells.map(|cell| format!(" {cell} |")).collect()
}

fn cell(count: Share) -> String {
    count.percent().map_or("-".to_owned(), |percent| format!("{percent:.0} of {}", count.all))
}

fn sum(counts: &Counts) -> Share {
    let mut sum = Share::default();
    counts.values().for_each(|count| sum.add(*count));
    sum
}

/// Goals that are missed.
fn missed(levels: &[Level]) -> Vec<String> {
    let at = |percent| levels.iter().find(move |level| level.percent == percent);
    let mut missed = Vec::new();
    for (counts, runs) in
        at(0).iter().flat_map(|level| level.counts.iter().zip(["one run", "three runs"]))
    {
        match sum(counts).percent() {
            None => missed.push(format!("no comparison without a change, {runs} a side")),
            Some(percent) if percent > FALSE_ALARMS => {
                missed.push(format!("{percent:.1} % false alarms with {runs} a side"));
            }
            Some(_) => {}
        }
    }
    let [_, triples] = &at(DETECTED.0).map(|level| level.counts.clone()).unwrap_or_default();
    for test in CAPPED {
        let of_test = triples.iter().filter(|(figure, _)| figure.test == test);
        let found: Vec<_> =
            of_test.filter_map(|(figure, count)| Some((figure, count.percent()?))).collect();
        if found.is_empty() {
            missed.push(format!("{test} was not compared with three runs a side"));
        }
        for (figure, percent) in found.into_iter().filter(|(_, percent)| *percent < DETECTED.1) {
            let name = figure.name();
            missed.push(format!("{name} found in {percent:.0} % with three runs a side"));
        }
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::super::judged::Compared;
    use super::*;

    /// Makes a level at which every figure has these counts.
    fn level(percent: u64, single: Share, triple: Share) -> Level {
        let counts = |count: Share| {
            let figure = |test: &str| Compared { test: test.to_owned(), block_bytes: Some(4096) };
            CAPPED.iter().map(|test| (figure(test), count)).collect()
        };
        Level { percent, counts: [counts(single), counts(triple)] }
    }

    fn count(found: u32, all: u32) -> Share {
        Share { of: found, all }
    }

    #[test]
    fn a_figure_that_is_not_found_is_a_goal_missed() {
        let quiet = || level(0, count(0, 30), count(0, 20));
        assert_eq!(missed(&[quiet(), level(20, count(0, 36), count(19, 20))]), [""; 0]);
        let mut one = level(20, count(36, 36), count(20, 20));
        one.counts[1].values_mut().next().unwrap().of = 18;
        assert_eq!(missed(&[quiet(), one]), ["prime 4 KiB found in 90 % with three runs a side"]);
        let none = missed(&[quiet(), level(20, count(36, 36), count(0, 0))]);
        assert_eq!(none.len(), CAPPED.len(), "{none:?}");
    }

    #[test]
    fn false_alarms_are_counted_of_all_figures() {
        let found = || level(20, count(36, 36), count(20, 20));
        // One in fifty is allowed, two are not.
        let quiet = |found: u32| {
            let mut level = level(0, count(0, 10), count(0, 20));
            level.counts[0].values_mut().next().unwrap().of = found;
            level
        };
        assert_eq!(missed(&[quiet(1), found()]), [""; 0]);
        assert_eq!(missed(&[quiet(2), found()]), ["4.0 % false alarms with one run a side"]);
    }

    #[test]
    fn the_table_has_a_line_a_figure_and_one_for_all() {
        let mut levels =
            [level(0, count(1, 30), count(0, 20)), level(20, count(30, 36), count(0, 0))];
        let other = Compared { test: "flush-cost".to_owned(), block_bytes: None };
        levels[0].counts[0].insert(other, count(0, 30));
        insta::assert_snapshot!(table(&levels, &Flags::of(6, None)), @r"
    `cargo validation truth --reruns --changes --runs 6`: percent of comparisons by
    `compare --before --after --fail-if 10%` that found the figure slower, by how much the caps on
    the rate were lowered; with one run a side, and with three. At 0 % these are false alarms; at 10 %,
    the limit itself, either answer is right.

    | figure | 0 %, one run | 0 %, three | 20 %, one run | 20 %, three |
    |---|---:|---:|---:|---:|
    | flush-cost | 0 of 30 | - | - | - |
    | prime 4 KiB | 3 of 30 | 0 of 20 | 83 of 36 | - |
    | random-read 4 KiB | 3 of 30 | 0 of 20 | 83 of 36 | - |
    | random-write 4 KiB | 3 of 30 | 0 of 20 | 83 of 36 | - |
    | sequential-read 4 KiB | 3 of 30 | 0 of 20 | 83 of 36 | - |
    | sequential-write 4 KiB | 3 of 30 | 0 of 20 | 83 of 36 | - |
    | all | 3 of 180 | 0 of 100 | 83 of 180 | - |

    Goals: at 20 %, three runs find each figure whose rate is capped
    (random-write, random-read, sequential-write, sequential-read, prime) in 95 % or more;
    of all figures at most 2 % are false alarms. Missed:

    - 2.8 % false alarms with one run a side
    - random-write was not compared with three runs a side
    - random-read was not compared with three runs a side
    - sequential-write was not compared with three runs a side
    - sequential-read was not compared with three runs a side
    - prime was not compared with three runs a side
    ");
    }
}
