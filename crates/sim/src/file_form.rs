//! A file on a medium, as far as its timing goes: a synchronous write also writes the inode's block (flash.md A5).

use device::{Completion, Device, Facts, IoError, Request, Slot};
use record::Sync;

/// Bytes written for the inode each time.
const INODE_BYTES: u64 = 4096;

/// A file laid out in one piece from half of the medium on, its inode in a block before it. Each write with [`Sync::File`] is done
/// when its data and then the inode's block are written; other I/O goes straight through.
pub struct FileForm<D> {
    inner: D,
    facts: Facts,
    start_bytes: u64,
    inode_bytes: u64,
    slots: u32,
    /// When the data of a write was handed over, by slot, while its inode is still to be written.
    began_ns: Vec<u64>,
    durable: Vec<bool>,
    scratch: Vec<Completion>,
}

impl<D: Device> FileForm<D> {
    /// A file of at most `bytes` on `medium`.
    pub fn new(medium: D, bytes: u64) -> Self {
        let facts = medium.facts();
        let block = facts.logical_block_bytes.max(INODE_BYTES);
        let start_bytes = facts.capacity_bytes / 2 / (2 << 20) * (2 << 20);
        let capacity_bytes = bytes.min(facts.capacity_bytes - start_bytes) / block * block;
        let facts = Facts { capacity_bytes, max_in_flight: facts.max_in_flight / 2, ..facts.clone() };
        // Inode tables lie at the start of a block group, well away from the data.
        let inode_bytes = start_bytes / 2 / block * block;
        FileForm { inner: medium, facts, start_bytes, inode_bytes, slots: 0, began_ns: Vec::new(), durable: Vec::new(), scratch: Vec::new() }
    }

    /// Writes the inode of a write whose data is done.
    fn write_inode(&mut self, data: &Completion) -> Result<(), IoError> {
        self.began_ns[data.slot as usize] = data.submitted_ns;
        self.inner.submit(Request::write(data.slot + self.slots, self.inode_bytes, INODE_BYTES))
    }
}

impl<D: Device> Device for FileForm<D> {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn now(&mut self) -> u64 {
        self.inner.now()
    }
    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.inner.prepare(2 * slots, slot_bytes.max(INODE_BYTES as usize))?;
        self.slots = slots;
        self.began_ns = vec![0; slots as usize];
        self.durable = vec![false; slots as usize];
        Ok(())
    }
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.inner.buffer(slot)
    }
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        self.durable[request.slot as usize] = request.modifies() && request.sync == Sync::File;
        self.inner.submit(Request { offset_bytes: self.start_bytes + request.offset_bytes, ..request })
    }
    fn reap(&mut self, min: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        let wanted = done.len() + min;
        loop {
            let mut arrived = std::mem::take(&mut self.scratch);
            self.inner.reap(1, &mut arrived)?;
            let nothing = arrived.is_empty();
            for completion in arrived.drain(..) {
                if completion.slot >= self.slots {
                    let slot = completion.slot - self.slots;
                    done.push(Completion { slot, submitted_ns: self.began_ns[slot as usize], ..completion });
                } else if self.durable[completion.slot as usize] && completion.result.is_ok() {
                    self.write_inode(&completion)?;
                } else {
                    done.push(completion);
                }
            }
            self.scratch = arrived;
            if nothing || done.len() >= wanted {
                return Ok(());
            }
        }
    }
    fn idle(&mut self, duration_ns: u64) {
        self.inner.idle(duration_ns);
    }
    fn drop_caches(&mut self) -> Result<(), IoError> {
        self.inner.drop_caches()
    }
    fn cpu_ns(&mut self) -> Option<u64> {
        self.inner.cpu_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Profile, SimDevice};

    /// How long a write of 4 KiB takes, in nanoseconds.
    fn write_ns(sync: Sync) -> u64 {
        let profile = Profile::builtin("a1").unwrap();
        let mut file = FileForm::new(SimDevice::new(profile, Options { keep_data: false, ..Options::default() }), 1 << 20);
        file.prepare(1, 4096).unwrap();
        let mut done = Vec::new();
        file.submit(Request { sync, ..Request::write(0, 8192, 4096) }).unwrap();
        file.reap(1, &mut done).unwrap();
        assert_eq!((done.len(), done[0].slot), (1, 0));
        done[0].latency_ns()
    }

    #[test]
    fn a_durable_write_costs_its_inode_as_well() {
        let ratio = write_ns(Sync::File) as f64 / write_ns(Sync::None) as f64;
        assert!((1.5..3.0).contains(&ratio), "{ratio}");
    }
}
