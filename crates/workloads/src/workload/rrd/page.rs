//! The pages that polls make dirty, past the page cache.

use std::collections::BTreeSet;

use device::content::DataGenerator;
use device::{Extent, Request};
use record::Content;
use record::units::MIB;

use super::file::Shape;
use super::poll::Polls;
use super::{Account, KIND, PAGE_BYTES, Rrd};
use crate::single_io::{do_io, lay_down};
use crate::workload::clock::now_ns;
use crate::workload::run::WorkloadRun;
use crate::workload::{InspectionPoint, WorkError};

impl Rrd {
    /// All files in one, updated page by page.
    pub(super) fn pages(&self, run: &mut WorkloadRun<'_, '_>) -> Result<Account, WorkError> {
        let bytes = self.files * self.slot_bytes();
        let path = run.path("files");
        let mut device = (run.context.open)(&path, bytes)?;
        let generator = DataGenerator::new(run.context.seed);
        let data = (&generator, Content::Incompressible, 0);
        let failed = |error| WorkError::device(KIND.name, "laying down the files", &error);
        lay_down(&mut *device, Extent::new(0, bytes), data, failed, |done, _| {
            run.checkpoint("laying down files", 0.0, done / MIB)
        })?;
        run.sync()?;
        run.show(InspectionPoint::Before);
        let mut polls = Polls::new(&self.shape, self.files, run);
        let failed = |error| WorkError::device(KIND.name, "writing a page", &error);
        device.prepare(1, PAGE_BYTES as usize).map_err(failed)?;
        let mut account = Account::default();
        let started_ns = now_ns();
        for poll in 0..self.polls {
            let begun_ns = now_ns();
            polls.read_sources();
            for file in 0..self.files {
                for page in dirty_pages(&self.shape, &polls.due(file)) {
                    let at = file * self.slot_bytes() + page * PAGE_BYTES;
                    generator.fill(
                        &mut device.buffer(0)[..PAGE_BYTES as usize],
                        Content::Incompressible,
                        1 + poll as u32,
                        at,
                    );
                    let written =
                        do_io(&mut *device, Request::write(0, at, PAGE_BYTES)).map_err(failed)?;
                    account.ledger.tally.count(&written, PAGE_BYTES, true);
                    (account.writes, account.written_bytes) =
                        (account.writes + 1, account.written_bytes + PAGE_BYTES);
                }
                run.checkpoint("polling", self.share(poll, file), account.ledger.ops())?;
            }
            polls.forget();
            do_io(&mut *device, Request::flush(0)).map_err(failed)?;
            if self.is_over(begun_ns, started_ns, poll, &mut account, run)? {
                break;
            }
        }
        Ok(account)
    }
}

/// Pages of a file that an update changes: those of the live part of its head, and those of the
/// rows that begin at these bytes.
pub(super) fn dirty_pages(shape: &Shape, rows: &[u64]) -> BTreeSet<u64> {
    let pages = |at: u64, bytes: u64| at / PAGE_BYTES..=(at + bytes - 1) / PAGE_BYTES;
    let live = pages(shape.live_offset(), shape.header_bytes() - shape.live_offset());
    live.chain(rows.iter().flat_map(|at| pages(*at, shape.row_bytes()))).collect()
}
