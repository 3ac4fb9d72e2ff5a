//! `record-ops` on the mounted file system: the suite's own test (docs/field/iozone.md#single-file)
//! on a file in the mounted directory. The test does all measuring; this module gives it a file,
//! forwards its progress, and puts its random writes first.

use std::path::PathBuf;

use device::{Device, Extent, ExtentGuard, Extents, Facts};
use host::Roots;
use record::{Cell, Ended, TargetKind, test};
use suite::catalogue::RecordOpsSettings;
use suite::definition::{Suite, SuiteEntry};
use suite::typed_settings::TypedSettings as _;
use suite::{
    Choice, FileStage, FileStageError, Plan, PlanError, RunEnd, RunEvent, RunListener, RunOptions,
    SettingError, StagedFile, TargetInfo, TestSettings,
};

use super::run::WorkloadRun;
use super::{
    InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind, WorkloadProgress, open,
};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: test::RECORD_OPS,
    defaults,
    make: |settings| Ok(Box::new(RecordOps::new(settings)?)),
};

/// The settings of the test, without its forms on the raw medium.
fn defaults() -> TestSettings {
    let mut settings = TestSettings::of(KIND.name, RecordOpsSettings::LIST);
    for (name, value) in [("forms", "write,rewrite,random-read,random-write"), ("max_time", "10m")]
    {
        settings.set(name, &value.into()).expect("the test has this setting");
    }
    settings
}

/// The form that decides whether a medium is usable under a system.
const HEADLINE: &str = "random-write";
/// Bytes of a file that is never read or written; the suite needs a medium for its clock.
const CLOCK_FILE_BYTES: u64 = 4096;

struct RecordOps {
    suite: Suite,
    size_bytes: u64,
}

impl RecordOps {
    fn new(settings: &TestSettings) -> Result<RecordOps, SettingError> {
        let RecordOpsSettings { forms, size, .. } = RecordOpsSettings::read(settings)?;
        if let Some(raw) = forms.iter().find(|form| form.starts_with("raw-")) {
            return Err(settings.bad("forms", format!("'{raw}' needs a raw medium")));
        }
        let entry = SuiteEntry {
            test: KIND.name.into(),
            settings: settings.all(),
            ..SuiteEntry::default()
        };
        let suite = Suite { tests: vec![entry], ..Suite::default() };
        let work = RecordOps { suite, size_bytes: size };
        // Settings that cannot be are told now, and not when everything is mounted.
        match work.plan(any_facts()) {
            Err(PlanError::Setting(error)) => Err(error),
            _ => Ok(work),
        }
    }

    /// The plan on a file system with files of these facts, as large as need be.
    fn plan(&self, facts: Facts) -> Result<(TargetInfo, Plan), PlanError> {
        let facts = Facts { capacity_bytes: u64::MAX / 2, ..facts };
        let target = TargetInfo::unrestricted(TargetKind::File, facts);
        let plan = Plan::make(&self.suite, &Choice::default(), &target)?;
        Ok((target, plan))
    }
}

impl Workload for RecordOps {
    fn needs_bytes(&self) -> u64 {
        self.size_bytes + self.size_bytes / 64 + (16 << 20)
    }

    /// Returns a cell for each form, as `flashmark tests` describes them, random writes first.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let run = WorkloadRun::begin(KIND.name, context)?;
        let (clock_file, file) = (run.path("clock"), run.path("records"));
        let medium = run.open(&clock_file, CLOCK_FILE_BYTES)?;
        let place = run.check(
            "looking at its directory",
            host::device_of_directory(&Roots::default(), run.folder()),
        )?;
        let on = format!("{}, {}", place.mount.kind, place.mount.joined_options());
        let planned = self.plan(medium.facts().clone());
        let (target, plan) = planned.map_err(|error| WorkError::impossible(KIND.name, error))?;
        let medium: Box<dyn Device> = Box::new(medium);
        let mut medium = ExtentGuard::new(medium, Extents::default());
        let context = &mut *run.context;
        let mut stage = Directory { file, on, failed: None };
        let mut forwarder = ProgressForwarder {
            on_progress: &mut *context.on_progress,
            look: &mut *context.look,
            cells: plan.cells.len(),
        };
        let options = RunOptions::new(context.seed, &target, context.stop);
        let end = suite::run(&mut medium, &mut stage, &plan, options, &mut forwarder);
        if let Some(error) = stage.failed.take() {
            return Err(error);
        }
        drop((stage, medium));
        let mut cells = judge(end)?;
        run.end()?;
        cells.sort_by_key(|cell| cell.params.form.as_deref() != Some(HEADLINE));
        Ok(cells)
    }
}

/// The cells, or the reason why there are none.
fn judge(end: RunEnd) -> Result<Vec<Cell>, WorkError> {
    if end.ended == Ended::Interrupted {
        return Err(WorkError::interrupted(KIND.name));
    }
    let broken = end.cells.iter().find(|cell| cell.stop == record::Stop::Error);
    let doing = |cell: Option<&Cell>| {
        cell.and_then(|cell| cell.params.form.clone()).unwrap_or_else(|| "measuring".into())
    };
    if let Some(error) = &end.error {
        return Err(WorkError::device(KIND.name, doing(broken), error));
    }
    let reason = broken
        .and_then(|cell| cell.reason.clone())
        .or_else(|| end.skipped.first().map(|skip| skip.reason.clone()));
    match reason {
        Some(reason) => Err(WorkError::impossible(KIND.name, reason)),
        None => Ok(end.cells),
    }
}

fn any_facts() -> Facts {
    Facts {
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        max_in_flight: 1,
        has_page_cache: true,
        keeps_data: true,
        ..Facts::default()
    }
}

/// The mounted directory as a stage.
struct Directory {
    file: PathBuf,
    on: String,
    failed: Option<WorkError>,
}

impl FileStage for Directory {
    fn file(&mut self, bytes: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        // That of a form before: a first write goes to a new file. What cannot be removed here is
        // told when the folder cannot be.
        let _ = std::fs::remove_file(&self.file);
        match open(KIND.name, &self.file, bytes) {
            Ok(device) => {
                Ok(StagedFile { device: Box::new(device), on: self.on.clone(), keep: Box::new(()) })
            }
            Err(error) => {
                let reason = error.to_string();
                self.failed.get_or_insert(error);
                Err(FileStageError::Failed(reason))
            }
        }
    }
}

/// Forwards the progress, and the moments at which to examine the files.
struct ProgressForwarder<'a> {
    on_progress: &'a mut dyn FnMut(WorkloadProgress),
    look: &'a mut dyn FnMut(InspectionPoint),
    cells: usize,
}

impl RunListener for ProgressForwarder<'_> {
    fn on_event(&mut self, event: &RunEvent<'_>) -> Result<(), String> {
        match event {
            RunEvent::Progress(progress) => {
                let share = (progress.index as f64 + progress.share) / self.cells as f64;
                let what = if progress.phase == "measuring" {
                    "measuring"
                } else {
                    "laying down the file"
                };
                (self.on_progress)(WorkloadProgress { share, what, rate_iops: progress.iops });
            }
            // The file is there until the last form has been heard of.
            RunEvent::CellFinished { index, .. } if index + 1 == self.cells => {
                (self.look)(InspectionPoint::After)
            }
            _ => {}
        }
        Ok(())
    }
}
