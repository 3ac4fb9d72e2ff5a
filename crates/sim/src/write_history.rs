//! Writes that are not durable yet, so that a power cut can undo or tear them.

use crate::memory::Memory;
use crate::rng::SimRng;

/// Bytes that a power cut never tears.
const SECTOR: u64 = 512;

/// A write, and the data that it overwrote.
struct Undo {
    begins_ns: u64,
    durable_ns: u64,
    offset: u64,
    before: Vec<u8>,
}

/// The writes of the recent past.
#[derive(Default)]
pub(crate) struct WriteHistory {
    recent: Vec<Undo>,
}

impl WriteHistory {
    /// Remembers the data that a write is about to overwrite.
    pub(crate) fn note(
        &mut self,
        memory: &Memory,
        offset: u64,
        bytes: u64,
        now_ns: u64,
        durable_ns: u64,
    ) {
        self.recent.retain(|undo| undo.durable_ns > now_ns);
        let mut before = vec![0; bytes as usize];
        memory.read(offset, &mut before);
        self.recent.push(Undo { begins_ns: now_ns, durable_ns, offset, before });
    }

    /// Cuts the power at this time: writes in flight are torn at a sector, the newest first; cached
    /// ones are lost.
    pub(crate) fn power_cut(
        &mut self,
        memory: &mut Memory,
        at_ns: u64,
        cached: bool,
        rng: &mut SimRng,
    ) {
        for undo in self.recent.drain(..).rev().filter(|undo| undo.durable_ns > at_ns) {
            let sectors = undo.before.len() as u64 / SECTOR;
            let kept =
                if cached || undo.begins_ns >= at_ns { 0 } else { rng.below(sectors + 1) * SECTOR };
            memory.write(undo.offset + kept, &undo.before[kept as usize..]);
        }
    }
}
