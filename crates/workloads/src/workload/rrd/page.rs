//! The pages that polls make dirty, past the page cache.

use std::collections::BTreeSet;

use blockio::RealDevice;
use device::content::DataGenerator;
use device::{Device as _, Extent, Request, do_io};
use record::Content;
use record::units::MIB;

use super::file::Shape;
use super::{Account, KIND, PAGE_BYTES};
use crate::lay_down::lay_down;
use crate::workload::WorkError;
use crate::workload::run::WorkloadRun;

/// All files in one, one after the other.
pub(super) struct Pages {
    device: RealDevice,
    generator: DataGenerator,
    shape: Shape,
}

impl Pages {
    /// Writes so many files.
    pub fn laid_down(
        shape: &Shape,
        files: u64,
        run: &mut WorkloadRun<'_, '_>,
    ) -> Result<Pages, WorkError> {
        let bytes = files * shape.slot_bytes();
        let path = run.path("files");
        let mut device = run.open(&path, bytes)?;
        let generator = DataGenerator::new(run.context.seed);
        let data = (&generator, Content::Incompressible, 0);
        let failed = |error| WorkError::device(KIND.name, "laying down the files", &error);
        lay_down(&mut device, Extent::new(0, bytes), data, failed, |done, _| {
            run.checkpoint("laying down files", 0.0, done / MIB)
        })?;
        device.prepare(1, PAGE_BYTES as usize).map_err(failed)?;
        Ok(Pages { device, generator, shape: shape.clone() })
    }

    /// Writes the pages of a file whose rows that begin at these bytes are due.
    pub fn update(
        &mut self,
        file: u64,
        rows: &[u64],
        poll: u64,
        account: &mut Account,
    ) -> Result<(), WorkError> {
        for page in dirty_pages(&self.shape, rows) {
            let at = file * self.shape.slot_bytes() + page * PAGE_BYTES;
            let buffer = &mut self.device.buffer(0)[..PAGE_BYTES as usize];
            self.generator.fill(buffer, Content::Incompressible, 1 + poll as u32, at);
            let written = do_io(&mut self.device, Request::write(0, at, PAGE_BYTES));
            let written =
                written.map_err(|error| WorkError::device(KIND.name, "writing a page", &error))?;
            account.ledger.tally.count(&written, PAGE_BYTES, true);
            account.wrote(1, PAGE_BYTES);
        }
        Ok(())
    }

    /// Makes what was written durable.
    pub fn flush(&mut self) -> Result<(), WorkError> {
        let flushed = do_io(&mut self.device, Request::flush(0)).map(drop);
        flushed.map_err(|error| WorkError::device(KIND.name, "flushing the pages", &error))
    }
}

/// Pages of a file that an update changes: those of the live part of its head, and those of the
/// rows that begin at these bytes.
pub(super) fn dirty_pages(shape: &Shape, rows: &[u64]) -> BTreeSet<u64> {
    let pages = |at: u64, bytes: u64| at / PAGE_BYTES..=(at + bytes - 1) / PAGE_BYTES;
    let live = pages(shape.live_offset(), shape.header_bytes() - shape.live_offset());
    live.chain(rows.iter().flat_map(|at| pages(*at, shape.row_bytes()))).collect()
}
