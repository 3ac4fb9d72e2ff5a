//! `seek`: seeker's reads, of 512 bytes by default, at uniformly random places of the whole medium
//! for 30 s (docs/field/classic-tools.md#seeker).
//!
//! seeker v2 reads through the page cache, which overstates small media that were read before. The
//! reliable figure is that of `path=direct`, the published way; `path=buffered` (form "seeker v2",
//! caches dropped first) serves to compare with published numbers. A medium that addresses larger
//! units is read in those.

use device::Device;
use record::Path;

use super::preconditioned_span::preconditioned_span;
use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::uniform;
use stats::inverse;

settings! {
    SeekSettings {
        path: Words(["direct", "buffered"]) = "direct", "direct, buffered (as seeker v2 does it)";
        time: Time = "30s", "how long";
        block: Block = "512", "size of a read; larger if the medium addresses larger units";
    }
}

/// Reads small blocks at random places of the whole medium, a cell for each path.
pub struct Seek;

impl Procedure for Seek {
    type Settings = SeekSettings;
    type Spec = ();

    fn entry(&self) -> Entry {
        Entry {
            name: test::SEEK,
            about: "random reads of small blocks over the whole medium: seeks per second, access time",
            source: "docs/field/classic-tools.md#seeker",
            needs: Needs::RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, ()>) -> Planned {
        let facts = &cells.target.facts;
        for path in &settings.path {
            let buffered = *path == "buffered";
            if buffered && !facts.has_page_cache {
                cells.skip("path=buffered needs a page cache; there is none here");
                continue;
            }
            let Some(span) = cells.region(Region::Whole, u64::MAX) else { continue };
            let block_bytes = settings.block.max(facts.logical_block_bytes);
            if block_bytes > span.bytes {
                cells.skip_size(block_bytes, "larger than the medium");
                continue;
            }
            let params = Params {
                path: if buffered { Path::Buffered } else { Path::Direct },
                form: buffered.then(|| "seeker v2".into()),
                ..cells.reads(Region::Whole, span, Pattern::Uniform, block_bytes)
            };
            cells.add(params, &(), settings.time, 0);
        }
        Ok(())
    }

    /// Metrics: `seeks_per_s`, `access_time_ns` (10^9 / `seeks_per_s`), `latency_ns`, `iops`,
    /// `bps`.
    fn run(&self, cell: &TypedCell<()>, context: &mut CellContext<'_>) -> CellOutcome {
        let (span, caveat) = preconditioned_span(cell, context);
        if let Err(error) = context.medium.drop_caches() {
            return CellOutcome::broken(cell, error);
        }
        let block_bytes = cell.block_bytes();
        let load = IoLoad { path: cell.params.path, ..IoLoad::read(block_bytes) };
        let limits = LoopLimits::time(context.time_left_ns());
        let mut places = uniform(span, block_bytes, block_bytes, context.random("offsets"));
        let mut outcome = context.drive("seeking", &load, &limits, &mut places).outcome(cell);
        outcome.cell.flags.extend(caveat);
        if let Some(iops) = outcome.cell.metrics.iops {
            outcome.cell.metrics.add(metric::SEEKS_PER_S, iops);
            outcome.cell.metrics.add(metric::ACCESS_TIME_NS, inverse(1e9, iops));
        }
        outcome
    }
}
