//! Long-run truth of a cell: its own I/O, on fresh media, so often that chance does not matter.
//!
//! It is independent of the suite's method: only the parameters of the cell and the orders of
//! addresses are shared.

use device::{Completion, Device, Extent, Op, Request};
use record::units::GIB;
use record::{Content, Direction, Params, Pattern, Region};
use sim::{Profile, SimDevice, SimOptions};
use stats::Random;
use suite::offsets::{cyclic, cyclic_from, once_each, uniform};

/// Most bytes of one start: a cache that the run itself does not fill must not be filled here
/// either.
const START_BYTES: u64 = 512 << 20;
/// Most I/Os of one start: iozone's full pass of 4 KiB records.
const START_OPS: u64 = 131_072;
/// Most device time of one start in nanoseconds, on a medium that gets hot.
const START_NS: u64 = 10_000_000_000;
/// Size of the writes that precondition and that fill caches, in bytes.
const FILL_BYTES: u64 = 1 << 20;
/// Random writes before any are counted: more than any medium has open allocation units.
const SETTLING_OPS: u64 = 2000;
/// Time after which every volatile cache is empty, in nanoseconds.
const REST_NS: u64 = 500_000_000_000;
/// Degrees above its limit at which a medium is slow for less than half of the time.
const HARDLY: f64 = 10.0;
/// Bytes of a page of a volatile cache.
pub const PAGE_BYTES: u64 = 4096;
/// Bytes of a sector, the granularity of random reads.
const SECTOR_BYTES: u64 = 512;

/// State in which the medium is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As a run finds it: preconditioned, and fast buffers for small writes used up; large caches
    /// and heat as they are then.
    Found,
    /// As it is for ever: every cache full, and as hot as it gets.
    Sustained,
}

/// Condition of the medium when a run measured it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Circumstances {
    /// State of caches and heat: as a run finds them, or as they end up.
    pub state: State,
    /// Number of the unit of the product, if units differ; else 0.
    pub unit: u64,
    /// Bytes written to it in its life, if it ages; else 0.
    pub aged_bytes: u64,
    /// Most bytes that one start writes: a cache that the run did not fill must not be filled here
    /// either.
    pub start_bytes: u64,
    /// Bytes of the span that the run used, if a bad place ended its filling early; else all.
    pub span_bytes: u64,
    /// True if it had rested, so that a volatile cache was empty.
    pub is_rested: bool,
}

impl Circumstances {
    /// Condition of a medium whose units do not differ.
    pub fn usual(state: State) -> Circumstances {
        Circumstances {
            state,
            unit: 0,
            aged_bytes: 0,
            start_bytes: START_BYTES,
            span_bytes: u64::MAX,
            is_rested: false,
        }
    }
}

/// Figures of a cell that is measured for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Truth {
    /// Rate, in IOPS.
    pub rate: f64,
    /// p50 and p99 in nanoseconds.
    pub percentiles: [u64; 2],
    /// True if 98 of 100 I/Os take the same time, to half a percent: a run's figures then have no
    /// part of chance.
    pub is_constant: bool,
}

/// I/Os count as alike if the times of the middle 98 % differ by no more than this share.
const ALIKE: f64 = 0.005;

/// Truth of a cell with these parameters, from at least `ops` I/Os.
pub fn truth(profile: &Profile, params: &Params, found: Circumstances, ops: u64) -> Truth {
    let mut latencies: Vec<u64> = Vec::new();
    let mut busy_ns = 0;
    for start in 0.. {
        let mut medium = Medium::fresh(profile, params, found, 0x7a11_0000 + start);
        medium.prepare();
        busy_ns += medium.measure(&mut |ns| latencies.push(ns));
        if latencies.len() as u64 >= ops {
            break;
        }
    }
    let rate = latencies.len() as f64 * 1e9 / busy_ns as f64;
    latencies.sort_unstable();
    let at = |share: f64| {
        latencies[((share * latencies.len() as f64).ceil() as usize).clamp(1, latencies.len()) - 1]
    };
    let is_constant = at(0.99) as f64 <= at(0.01) as f64 * (1.0 + ALIKE);
    Truth { rate, percentiles: [at(0.50), at(0.99)], is_constant }
}

/// Rate that lasts, in IOPS; precise enough to tell it from one that does not.
pub fn lasting_rate(profile: &Profile, params: &Params) -> f64 {
    let mut medium =
        Medium::fresh(profile, params, Circumstances::usual(State::Sustained), 0x7a11_ffff);
    medium.prepare();
    let mut done = 0;
    let busy_ns = medium.measure(&mut |_| done += 1);
    f64::from(done) * 1e9 / busy_ns as f64
}

/// True if such I/O at this rate slows down over time: it fills a cache or a fast buffer, or makes
/// the medium hot.
pub fn may_slow_down(profile: &Profile, params: &Params, rate: f64) -> bool {
    let is_write = params.direction == Some(Direction::Write);
    is_write && (cache_bytes(profile).1 > 0 || small_fast_bytes(profile) > 0)
        || gets_hot(profile, params, rate)
}

/// True if the temperature at which it would lose as much heat as it gains is well above the limit:
/// if it hardly gets there, it hardly slows down.
fn gets_hot(profile: &Profile, params: &Params, rate: f64) -> bool {
    let spec = profile.spec();
    spec.heat.as_ref().is_some_and(|heat| {
        let working = params.threads.min(spec.queue.channels).max(1);
        let per_second = rate * params.block_bytes.unwrap_or(0) as f64 / GIB as f64 * heat.per_gib
            + f64::from(working) * heat.per_minute / 60.0;
        heat.ambient + per_second * cooling_ns(profile) as f64 / 1e9 > heat.limit + HARDLY
    })
}

/// True if units of the product differ, and each ages as it is written.
pub fn is_worn(profile: &Profile) -> bool {
    profile.spec().wear.is_some()
}

/// True of sequential writes.
pub fn is_row(params: &Params) -> bool {
    params.direction == Some(Direction::Write) && params.pattern == Some(Pattern::Sequential)
}

/// Bytes of writes that the first large cache takes, and that all of them take; 0 without caches.
pub fn cache_bytes(profile: &Profile) -> (u64, u64) {
    let stages = profile.spec().page_mapped.iter().flat_map(|ftl| &ftl.stages);
    let sizes: Vec<u64> = stages.map(|stage| stage.size.0).collect();
    (sizes.first().copied().unwrap_or(0), sizes.iter().sum())
}

/// Bytes of small writes that take a faster path before a medium shows its true speed.
fn small_fast_bytes(profile: &Profile) -> u64 {
    let spec = profile.spec();
    let bypass = spec.log_block.as_ref().and_then(|ftl| ftl.bypass.as_ref()?.capacity);
    bypass.map_or(0, |size| size.0) + volatile_bytes(profile)
}

/// Bytes in a volatile cache while it is written to.
pub fn volatile_bytes(profile: &Profile) -> u64 {
    profile.spec().cache.as_ref().map_or(0, |cache| cache.size.0)
}

fn cooling_ns(profile: &Profile) -> u64 {
    profile.spec().heat.as_ref().map_or(0.0, |heat| heat.cooling.0) as u64
}

/// Whole allocation units in a span that holds some. Repeated sequential passes would write parts
/// of a unit at its ends over and over, each of which is merged; a run passes them at most once.
fn whole_aus(profile: &Profile, span: Extent) -> Extent {
    let au = profile.spec().log_block.as_ref().map_or(1, |ftl| ftl.au.0);
    let (first, end) = (span.offset_bytes.next_multiple_of(au), span.end() / au * au);
    if first < end { Extent::new(first, end - first) } else { span }
}

/// A load on a fresh medium.
struct Medium<'a> {
    profile: &'a Profile,
    params: &'a Params,
    found: Circumstances,
    device: SimDevice,
    span: Extent,
    /// Offset of the next sequential I/O: one that began again at the front would find what was
    /// just written there in a cache and in open allocation units.
    row_at: u64,
    random: Random,
}

/// Limit of the I/O: a number of I/Os or a time.
#[derive(Clone, Copy)]
struct Length {
    ops: u64,
    ns: u64,
    /// Number of I/Os in flight.
    in_flight: u32,
}

impl Length {
    fn ops(ops: u64) -> Length {
        Length { ops, ns: u64::MAX, in_flight: 1 }
    }

    fn time(ns: u64) -> Length {
        Length { ops: u64::MAX, ns, in_flight: 1 }
    }
}

impl<'a> Medium<'a> {
    fn fresh(
        profile: &'a Profile,
        params: &'a Params,
        found: Circumstances,
        seed: u64,
    ) -> Medium<'a> {
        // Starts of different units use different random numbers.
        let seed = seed ^ (found.unit << 40);
        let mut device = SimDevice::of_unit(
            profile,
            found.unit,
            SimOptions { seed, capacity: None, keep_data: false },
        );
        let buffer_bytes = params.block_bytes.unwrap_or(0).max(FILL_BYTES) as usize;
        device
            .prepare(params.threads * params.queue_depth, buffer_bytes)
            .expect("buffers in memory can be made");
        let span = Extent::new(
            params.span_offset_bytes.unwrap_or(0),
            params.span_bytes.unwrap_or(0).min(found.span_bytes),
        );
        let span = if is_row(params) { whole_aus(profile, span) } else { span };
        Medium {
            profile,
            params,
            found,
            device,
            span,
            row_at: span.offset_bytes,
            random: Random::for_purpose(seed, "long run"),
        }
    }

    fn writes(&self) -> bool {
        self.params.direction == Some(Direction::Write)
    }

    /// Ages the medium, preconditions the span, and uses up what the state demands.
    fn prepare(&mut self) {
        let is_for_ever = self.found.state == State::Sustained;
        let primes = self.writes() || self.params.region == Some(Region::Middle);
        let preconditioned_bytes =
            if primes { self.span.bytes.clamp(FILL_BYTES, START_BYTES) } else { 0 };
        let bytes = if is_for_ever && self.writes() {
            cache_bytes(self.profile).1.max(preconditioned_bytes)
        } else {
            preconditioned_bytes
        };
        // Earlier writes may have been anywhere.
        let elsewhere = Extent::new(0, START_BYTES);
        self.fill(elsewhere, self.found.aged_bytes.saturating_sub(bytes));
        self.fill(Extent::new(self.span.offset_bytes, preconditioned_bytes), bytes);
        let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
        if self.writes() && !is_row(self.params) {
            let ops = SETTLING_OPS + small_fast_bytes(self.profile) / block_bytes;
            let random = Random::for_purpose(self.random.bits(), "settling");
            self.write(ops, &mut uniform(self.span, block_bytes, block_bytes, random));
        } else if self.writes() {
            let used_up_bytes = if is_for_ever {
                small_fast_bytes(self.profile)
            } else {
                volatile_bytes(self.profile)
            };
            self.work(Length::ops(used_up_bytes.div_ceil(block_bytes)), &mut |_| {});
        }
        // Reads would wait for data that the preconditioning left in a cache.
        if self.found.is_rested || !self.writes() && volatile_bytes(self.profile) > 0 {
            self.device.idle(REST_NS);
        }
        if is_for_ever && cooling_ns(self.profile) > 0 {
            self.work(Length::time(2 * cooling_ns(self.profile)), &mut |_| {});
        }
    }

    /// Writes `bytes` bytes sequentially, over and over.
    fn fill(&mut self, span: Extent, bytes: u64) {
        self.write(bytes.div_ceil(FILL_BYTES), &mut cyclic(span, FILL_BYTES));
    }

    /// Writes to so many places without measuring.
    fn write(&mut self, ops: u64, next: &mut dyn FnMut(u32) -> Option<Extent>) {
        self.run(Op::Write, Content::Incompressible, Length::ops(ops), next, &mut |_| {});
    }

    /// Measures one start; returns its device time in nanoseconds.
    fn measure(&mut self, see: &mut dyn FnMut(u64)) -> u64 {
        let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
        let is_hot = cooling_ns(self.profile) > 0;
        let is_found = self.found.state == State::Found;
        let ops = if self.writes() && is_found {
            START_OPS.min(self.found.start_bytes / block_bytes).max(1)
        } else {
            START_OPS
        };
        let length = match self.found.state {
            State::Found if is_hot => Length { ns: START_NS, ..Length::ops(ops) },
            // Whole cycles of heating and cooling.
            State::Sustained if is_hot => Length::time(3 * cooling_ns(self.profile)),
            _ => Length::ops(ops),
        };
        let begin_ns = self.device.now();
        self.work(length, see);
        self.device.now() - begin_ns
    }

    /// Does the cell's own I/O, at the cell's queue depth.
    fn work(&mut self, length: Length, see: &mut dyn FnMut(u64)) {
        let length = Length { in_flight: self.params.threads * self.params.queue_depth, ..length };
        let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
        let (op, align_bytes) =
            if self.writes() { (Op::Write, block_bytes) } else { (Op::Read, SECTOR_BYTES) };
        let content = self.params.content.unwrap_or(Content::Incompressible);
        let random = Random::for_purpose(self.random.bits(), "places");
        match self.params.pattern {
            Some(Pattern::Sequential) => {
                let (mut places, mut row_at) =
                    (cyclic_from(self.span, block_bytes, self.row_at), self.row_at);
                let mut next = |slot| places(slot).inspect(|place| row_at = place.end());
                self.run(op, content, length, &mut next, see);
                self.row_at = row_at;
            }
            Some(Pattern::Permutation) => {
                self.run(op, content, length, &mut once_each(self.span, block_bytes, random), see)
            }
            _ => {
                let mut next = uniform(self.span, block_bytes, align_bytes, random);
                self.run(op, content, length, &mut next, see)
            }
        }
    }

    /// Keeps a number of I/Os in flight, and passes on the latency of each that succeeds.
    fn run(
        &mut self,
        op: Op,
        content: Content,
        length: Length,
        next: &mut dyn FnMut(u32) -> Option<Extent>,
        see: &mut dyn FnMut(u64),
    ) {
        let begin_ns = self.device.now();
        let (mut asked, mut done) = (0, Vec::<Completion>::new());
        let mut free: Vec<u32> = (0..length.in_flight).collect();
        loop {
            while let Some(slot) = free.pop() {
                let is_over = asked >= length.ops || self.device.now() - begin_ns >= length.ns;
                let Some(place) = (!is_over).then(|| next(slot)).flatten() else {
                    free.push(slot);
                    break;
                };
                let request =
                    Request { op, content, ..Request::read(slot, place.offset_bytes, place.bytes) };
                self.device.submit(request).expect("the span lies on the medium");
                asked += 1;
            }
            if free.len() == length.in_flight as usize {
                return;
            }
            self.device.reap(1, &mut done).expect("a simulated device always knows its I/Os");
            for completion in done.drain(..) {
                free.push(completion.slot);
                if completion.result.is_ok() {
                    see(completion.latency_ns());
                }
            }
        }
    }
}
