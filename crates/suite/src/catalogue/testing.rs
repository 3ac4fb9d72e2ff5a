//! Support for tests of tests: a medium of exactly known costs that records every request, and a
//! way to run a suite on it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use device::{Completion, Device, Extent, Facts, IoError, IoErrorKind, Op, Request, Slot};
use record::{Cell, PlannedCell, TargetKind};

use crate::definition::{Suite, SuiteEntry};
use crate::{
    Choice, FileStage, FileStageError, NoStage, Plan, PlanError, RunEnd, RunOptions, StagedFile,
    TargetInfo, run,
};

/// Time of a request in nanoseconds; its number counts from 0.
pub type Cost = Box<dyn FnMut(&Request, u64) -> u64>;

/// Record of the requests to the medium, shared with the test.
#[derive(Default)]
pub struct RequestLog {
    /// Every accepted request, in order.
    pub requests: Vec<Request>,
    /// Number of requests before each drop of caches.
    pub dropped_at: Vec<usize>,
    /// Sum of all calls of [`Device::idle`], in nanoseconds.
    pub idle_ns: u64,
}

/// A medium that does one request at a time, in order, each at its cost in virtual time. Keeps no
/// data.
pub struct FixedCostDevice {
    facts: Facts,
    cost: Cost,
    seen: Rc<RefCell<RequestLog>>,
    waiting: VecDeque<(Request, u64)>,
    buffers: Vec<Vec<u8>>,
    now_ns: u64,
    fail_at: Option<u64>,
    stop_at: Option<(u64, Rc<AtomicBool>)>,
}

impl Device for FixedCostDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn now(&mut self) -> u64 {
        self.now_ns
    }
    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.buffers = vec![vec![0; slot_bytes.min(1 << 20)]; slots as usize];
        Ok(())
    }
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let place = Extent::new(request.offset_bytes, request.length_bytes);
        let unaligned = !(request.offset_bytes | request.length_bytes)
            .is_multiple_of(self.facts.logical_block_bytes);
        if request.op != Op::Flush
            && (unaligned || !Extent::new(0, self.facts.capacity_bytes).contains(&place))
        {
            return Err(IoError::new(
                IoErrorKind::Refused,
                &request,
                "a test asked for what no medium has",
            ));
        }
        self.seen.borrow_mut().requests.push(request);
        self.waiting.push_back((request, self.now_ns));
        Ok(())
    }
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        for _ in 0..min.min(self.waiting.len()) {
            let Some((request, submitted_ns)) = self.waiting.pop_front() else { break };
            let number = (self.seen.borrow().requests.len() - 1 - self.waiting.len()) as u64;
            self.now_ns += (self.cost)(&request, number);
            if let Some((_, stop)) = self.stop_at.as_ref().filter(|(at, _)| *at <= number) {
                stop.store(true, Ordering::Relaxed);
            }
            let failed = self.fail_at.is_some_and(|at| at <= number);
            let result = if failed {
                Err(IoError::new(IoErrorKind::Medium, &request, "as the test ordered"))
            } else {
                Ok(())
            };
            done.push(Completion {
                slot: request.slot,
                submitted_ns,
                completed_ns: self.now_ns,
                result,
            });
        }
        Ok(())
    }
    fn idle(&mut self, duration_ns: u64) {
        self.seen.borrow_mut().idle_ns += duration_ns;
        self.now_ns += duration_ns;
    }
    fn drop_caches(&mut self) -> Result<(), IoError> {
        let mut seen = self.seen.borrow_mut();
        let at = seen.requests.len();
        seen.dropped_at.push(at);
        Ok(())
    }
    fn cpu_ns(&mut self) -> Option<u64> {
        None
    }
}

/// A test bench: a medium of known cost, and events during the run on it.
pub struct TestBench {
    /// The target that tests are planned for and run on.
    pub target: TargetInfo,
    /// Number of the request (counted over the whole run) from which on every one fails.
    pub fail_at: Option<u64>,
    /// Number of the request after which the user presses Ctrl-C.
    pub stop_at: Option<u64>,
    /// Cells finished before an interruption.
    pub done: Vec<Cell>,
    /// Time used before the interruption, in nanoseconds.
    pub used_ns: u64,
    /// The run's time limit in nanoseconds.
    pub time_limit_ns: Option<u64>,
    /// Time of each request.
    pub cost: Cost,
}

/// Outcome of a run on a bench.
pub struct BenchOutcome {
    /// Return value of [`run`]: cells, skips, and the end.
    pub end: RunEnd,
    /// Every request, in order.
    pub requests: Vec<Request>,
    /// Number of requests before each drop of caches.
    pub dropped_at: Vec<usize>,
    /// Sum of all calls of [`Device::idle`], in nanoseconds.
    pub idle_ns: u64,
}

impl BenchOutcome {
    /// The only cell of this id.
    pub fn cell(&self, id: &str) -> &Cell {
        self.end
            .cells
            .iter()
            .find(|cell| cell.id == id)
            .unwrap_or_else(|| panic!("no cell {id}: {:?}", self.end))
    }

    /// Offset of each write, in bytes from here on.
    pub fn writes(&self, from_bytes: u64) -> Vec<u64> {
        let writes = self.requests.iter().filter(|request| request.op == Op::Write);
        writes.map(|request| request.offset_bytes - from_bytes).collect()
    }

    /// True if every request lies in this place.
    pub fn is_inside(&self, place: Extent) -> bool {
        let places = self.requests.iter().map(|it| Extent::new(it.offset_bytes, it.length_bytes));
        places.into_iter().all(|one| place.contains(&one))
    }

    /// A figure of `metrics.other`.
    pub fn other(&self, id: &str, name: &str) -> f64 {
        let metrics = &self.cell(id).metrics;
        metrics.value(name).unwrap_or_else(|| panic!("{id} has no {name}: {metrics:?}"))
    }
}

impl TestBench {
    fn new(
        kind: TargetKind,
        capacity_bytes: u64,
        cost: impl FnMut(&Request, u64) -> u64 + 'static,
    ) -> TestBench {
        let facts = Facts {
            capacity_bytes,
            logical_block_bytes: 512,
            physical_block_bytes: 512,
            max_in_flight: 64,
            has_page_cache: true,
            engine: "virtual time".into(),
            ..Facts::default()
        };
        let files = Err("there is no file system to put a file on".into());
        let target = TargetInfo { files, ..TargetInfo::unrestricted(kind, facts) };
        TestBench {
            target,
            fail_at: None,
            stop_at: None,
            done: Vec::new(),
            used_ns: 0,
            time_limit_ns: None,
            cost: Box::new(cost),
        }
    }

    /// A whole block device with the times of `cost`.
    pub fn raw(capacity_bytes: u64, cost: impl FnMut(&Request, u64) -> u64 + 'static) -> TestBench {
        TestBench::new(TargetKind::Block, capacity_bytes, cost)
    }

    /// A regular file with the times of `cost`.
    pub fn file(
        capacity_bytes: u64,
        cost: impl FnMut(&Request, u64) -> u64 + 'static,
    ) -> TestBench {
        TestBench::new(TargetKind::File, capacity_bytes, cost)
    }

    /// Plans these tests: `["seek path=direct", "prime span=1MiB passes=1"]`.
    pub fn plan(&self, tests: &[&str]) -> Result<Plan, PlanError> {
        let tests = tests.iter().map(|words| SuiteEntry::from(*words)).collect();
        let suite = Suite { time_limit_ns: self.time_limit_ns, tests, ..Suite::default() };
        Plan::make(&suite, &Choice::default(), &self.target)
    }

    /// The cells that these tests plan.
    pub fn planned(&self, tests: &[&str]) -> Vec<PlannedCell> {
        self.plan(tests).map(|plan| plan.cells).unwrap_or_default()
    }

    /// Reasons why tests or parts of them are left out.
    pub fn left_out(&self, tests: &[&str]) -> String {
        match self.plan(tests) {
            Err(error) => error.to_string(),
            Ok(plan) => plan
                .skipped
                .iter()
                .map(|skip| format!("{}: {}", skip.test, skip.reason))
                .collect::<Vec<_>>()
                .join("\n"),
        }
    }

    /// Runs these tests, under the extent guard and a write budget of what they declared.
    pub fn run(self, tests: &[&str]) -> BenchOutcome {
        self.run_staged(tests, &mut NoStage)
    }

    /// The same with a stage for files.
    pub fn run_staged(self, tests: &[&str], stage: &mut dyn FileStage) -> BenchOutcome {
        let plan = self.plan(tests).expect("the test plans what can be");
        self.run_all(&plan, stage)
    }

    /// Runs these cells.
    pub fn run_plan(self, plan: &Plan) -> BenchOutcome {
        self.run_all(plan, &mut NoStage)
    }

    fn run_all(self, plan: &Plan, stage: &mut dyn FileStage) -> BenchOutcome {
        let (seen, stop) =
            (Rc::new(RefCell::new(RequestLog::default())), Rc::new(AtomicBool::new(false)));
        let medium = FixedCostDevice {
            facts: self.target.facts.clone(),
            cost: self.cost,
            seen: seen.clone(),
            waiting: VecDeque::new(),
            buffers: Vec::new(),
            now_ns: 1_000_000,
            fail_at: self.fail_at,
            stop_at: self.stop_at.map(|at| (at, stop.clone())),
        };
        let mut guarded = plan.guard(medium);
        let options = RunOptions {
            done: self.done,
            used_ns: self.used_ns,
            ..RunOptions::new(7, &self.target, &stop)
        };
        let end = run(&mut guarded, stage, plan, options, &mut ());
        let seen = seen.take();
        BenchOutcome {
            end,
            requests: seen.requests,
            dropped_at: seen.dropped_at,
            idle_ns: seen.idle_ns,
        }
    }
}

type FileCost = Rc<dyn Fn(&Request, u64) -> u64>;

/// Makes files of known cost and records the requests to each.
pub struct KnownFiles {
    /// True if making a file fails.
    pub fails: bool,
    cost: FileCost,
    seen: Vec<Rc<RefCell<RequestLog>>>,
    alive: Rc<()>,
}

impl KnownFiles {
    /// Files with this time of each request.
    pub fn new(cost: impl Fn(&Request, u64) -> u64 + 'static) -> KnownFiles {
        KnownFiles { fails: false, cost: Rc::new(cost), seen: Vec::new(), alive: Rc::new(()) }
    }

    /// The requests to each file made so far.
    pub fn made(&self) -> Vec<Vec<Request>> {
        self.seen.iter().map(|seen| seen.borrow().requests.clone()).collect()
    }

    /// Number of files that have not been removed.
    pub fn alive(&self) -> usize {
        Rc::strong_count(&self.alive) - 1
    }
}

impl FileStage for KnownFiles {
    fn file(&mut self, bytes: u64, _: Extent) -> Result<StagedFile, FileStageError> {
        if self.fails {
            return Err(FileStageError::Failed("mkfs said no".into()));
        }
        assert_eq!(self.alive(), 0, "the file before is still there");
        let seen = Rc::new(RefCell::new(RequestLog::default()));
        self.seen.push(seen.clone());
        let TestBench { target, .. } = TestBench::file(bytes, |_, _| 0);
        let cost = Rc::clone(&self.cost);
        let device = FixedCostDevice {
            facts: target.facts,
            cost: Box::new(move |request, number| cost(request, number)),
            seen,
            waiting: VecDeque::new(),
            buffers: Vec::new(),
            now_ns: 0,
            fail_at: None,
            stop_at: None,
        };
        Ok(StagedFile {
            device: Box::new(device),
            on: "a file of known cost".into(),
            keep: Box::new(self.alive.clone()),
        })
    }
}

/// Runs tests on a simulated medium of this profile that keeps no data, under the extent guard and
/// a write budget of what they declared.
pub fn run_simulated(profile: &str, seed: u64, tests: &[&str]) -> Vec<Cell> {
    let profile = sim::Profile::builtin(profile)
        .expect("the profile is one of those that come with the program");
    run_profile(profile, profile.au_bytes(), seed, tests)
}

/// The same on the profile of the test, which may declare its allocation unit or not.
pub fn run_profile(
    profile: &sim::Profile,
    declared_au_bytes: Option<u64>,
    seed: u64,
    tests: &[&str],
) -> Vec<Cell> {
    let options = sim::SimOptions { seed, capacity: None, keep_data: false };
    run_medium(sim::SimDevice::new(profile, options), declared_au_bytes, seed, tests)
}

/// The same on this medium.
pub fn run_medium(
    medium: sim::SimDevice,
    declared_au_bytes: Option<u64>,
    seed: u64,
    tests: &[&str],
) -> Vec<Cell> {
    let mut bench = TestBench::raw(0, |_, _| 0);
    bench.target.facts = medium.facts().clone();
    bench.target.au_bytes = declared_au_bytes;
    let plan = bench.plan(tests).expect("the test plans what can be");
    let mut guarded = plan.guard(medium);
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(seed, &bench.target, &stop);
    let cells = run(&mut guarded, &mut NoStage, &plan, options, &mut ()).cells;
    for planned in &plan.cells {
        let cell = cells.iter().find(|cell| cell.id == planned.id);
        let written_bytes = cell.map_or(0, |cell| cell.written_bytes);
        assert!(written_bytes <= planned.max_written_bytes, "{}: {written_bytes}", planned.id);
    }
    cells
}

/// A hybrid card of known geometry with a cache of 24 MB that combines writes to the same place and
/// empties when the medium is idle; its flush lies. Only so many random writes fill it; then every
/// write waits for one to flash.
pub fn combining_card(au_mib: u64, open_aus: u32) -> sim::Profile {
    let cache = "[cache]\nsize = \"24 MB\"\nrate = \"40 MB/s\"\ncommand = \"0.3 ms\"\nhonest = false\ncombines = true\n";
    sim::Profile::parse("combining card", &(card_text(au_mib, open_aus) + cache))
        .expect("a profile that can be")
}

/// A hybrid card of known geometry: 9 GiB, log blocks, reads that take longer across units and
/// allocation units, some jitter.
pub fn card(au_mib: u64, open_aus: u32) -> sim::Profile {
    sim::Profile::parse("card", &card_text(au_mib, open_aus)).expect("a profile that can be")
}

fn card_text(au_mib: u64, open_aus: u32) -> String {
    format!(
        r#"
        about = "a card of known geometry"
        source = "docs/field/ftl.md#model"
        guesses = "all"
        medium = {{ capacity = "9 GiB" }}
        read = {{ command = "0.8 ms", rate = "20 MB/s", cross_unit = "0.06 ms", cross_au = "0.25 ms" }}
        write = {{ command = "0.8 ms", rate = "12 MB/s", unit = "16 KiB", partial = "1.5 ms" }}
        log_block = {{ au = "{au_mib} MiB", open_aus = {open_aus}, copy_rate = "10 MB/s", erase = "4 ms" }}
        jitter = {{ sigma = 0.1, tail_share = 0.005, tail_factor = 8.0 }}
        "#
    )
}

/// Step of a curve: the first x of the upper of the two levels that fit its points best, and both
/// levels. The simplest form of the conclusion in the findings
/// (docs/field/allocation-units.md#size-from-reads), to see that the evidence suffices.
pub fn step(points: &[[f64; 2]]) -> (f64, f64, f64) {
    let mean =
        |part: &[[f64; 2]]| part.iter().map(|point| point[1]).sum::<f64>() / part.len() as f64;
    let squares =
        |part: &[[f64; 2]]| part.iter().map(|point| (point[1] - mean(part)).powi(2)).sum::<f64>();
    let error = |at: &usize| squares(&points[..*at]) + squares(&points[*at..]);
    let at =
        (1..points.len()).min_by(|a, b| error(a).total_cmp(&error(b))).expect("two points or more");
    (points[at][0], mean(&points[..at]), mean(&points[at..]))
}

/// A card that maps pages, without jitter, behind an honest cache of 8 MiB.
pub fn cached_card() -> sim::Profile {
    let text = "about = \"cached\"\nsource = \"of the tests\"\nguesses = \"all\"\n\
        [medium]\ncapacity = \"64 GiB\"\nmax_transfer = \"128 KiB\"\n\
        [read]\ncommand = \"100 us\"\nrate = \"500 MB/s\"\n\
        [write]\ncommand = \"175 us\"\nrate = \"270 MB/s\"\nunit = \"16 KiB\"\npartial = \"450 us\"\n\
        [page_mapped]\ngc = \"0 us\"\n\
        [cache]\nsize = \"8 MiB\"\nrate = \"4000 MB/s\"\ncommand = \"175 us\"\nhonest = true\n";
    sim::Profile::parse("cached", text).expect("the profile can be")
}

/// Time in microseconds of a write of so many sequential bytes once its cache is full.
pub fn cached_card_us(bytes: u64) -> f64 {
    let partial_us = if bytes.is_multiple_of(16 << 10) { 0.0 } else { 450.0 };
    175.0 * bytes.div_ceil(128 << 10) as f64 + bytes as f64 / 270.0 + partial_us
}
