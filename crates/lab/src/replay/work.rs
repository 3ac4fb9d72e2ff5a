//! `trace:FILE`: a replay as a work on a mounted file system, in a file of its own.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use device::{Device, Extent};
use record::units::MIB;
use record::{Cell, Stop};

use super::{Fit, Heard, Outcome, Pace, Placing, Player, Settings, cells, fill, planned};
use crate::trace::{self, Survey, Trace};
use crate::work::{Ground, Moment, Progress, Work, WorkError};

/// What a file system needs beside the file.
const OVERHEAD_BYTES: u64 = 64 * MIB;

/// `test` of its cells.
const TEST: &str = "trace";

/// A trace to be done in a file.
pub struct TraceWork {
    name: String,
    trace: Trace,
    survey: Survey,
    pace: Pace,
    /// The file is as large as the trace reaches, and at most this; a longer trace is squeezed into it, each MiB as a whole.
    most_bytes: u64,
}

impl TraceWork {
    /// Opens and surveys the trace.
    ///
    /// # Errors
    /// [`WorkError::Impossible`] says why it is no trace.
    pub fn open(path: &Path, pace: Pace, most_bytes: u64) -> Result<TraceWork, WorkError> {
        let name = format!("trace:{}", path.display());
        // Nobody waits for the end of a matrix yet: a signal ends the process.
        let stop = &AtomicBool::new(false);
        let impossible = |error: trace::TraceError| WorkError::Impossible { work: name.clone(), reason: error.to_string() };
        let trace = trace::open(path).map_err(impossible)?;
        let Some(survey) = Survey::of(&trace, stop).map_err(impossible)? else { return Err(WorkError::Interrupted { work: name }) };
        Ok(TraceWork { name, trace, survey, pace, most_bytes: most_bytes.max(MIB) / MIB * MIB })
    }

    /// How large the file becomes.
    fn file_bytes(&self) -> u64 {
        let reach = self.survey.spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.end_bytes.div_ceil(MIB).saturating_mul(MIB)));
        reach.clamp(MIB, self.most_bytes)
    }

    fn settings(&self, seed: u64, bytes: u64) -> Settings {
        let reach = self.survey.spans.iter().fold(0u64, |sum, span| sum.saturating_add(span.end_bytes));
        let fit = if reach > bytes { Fit::Scale } else { Fit::Exact };
        Settings { pace: self.pace, fit, depth: 1, reads_only: false, seed }
    }

    fn play(&self, device: &mut dyn Device, ground: &mut Ground<'_>) -> Result<Vec<Cell>, WorkError> {
        let room = Extent::new(0, self.file_bytes().min(device.facts().capacity_bytes));
        let settings = self.settings(ground.seed, room.bytes);
        let impossible = |reason: String| WorkError::Impossible { work: self.name.clone(), reason };
        let failed = |doing: &str, error: &device::IoError| WorkError::device(&self.name, doing, error);
        let placing = Placing::new(&self.survey, &settings, device.facts(), room).map_err(|error| impossible(error.to_string()))?;
        let plan = planned(&self.survey, &placing, &settings, device.facts());
        let stop = ground.stop;
        let mut hear = |what: &'static str, heard: Heard| {
            let rate_iops = heard.ops as f64 / (heard.elapsed_ns as f64 / 1e9).max(1e-9);
            (ground.hear)(Progress { share: heard.share, what, rate_iops });
        };
        let filled = fill(device, room, ground.seed, stop, &mut |heard| hear("filling the file", heard));
        if !filled.map_err(|error| failed("filling the file", &error))? {
            return Err(WorkError::Interrupted { work: self.name.clone() });
        }
        (ground.look)(Moment::Before);
        let mut hear = |heard| hear("replaying", heard);
        let player = Player::new(device, &self.survey, &placing, settings, stop, &mut hear).map_err(|error| failed("replaying", &error))?;
        let mut steps = self.trace.steps().map_err(|error| impossible(error.to_string()))?;
        let outcome = player.play(&mut *steps).map_err(|error| impossible(error.to_string()))?;
        (ground.look)(Moment::After);
        self.results(&plan, &settings, &outcome)
    }

    /// The cells, without the file's path, which is nobody's business where they are published; none of a replay that did not come to its
    /// end.
    fn results(&self, plan: &[record::PlannedCell], settings: &Settings, outcome: &Outcome) -> Result<Vec<Cell>, WorkError> {
        if let Some(error) = &outcome.failure {
            return Err(WorkError::device(&self.name, "replaying", error));
        }
        if outcome.stop == Some(Stop::Interrupted) {
            return Err(WorkError::Interrupted { work: self.name.clone() });
        }
        let mut cells = cells(plan, &self.survey, settings, outcome);
        for (at, cell) in cells.iter_mut().enumerate() {
            cell.id = format!("{TEST}/{}", at + 1);
            cell.test = TEST.into();
        }
        Ok(cells)
    }
}

impl Work for TraceWork {
    fn name(&self) -> &str {
        &self.name
    }

    fn needs_bytes(&self) -> u64 {
        self.file_bytes() + OVERHEAD_BYTES
    }

    /// Cells: the whole, whose `elapsed_ns` is the headline, then each kind of operation.
    fn run(&self, ground: &mut Ground<'_>) -> Result<Vec<Cell>, WorkError> {
        let path = ground.directory.join("replayed");
        let opened = (ground.open)(&path, self.file_bytes());
        let done = opened.and_then(|mut device| self.play(&mut *device, ground));
        let removed = match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(WorkError::io(&self.name, "removing the file", error)),
            _ => Ok(()),
        };
        let cells = done?;
        removed?;
        Ok(cells)
    }
}
