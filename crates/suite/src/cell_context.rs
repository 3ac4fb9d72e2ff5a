//! What a running cell holds, and the pulse by which a run tells how far it is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use device::content::Filler;
use device::{Device, Extent, ExtentGuard, IoError};
use record::units::MILLISECOND_NS;
use record::{Cell, Stop};

use crate::doubts::may_be_cached;
use crate::events::{CellProgress, RunEvent, RunListener};
use crate::io_loop::{
    IoLoad, IoObserver, LoopLimits, Observers, Places, ReadObserver, drive, flush,
};
use crate::stage::KeptFile;
use crate::undo::{PutBack, Trust, put_back};
use crate::{FileStage, IoTally, TargetInfo, Undo};
use stats::Random;

/// The type through which suites write: nothing outside the planned spans gets through.
pub type Guarded = ExtentGuard<Box<dyn Device>>;

/// Time between two beats of progress, by the device's clock.
const BEAT_NS: u64 = 100 * MILLISECOND_NS;

/// What a running cell holds.
pub struct CellContext<'a> {
    /// The medium, guarded.
    pub medium: &'a mut Guarded,
    /// Files, for tests that work on them.
    pub stage: &'a mut dyn FileStage,
    /// Where it takes place.
    pub target: &'a TargetInfo,
    /// A staged file that an earlier cell of the same test left, for the next one; dropped before
    /// another test begins.
    pub kept: &'a mut Option<KeptFile>,
    /// Keeps what is lent.
    pub undo: &'a mut dyn Undo,
    /// Makes what is written.
    pub filler: &'a Filler,
    /// The cells before this one.
    pub done: &'a [Cell],
    /// The most time this cell may take.
    pub allotted_ns: u64,
    pub(crate) seed: u64,
    pub(crate) started_ns: u64,
    pub(crate) pulse: ProgressReporter<'a>,
}

impl CellContext<'_> {
    /// Runs a stretch of I/O on the medium.
    pub fn drive(
        &mut self,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
    ) -> IoTally {
        self.pulse.phase = phase;
        drive(self.medium, load, limits, self.filler, &mut self.pulse, next, Observers::default())
    }

    /// Runs a stretch of I/O on another device, a staged file.
    pub fn drive_on(
        &mut self,
        device: &mut dyn Device,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
    ) -> IoTally {
        self.pulse.phase = phase;
        let (here_ns, there_ns) = (self.medium.now(), device.now());
        let tally =
            drive(device, load, limits, self.filler, &mut self.pulse, next, Observers::default());
        let (here_ns, there_ns) = (self.medium.now() - here_ns, device.now() - there_ns);
        // Real devices share one clock. A simulated file has a clock of its own: its time passes
        // for the medium too.
        if here_ns < there_ns / 2 {
            self.medium.idle(there_ns - here_ns);
        }
        tally
    }

    /// Runs a stretch of I/O on the medium while `watch` sees every I/O and may end it.
    pub fn drive_watched(
        &mut self,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
        watch: IoObserver<'_>,
    ) -> IoTally {
        self.pulse.phase = phase;
        drive(
            self.medium,
            load,
            limits,
            self.filler,
            &mut self.pulse,
            next,
            Observers { watch: Some(watch), look: None },
        )
    }

    /// Reads on the medium while `look` sees what was read. Where the device keeps no data, what it
    /// sees means nothing.
    pub fn read_back(
        &mut self,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
        look: ReadObserver<'_>,
    ) -> IoTally {
        self.pulse.phase = phase;
        drive(
            self.medium,
            load,
            limits,
            self.filler,
            &mut self.pulse,
            next,
            Observers { watch: None, look: Some(look) },
        )
    }

    /// Makes everything written durable; what that took, in nanoseconds.
    pub fn flush(&mut self) -> Result<u64, IoError> {
        flush(self.medium)
    }

    /// The stretch that follows is this part of the cell, from and to in shares of 0 to 1; it makes
    /// the estimate of what is left honest.
    pub fn part(&mut self, from: f64, to: f64) {
        self.pulse.part = (from, to);
    }

    /// Random numbers of this cell for one purpose: the same whenever and in whatever order cells
    /// run.
    pub fn random(&self, purpose: &str) -> Random {
        Random::for_purpose(self.seed, purpose)
    }

    /// What is left of the cell's time, in nanoseconds.
    pub fn time_left_ns(&mut self) -> u64 {
        let used = self.medium.now().saturating_sub(self.started_ns);
        self.allotted_ns.saturating_sub(used)
    }

    /// From now on the medium is not as its owner left it, and will be put right (`true`), or is
    /// again as it was: whoever ends runs must wait for it.
    pub fn set_restore_pending(&mut self, owing: bool) {
        if let Err(reason) = self.pulse.listener.on_event(&RunEvent::Owing(owing)) {
            self.pulse.failed = Some(reason);
        }
    }

    /// Puts back what was lent; nothing stops this but the medium.
    pub fn put_back(&mut self) -> PutBack {
        let CellContext { medium, undo, filler, pulse, .. } = self;
        pulse.phase = "putting back what lay there";
        put_back(*medium, *undo, Trust::Held, filler, &mut |step| {
            pulse.wrote(step.written_bytes);
            if pulse.is_due(step.now_ns) {
                pulse.report(step.now_ns, step.share, &IoTally::under(None, 1));
            }
            true
        })
    }

    /// What the run has written so far, in bytes.
    pub fn written_bytes(&self) -> u64 {
        self.pulse.written_bytes
    }

    /// Whether the run is to end.
    pub fn must_stop(&self) -> bool {
        self.pulse.must_stop()
    }

    /// The range from the start of `span` on that this run has filled with incompressible data, if
    /// any.
    pub fn primed(&self, span: Extent) -> Option<Extent> {
        self.done
            .iter()
            .filter(|cell| {
                matches!(cell.test.as_str(), "prime" | "random-fill") && cell.stop != Stop::Error
            })
            .filter_map(|cell| {
                Some(Extent::new(cell.params.span_offset_bytes?, cell.params.span_bytes?))
            })
            .filter(|primed| {
                primed.offset_bytes <= span.offset_bytes && primed.end() > span.offset_bytes
            })
            .map(|primed| {
                Extent::new(span.offset_bytes, span.bytes.min(primed.end() - span.offset_bytes))
            })
            .max_by_key(|primed| primed.bytes)
    }
}

/// What is written faster at first is a cache where that ends within this much; what holds more is
/// flash (docs/field/cheats.md#cheats-and-caches).
const LARGEST_BEGINNING_BYTES: f64 = (96 << 20) as f64;
/// So many times faster than what follows.
pub(crate) const BEGINNING_RATIO: f64 = 1.25;

/// How much of a fill was written faster than the rest of it, in bytes, as `prime` shows it: what a
/// volatile cache took. 0 where nothing was.
pub(crate) fn fast_beginning_bytes(done: &[Cell]) -> u64 {
    let Some(prime) = done.iter().find(|cell| cell.test == "prime" && cell.stop != Stop::Error)
    else {
        return 0;
    };
    let Some(series) = prime.series.first().filter(|series| series.points.len() >= 8) else {
        return 0;
    };
    let origin = prime.params.span_offset_bytes.unwrap_or(0) as f64;
    let mut rates: Vec<f64> = series.points.iter().map(|[_, bps]| *bps).collect();
    let Some(typical) = stats::median(&mut rates) else { return 0 };
    let end = series
        .points
        .iter()
        .take_while(|[_, bps]| *bps > BEGINNING_RATIO * typical)
        .map(|[at, _]| at - origin)
        .last();
    end.filter(|bytes| *bytes <= LARGEST_BEGINNING_BYTES).map_or(0, |bytes| bytes as u64)
}

/// First writes this many times as fast as those that followed went to a cache.
pub(crate) const CACHED_RATIO: f64 = 1.5;
/// What a cache keeps of a smaller write.
pub(crate) const CACHED_PAGE_BYTES: u64 = 4096;

/// What a cell's first writes brought into a cache, in bytes: those that were more than `ratio`
/// times as fast as what followed. `None` where they were not.
pub(crate) fn taken_in_bytes(cell: &Cell, ratio: f64) -> Option<u64> {
    let (iops, burst) = (cell.metrics.iops?, cell.metrics.other.get("burst_iops")?);
    (burst.value > ratio * iops.value)
        .then(|| burst.n * cell.params.block_bytes.unwrap_or(0).max(CACHED_PAGE_BYTES))
}

/// How much a volatile cache of this medium holds at most, in bytes, as far as earlier cells have
/// shown one: what was taken in fast before the level that lasts. 0 where none has.
pub(crate) fn shown_cache_bytes(done: &[Cell]) -> u64 {
    let taken_in = |cell: &Cell| {
        let burst = cell.metrics.other.get("burst_iops")?;
        let is_as_fast = may_be_cached(1e9 / burst.value, cell.params.block_bytes.unwrap_or(0));
        taken_in_bytes(cell, CACHED_RATIO).filter(|_| is_as_fast)
    };
    done.iter().filter_map(taken_in).max().unwrap_or(0).max(fast_beginning_bytes(done))
}

/// The same in pages, as it keeps them.
pub(crate) fn shown_cache_pages(done: &[Cell]) -> u64 {
    shown_cache_bytes(done) / CACHED_PAGE_BYTES
}

/// The run's heartbeat: tells progress at intervals and knows when to stop.
pub struct ProgressReporter<'a> {
    pub(crate) listener: &'a mut dyn RunListener,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) phase: &'static str,
    /// Which part of the cell the present stretch is.
    pub(crate) part: (f64, f64),
    pub(crate) index: usize,
    pub(crate) cell_started_ns: u64,
    pub(crate) allotted_ns: u64,
    pub(crate) later_ns: u64,
    pub(crate) next_ns: u64,
    pub(crate) written_bytes: u64,
    /// Where the cell wrote last: of each stretch the last place of each lane.
    pub(crate) written_last: VecDeque<Extent>,
    pub(crate) failed: Option<String>,
}

/// Places that are remembered of what a cell wrote last.
const WRITTEN_LAST: usize = 8;

impl ProgressReporter<'_> {
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.next_ns = now_ns + BEAT_NS;
    }

    pub(crate) fn wrote(&mut self, bytes: u64) {
        self.written_bytes += bytes;
    }

    /// A stretch has ended; these are the last places it wrote.
    pub(crate) fn wrote_at(&mut self, places: &[Extent]) {
        for place in places.iter().filter(|place| place.bytes > 0).take(WRITTEN_LAST) {
            self.written_last.truncate(WRITTEN_LAST - 1);
            self.written_last.push_front(*place);
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns >= self.next_ns
    }

    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.is_some()
    }

    /// At the pace so far, but never more than the cell may take.
    fn left_of_cell_ns(&self, elapsed_ns: u64, share: f64) -> u64 {
        let most_ns = self.allotted_ns.saturating_sub(elapsed_ns);
        let at_this_pace = elapsed_ns as f64 * (1.0 - share) / share.max(1e-3);
        if share > 0.02 { most_ns.min(at_this_pace as u64) } else { most_ns }
    }

    pub(crate) fn report(&mut self, now_ns: u64, share: f64, tally: &IoTally) {
        self.next_ns = now_ns + BEAT_NS;
        let elapsed_ns = now_ns.saturating_sub(self.cell_started_ns);
        let seconds = tally.busy_ns.max(1) as f64 / 1e9;
        let (from, to) = self.part;
        let share = from + (to - from) * share;
        let event = RunEvent::Progress(CellProgress {
            index: self.index,
            phase: self.phase,
            share,
            ops: tally.ops,
            bytes: tally.bytes,
            elapsed_ns,
            iops: tally.ops as f64 / seconds,
            bps: tally.bytes as f64 / seconds,
            written_bytes: self.written_bytes,
            remaining_ns: self.left_of_cell_ns(elapsed_ns, share) + self.later_ns,
        });
        if let Err(reason) = self.listener.on_event(&event) {
            self.failed = Some(reason);
        }
    }
}
