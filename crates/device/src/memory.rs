//! The simplest device that keeps the contract: a byte array in virtual time, for tests of code
//! that uses devices.

use crate::{Completion, Device, Extent, Facts, IoError, IoErrorKind, Op, Request, Slot};

/// Nanoseconds that every I/O takes, one after the other.
const SERVICE_NS: u64 = 10_000;

/// Logical block in bytes.
const SECTOR_BYTES: u64 = 512;

/// A medium in memory on which every I/O takes 10 microseconds of virtual time, one at a time, in
/// order.
pub struct MemoryDevice {
    facts: Facts,
    data: Vec<u8>,
    slots: Vec<MemorySlot>,
    waiting: Vec<(Request, u64)>,
    now_ns: u64,
}

#[derive(Clone)]
struct MemorySlot {
    buffer: Vec<u8>,
    busy: bool,
}

impl MemoryDevice {
    /// A medium of zeros.
    pub fn new(capacity_bytes: u64) -> MemoryDevice {
        let facts = Facts {
            capacity_bytes,
            logical_block_bytes: SECTOR_BYTES,
            physical_block_bytes: SECTOR_BYTES,
            max_in_flight: 256,
            discards: true,
            keeps_data: true,
            engine: "virtual time".into(),
            ..Facts::default()
        };
        MemoryDevice {
            facts,
            data: vec![0; capacity_bytes as usize],
            slots: Vec::new(),
            waiting: Vec::new(),
            now_ns: 0,
        }
    }

    /// Data of the medium.
    pub fn data(&mut self) -> &mut [u8] {
        &mut self.data
    }

    fn perform(&mut self, request: &Request) {
        let length = request.length_bytes as usize;
        let range = request.offset_bytes as usize..request.offset_bytes as usize + length;
        let buffer = &mut self.slots[request.slot as usize].buffer;
        match request.op {
            Op::Read => buffer[..length].copy_from_slice(&self.data[range]),
            Op::Write => self.data[range].copy_from_slice(&buffer[..length]),
            Op::Discard => self.data[range].fill(0),
            Op::Flush => {}
        }
    }

    /// The reason for refusing a request, if there is one.
    fn objection(&self, request: &Request) -> Option<(IoErrorKind, &'static str)> {
        use IoErrorKind::{Refused, Unsupported};
        let range = Extent::new(request.offset_bytes, request.length_bytes);
        let moves_data = matches!(request.op, Op::Read | Op::Write);
        match self.slots.get(request.slot as usize) {
            None => return Some((Refused, "there is no such slot")),
            Some(slot) if slot.busy => return Some((Refused, "its slot is in flight")),
            Some(slot) if moves_data && range.bytes > slot.buffer.len() as u64 => {
                return Some((Refused, "it is longer than its buffer"));
            }
            Some(_) if request.op == Op::Flush => return None,
            Some(_) => {}
        }
        if !(range.offset_bytes | range.bytes).is_multiple_of(SECTOR_BYTES) {
            return Some((Unsupported, "it is not aligned to 512 bytes"));
        }
        let medium = Extent::new(0, self.facts.capacity_bytes);
        (!medium.contains(&range)).then_some((Refused, "it lies outside the medium"))
    }
}

impl Device for MemoryDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now(&mut self) -> u64 {
        self.now_ns
    }

    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.slots = vec![MemorySlot { buffer: vec![0; slot_bytes], busy: false }; slots as usize];
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.slots[slot as usize].buffer
    }

    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        if let Some((kind, why)) = self.objection(&request) {
            return Err(IoError::new(kind, &request, why));
        }
        self.slots[request.slot as usize].busy = true;
        self.waiting.push((request, self.now_ns));
        Ok(())
    }

    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let min = min.min(self.waiting.len());
        for (request, submitted_ns) in self.waiting.drain(..min).collect::<Vec<_>>() {
            self.perform(&request);
            self.now_ns += SERVICE_NS;
            self.slots[request.slot as usize].busy = false;
            done.push(Completion {
                slot: request.slot,
                submitted_ns,
                completed_ns: self.now_ns,
                result: Ok(()),
            });
        }
        Ok(())
    }

    fn idle(&mut self, duration_ns: u64) {
        self.now_ns += duration_ns;
    }

    fn drop_caches(&mut self) -> Result<(), IoError> {
        Ok(())
    }

    fn cpu_ns(&mut self) -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_keeps_the_contract() {
        crate::conformance::device_conformance(&mut super::MemoryDevice::new(8 << 20));
    }
}
