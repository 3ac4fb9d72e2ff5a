//! The loop that does a trace again.

use std::sync::atomic::{AtomicBool, Ordering};

use device::{Completion, Device, Filler, IoError, IoErrorKind, Op, Request, Slot};
use record::{Content, Histogram, Path, Stop, Sync};

use super::{Left, Pace, Placing, ReplaySettings};
use crate::trace::{Course, Issue, Marks, Steps, TraceError, TraceEvent, TraceSurvey, op_index};

/// The kernel wakes a sleeper late, by its timer's slack and by what else runs: from here on the
/// clock is watched.
const SPIN_NS: u64 = 200_000;
/// The longest sleep without looking whether to stop.
const SLICE_NS: u64 = 50_000_000;
/// All buffers together; more requests in flight are held back.
const MOST_BUFFER_BYTES: u64 = 128 << 20;
/// Looks at a clock after which it is known not to move by itself.
const LOOKS: u32 = 1000;
/// The first request has its time this long after the replay was ready, so that it is not late
/// already.
const LEAD_NS: u64 = 1_000_000;
/// A request that is later than this was held back by what it waited for; less is what handing over
/// many at once takes.
const LATE_NS: u64 = 100_000;
/// Events between two words about how far it is.
const BEAT: u64 = 4096;

/// How far a replay is.
#[derive(Clone, Copy, Debug)]
pub struct ReplayProgress {
    /// Requests done so far; of a fill, its writes.
    pub ops: u64,
    /// Bytes read and written so far.
    pub bytes: u64,
    /// Bytes written so far, counted in `bytes` too.
    pub written_bytes: u64,
    /// Share of the trace's requests, 0 to 1.
    pub share: f64,
    /// Since the first request, by the device's clock.
    pub elapsed_ns: u64,
}

/// What came of one kind of operation.
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

/// What came of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOutcome {
    /// By operation, in the order of [`op_index`].
    pub by_op: [Done; 4],
    /// From the first submission to the last completion, by the device's clock.
    pub elapsed_ns: u64,
    /// How far from its time each request was submitted; empty where it was as fast as possible.
    pub error: Histogram,
    /// Requests whose time had passed by more than 0.1 ms when what they waited for was done.
    pub held_back: u64,
    /// Requests for which no buffer was free: the device takes fewer at once than the recorded one
    /// had.
    pub crowded: u64,
    /// When the last request was to be submitted, and was, in nanoseconds since the first.
    pub last_ns: (u64, u64),
    /// Requests left out: beyond the medium, for not reading, for being discards.
    pub left: [u64; 3],
    /// Requests widened to whole blocks.
    pub widened: u64,
    /// I/Os that took no time at all.
    pub zero_latencies: u64,
    /// Latencies of all operations over the time of the replay.
    pub course: Course,
    /// Processor time used, where there is a processor.
    pub cpu_ns: Option<u64>,
    /// The reason why it ended early; `None` where all of the trace was played.
    pub stop: Option<Stop>,
    /// What the medium said, where it failed.
    pub failure: Option<IoError>,
}

impl ReplayOutcome {
    /// Requests that succeeded, of all four operations.
    pub fn ops(&self) -> u64 {
        self.by_op.iter().map(|done| done.ops).sum()
    }

    /// Bytes moved; what is discarded does not move.
    pub fn bytes(&self) -> u64 {
        self.by_op[..2].iter().map(|done| done.bytes).sum()
    }

    /// Bytes written by requests that succeeded.
    pub fn written_bytes(&self) -> u64 {
        self.by_op[op_index(Op::Write)].bytes
    }
}

/// A request under way.
#[derive(Clone, Copy)]
struct Flight {
    number: u64,
    op: Op,
    bytes: u64,
    /// When it was to be submitted, by the device's clock.
    due_ns: Option<u64>,
}

/// Plays a trace on a device.
pub struct Player<'a> {
    device: &'a mut dyn Device,
    placing: &'a Placing,
    settings: ReplaySettings,
    filler: Filler,
    stop: &'a AtomicBool,
    on_progress: &'a mut dyn FnMut(ReplayProgress),
    /// What is in flight in each slot.
    flights: Vec<Option<Flight>>,
    free: Vec<Slot>,
    done: Vec<Completion>,
    fills: bool,
    /// Time passes only where it is made to.
    is_virtual: bool,
    /// Nothing is known of what waited for what; at most so many at once.
    limit: Option<usize>,
    requests: u64,
    started_ns: u64,
    outcome: ReplayOutcome,
}

impl<'a> Player<'a> {
    /// Makes buffers and looks at the clock. `on_progress` is told now and then how far it is;
    /// `stop` ends it.
    pub fn new(
        device: &'a mut dyn Device,
        survey: &TraceSurvey,
        placing: &'a Placing,
        settings: ReplaySettings,
        stop: &'a AtomicBool,
        on_progress: &'a mut dyn FnMut(ReplayProgress),
    ) -> Result<Player<'a>, IoError> {
        let slot_bytes = placing.slot_bytes(survey);
        let limit = (survey.completions == 0).then_some(settings.depth.max(1));
        let wanted = limit.unwrap_or(survey.depth).clamp(1, device.facts().max_in_flight.max(1));
        let slots =
            wanted.min((MOST_BUFFER_BYTES / slot_bytes).clamp(1, u64::from(u32::MAX)) as u32);
        device.prepare(slots, slot_bytes as usize)?;
        let first = device.now();
        let is_virtual = (0..LOOKS).all(|_| device.now() == first);
        let fills = device.facts().keeps_data;
        Ok(Player {
            device,
            placing,
            settings,
            filler: Filler::new(settings.seed),
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

    /// Does all of it. An `Err` is one of the trace; what the medium did is in the outcome.
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
                self.tell();
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

    /// An error of the medium, an error of a request, or someone wants it to end.
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

    fn tell(&mut self) {
        let (ops, bytes) = (self.outcome.ops(), self.outcome.bytes());
        let elapsed_ns = self.device.now().saturating_sub(self.started_ns);
        let share = ops as f64 / self.requests.max(1) as f64;
        (self.on_progress)(ReplayProgress {
            ops,
            bytes,
            written_bytes: self.outcome.written_bytes(),
            share,
            elapsed_ns,
        });
    }

    /// Submits a request when its time has come and what it waits for is done.
    fn issue(&mut self, issue: &Issue, number: u64) -> Result<(), IoError> {
        let place = match self.placing.place(issue) {
            Ok(place) => place,
            Err(left) => {
                self.outcome.left[match left {
                    Left::Beyond => 0,
                    Left::NotRead => 1,
                    Left::NoDiscards => 2,
                }] += 1;
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
            self.filler.fill(buffer, Content::Incompressible, pass, place.offset_bytes);
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
            sync: if issue.op == Op::Write && issue.marks.has(Marks::FUA) {
                Sync::Data
            } else {
                Sync::None
            },
            path: Path::Direct,
            content: Content::Incompressible,
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

    /// A free buffer; `None` if it is over before there is one.
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

    /// The request that completed here when it was recorded must be done before anything else is
    /// issued.
    fn wait_for(&mut self, number: u64) -> Result<(), IoError> {
        while self.flights.iter().flatten().any(|flight| flight.number == number) && !self.is_over()
        {
            self.reap(1)?;
        }
        Ok(())
    }

    /// Sleeps, then watches the clock; `false` if it is over before.
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
                    self.tell();
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
        self.outcome.course.push(since_ns(completion.completed_ns), latency_ns);
        self.outcome.elapsed_ns = self.outcome.elapsed_ns.max(since_ns(completion.completed_ns));
        if let Some(due_ns) = flight.due_ns {
            self.outcome.error.record(completion.submitted_ns.abs_diff(due_ns));
            if since_ns(due_ns) >= self.outcome.last_ns.0 {
                self.outcome.last_ns = (since_ns(due_ns), since_ns(completion.submitted_ns));
            }
        }
    }
}
