//! `ext2-fill`: filling an ext2 of 1 KiB blocks with the files of a Linux root, in bytes of file
//! data a second (docs/field/ext2.md#fill, docs/field/ext2.md#filling-a-file-system).
//!
//! Nothing is formatted or mounted: an allocator in memory says what would be written where, and
//! that is written, one write at a time. Files have the sizes of a Debian root and lie one after
//! the other from the first group on, one free block between them. The time of the metadata counts,
//! its bytes do not. `order=sync` writes the metadata of a file before its data, `order=async` that
//! of a group together when it is full, as the kernel does when it is left alone. The article does
//! not say which of them its figures are; `async` is nearer to them on the models of the same media
//! (a third to nine tenths of the published rates), so it comes first.

use std::cell::Cell;

use record::units::KIB;
use record::{
    Content, Direction, Estimate, Params, PlannedCell, Region, Series, SeriesAxis, Stop, metric,
    test,
};
use stats::{RateEstimator, Windows};

use super::ext2_format::{INODE_RATIO, INODE_SIZE, RESIZE_INODE, choices, chosen, layout, numbers};
use crate::io_loop::{IoLoad, LoopLimits};
use crate::planned::span_of;
use crate::{
    CellContext, CellList, CellOutcome, IoTally, Needs, Setting, SettingError, TargetInfo, Test,
    TestSettings,
};

mod allocator;
mod sizes;
use allocator::{AllocatedWrite, Allocator, Order};
pub use sizes::file_bytes;

/// Writes what filling an ext2 with a Linux root writes, a cell for each order of the metadata.
pub struct Ext2Fill;

/// The rate's interval is made from the times of pieces of file data of this size.
const PIECE_BYTES: u64 = 64 * KIB;
/// Points of the curve.
const CURVE_POINTS: usize = 240;

impl Test for Ext2Fill {
    fn name(&self) -> &'static str {
        test::EXT2_FILL
    }
    fn about(&self) -> &'static str {
        "fills a file system with the files of a Linux root: bytes of file data per second"
    }
    fn source(&self) -> &'static str {
        "docs/field/ext2.md#mortons-benchmark, docs/field/ext2.md#filling-a-file-system"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting {
                name: "order",
                default: "async,sync",
                about: "write metadata before each file (sync) or with its group (async)",
            },
            Setting { name: "block", default: "512KiB", about: "largest single write" },
            INODE_SIZE,
            INODE_RATIO,
            RESIZE_INODE,
            Setting { name: "content", default: "incompressible", about: "what is written" },
            Setting { name: "total", default: "1TiB", about: "write limit, with metadata" },
            Setting { name: "max_time", default: "40h", about: "time limit" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs::WRITING_RAW
    }

    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        cells: &mut CellList<'_>,
    ) -> Result<(), SettingError> {
        let choices = choices(settings)?;
        let block_bytes = settings.block("block")?;
        if !block_bytes.is_multiple_of(KIB) {
            return Err(settings.bad("block", "must be a multiple of 1 KiB"));
        }
        let content = settings.content("content")?;
        let found = target
            .region(Region::Whole, u64::MAX)
            .and_then(|span| layout(span.bytes, choices, target).map(|_| span));
        let Some(span) = cells.or_skip(found) else { return Ok(()) };
        for order in settings.choices("order", &["sync", "async"])? {
            let mut params = Params {
                direction: Some(Direction::Write),
                block_bytes: Some(block_bytes),
                region: Some(Region::Whole),
                span_offset_bytes: Some(span.offset_bytes),
                span_bytes: Some(span.bytes),
                content: Some(content),
                form: Some(order.into()),
                queue_depth: 1,
                threads: 1,
                ..Params::default()
            };
            params.other.extend(numbers(choices));
            // Data fills the medium once; metadata is less than an eighth of it in the mean, and
            // the limit holds for both.
            let total_bytes =
                settings.size("total")?.min(span.bytes + span.bytes / 8).max(block_bytes);
            params.other.insert("total_bytes".into(), total_bytes as f64);
            cells.add(params, settings.duration_ns("max_time")?, total_bytes + block_bytes);
        }
        Ok(())
    }

    /// Metrics: `bps` (file data only, over all time), `files_per_s`, `metadata_share` (of the
    /// time, 0 to 1), `worst_stall_ns`, `latency_ns` of all writes.
    fn run(&self, cell: &PlannedCell, context: &mut CellContext<'_>) -> CellOutcome {
        let layout = match layout(span_of(cell).bytes, chosen(cell), context.target) {
            Ok(layout) => layout,
            Err(reason) => return CellOutcome::left_out(cell, reason),
        };
        let order =
            if cell.params.form.as_deref() == Some("async") { Order::Async } else { Order::Sync };
        let mut allocator =
            Allocator::new(layout, order, cell.block_bytes(), context.random("files"));
        let pass = context.random("data").bits() as u32 >> 1;
        let load = IoLoad {
            content: cell.params.content.unwrap_or(Content::Incompressible),
            pass,
            ..IoLoad::write(cell.block_bytes())
        };
        let limits = LoopLimits {
            max_bytes: cell.setting("total_bytes") as u64,
            ..LoopLimits::time(context.time_left_ns().max(1))
        };
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

/// Time and file data.
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
        let (pieces, windows) = (RateEstimator::new(), Windows::new(CURVE_POINTS));
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

    /// Bytes of file data a second over `total_ns`; how certain that is follows from how the pieces
    /// differ.
    fn rate(&self, total_ns: f64) -> Estimate {
        let value = self.data_bytes as f64 * 1e9 / total_ns;
        let ci95 = self
            .pieces
            .estimate()
            .map(|rate| [rate.ci95.low, rate.ci95.high].map(|end| end / rate.per_second * value));
        Estimate { value, ci95, n: self.pieces.events() }
    }

    fn series(&self) -> Series {
        let points = self.windows.rates().into_iter().map(|(bytes, bps)| [bytes, bps]).collect();
        Series {
            name: "rate of file data".into(),
            x: SeriesAxis::Bytes,
            y: SeriesAxis::Bps,
            points,
        }
    }
}

fn conclude(
    cell: &PlannedCell,
    tally: IoTally,
    account: &Account,
    files: u64,
    context: &mut CellContext<'_>,
) -> CellOutcome {
    let busy_ns = tally.busy_ns as f64;
    let worst = Estimate { value: tally.worst_ns as f64, ci95: None, n: tally.ops };
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
        metrics.other.insert(
            "files_per_s".into(),
            Estimate { value: files as f64 / seconds, ci95: None, n: files },
        );
        let metadata_ns = account.metadata_ns as f64 + flush_ns as f64;
        metrics.other.insert(
            "metadata_share".into(),
            Estimate { value: metadata_ns / total_ns, ci95: None, n: files },
        );
        metrics.other.insert(metric::WORST_STALL_NS.into(), worst);
    }
    outcome.cell.series.retain(|series| series.x != SeriesAxis::Bytes);
    outcome.cell.series.insert(0, account.series());
    outcome
}

#[cfg(test)]
mod tests;
