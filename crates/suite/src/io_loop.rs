//! The closed loop of every test: keeps a number of I/Os in flight until a limit or the wanted
//! precision is reached.

use device::content::DataGenerator;
use device::{Completion, Device, Extent, IoError, Op, Request, SECTOR_BYTES, Slot, do_io};
use record::{Content, Direction, Path, Stop, Sync};
use stats::{StopRule, StopVerdict};

use crate::IoTally;
use crate::progress::ProgressReporter;

/// Precision is checked each time the completed I/Os have grown by one part in this many.
const JUDGE_STEP: u64 = 20;

/// One homogeneous stretch of I/O.
#[derive(Clone, Copy, Debug)]
pub struct IoLoad {
    /// Direction in which data moves.
    pub direction: Direction,
    /// Largest I/O in bytes.
    pub block_bytes: u64,
    /// I/Os in flight: independent closed loops of depth 1.
    pub in_flight: u32,
    /// Condition under which a write counts as complete.
    pub sync: Sync,
    /// Past the page cache or through it.
    pub path: Path,
    /// Kind of data of writes; no effect on reads.
    pub content: Content,
    /// Number that makes the data of successive passes over the same place differ.
    pub pass: u32,
    /// True if each write has a pass of its own, counted from `pass` on: what is written twice
    /// within a stretch is not the same data either.
    pub fresh: bool,
}

impl IoLoad {
    /// Direct reads at queue depth 1.
    pub fn read(block_bytes: u64) -> IoLoad {
        IoLoad {
            direction: Direction::Read,
            block_bytes,
            in_flight: 1,
            sync: Sync::None,
            path: Path::Direct,
            content: Content::Incompressible,
            pass: 0,
            fresh: false,
        }
    }

    /// Direct writes of incompressible data at queue depth 1.
    pub fn write(block_bytes: u64) -> IoLoad {
        IoLoad { direction: Direction::Write, ..IoLoad::read(block_bytes) }
    }
}

/// Limits of a stretch. The first that is reached ends it.
#[derive(Clone, Copy, Debug)]
pub struct LoopLimits {
    /// Time in nanoseconds, by the device's clock.
    pub max_ns: u64,
    /// Most I/Os that are submitted.
    pub max_ops: u64,
    /// Most bytes; the last I/O may exceed them.
    pub max_bytes: u64,
    /// Wanted precision of the rate; `None` if precision does not end it.
    pub rule: Option<StopRule>,
}

impl LoopLimits {
    /// Ends it after `max_ns` by the device's clock; nothing else is limited.
    pub fn time(max_ns: u64) -> LoopLimits {
        LoopLimits { max_ns, max_ops: u64::MAX, max_bytes: u64::MAX, rule: None }
    }

    /// Ends it when `rule` has converged, and after `max_ns` in place of the rule's own limit.
    pub fn certain(rule: StopRule, max_ns: u64) -> LoopLimits {
        LoopLimits { rule: Some(StopRule { max_ns, ..rule }), ..LoopLimits::time(max_ns) }
    }

    /// The same with at most so many I/Os.
    pub fn ops(self, max_ops: u64) -> LoopLimits {
        LoopLimits { max_ops, ..self }
    }

    /// The same with at most so many bytes; the last I/O may exceed them.
    pub fn bytes(self, max_bytes: u64) -> LoopLimits {
        LoopLimits { max_bytes, ..self }
    }

    /// Used share of the nearest limit, 0 to 1.
    fn share(&self, elapsed_ns: u64, tally: &IoTally) -> f64 {
        let part = |done: u64, of: u64| done as f64 / of.max(1) as f64;
        part(elapsed_ns, self.max_ns)
            .max(part(tally.ops, self.max_ops))
            .max(part(tally.bytes, self.max_bytes))
            .min(1.0)
    }
}

/// Place of the next I/O of a slot; `None` when there are no more places.
pub type Places<'a> = &'a mut dyn FnMut(u32) -> Option<Extent>;

/// Called for every I/O that succeeded, with its bytes and its latency in nanoseconds. `true` ends
/// the stretch.
pub type IoObserver<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// Called for every read that succeeded, with the place and the data.
pub type ReadObserver<'a> = &'a mut dyn FnMut(Extent, &[u8]);

/// Observers of a stretch of I/O.
#[derive(Default)]
pub(crate) struct Observers<'a> {
    pub watch: Option<IoObserver<'a>>,
    pub look: Option<ReadObserver<'a>>,
}

/// Keeps `load.in_flight` I/Os in flight on `device`, at the places that `next` gives for each
/// slot, until a limit, the wanted precision, an error, an interruption, the end of the places, or
/// until `watch` returns true ([`Stop::Converged`]).
pub(crate) fn drive<'a>(
    device: &'a mut dyn Device,
    load: &'a IoLoad,
    limits: &'a LoopLimits,
    generator: &'a DataGenerator,
    reporter: &mut ProgressReporter<'_>,
    next: Places<'a>,
    onlookers: Observers<'a>,
) -> IoTally {
    let slots = load.in_flight.min(device.facts().max_in_flight).max(1);
    let mut tally = IoTally::under(limits.rule, slots);
    if let Err(error) = device.prepare(slots, load.block_bytes as usize) {
        tally.fail(error);
        return tally;
    }
    let before = [device.cpu_ns(), device.run_delay_ns()];
    let started_ns = device.now();
    reporter.begin(started_ns);
    let first_pass = match load.fresh {
        true => load.pass.wrapping_add((reporter.written_bytes / SECTOR_BYTES as u64) as u32),
        false => load.pass,
    };
    let fills = load.direction == Direction::Write && device.facts().keeps_data;
    let places = vec![Extent::new(0, 0); slots as usize];
    let mut circuit = IoLoop {
        device,
        load,
        limits,
        generator,
        next,
        onlookers,
        tally,
        places,
        first_pass,
        fills,
        filled: vec![false; slots as usize],
        in_flight: 0,
        asked_ops: 0,
        asked_bytes: 0,
        idle: true,
        stop: None,
        judged_at: 0,
    };
    circuit.run(slots, started_ns, reporter);
    let IoLoop { device, mut tally, stop, places, .. } = circuit;
    if tally.has_slow() {
        let stalls = device.host_stalls(started_ns);
        tally.leave_out(&stalls);
    }
    let since = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
    tally.cpu_ns = since(device.cpu_ns(), before[0]);
    tally.run_delay_ns = since(device.run_delay_ns(), before[1]);
    if load.direction == Direction::Write {
        reporter.wrote(tally.bytes);
        reporter.wrote_at(&places);
    }
    if tally.error.is_none() {
        tally.stop = stop.unwrap_or(Stop::Ops);
    }
    tally
}

/// Makes everything written durable; returns the time in nanoseconds. Nothing may be in flight.
pub fn flush(device: &mut dyn Device) -> Result<u64, IoError> {
    let block_bytes = device.facts().logical_block_bytes;
    device.prepare(1, block_bytes as usize)?;
    do_io(device, Request::flush(0)).map(|flushed| flushed.latency_ns())
}

/// The I/Os in flight, and the results of earlier ones.
struct IoLoop<'a> {
    device: &'a mut dyn Device,
    load: &'a IoLoad,
    limits: &'a LoopLimits,
    generator: &'a DataGenerator,
    next: Places<'a>,
    onlookers: Observers<'a>,
    tally: IoTally,
    /// Place of each slot's last I/O.
    places: Vec<Extent>,
    /// Pass of the first write.
    first_pass: u32,
    fills: bool,
    /// True for slots whose buffer holds its data already, because that is the same at every place.
    filled: Vec<bool>,
    in_flight: u32,
    asked_ops: u64,
    asked_bytes: u64,
    /// True if nothing was in flight when the oldest I/O now in flight was submitted.
    idle: bool,
    stop: Option<Stop>,
    /// Number of completed I/Os at the last check of precision.
    judged_at: u64,
}

impl IoLoop<'_> {
    fn run(&mut self, slots: u32, started_ns: u64, reporter: &mut ProgressReporter<'_>) {
        (0..slots).for_each(|slot| self.submit(slot));
        let mut done: Vec<Completion> = Vec::with_capacity(slots as usize);
        while self.in_flight > 0 {
            done.clear();
            if let Err(error) = self.device.reap(1, &mut done) {
                return self.tally.fail(error);
            }
            self.finish_all(&done);
            let now_ns = done.last().map_or(started_ns, |completion| completion.completed_ns);
            self.check_elapsed(now_ns, now_ns.saturating_sub(started_ns), reporter);
            for completion in &done {
                self.submit(completion.slot);
            }
        }
    }

    /// Submits the next I/O of a slot, unless it is time to stop.
    #[inline]
    fn submit(&mut self, slot: u32) {
        if self.stop.is_some() || self.tally.error.is_some() {
            return;
        }
        if self.asked_ops >= self.limits.max_ops || self.asked_bytes >= self.limits.max_bytes {
            self.stop =
                Some(if self.asked_ops >= self.limits.max_ops { Stop::Ops } else { Stop::Bytes });
            return;
        }
        let Some(place) = (self.next)(slot) else {
            self.stop = Some(Stop::Bytes);
            return;
        };
        let pass = match self.load.fresh {
            true => self.first_pass.wrapping_add((self.asked_bytes / SECTOR_BYTES as u64) as u32),
            false => self.first_pass,
        };
        if self.fills {
            self.fill(slot, pass, place);
        }
        match self.device.submit(request(self.load, slot, pass, place)) {
            Ok(()) => {
                self.places[slot as usize] = place;
                self.in_flight += 1;
                self.asked_ops += 1;
                self.asked_bytes += place.bytes;
            }
            Err(error) => self.tally.fail(error),
        }
    }

    /// Makes the data of the next write. Data that is the same everywhere is made once: making it
    /// again would move the buffer out of the processor's cache, which costs a tenth of the rate if
    /// the medium is memory.
    #[inline]
    fn fill(&mut self, slot: u32, pass: u32, place: Extent) {
        let mut buffer = self.device.buffer(slot);
        if !self.load.content.is_same_everywhere() {
            buffer = &mut buffer[..place.bytes as usize];
        } else if std::mem::replace(&mut self.filled[slot as usize], true) {
            return;
        }
        self.generator.fill(buffer, self.load.content, pass, place.offset_bytes);
    }

    /// Counts completions. I/Os that were submitted and completed in the same two calls took the
    /// same time, and are counted in one step.
    #[inline]
    fn finish_all(&mut self, done: &[Completion]) {
        let mut rest = done;
        while let Some(first) = rest.first() {
            let bytes = self.places[first.slot as usize].bytes;
            let is_like_first = |other: &&Completion| {
                (other.submitted_ns, other.completed_ns) == (first.submitted_ns, first.completed_ns)
                    && other.result.is_ok()
                    && self.places[other.slot as usize].bytes == bytes
            };
            let together = rest.iter().take_while(is_like_first).count().max(1);
            let (group, later) = rest.split_at(together);
            self.in_flight -= together as u32;
            match &first.result {
                Ok(()) => {
                    self.tally.count_together(first, together as u64, bytes, self.idle);
                    group.iter().for_each(|completion| self.show(completion));
                }
                Err(error) => self.tally.fail(error.clone()),
            }
            self.idle = self.in_flight == 0;
            rest = later;
        }
    }

    /// Passes an I/O that succeeded to the observers.
    #[inline]
    fn show(&mut self, completion: &Completion) {
        let place = self.places[completion.slot as usize];
        if let Some(look) = &mut self.onlookers.look {
            look(place, &self.device.buffer(completion.slot)[..place.bytes as usize]);
        }
        let watch = self.onlookers.watch.as_mut();
        if watch.is_some_and(|watch| watch(place.bytes, completion.latency_ns())) {
            self.stop.get_or_insert(Stop::Converged);
        }
    }

    /// Reports the progress and checks the limits, from time to time.
    #[inline]
    fn check_elapsed(&mut self, now_ns: u64, elapsed_ns: u64, reporter: &mut ProgressReporter<'_>) {
        if self.stop.is_some() {
            return;
        }
        if elapsed_ns >= self.limits.max_ns {
            self.stop = Some(Stop::Time);
        } else if self.tally.ops * JUDGE_STEP >= self.judged_at * (JUDGE_STEP + 1) {
            self.judged_at = self.tally.ops;
            self.stop = judge(self.limits, elapsed_ns, &self.tally);
        }
        if reporter.is_due(now_ns) {
            reporter.report(now_ns, self.limits.share(elapsed_ns, &self.tally), &self.tally);
        }
        if reporter.must_stop() {
            self.stop = Some(Stop::Interrupted);
        }
    }
}

fn request(load: &IoLoad, slot: Slot, pass: u32, place: Extent) -> Request {
    let op = match load.direction {
        Direction::Read => Op::Read,
        Direction::Write => Op::Write,
    };
    Request {
        op,
        offset_bytes: place.offset_bytes,
        length_bytes: place.bytes,
        slot,
        sync: load.sync,
        path: load.path,
        content: load.content,
        pass: (load.direction == Direction::Write).then_some(pass),
    }
}

fn judge(limits: &LoopLimits, elapsed_ns: u64, tally: &IoTally) -> Option<Stop> {
    let rule = limits.rule.as_ref()?;
    match rule.judge(elapsed_ns, &tally.rate, tally.drift()) {
        StopVerdict::Continue => None,
        StopVerdict::Converged => Some(Stop::Converged),
        StopVerdict::TimeUp => Some(Stop::Time),
    }
}
