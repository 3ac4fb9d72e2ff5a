//! A file as a device, one I/O after the other through the page cache: enough to run works on where
//! the real devices may not be linked in.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use device::{Completion, Device, Facts, IoError, IoErrorKind, Op, Request, Slot};
use flashmark_workloads::workload::{WorkError, WorkFile};
use rustix::time::{ClockId, clock_gettime};

pub struct FileDevice {
    file: File,
    facts: Facts,
    buffers: Vec<Vec<u8>>,
    done: Vec<Completion>,
}

impl FileDevice {
    pub fn open(path: &Path, capacity_bytes: u64) -> Result<WorkFile, WorkError> {
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = options.map_err(|error| WorkError::io("test", "opening a file", error))?;
        let facts = Facts {
            capacity_bytes,
            logical_block_bytes: 512,
            physical_block_bytes: 4096,
            max_transfer_bytes: None,
            max_in_flight: 1,
            read_only: false,
            discards: false,
            has_page_cache: false,
            direct_refused: true,
            keeps_data: true,
            engine: "std".into(),
        };
        Ok(Box::new(FileDevice { file, facts, buffers: Vec::new(), done: Vec::new() }))
    }

    fn transfer(&mut self, request: &Request) -> std::io::Result<()> {
        let buffer = self.buffers[request.slot as usize].get_mut(..request.length_bytes as usize);
        match (request.op, buffer) {
            (Op::Flush, _) => self.file.sync_data(),
            (Op::Read, Some(buffer)) => self.file.read_exact_at(buffer, request.offset_bytes),
            (Op::Write, Some(buffer)) => self.file.write_all_at(buffer, request.offset_bytes),
            _ => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Device for FileDevice {
    fn facts(&self) -> &Facts {
        &self.facts
    }
    fn now(&mut self) -> u64 {
        let time = clock_gettime(ClockId::MonotonicRaw);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
    fn prepare(&mut self, slots: u32, slot_bytes: usize) -> Result<(), IoError> {
        self.buffers = vec![vec![0; slot_bytes]; slots as usize];
        Ok(())
    }
    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }
    fn submit(&mut self, request: Request) -> Result<(), IoError> {
        let submitted_ns = self.now();
        let result = self.transfer(&request).map_err(|error| {
            let kind = if error.kind() == std::io::ErrorKind::StorageFull {
                IoErrorKind::NoSpace
            } else {
                IoErrorKind::Medium
            };
            IoError::new(kind, &request, error.to_string())
        });
        let completed_ns = self.now();
        self.done.push(Completion { slot: request.slot, submitted_ns, completed_ns, result });
        Ok(())
    }
    fn reap(&mut self, _: usize, done: &mut Vec<Completion>) -> Result<(), IoError> {
        done.append(&mut self.done);
        Ok(())
    }
    fn idle(&mut self, duration_ns: u64) {
        std::thread::sleep(std::time::Duration::from_nanos(duration_ns));
    }
    fn drop_caches(&mut self) -> Result<(), IoError> {
        Ok(())
    }
    fn cpu_ns(&mut self) -> Option<u64> {
        None
    }
}
