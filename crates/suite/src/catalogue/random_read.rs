//! `random-read`: random reads by block size, in the first GiB and over the whole medium, at queue
//! depth 1 and 8 (docs/field/classic-tools.md#iotest, docs/field/classic-tools.md#thrash).
//!
//! After IOTest: each size does `iterations` reads per thread (10000 at 512 B, a fifth fewer after
//! each doubling, never fewer than 100), at offsets that are multiples of 512 B and *not* of the
//! block, so most reads straddle pages, as IOTest's and thrash's do. A time limit ends the larger
//! sizes on slow media. IOTest also avoids the last 3000 sectors and runs eight processes; here
//! every read stays inside the span to its last byte and a thread is a closed loop of depth 1,
//! which is the same to the medium.
//!
//! Units: IOTest prints a "Data Rate MBs" of 1024 x 1000 bytes per second, neither MB nor MiB;
//! times 1.024 it is MB/s (10^6), and `bps` is a million times that. Its "seek time" is 1000/IOPS
//! milliseconds: `access_time_ns` = 10^9/IOPS. With 8 threads that is the medium's time per I/O, an
//! eighth of the latency of each thread (`latency_ns`).

use device::Device;

use super::preconditioned_span::preconditioned_span;
use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::uniform;
use crate::stop_rule::Precision;
use stats::inverse;

settings! {
    RandomReadSettings {
        block: Blocks =
            "512B,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,256KiB,512KiB,1MiB,2MiB",
            "block sizes";
        region: RegionWords(["front", "middle", "whole"]) = "front,whole",
            "front, middle or whole; a file or --span is always used whole";
        span: Span = "1GiB", "span of the front or the middle";
        threads: Counts = "1,8", "reads in flight";
        iterations: Count = "10000",
            "reads of 512 B per thread; 20 % fewer after each doubling of the block size";
        certainty: Share = "0%", "stop earlier when the interval is this narrow; 0: never";
        min_time: Time = "1s", "least time before that";
        max_time: Time = "10s", "time limit per block size";
    }
}

spec! {
    /// Numbers of random reads of one size.
    RandomReadSpec {
        /// Most reads of a thread.
        iterations: u64,
        ..precision: Precision,
    }
}

/// The smallest block of IOTest, from which doublings are counted.
const SMALLEST_BLOCK: u64 = 512;
/// Fewest reads of a thread, as in IOTest.
const MIN_ITERATIONS: u64 = 100;

/// Reads at random places, a cell for each region, number of threads and block size.
pub struct RandomRead;

impl Procedure for RandomRead {
    type Settings = RandomReadSettings;
    type Spec = RandomReadSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::RANDOM_READ,
            about: "random reads, by block size, region and number of threads",
            source: "docs/field/classic-tools.md#iotest, docs/field/classic-tools.md#thrash",
            needs: Needs::READING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, RandomReadSpec>) -> Planned {
        let precision = Precision { certainty: settings.certainty, min_ns: settings.min_time };
        let only = [Region::Middle];
        let regions = if cells.target.is_bounded() { &only } else { &settings.region[..] };
        for &region in regions {
            let Some(span) = cells.span(&settings.span, region)? else { continue };
            for &threads in &settings.threads {
                if let Err(reason) = cells.target.takes_at_once(threads) {
                    cells.skip(reason);
                    continue;
                }
                for &block_bytes in &settings.block {
                    if block_bytes > span.bytes {
                        cells.skip_size(block_bytes, "larger than the span");
                        continue;
                    }
                    let iterations = iterations_at(settings.iterations, block_bytes);
                    let reads = cells.reads(region, span, Pattern::Uniform, block_bytes);
                    let params = Params { threads, ..reads };
                    let spec = RandomReadSpec { iterations, precision };
                    cells.add(params, &spec, settings.max_time, 0);
                }
            }
        }
        Ok(())
    }

    /// Metrics: `iops`, `bps`, `latency_ns`, `access_time_ns`, and if there is a processor
    /// `cpu_ns_per_io`.
    fn run(&self, cell: &TypedCell<RandomReadSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let (span, caveat) = preconditioned_span(cell, context);
        let block_bytes = cell.block_bytes();
        if span.bytes < block_bytes {
            return CellOutcome::left_out(
                cell,
                format!(
                    "only {} of the span were preconditioned",
                    record::units::Bytes(span.bytes)
                ),
            );
        }
        if let Err(error) = context.medium.drop_caches() {
            return CellOutcome::broken(cell, error);
        }
        let load = IoLoad { in_flight: cell.params.threads, ..IoLoad::read(block_bytes) };
        let align_bytes = context.medium.facts().logical_block_bytes;
        let mut places = uniform(span, block_bytes, align_bytes, context.random("offsets"));
        let limits = limits(cell, context);
        // The first read waits until a cache has written what lies in it: that is what came before.
        if context.written_bytes() > 0 {
            let first = context.drive(
                "waiting",
                &IoLoad::read(block_bytes),
                &LoopLimits::time(u64::MAX).ops(1),
                &mut places,
            );
            if first.stop.cut_short() {
                return first.outcome(cell);
            }
        }
        let mut outcome = context.drive("measuring", &load, &limits, &mut places).outcome(cell);
        outcome.cell.params.span_bytes = Some(span.bytes);
        outcome.cell.flags.extend(caveat);
        if let Some(iops) = outcome.cell.metrics.iops {
            outcome.cell.metrics.add(metric::ACCESS_TIME_NS, inverse(1e9, iops));
        }
        outcome
    }

    fn shorten(&self, spec: &mut RandomReadSpec, round_ns: u64, _bps: f64) -> u64 {
        spec.precision = Precision::of_round(round_ns);
        0
    }
}

/// Number of reads of a thread at this block size.
fn iterations_at(smallest: u64, block_bytes: u64) -> u64 {
    let doublings = (block_bytes / SMALLEST_BLOCK).ilog2();
    let shrunk = (0..doublings).fold(smallest, |iterations, _| (iterations as f64 * 0.8) as u64);
    shrunk.max(MIN_ITERATIONS.min(smallest))
}

fn limits(cell: &TypedCell<RandomReadSpec>, context: &mut CellContext<'_>) -> LoopLimits {
    let (max_ns, precision) = (context.time_left_ns(), cell.spec.precision);
    let limits = if precision.certainty > 0.0 {
        LoopLimits::certain(precision.rule(context.allotted_ns), max_ns)
    } else {
        LoopLimits::time(max_ns)
    };
    LoopLimits { max_ops: cell.spec.iterations * u64::from(cell.params.threads), ..limits }
}

#[cfg(test)]
mod tests {
    use device::Extent;
    use record::units::GIB;
    use record::{Flag, Stop};

    use super::*;
    use crate::catalogue::testing::TestBench;

    /// A medium that takes 100 us and 10 ns per byte.
    fn medium(capacity_bytes: u64) -> TestBench {
        TestBench::raw(capacity_bytes, |request, _| 100_000 + request.length_bytes * 10)
    }

    #[test]
    fn a_fifth_fewer_reads_after_each_doubling() {
        let counts: Vec<u64> =
            (0..13).map(|doubling| iterations_at(10000, 512 << doubling)).collect();
        let expected =
            [10000, 8000, 6400, 5120, 4096, 3276, 2620, 2096, 1676, 1340, 1072, 857, 685];
        assert_eq!(counts, expected);
        assert_eq!(iterations_at(150, 2 << 20), 100);
        assert_eq!(iterations_at(50, 2 << 20), 50);
    }

    #[test]
    fn reads_lie_inside_on_sectors_and_not_on_blocks() {
        let ran = medium(GIB)
            .run(&["random-read block=512B,64KiB region=whole threads=8 iterations=1000"]);
        assert!(ran.is_inside(Extent::new(0, GIB)));
        assert!(ran.requests.iter().all(|r| r.offset_bytes % 512 == 0));
        let is_aligned =
            |r: &&device::Request| r.length_bytes == 65536 && r.offset_bytes.is_multiple_of(65536);
        let aligned = ran.requests.iter().filter(is_aligned).count();
        assert!(aligned < 50, "{aligned} of 8 x 208");
        assert_eq!(ran.dropped_at, [0, 8000]);
        let cell = ran.cell("random-read/1");
        assert_eq!((cell.ops, cell.stop), (8000, Stop::Ops));
        assert_eq!(ran.cell("random-read/2").ops, 8 * 208);
        // One at a time inside the medium: 8 in flight wait eight times as long, and the medium
        // needs no more for each.
        assert_eq!(ran.other("random-read/1", "access_time_ns").round(), 105_120.0);
        assert_eq!(cell.metrics.latency_ns.as_ref().unwrap().max, 8 * 105_120);
        assert_eq!(cell.flags, [Flag::NotPrimed]);
    }

    #[test]
    fn the_order_is_the_seeds_and_each_cell_has_its_own() {
        let offsets = || {
            let ran = medium(GIB)
                .run(&["random-read block=4KiB region=front,whole threads=1 iterations=100"]);
            ran.requests.iter().map(|r| r.offset_bytes).collect::<Vec<_>>()
        };
        assert_eq!(offsets(), offsets());
        assert_ne!(offsets()[..100], offsets()[100..]);
        // A test vector: records of one seed stay comparable.
        assert_eq!(offsets()[..4], [350706688, 344839168, 915470848, 488125440]);
    }
}
