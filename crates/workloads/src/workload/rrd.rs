//! `rrd`: what a monitoring server does to its medium every five minutes
//! (docs/field/rrdtool.md#rrdtool): a reading of each of many sources goes into a file of fixed
//! size. The files have rrdtool's layout; an update writes the head of the file and one row in each
//! archive that is due, at rrdtool's places, in its order and with its calls. The values in them are
//! no readings.
//!
//! `buffered`: on real files through the page cache, everything durable at the end of a poll.
//! `coalesced`: the readings of several polls wait in a journal and go into a file together, as
//! rrdcached does. `page`: the 4 KiB pages that a poll makes dirty, written past the page cache to
//! one file in which all others lie one after the other: what reaches the medium in the end,
//! without a file system's own writes.
//!
//! Polls follow each other without a pause (unless `pause` says one), so the figure is the time of
//! a poll; how a server that polls every `interval` would fall behind is computed from these times.

mod file;
mod page;
mod poll;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Write as _;

use blockio::now_ns;
use record::units::SECOND_NS;
use record::{Cell, Content, Direction, Params, Path, Series, SeriesAxis, Stop, Sync};
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use self::file::Shape;
use self::page::Pages;
use self::poll::Polls;
use super::ledger::{Ledger, buffered};
use super::run::{self, WorkloadRun};
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "rrd",
    defaults: || TestSettings::of("rrd", Rrd::LIST),
    make: |settings| {
        let rrd = Rrd::read(settings)?;
        if rrd.sources > MAX_SOURCES {
            return Err(settings.bad("sources", format!("at most {MAX_SOURCES} sources")));
        }
        if rrd.interval == 0 {
            return Err(settings.bad("interval", "must be more than 0"));
        }
        Ok(Box::new(rrd))
    },
};

settings! {
    Rrd {
        forms: Words(["buffered", "coalesced", "page"]) = "buffered,coalesced,page",
            "files through the page cache; the same with coalesced writes; pages past it";
        files: Count = "1244", "how many files";
        sources: Count = "2", "data sources of a file";
        polls: Count = "6", "how many polls";
        interval: Time = "300s", "time between two polls of the server, for load and backlog";
        coalesce: Count = "6",
            "polls whose readings go into a file together, in the coalesced form";
        sync: Word(["poll", "kernel"]) = "poll",
            "when files are durable: at the end of a poll (poll), or when the kernel likes (kernel)";
        pause: Time = "0s", "wait this long between two polls";
        max_time: Time = "20m", "time limit per form";
    }
}

const PAGE_BYTES: u64 = 4096;
/// A file beyond this has no like in practice.
const MAX_SOURCES: u64 = 64;

/// What the polls of one form came to.
#[derive(Default)]
struct Account {
    /// Single updates (or pages).
    ledger: Ledger,
    /// Every poll, from its start until it is durable.
    poll_ns: Vec<u64>,
    writes: u64,
    written_bytes: u64,
    timed_out: bool,
}

impl Account {
    fn wrote(&mut self, writes: u64, bytes: u64) {
        self.writes += writes;
        self.written_bytes += bytes;
    }
}

impl Rrd {
    /// Makes the files, and updates them poll by poll.
    fn polls(&self, form: &str, run: &mut WorkloadRun<'_, '_>) -> Result<Account, WorkError> {
        let mut polls = Polls::new(Shape::cacti(self.sources), self.files, run);
        let mut pages = match form {
            "page" => Some(Pages::laid_down(&polls.shape, self.files, run)?),
            _ => polls.make_files(run).map(|()| None)?,
        };
        run.sync()?;
        run.show(InspectionPoint::Before);
        let coalesce = self.coalesced(form);
        let mut journal = match coalesce {
            1 => None,
            _ => Some(run.check("making the journal", File::create_new(run.path("journal")))?),
        };
        let mut account = Account::default();
        let started_ns = now_ns();
        for poll in 0..self.polls {
            let begun_ns = now_ns();
            let is_last = poll + 1 == self.polls;
            polls.read_sources();
            if let Some(journal) = &mut journal {
                let lines = polls.journal_lines();
                run.check("writing the journal", journal.write_all(&lines))?;
                account.wrote(1, lines.len() as u64);
            }
            let is_due = (poll + 1) % coalesce == 0 || is_last;
            for file in 0..if is_due { self.files } else { 0 } {
                match &mut pages {
                    Some(pages) => pages.update(file, &polls.due(file), poll, &mut account)?,
                    None => polls.update(file, run, &mut account)?,
                }
                let share = (poll as f64 + file as f64 / self.files as f64) / self.polls as f64;
                run.checkpoint("polling", share, account.ledger.ops())?;
            }
            if is_due {
                polls.forget();
            }
            match &mut pages {
                Some(pages) => pages.flush()?,
                None if self.sync == "poll" => run.sync().map(drop)?,
                None => {}
            }
            account.poll_ns.push(now_ns() - begun_ns);
            account.timed_out = !is_last && now_ns() - started_ns >= self.max_time;
            if is_last || account.timed_out {
                break;
            }
            run.rest(self.pause)?;
        }
        Ok(account)
    }

    /// Polls whose readings go into a file together.
    fn coalesced(&self, form: &str) -> u64 {
        if form == "coalesced" { self.coalesce } else { 1 }
    }

    fn form(
        &self,
        number: usize,
        form: &'static str,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<Cell, WorkError> {
        let account = self.polls(form, run)?;
        run.show(InspectionPoint::After);
        run.empty()?;
        Ok(self.cell(number, form, account))
    }

    fn params(&self, form: &str) -> Params {
        let page = form == "page";
        let other = [
            ("files", self.files as f64),
            ("sources", self.sources as f64),
            ("coalesce", self.coalesced(form) as f64),
            ("interval_s", self.interval as f64 / SECOND_NS as f64),
        ];
        Params {
            direction: Some(Direction::Write),
            block_bytes: page.then_some(PAGE_BYTES),
            sync: if self.sync == "poll" || page { Sync::File } else { Sync::None },
            path: if page { Path::Direct } else { Path::Buffered },
            content: page.then_some(Content::Incompressible),
            other: other.map(|(name, value)| (name.to_owned(), value)).into(),
            ..buffered(form)
        }
    }

    fn cell(&self, number: usize, form: &str, account: Account) -> Cell {
        let Account { ledger, poll_ns, writes, written_bytes, timed_out } = account;
        let updates = ledger.ops();
        let stop = if timed_out { Stop::Time } else { Stop::Ops };
        let mut cell = ledger.cell(KIND.name, number, self.params(form), stop);
        let polls = poll_ns.len() as u64;
        cell.elapsed_ns = poll_ns.iter().sum();
        cell.written_bytes = written_bytes;
        // Most of a poll's time may be its sync: a rate of updates alone would be one of memory.
        (cell.metrics.iops, cell.metrics.bps) = (None, None);
        cell.flags.clear();
        let (mean, worst) = (
            cell.elapsed_ns as f64 / polls.max(1) as f64,
            poll_ns.iter().copied().max().unwrap_or(0),
        );
        let [at_end, at_worst] = backlog(&poll_ns, self.interval);
        let figures = [
            ("poll_ns", mean),
            ("poll_max_ns", worst as f64),
            ("updates_per_s", updates as f64 * 1e9 / cell.elapsed_ns.max(1) as f64),
            ("load", mean / self.interval as f64),
            ("backlog_ns", at_end as f64),
            ("backlog_max_ns", at_worst as f64),
            ("writes_per_poll", writes as f64 / polls.max(1) as f64),
            ("bytes_per_poll", written_bytes as f64 / polls.max(1) as f64),
        ];
        for (name, value) in figures {
            cell.metrics.put(name, value, polls);
        }
        let points =
            poll_ns.iter().enumerate().map(|(poll, ns)| [(poll + 1) as f64, *ns as f64]).collect();
        cell.series.push(Series::new(
            "time of each poll",
            [SeriesAxis::Ops, SeriesAxis::LatencyNs],
            points,
        ));
        cell
    }
}

/// How far a server that starts a poll every `interval_ns` is behind when its last poll is done,
/// and at worst: time from when the next poll was due. A poll that cannot start because the one
/// before still goes on starts right after it.
fn backlog(poll_ns: &[u64], interval_ns: u64) -> [u64; 2] {
    let (mut behind, mut worst) = (0, 0);
    for ns in poll_ns {
        behind = (behind + ns).saturating_sub(interval_ns);
        worst = worst.max(behind);
    }
    [behind, worst]
}

impl Workload for Rrd {
    fn needs_bytes(&self) -> u64 {
        let bytes = self.files * (Shape::cacti(self.sources).slot_bytes() + 1024);
        bytes + bytes / 32 + (16 << 20)
    }

    /// A cell for each form; `elapsed_ns` is the time of all polls, until each is durable. Beside
    /// it `poll_ns` (mean), `poll_max_ns`, `load` (of the interval), `backlog_ns`,
    /// `backlog_max_ns`, `writes_per_poll` and `bytes_per_poll` (as handed to the kernel),
    /// `updates_per_s`. Latencies are those of single updates, or pages.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        run::each(KIND.name, context, &self.forms, |number, form, run| self.form(number, form, run))
    }
}
