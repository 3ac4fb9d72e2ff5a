//! `span-sweep`: random 4 KiB writes inside ever smaller spans, for media that are fast only in small ones (flash.md C2).
//!
//! From the whole medium down to 8 MiB: whatever can be used up (a log for small writes, a cache) is used up by the large spans, so only
//! what really belongs to small spans makes these faster at the end. The first writes of each span do not count: they go to one allocation unit
//! after the other, so that what keeps a number of units open has all of the span open, if it can; a slow medium gets time for that.
//!
//! What a cell was asked: `span_bytes`, region middle or whole. Metrics: `iops`, `bps`, `latency_ns`, `warm_up_ns`.

use device::Extent;
use record::units::{Bytes, MIB, MILLISECOND_NS};
use record::{Pattern, PlannedCell, Region};

use super::stretch::{self, Stretch};
use crate::offsets::{Stratified, uniform};
use crate::plan::span_of;
use crate::{Bench, CellList, Needs, Outcome, Setting, SettingError, Settings, Site, Test};

/// The test.
pub struct SpanSweep;

/// Each span is written to at most this much.
const TOTAL_BYTES: u64 = 64 * MIB;
/// As many as a card has been seen to keep open, and time to open one on a medium of two writes a second.
const WARM_UP_OPS: u64 = 64;
const OPENING_NS: u64 = 600 * MILLISECOND_NS;

impl Test for SpanSweep {
    fn name(&self) -> &'static str {
        "span-sweep"
    }
    fn about(&self) -> &'static str {
        "random writes inside ever smaller spans, for media that are fast only in small ones"
    }
    fn source(&self) -> &'static str {
        "flash.md C2"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting { name: "block", default: "4KiB", about: "size of a write" },
            Setting {
                name: "span",
                default: "1GiB,512MiB,256MiB,128MiB,64MiB,32MiB,16MiB,8MiB",
                about: "sizes of the range they fall into, largest first",
            },
            Setting { name: "whole", default: "yes", about: "begin with the whole medium" },
            Setting { name: "min_time", default: "3s", about: "200 writes are enough after this" },
            Setting {
                name: "max_time",
                default: "13s",
                about: "at most this long a span, and 0.6 s for each allocation unit of a small one",
            },
            Setting { name: "au", default: "4MiB", about: "taken for the allocation unit where the medium declares none" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs { writing: true, ..Needs::default() }
    }

    fn plan(&self, settings: &Settings, site: &Site, cells: &mut CellList<'_>) -> Result<(), SettingError> {
        let block_bytes = settings.block("block")?;
        let max_ns = settings.duration_ns("max_time")?;
        let enough_ns = settings.duration_ns("min_time")?;
        let stretch = Stretch { warm_up_ops: WARM_UP_OPS, ..Stretch::of_bytes(TOTAL_BYTES, block_bytes, 200, enough_ns) };
        let au_bytes = stretch::assumed_au(settings, site)?;
        let mut add = |region: Region, span: Extent| {
            let units = span.bytes.div_ceil(au_bytes);
            let opening_ns = if units <= WARM_UP_OPS { units * OPENING_NS } else { 0 };
            let mut params = stretch::writes(site, region, span, Pattern::Uniform, block_bytes);
            params.other.insert("au_bytes".into(), au_bytes as f64);
            stretch.plan(params, max_ns + opening_ns, cells);
        };
        let mut reasons = Vec::new();
        if settings.yes("whole")? {
            match site.region(Region::Whole, u64::MAX) {
                Ok(span) => add(Region::Whole, span),
                Err(reason) => reasons.push(reason),
            }
        }
        let mut wanted = settings.sizes("span")?;
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        for span_bytes in wanted {
            match site.region(Region::Middle, span_bytes) {
                Ok(span) if span.bytes == span_bytes => add(Region::Middle, span),
                Ok(span) => reasons.push(format!("a span of {}: there are only {}", Bytes(span_bytes), Bytes(span.bytes))),
                Err(reason) => reasons.push(reason),
            }
        }
        reasons.into_iter().for_each(|reason| cells.skip(reason));
        Ok(())
    }

    fn run(&self, cell: &PlannedCell, bench: &mut Bench<'_>) -> Outcome {
        let block_bytes = cell.block_bytes();
        let span = span_of(cell);
        let mut units = Stratified::new(span, cell.setting("au_bytes") as u64, block_bytes, bench.random("units"));
        let mut anywhere = uniform(span, block_bytes, block_bytes, bench.random("places"));
        let mut to_open = if units.strata() <= WARM_UP_OPS { WARM_UP_OPS } else { 0 };
        stretch::run(cell, bench, &mut |lane| {
            if to_open == 0 {
                return anywhere(lane);
            }
            to_open -= 1;
            units.next()
        })
    }
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, Nanos, SECOND_NS};

    use super::*;
    use crate::catalogue::testing::{Bed, run_simulated};

    #[test]
    fn from_the_whole_medium_down() {
        let spans = |bed: &Bed| bed.planned(&["span-sweep"]).iter().map(|cell| span_of(cell).bytes / MIB).collect::<Vec<_>>();
        assert_eq!(spans(&Bed::raw(4 * GIB, |_, _| 1)), [4096, 1024, 512, 256, 128, 64, 32, 16, 8]);
        let file = Bed::file(64 * MIB, |_, _| 1);
        assert_eq!(spans(&file), [64, 32, 16, 8]);
        insta::assert_snapshot!(file.left_out(&["span-sweep span=128MiB,64MiB"]), @r"
        span-sweep: needs a raw medium: a file is a part of one, nobody knows which
        span-sweep: a span of 128 MiB: there are only 64 MiB
        ");
    }

    fn iops(profile: &str, seed: u64) -> Vec<(u64, f64)> {
        let cells = run_simulated(profile, seed, &["span-sweep whole=no"]);
        let took_ns: u64 = cells.iter().map(|cell| cell.elapsed_ns + cell.metrics.other["warm_up_ns"].value as u64).sum();
        assert!(took_ns < 200 * SECOND_NS, "{profile}: {}", Nanos(took_ns));
        cells.iter().map(|cell| (cell.params.span_bytes.unwrap() / MIB, cell.metrics.iops.unwrap().value)).collect()
    }

    /// The largest span that is at least three times as fast as 512 MiB (flash.md C2).
    fn fast_until(rates: &[(u64, f64)]) -> Option<u64> {
        let large = rates.iter().find(|(mib, _)| *mib == 512).unwrap().1;
        rates.iter().filter(|(_, iops)| *iops > 3.0 * large).map(|(mib, _)| *mib).max()
    }

    #[test]
    fn a_cache_of_a_span_shows_with_its_size_and_nothing_else_does() {
        for (profile, truth) in [("span-cheat-16", 16), ("span-cheat-64", 64), ("span-cheat-128", 128)] {
            let rates = iops(profile, 9);
            let found = fast_until(&rates).unwrap();
            assert!((truth..=2 * truth).contains(&found), "{profile}: {rates:?}");
        }
        for profile in ["a1", "class6", "ssd", "pattern-cheat", "ssd-pslc", "class10-bypass"] {
            let rates = iops(profile, 9);
            assert_eq!(fast_until(&rates), None, "{profile}: {rates:?}");
        }
    }
}
