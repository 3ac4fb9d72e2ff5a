//! `sustained`: sequential writes until every cache is full, again after a pause of 30 s, and again
//! after 300 s (docs/field/cheats.md#cheats-and-caches, docs/field/statistics.md#change-points).
//!
//! 1 MiB writes at queue depth 1, for ten minutes or until the capacity of the medium was written
//! (256 GiB at most), over the second half, with other data each time. A rate that falls after a
//! number of bytes and recovers after a pause is due to a cache; one that falls after a time and
//! recovers when the medium has cooled is due to heat; one that does not recover is the medium's
//! own. So the same place is written again after the pauses, for a minute each: the findings
//! compare the beginnings.
//!
//! The windows of the curves grow with the distance from the start (each is a fortieth of the bytes
//! before it), so that a cache of 100 MB and one of 100 GB show equally well. They also end by
//! time, so that slow stretches of a hot medium show.
//!
//! Reads distinguish the two causes where writes alone cannot: a hot medium reads slowly too, one
//! with a full cache does not. So the beginning of the span is read right after the first writing,
//! and after each pause before the writing; a few reads before those that count wait for a cache
//! that a flush does not empty.
//!
//! With `order=spread` all of a medium that may be erased is written once, as far as time allows: in
//! pieces of 256 MiB, or whole allocation units, in an order in which any beginning is an even
//! sample of the medium. Samples of what was written are read afterwards, the oldest first: a fake
//! that keeps what is written until it is full has lost the last of them.
//!
//! Parameters of a cell: `form` (first, after-idle-30, after-idle-300). Series: `rate along the
//! fill` (bytes, bytes/s), `rate over time` (ns, bytes/s). Metrics: `bps` of everything,
//! `sustained_bps` of the last quarter of the time, `first_bps` of the first window, `read_bps`,
//! `cool_read_bps` (right after the writing), `latency_ns`.

use std::collections::BTreeMap;

use device::{Device, Extent};
use record::units::GIB;
use record::{Estimate, Series, SeriesAxis, Stop};

use super::prelude::*;
use super::{capacity, stretch};
use crate::IoTally;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::{sequential, spread};

settings! {
    SustainedSettings {
        form: Words(FORMS.map(|(form, _)| form)) = "first,after-idle-30,after-idle-300",
            "which of them";
        order: Word(["sequential", "spread"]) = "sequential",
            "over the second half in a row, or all over a medium that may be erased, in pieces";
        time: Time = "10m", "time limit";
    }
}

spec! {
    /// Numbers of the writes after a pause.
    SustainedSpec {
        rest_ns: u64,
        ops: u64,
        /// Bytes of a piece of a fill of all of the medium.
        piece_bytes: Option<u64>,
    }
}

/// Sequential writes to the end of every cache, a cell at first and one after each of two rests.
pub struct Sustained;

/// Most bytes to write, and time limit in nanoseconds after a pause.
const MOST_BYTES: u64 = 256 * GIB;
const AFTER_NS: u64 = 60 * SECOND_NS;
/// A window of the curves is one part in this many of the bytes before it.
const WINDOW_SHARE: u64 = 40;
/// Least size in bytes of the first windows, and the least part of the whole span.
const MIN_WINDOW_BYTES: u64 = 16 * MIB;
const MIN_WINDOW_SHARE: u64 = 512;

/// Bytes of a piece of a fill of all of the medium, at least.
const PIECE_BYTES: u64 = 256 * MIB;
/// Samples of a fill that are read afterwards, about, and the bytes of each.
const SAMPLES: u64 = 256;
const SAMPLE_BYTES: u64 = 4 * KIB;
/// Fewest writes of a part of the medium that have a median.
const MIN_PART_OPS: usize = 8;

/// Most bytes that are read of the beginning, and time limit in nanoseconds: enough for a rate, too
/// little to cool or to warm up.
const READ_BYTES: u64 = 128 * MIB;
const READ_NS: u64 = 3 * SECOND_NS;

/// Time limit of a window: one part in this many of the time before it, at least a second. A slow
/// stretch would not show in bytes.
const WINDOW_TIME_SHARE: u64 = 60;

/// Forms, with the pause before each in seconds.
const FORMS: [(&str, u64); 3] = [("first", 0), ("after-idle-30", 30), ("after-idle-300", 300)];

impl Procedure for Sustained {
    type Settings = SustainedSettings;
    type Spec = SustainedSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::SUSTAINED,
            about: "sequential writes until every cache is full, and again after pauses",
            source: "docs/field/cheats.md#cheats-and-caches, docs/field/statistics.md#change-points, docs/field/cautions.md#order-and-budgets",
            needs: Needs::WRITING,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, SustainedSpec>) -> Planned {
        let block_bytes = MIB;
        let total_bytes = MOST_BYTES.min(cells.target.facts.capacity_bytes);
        let is_spread = settings.order == "spread";
        if is_spread && (cells.target.is_bounded() || cells.target.must_restore.is_some()) {
            cells.skip("only a medium that may be erased is filled");
            return Ok(());
        }
        let region = if is_spread { Region::Whole } else { Region::Middle };
        let Some(span) = cells.region(region, total_bytes) else { return Ok(()) };
        let au_bytes = cells.target.alignment_bytes();
        let piece_bytes = is_spread.then(|| PIECE_BYTES.next_multiple_of(au_bytes));
        if !cells.fits(block_bytes, span.bytes) {
            return Ok(());
        }
        let ops = (total_bytes / block_bytes).max(1);
        for form in &settings.form {
            let rest_s = FORMS.iter().find(|(name, _)| name == form).map_or(0, |(_, rest)| *rest);
            let rest_ns = rest_s * SECOND_NS;
            let time_ns = if rest_ns == 0 { settings.time } else { AFTER_NS };
            let writes = cells.writes(region, span, Pattern::Sequential, block_bytes);
            let params = Params { form: Some((*form).into()), ..writes };
            let spec = SustainedSpec { rest_ns, ops, piece_bytes };
            cells.add(params, &spec, rest_ns + time_ns + 8 * READ_NS, ops * block_bytes);
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<SustainedSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let (span, block_bytes) = (cell.span(), cell.block_bytes());
        if let Err(error) = context.flush() {
            return CellOutcome::broken(cell, error);
        }
        let rest_ns = cell.spec.rest_ns;
        if rest_ns > 0 && rest_ns >= context.time_left_ns() {
            return CellOutcome::left_out(
                cell,
                "there is no time to pause and write again; give it more with --time-limit",
            );
        }
        stretch::rest(rest_ns, context);
        let is_first = rest_ns == 0;
        let mut outcome = CellOutcome::new(cell);
        // What is written first is read while the medium is cool.
        let begun = if is_first {
            Extent::new(span.offset_bytes, begin(cell, span, context, &mut outcome))
        } else {
            span
        };
        if outcome.is_over() {
            return outcome;
        }
        let mut read = read_beginning(
            if is_first { metric::COOL_READ_BPS } else { metric::READ_BPS },
            begun,
            block_bytes,
            context,
        );
        let begun_bytes = if is_first { begun.bytes } else { 0 };
        let mut curve = Curve::new(
            MIN_WINDOW_BYTES.min(span.bytes / MIN_WINDOW_SHARE).max(block_bytes),
            begun_bytes,
        );
        let begun_blocks = (begun_bytes / block_bytes) as usize;
        let mut times_ns = Vec::new();
        let mut watch = |bytes, latency_ns| {
            curve.push(bytes, latency_ns);
            times_ns.push(latency_ns as f64);
            false
        };
        let total_ops = cell.spec.ops - begun_bytes / block_bytes;
        let mut rest = Extent::new(span.offset_bytes + begun_bytes, span.bytes - begun_bytes);
        for pass in ["data, first pass", "data, second pass", "data, further passes"] {
            let left_ns =
                context.time_left_ns().saturating_sub(if is_first { READ_NS } else { 0 }).max(1);
            let limits = LoopLimits::time(left_ns).ops(total_ops - outcome.cell.ops);
            let load = stretch::load(cell, context, pass);
            let tally = match cell.spec.piece_bytes {
                None => context.drive_watched(
                    "filling",
                    &load,
                    &limits,
                    &mut sequential(rest, block_bytes),
                    &mut watch,
                ),
                Some(piece_bytes) => {
                    let mut places = spread(span, piece_bytes, block_bytes).skip(begun_blocks);
                    context.drive_watched(
                        "filling",
                        &load,
                        &limits,
                        &mut |_| places.next(),
                        &mut watch,
                    )
                }
            };
            let is_full = tally.stop == Stop::Bytes;
            add_pass(&mut outcome, tally);
            if !is_full || cell.spec.piece_bytes.is_some() {
                break;
            }
            rest = span;
        }
        if is_first && !outcome.cell.stop.cut_short() {
            read.extend(read_beginning(metric::READ_BPS, begun, block_bytes, context));
        }
        outcome.cell.metrics.other.extend(read);
        outcome.cell.series.extend(curve.series());
        let figures = [
            ("first_bps", curve.windows.first().map(Window::bps)),
            (metric::SUSTAINED_BPS, curve.last_quarter_bps()),
        ];
        for (name, bps) in figures {
            outcome.cell.metrics.put(name, bps, outcome.cell.ops);
        }
        if let Some(piece_bytes) = cell.spec.piece_bytes {
            let blocks = spread(span, piece_bytes, block_bytes).skip(begun_blocks);
            outcome.cell.series.push(by_place(span, blocks.zip(times_ns)));
            let written = begun_bytes / block_bytes + outcome.cell.ops;
            look_back(&mut outcome, spread(span, piece_bytes, block_bytes), written, context);
        }
        outcome
    }
}

/// Reads samples of a fill of so many blocks, the oldest first, and adds what became of them.
fn look_back(
    outcome: &mut CellOutcome,
    blocks: impl Iterator<Item = Extent>,
    written: u64,
    context: &mut CellContext<'_>,
) {
    let medium = &mut *context.medium;
    medium.set_data_needed(true, context.generator);
    if outcome.cell.stop.cut_short() || !medium.facts().keeps_data {
        return;
    }
    let step = (written / SAMPLES).max(1);
    let sample_bytes = SAMPLE_BYTES.min(outcome.cell.params.block_bytes.unwrap_or(SAMPLE_BYTES));
    let places: Vec<Extent> = blocks
        .take(written as usize)
        .step_by(step as usize)
        .map(|block| Extent::new(block.offset_bytes, sample_bytes))
        .collect();
    // A medium that cannot be read is the next cell's matter.
    let kept = capacity::kept(medium, context.generator, &places).unwrap_or_default();
    let written_bytes = written * outcome.cell.params.block_bytes.unwrap_or(0);
    let filled: Vec<capacity::FillSample> =
        kept.into_iter().map(|(place, kept)| sample(place, kept, context.done)).collect();
    capacity::note_fill(&mut outcome.cell, &filled, written_bytes);
}

/// A place of a fill, which may lie where an earlier cell had written; a probe wrote at single places.
fn sample(place: u64, is_kept: bool, done: &[record::Cell]) -> capacity::FillSample {
    let has_written = |cell: &record::Cell| {
        let (params, at) = (&cell.params, Extent::new(place, 1));
        let span = params.span_offset_bytes.zip(params.span_bytes);
        cell.written_bytes > 0
            && cell.test != test::CAPACITY
            && span.is_some_and(|(offset, bytes)| Extent::new(offset, bytes).contains(&at))
    };
    capacity::FillSample { place, is_kept, is_fresh: !done.iter().any(has_written) }
}

/// Writes the beginning, which counts in the curve's places and not in its rates: reading it
/// afterwards lets a cache empty. Returns its bytes.
fn begin(
    cell: &TypedCell<SustainedSpec>,
    span: Extent,
    context: &mut CellContext<'_>,
    outcome: &mut CellOutcome,
) -> u64 {
    let most_ops = (READ_BYTES.min(span.bytes / 8) / cell.block_bytes()).min(cell.spec.ops / 8);
    let load = stretch::load(cell, context, "data, first pass");
    let limits = LoopLimits::time(READ_NS * 4).ops(most_ops);
    let tally = context.drive(
        "filling the front",
        &load,
        &limits,
        &mut sequential(span, cell.block_bytes()),
    );
    if tally.stop.cut_short() {
        outcome.end(tally.stop, tally.error);
    }
    tally.bytes
}

/// Number of reads that do not count: the first of them may wait until a cache is emptied that a
/// flush does not empty.
const CATCHING_UP_OPS: u64 = 4;

/// Adds the rate at which the beginning is read, under this name; nothing if that fails, because
/// reading is not what is tested.
fn read_beginning(
    name: &str,
    written: Extent,
    block_bytes: u64,
    context: &mut CellContext<'_>,
) -> Vec<(String, Estimate)> {
    if written.bytes < block_bytes || context.flush().is_err() {
        return Vec::new();
    }
    let beginning = Extent::new(written.offset_bytes, written.bytes.min(READ_BYTES));
    let (load, mut offsets) = (IoLoad::read(block_bytes), sequential(beginning, block_bytes));
    context.drive("reading", &load, &LoopLimits::time(READ_NS).ops(CATCHING_UP_OPS), &mut offsets);
    let tally = context.drive("reading", &load, &LoopLimits::time(READ_NS), &mut offsets);
    let bps = tally.metrics().bps.filter(|_| tally.error.is_none());
    bps.map(|bps| (name.to_owned(), bps)).into_iter().collect()
}

/// Adds a pass. The rate has the interval of a single pass; of several it has none.
fn add_pass(outcome: &mut CellOutcome, tally: IoTally) {
    let (metrics, worst_ns) = (tally.metrics(), tally.worst_ns);
    let is_first = outcome.cell.ops == 0;
    outcome.absorb(tally);
    if is_first {
        outcome.cell.metrics = metrics;
    } else if let Some(before) = &outcome.cell.metrics.latency_ns {
        outcome.rates_over_all(before.max.max(worst_ns));
    }
}

/// A stretch of writing.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    bytes: u64,
    ns: u64,
}

impl Window {
    fn bps(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.ns.max(1) as f64
    }
}

/// Median time of the writes of a fill in each part of the medium, a 256th about.
fn by_place(span: Extent, writes: impl Iterator<Item = (Extent, f64)>) -> Series {
    let part_bytes = (span.bytes / 256).clamp(MIN_WINDOW_BYTES, PIECE_BYTES);
    let mut parts: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (block, ns) in writes {
        let part = (block.offset_bytes - span.offset_bytes) / part_bytes;
        parts.entry(part).or_default().push(ns);
    }
    let points = parts.into_iter().filter(|(_, times)| times.len() >= MIN_PART_OPS).filter_map(
        |(part, mut times)| {
            let at = span.offset_bytes + part * part_bytes;
            Some([at as f64, stats::median(&mut times)?])
        },
    );
    Series::new(
        "median write of each part",
        [SeriesAxis::OffsetBytes, SeriesAxis::LatencyNs],
        points.collect(),
    )
}

/// Windows that grow with the distance from the start.
struct Curve {
    least_bytes: u64,
    /// Bytes before the first window, and up to the end of the last.
    begun_bytes: u64,
    bytes: u64,
    ns: u64,
    windows: Vec<Window>,
    open: Window,
}

impl Curve {
    fn new(least_bytes: u64, begun_bytes: u64) -> Curve {
        Curve {
            least_bytes,
            begun_bytes,
            bytes: begun_bytes,
            ns: 0,
            windows: Vec::new(),
            open: Window::default(),
        }
    }

    fn push(&mut self, bytes: u64, ns: u64) {
        self.open = Window { bytes: self.open.bytes + bytes, ns: self.open.ns + ns };
        let is_long = self.open.ns >= SECOND_NS.max(self.ns / WINDOW_TIME_SHARE);
        if is_long || self.open.bytes >= self.least_bytes.max(self.bytes / WINDOW_SHARE) {
            self.bytes += self.open.bytes;
            self.ns += self.open.ns;
            self.windows.push(std::mem::take(&mut self.open));
        }
    }

    /// Rate against bytes written, and against time, at the end of each window.
    fn series(&self) -> [Series; 2] {
        let ends =
            self.windows.iter().scan(Window { bytes: self.begun_bytes, ns: 0 }, |sum, window| {
                *sum = Window { bytes: sum.bytes + window.bytes, ns: sum.ns + window.ns };
                Some((*sum, window.bps()))
            });
        let (along, over): (Vec<_>, Vec<_>) =
            ends.map(|(end, bps)| ([end.bytes as f64, bps], [end.ns as f64, bps])).unzip();
        [
            Series::new("rate along the fill", [SeriesAxis::Bytes, SeriesAxis::Bps], along),
            Series::new("rate over time", [SeriesAxis::ElapsedNs, SeriesAxis::Bps], over),
        ]
    }

    /// Rate of the windows that end in the last quarter of the time.
    fn last_quarter_bps(&self) -> Option<f64> {
        let total_ns: u64 = self.windows.iter().map(|window| window.ns).sum();
        let mut last = Window::default();
        for window in self.windows.iter().rev() {
            if last.ns > 0 && last.ns + window.ns > total_ns / 4 {
                break;
            }
            last = Window { bytes: last.bytes + window.bytes, ns: last.ns + window.ns };
        }
        (last.ns > 0).then(|| last.bps())
    }
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, run_medium};

    #[test]
    fn windows_grow_and_stay_a_few_hundred() {
        let mut curve = Curve::new(16 * MIB, 0);
        (0..256 * 1024).for_each(|_| curve.push(MIB, MILLISECOND_NS));
        assert!((100..400).contains(&curve.windows.len()), "{}", curve.windows.len());
        let [along, over] = curve.series();
        assert!(along.points.last().unwrap()[0] > 0.97 * (256.0 * GIB as f64));
        assert!(along.points.iter().zip(&over.points).all(|(a, b)| (a[1] - 1.048576e9).abs()
            < 1.0
            && (a[0] / b[0] * 1e9 - a[1]).abs() < 1.0));
    }

    /// Case: 17 GB went into the same 512 MiB, and a slow part elsewhere was "good for video".
    #[test]
    fn a_fill_is_an_even_sample_of_the_medium_wherever_it_ends() {
        let slow = |request: &device::Request, _| {
            let is_slow = (5 * GIB..6 * GIB).contains(&request.offset_bytes);
            MILLISECOND_NS * if is_slow { 100 } else { 10 }
        };
        let fill = "sustained form=first order=spread";
        let ran = TestBench::raw(8 * GIB, slow).run(&[&format!("{fill} time=20m")]);
        let mut places: Vec<u64> = ran.writes(0).into_iter().map(|offset| offset / MIB).collect();
        let order: Vec<u64> = places.iter().step_by(256).map(|at| at / 256).collect();
        assert_eq!(order[..8], [0, 16, 8, 24, 4, 20, 12, 28]);
        places.sort_unstable();
        assert_eq!(places, (0..8 * 1024).collect::<Vec<_>>());
        let cell = ran.cell("sustained/1");
        let slowest = cell.series[0].points.iter().map(|point| point[1]).fold(f64::MAX, f64::min);
        assert!((slowest / (MIB as f64 * 10.0) - 1.0).abs() < 0.01, "{slowest}");
        let parts = &cell.series[2].points;
        let slow_parts = parts.iter().filter(|point| point[1] > 50e6).map(|point| point[0] as u64);
        assert_eq!(parts.len(), 252, "without the beginning");
        assert!(slow_parts.eq((5 * GIB..6 * GIB).step_by(32 * MIB as usize)));
        let file = TestBench::file(8 * GIB, slow).left_out(&[fill]);
        assert!(file.contains("only a medium that may be erased is filled"), "{file}");
    }

    #[test]
    fn a_fill_finds_a_fake_that_it_fills() {
        let fill = |keeps: &str| {
            let profile = format!(
                "about = \"x\"\nsource = \"docs/field/counterfeits.md#f3probe\"\nguesses = \"all\"\n[medium]\ncapacity = \"32 GiB\"\n\
                 [read]\ncommand = \"0.8 ms\"\nrate = \"20 MB/s\"\n[write]\ncommand = \"0.8 ms\"\nrate = \"40 MB/s\"\nunit = \"16 KiB\"\n\
                 partial = \"1.5 ms\"\n[page_mapped]\n{keeps}"
            );
            let profile = sim::Profile::parse("fake", &profile).unwrap();
            let options = sim::SimOptions { seed: 5, capacity: None, keep_data: true };
            let medium = sim::SimDevice::new(&profile, options);
            run_medium(medium, None, 5, &["sustained form=first order=spread time=2m"]).remove(0)
        };
        for keeps in ["first", "latest"] {
            let cell = fill(&format!("[fake]\nreal = \"1 GiB\"\nkeeps = \"{keeps}\"\n"));
            assert_eq!(record::CapacityKind::of_probe(&cell), Some(record::CapacityKind::Filling));
            let [low, high] = cell.metrics.other["real_bytes"].ci95.unwrap();
            assert!((low..=high).contains(&(GIB as f64)) && high < 1.2e9, "{low} {high}");
        }
        let good = fill("");
        assert!(!good.metrics.other.contains_key("type"));
        assert!(good.metrics.other["marks_good"].value >= 256.0);
    }
}
