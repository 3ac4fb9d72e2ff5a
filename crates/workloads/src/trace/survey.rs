//! What a trace amounts to, found by reading it once before anything is done.

use std::sync::atomic::{AtomicBool, Ordering};

use device::Op;
use record::{Histogram, Series, SeriesAxis};

use super::{Issue, Trace, TraceError, TraceEvent};

/// Requests under way at once, beyond which completions must have been lost.
const MAX_OPEN: u32 = 1 << 16;
/// Points a curve keeps at most.
const CURVE_POINTS: usize = 240;

/// The place of an operation in tables of all four: read, write, flush, discard.
pub(crate) fn op_index(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Flush => 2,
        Op::Discard => 3,
    }
}

/// What was recorded of one kind of operation.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Requests of this operation that were issued.
    pub requests: u64,
    /// Bytes these requests are long; 0 for flushes.
    pub bytes: u64,
    /// What they took, from being issued to being done, as far as the recording says it.
    pub latency: Histogram,
}

/// The address range that a recording touches on one of its devices, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its number in the trace.
    pub device: u32,
    /// First byte after everything that was touched.
    pub end_bytes: u64,
}

/// What a trace amounts to.
#[derive(Clone, Debug, Default)]
pub struct TraceSurvey {
    /// Of reads, writes, flushes and discards.
    pub by_op: [Recorded; 4],
    /// Completions; none in a fio iolog.
    pub completions: u64,
    /// When the last event was, in nanoseconds since the first.
    pub duration_ns: u64,
    /// The longest read or write in bytes.
    pub longest_bytes: u64,
    /// Most requests under way at once; of requests whose end was not recorded nothing is known.
    pub depth: u32,
    under_way: u32,
    /// What was touched, in the order in which the devices appear.
    pub spans: Vec<Span>,
    /// Recorded latencies over time.
    pub latency_timeline: LatencyTimeline,
    /// Where and how the recording breaks off, if it does.
    pub cut_off: Option<String>,
}

impl TraceSurvey {
    /// Reads a trace from end to end; at once `None` when it is to stop.
    pub fn of(trace: &Trace, stop: &AtomicBool) -> Result<Option<TraceSurvey>, TraceError> {
        let mut steps = trace.steps()?;
        let mut survey = TraceSurvey::default();
        while let Some(step) = steps.next()? {
            survey.take(&step);
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
        survey.cut_off = steps.cut_off();
        if survey.requests() == 0 {
            let form = trace.form().in_words();
            let what = format_args!("({form}) holds no read, write, flush or discard");
            return Err(TraceError::of(trace.path(), what));
        }
        Ok(Some(survey))
    }

    /// Requests issued, of all four operations.
    pub fn requests(&self) -> u64 {
        self.by_op.iter().map(|recorded| recorded.requests).sum()
    }

    /// Bytes of all requests, those of discards included.
    pub fn bytes(&self) -> u64 {
        self.by_op.iter().map(|recorded| recorded.bytes).sum()
    }

    /// What was recorded of one operation.
    pub fn of_op(&self, op: Op) -> &Recorded {
        &self.by_op[op_index(op)]
    }

    /// True if it writes or discards.
    pub fn modifies(&self) -> bool {
        self.of_op(Op::Write).requests + self.of_op(Op::Discard).requests > 0
    }

    fn take(&mut self, step: &TraceEvent) {
        self.duration_ns = self.duration_ns.max(step.time_ns());
        match step {
            TraceEvent::Issued(issue) => {
                self.under_way = self.under_way % MAX_OPEN + 1;
                self.depth = self.depth.max(self.under_way);
                self.count(issue);
            }
            TraceEvent::Completed { time_ns, op, issued_ns, .. } => {
                self.completions += 1;
                self.under_way = self.under_way.saturating_sub(1);
                // A flush before a write is told as done at once.
                let took_ns = time_ns.saturating_sub(*issued_ns);
                if took_ns > 0 {
                    self.by_op[op_index(*op)].latency.record(took_ns);
                    self.latency_timeline.push(*time_ns, took_ns);
                }
            }
        }
    }

    fn count(&mut self, issue: &Issue) {
        let recorded = &mut self.by_op[op_index(issue.op)];
        recorded.requests += 1;
        recorded.bytes = recorded.bytes.saturating_add(issue.length_bytes);
        if matches!(issue.op, Op::Read | Op::Write) {
            self.longest_bytes = self.longest_bytes.max(issue.length_bytes);
        }
        let end_bytes = issue.offset_bytes.saturating_add(issue.length_bytes);
        match self.spans.iter_mut().find(|span| span.device == issue.device) {
            Some(span) => span.end_bytes = span.end_bytes.max(end_bytes),
            None => self.spans.push(Span { device: issue.device, end_bytes }),
        }
    }
}

/// Latencies over time: the mean of each of at most 240 stretches of equal length.
#[derive(Clone, Debug)]
pub struct LatencyTimeline {
    width_ns: u64,
    stretches: Vec<(u64, u64)>,
}

impl Default for LatencyTimeline {
    fn default() -> LatencyTimeline {
        LatencyTimeline { width_ns: 100_000, stretches: Vec::new() }
    }
}

impl LatencyTimeline {
    /// An I/O that ended then took so long.
    #[inline]
    pub fn push(&mut self, at_ns: u64, took_ns: u64) {
        while at_ns / self.width_ns >= CURVE_POINTS as u64 {
            let pairs = self.stretches.chunks(2);
            self.stretches = pairs
                .map(|pair| pair.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
                .collect();
            self.width_ns *= 2;
        }
        let at = (at_ns / self.width_ns) as usize;
        if at >= self.stretches.len() {
            self.stretches.resize(at + 1, (0, 0));
        }
        self.stretches[at].0 += 1;
        self.stretches[at].1 = self.stretches[at].1.saturating_add(took_ns);
    }

    /// As a curve: the end of each stretch in which an I/O ended, against the mean.
    pub fn series(&self, name: &str) -> Series {
        let with_any = self.stretches.iter().enumerate().filter(|(_, (n, _))| *n > 0);
        let points = with_any
            .map(|(at, (n, sum))| {
                [((at as u64 + 1) * self.width_ns) as f64, *sum as f64 / *n as f64]
            })
            .collect();
        Series::new(name, [SeriesAxis::ElapsedNs, SeriesAxis::LatencyNs], points)
    }

    /// True if it has no point.
    pub fn is_empty(&self) -> bool {
        self.stretches.is_empty()
    }
}
