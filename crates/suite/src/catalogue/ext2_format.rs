//! `ext2-format`: the writes of `mke2fs -b 1024`, in groups per second
//! (docs/field/ext2.md#mortons-benchmark, docs/field/ext2.md#what-mke2fs-writes).
//!
//! A group is 8 MiB of medium with an inode table of 64 KiB near its start, so each table is in
//! another allocation unit, and on media that merge, a group costs one merge or more. Two forms:
//! - `mke2fs`: what e2fsprogs writes, and in its order: every group's inode table in one piece,
//!   then every group's bitmaps and, in the groups that have them, superblock and descriptor table,
//!   each 1 KiB at a time; a flush at the end. A group's time is that of its table, its 1 KiB
//!   writes and its share of the flush.
//! - `simple`: Morton's own benchmark, 64 KiB every 8 MiB. His published groups per second are of
//!   this form.
//!
//! If there is no time for all groups, a sample that is spread evenly over the whole medium is
//! formatted, in the same order. Groups with a superblock are few and take longer, so they are
//! sampled separately and weighted as in the whole. A trial of four groups, which does not count,
//! shows how many there is time for.

use std::cell::Cell;

use device::Extent;
use record::{Content, Estimate, Flag, Stop};
use stats::RateEstimator;

use super::prelude::*;
use crate::ext2::{self, Ext2Layout};
use crate::io_loop::{IoLoad, LoopLimits};
use crate::{IoTally, TargetInfo};
use stats::inverse;

settings! {
    Ext2FormatSettings {
        form: Words(["mke2fs", "simple"]) = "mke2fs,simple",
            "mke2fs: its exact writes; simple: 64 KiB every 8 MiB";
        max_time: Time = "40h", "time limit per form";
    }
}

spec! {
    /// Numbers of a file system to format.
    Ext2FormatSpec {
        groups: u64,
    }
}

/// Writes what `mke2fs -b 1024` writes, a cell for each form: groups per second.
pub struct Ext2Format;

/// Distance of groups in bytes, and bytes that the simple form writes in each.
const GROUP_BYTES: u64 = ext2::BLOCKS_PER_GROUP * ext2::BLOCK_BYTES;
const CHUNK_BYTES: u64 = 64 * KIB;
/// Number of groups of the trial.
const TRIAL_GROUPS: u64 = 4;
/// Time in nanoseconds that no medium needs for a group: with so much time for each, no trial is
/// needed.
const SLOWEST_GROUP_NS: u64 = 10 * SECOND_NS;

impl Procedure for Ext2Format {
    type Settings = Ext2FormatSettings;
    type Spec = Ext2FormatSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::EXT2_FORMAT,
            about: "the writes of mke2fs with 1 KiB blocks: groups per second",
            source: "docs/field/ext2.md#mortons-benchmark, docs/field/ext2.md#what-mke2fs-writes, docs/field/ext2.md#test-vector",
            needs: Needs::WRITING_RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, Ext2FormatSpec>) -> Planned {
        for form in &settings.form {
            let Some(span) = cells.region(Region::Whole, u64::MAX) else { continue };
            let found = Format::new(form, span.bytes, cells.target);
            let Some(format) = cells.or_skip(found) else { continue };
            let block_bytes = format.table(0).bytes;
            let params = Params {
                content: Some(Content::Zeros),
                form: Some((*form).into()),
                ..cells.writes(Region::Whole, span, Pattern::Strided, block_bytes)
            };
            let spec = Ext2FormatSpec { groups: format.groups() };
            cells.add(params, &spec, settings.max_time, format.bytes_at_most());
        }
        Ok(())
    }

    /// Metrics: `groups_per_s`, `format_s` (seconds for all groups at this rate), `metadata_share`
    /// (of the time, 0 to 1; `mke2fs` only), `worst_stall_ns`, `bps`, `latency_ns`.
    fn run(&self, cell: &TypedCell<Ext2FormatSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        match Format::new(cell.form(), cell.span().bytes, context.target) {
            Ok(format) => measure(&format, cell, context),
            Err(reason) => CellOutcome::left_out(cell, reason),
        }
    }
}

/// The file system on this medium, or the reason why it cannot be made.
pub(super) fn layout(capacity_bytes: u64, target: &TargetInfo) -> Result<Ext2Layout, String> {
    if target.facts.logical_block_bytes > ext2::BLOCK_BYTES {
        return Err(format!(
            "a file system of 1 KiB blocks: the medium addresses units of {} bytes",
            target.facts.logical_block_bytes
        ));
    }
    Ext2Layout::new(capacity_bytes)
        .ok_or_else(|| "the medium is too small for a file system".into())
}

/// Writes in each group.
enum Format {
    Mke2fs(Ext2Layout),
    Simple { groups: u64 },
}

impl Format {
    fn new(form: &str, capacity_bytes: u64, target: &TargetInfo) -> Result<Format, String> {
        if form == "mke2fs" {
            return layout(capacity_bytes, target).map(Format::Mke2fs);
        }
        match (capacity_bytes + GROUP_BYTES - CHUNK_BYTES) / GROUP_BYTES {
            0 => Err("the medium is smaller than 64 KiB".into()),
            groups => Ok(Format::Simple { groups }),
        }
    }

    fn groups(&self) -> u64 {
        match self {
            Format::Mke2fs(layout) => layout.groups,
            Format::Simple { groups } => *groups,
        }
    }

    /// The inode table of a group, or its chunk in the simple form.
    fn table(&self, group: u64) -> Extent {
        match self {
            Format::Mke2fs(layout) => layout.table(group),
            Format::Simple { .. } => Extent::new(group * GROUP_BYTES, CHUNK_BYTES),
        }
    }

    fn metadata(&self, group: u64) -> Vec<Extent> {
        match self {
            Format::Mke2fs(layout) => layout.metadata(group),
            Format::Simple { .. } => Vec::new(),
        }
    }

    fn has_backup(&self, group: u64) -> bool {
        match self {
            Format::Mke2fs(layout) => layout.group(group).has_backup,
            Format::Simple { .. } => false,
        }
    }

    /// All groups, those without backup and those with one, in order.
    fn kinds(&self) -> [Vec<u64>; 2] {
        let (with, without) = (0..self.groups()).partition(|group| self.has_backup(*group));
        [without, with]
    }

    /// About `count` groups, evenly spread over the medium: of each kind in proportion, but at
    /// least one.
    fn sample(&self, count: u64) -> Vec<u64> {
        let share = count as f64 / self.groups() as f64;
        let of = |kind: Vec<u64>| spread((kind.len() as f64 * share).round() as usize, &kind);
        let mut sample = self.kinds().map(of).concat();
        sample.sort_unstable();
        sample
    }

    fn group_bytes(&self, group: u64) -> u64 {
        self.table(group).bytes + self.metadata(group).len() as u64 * ext2::BLOCK_BYTES
    }

    /// Most bytes of all groups and a trial.
    fn bytes_at_most(&self) -> u64 {
        (0..self.groups()).map(|group| self.group_bytes(group)).sum::<u64>()
            + (TRIAL_GROUPS + 2) * self.group_bytes(0)
    }

    /// The tables of these groups, then all other writes; each with the group's index in the list,
    /// and true if it is the group's last.
    fn writes<'a>(&'a self, sample: &'a [u64]) -> impl Iterator<Item = (Step, Extent)> + 'a {
        let tables = sample
            .iter()
            .enumerate()
            .map(|(index, group)| (Step { index, kind: Kind::Table }, self.table(*group)));
        let rest = sample.iter().enumerate().flat_map(|(index, group)| {
            let metadata = self.metadata(*group);
            let (last, has_backup) = (metadata.len(), self.has_backup(*group));
            let kind = move |nth: usize| {
                if nth + 1 == last { Kind::LastMetadata { has_backup } } else { Kind::Metadata }
            };
            metadata
                .into_iter()
                .enumerate()
                .map(move |(nth, place)| (Step { index, kind: kind(nth) }, place))
        });
        tables.chain(rest)
    }
}

#[derive(Clone, Copy)]
struct Step {
    index: usize,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Table,
    Metadata,
    LastMetadata { has_backup: bool },
}

/// `count` of these groups, at least one, evenly spread, in order.
fn spread(count: usize, groups: &[u64]) -> Vec<u64> {
    let count = count.max(1).min(groups.len());
    (0..count).map(|i| groups[(2 * i + 1) * groups.len() / (2 * count)]).collect()
}

/// Results of the groups.
#[derive(Default)]
struct Account {
    tables: u64,
    table_ns: u64,
    /// By kind, without backup and with one: number of finished groups, and the time of their
    /// writes after the table.
    finished: [u64; 2],
    metadata_ns: [u64; 2],
    open_ns: u64,
    /// Time of each group's table; and the total time of each finished group without backup.
    table_each_ns: Vec<u64>,
    plain_each_ns: Vec<u64>,
}

impl Account {
    fn note(&mut self, step: Step, ns: u64) {
        match step.kind {
            Kind::Table => {
                self.tables += 1;
                self.table_ns += ns;
                self.table_each_ns.push(ns);
            }
            Kind::Metadata => self.open_ns += ns,
            Kind::LastMetadata { has_backup } => {
                let metadata_ns = ns + std::mem::take(&mut self.open_ns);
                self.metadata_ns[usize::from(has_backup)] += metadata_ns;
                self.finished[usize::from(has_backup)] += 1;
                if !has_backup {
                    self.plain_each_ns.push(self.table_each_ns[step.index] + metadata_ns);
                }
            }
        }
    }

    /// Mean time of a group's table and of its metadata, in nanoseconds, over all groups of a
    /// format; `None` before both are known.
    fn mean_ns(&self, format: &Format) -> Option<(f64, f64)> {
        let per = |ns: u64, n: u64| (n > 0).then(|| ns as f64 / n as f64);
        let table_ns = per(self.table_ns, self.tables)?;
        let Format::Mke2fs(_) = format else { return Some((table_ns, 0.0)) };
        let plain_ns = per(self.metadata_ns[0], self.finished[0])?;
        let backup_ns = per(self.metadata_ns[1], self.finished[1]).unwrap_or(plain_ns);
        let with_backup = format.kinds()[1].len() as f64 / format.groups() as f64;
        Some((table_ns, plain_ns + with_backup * (backup_ns - plain_ns)))
    }

    /// Groups per second, if a group takes `mean_ns`; the interval follows from the differences
    /// between groups without backup.
    fn rate(&self, mean_ns: f64) -> Estimate {
        let each =
            if self.plain_each_ns.is_empty() { &self.table_each_ns } else { &self.plain_each_ns };
        let mut groups = RateEstimator::new();
        each.iter().for_each(|ns| groups.push(*ns));
        let value = 1e9 / mean_ns;
        let ci95 = groups
            .estimate()
            .map(|rate| [rate.ci95.low, rate.ci95.high].map(|end| end / rate.per_second * value));
        let finished = self.finished.iter().sum::<u64>();
        Estimate { value, ci95, n: if finished > 0 { finished } else { self.tables } }
    }
}

fn measure(
    format: &Format,
    cell: &TypedCell<Ext2FormatSpec>,
    context: &mut CellContext<'_>,
) -> CellOutcome {
    let groups = format.groups();
    let mut sample_size = groups;
    if context.time_left_ns() / groups < SLOWEST_GROUP_NS && groups > 2 * TRIAL_GROUPS {
        context.part(0.0, 0.2);
        let limit_ns = context.time_left_ns() / 4;
        let (tally, account) = write_groups(
            "trying",
            format,
            &spread(TRIAL_GROUPS as usize, &format.kinds()[0]),
            limit_ns,
            cell,
            context,
        );
        if tally.stop.cut_short() {
            return tally.outcome(cell);
        }
        let group_ns =
            account.mean_ns(format).map_or(SLOWEST_GROUP_NS as f64, |(table, rest)| table + rest);
        // A tenth stays for the flush and for groups that are slower than those tried.
        let there_is_time_for = (0.9 * context.time_left_ns() as f64 / group_ns.max(1.0)) as u64;
        sample_size = there_is_time_for.clamp(TRIAL_GROUPS, groups);
    }
    context.part(0.2, 1.0);
    let sample =
        if sample_size == groups { (0..groups).collect() } else { format.sample(sample_size) };
    let limit_ns = context.time_left_ns().max(1);
    let (tally, account) = write_groups("formatting", format, &sample, limit_ns, cell, context);
    let is_sample = sample_size < groups;
    conclude(format, cell, tally, &account, is_sample, context)
}

/// Writes these groups as `mke2fs` does.
fn write_groups(
    phase: &'static str,
    format: &Format,
    sample: &[u64],
    limit_ns: u64,
    cell: &TypedCell<Ext2FormatSpec>,
    context: &mut CellContext<'_>,
) -> (IoTally, Account) {
    let load = IoLoad {
        content: cell.params.content.unwrap_or(Content::Zeros),
        ..IoLoad::write(cell.block_bytes())
    };
    let mut writes = format.writes(sample);
    let mut account = Account::default();
    // One write is under way at a time, so what is asked for next is done next.
    let asked: Cell<Option<Step>> = Cell::new(None);
    let mut next = |_| {
        let (step, place) = writes.next()?;
        asked.set(Some(step));
        Some(place)
    };
    let mut watch = |_, ns| {
        asked.take().into_iter().for_each(|step| account.note(step, ns));
        false
    };
    let tally =
        context.drive_watched(phase, &load, &LoopLimits::time(limit_ns), &mut next, &mut watch);
    (tally, account)
}

fn conclude(
    format: &Format,
    cell: &TypedCell<Ext2FormatSpec>,
    tally: IoTally,
    account: &Account,
    is_sample: bool,
    context: &mut CellContext<'_>,
) -> CellOutcome {
    let has_metadata = matches!(format, Format::Mke2fs(_));
    let flushed = if tally.stop.cut_short() { Ok(0) } else { context.flush() };
    let mut outcome = tally.outcome(cell);
    // Writes of different kinds have no common rate; their groups do.
    outcome.cell.metrics.iops = None;
    outcome.cell.flags.retain(|flag| {
        !matches!(flag, Flag::Drifting { .. } | Flag::Autocorrelated { .. }) || !has_metadata
    });
    let flush_ns = flushed.unwrap_or_else(|error| {
        outcome.end(Stop::Error, Some(error));
        0
    });
    if let Some((table_ns, metadata_ns)) = account.mean_ns(format) {
        let flush_ns = flush_ns as f64 / account.tables as f64;
        let group_ns = table_ns + metadata_ns + flush_ns;
        let rate = account.rate(group_ns);
        let metrics = &mut outcome.cell.metrics;
        metrics.add(metric::GROUPS_PER_S, rate);
        metrics.add("format_s", inverse(format.groups() as f64, rate));
        metrics.put_worst_stall();
        if has_metadata {
            metrics.put("metadata_share", (group_ns - table_ns) / group_ns, rate.n);
        }
    }
    if is_sample && outcome.cell.stop == Stop::Bytes {
        outcome.cell.stop = Stop::Time;
        let text = format!(
            "{} of {} groups, evenly spread: the time was too short for all",
            account.tables,
            format.groups()
        );
        outcome.cell.flags.push(Flag::Note { text });
    }
    outcome
}

#[cfg(test)]
mod tests;
