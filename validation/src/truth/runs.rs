//! Runs of suites on simulated media, as the program makes them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use device::{Device, Extent};
use record::{Bound, Cell, Flag, Params, Record, Stop, TargetKind};
use sim::{FileForm, Profile, SimDevice, SimOptions};
use suite::definition::Suite;
use suite::{Choice, FileStage, FileStageError, Plan, RunEnd, RunOptions, StagedFile, TargetInfo};

/// Figures of one cell of a run.
#[derive(Clone, Debug)]
pub struct CellFigures {
    /// Seed of the run.
    pub seed: u64,
    /// Name of its test: "random-write".
    pub test: String,
    /// Its parameters, as measured.
    pub params: Params,
    /// Rate in IOPS and its interval.
    pub rate: Option<(f64, [f64; 2])>,
    /// Rate in IOPS of a transient state, and the side of it on which the level is.
    pub bound: Option<(f64, Bound)>,
    /// p50 and p99 with their intervals, in nanoseconds.
    pub percentiles: [Option<(u64, [u64; 2])>; 2],
    pub ops: u64,
    /// Bytes written to the medium since it last rested.
    pub before_bytes: u64,
    /// Bytes written to the medium in all.
    pub aged_bytes: u64,
    /// Bytes that this cell wrote.
    pub written_bytes: u64,
    /// Caveats about its figures.
    pub flags: Vec<Flag>,
    /// True for figures from rounds: their interval is that of a repetition.
    pub has_rounds: bool,
}

impl CellFigures {
    /// Planned span in bytes, if not all of it was filled in time.
    pub fn wanted_bytes(&self) -> Option<u64> {
        let wanted = |flag: &Flag| {
            if let Flag::PartlyPrimed { wanted_bytes, .. } = flag {
                Some(*wanted_bytes)
            } else {
                None
            }
        };
        self.flags.iter().find_map(wanted).filter(|_| self.test == "random-write")
    }
}

/// Results of one run.
pub struct Ran {
    /// Cells by their ids; those that the medium failed are left out.
    pub cells: BTreeMap<String, CellFigures>,
    /// Device time of the whole run in nanoseconds, files included.
    pub elapsed_ns: u64,
    /// Number of cells that the medium failed.
    pub failed: usize,
}

/// Number of units that are tried if units of a product differ; each has a truth of its own.
const UNITS: u64 = 20;

/// Unit for the run of this seed.
pub fn unit_of(seed: u64) -> u64 {
    seed % UNITS
}

/// Runs a suite on a fresh medium of this profile; only these tests of it, if any are named.
///
/// The medium does not store written data: there is not enough memory for all that a run writes,
/// twice at a time. The one test that needs the data, `capacity`, has a medium of its own, and its
/// time is counted.
pub fn of(profile: &Profile, suite: &str, seed: u64, tests: &[&str]) -> Ran {
    let suite = Suite::built_in(suite).expect("it comes with the program");
    let mut ran = on(profile, seed, &suite, tests, false);
    if tests.is_empty() {
        // As the suite shortens it: a probe that is named alone would be the thorough one.
        let mut probe = suite;
        probe.tests.retain(|entry| entry.test == "capacity");
        ran.elapsed_ns += on(profile, seed, &probe, tests, true).elapsed_ns;
    }
    ran
}

/// Runs a suite on a device within the writes of its plan; returns the plan and the results.
pub fn run(
    device: impl Device + 'static,
    site: &TargetInfo,
    suite: &Suite,
    choice: &Choice,
    stage: &mut dyn FileStage,
    seed: u64,
) -> (Plan, RunEnd) {
    let plan = Plan::make(suite, choice, site).expect("a suite can be planned on any medium");
    let mut guarded = plan.guard(device);
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(seed, site, &stop);
    let end = suite::run(&mut guarded, stage, &plan, options, &mut ());
    (plan, end)
}

fn on(profile: &Profile, seed: u64, suite: &Suite, tests: &[&str], keep_data: bool) -> Ran {
    let medium =
        SimDevice::of_unit(profile, unit_of(seed), SimOptions { seed, capacity: None, keep_data });
    let commands_at_once = Some(profile.spec().queue.depth);
    let site = TargetInfo {
        au_bytes: profile.au_bytes(),
        commands_at_once,
        ..TargetInfo::unrestricted(TargetKind::Simulated, medium.facts().clone())
    };
    // A test that the suite lacks would be added with other settings.
    let has = |test: &&&str| suite.tests.iter().any(|entry| entry.test == **test);
    let choice = Choice {
        only: tests.iter().filter(has).map(|test| (*test).to_owned()).collect(),
        ..Choice::default()
    };
    let (_, end) = run(medium, &site, suite, &choice, &mut Files { profile, seed }, seed);
    let failed = end.cells.iter().filter(|cell| cell.stop == Stop::Error).count();
    let (mut before_bytes, mut aged_bytes) = (0, 0);
    let mut cells = BTreeMap::new();
    for cell in with_caveats(end.cells, &site) {
        let (id, written_bytes, is_staged) =
            (cell.id.clone(), cell.written_bytes, cell.on.is_some());
        if cell.stop != Stop::Error {
            cells.insert(id, figures_of(cell, seed, before_bytes, aged_bytes));
        }
        // A staged file is a medium of its own, and this one rests meanwhile: its caches are empty
        // afterwards.
        before_bytes = if is_staged { 0 } else { before_bytes + written_bytes };
        aged_bytes += if is_staged { 0 } else { written_bytes };
    }
    Ran { cells, elapsed_ns: end.elapsed_ns, failed }
}

/// Cells with the caveats that the record of the run gives them.
fn with_caveats(cells: Vec<Cell>, site: &TargetInfo) -> Vec<Cell> {
    let mut record = Record { cells, ..Record::new(record::Run::default()) };
    record.target.kind = site.kind;
    record.medium.capacity_bytes = Some(site.facts.capacity_bytes);
    ::findings::add_caveats(&mut record);
    record.cells
}

fn figures_of(cell: Cell, seed: u64, before_bytes: u64, aged_bytes: u64) -> CellFigures {
    let rate = cell.metrics.iops.and_then(|iops| Some((iops.value, iops.ci95?)));
    let bound = cell.metrics.iops.and_then(|iops| Some((iops.value, cell.transient()?)));
    let latency = cell.metrics.latency_ns.as_ref();
    let interval = |name: &str| latency.and_then(|latency| latency.ci95.get(name).copied());
    let [p50, p99] =
        [latency.and_then(|latency| latency.p50), latency.and_then(|latency| latency.p99)];
    CellFigures {
        seed,
        percentiles: [p50.zip(interval("p50")), p99.zip(interval("p99"))],
        test: cell.test,
        params: cell.params,
        rate,
        bound,
        ops: cell.ops,
        before_bytes,
        aged_bytes,
        written_bytes: cell.written_bytes,
        has_rounds: !cell.rounds.is_empty(),
        flags: cell.flags,
    }
}

/// Files on a medium of their own, as the program stages them on simulated media.
struct Files<'a> {
    profile: &'a Profile,
    seed: u64,
}

impl FileStage for Files<'_> {
    fn file(&mut self, bytes: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        let medium = SimDevice::new(
            self.profile,
            SimOptions { seed: self.seed, capacity: None, keep_data: false },
        );
        Ok(StagedFile {
            device: Box::new(FileForm::new(medium, bytes)),
            on: "a model of a file".into(),
            keep: Box::new(()),
        })
    }
}
