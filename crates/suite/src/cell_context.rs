//! Context of a running cell.

use device::content::DataGenerator;
use device::{Device, Extent, ExtentGuard, Extents, IoError};
use record::{Cell, Stop, test};

use crate::backup::{Restored, Trust, restore};
use crate::events::RunEvent;
use crate::io_loop::{
    IoLoad, IoObserver, LoopLimits, Observers, Places, ReadObserver, drive, flush,
};
use crate::progress::ProgressReporter;
use crate::stage::KeptFile;
use crate::{Backup, FileStage, IoTally, TargetInfo};
use stats::Random;

/// The type through which suites write: no write outside the planned spans reaches the device.
pub type Guarded = ExtentGuard<Box<dyn Device>>;

/// Context of a running cell.
pub struct CellContext<'a> {
    /// The medium; no write outside the planned spans reaches it.
    pub medium: &'a mut Guarded,
    /// Files, for tests that work on them.
    pub stage: &'a mut dyn FileStage,
    /// The target of the run.
    pub target: &'a TargetInfo,
    /// A staged file that an earlier cell of the same test left, for the next one; dropped before
    /// another test begins.
    pub kept: &'a mut Option<KeptFile>,
    /// Backup of old data.
    pub backup: &'a mut dyn Backup,
    /// Generator of the data to write.
    pub generator: &'a DataGenerator,
    /// The cells before this one.
    pub done: &'a [Cell],
    /// Time limit of this cell in nanoseconds.
    pub allotted_ns: u64,
    pub(crate) seed: u64,
    pub(crate) started_ns: u64,
    pub(crate) reporter: ProgressReporter<'a>,
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
        self.observed(phase, load, limits, next, Observers::default())
    }

    /// The same with observers.
    fn observed<'o>(
        &'o mut self,
        phase: &'static str,
        load: &'o IoLoad,
        limits: &'o LoopLimits,
        next: Places<'o>,
        observers: Observers<'o>,
    ) -> IoTally {
        self.reporter.phase = phase;
        drive(self.medium, load, limits, self.generator, &mut self.reporter, next, observers)
    }

    /// Runs a stretch of I/O on another device, such as a staged file.
    pub fn drive_on(
        &mut self,
        device: &mut dyn Device,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
    ) -> IoTally {
        self.reporter.phase = phase;
        let (here_ns, there_ns) = (self.medium.now(), device.now());
        let everything = Extents::of([Extent::new(0, device.facts().capacity_bytes)]);
        let mut device = ExtentGuard::new(device, everything);
        device.begin_turn(self.medium.turn());
        let tally = drive(
            &mut device,
            load,
            limits,
            self.generator,
            &mut self.reporter,
            next,
            Observers::default(),
        );
        self.medium.add_waits(device.take_waits());
        let (here_ns, there_ns) = (self.medium.now() - here_ns, device.now() - there_ns);
        // Real devices share one clock. A simulated file has a clock of its own: its time passes
        // for the medium too.
        if here_ns < there_ns / 2 {
            self.medium.idle(there_ns - here_ns);
        }
        tally
    }

    /// Runs a stretch of I/O on the medium; `watch` is called for every I/O and may end the
    /// stretch.
    pub fn drive_watched(
        &mut self,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
        watch: IoObserver<'_>,
    ) -> IoTally {
        let observers = Observers { watch: Some(watch), look: None };
        self.observed(phase, load, limits, next, observers)
    }

    /// Reads from the medium; `look` is called with the data. If the device keeps no data, the data
    /// has no meaning.
    pub fn read_back(
        &mut self,
        phase: &'static str,
        load: &IoLoad,
        limits: &LoopLimits,
        next: Places<'_>,
        look: ReadObserver<'_>,
    ) -> IoTally {
        let observers = Observers { watch: None, look: Some(look) };
        self.observed(phase, load, limits, next, observers)
    }

    /// Makes everything written durable; returns the time in nanoseconds.
    pub fn flush(&mut self) -> Result<u64, IoError> {
        flush(self.medium)
    }

    /// Announces that the next stretch is this part of the cell, from and to in shares of 0 to 1,
    /// for the estimate of the remaining time.
    pub fn part(&mut self, from: f64, to: f64) {
        self.reporter.part = (from, to);
    }

    /// Random numbers of this cell for one purpose: the same for any order of cells.
    pub fn random(&self, purpose: &str) -> Random {
        Random::for_purpose(self.seed, purpose)
    }

    /// Remaining time of the cell, in nanoseconds.
    pub fn time_left_ns(&mut self) -> u64 {
        let used = self.medium.now().saturating_sub(self.started_ns);
        self.allotted_ns.saturating_sub(used)
    }

    /// Reports that data of the medium is to be restored (`true`), or that this is done (`false`):
    /// until then the process must not be ended.
    pub fn set_restore_pending(&mut self, pending: bool) {
        if let Err(reason) = self.reporter.listener.on_event(&RunEvent::RestorePending(pending)) {
            self.reporter.failed = Some(reason);
        }
    }

    /// Restores the backed-up data; only the medium can stop this.
    pub fn restore(&mut self) -> Restored {
        let CellContext { medium, backup, generator, reporter, .. } = self;
        reporter.phase = "restoring the data that was there";
        restore(*medium, *backup, Trust::Held, generator, &mut |step| {
            reporter.wrote(step.written_bytes);
            if reporter.is_due(step.now_ns) {
                reporter.report(step.now_ns, step.share, &IoTally::under(None, 1));
            }
            true
        })
    }

    /// Bytes written by the run so far.
    pub fn written_bytes(&self) -> u64 {
        self.reporter.written_bytes
    }

    /// True if the run must end.
    pub fn must_stop(&self) -> bool {
        self.reporter.must_stop()
    }

    /// The range from the start of `span` on that this run has filled with incompressible data, if
    /// any.
    pub fn preconditioned(&self, span: Extent) -> Option<Extent> {
        preconditioned(self.done, span)
    }
}

fn preconditioned(done: &[Cell], span: Extent) -> Option<Extent> {
    done.iter()
        .filter(|cell| {
            matches!(cell.test.as_str(), test::PRIME | test::RANDOM_FILL)
                && cell.stop != Stop::Error
        })
        .filter_map(|cell| {
            Some(Extent::new(cell.params.span_offset_bytes?, cell.params.span_bytes?))
        })
        .filter(|preconditioned| {
            preconditioned.offset_bytes <= span.offset_bytes
                && preconditioned.end() > span.offset_bytes
        })
        .map(|preconditioned| {
            Extent::new(span.offset_bytes, span.bytes.min(preconditioned.end() - span.offset_bytes))
        })
        .max_by_key(|preconditioned| preconditioned.bytes)
}

#[cfg(test)]
mod tests {
    use record::Params;

    use super::*;

    #[test]
    fn a_span_filled_from_its_first_byte_on_is_preconditioned() {
        let cell = |test: &str, offset_bytes, bytes, stop| {
            let params = Params {
                span_offset_bytes: Some(offset_bytes),
                span_bytes: Some(bytes),
                ..Params::default()
            };
            Cell { stop, ..Cell::begun("x/1", test, params) }
        };
        let done = [
            cell(test::PRIME, 100, 50, Stop::Ops),
            cell(test::RANDOM_FILL, 100, 80, Stop::Ops),
            cell(test::PRIME, 100, 900, Stop::Error),
            cell("random-write", 0, 900, Stop::Ops),
            cell(test::PRIME, 400, 20, Stop::Ops),
        ];
        let of = |offset_bytes, bytes| preconditioned(&done, Extent::new(offset_bytes, bytes));
        assert_eq!(of(100, 60), Some(Extent::new(100, 60)));
        assert_eq!(of(100, 200), Some(Extent::new(100, 80)));
        assert_eq!(of(179, 9), Some(Extent::new(179, 1)));
        assert_eq!((of(180, 9), of(99, 9), of(0, 1000)), (None, None, None), "begins elsewhere");
        assert_eq!(of(410, 20), Some(Extent::new(410, 10)));
        assert_eq!(preconditioned(&[], Extent::new(0, 1)), None);
    }
}
