//! `ext2-fill`: fill of an ext2 of 1 KiB blocks with the files of a Linux root, in bytes of file
//! data per second (docs/field/ext2.md#mortons-benchmark, docs/field/ext2.md#filling-a-file-system).
//!
//! Nothing is formatted or mounted: an allocator in memory computes the writes and their places,
//! and they are made one at a time. Files have the sizes of a Debian root and are placed one after
//! the other from the first group on, with one free block between them. The time of the metadata
//! counts, its bytes do not. `order=sync` writes the metadata of a file before its data,
//! `order=async` that of a group together when it is full, as the kernel does when it is left
//! alone. The article does not say which of them its figures have; `async` is nearer to them on the
//! models of the same media (a third to nine tenths of the published rates), so it comes first.

use std::cell::Cell;

use record::{Content, Estimate, Series, SeriesAxis, Stop};
use stats::{RateEstimator, Windows};

use super::ext2_format::layout;
use super::prelude::*;
use super::stretch;
use crate::IoTally;
use crate::io_loop::LoopLimits;
use crate::tally::{CURVE_POINTS, WINDOWS};

settings! {
    Ext2FillSettings {
        order: Words(["sync", "async"]) = "async,sync",
            "write metadata before each file (sync) or with its group (async)";
        block: Block = "512KiB", "largest single write";
        total: Size = "1TiB", "write limit, with metadata";
        max_time: Time = "40h", "time limit";
    }
}

spec! {
    /// Numbers of a fill of a file system.
    Ext2FillSpec {
        /// Most bytes of data and metadata.
        total_bytes: u64,
    }
}

mod allocator;
mod sizes;
use allocator::{AllocatedWrite, Allocator, Order};
pub use sizes::file_bytes;

/// Writes what filling an ext2 with a Linux root writes, a cell for each order of the metadata.
pub struct Ext2Fill;

/// Bytes of a piece of file data; the rate's interval is computed from the times of pieces.
const PIECE_BYTES: u64 = 64 * KIB;

impl Procedure for Ext2Fill {
    type Settings = Ext2FillSettings;
    type Spec = Ext2FillSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::EXT2_FILL,
            about: "fills a file system with the files of a Linux root: bytes of file data per second",
            source: "docs/field/ext2.md#mortons-benchmark, docs/field/ext2.md#filling-a-file-system",
            needs: Needs::WRITING_RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, Ext2FillSpec>) -> Planned {
        let block_bytes = settings.block;
        if !block_bytes.is_multiple_of(KIB) {
            return Err(cells.bad("block", "must be a multiple of 1 KiB"));
        }
        let Some(span) = cells.region(Region::Whole, u64::MAX) else { return Ok(()) };
        let found = layout(span.bytes, cells.target);
        if cells.or_skip(found).is_none() {
            return Ok(());
        }
        for order in &settings.order {
            let params = Params {
                pattern: None,
                content: Some(Content::Incompressible),
                form: Some((*order).into()),
                ..cells.writes(Region::Whole, span, Pattern::Sequential, block_bytes)
            };
            // Data fills the medium once; metadata is less than an eighth of it in the mean, and
            // the limit holds for both.
            let total_bytes = settings.total.min(span.bytes + span.bytes / 8).max(block_bytes);
            let spec = Ext2FillSpec { total_bytes };
            cells.add(params, &spec, settings.max_time, total_bytes + block_bytes);
        }
        Ok(())
    }

    /// Metrics: `bps` (file data only, over all time), `files_per_s`, `metadata_share` (of the
    /// time, 0 to 1), `worst_stall_ns`, `latency_ns` of all writes.
    fn run(&self, cell: &TypedCell<Ext2FillSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let layout = match layout(cell.span().bytes, context.target) {
            Ok(layout) => layout,
            Err(reason) => return CellOutcome::left_out(cell, reason),
        };
        let order = if cell.form() == "async" { Order::Async } else { Order::Sync };
        let mut allocator =
            Allocator::new(layout, order, cell.block_bytes(), context.random("files"));
        let load = stretch::load(cell, context, "data");
        let limits = LoopLimits::time(context.time_left_ns().max(1)).bytes(cell.spec.total_bytes);
        let mut account = Account::default();
        // One write is under way at a time, so what is asked for next is done next.
        let asked: Cell<Option<AllocatedWrite>> = Cell::new(None);
        let mut next = |_| {
            let write = allocator.next()?;
            asked.set(Some(write));
            Some(write.place)
        };
        let mut watch = |_, ns| {
            asked.take().into_iter().for_each(|write| account.note(write.data_bytes, ns));
            false
        };
        let tally = context.drive_watched("filling", &load, &limits, &mut next, &mut watch);
        conclude(cell, tally, &account, allocator.files, context)
    }
}

/// Times and bytes of file data.
struct Account {
    data_bytes: u64,
    metadata_ns: u64,
    piece_bytes: u64,
    piece_ns: u64,
    pieces: RateEstimator,
    windows: Windows,
}

impl Default for Account {
    fn default() -> Account {
        let (pieces, windows) = (RateEstimator::new(), Windows::new(WINDOWS));
        Account { data_bytes: 0, metadata_ns: 0, piece_bytes: 0, piece_ns: 0, pieces, windows }
    }
}

impl Account {
    fn note(&mut self, data_bytes: u64, ns: u64) {
        self.data_bytes += data_bytes;
        self.metadata_ns += if data_bytes == 0 { ns } else { 0 };
        self.piece_bytes += data_bytes;
        self.piece_ns += ns;
        let whole = self.piece_bytes / PIECE_BYTES;
        if whole > 0 {
            // A write of several pieces shares its time among them; what is over begins the next
            // one, without time of its own.
            (0..whole).for_each(|_| self.pieces.push(self.piece_ns / whole));
            self.windows.push((whole * PIECE_BYTES) as f64, self.piece_ns);
            self.piece_bytes %= PIECE_BYTES;
            self.piece_ns = 0;
        }
    }

    /// Bytes of file data per second over `total_ns`; the interval follows from the differences
    /// between the pieces.
    fn rate(&self, total_ns: f64) -> Estimate {
        let value = self.data_bytes as f64 * 1e9 / total_ns;
        let ci95 = self
            .pieces
            .estimate()
            .map(|rate| [rate.ci95.low, rate.ci95.high].map(|end| end / rate.per_second * value));
        Estimate { value, ci95, n: self.pieces.events() }
    }

    fn series(&self) -> Series {
        let points =
            self.windows.rates(CURVE_POINTS).into_iter().map(|(bytes, bps)| [bytes, bps]).collect();
        Series::new("rate of file data", [SeriesAxis::Bytes, SeriesAxis::Bps], points)
    }
}

fn conclude(
    cell: &TypedCell<Ext2FillSpec>,
    tally: IoTally,
    account: &Account,
    files: u64,
    context: &mut CellContext<'_>,
) -> CellOutcome {
    let busy_ns = tally.busy_ns as f64;
    let flushed = if tally.stop.cut_short() { Ok(0) } else { context.flush() };
    let mut outcome = tally.outcome(cell);
    let flush_ns = flushed.unwrap_or_else(|error| {
        outcome.end(Stop::Error, Some(error));
        0
    });
    let total_ns = busy_ns + flush_ns as f64;
    let metrics = &mut outcome.cell.metrics;
    // Writes of different kinds have no common rate of I/Os.
    metrics.iops = None;
    metrics.bps = None;
    if account.data_bytes > 0 {
        let seconds = total_ns / 1e9;
        metrics.bps = Some(account.rate(total_ns));
        metrics.put("files_per_s", files as f64 / seconds, files);
        let metadata_ns = account.metadata_ns as f64 + flush_ns as f64;
        metrics.put("metadata_share", metadata_ns / total_ns, files);
        metrics.put_worst_stall();
    }
    outcome.cell.series.retain(|series| series.x != SeriesAxis::Bytes);
    outcome.cell.series.insert(0, account.series());
    outcome
}

#[cfg(test)]
mod tests;
