//! One I/O at a time, done by the call that submits it.

use std::sync::Arc;

use device::{Completion, Request};

use crate::clock::now_ns;
use crate::in_flight::InFlightTable;
use crate::target::Target;
use crate::transfer::perform;

/// Reads and writes by pread and pwrite on the caller's thread.
pub(crate) struct Psync {
    target: Arc<Target>,
    in_flight_table: Arc<InFlightTable>,
    ready: Vec<Completion>,
}

impl Psync {
    pub fn new(target: Arc<Target>, in_flight_table: Arc<InFlightTable>) -> Psync {
        Psync { target, in_flight_table, ready: Vec::new() }
    }

    #[inline]
    pub fn submit(&mut self, request: &Request, buffer: &mut [u8]) {
        self.ready.push(timed(&self.target, &self.in_flight_table, request, buffer));
    }

    #[inline]
    pub fn reap(&mut self, done: &mut Vec<Completion>) {
        done.append(&mut self.ready);
    }
}

/// Does one I/O and reads the clock before and after it.
#[inline]
pub(crate) fn timed(
    target: &Target,
    in_flight_table: &InFlightTable,
    request: &Request,
    buffer: &mut [u8],
) -> Completion {
    in_flight_table.announce(request);
    let submitted_ns = now_ns();
    in_flight_table.note_submission(request.slot, submitted_ns);
    let result = perform(target, request, buffer);
    let completed_ns = now_ns();
    in_flight_table.note_completion(request.slot);
    Completion { slot: request.slot, submitted_ns, completed_ns, result }
}
