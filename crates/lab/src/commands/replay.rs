//! `flashmark replay`: repeats a recorded trace on any target.

use device::{Extent, Extents};
use record::text::{self, printable};
use record::units::{Bytes, MIB, Nanos};
use record::{Ended, Stop, TargetKind};
use suite::{Plan, RunEnd, RunEvent};
use workloads::replay::{self, CapacityFit, Pace, Replay, ReplaySettings};
use workloads::trace::{self, TraceSurvey};

use crate::cli::{FitFlag, ReplayFlags};
use program::exit::{Exit, OrExit, Result, refuse, usage};
use program::printing::print;
use program::signals;
use session::begin::{begin, opening, run_id};
use session::progress_display;
use session::request::RunRequest;
use session::session::{Body, Session, Workplace};
use session::target::Target;
use session::words;

/// Replays a trace on a target and keeps the run; with `--plan` it only prints what would be done.
pub fn run(flags: &ReplayFlags) -> Result {
    let settings = settings(flags)?;
    flags.outputs.check()?;
    let mut request = RunRequest::of(&flags.target, &flags.access, Some(flags.seed))?;
    let stop = signals::listen()?;
    let trace = trace::open(&flags.trace).or_usage()?;
    let Some(survey) = TraceSurvey::of(&trace, &stop).or_usage()? else {
        return Ok(Exit::Interrupted);
    };
    let ends = survey.spans.iter().map(|span| span.end_bytes.next_multiple_of(MIB));
    request.file_bytes = ends.sum::<u64>().max(16 * MIB);
    let opened = Target::open(&request)?;
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
    let id = run_id(&request, &plan.suite, &opened);
    let opening = opening(&id, &request, flags.label.clone(), &opened, &plan)?;
    let (dir, journal) = begin(&opening)?;
    // A file that was made just now has nothing in it that could be read from a medium.
    let is_new = opened.target.kind == TargetKind::Directory;
    let fills = is_new && replay.survey.of_op(device::Op::Read).requests > 0;
    let (target, outputs) = (opened, flags.outputs.clone());
    let (done, used_ns, taken_anew) = (Vec::new(), 0, false);
    Session { target, plan, request, dir, journal, done, used_ns, taken_anew, outputs }
        .hold(&mut ReplayBody { fill: fills.then_some(replay.span()), replay })
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

/// Description of the trace and of the plan, for `--plan`.
fn describe(
    Replay { trace, survey, plan, .. }: &Replay,
    (opened, request): (&Target, &RunRequest),
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
    let by_op = survey.by_op.iter().zip(["reads", "writes", "flushes", "discards"]);
    for (recorded, name) in by_op.filter(|(recorded, _)| recorded.requests > 0) {
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
    let cell = &plan[0];
    let words = words::cell(&cell.test, &cell.params);
    text += &format!("{}\n", progress_display::planned(&words, cell));
    text::escaped(&(text + "Nothing was written.\n"))
}

/// A replay as the body of a session.
struct ReplayBody {
    replay: Replay,
    /// Span that is written first, so that there is something to read.
    fill: Option<Extent>,
}

impl Body for ReplayBody {
    fn writes(&self, plan: &Plan, _: bool) -> Option<(Extents, u64)> {
        let filled = self.fill.map_or(0, |span| span.bytes);
        let allowed = Extents::of(plan.writes().iter().copied().chain(self.fill));
        Some((allowed, plan.max_written_bytes().saturating_add(filled)))
    }

    fn announcement(&self, _: &Target, plan: &Plan, _: u64) -> String {
        let Replay { trace, survey, settings, .. } = &self.replay;
        let first = self.fill.map(|span| {
            format!("; {} are written first, so that there is something to read", Bytes(span.bytes))
        });
        format!(
            "{} requests of {} ({}), {}; writes at most {}{}",
            survey.requests(),
            printable(&trace.path().display().to_string()),
            trace.form().in_words(),
            replay::title(settings.pace),
            Bytes(plan.max_written_bytes()),
            first.unwrap_or_default()
        )
    }

    fn work(&mut self, at: Workplace<'_>) -> Result<RunEnd> {
        let Workplace { medium, plan, journal, screen, stop, .. } = at;
        let (medium, cell) = (medium.expect("a replay opens a device"), &plan.cells[0]);
        screen.show(&RunEvent::CellStarted { index: 0, cell, allotted_ns: cell.max_ns });
        let mut show = |progress| screen.show(&RunEvent::Progress(progress));
        let outcome = self.replay.play(medium, self.fill, stop, &mut show).or_usage()?;
        for (index, cell) in self.replay.cells(&outcome).iter().enumerate() {
            // On disk first: what was shown is never lost.
            journal.append_cell(cell).or_internal()?;
            screen.show(&RunEvent::CellFinished { index, cell });
        }
        let ended = match outcome.stop {
            Some(Stop::Interrupted) => Ended::Interrupted,
            Some(Stop::Error) => Ended::Error,
            _ => Ended::Complete,
        };
        let (elapsed_ns, error) = (outcome.elapsed_ns, outcome.failure);
        Ok(RunEnd { ended, error, elapsed_ns, ..RunEnd::default() })
    }

    fn way_on(&self, _: &str) -> String {
        "a replay begins from the beginning again".to_owned()
    }
}
