//! Events of the kernel's block layer, made into steps. They name a request by device and place
//! only.

use std::collections::{HashMap, VecDeque};

use device::Op;

use super::{Issue, TraceEvent};

/// Requests open at once, beyond which completions must have been lost and nothing can be told any
/// more.
const MAX_OPEN: usize = 1 << 16;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// It came to the queue (Q).
    Queued,
    /// It was handed to the driver (D).
    Issued,
    /// Some or all of it is done (C).
    Completed,
    /// The driver gave it back (R).
    Requeued,
}

/// An event of the block layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockEvent {
    pub action: Action,
    /// The request, with the time of the event.
    pub request: Issue,
    /// A flush comes before it.
    pub preflush: bool,
}

/// Device, operation, and first byte that is still to be done (0 for a flush).
type Place = (u32, Op, u64);

/// A request under way.
struct Open {
    number: u64,
    issued_ns: u64,
    left_bytes: u64,
    /// It went back to the queue, and will be issued once more.
    requeued: bool,
}

/// Turns events into steps. What reached the driver counts; where a recording has none of that
/// (device mapper, MD), what reached the queue.
pub(super) struct Interpreter {
    begins: Action,
    open: HashMap<Place, VecDeque<Open>>,
    open_count: usize,
    /// Requests given out so far.
    issued: u64,
    ready: VecDeque<TraceEvent>,
}

impl Interpreter {
    /// For a recording that has events of handing over to the driver, or has none.
    pub fn new(has_issues: bool) -> Interpreter {
        let begins = if has_issues { Action::Issued } else { Action::Queued };
        Interpreter {
            begins,
            open: HashMap::new(),
            open_count: 0,
            issued: 0,
            ready: VecDeque::new(),
        }
    }

    /// The next step of what was taken so far.
    pub fn pop(&mut self) -> Option<TraceEvent> {
        self.ready.pop_front()
    }

    /// Takes the next event in; [`Interpreter::pop`] gives the steps that come of it.
    pub fn take(&mut self, event: &BlockEvent) {
        let request = event.request;
        let place = (request.device, request.op, request.offset_bytes);
        match event.action {
            action if action == self.begins => self.begin(place, &request, event.preflush),
            Action::Completed => self.complete(place, request.length_bytes, request.time_ns),
            Action::Requeued => {
                if let Some(open) = self.open.get_mut(&place).and_then(VecDeque::front_mut) {
                    open.requeued = true;
                }
            }
            Action::Queued | Action::Issued => {}
        }
    }

    /// A request begins, unless it is one that had gone back to the queue.
    fn begin(&mut self, place: Place, request: &Issue, preflush: bool) {
        let waiting = self.open.get_mut(&place);
        if let Some(again) =
            waiting.and_then(|waiting| waiting.iter_mut().find(|open| open.requeued))
        {
            again.requeued = false;
            return;
        }
        let issued_ns = request.time_ns;
        if preflush {
            // The write goes out when the flush is done; its own end is not recorded.
            let flush =
                Issue { op: Op::Flush, fua: false, offset_bytes: 0, length_bytes: 0, ..*request };
            let number = self.give_out(flush);
            let (op, time_ns) = (Op::Flush, issued_ns);
            self.ready.push_back(TraceEvent::Completed { time_ns, number, op, issued_ns });
        }
        let number = self.give_out(*request);
        if self.open_count == MAX_OPEN {
            self.open.clear();
            self.open_count = 0;
        }
        self.open_count += 1;
        let left_bytes = request.length_bytes;
        let open = Open { number, issued_ns, left_bytes, requeued: false };
        self.open.entry(place).or_default().push_back(open);
    }

    fn give_out(&mut self, issue: Issue) -> u64 {
        self.ready.push_back(TraceEvent::Issued(issue));
        self.issued += 1;
        self.issued - 1
    }

    /// So many bytes from this place on are done. Nothing is said of a request of which some is
    /// left, or that was issued before the recording began.
    fn complete(&mut self, place: Place, length_bytes: u64, time_ns: u64) {
        let Some(waiting) = self.open.get_mut(&place) else { return };
        let Some(mut open) = waiting.pop_front() else { return };
        if waiting.is_empty() {
            self.open.remove(&place);
        }
        if length_bytes > 0 && length_bytes < open.left_bytes {
            open.left_bytes -= length_bytes;
            let (device, op, offset_bytes) = place;
            let rest = (device, op, offset_bytes.wrapping_add(length_bytes));
            self.open.entry(rest).or_default().push_back(open);
            return;
        }
        self.open_count -= 1;
        let Open { number, issued_ns, .. } = open;
        self.ready.push_back(TraceEvent::Completed { time_ns, number, op: place.1, issued_ns });
    }
}
