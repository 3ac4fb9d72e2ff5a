//! `cargo validation verdicts`: compares the figures in verdicts on databases and loggers
//! with the works `sqlite` and `logger` on the same medium: simulated media as block devices with
//! an ext4, and directories of real file systems.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use record::units::significant;
use record::{Cell, Evidence, Fitness};

use crate::attached_medium::{Medium, Program, SEED, run as run_program, tool, with_priority};
use crate::mounted::Mounted;
use crate::section::Section;

/// Largest factor between the figure of a verdict and that of the work, either way.
const FACTOR: f64 = 1.5;

/// Media: controllers that map allocation units, with one to five of them open and with a fast
/// buffer; that map pages; a disk; a volatile cache.
const MEDIA: [&str; 8] = [
    "sd-class4",
    "class6",
    "class10-bypass",
    "usb2-kingston",
    "a1",
    "emmc",
    "disk-5400",
    "flush-liar",
];

/// File systems of which a directory is the target. Their device is attached, too: the storage of a
/// small machine may answer within a tenth of a millisecond, and then the time of kernel and SQLite
/// themselves decides.
const FILE_SYSTEMS: [&str; 2] = ["ext4", "xfs"];
const BELOW: &str = "a1";
/// Number of times that each is asked for both: other load comes and goes, and the place of
/// directories and small files is a matter of chance (the work `logger` made 23.8 lines a second
/// durable on a disk, and 51.9 on the same disk in another directory). The medians count.
const TURNS: usize = 3;

/// Figure of a verdict and the work that must reach it: test, form of its cell, finding; work, form
/// of its cell, settings.
struct Promise {
    what: &'static str,
    test: (&'static str, Option<&'static str>),
    finding: &'static str,
    work: (&'static str, &'static str),
    settings: &'static [&'static str],
}

const PROMISES: [Promise; 3] = [
    Promise {
        what: "commits a second, rollback journal",
        test: ("commit", Some("rollback")),
        finding: "verdict-database",
        work: ("sqlite", "delete"),
        settings: &["journal=delete", "max_time=30s"],
    },
    Promise {
        what: "commits a second, write-ahead log",
        test: ("commit", Some("wal")),
        finding: "verdict-database",
        work: ("sqlite", "wal"),
        settings: &["journal=wal", "max_time=30s"],
    },
    Promise {
        what: "durable lines a second",
        test: ("log-append", None),
        finding: "verdict-logger",
        work: ("logger", "commit"),
        settings: &["max_time=20s"],
    },
];

/// A figure of one side with its interval.
#[derive(Clone, Copy)]
struct Rate {
    value: f64,
    ci95: Option<[f64; 2]>,
    /// True if the verdict quotes it only to say that its interval is still open.
    is_open: bool,
}

impl Rate {
    fn of(cell: &Cell) -> Result<Rate> {
        let iops = cell.metrics.iops.with_context(|| format!("{} has no rate", cell.id))?;
        Ok(Rate { value: iops.value, ci95: iops.ci95, is_open: false })
    }

    fn text(self) -> String {
        let ends = self
            .ci95
            .map(|[low, high]| format!(" ({} to {})", significant(low), significant(high)));
        format!("{}{}", significant(self.value), ends.unwrap_or_default())
    }
}

/// One promise on one medium.
struct Row {
    medium: String,
    promise: &'static Promise,
    promised: Rate,
    done: Rate,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.promised.value / self.done.value
    }

    fn holds(&self) -> bool {
        (1.0 / FACTOR..=FACTOR).contains(&self.ratio())
    }

    /// True if the work misses the figure. A verdict that cannot tell promises nothing, whatever
    /// figure it quotes.
    fn is_missed(&self) -> bool {
        !self.holds() && !self.promised.is_open
    }

    fn line(&self) -> String {
        let (what, promised, done, ratio) =
            (self.promise.what, self.promised.text(), self.done.text(), self.ratio());
        let word = match (self.promised.is_open, self.holds()) {
            (true, _) => "left open",
            (false, true) => "holds",
            (false, false) => "**missed**",
        };
        format!("| {} | {what} | {promised} | {done} | {ratio:.2} | {word} |", self.medium)
    }
}

/// Flags of the study.
#[derive(clap::Args)]
pub struct Flags {
    /// Profiles to measure, or file systems, separated by commas. Without it, all.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<String>,
    /// Write the table to docs/simulated-media.md.
    #[arg(long)]
    pub write: bool,
}

/// Measures, prints the table, and fails if a figure is too far off.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    let program = Program::build(root)?;
    let (table, missed) = compare(&program, root, &flags.only)?;
    let page = "docs/simulated-media.md";
    let section = Section { page, heading: "Verdicts against works", name: "works" };
    section.publish(root, &table, flags.write)?;
    ensure!(missed.is_empty(), "missed: {}", missed.join("; "));
    Ok(())
}

/// True if this profile or file system was requested; all are if none is named.
fn is_wanted(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|wanted| wanted == name)
}

/// Makes the table; returns it with the goals that are missed. `only`: these profiles, or these
/// file systems.
fn compare(program: &Program, root: &Path, only: &[String]) -> Result<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let mut keep = |found: Vec<Row>| {
        found.iter().for_each(|row| eprintln!("{}", row.line()));
        rows.extend(found);
    };
    let is_asked =
        |name: &&str| if only.is_empty() { MEDIA.contains(name) } else { is_wanted(only, name) };
    for profile in sim::Profile::all().iter().map(sim::Profile::name).filter(is_asked) {
        keep(attached(program, root, profile)?);
    }
    for kind in FILE_SYSTEMS.iter().filter(|name| is_wanted(only, name)) {
        keep(on_file_system(program, root, kind)?);
    }
    ensure!(!rows.is_empty(), "no such profile or file system");
    let mut table =
        "`cargo validation verdicts`; target: within a factor of 1.5. Verdict and work had the same medium, in turn; of three turns the middle counts. \
        Left open: the\nverdict says that the figure may be anything.\n\n\
        | medium | what | verdict (95 % interval) | work (95 % interval) | ratio | |\n|---|---|---:|---:|---:|---|\n"
            .to_owned();
    rows.iter().try_for_each(|row| writeln!(table, "{}", row.line()))?;
    let missed = rows
        .iter()
        .filter(|row| row.is_missed())
        .map(|row| format!("{}: {}", row.medium, row.promise.what))
        .collect();
    Ok((table, missed))
}

/// Measures a simulated medium: verdicts on the raw medium, then works on a fresh ext4 of it, in
/// turn.
fn attached(program: &Program, root: &Path, profile: &str) -> Result<Vec<Row>> {
    let medium = Medium::attach(program, profile)?;
    let turn = || {
        let promised = verdicts(program, &medium.target())?;
        let mounted =
            Mounted::make(root, "ext4", Path::new(&medium.node))?.before_everything_ordinary()?;
        Ok((promised, works(&mounted)?))
    };
    rows(profile, (0..TURNS).map(|_| turn()))
}

/// Measures a real file system: verdicts on a directory there, then works in it, in turn.
fn on_file_system(program: &Program, root: &Path, kind: &str) -> Result<Vec<Row>> {
    let medium = Medium::attach(program, BELOW)?;
    let mounted =
        Mounted::make(root, kind, Path::new(&medium.node))?.before_everything_ordinary()?;
    let turn =
        || Ok((verdicts(program, &[&mounted.point().display().to_string()])?, works(&mounted)?));
    rows(&format!("a directory, {kind} on {BELOW}"), (0..TURNS).map(|_| turn()))
}

/// Rows of a medium, with the medians of the verdicts and of the works.
fn rows(
    medium: &str,
    turns: impl Iterator<Item = Result<(Vec<Rate>, Vec<Rate>)>>,
) -> Result<Vec<Row>> {
    let (promised, done): (Vec<_>, Vec<_>) = turns.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let row = |(at, promise)| Row {
        medium: medium.to_owned(),
        promise,
        promised: middle(promised.iter().map(|rates: &Vec<Rate>| rates[at])),
        done: middle(done.iter().map(|rates: &Vec<Rate>| rates[at])),
    };
    Ok(PROMISES.iter().enumerate().map(row).collect())
}

/// Median of the rates.
fn middle(rates: impl Iterator<Item = Rate>) -> Rate {
    let mut rates: Vec<Rate> = rates.collect();
    rates.sort_by(|a, b| a.value.total_cmp(&b.value));
    rates[rates.len() / 2]
}

/// Figures of the verdicts, in the order of [`PROMISES`]; an error if a verdict does not quote its
/// figure.
fn verdicts(program: &Program, target: &[&str]) -> Result<Vec<Rate>> {
    let home = tempfile::tempdir()?;
    let words = [target, &["--suite=quick", "--only=commit,log-append"]].concat();
    let record = run_program(with_priority(program.word())?, home.path(), &words, SEED)?;
    let promised = |promise: &Promise| {
        let (test, form) = promise.test;
        let is_it = |cell: &&Cell| cell.test == test && cell.params.form.as_deref() == form;
        let rate = Rate::of(
            record
                .cells
                .iter()
                .find(is_it)
                .with_context(|| format!("there is no cell of {test}"))?,
        )?;
        let figure = significant(rate.value);
        let verdict = record.findings.iter().find(|finding| finding.id == promise.finding);
        let verdict = verdict.with_context(|| format!("there is no {}", promise.finding))?;
        let is_it = |line: &Evidence| findings::evidence_text(line, &record).contains(&figure);
        let quotes = verdict.statement.contains(&figure) || verdict.evidence.iter().any(is_it);
        ensure!(quotes, "{} does not say {figure}: {}", promise.finding, verdict.statement);
        // The verdict rests on the first of several figures.
        let is_first = verdict.evidence.first().is_some_and(is_it);
        let level = verdict
            .level()
            .with_context(|| format!("a verdict without a level: {}", verdict.statement))?;
        Ok(Rate { is_open: is_first && level < Fitness::NotSuitable, ..rate })
    };
    PROMISES.iter().map(promised).collect()
}

/// Figures of the works, in the order of [`PROMISES`].
fn works(mounted: &Mounted) -> Result<Vec<Rate>> {
    let itself = std::env::current_exe()?;
    let itself = itself.to_str().context("the name of this program")?;
    let done = |promise: &Promise| {
        let (work, form) = promise.work;
        let directory = tempfile::tempdir_in(mounted.point())?;
        let settings: Vec<String> =
            promise.settings.iter().map(|setting| format!("--set={setting}")).collect();
        let mut words =
            vec![itself, "work", work, directory.path().to_str().context("a directory's name")?];
        words.extend(settings.iter().map(String::as_str));
        let cells: Vec<Cell> = serde_json::from_str(&tool(&words)?)?;
        let cell = cells.iter().find(|cell| cell.params.form.as_deref() == Some(form));
        Rate::of(cell.with_context(|| format!("{work} has no {form}"))?)
    };
    PROMISES.iter().map(done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(promised: f64, done: f64) -> Row {
        let rate = |value| Rate { value, ci95: Some([value * 0.9, value * 1.1]), is_open: false };
        Row {
            medium: "a1".into(),
            promise: &PROMISES[2],
            promised: rate(promised),
            done: rate(done),
        }
    }

    #[test]
    fn a_promise_may_be_a_factor_off_to_either_side_and_no_more() {
        assert!(row(149.0, 100.0).holds() && row(67.0, 100.0).holds());
        assert!(!row(151.0, 100.0).holds() && !row(66.0, 100.0).holds());
        let mut open = row(151.0, 100.0);
        open.promised.is_open = true;
        assert!(
            row(151.0, 100.0).is_missed()
                && !open.is_missed()
                && open.line().ends_with("| left open |")
        );
        insta::assert_snapshot!(row(151.0, 100.0).line(), @"| a1 | durable lines a second | 151 (136 to 166) | 100 (90.0 to 110) | 1.51 | **missed** |");
    }

    #[test]
    fn of_turns_the_middle_counts() {
        let rates = [3.0, 90.0, 2.0].map(|value| Rate { value, ci95: None, is_open: false });
        assert_eq!(middle(rates.into_iter()).value, 3.0);
    }
}
