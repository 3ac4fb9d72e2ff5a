//! Events of the kernel's block layer, by whatever tool they were recorded, made into steps.

use std::collections::VecDeque;

use device::Op;

use super::pairs::{Pairs, RequestKey};
use super::{Issue, RequestFlags, TraceEvent};

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It came to the queue (Q).
    Queued,
    /// It was handed to the driver (D).
    Issued,
    /// Some or all of it is done (C).
    Completed,
    /// The driver gave it back (R).
    Requeued,
}

/// What a request does, in the kernel's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestKind {
    /// The operation; `None` for one that moves nothing.
    pub op: Option<Op>,
    /// A flush comes before it.
    pub preflush: bool,
    /// Force unit access, synchronous, metadata, read-ahead.
    pub flags: RequestFlags,
}

/// An event of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEvent {
    pub time_ns: u64,
    pub action: Action,
    pub what: RequestKind,
    pub offset_bytes: u64,
    pub length_bytes: u64,
    pub device: u32,
    pub pid: u32,
}

/// Turns events into steps. What reached the driver counts; where a recording has none of that
/// (device mapper, MD), what reached the queue.
pub(crate) struct Interpreter {
    begins: Action,
    pairs: Pairs,
    /// Requests given out so far.
    issued: u64,
    ready: VecDeque<TraceEvent>,
}

impl Interpreter {
    /// For a recording that has events of handing over to the driver, or has none.
    pub fn new(has_issues: bool) -> Interpreter {
        let begins = if has_issues { Action::Issued } else { Action::Queued };
        Interpreter { begins, pairs: Pairs::default(), issued: 0, ready: VecDeque::new() }
    }

    /// The next step of what was taken so far.
    pub fn pop(&mut self) -> Option<TraceEvent> {
        self.ready.pop_front()
    }

    /// Takes the next event in; [`Interpreter::pop`] gives the steps that come of it.
    pub fn take(&mut self, event: &BlockEvent) {
        let Some(op) = event.what.op else { return };
        if op != Op::Flush && event.length_bytes == 0 {
            return;
        }
        let (offset_bytes, length_bytes) =
            if op == Op::Flush { (0, 0) } else { (event.offset_bytes, event.length_bytes) };
        let place = RequestKey { device: event.device, op, offset_bytes };
        match event.action {
            action if action == self.begins => {
                let number = self.issued + u64::from(event.what.preflush);
                if self.pairs.issued(place, length_bytes, number) {
                    self.issue(event, op, offset_bytes, length_bytes);
                }
            }
            Action::Completed => {
                if let Some(number) = self.pairs.completed(place, length_bytes) {
                    self.ready.push_back(TraceEvent::Completed { time_ns: event.time_ns, number });
                }
            }
            Action::Requeued => self.pairs.requeued(place),
            Action::Queued | Action::Issued => {}
        }
    }

    fn issue(&mut self, event: &BlockEvent, op: Op, offset_bytes: u64, length_bytes: u64) {
        let &BlockEvent { time_ns, device, pid, .. } = event;
        let issue =
            Issue { time_ns, op, flags: event.what.flags, offset_bytes, length_bytes, device, pid };
        if event.what.preflush {
            // The write goes out when the flush is done.
            let flush = Issue {
                op: Op::Flush,
                flags: RequestFlags::NONE,
                offset_bytes: 0,
                length_bytes: 0,
                ..issue
            };
            self.ready.push_back(TraceEvent::Issued(flush));
            self.ready.push_back(TraceEvent::Completed { time_ns, number: self.issued });
            self.issued += 1;
        }
        self.ready.push_back(TraceEvent::Issued(issue));
        self.issued += 1;
    }
}
