//! `align-read`: reads that take longer because they cross a boundary, without writing a byte
//! (docs/field/allocation-units.md#flashbench `-a`,
//! docs/field/allocation-units.md#size-from-reads).
//!
//! For each size, pages and allocation units among them, small reads before, across and after seven
//! boundaries of it (flashbench's `-a`). If the size is that of an allocation unit or a multiple of
//! it, the read across makes the medium access two units; if it is smaller, both halves are in one
//! unit. Sizes are 2^k and 3*2^k, from 2 KiB to 64 MiB or as far as the medium goes, and from 640
//! KiB on 5, 7 and 9*2^k. A boundary of one size is none of another unless that divides it: it is a
//! multiple of its size that 2, 3, 5 and 7 do not divide.
//!
//! Each boundary is read several times and the mean of the faster half of them counts (flashbench:
//! the fastest alone, whose chance is half as large again); the figure of a size is the mean over
//! its boundaries, and of several such repeats the median. Repeats that time cuts short are not
//! counted.
//!
//! Series against the size: `pre`, `on`, `post`, and `diff`, which is on - (pre + post) / 2 and may
//! be negative by chance. Metrics: `repeats` (whole ones), `latency_ns` of all reads, `iops`.

use device::{Device, Extent};
use record::{Flag, Series, SeriesAxis, Stop};
use stats::median;

use super::preconditioned_span::preconditioned_span;
use super::prelude::*;
use crate::io_loop::{IoLoad, LoopLimits};

settings! {
    AlignReadSettings {
        tries: Count = "8", "reads per place; the faster half counts";
        repeats: Count = "3", "repeats of everything; the median counts";
        max_time: Time = "30s", "time limit";
    }
}

/// Least size of a read, in bytes; it has at least two sectors of the medium.
const LEAST_BLOCK_BYTES: u64 = KIB;
/// Largest power of two to try, in bytes.
const LARGEST_BYTES: u64 = 64 * MIB;

spec! {
    /// Numbers of reads around boundaries.
    AlignReadSpec {
        /// The largest power of two that is tried.
        largest_bytes: u64,
        /// Reads of each place.
        tries: u64,
        /// Repeats of everything.
        repeats: u32,
    }
}

/// Times small reads before, across and after boundaries of every size, all in one cell.
pub struct AlignRead;

/// Boundaries of each size (docs/field/allocation-units.md#flashbench).
const PLACES: u64 = 7;

impl Procedure for AlignRead {
    type Settings = AlignReadSettings;
    type Spec = AlignReadSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::ALIGN_READ,
            about: "small reads before, across and after boundaries of every size: finds pages and erase blocks without writing",
            source: "docs/field/allocation-units.md#flashbench, docs/field/allocation-units.md#inference",
            needs: Needs::RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, AlignReadSpec>) -> Planned {
        // Half of a read lies on either side of a boundary, and must be a unit of the medium.
        let least_bytes = 2 * cells.target.facts.logical_block_bytes;
        let block_bytes = LEAST_BLOCK_BYTES.max(least_bytes).next_power_of_two();
        let Some(span) = cells.region(Region::Middle, u64::MAX) else { return Ok(()) };
        let Some(grid) = Grid::fitting(span, block_bytes, LARGEST_BYTES) else {
            let (there, size) = (Bytes(span.bytes), Bytes(2 * block_bytes));
            cells.skip(format!("{there} are too few for boundaries of {size}"));
            return Ok(());
        };
        let all = Extent::new(grid.start_bytes, grid.bytes());
        let spec = AlignReadSpec {
            largest_bytes: grid.largest_bytes,
            tries: settings.tries,
            repeats: settings.repeats.min(u64::from(u32::MAX)) as u32,
        };
        let params = cells.reads(Region::Middle, all, Pattern::Strided, block_bytes);
        cells.add(params, &spec, settings.max_time, 0);
        Ok(())
    }

    fn run(&self, cell: &TypedCell<AlignReadSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        if let Err(error) = context.medium.drop_caches() {
            return CellOutcome::broken(cell, error);
        }
        let grid =
            Grid { start_bytes: cell.span().offset_bytes, largest_bytes: cell.spec.largest_bytes };
        let sizes = grid.sizes(cell.block_bytes());
        let mut work = Work { cell, grid, context, outcome: CellOutcome::new(cell) };
        let mut repeats: Vec<Vec<Sides>> = Vec::new();
        for repeat in 0..cell.spec.repeats {
            let Some(row) = work.repeat(&sizes, repeat) else { break };
            repeats.push(row);
        }
        let (_, caveat) = preconditioned_span(cell, work.context);
        let mut outcome = work.outcome;
        outcome.cell.flags.extend(caveat);
        if repeats.is_empty() {
            let text = "the time was too short for all sizes; give it more".to_owned();
            outcome.cell.flags.push(Flag::Note { text });
        }
        outcome.cell.metrics.put("repeats", repeats.len() as f64, repeats.len() as u64);
        outcome.cell.series = vec![
            curve("diff", &sizes, &repeats, Sides::diff_ns),
            curve("pre", &sizes, &repeats, |sides| sides.pre_ns),
            curve("on", &sizes, &repeats, |sides| sides.on_ns),
            curve("post", &sizes, &repeats, |sides| sides.post_ns),
        ];
        outcome
    }
}

/// Prime factors of units beside powers of two: a multiple of a size counts as its boundary only if
/// none of these divides it.
const PRIMES: [u64; 4] = [2, 3, 5, 7];
/// Units of 5, 7 and 9 times a power of two are larger than this.
const ODD_BYTES: u64 = 512 << 10;

/// Positions of the boundaries: those of size `s` are at the first fitting multiple of it after
/// `start + i * period`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Grid {
    start_bytes: u64,
    largest_bytes: u64,
}

impl Grid {
    /// The grid with the largest sizes, up to `largest_bytes`, whose places are all in `span`.
    fn fitting(span: Extent, block_bytes: u64, largest_bytes: u64) -> Option<Grid> {
        let halvings = std::iter::successors(Some(1u64 << largest_bytes.max(1).ilog2()), |size| {
            Some(size / 2)
        });
        halvings.take_while(|size| *size >= 2 * block_bytes).find_map(|largest_bytes| {
            let grid = Grid { start_bytes: 0, largest_bytes };
            let start_bytes = span.offset_bytes.next_multiple_of(grid.period_bytes());
            let grid = Grid { start_bytes, ..grid };
            span.contains(&Extent::new(start_bytes, grid.bytes())).then_some(grid)
        })
    }

    fn period_bytes(&self) -> u64 {
        6 * self.largest_bytes
    }

    /// Bytes that contain all reads: of ten numbers in succession at most nine are divided by one
    /// of the primes.
    fn bytes(&self) -> u64 {
        PLACES * self.period_bytes() + 10 * self.largest_bytes * 3 / 2
    }

    /// All sizes: 2^k and 3*2^k, and 5, 7 and 9*2^k, ascending.
    fn sizes(&self, block_bytes: u64) -> Vec<u64> {
        let powers = std::iter::successors(Some(2 * block_bytes), |size| Some(size * 2))
            .take_while(|size| *size <= self.largest_bytes);
        let odd = |size: u64| {
            [5, 7, 9].map(|times| size * times).into_iter().filter(|size| *size > ODD_BYTES)
        };
        let mut sizes: Vec<u64> =
            powers.flat_map(|size| [size, size / 2 * 3].into_iter().chain(odd(size))).collect();
        sizes.retain(|size| *size >= 2 * block_bytes && *size <= self.largest_bytes * 3 / 2);
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }

    fn boundaries(&self, size: u64) -> impl Iterator<Item = u64> + use<> {
        let Grid { start_bytes, .. } = *self;
        let period_bytes = self.period_bytes();
        let is_its_own =
            |multiple: &u64| PRIMES.iter().all(|prime| !multiple.is_multiple_of(*prime));
        let mut next = 0;
        (0..PLACES).map(move |place| {
            let first = (start_bytes + place * period_bytes).div_ceil(size).max(next);
            let multiple = (first..).find(is_its_own).unwrap_or(first);
            next = multiple + 1;
            multiple * size
        })
    }
}

/// Times of reads around a size's boundaries, in nanoseconds: the mean of the faster half at each
/// place, and of that the mean over places.
#[derive(Clone, Copy, Debug)]
struct Sides {
    pre_ns: f64,
    on_ns: f64,
    post_ns: f64,
}

impl Sides {
    fn diff_ns(&self) -> f64 {
        self.on_ns - (self.pre_ns + self.post_ns) / 2.0
    }
}

struct Work<'a, 'b> {
    cell: &'a TypedCell<AlignReadSpec>,
    grid: Grid,
    context: &'a mut CellContext<'b>,
    outcome: CellOutcome,
}

impl Work<'_, '_> {
    /// Reads around all sizes once; `None` if it was cut short.
    fn repeat(&mut self, sizes: &[u64], repeat: u32) -> Option<Vec<Sides>> {
        let parts = sizes.len() as f64 * f64::from(self.cell.spec.repeats);
        let first = f64::from(repeat) * sizes.len() as f64;
        let mut row = Vec::with_capacity(sizes.len());
        for (index, size) in sizes.iter().enumerate() {
            self.context.part((first + index as f64) / parts, (first + index as f64 + 1.0) / parts);
            row.push(self.read_around(*size)?);
        }
        Some(row)
    }

    /// Does all tries at all boundaries of a size.
    fn read_around(&mut self, size: u64) -> Option<Sides> {
        let block_bytes = self.cell.block_bytes();
        let tries = self.cell.spec.tries;
        // As flashbench: all boundaries on one side, then all on the next, so that no read
        // continues the one before.
        let round: Vec<Extent> = [block_bytes, block_bytes / 2, 0]
            .into_iter()
            .flat_map(|back| {
                self.grid
                    .boundaries(size)
                    .map(move |boundary| Extent::new(boundary - back, block_bytes))
            })
            .collect();
        let mut places_ns: Vec<Vec<u64>> = vec![Vec::with_capacity(tries as usize); round.len()];
        let mut seen = 0;
        let mut keep = |_, latency_ns: u64| {
            places_ns[seen % round.len()].push(latency_ns);
            seen += 1;
            false
        };
        let wanted = tries * round.len() as u64;
        let limits = LoopLimits::time(self.context.time_left_ns()).ops(wanted);
        let load = IoLoad::read(block_bytes);
        let mut places = round.iter().cycle().copied();
        let tally = self.context.drive_watched(
            "reading around boundaries",
            &load,
            &limits,
            &mut |_| places.next(),
            &mut keep,
        );
        let is_whole = tally.ops == wanted;
        if !is_whole && tally.stop == Stop::Ops {
            self.outcome.end(Stop::Time, None);
        }
        self.outcome.absorb(tally);
        let mut mean = |side: usize| {
            let places = &mut places_ns[side * PLACES as usize..][..PLACES as usize];
            places.iter_mut().map(|ns| faster_half_ns(ns)).sum::<f64>() / PLACES as f64
        };
        is_whole.then(|| Sides { pre_ns: mean(0), on_ns: mean(1), post_ns: mean(2) })
    }
}

/// The mean of the faster half.
fn faster_half_ns(ns: &mut [u64]) -> f64 {
    ns.sort_unstable();
    let half = &ns[..ns.len().div_ceil(2)];
    half.iter().map(|ns| *ns as f64).sum::<f64>() / half.len().max(1) as f64
}

/// The median over repeats at each size.
fn curve(
    name: &str,
    sizes: &[u64],
    repeats: &[Vec<Sides>],
    figure: impl Fn(&Sides) -> f64,
) -> Series {
    let at = |index: usize| {
        median(&mut repeats.iter().map(|row| figure(&row[index])).collect::<Vec<_>>())
    };
    let points = sizes
        .iter()
        .enumerate()
        .filter_map(|(index, size)| Some([*size as f64, at(index)?]))
        .collect();
    Series::new(name, [SeriesAxis::OffsetBytes, SeriesAxis::LatencyNs], points)
}

#[cfg(test)]
mod tests {
    use record::Cell;
    use record::units::{GIB, KIB, MIB, MILLISECOND_NS, SECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, card, run_profile, run_simulated, step};

    #[test]
    fn a_boundary_of_one_size_is_one_of_another_only_if_it_divides_it() {
        let grid = Grid::fitting(Extent::new(5 * GIB, 8 * GIB), KIB, 64 * MIB).unwrap();
        assert_eq!(grid.largest_bytes, 64 * MIB);
        let sizes = grid.sizes(KIB);
        assert_eq!(
            (sizes[0], sizes[1], sizes[2], *sizes.last().unwrap()),
            (2 * KIB, 3 * KIB, 4 * KIB, 96 * MIB)
        );
        for size in &sizes {
            for other in &sizes {
                let on = grid
                    .boundaries(*size)
                    .filter(|boundary| boundary.is_multiple_of(*other))
                    .count() as u64;
                assert_eq!(
                    on,
                    if size.is_multiple_of(*other) { PLACES } else { 0 },
                    "{size} on {other}"
                );
            }
        }
    }

    /// Additional time of reads: 40 µs across pages of 16 KiB, 300 µs across units.
    fn straddling(request: &device::Request, au_bytes: u64) -> u64 {
        let crosses = |size: u64| {
            request.offset_bytes / size != (request.offset_bytes + request.length_bytes - 1) / size
        };
        let extra = if crosses(au_bytes) {
            300
        } else if crosses(16 * KIB) {
            40
        } else {
            0
        };
        MILLISECOND_NS + extra * 1000
    }

    #[test]
    fn costs_across_are_found_at_their_sizes_exactly() {
        for au_bytes in [4 * MIB, 3 * MIB / 2, 5 * MIB / 2, 7 * MIB, 9 * MIB / 2] {
            let ran = TestBench::raw(8 * GIB, move |request, _| straddling(request, au_bytes))
                .run(&["align-read"]);
            let cell = ran.cell("align-read/1");
            let diff = &cell.series.iter().find(|series| series.name == "diff").unwrap().points;
            for [size, ns] in diff {
                let size = *size as u64;
                let cost = if size.is_multiple_of(au_bytes) {
                    300e3
                } else if size.is_multiple_of(16 * KIB) {
                    40e3
                } else {
                    0.0
                };
                assert_eq!(*ns, cost, "{size} of {au_bytes}");
            }
            assert_eq!(
                (cell.ops, ran.other("align-read/1", "repeats")),
                (diff.len() as u64 * 168 * 3, 3.0)
            );
            assert!(cell.elapsed_ns < 30 * SECOND_NS && cell.written_bytes == 0);
        }
    }

    #[test]
    fn time_cuts_whole_repeats_only() {
        let ran =
            TestBench::raw(8 * GIB, |_, _| 2 * MILLISECOND_NS).run(&["align-read max_time=25s"]);
        let cell = ran.cell("align-read/1");
        assert_eq!((ran.other("align-read/1", "repeats"), cell.stop), (1.0, Stop::Time));
        assert!(cell.elapsed_ns <= 25 * SECOND_NS + 2 * MILLISECOND_NS);
        let ran = TestBench::raw(8 * GIB, |_, _| SECOND_NS).run(&["align-read"]);
        let cell = ran.cell("align-read/1");
        assert_eq!((cell.ops, ran.other("align-read/1", "repeats")), (30, 0.0));
        insta::assert_snapshot!(cell.flags.last().unwrap(), @"the time was too short for all sizes; give it more");
        assert!(cell.series.iter().all(|series| series.points.is_empty()));
    }

    fn au_of(cell: &Cell) -> (u64, f64, f64) {
        let diff = cell.series.iter().find(|series| series.name == "diff").unwrap();
        let powers: Vec<_> = diff
            .points
            .iter()
            .copied()
            .filter(|p| (p[0] as u64).is_power_of_two() && p[0] >= 16384.0)
            .collect();
        let (size, low, high) = step(&powers);
        (size as u64, low, high)
    }

    #[test]
    fn the_curve_of_a_jittery_card_shows_its_allocation_unit() {
        for (seed, au_mib) in [1, 2, 4, 8, 16].into_iter().enumerate() {
            let cells = run_profile(&card(au_mib, 3), None, seed as u64, &["align-read"]);
            let (size, low, high) = au_of(&cells[0]);
            assert_eq!(size, au_mib * MIB);
            assert!((high - low - 190e3).abs() < 40e3, "{low} {high}");
        }
        for (seed, au_mib) in [3, 6, 12, 24, 9, 18].into_iter().enumerate() {
            let cells = run_profile(&card(au_mib, 3), None, seed as u64, &["align-read"]);
            let diff = &cells[0].series[0].points;
            let odd = au_mib >> au_mib.trailing_zeros();
            let is_alike = |size: u64| size >> size.trailing_zeros() == odd && size >= 24576;
            let alike: Vec<_> = diff.iter().copied().filter(|p| is_alike(p[0] as u64)).collect();
            assert_eq!(step(&alike).0 as u64, au_mib * MIB);
        }
    }

    #[test]
    fn the_short_form_of_quick_suffices_and_mapped_pages_show_none() {
        let cells = run_simulated("class10", 3, &["align-read tries=4 repeats=1"]);
        assert_eq!(au_of(&cells[0]).0, 4 * MIB);
        assert!(cells[0].elapsed_ns < 5 * SECOND_NS, "{}", cells[0].elapsed_ns);
        let cells = run_simulated("a1", 3, &["align-read"]);
        let (_, low, high) = au_of(&cells[0]);
        assert!(high - low < 25e3, "{low} {high}");
    }
}
