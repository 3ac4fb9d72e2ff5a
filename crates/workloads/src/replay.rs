//! A recorded trace, repeated on any device: at the recorded times, faster, or as fast as the
//! device can.
//!
//! One rule keeps the dependencies at every speed: **a request that was issued after another one
//! had completed waits for it.** The events of a trace are processed in the order of time; at a
//! completion the replay waits for that very request, and only then continues. So requests that
//! were in flight together are so again, and a request that waited waits. Of a trace without
//! completions (a fio iolog) no dependencies are known, and each request waits for the one before,
//! or for as many before as the user says.

mod cells;
mod placing;
mod player;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use device::{DataGenerator, Device, Extent, Facts, IoError};
use record::units::MIB;
use record::{Cell, Content, PlannedCell, Stop};
use suite::CellProgress;

use crate::lay_down::lay_down;
use crate::trace::{Trace, TraceError, TraceSurvey};
use placing::Placing;
use player::Player;

pub use cells::{TEST, title};
pub use placing::CapacityFit;
pub use player::ReplayOutcome;

/// Speed at which requests are issued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At the recorded times, so many times faster; 1 is as recorded.
    Times(f64),
    /// As soon as the requests that they waited for are done.
    Max,
}

/// Settings of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplaySettings {
    /// At the recorded times, faster, or as soon as possible.
    pub pace: Pace,
    /// Treatment of offsets that the medium does not have.
    pub fit: CapacityFit,
    /// Most requests in flight, for a trace that does not say which request waited for which.
    pub depth: u32,
    /// True to leave out writes, discards and flushes.
    pub reads_only: bool,
    /// Seed of the data that is written.
    pub seed: u64,
}

/// A trace with its place on a medium.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The trace.
    pub trace: Trace,
    /// What it amounts to.
    pub survey: TraceSurvey,
    /// How it is repeated.
    pub settings: ReplaySettings,
    /// The cells that it will leave: the whole, then the operations that the trace has and that are
    /// not left out.
    pub plan: Vec<PlannedCell>,
    placing: Placing,
}

/// Listener of a replay, which is "filling" or "replaying". Each begins with a report.
pub type OnProgress<'a> = &'a mut dyn FnMut(CellProgress<'static>);

/// Progress with so many requests, bytes, and bytes written so far.
fn progress(
    phase: &'static str,
    [ops, bytes, written_bytes]: [u64; 3],
    share: f64,
    elapsed_ns: u64,
) -> CellProgress<'static> {
    let seconds = (elapsed_ns as f64 / 1e9).max(1e-9);
    let left_ns = if share > 0.0 { elapsed_ns as f64 * (1.0 - share) / share } else { 0.0 };
    CellProgress {
        phase,
        share,
        ops,
        bytes,
        elapsed_ns,
        iops: ops as f64 / seconds,
        bps: bytes as f64 / seconds,
        written_bytes,
        remaining_ns: left_ns as u64,
        ..CellProgress::default()
    }
}

impl Replay {
    /// Places a trace in `room` of a medium; an error says why that is not possible.
    pub fn new(
        trace: Trace,
        survey: TraceSurvey,
        settings: ReplaySettings,
        facts: &Facts,
        room: Extent,
    ) -> Result<Replay, ReplayError> {
        let placing = Placing::new(&survey, &settings, facts, room)?;
        let plan = cells::planned(&survey, &placing, &settings, facts);
        Ok(Replay { trace, survey, settings, plan, placing })
    }

    /// The part of the medium that is touched.
    pub fn span(&self) -> Extent {
        self.placing.span()
    }

    /// Repeats the trace, after `fill` was written so that there is something to read; `stop` ends
    /// it.
    ///
    /// # Errors
    /// Of the trace; errors of the medium are in the outcome.
    pub fn play(
        &self,
        device: &mut dyn Device,
        fill: Option<Extent>,
        stop: &AtomicBool,
        on_progress: OnProgress<'_>,
    ) -> Result<ReplayOutcome, TraceError> {
        let ended = |failure: Option<IoError>| {
            let stop = if failure.is_some() { Stop::Error } else { Stop::Interrupted };
            Ok(ReplayOutcome { stop: Some(stop), failure, ..ReplayOutcome::default() })
        };
        if let Some(extent) = fill
            && let Err(failure) = self.fill(device, extent, stop, on_progress)
        {
            return ended(failure);
        }
        on_progress(progress("replaying", [0; 3], 0.0, 0));
        match Player::new(device, self, stop, on_progress) {
            Ok(player) => player.play(&mut *self.trace.steps()?),
            Err(error) => ended(Some(error)),
        }
    }

    /// Writes incompressible data; an error is that of the medium, or none if it was stopped.
    fn fill(
        &self,
        device: &mut dyn Device,
        extent: Extent,
        stop: &AtomicBool,
        on_progress: OnProgress<'_>,
    ) -> Result<(), Option<IoError>> {
        on_progress(progress("filling", [0; 3], 0.0, 0));
        let (generator, began_ns) = (DataGenerator::new(self.settings.seed), device.now());
        let data = (&generator, Content::Incompressible, u32::MAX - 1);
        lay_down(device, extent, data, Some, |bytes, now_ns| {
            let share = bytes as f64 / extent.bytes as f64;
            let counts = [bytes.div_ceil(MIB), bytes, bytes];
            on_progress(progress("filling", counts, share, now_ns.saturating_sub(began_ns)));
            if stop.load(Ordering::Relaxed) { Err(None) } else { Ok(()) }
        })
    }

    /// Results, one cell for each that was planned.
    pub fn cells(&self, outcome: &ReplayOutcome) -> Vec<Cell> {
        cells::cells(self, outcome)
    }
}

/// Reason why a trace cannot be repeated here.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReplayError(String);
