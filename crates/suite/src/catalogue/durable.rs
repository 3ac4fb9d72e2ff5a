//! What a program on ext4 makes a medium do when it wants something to be durable: pieces of writes with flushes between them, at the places where
//! the file system's journal, the program's log and its pages lie. What `commit` and `log-append` are made of.

use device::Extent;
use record::units::{KIB, MIB};

use super::stretch;
use crate::drive::{Limits, Load};
use crate::offsets::uniform;
use crate::{Bench, Outcome};

/// A block of the file system, and a page of a database.
pub const PAGE_BYTES: u64 = 4 * KIB;
/// What lies in front of the pages: the file system's journal, and the program's log.
pub const JOURNAL_BYTES: u64 = 8 * MIB;
pub const LOG_BYTES: u64 = 4 * MIB;
/// The largest single write.
pub const LARGEST_BYTES: u64 = 16 * KIB;

/// A step of such work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So much is appended to the file system's journal.
    Journal(u64),
    /// So much is appended to the log.
    Log(u64),
    /// What was appended to the log last is written again from its beginning on.
    LogAgain(u64),
    /// A page anywhere.
    Page,
    /// All of it is made durable.
    Flush,
}

/// A medium with a journal, a log and pages on it.
pub struct Durable<'a, 'b> {
    /// What the cell holds.
    pub bench: &'a mut Bench<'b>,
    /// What came of it.
    pub outcome: Outcome,
    load: Load,
    journal: Ring,
    log: Ring,
    pages: Box<dyn FnMut(u32) -> Option<Extent>>,
}

/// A place that is written from its front to its end, over and over.
struct Ring {
    span: Extent,
    at_bytes: u64,
    last: Extent,
}

impl Ring {
    fn new(span: Extent) -> Ring {
        Ring { span, at_bytes: 0, last: Extent::new(span.offset_bytes, 0) }
    }

    fn next(&mut self, bytes: u64) -> Extent {
        if self.at_bytes + bytes > self.span.bytes {
            self.at_bytes = 0;
        }
        self.last = Extent::new(self.span.offset_bytes + self.at_bytes, bytes);
        self.at_bytes += bytes;
        self.last
    }
}

impl<'a, 'b> Durable<'a, 'b> {
    /// Journal, log and pages in `span`, one after the other.
    pub fn new(cell: &record::PlannedCell, span: Extent, bench: &'a mut Bench<'b>) -> Durable<'a, 'b> {
        let journal = Extent::new(span.offset_bytes, JOURNAL_BYTES);
        let log = Extent::new(journal.end(), LOG_BYTES);
        let pages = Extent::new(log.end(), span.end() - log.end());
        let places = uniform(pages, PAGE_BYTES, PAGE_BYTES, bench.random("pages"));
        Durable {
            outcome: Outcome::new(cell),
            load: Load { block_bytes: LARGEST_BYTES, ..stretch::load(cell, bench, "data") },
            journal: Ring::new(journal),
            log: Ring::new(log),
            pages: Box::new(places),
            bench,
        }
    }

    /// Does these steps; what they took, in nanoseconds of the device's clock. `None` where it is over.
    pub fn go(&mut self, steps: &[Step]) -> Option<u64> {
        let started_ns = device::Device::now(self.bench.medium);
        for step in steps {
            match step {
                Step::Flush => self.flush()?,
                Step::Journal(bytes) => {
                    let place = self.journal.next(*bytes);
                    self.write(place)?;
                }
                Step::Log(bytes) => {
                    let place = self.log.next(*bytes);
                    self.write(place)?;
                }
                Step::LogAgain(bytes) => self.write(Extent::new(self.log.last.offset_bytes, *bytes))?,
                Step::Page => {
                    let place = (self.pages)(0)?;
                    self.write(place)?;
                }
            }
        }
        Some(device::Device::now(self.bench.medium).saturating_sub(started_ns))
    }

    fn flush(&mut self) -> Option<()> {
        self.bench.flush().map(drop).map_err(|error| self.outcome.end(record::Stop::Error, Some(error))).ok()
    }

    fn write(&mut self, place: Extent) -> Option<()> {
        let mut places = Some(place).into_iter();
        let tally = self.bench.drive("writing", &self.load, &Limits::time(u64::MAX), &mut |_| places.next());
        self.outcome.cell.ops += tally.ops;
        self.outcome.cell.bytes += tally.bytes;
        // Its end is what this is about: nothing ends it early but an error or whoever ends the run.
        if tally.stop.cut_short() {
            self.outcome.end(tally.stop, tally.error);
            return None;
        }
        Some(())
    }
}

/// What these steps write, in bytes.
pub fn written_bytes(steps: &[Step]) -> u64 {
    let bytes = |step: &Step| match step {
        Step::Journal(bytes) | Step::Log(bytes) | Step::LogAgain(bytes) => *bytes,
        Step::Page => PAGE_BYTES,
        Step::Flush => 0,
    };
    steps.iter().map(bytes).sum()
}
