//! `threads`: several threads, each with a file of its own, at queue depth 1 past the page cache
//! (docs/field/iozone.md#threads).
//!
//! `published` is `iozone -T -t 4 -s 1m -r 4k -I -i 0 -i 1 -i 2`: files of 1 MiB, every record
//! once; when the first thread has finished, the figures of the others are final (stonewall).
//! Threads that write for the first time or at random then finish their file untimed, all others
//! end. A megabyte fits the cache of every card, so `honest` does the same with large files and for
//! a fixed time: each phase repeats its file until the time is up.
//!
//! *Children see* is the sum of the threads' own rates; *parent sees* is all counted bytes over the
//! time until every thread has finished.

mod turns;

use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use blockio::{RealDevice, now_ns};
use device::content::DataGenerator;
use device::{Device as _, Extent, IoError};
use record::units::MILLISECOND_NS;
use record::{
    Cell, Direction, Estimate, Flag, Histogram, Metrics, Params, Path, Pattern, Series, Stop,
    metric,
};
use stats::latency;
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use self::turns::{Turns, WorkerEnd, work};
use super::ledger::buffered;
use super::run::WorkloadRun;
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};
use crate::lay_down::lay_down;

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "threads",
    defaults: || TestSettings::of("threads", Threads::LIST),
    make: |settings| {
        let threads = Threads::read(settings)?;
        if threads.threads > MAX_THREADS {
            return Err(settings.bad("threads", format!("at most {MAX_THREADS} threads")));
        }
        for (name, bytes) in [("size", threads.size), ("honest_size", threads.honest_size)] {
            match bytes / threads.block {
                0 => {
                    let block = threads.block;
                    let why = format!("a file has at least one record of {block} bytes");
                    return Err(settings.bad(name, why));
                }
                records if records > u64::from(u32::MAX) => {
                    return Err(settings.bad(name, "too many records"));
                }
                _ => {}
            }
        }
        Ok(Box::new(threads))
    },
};

settings! {
    Threads {
        forms: Words(["honest", "published"]) = "honest,published",
            "large files for a time; iozone's own form";
        phases: Words(PHASES.each_ref().map(|phase| phase.name)) =
            "write,rewrite,read,reread,random-read,random-write",
            "what to measure, in iozone's order";
        threads: Count = "4", "how many";
        block: Block = "4KiB", "size of a record";
        size: Size = "1MiB", "size of a thread's file in the published form";
        honest_size: Size = "64MiB", "size of a thread's file in the honest form";
        time: Time = "10s", "time of a phase in the honest form";
        pause: Time = "2s", "sync and wait this long before each phase";
        content: Data = "byte:165", "content; iozone repeats one byte";
        max_time: Time = "10m", "at most this long a phase of the published form";
    }
}

/// A phase.
#[derive(Debug)]
struct Phase {
    pub name: &'static str,
    pub direction: Direction,
    pub pattern: Pattern,
    /// True if its threads go on, untimed, when the first of them has finished; else they end then.
    pub finishes: bool,
}

const fn phase(
    name: &'static str,
    direction: Direction,
    pattern: Pattern,
    finishes: bool,
) -> Phase {
    Phase { name, direction, pattern, finishes }
}

/// In iozone's order.
static PHASES: [Phase; 6] = [
    phase("write", Direction::Write, Pattern::Sequential, true),
    phase("rewrite", Direction::Write, Pattern::Sequential, false),
    phase("read", Direction::Read, Pattern::Sequential, false),
    phase("reread", Direction::Read, Pattern::Sequential, false),
    phase("random-read", Direction::Read, Pattern::Permutation, false),
    phase("random-write", Direction::Write, Pattern::Permutation, true),
];

/// The phase that decides whether a medium is usable under a system.
const HEADLINE: &str = "random-write";
/// Most threads: more say nothing more about a medium.
const MAX_THREADS: u64 = 256;
/// Time between two looks of the parent at its threads.
const LOOK: Duration = Duration::from_millis(20);

/// One of the two forms.
#[derive(Clone, Copy, Debug)]
struct Form {
    pub name: &'static str,
    pub size_bytes: u64,
    /// Time that ends each phase; without it, a phase ends with the file (for the figures, the
    /// first thread's).
    pub time_ns: Option<u64>,
}

/// A phase of a form, and the number of its cell.
#[derive(Clone, Copy)]
struct Step {
    form: Form,
    phase: &'static Phase,
    number: usize,
}

impl Threads {
    fn named(&self, form: &'static str) -> Form {
        let (size_bytes, time_ns) = match form {
            "honest" => (self.honest_size, Some(self.time)),
            _ => (self.size, None),
        };
        Form { name: form, size_bytes: size_bytes / self.block * self.block, time_ns }
    }

    /// Runs all phases of a form, on files of its own.
    fn form(
        &self,
        form: Form,
        cells: &mut Vec<Cell>,
        steps: f64,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<(), WorkError> {
        let paths: Vec<PathBuf> = (0..self.threads)
            .map(|thread| run.path(&format!("{}.DUMMY.{thread}", form.name)))
            .collect();
        for phase in PHASES.iter().filter(|phase| self.phases.contains(&phase.name)) {
            run.part(cells.len() as f64 / steps, (cells.len() + 1) as f64 / steps);
            if phase.name != "write" {
                self.lay_down(form, &paths, run)?;
            }
            run.sync()?;
            run.rest(self.pause)?;
            let step = Step { form, phase, number: cells.len() + 1 };
            cells.push(self.step(step, &paths, run)?);
        }
        run.show(InspectionPoint::After);
        paths.iter().try_for_each(|path| run.remove(path))
    }

    /// Completes the files without measuring; writes all of them if no write phase came before.
    fn lay_down(
        &self,
        form: Form,
        paths: &[PathBuf],
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<(), WorkError> {
        for (thread, path) in (0..).zip(paths) {
            let mut file = run.open(path, form.size_bytes)?;
            let there = run.check("looking at its files", std::fs::metadata(path))?.len();
            let there = there / self.block * self.block;
            let missing = Extent::new(there, form.size_bytes.saturating_sub(there));
            let generator = DataGenerator::new(thread);
            let data = (&generator, self.content, 0);
            let failed = |error| failed("laying down its files", &error);
            lay_down(&mut file, missing, data, failed, |_, _| {
                run.checkpoint("laying down files", 0.0, 0)
            })?;
        }
        Ok(())
    }

    /// Runs one phase: all threads begin together.
    fn step(
        &self,
        step: Step,
        paths: &[PathBuf],
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<Cell, WorkError> {
        let Step { form, phase, .. } = step;
        if phase.name == "write" {
            // As iozone: a file that is there is removed, so that writing allocates.
            paths.iter().filter(|path| path.exists()).try_for_each(|path| run.remove(path))?;
        }
        let seed = run.random("order").bits();
        let open = |path: &PathBuf| {
            let mut file = run.open(path, form.size_bytes)?;
            let prepared = file.prepare(1, self.block as usize);
            prepared.map(|()| file).map_err(|error| failed("making a buffer", &error))
        };
        let files = paths.iter().map(open).collect::<Result<Vec<RealDevice>, _>>()?;
        let direct = files.iter().all(|file| !file.facts().direct_refused);
        let limit_ns = form.time_ns.unwrap_or(self.max_time);
        let signals = Signals::new(files.len() + 1);
        let (ends, parent_ns, interrupted) = std::thread::scope(|scope| {
            let signals = &signals;
            let spawn = |(thread, file): (u64, RealDevice)| {
                let block_bytes = self.block;
                let turns = Turns { form, phase, block_bytes, order: None, limit_ns, signals };
                scope.spawn(move || work(file, thread, self.content, seed, turns))
            };
            let handles: Vec<_> = (0..).zip(files).map(spawn).collect();
            signals.begin.wait();
            let begun_ns = now_ns();
            let watched = self.watch(step, begun_ns, limit_ns, signals, run);
            let ends: Vec<_> = handles
                .into_iter()
                .map(|handle| handle.join().expect("a thread does not panic"))
                .collect();
            (ends, now_ns() - begun_ns, watched.err())
        });
        if let Some(interrupted) = interrupted {
            return Err(interrupted);
        }
        let doing = format!("{} with {} threads", phase.name, self.threads);
        let ends = ends.into_iter().collect::<Result<Vec<WorkerEnd>, _>>();
        let ends = ends.map_err(|error| failed(&doing, &error))?;
        Ok(self.cell(step, ends, parent_ns, direct))
    }

    /// Watches until all threads have finished; `Err` after an interruption.
    fn watch(
        &self,
        Step { form, phase, .. }: Step,
        begun_ns: u64,
        limit_ns: u64,
        signals: &Signals,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<(), WorkError> {
        let workers = self.threads as usize;
        let all = (form.size_bytes / self.block * workers as u64).max(1) as f64;
        while signals.finished.load(Ordering::Relaxed) < workers {
            let done = signals.done.load(Ordering::Relaxed);
            let timed = (now_ns() - begun_ns) as f64 / limit_ns as f64;
            let share = if form.time_ns.is_some() { timed } else { timed.max(done as f64 / all) };
            if let Err(interrupted) = run.checkpoint(phase.name, share, done) {
                signals.give_up.store(true, Ordering::Relaxed);
                return Err(interrupted);
            }
            std::thread::sleep(LOOK.min(Duration::from_nanos(limit_ns / 50 + MILLISECOND_NS / 10)));
        }
        Ok(())
    }

    fn params(&self, Step { form, phase, .. }: Step, direct: bool) -> Params {
        Params {
            direction: Some(phase.direction),
            pattern: Some(phase.pattern),
            block_bytes: Some(self.block),
            span_bytes: Some(form.size_bytes),
            path: if direct { Path::Direct } else { Path::Buffered },
            content: Some(self.content),
            threads: self.threads as u32,
            ..buffered(&format!("{}-{}", form.name, phase.name))
        }
    }

    fn cell(&self, step: Step, ends: Vec<WorkerEnd>, parent_ns: u64, direct: bool) -> Cell {
        let (id, params) = (format!("{}/{}", KIND.name, step.number), self.params(step, direct));
        let mut cell = Cell::begun(id, KIND.name, params);
        cell.ops = ends.iter().map(|end| end.ledger.ops()).sum();
        cell.bytes = cell.ops * self.block;
        cell.written_bytes = match step.phase.direction {
            Direction::Write => ends.iter().map(|end| end.moved_bytes).sum(),
            _ => 0,
        };
        cell.elapsed_ns = parent_ns;
        cell.stop = if ends.iter().any(|end| end.timed_out) { Stop::Time } else { Stop::Bytes };
        let mut histogram = Histogram::default();
        ends.iter().for_each(|end| histogram.merge(&end.ledger.tally.histogram));
        cell.metrics = metrics(&ends, &histogram, self.block, parent_ns);
        let series = |(thread, end): (usize, &WorkerEnd)| Series {
            name: format!("slowest I/O, thread {thread}"),
            ..end.ledger.tally.stall_series()
        };
        cell.series = ends.iter().enumerate().map(series).collect();
        cell.flags = flags(&ends);
        if !direct {
            cell.flags.push(Flag::Cached);
        }
        cell.histogram = (!histogram.is_empty()).then_some(histogram);
        cell
    }
}

fn failed(doing: &str, error: &IoError) -> WorkError {
    WorkError::device(KIND.name, doing, error)
}

/// Signals between parent and threads.
struct Signals {
    begin: Barrier,
    /// Set when the first thread has finished: the figures of the others are final.
    stonewall: AtomicBool,
    /// Set to end all threads at once.
    give_up: AtomicBool,
    done: AtomicU64,
    finished: AtomicUsize,
}

impl Signals {
    /// Signals for so many that wait for each other at the start.
    fn new(beginners: usize) -> Signals {
        Signals {
            begin: Barrier::new(beginners),
            stonewall: AtomicBool::new(false),
            give_up: AtomicBool::new(false),
            done: AtomicU64::new(0),
            finished: AtomicUsize::new(0),
        }
    }
}

/// Metrics of a phase: the sum of the rates, with an interval as if all threads erred together; the
/// parent's view; and the fairness.
fn metrics(ends: &[WorkerEnd], histogram: &Histogram, block_bytes: u64, parent_ns: u64) -> Metrics {
    let rates: Vec<f64> = ends.iter().map(WorkerEnd::iops).collect();
    let (ops, sum): (u64, f64) =
        (ends.iter().map(|end| end.ledger.ops()).sum(), rates.iter().sum());
    let mut metrics = Metrics::default();
    if ops == 0 {
        return metrics;
    }
    let intervals: Option<Vec<[f64; 2]>> = ends.iter().map(WorkerEnd::interval).collect();
    let ci95 = intervals
        .map(|all| all.iter().fold([0.0, 0.0], |sum, each| [sum[0] + each[0], sum[1] + each[1]]));
    metrics.iops = Some(Estimate { value: sum, ci95, n: ops });
    let bytes = block_bytes as f64;
    metrics.bps = Some(Estimate {
        value: sum * bytes,
        ci95: ci95.map(|ends| ends.map(|end| end * bytes)),
        n: ops,
    });
    let worst_ns = ends.iter().map(|end| end.ledger.tally.worst_ns).max().unwrap_or(0);
    metrics.latency_ns = Some(latency(histogram, worst_ns));
    let n = rates.len() as u64;
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let least = ends.iter().map(|end| end.ledger.ops()).min().unwrap_or(0) * block_bytes;
    for (name, value) in [
        ("parent_iops", ops as f64 * 1e9 / parent_ns.max(1) as f64),
        ("thread_min_iops", rates.iter().copied().fold(f64::INFINITY, f64::min)),
        ("thread_max_iops", rates.iter().copied().fold(0.0, f64::max)),
        ("thread_mean_iops", sum / n as f64),
        // Jain's index: 1 where all have the same, 1/n where one has everything.
        ("fairness", sum * sum / (n as f64 * squares)),
        ("min_transferred_bytes", least as f64),
        (metric::WORST_STALL_NS, worst_ns as f64),
    ] {
        metrics.put(name, value, n);
    }
    metrics
}

/// Caveats of all threads, each once.
fn flags(ends: &[WorkerEnd]) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for flag in ends.iter().flat_map(|end| end.ledger.tally.flags()) {
        if !flags.iter().any(|known| std::mem::discriminant(known) == std::mem::discriminant(&flag))
        {
            flags.push(flag);
        }
    }
    flags
}

impl Workload for Threads {
    fn needs_bytes(&self) -> u64 {
        let largest = self.forms.iter().map(|form| self.named(form).size_bytes).max().unwrap_or(0);
        let bytes = largest * self.threads;
        bytes + bytes / 64 + (16 << 20)
    }

    /// Returns a cell for each phase of each form, the random writes of the first form before all
    /// others. Beside `iops` (children see): `parent_iops`, `thread_min_iops`, `thread_mean_iops`,
    /// `thread_max_iops`, `fairness` (Jain's index), `min_transferred_bytes`.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let mut run = WorkloadRun::begin(KIND.name, context)?;
        let mut cells = Vec::new();
        let steps = (self.forms.len() * self.phases.len()) as f64;
        for form in &self.forms {
            self.form(self.named(form), &mut cells, steps, &mut run)?;
        }
        run.end()?;
        let headline = format!("{}-{HEADLINE}", self.forms[0]);
        cells.sort_by_key(|cell| cell.params.form.as_ref() != Some(&headline));
        Ok(cells)
    }
}
