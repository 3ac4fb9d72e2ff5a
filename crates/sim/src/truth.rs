//! Long-run behaviour of a medium: the truth with which estimates are compared.
//!
//! Not an estimate but a very long run without data, after everything that is faster at first is
//! used up: caches, logs for small writes, fast paths for patterns.

use std::fmt::Write as _;

use device::{Completion, Device, Op, Request, do_io};
use record::{Content, Direction, Histogram, Pattern};
use stats::Random;

use crate::profile::Profile;
use crate::rng::SimRng;
use crate::{SimDevice, SimOptions};

/// Number of I/Os measured: enough that chance moves the result by less than 0.1 %, tails included.
const MEASURED: u64 = 400_000;

/// Number of I/Os before that, in addition to those that fill caches.
const WARM_UP: u64 = 20_000;

/// Size in bytes of the writes that fill caches.
const FILL_BYTES: u64 = 1 << 20;

/// A medium drawn at random from mechanisms, as the text of a profile: caches that are small or
/// large, honest or lying; pauses; tails; allocation units that are no power of two. And whether its
/// flush is honest.
pub fn drawn(seed: u64, number: u64) -> (String, bool) {
    let mut random = Random::after(seed, number << 32);
    let mut text = String::from("about = 'drawn'\nsource = 'drawn'\nguesses = 'all'\n");
    let au_mib = *random.pick(&[2_u64, 3, 4, 6, 8]);
    let capacity_mib = 4096 / au_mib * au_mib;
    let rate = random.log_uniform(6.0, 80.0);
    let tail = *random.pick(&[(0.0, 10.0), (0.005, 10.0), (0.002, 300.0)]);
    let _ = write!(
        text,
        "[medium]\ncapacity = '{capacity_mib} MiB'\n[read]\ncommand = '0.3 ms'\nrate = '60 MB/s'\n\
         [jitter]\nsigma = 0.1\ntail_share = {}\ntail_factor = {}\n\
         [write]\ncommand = '0.3 ms'\nrate = '{rate:.1} MB/s'\nunit = '16 KiB'\n",
        tail.0, tail.1
    );
    if random.below(2) == 0 {
        let copy = random.log_uniform(10.0, 400.0);
        let open = *random.pick(&[1, 2, 3, 8, 16]);
        let _ = write!(
            text,
            "[log_block]\nau = '{au_mib} MiB'\nopen_aus = {open}\ncopy_rate = '{copy:.0} MB/s'\nerase = '3 ms'\n"
        );
    } else {
        let collected = random.log_uniform(0.2, 60.0);
        let _ = writeln!(text, "[page_mapped]\ngc = '{collected:.2} ms'");
    }
    let is_honest = random.below(4) > 0;
    if random.below(3) > 0 {
        let size = *random.pick(&[1, 4, 16, 48, 200]);
        let _ = write!(
            text,
            "[cache]\nsize = '{size} MiB'\nrate = '{:.0} MB/s'\ncommand = '0.1 ms'\nhonest = {is_honest}\n",
            rate * 2.0
        );
    }
    let is_cached = text.contains("[cache]");
    if random.below(4) == 0 {
        let every = *random.pick(&[8_u64, 32, 128]);
        for pause in 1..=2048 / every * 4 {
            let _ = write!(
                text,
                "[[fault]]\nkind = 'hang'\nlasts = '2 s'\nafter_written = '{} MiB'\n",
                pause * every
            );
        }
    }
    (text.replace('\'', "\""), is_honest || !is_cached)
}

/// A load of one direction, pattern, block size and depth, without end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyLoad {
    /// Direction in which data moves.
    pub direction: Direction,
    /// `Sequential` wraps at the end of the span; everything else is uniform.
    pub pattern: Pattern,
    /// Bytes of one I/O.
    pub block_bytes: u64,
    /// First byte; half of the medium if absent, at a multiple of 8 MiB.
    pub offset_bytes: Option<u64>,
    /// Length in bytes of the range that it touches; limited to the medium's end.
    pub span_bytes: u64,
    /// I/Os kept in flight, one in each slot.
    pub queue_depth: u32,
    /// Kind of data written; matters on media that compress.
    pub content: Content,
}

impl SteadyLoad {
    /// Random writes of incompressible data at queue depth 1, from the middle of the medium on.
    pub fn random_write(block_bytes: u64, span_bytes: u64) -> SteadyLoad {
        SteadyLoad {
            direction: Direction::Write,
            pattern: Pattern::Uniform,
            block_bytes,
            offset_bytes: None,
            span_bytes,
            queue_depth: 1,
            content: Content::Incompressible,
        }
    }

    /// Random reads at queue depth 1, from the middle of the medium on.
    pub fn random_read(block_bytes: u64, span_bytes: u64) -> SteadyLoad {
        SteadyLoad {
            direction: Direction::Read,
            ..SteadyLoad::random_write(block_bytes, span_bytes)
        }
    }

    /// Sequential writes of incompressible data, from the middle of the medium on.
    pub fn sequential_write(block_bytes: u64, span_bytes: u64) -> SteadyLoad {
        SteadyLoad {
            pattern: Pattern::Sequential,
            ..SteadyLoad::random_write(block_bytes, span_bytes)
        }
    }

    /// Sequential reads, from the middle of the medium on.
    pub fn sequential_read(block_bytes: u64, span_bytes: u64) -> SteadyLoad {
        SteadyLoad {
            direction: Direction::Read,
            ..SteadyLoad::sequential_write(block_bytes, span_bytes)
        }
    }
}

/// IOPS in the long run.
pub fn iops(profile: &Profile, work: &SteadyLoad, seed: u64) -> f64 {
    let mut load = RunningLoad::new(profile, work, seed);
    let (warm_up, measured) = lengths(profile, work);
    load.fill(cached_bytes(profile));
    load.rate(warm_up, measured)
}

/// Every latency of a long run, in nanoseconds: the truth of percentiles.
pub fn latencies(profile: &Profile, work: &SteadyLoad, seed: u64) -> Histogram {
    let mut load = RunningLoad::new(profile, work, seed);
    let (warm_up, measured) = lengths(profile, work);
    load.fill(cached_bytes(profile));
    load.run(warm_up, |_| {});
    let mut histogram = Histogram::default();
    load.run(measured, |completion| histogram.record(completion.latency_ns()));
    histogram
}

/// The long-run figures that distinguish media: those of `sim list`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongRunFigures {
    /// Random writes of 4 KiB in 512 MiB, in IOPS.
    pub random_write_4k_iops: f64,
    /// Random writes of 16 KiB in 512 MiB, in IOPS.
    pub random_write_16k_iops: f64,
    /// Random reads of 4 KiB in 512 MiB, in IOPS.
    pub random_read_4k_iops: f64,
    /// Sequential writes of 1 MiB, in bytes per second.
    pub write_bps: f64,
    /// Sequential reads of 1 MiB, in bytes per second.
    pub read_bps: f64,
}

/// The main figures of a medium, from shorter runs that are computed within milliseconds: within
/// about 1 % of the long-run truth.
///
/// A medium that gets hot goes through its cycles for the rates, which heat it; its random I/O is
/// measured cool.
pub fn headline(profile: &Profile, seed: u64) -> LongRunFigures {
    let rate = |work: SteadyLoad| {
        let mut load = RunningLoad::new(profile, &work, seed);
        load.fill(cached_bytes(profile));
        let cooling_ns = if work.pattern == Pattern::Sequential { cooling_ns(profile) } else { 0 };
        let small = small_fast_bytes(profile) / work.block_bytes;
        load.rate(
            Length { ios: 2_000 + small, ns: 2 * cooling_ns },
            Length { ios: 20_000, ns: 6 * cooling_ns },
        )
    };
    const SPAN: u64 = 512 << 20;
    const ROW: u64 = 1 << 20;
    LongRunFigures {
        random_write_4k_iops: rate(SteadyLoad::random_write(4096, SPAN)),
        random_write_16k_iops: rate(SteadyLoad::random_write(16384, SPAN)),
        random_read_4k_iops: rate(SteadyLoad::random_read(4096, SPAN)),
        write_bps: rate(SteadyLoad::sequential_write(ROW, 1 << 30)) * ROW as f64,
        read_bps: rate(SteadyLoad::sequential_read(ROW, 1 << 30)) * ROW as f64,
    }
}

/// Time constant in nanoseconds with which a medium cools; 0 if it does not warm up.
fn cooling_ns(profile: &Profile) -> u64 {
    profile.spec().heat.as_ref().map_or(0.0, |heat| heat.cooling.0) as u64
}

/// Length of the warm-up and of the measurement.
fn lengths(profile: &Profile, work: &SteadyLoad) -> (Length, Length) {
    // A medium that warms up goes through several cycles of hot and cool.
    let cooling_ns = cooling_ns(profile);
    let warm_up =
        Length { ios: WARM_UP + small_fast_bytes(profile) / work.block_bytes, ns: 2 * cooling_ns };
    (warm_up, Length { ios: MEASURED, ns: 6 * cooling_ns })
}

/// IOPS of random writes in the long run at queue depth 1, in a span from the middle of the medium
/// on.
pub fn random_write_iops(profile: &Profile, block_bytes: u64, span_bytes: u64, seed: u64) -> f64 {
    iops(profile, &SteadyLoad::random_write(block_bytes, span_bytes), seed)
}

/// First byte of the second half of a medium, at a multiple of 8 MiB.
pub(crate) fn middle_bytes(capacity_bytes: u64) -> u64 {
    const GRAIN: u64 = 8 << 20;
    capacity_bytes / 2 / GRAIN * GRAIN
}

/// Bytes of small writes that take a faster path before a medium shows its true speed.
fn small_fast_bytes(profile: &Profile) -> u64 {
    profile
        .spec()
        .log_block
        .as_ref()
        .and_then(|ftl| ftl.bypass.as_ref()?.capacity)
        .map_or(0, |size| size.0)
}

/// Bytes of any writes that go to a cache before a medium shows its true speed.
fn cached_bytes(profile: &Profile) -> u64 {
    let spec = profile.spec();
    let stages: u64 =
        spec.page_mapped.iter().flat_map(|ftl| &ftl.stages).map(|stage| stage.size.0).sum();
    stages + spec.cache.as_ref().map_or(0, |cache| cache.size.0)
}

/// Length of a run: a number of I/Os, and a device time in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    ios: u64,
    ns: u64,
}

impl Length {
    /// A run of this many I/Os, for any time.
    pub(crate) fn ios(ios: u64) -> Length {
        Length { ios, ns: 0 }
    }
}

/// A running load.
pub(crate) struct RunningLoad {
    device: SimDevice,
    work: SteadyLoad,
    start: u64,
    blocks: u64,
    next: u64,
    started: bool,
    rng: SimRng,
    done: Vec<Completion>,
}

impl RunningLoad {
    /// A load on a fresh medium without data.
    pub(crate) fn new(profile: &Profile, work: &SteadyLoad, seed: u64) -> RunningLoad {
        let mut device =
            SimDevice::new(profile, SimOptions { seed, capacity: None, keep_data: false });
        device
            .prepare(work.queue_depth, work.block_bytes.max(FILL_BYTES) as usize)
            .expect("buffers in memory can be made");
        let capacity = device.facts().capacity_bytes;
        let start = work.offset_bytes.unwrap_or_else(|| middle_bytes(capacity));
        let blocks = (work.span_bytes.min(capacity - start) / work.block_bytes).max(1);
        RunningLoad {
            device,
            work: *work,
            start,
            blocks,
            next: 0,
            started: false,
            rng: SimRng::new(!seed),
            done: Vec::new(),
        }
    }

    /// Writes this many bytes sequentially, so that all caches are full.
    fn fill(&mut self, bytes: u64) {
        let blocks = (self.device.facts().capacity_bytes - self.start) / FILL_BYTES;
        for i in 0..bytes.div_ceil(FILL_BYTES) {
            let request =
                Request::write(0, self.start + i % blocks.max(1) * FILL_BYTES, FILL_BYTES);
            do_io(&mut self.device, request)
                .expect("the second half of a medium has room for a write");
        }
    }

    /// IOPS of a run, after a warm-up.
    pub(crate) fn rate(&mut self, warm_up: Length, measured: Length) -> f64 {
        self.run(warm_up, |_| {});
        let begin_ns = self.device.now();
        let done = self.run(measured, |_| {});
        done as f64 * 1e9 / (self.device.now() - begin_ns) as f64
    }

    /// Runs for this long with the queue full, and passes every completion to `see`; returns the
    /// number of I/Os that succeeded.
    fn run(&mut self, length: Length, mut see: impl FnMut(&Completion)) -> u64 {
        let begin_ns = self.device.now();
        let (mut seen, mut succeeded) = (0, 0);
        if !std::mem::replace(&mut self.started, true) {
            (0..self.work.queue_depth).for_each(|slot| self.submit(slot));
        }
        while seen < length.ios || self.device.now() - begin_ns < length.ns {
            let mut done = std::mem::take(&mut self.done);
            self.device.reap(1, &mut done).expect("a simulated device always knows its I/Os");
            for completion in done.drain(..) {
                see(&completion);
                seen += 1;
                succeeded += u64::from(completion.result.is_ok());
                self.submit(completion.slot);
            }
            self.done = done;
        }
        succeeded
    }

    #[inline]
    fn submit(&mut self, slot: u32) {
        let block = match self.work.pattern {
            Pattern::Sequential => {
                self.next = (self.next + 1) % self.blocks;
                self.next
            }
            _ => self.rng.below(self.blocks),
        };
        let op = match self.work.direction {
            Direction::Read => Op::Read,
            Direction::Write => Op::Write,
        };
        let offset = self.start + block * self.work.block_bytes;
        let request = Request {
            op,
            content: self.work.content,
            ..Request::read(slot, offset, self.work.block_bytes)
        };
        self.device.submit(request).expect("the span lies on the medium");
    }
}
