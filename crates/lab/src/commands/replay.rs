//! `flashmark replay`: repeats a recorded trace on any target.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use device::{Device, Extent, ExtentGuard, Extents, WriteBudget};
use record::text::{self, printable};
use record::units::{Bytes, Nanos};
use record::{Cell, Ended, Stop, TargetKind};
use store::{Ending, Journal, RunDir};
use suite::{CellProgress, Plan, RunEvent};
use workloads::replay::{
    self, CapacityFit, Pace, Replay, ReplayOutcome, ReplayProgress, ReplaySettings,
};
use workloads::trace::{self, TraceSurvey};

use crate::cli::{FitFlag, ReplayFlags};
use crate::run_end::{self, Continuation};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;
use program::signals;
use session::begin::{begin, opening, run_id};
use session::open_target::OpenTarget;
use session::outputs::{self, Outputs};
use session::progress_display::{self, Screen};
use session::progress_events;
use session::request::RunRequest;
use session::watchdog::Watchdog;
use session::words;

/// Replays a trace on a target and keeps the run; with `--plan` it only prints what would be done.
pub fn run(flags: &ReplayFlags) -> Result {
    let settings = settings(flags)?;
    flags.outputs.check()?;
    let mut request = request(flags)?;
    let stop = signals::listen()?;
    let trace = trace::open(&flags.trace).or_usage()?;
    let Some(survey) = TraceSurvey::of(&trace, &stop).or_usage()? else {
        return Ok(Exit::Interrupted);
    };
    request.file_bytes = survey
        .spans
        .iter()
        .map(|span| span.end_bytes.next_multiple_of(1 << 20))
        .sum::<u64>()
        .max(16 << 20);
    let opened = OpenTarget::open(&request)?;
    let room = request.only().unwrap_or(Extent::new(0, opened.info.facts.capacity_bytes));
    let writes = survey.modifies() && !settings.reads_only;
    if writes
        && request.erase.is_none()
        && matches!(opened.target.kind, TargetKind::Block | TargetKind::File)
    {
        return refuse(format_args!(
            "the trace writes, and '{}' may only be read: --erase ID allows it to be overwritten, --reads-only leaves the writes out",
            flags.target
        ));
    }
    let replay = Replay::new(trace, survey, settings, &opened.info.facts, room).or_refuse()?;
    let cells = replay.plan.clone();
    let plan = Plan { suite: replay::TEST.into(), cells, ..Plan::default() };
    if flags.plan {
        print(&describe(&replay, (&opened, &request)))?;
        return Ok(Exit::Done);
    }
    request.confirmed = opened.confirm(&request)?;
    let opening = opening(
        &run_id(&request, &plan.suite, &opened),
        &request,
        flags.label.clone(),
        &opened,
        &plan,
    )?;
    let (dir, journal) = begin(&opening)?;
    let outputs = flags.outputs.clone();
    ReplaySession { opened, plan, replay, stop, dir, journal, outputs }.hold()
}

fn settings(flags: &ReplayFlags) -> Result<ReplaySettings> {
    let pace = match flags.speed.as_str() {
        "max" => Pace::Max,
        text => match text.trim_end_matches('x').parse::<f64>() {
            Ok(times) if (1e-3..=1e6).contains(&times) => Pace::Times(times),
            _ => {
                return usage(format_args!(
                    "--speed {text}: type 1 (as recorded), a number such as 10 (10x faster) or max"
                ));
            }
        },
    };
    let fit = match flags.fit {
        None => CapacityFit::Exact,
        Some(FitFlag::Scale) => CapacityFit::Scale,
        Some(FitFlag::Wrap) => CapacityFit::Wrap,
        Some(FitFlag::Skip) => CapacityFit::Skip,
    };
    Ok(ReplaySettings {
        pace,
        fit,
        depth: flags.depth,
        reads_only: flags.reads_only,
        seed: flags.seed,
    })
}

fn request(flags: &ReplayFlags) -> Result<RunRequest> {
    let span = flags.access.span.as_deref().map(session::request::read_span).transpose()?;
    // As a journal has it: what a replay knows nothing of is as if it had not been said.
    let fields = serde_json::json!({
        "target": flags.target, "erase": flags.access.erase()?, "span": span, "engine": flags.access.engine, "seed": flags.seed, "file_bytes": 0
    });
    let request: RunRequest = serde_json::from_value(fields).or_internal()?;
    Ok(RunRequest { yes: flags.access.yes, ..request })
}

/// Description of the trace and of the plan, for `--plan`.
fn describe(
    Replay { trace, survey, plan, .. }: &Replay,
    (opened, request): (&OpenTarget, &RunRequest),
) -> String {
    let mut text = format!(
        "{}: {}, {} requests, {} in {}, up to {} at once\n",
        printable(&trace.path().display().to_string()),
        trace.form().in_words(),
        survey.requests(),
        Bytes(survey.bytes()),
        Nanos(survey.duration_ns),
        survey.depth
    );
    for (recorded, name) in survey
        .by_op
        .iter()
        .zip(["reads", "writes", "flushes", "discards"])
        .filter(|(recorded, _)| recorded.requests > 0)
    {
        let p50 = (!recorded.latency.is_empty())
            .then(|| format!(", recorded median {}", Nanos(recorded.latency.quantile(0.5))));
        text += &format!(
            "  {:>9} {name:<9} {}{}\n",
            recorded.requests,
            Bytes(recorded.bytes),
            p50.unwrap_or_default()
        );
    }
    if let Some(how) = &survey.cut_off {
        text += &format!("  the trace is not whole: {how}\n");
    }
    text += &format!("{}\n{}Would be done:\n", opened.describe(), opened.erased(request));
    for cell in plan.iter().take(1) {
        text += &format!(
            "{}\n",
            progress_display::planned(&words::cell(&cell.test, &cell.params), cell)
        );
    }
    text::escaped(&(text + "Nothing was written.\n"))
}

/// A replay, with everything it needs from target to journal.
struct ReplaySession {
    opened: OpenTarget,
    plan: Plan,
    replay: Replay,
    stop: Arc<AtomicBool>,
    dir: RunDir,
    journal: Journal,
    outputs: Outputs,
}

impl ReplaySession {
    /// Replays, keeps, reports; returns how the program ends.
    fn hold(mut self) -> Result {
        // A file that was made just now has nothing in it that could be read from a medium.
        let fills = self.opened.target.kind == TargetKind::Directory
            && self.replay.survey.of_op(device::Op::Read).requests > 0;
        let span = self.replay.span();
        let filled = if fills { span.bytes } else { 0 };
        let allowed = Extents::of(self.plan.writes().iter().copied().chain(fills.then_some(span)));
        let budget = self.plan.max_written_bytes().saturating_add(filled);
        let device = WriteBudget::new(self.opened.take_device(&self.plan), budget);
        let mut medium = ExtentGuard::new(Box::new(device) as Box<dyn Device>, allowed);
        if budget > 0 {
            self.opened.recheck().or_refuse()?;
        }
        let screen = Screen::open(1, self.outputs.is_silent(), self.opened.waiting());
        progress_events::planned(&self.dir, &self.plan.cells, &[], &[]);
        screen.print(&self.announcement(filled));
        let nothing_pending = Arc::new(AtomicBool::new(false));
        let watchdog = Watchdog::start(&self.stop, &nothing_pending, self.opened.waiting(), || {
            program::say!(
                "\nflashmark: interrupted while the medium did not answer; a replay begins from the beginning again"
            );
        });
        let played = self.play(&mut medium, &screen, fills.then_some(span));
        watchdog.end();
        let outcome = played?;
        let cells = self.replay.cells(&outcome);
        let kept = self.keep(&cells, &screen);
        drop(screen);
        drop(medium);
        kept?;
        self.conclude(&outcome)
    }

    fn announcement(&self, filled: u64) -> String {
        let what = replay::title(self.replay.settings.pace);
        let first = if filled > 0 {
            format!("; {} are written first, so that there is something to read", Bytes(filled))
        } else {
            String::new()
        };
        format!(
            "{}\n{} requests of {} ({}), {what}; writes at most {}{first}",
            self.opened.describe(),
            self.replay.survey.requests(),
            printable(&self.replay.trace.path().display().to_string()),
            self.replay.trace.form().in_words(),
            Bytes(self.plan.max_written_bytes())
        )
    }

    fn play(
        &self,
        medium: &mut dyn Device,
        screen: &Screen,
        fill: Option<Extent>,
    ) -> Result<ReplayOutcome> {
        screen.show(&RunEvent::CellStarted {
            index: 0,
            cell: &self.plan.cells[0],
            allotted_ns: self.plan.cells[0].max_ns,
        });
        self.replay
            .play(medium, fill, &self.stop, &mut |phase, progress| {
                show_progress(screen, phase, progress);
            })
            .or_usage()
    }

    /// Writes cells to the disk before the screen shows them: what was shown is never lost.
    fn keep(&mut self, cells: &[Cell], screen: &Screen) -> Result<()> {
        for (index, cell) in cells.iter().enumerate() {
            self.journal.append(&cell.clone().into()).or_internal()?;
            screen.show(&RunEvent::CellFinished { index, cell });
        }
        Ok(())
    }

    fn conclude(mut self, outcome: &ReplayOutcome) -> Result {
        let ended = match outcome.stop {
            Some(Stop::Interrupted) => Ended::Interrupted,
            Some(Stop::Error) => Ended::Error,
            _ => Ended::Complete,
        };
        let finished = self.opened.now();
        // A medium that has just failed may take long to say how it feels.
        let health = if ended == Ended::Complete { self.opened.health() } else { None };
        let ending = Ending {
            ended,
            finished,
            elapsed_ns: outcome.elapsed_ns,
            temperatures: self.opened.temperatures(),
            health,
        };
        let record = run_end::finish(
            &self.dir,
            &mut self.journal,
            ending,
            Continuation::StartAgain,
            |record| {
                session::run_session::concluded_for(record, &[]);
            },
        )?;
        outputs::deliver(&record, &self.dir, Exit::of(&record, None), &self.outputs)?;
        match (ended, &outcome.failure) {
            (Ended::Interrupted, _) => {
                program::say!(
                    "flashmark: interrupted; what was replayed is kept, a replay begins from the beginning again"
                );
                Ok(Exit::Interrupted)
            }
            (Ended::Error, Some(error)) => {
                program::say!("flashmark: {error}; what was replayed before is kept");
                Ok(Exit::Io)
            }
            _ => Ok(Exit::Done),
        }
    }
}

fn show_progress(screen: &Screen, phase: &'static str, progress: ReplayProgress) {
    let seconds = (progress.elapsed_ns as f64 / 1e9).max(1e-9);
    let left = if progress.share > 0.0 {
        progress.elapsed_ns as f64 * (1.0 - progress.share) / progress.share
    } else {
        0.0
    };
    screen.show(&RunEvent::Progress(CellProgress {
        index: 0,
        phase,
        share: progress.share,
        ops: progress.ops,
        bytes: progress.bytes,
        elapsed_ns: progress.elapsed_ns,
        iops: progress.ops as f64 / seconds,
        bps: progress.bytes as f64 / seconds,
        written_bytes: progress.written_bytes,
        remaining_ns: left as u64,
    }));
}
