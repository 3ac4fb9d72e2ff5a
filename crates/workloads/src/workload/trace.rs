//! `trace:FILE` as a work: a recorded trace is repeated in a file of the file system as fast as
//! possible, and its time is the result.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use device::{Device, Extent};
use record::units::MIB;
use record::{Cell, Stop};
use suite::CellProgress;

use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadProgress, open};
use crate::replay::{CapacityFit, Pace, Replay, ReplaySettings};
use crate::trace::{self, Trace, TraceSurvey};

/// Prefix of such a work on the command line.
pub const PREFIX: &str = "trace:";

/// Largest file in bytes; a trace of a larger medium is scaled into it, each MiB as a whole.
const MAX_FILE_BYTES: u64 = 512 * MIB;
/// Queue depth for a trace that does not say which request waited for which: one after the other.
const DEPTH: u32 = 1;

/// A trace that has been read.
pub(super) struct TraceWork {
    name: String,
    trace: Trace,
    survey: TraceSurvey,
    file_bytes: u64,
    fit: CapacityFit,
}

impl TraceWork {
    /// Reads the trace that `name` ("trace:FILE") names.
    ///
    /// # Errors
    /// What is wrong with the trace; or a setting, of which such a work has none.
    pub fn open(name: &str, settings: &[(&str, &str)]) -> Result<TraceWork, WorkError> {
        let impossible = |reason: String| WorkError::impossible(name, reason);
        if let Some((setting, _)) = settings.first() {
            return Err(impossible(format!("it has no setting '{setting}'")));
        }
        let path = Path::new(name.strip_prefix(PREFIX).unwrap_or(name));
        let trace = trace::open(path).map_err(|error| impossible(error.to_string()))?;
        let survey = TraceSurvey::of(&trace, &AtomicBool::new(false))
            .map_err(|error| impossible(error.to_string()))?;
        let survey = survey.ok_or_else(|| impossible("it has no requests".to_owned()))?;
        // each recorded device begins at a whole block of the file
        let reach: u64 =
            survey.spans.iter().map(|span| span.end_bytes.next_multiple_of(4096)).sum();
        let wanted = reach.max(survey.longest_bytes.next_multiple_of(4096)).next_multiple_of(MIB);
        let (file_bytes, fit) = if wanted <= MAX_FILE_BYTES {
            (wanted, CapacityFit::Exact)
        } else {
            (MAX_FILE_BYTES, CapacityFit::Scale)
        };
        Ok(TraceWork { name: name.to_owned(), trace, survey, file_bytes, fit })
    }

    /// Fills the file, then repeats the trace in it.
    fn replay(
        &self,
        device: &mut dyn Device,
        context: &mut WorkloadContext<'_>,
    ) -> Result<Vec<Cell>, WorkError> {
        let failed = |reason: String| WorkError::impossible(&self.name, reason);
        let room = Extent::new(0, self.file_bytes);
        let settings = ReplaySettings {
            pace: Pace::Max,
            fit: self.fit,
            depth: DEPTH,
            reads_only: false,
            seed: context.seed,
        };
        let facts = device.facts().clone();
        let (trace, survey) = (self.trace.clone(), self.survey.clone());
        let replay = Replay::new(trace, survey, settings, &facts, room)
            .map_err(|error| failed(error.to_string()))?;
        let mut doing = "filling";
        let mut on_progress = |CellProgress { phase: what, share, iops: rate_iops, .. }| {
            if std::mem::replace(&mut doing, what) != what {
                (context.look)(InspectionPoint::Before);
            }
            let share = share.clamp(0.0, 1.0);
            (context.on_progress)(WorkloadProgress { share, what, rate_iops });
        };
        let outcome = replay
            .play(device, Some(room), context.stop, &mut on_progress)
            .map_err(|error| failed(error.to_string()))?;
        match (&outcome.failure, outcome.stop) {
            (Some(error), _) => Err(WorkError::device(&self.name, doing, error)),
            (None, Some(Stop::Interrupted)) => Err(WorkError::interrupted(&self.name)),
            (None, _) => {
                (context.look)(InspectionPoint::After);
                Ok(replay.cells(&outcome))
            }
        }
    }
}

impl Workload for TraceWork {
    fn needs_bytes(&self) -> u64 {
        self.file_bytes + self.file_bytes / 10 + 4 * MIB
    }

    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let path = context.directory.join("replayed");
        let opened = open(&self.name, &path, self.file_bytes);
        let result = opened.and_then(|mut device| self.replay(&mut device, context));
        // gone also when it failed; the file system goes after it anyway
        let _ = std::fs::remove_file(&path);
        result
    }
}
