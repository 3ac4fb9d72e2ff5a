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

#[cfg(test)]
mod tests {
    use record::units::{GIB, KIB, MILLISECOND_NS, SECOND_NS};
    use record::{Flag, Stop};

    use super::*;
    use crate::catalogue::testing::TestBench;

    #[test]
    fn seeks_over_the_whole_medium_for_thirty_seconds() {
        let ran = TestBench::raw(4 * GIB, |_, _| 10 * MILLISECOND_NS).run(&["seek"]);
        let cell = ran.cell("seek/1");
        assert_eq!((cell.ops, cell.elapsed_ns, cell.stop), (3000, 30 * SECOND_NS, Stop::Time));
        assert_eq!(
            (ran.other("seek/1", "seeks_per_s"), ran.other("seek/1", "access_time_ns")),
            (100.0, 1e7)
        );
        assert!(ran.requests.iter().all(|r| r.length_bytes == 512 && r.path == Path::Direct));
        let quarters: std::collections::BTreeSet<u64> =
            ran.requests.iter().map(|r| r.offset_bytes / GIB).collect();
        assert_eq!(quarters.len(), 4);
        assert_eq!((cell.flags.last(), &ran.dropped_at[..]), (Some(&Flag::NotPrimed), &[0][..]));
    }

    #[test]
    fn the_published_way_goes_through_the_cache_where_there_is_one() {
        let bench = || TestBench::raw(GIB, |_, _| MILLISECOND_NS);
        let ran = bench().run(&["seek path=direct,buffered time=1s"]);
        assert_eq!(ran.cell("seek/2").params.form.as_deref(), Some("seeker v2"));
        assert!(ran.requests[1000..].iter().all(|r| r.path == Path::Buffered));
        let mut bare = bench();
        bare.target.facts.has_page_cache = false;
        insta::assert_snapshot!(bare.left_out(&["seek path=direct,buffered"]), @"seek: path=buffered needs a page cache; there is none here");
    }

    #[test]
    fn needs_a_medium_of_its_own_and_takes_its_units() {
        insta::assert_snapshot!(
            TestBench::file(GIB, |_, _| 1).left_out(&["seek"]),
            @"nothing to do: seek: needs a raw medium; name the device itself, for example /dev/sdX"
        );
        let bench = || {
            let mut bench = TestBench::raw(GIB, |_, _| MILLISECOND_NS);
            bench.target.facts.logical_block_bytes = 4096;
            bench
        };
        let ran = bench().run(&["seek time=1s"]);
        assert!(ran.requests.iter().all(|r| r.length_bytes == 4096 && r.offset_bytes % 4096 == 0));
        let ran = bench().run(&["seek time=1s block=16KiB"]);
        assert!(ran.requests.iter().all(|r| r.length_bytes == 16 * KIB));
    }
}
