//! The long-run truth of a cell: its own I/O, on fresh media, so often that chance is out of it.
//!
//! Independent of the suite's method: only the parameters of the cell and the orders of addresses are shared.

use device::{Completion, Device, Extent, Op, Request};
use record::{Content, Direction, Params, Pattern, Region};
use sim::{Options, Profile, SimDevice};
use suite::offsets::{cyclic, once_each, uniform};
use suite::random::Random;

/// Bytes that one start writes at most, so that a cache that the run itself does not use up is not used up here either.
const START_BYTES: u64 = 512 << 20;
/// I/Os of one start at most: iozone's full pass of 4 KiB records.
const START_OPS: u64 = 131_072;
/// Device time of one start at most, on a medium that gets hot.
const START_NS: u64 = 10_000_000_000;
/// Size of the writes that prime and that fill caches.
const FILL_BYTES: u64 = 1 << 20;
/// Random writes before any are counted: more than any medium keeps allocation units open.
const SETTLING_OPS: u64 = 2000;
/// Sectors, the grain of random reads.
const SECTOR_BYTES: u64 = 512;

/// In which state the medium is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// As a run finds it: primed, what small writes use up used up; large caches and heat as they are then.
    Found,
    /// As it is for ever: every cache full, and as hot as it gets.
    Sustained,
}

/// What a cell would give if it were measured for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// I/Os a second.
    pub rate: f64,
    /// p50 and p99 in nanoseconds.
    pub percentiles: [u64; 2],
}

/// The truth of a cell with these parameters, from at least so many I/Os.
pub fn truth(profile: &Profile, params: &Params, state: State, ops: u64) -> Truth {
    let mut latencies: Vec<u64> = Vec::new();
    let mut busy_ns = 0;
    for start in 0.. {
        let mut medium = Medium::fresh(profile, params, 0x7a11_0000 + start);
        medium.prepare(state);
        busy_ns += medium.measure(state, &mut latencies);
        if latencies.len() as u64 >= ops {
            break;
        }
    }
    let rate = latencies.len() as f64 * 1e9 / busy_ns as f64;
    latencies.sort_unstable();
    let at = |share: f64| latencies[((share * latencies.len() as f64).ceil() as usize).clamp(1, latencies.len()) - 1];
    Truth { rate, percentiles: [at(0.50), at(0.99)] }
}

/// Bytes of writes that the first large cache takes, and that all of them take; 0 where there are none.
pub fn cache_bytes(profile: &Profile) -> (u64, u64) {
    let sizes: Vec<u64> = profile.spec().page_mapped.iter().flat_map(|ftl| &ftl.stages).map(|stage| stage.size.0).collect();
    (sizes.first().copied().unwrap_or(0), sizes.iter().sum())
}

/// Bytes of small writes that take a faster way before a medium shows its true speed.
fn small_fast_bytes(profile: &Profile) -> u64 {
    let spec = profile.spec();
    let bypass = spec.log_block.as_ref().and_then(|ftl| ftl.bypass.as_ref()?.capacity).map_or(0, |size| size.0);
    bypass + spec.pattern_cheat.as_ref().map_or(0, |cheat| cheat.capacity.0) + spec.cache.as_ref().map_or(0, |cache| cache.size.0)
}

fn cooling_ns(profile: &Profile) -> u64 {
    profile.spec().heat.as_ref().map_or(0.0, |heat| heat.cooling.0) as u64
}

/// A load on a fresh medium.
struct Medium<'a> {
    profile: &'a Profile,
    params: &'a Params,
    device: SimDevice,
    span: Extent,
    random: Random,
}

/// Which I/O, and how much of it: until so many are done, or so much time has gone by.
#[derive(Clone, Copy)]
struct Length {
    ops: u64,
    ns: u64,
}

impl<'a> Medium<'a> {
    fn fresh(profile: &'a Profile, params: &'a Params, seed: u64) -> Medium<'a> {
        let mut device = SimDevice::new(profile, Options { seed, capacity: None, keep_data: false });
        let buffer_bytes = params.block_bytes.unwrap_or(0).max(FILL_BYTES) as usize;
        device.prepare(params.threads * params.queue_depth, buffer_bytes).expect("buffers in memory can be made");
        let span = Extent::new(params.span_offset_bytes.unwrap_or(0), params.span_bytes.unwrap_or(0));
        Medium { profile, params, device, span, random: Random::new(seed, "long run") }
    }

    fn writes(&self) -> bool {
        self.params.direction == Some(Direction::Write)
    }

    /// Primes the span, and uses up what the state asks for.
    fn prepare(&mut self, state: State) {
        if self.writes() || self.params.region == Some(Region::Middle) {
            let primed_bytes = self.span.bytes.clamp(FILL_BYTES, START_BYTES);
            let bytes = if state == State::Sustained { cache_bytes(self.profile).1.max(primed_bytes) } else { primed_bytes };
            let mut places = cyclic(Extent::new(self.span.offset_bytes, primed_bytes), FILL_BYTES);
            self.run(
                Op::Write,
                Content::Incompressible,
                Length { ops: bytes.div_ceil(FILL_BYTES), ns: u64::MAX },
                &mut places,
                &mut |_| {},
            );
        }
        if self.writes() && self.params.pattern != Some(Pattern::Sequential) {
            let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
            let ops = SETTLING_OPS + small_fast_bytes(self.profile) / block_bytes;
            let mut places = uniform(self.span, block_bytes, block_bytes, Random::new(self.random.bits(), "settling"));
            self.run(Op::Write, Content::Incompressible, Length { ops, ns: u64::MAX }, &mut places, &mut |_| {});
        }
        if state == State::Sustained && cooling_ns(self.profile) > 0 {
            self.work(Length { ops: u64::MAX, ns: 2 * cooling_ns(self.profile) }, &mut |_| {});
        }
    }

    /// One start; returns the time it took.
    fn measure(&mut self, state: State, latencies: &mut Vec<u64>) -> u64 {
        let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
        let is_hot = cooling_ns(self.profile) > 0;
        let ops = if self.writes() && state == State::Found { START_OPS.min(START_BYTES / block_bytes) } else { START_OPS };
        let length = match state {
            State::Found if is_hot => Length { ops, ns: START_NS },
            // Whole cycles of hot and cool.
            State::Sustained if is_hot => Length { ops: u64::MAX, ns: 10 * cooling_ns(self.profile) },
            _ => Length { ops, ns: u64::MAX },
        };
        let begin_ns = self.device.now();
        self.work(length, &mut |ns| latencies.push(ns));
        self.device.now() - begin_ns
    }

    /// The cell's own I/O.
    fn work(&mut self, length: Length, see: &mut dyn FnMut(u64)) {
        let block_bytes = self.params.block_bytes.unwrap_or(FILL_BYTES);
        let (op, align_bytes) = if self.writes() { (Op::Write, block_bytes) } else { (Op::Read, SECTOR_BYTES) };
        let content = self.params.content.unwrap_or(Content::Incompressible);
        let random = Random::new(self.random.bits(), "places");
        match self.params.pattern {
            Some(Pattern::Sequential) => self.run(op, content, length, &mut cyclic(self.span, block_bytes), see),
            Some(Pattern::Permutation) => self.run(op, content, length, &mut once_each(self.span, block_bytes, random), see),
            _ => self.run(op, content, length, &mut uniform(self.span, block_bytes, align_bytes, random), see),
        }
    }

    /// Keeps as many I/Os in flight as the cell does, and shows the latency of each that succeeds.
    fn run(&mut self, op: Op, content: Content, length: Length, next: &mut dyn FnMut(u32) -> Option<Extent>, see: &mut dyn FnMut(u64)) {
        let lanes = if op == Op::Read { self.params.threads * self.params.queue_depth } else { 1 };
        let begin_ns = self.device.now();
        let (mut asked, mut done) = (0, Vec::<Completion>::new());
        let mut free: Vec<u32> = (0..lanes).collect();
        loop {
            while let Some(slot) = free.pop() {
                let is_over = asked >= length.ops || self.device.now() - begin_ns >= length.ns;
                let Some(place) = (!is_over).then(|| next(slot)).flatten() else {
                    free.push(slot);
                    break;
                };
                let request = Request { op, content, ..Request::read(slot, place.offset_bytes, place.bytes) };
                self.device.submit(request).expect("the span lies on the medium");
                asked += 1;
            }
            if free.len() == lanes as usize {
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
