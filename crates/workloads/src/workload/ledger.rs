//! Times the steps of a work, one after the other, and makes cells of them.

use blockio::now_ns;
use device::Completion;
use record::{Cell, Params, Path, PlannedCell, Region, SeriesAxis, Stop};
use suite::IoTally;

/// Steps of one part of a work. Rates are over busy time: making data between two steps does not
/// count.
#[derive(Default)]
pub(super) struct Ledger {
    pub tally: IoTally,
}

impl Ledger {
    /// Times a step and counts it with so many bytes, unless it fails.
    #[inline]
    pub fn time<T, E>(&mut self, bytes: u64, step: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let submitted_ns = now_ns();
        let done = step()?;
        self.count(submitted_ns, now_ns(), bytes);
        Ok(done)
    }

    /// Counts a step that was timed elsewhere.
    #[inline]
    pub fn count(&mut self, submitted_ns: u64, completed_ns: u64, bytes: u64) {
        self.tally.count(
            &Completion { slot: 0, submitted_ns, completed_ns, result: Ok(()) },
            bytes,
            true,
        );
    }

    /// Steps counted so far.
    pub fn ops(&self) -> u64 {
        self.tally.ops
    }

    /// The cell: number `number` of the work, with rates, latencies, curves and caveats.
    pub fn cell(mut self, work: &str, number: usize, params: Params, stop: Stop) -> Cell {
        self.tally.stop = stop;
        let (id, test) = (format!("{work}/{number}"), work.to_owned());
        let moved = self.tally.bytes > 0;
        let mut cell = self
            .tally
            .outcome(&PlannedCell { id, test, params, max_ns: 0, max_written_bytes: 0 })
            .cell;
        cell.metrics.put_worst_stall();
        if !moved {
            cell.metrics.bps = None;
            cell.series.retain(|series| series.y != SeriesAxis::Bps);
        }
        if cell.params.direction != Some(record::Direction::Read) {
            cell.written_bytes = cell.bytes;
        }
        cell
    }
}

/// Parameters of I/O to files through the page cache, one after the other.
pub(super) fn buffered(form: &str) -> Params {
    Params {
        region: Some(Region::File),
        path: Path::Buffered,
        form: Some(form.into()),
        queue_depth: 1,
        threads: 1,
        ..Params::default()
    }
}
