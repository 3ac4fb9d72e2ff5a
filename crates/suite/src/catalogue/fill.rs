//! `zero-fill` and `random-fill`: sequential fills with zeros, then with incompressible data, 1 MiB
//! at a time (docs/field/ext2.md#mortons-benchmark).
//!
//! The published form fills the whole device (`region=whole`). A controller that compresses, or
//! recognises zeros, shows in the ratio of both rates (Morton's class 10 card: 16.65 MB/s of zeros,
//! 8.99 MB/s of random data), so both fill the same span, zeros first: afterwards the span holds
//! incompressible data again, and later tests find it preconditioned as before.

use record::units::significant;
use record::{Content, Estimate, Flag, PlannedCell};

use super::prelude::*;
use crate::figures::ratio;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::sequential;

settings! {
    FillSettings {
        region: RegionWord(["middle", "front", "whole"]) = "middle",
            "middle, front or whole (the published form); a file or --span is always used whole";
        span: Span = "512MiB", "bytes to fill; region=whole fills everything";
        max_time: Time = "20m", "time limit";
    }
}

/// Ratio above which zeros are faster than random data for a reason
/// (docs/field/cheats.md#cheats-and-caches).
const MIN_COMPRESSION_RATIO: f64 = 1.15;

/// The test, with one kind of data.
pub struct Fill(Content);

impl Fill {
    /// The test `zero-fill`: one cell, the span filled with zeros.
    pub const ZEROS: Fill = Fill(Content::Zeros);
    /// The test `random-fill`: one cell, the span filled with incompressible data.
    pub const RANDOM: Fill = Fill(Content::Incompressible);
}

impl Procedure for Fill {
    type Settings = FillSettings;
    type Spec = ();

    fn entry(&self) -> Entry {
        let (name, about) = match self.0 {
            Content::Zeros => (test::ZERO_FILL, "fills the span sequentially with zeros"),
            _ => (
                test::RANDOM_FILL,
                "fills the span sequentially with incompressible data, and compares with zeros",
            ),
        };
        let source = "docs/field/ext2.md#mortons-benchmark";
        Entry { name, about, source, needs: Needs::WRITING }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, ()>) -> Planned {
        let region = if cells.target.is_bounded() { Region::Middle } else { settings.region };
        let Some(span) = cells.span(&settings.span, region)? else { return Ok(()) };
        let block_bytes = MIB.min(span.bytes);
        let writes = cells.writes(region, span, Pattern::Sequential, block_bytes);
        let params = Params { content: Some(self.0), ..writes };
        cells.add(params, &(), settings.max_time, span.bytes);
        Ok(())
    }

    /// Metrics: `bps`, `iops`, `latency_ns`, and for random data `zero_to_random_ratio` if zeros
    /// were written before it. The cell's span is the range that was filled.
    fn run(&self, cell: &TypedCell<()>, context: &mut CellContext<'_>) -> CellOutcome {
        let span = cell.span();
        // Data of its own: nothing is written where it lies already.
        let pass = context.random("data").bits() as u32 >> 1;
        let load = IoLoad { content: self.0, pass, ..IoLoad::write(cell.block_bytes()) };
        let limits = LoopLimits::time(context.time_left_ns()).bytes(span.bytes);
        let tally =
            context.drive("filling", &load, &limits, &mut sequential(span, cell.block_bytes()));
        let along = tally.rate_along_span("rate along the span", span.offset_bytes);
        let mut outcome = tally.outcome(cell);
        outcome.cell.series[0] = along;
        outcome.cell.params.span_bytes = Some(outcome.cell.bytes);
        if self.0 != Content::Zeros
            && let Some((zeros, random)) =
                rate_of_zeros(cell, context).zip(outcome.cell.metrics.bps)
        {
            let found = ratio(zeros, random);
            outcome.cell.metrics.add(metric::ZERO_TO_RANDOM_RATIO, found);
            outcome.cell.flags.extend(shows_compression(found).then(|| fooled(found.value)));
        }
        outcome
    }
}

/// The rate at which this run filled the same span with zeros.
fn rate_of_zeros(cell: &PlannedCell, context: &CellContext<'_>) -> Option<Estimate> {
    let same = |params: &Params| {
        (params.span_offset_bytes, params.block_bytes)
            == (cell.params.span_offset_bytes, cell.params.block_bytes)
    };
    let zeros = context
        .done
        .iter()
        .rev()
        .find(|done| done.test == test::ZERO_FILL && same(&done.params))?;
    zeros.metrics.bps
}

fn shows_compression(ratio: Estimate) -> bool {
    ratio.value >= MIN_COMPRESSION_RATIO && ratio.ci95.is_none_or(|[low, _]| low > 1.0)
}

fn fooled(ratio: f64) -> Flag {
    let text = format!(
        "zeros are written {}x faster on average: the controller compresses or recognises data; this figure is the honest one",
        significant(ratio)
    );
    Flag::Note { text }
}
