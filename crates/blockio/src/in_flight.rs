//! I/Os in flight, visible to other threads while a call does not return.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use device::{Op, Request, Slot};

/// Most I/Os in flight on any device here.
pub(crate) const MAX_SLOTS: u32 = 256;

/// One entry for each slot. The device writes it with relaxed stores, which are as fast as plain
/// ones.
pub(crate) struct InFlightTable(Box<[InFlightEntry]>);

#[derive(Default)]
struct InFlightEntry {
    /// Time of submission to the kernel in nanoseconds; 0 if it is not in flight.
    submitted_ns: AtomicU64,
    offset_bytes: AtomicU64,
    op: AtomicU8,
}

impl InFlightTable {
    pub fn new() -> Arc<InFlightTable> {
        Arc::new(InFlightTable((0..MAX_SLOTS).map(|_| InFlightEntry::default()).collect()))
    }

    /// Notes the request that is about to be submitted.
    #[inline]
    pub fn announce(&self, request: &Request) {
        let flight = &self.0[request.slot as usize];
        flight.offset_bytes.store(request.offset_bytes, Relaxed);
        flight.op.store(request.op as u8, Relaxed);
    }

    /// Notes the time of submission.
    #[inline]
    pub fn note_submission(&self, slot: Slot, now_ns: u64) {
        self.0[slot as usize].submitted_ns.store(now_ns, Relaxed);
    }

    /// Notes the completion; returns the time of submission.
    #[inline]
    pub fn note_completion(&self, slot: Slot) -> u64 {
        let flight = &self.0[slot as usize];
        let submitted_ns = flight.submitted_ns.load(Relaxed);
        flight.submitted_ns.store(0, Relaxed);
        submitted_ns
    }
}

/// An I/O that was submitted to the kernel and has not completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Time of submission in nanoseconds, on the clock of [`now_ns`](crate::now_ns).
    pub submitted_ns: u64,
    /// Operation: read, write, flush or discard.
    pub op: Op,
    /// First byte of the I/O on the device; without meaning for a flush.
    pub offset_bytes: u64,
}

/// Looks at a device's I/Os from any thread, while the device's own thread may be stuck in one.
#[derive(Clone)]
pub struct InFlightWatch(pub(crate) Arc<InFlightTable>);

impl InFlightWatch {
    /// The I/O that has been in flight longest; `None` while the device is idle. On a busy device
    /// the result may mix two I/Os (time of one, place of the next in the same slot); on one that
    /// hangs it is exact.
    pub fn oldest(&self) -> Option<InFlight> {
        let in_flight = self.0.0.iter().filter_map(|flight| {
            Some((flight.submitted_ns.load(Relaxed), flight)).filter(|(since, _)| *since != 0)
        });
        let (submitted_ns, flight) = in_flight.min_by_key(|(since, _)| *since)?;
        Some(InFlight {
            submitted_ns,
            op: op_from(flight.op.load(Relaxed)),
            offset_bytes: flight.offset_bytes.load(Relaxed),
        })
    }
}

fn op_from(number: u8) -> Op {
    const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Flush, Op::Discard];
    ALL.into_iter().find(|op| *op as u8 == number).expect("only numbers of operations are stored")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_seen_until_it_is_back() {
        let table = InFlightTable::new();
        let watch = InFlightWatch(table.clone());
        assert_eq!(watch.oldest(), None);
        for (slot, offset, now) in [(3, 4096, 20), (1, 512, 10), (2, 0, 30)] {
            table.announce(&Request::write(slot, offset, 512));
            table.note_submission(slot, now);
        }
        assert_eq!(
            watch.oldest(),
            Some(InFlight { submitted_ns: 10, op: Op::Write, offset_bytes: 512 })
        );
        assert_eq!(table.note_completion(1), 10);
        assert_eq!(watch.oldest().unwrap().submitted_ns, 20);
        table.note_completion(3);
        table.note_completion(2);
        assert_eq!(watch.oldest(), None);
    }

    #[test]
    fn every_operation_keeps_its_name() {
        for op in [Op::Read, Op::Write, Op::Flush, Op::Discard] {
            assert_eq!(op_from(op as u8), op);
        }
    }
}
