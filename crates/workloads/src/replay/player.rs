//! Loop that repeats a trace.

use std::sync::atomic::{AtomicBool, Ordering};

use device::{Completion, DataGenerator, Device, IoError, IoErrorKind, Op, Request, Slot};
use record::{Content, Histogram, Path, Stop, Sync};

use super::placing::Placing;
use super::{OnProgress, Pace, Replay, ReplaySettings, progress};
use crate::trace::{Issue, LatencyTimeline, Steps, TraceError, TraceEvent, op_index};

/// Time before a request is due, in nanoseconds, at which sleeping ends and the clock is watched:
/// the kernel wakes a sleeper late, by its timer's slack and by other load.
const SPIN_NS: u64 = 200_000;
/// Longest sleep between two looks at `stop`, in nanoseconds.
const SLICE_NS: u64 = 50_000_000;
/// Most bytes of all buffers together; they limit the requests in flight.
const MAX_BUFFER_BYTES: u64 = 128 << 20;
/// Number of readings after which a clock that has not moved is virtual.
const LOOKS: u32 = 1000;
/// Time in nanoseconds from the end of preparations to the first request, so that it is not late
/// already.
const LEAD_NS: u64 = 1_000_000;
/// Delay in nanoseconds above which a request was held back by the requests that it waited for;
/// submitting many at once causes smaller ones.
const LATE_NS: u64 = 100_000;
/// Events between two reports of progress.
const BEAT: u64 = 4096;

/// Results of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// Requests of this operation that succeeded.
    pub ops: u64,
    /// Bytes these requests read, wrote or discarded.
    pub bytes: u64,
    /// Their latencies, by the device's clock.
    pub latency: Histogram,
    /// Longest of these latencies, to the nanosecond.
    pub worst_ns: u64,
}

/// Results of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOutcome {
    /// Results of reads, writes, flushes and discards.
    pub by_op: [Done; 4],
    /// Time from the first submission to the last completion, in nanoseconds by the device's clock.
    pub elapsed_ns: u64,
    /// Deviations of the submissions from their times, in nanoseconds; empty if it was as fast as
    /// possible.
    pub error: Histogram,
    /// Requests that were due more than 0.1 ms before the requests that they waited for were done.
    pub held_back: u64,
    /// Requests for which no buffer was free: the device takes fewer at once than the recorded one.
    pub crowded: u64,
    /// Planned and actual time of the last submission, in nanoseconds since the first.
    pub last_ns: (u64, u64),
    /// Requests left out, by [`Left`](super::placing::Left).
    pub left: [u64; 3],
    /// Requests widened to whole blocks.
    pub widened: u64,
    /// I/Os with a latency of 0.
    pub zero_latencies: u64,
    /// Latencies of all operations over the time of the replay.
    pub latency_timeline: LatencyTimeline,
    /// Processor time used, in nanoseconds; `None` if it is not known.
    pub cpu_ns: Option<u64>,
    /// Reason why it ended early; `None` if the whole trace was replayed.
    pub stop: Option<Stop>,
    /// Error of the medium, if it failed.
    pub failure: Option<IoError>,
}

impl ReplayOutcome {
    /// Requests that succeeded, of all four operations.
    pub fn ops(&self) -> u64 {
        self.by_op.iter().map(|done| done.ops).sum()
    }

    /// Bytes read and written; discards move none.
    pub fn bytes(&self) -> u64 {
        self.by_op[..2].iter().map(|done| done.bytes).sum()
    }

    /// Bytes written by requests that succeeded.
    pub fn written_bytes(&self) -> u64 {
        self.by_op[op_index(Op::Write)].bytes
    }
}

/// A request in flight.
#[derive(Clone, Copy)]
struct Flight {
    number: u64,
    op: Op,
    bytes: u64,
    /// Planned time of its submission, by the device's clock.
    due_ns: Option<u64>,
}

/// Replays a trace on a device.
pub(super) struct Player<'a> {
    device: &'a mut dyn Device,
    placing: &'a Placing,
    settings: ReplaySettings,
    generator: DataGenerator,
    stop: &'a AtomicBool,
    on_progress: OnProgress<'a>,
    /// Request in flight in each slot.
    flights: Vec<Option<Flight>>,
    free: Vec<Slot>,
    done: Vec<Completion>,
    fills: bool,
    /// True if time is virtual.
    is_virtual: bool,
    /// Most requests in flight, if the trace does not say which request waited for which.
    limit: Option<usize>,
    requests: u64,
    started_ns: u64,
    outcome: ReplayOutcome,
}

impl<'a> Player<'a> {
    /// Makes buffers and reads the clock. `on_progress` is called now and then; `stop` ends the
    /// replay.
    pub fn new(
        device: &'a mut dyn Device,
        replay: &'a Replay,
        stop: &'a AtomicBool,
        on_progress: OnProgress<'a>,
    ) -> Result<Player<'a>, IoError> {
        let Replay { survey, placing, settings, .. } = replay;
        let slot_bytes = placing.slot_bytes(survey);
        let limit = (survey.completions == 0).then_some(settings.depth.max(1));
        let wanted = limit.unwrap_or(survey.depth).clamp(1, device.facts().max_in_flight.max(1));
        let slots =
            wanted.min((MAX_BUFFER_BYTES / slot_bytes).clamp(1, u64::from(u32::MAX)) as u32);
        device.prepare(slots, slot_bytes as usize)?;
        let first = device.now();
        let is_virtual = (0..LOOKS).all(|_| device.now() == first);
        let fills = device.facts().keeps_data;
        Ok(Player {
            device,
            placing,
            settings: *settings,
            generator: DataGenerator::new(settings.seed),
            stop,
            on_progress,
            flights: vec![None; slots as usize],
            free: (0..slots).rev().collect(),
            done: Vec::with_capacity(slots as usize),
            fills,
            is_virtual,
            limit: limit.map(|limit| limit as usize),
            requests: survey.requests(),
            started_ns: 0,
            outcome: ReplayOutcome::default(),
        })
    }

    /// Replays all of it. An `Err` is an error of the trace; errors of the medium are in the
    /// outcome.
    pub fn play(mut self, steps: &mut dyn Steps) -> Result<ReplayOutcome, TraceError> {
        let cpu_before = self.device.cpu_ns();
        self.started_ns = self.device.now();
        if self.settings.pace != Pace::Max && !self.is_virtual {
            self.started_ns += LEAD_NS;
        }
        let mut number = 0;
        let mut taken = 0u64;
        while let Some(step) = steps.next()? {
            let went = match step {
                TraceEvent::Issued(issue) => {
                    number += 1;
                    self.issue(&issue, number - 1)
                }
                TraceEvent::Completed { number, .. } => self.wait_for(number),
            };
            if let Err(error) = went {
                self.fail(error);
            }
            taken += 1;
            if taken.is_multiple_of(BEAT) {
                self.report_progress();
            }
            if self.is_over() {
                break;
            }
        }
        while self.in_flight() > 0 {
            if let Err(error) = self.reap(1) {
                self.fail(error);
                break;
            }
        }
        self.outcome.cpu_ns = self
            .device
            .cpu_ns()
            .zip(cpu_before)
            .map(|(after, before)| after.saturating_sub(before));
        Ok(self.outcome)
    }

    /// True after an error of the medium or of a request, or if the user wants it to end.
    fn is_over(&mut self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            self.outcome.stop.get_or_insert(Stop::Interrupted);
        }
        self.outcome.stop.is_some()
    }

    fn fail(&mut self, error: IoError) {
        self.outcome.stop = Some(Stop::Error);
        self.outcome.failure.get_or_insert(error);
    }

    fn in_flight(&self) -> usize {
        self.flights.len() - self.free.len()
    }

    fn report_progress(&mut self) {
        let counts = [self.outcome.ops(), self.outcome.bytes(), self.outcome.written_bytes()];
        let share = counts[0] as f64 / self.requests.max(1) as f64;
        let elapsed_ns = self.device.now().saturating_sub(self.started_ns);
        (self.on_progress)(progress("replaying", counts, share, elapsed_ns));
    }

    /// Submits a request when it is due and the requests that it waits for are done.
    fn issue(&mut self, issue: &Issue, number: u64) -> Result<(), IoError> {
        let place = match self.placing.place(issue) {
            Ok(place) => place,
            Err(left) => {
                self.outcome.left[left as usize] += 1;
                return Ok(());
            }
        };
        self.outcome.widened += u64::from(self.placing.widens(issue));
        let Some(slot) = self.slot()? else { return Ok(()) };
        if issue.op == Op::Write && self.fills {
            // Now, while there is time: making it must not delay the request. No data twice, as a
            // controller may know data again.
            let pass = (number >> 8) as u32;
            let buffer = &mut self.device.buffer(slot)[..place.bytes as usize];
            self.generator.fill(buffer, Content::Incompressible, pass, place.offset_bytes);
        }
        let due_ns = match self.settings.pace {
            Pace::Times(times) => Some(self.started_ns + (issue.time_ns as f64 / times) as u64),
            Pace::Max => None,
        };
        if let Some(due_ns) = due_ns
            && !self.wait_until(due_ns)?
        {
            self.free.push(slot);
            return Ok(());
        }
        let request = Request {
            op: issue.op,
            offset_bytes: place.offset_bytes,
            length_bytes: place.bytes,
            slot,
            sync: if issue.op == Op::Write && issue.fua { Sync::Data } else { Sync::None },
            path: Path::Direct,
            content: Content::Incompressible,
            pass: None,
        };
        if let Err(error) = self.device.submit(request) {
            self.free.push(slot);
            return Err(error);
        }
        self.flights[slot as usize] =
            Some(Flight { number, op: issue.op, bytes: place.bytes, due_ns });
        // A queue hands over what it holds when it is asked for what is done.
        if due_ns.is_some() { self.reap(0) } else { Ok(()) }
    }

    /// A free buffer; `None` if the replay ends before there is one.
    fn slot(&mut self) -> Result<Option<Slot>, IoError> {
        if let Some(limit) = self.limit {
            while self.in_flight() >= limit && !self.is_over() {
                self.reap(1)?;
            }
        }
        self.outcome.crowded += u64::from(self.free.is_empty() && self.limit.is_none());
        while self.free.is_empty() && !self.is_over() {
            self.reap(1)?;
        }
        Ok(if self.is_over() { None } else { self.free.pop() })
    }

    /// Waits until the request is done that completed at this point of the recording.
    fn wait_for(&mut self, number: u64) -> Result<(), IoError> {
        while self.flights.iter().flatten().any(|flight| flight.number == number) && !self.is_over()
        {
            self.reap(1)?;
        }
        Ok(())
    }

    /// Sleeps, then watches the clock; false if the replay ends before.
    fn wait_until(&mut self, due_ns: u64) -> Result<bool, IoError> {
        let mut now_ns = self.device.now();
        self.outcome.held_back += u64::from(now_ns.saturating_sub(due_ns) > LATE_NS);
        while now_ns < due_ns {
            if self.is_over() {
                return Ok(false);
            }
            let left_ns = due_ns - now_ns;
            if self.is_virtual {
                self.device.idle(left_ns);
            } else if left_ns > SPIN_NS {
                self.device.idle((left_ns - SPIN_NS).min(SLICE_NS));
                if left_ns > SLICE_NS {
                    self.report_progress();
                }
            }
            if self.in_flight() > 0 {
                self.reap(0)?;
            }
            now_ns = self.device.now();
        }
        Ok(true)
    }

    fn reap(&mut self, min: usize) -> Result<(), IoError> {
        let mut done = std::mem::take(&mut self.done);
        let reaped = self.device.reap(min, &mut done);
        for completion in done.drain(..) {
            self.finish(&completion);
        }
        self.done = done;
        reaped
    }

    #[inline]
    fn finish(&mut self, completion: &Completion) {
        let Some(flight) = self.flights[completion.slot as usize].take() else { return };
        self.free.push(completion.slot);
        if let Err(error) = &completion.result {
            // A request whose place cannot be reached is our own mistake; everything else is the
            // medium's.
            debug_assert!(error.kind != IoErrorKind::Refused, "{error}");
            return self.fail(error.clone());
        }
        let latency_ns = completion.latency_ns();
        let since_ns = |ns: u64| ns.saturating_sub(self.started_ns);
        let done = &mut self.outcome.by_op[op_index(flight.op)];
        done.ops += 1;
        done.bytes += flight.bytes;
        done.latency.record(latency_ns);
        done.worst_ns = done.worst_ns.max(latency_ns);
        self.outcome.zero_latencies += u64::from(latency_ns == 0);
        self.outcome.latency_timeline.push(since_ns(completion.completed_ns), latency_ns);
        self.outcome.elapsed_ns = self.outcome.elapsed_ns.max(since_ns(completion.completed_ns));
        if let Some(due_ns) = flight.due_ns {
            self.outcome.error.record(completion.submitted_ns.abs_diff(due_ns));
            if since_ns(due_ns) >= self.outcome.last_ns.0 {
                self.outcome.last_ns = (since_ns(due_ns), since_ns(completion.submitted_ns));
            }
        }
    }
}
