//! What a program on ext4 makes a medium do when it wants something to be durable: pieces of writes with flushes between them, at the places where
//! the file system's journal, the program's log and its pages lie. What `commit` and `log-append` are made of.

use device::Extent;
use record::units::{KIB, MIB, MILLISECOND_NS};

use super::stretch;
use crate::drive::{Limits, Load};
use crate::offsets::uniform;
use crate::{Bench, Outcome};

/// A block of the file system, and a page of a database.
pub const PAGE_BYTES: u64 = 4 * KIB;
/// The file system's journal, in front: far from every file, as ext4 has it in the middle of a medium.
pub const JOURNAL_BYTES: u64 = 8 * MIB;
/// The program's log.
pub const LOG_BYTES: u64 = 4 * MIB;
/// A database of some thousand rows.
pub const DATABASE_BYTES: u64 = MIB;
/// The largest single write.
pub const LARGEST_BYTES: u64 = 28 * KIB;
/// A file's time of modification is that of the kernel's last tick (CONFIG_HZ=250): what is written within one tick changes no inode.
const TICK_NS: u64 = 4 * MILLISECOND_NS;
/// What the file system's journal takes for an inode that has changed: a descriptor and the block of the inode.
const INODE_BYTES: u64 = 8 * KIB;

/// A step of such work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So much is appended to the log.
    Log(u64),
    /// So much is written to the log from its last page on, which was not full.
    LogOn(u64),
    /// What was appended to the log last is written again from its beginning on.
    LogAgain(u64),
    /// The first page of the database, in which it counts its changes.
    FirstPage,
    /// A page anywhere in the database.
    Page,
    /// So much is appended to the file system's journal, then its commit block, each durable before the next; all else with them.
    Commit(u64),
    /// As a sync ends where nothing of the file has changed but what was written, and perhaps its time: all of it is made durable.
    Sync(File),
}

/// Whose time of modification it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    Log,
    Database,
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
    database: Extent,
    pages: Box<dyn FnMut(u32) -> Option<Extent>>,
    /// The tick of each file's time that is in the file system's journal.
    told: [u64; 2],
    /// What the steps under way have taken, in nanoseconds.
    took_ns: u64,
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

    fn back(&mut self, bytes: u64) {
        self.at_bytes = self.at_bytes.saturating_sub(bytes);
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
    /// Journal, log and database in `span`: at its beginning, its half, and two thirds, so that three allocation units hold them, as on a file system.
    pub fn new(cell: &record::PlannedCell, span: Extent, bench: &'a mut Bench<'b>) -> Durable<'a, 'b> {
        let journal = Extent::new(span.offset_bytes, JOURNAL_BYTES);
        let at = |bytes: u64| span.offset_bytes + bytes / MIB * MIB;
        let log = Extent::new(at(span.bytes / 2).max(journal.end()), LOG_BYTES);
        let database = Extent::new(at(span.bytes / 3 * 2).max(log.end()), DATABASE_BYTES);
        let places = uniform(database, PAGE_BYTES, PAGE_BYTES, bench.random("pages"));
        Durable {
            outcome: Outcome::new(cell),
            load: Load { block_bytes: LARGEST_BYTES, ..stretch::load(cell, bench, "data") },
            journal: Ring::new(journal),
            log: Ring::new(log),
            database,
            pages: Box::new(places),
            told: [u64::MAX; 2],
            took_ns: 0,
            bench,
        }
    }

    /// Does these steps; what the medium took for them, in nanoseconds. `None` where it is over.
    pub fn go(&mut self, steps: &[Step]) -> Option<u64> {
        self.took_ns = 0;
        steps.iter().try_for_each(|step| self.step(*step))?;
        Some(self.took_ns)
    }

    fn step(&mut self, step: Step) -> Option<()> {
        match step {
            Step::Log(bytes) => {
                let place = self.log.next(bytes);
                self.write(place)
            }
            Step::LogOn(bytes) => {
                self.log.back(PAGE_BYTES);
                let place = self.log.next(bytes);
                self.write(place)
            }
            Step::LogAgain(bytes) => self.write(Extent::new(self.log.last.offset_bytes, bytes)),
            Step::FirstPage => self.write(Extent::new(self.database.offset_bytes, PAGE_BYTES)),
            Step::Page => {
                let place = (self.pages)(0)?;
                self.write(place)
            }
            Step::Commit(bytes) => self.commit(bytes),
            Step::Sync(file) => self.sync(file),
        }
    }

    fn commit(&mut self, bytes: u64) -> Option<()> {
        let place = self.journal.next(bytes);
        self.write(place)?;
        self.flush()?;
        let place = self.journal.next(PAGE_BYTES);
        self.write(place)?;
        self.flush()
    }

    /// Its time of modification is journalled where it has changed.
    fn sync(&mut self, file: File) -> Option<()> {
        let tick = device::Device::now(self.bench.medium) / TICK_NS;
        let told = &mut self.told[file as usize];
        if std::mem::replace(told, tick) == tick { self.flush() } else { self.commit(INODE_BYTES) }
    }

    fn flush(&mut self) -> Option<()> {
        let flushed = self.bench.flush();
        self.took_ns += flushed.map_err(|error| self.outcome.end(record::Stop::Error, Some(error))).ok()?;
        Some(())
    }

    fn write(&mut self, place: Extent) -> Option<()> {
        let mut places = Some(place).into_iter();
        let tally = self.bench.drive("writing", &self.load, &Limits::time(u64::MAX), &mut |_| places.next());
        self.outcome.cell.ops += tally.ops;
        self.outcome.cell.bytes += tally.bytes;
        self.took_ns += tally.busy_ns;
        if let Some(seen) = tally.disturbance {
            self.outcome.cell.disturbance.get_or_insert_default().add(seen);
        }
        // Its end is what this is about: nothing ends it early but an error or whoever ends the run.
        if tally.stop.cut_short() {
            self.outcome.end(tally.stop, tally.error);
            return None;
        }
        Some(())
    }
}

/// What these steps write at most, in bytes.
pub fn written_bytes(steps: &[Step]) -> u64 {
    let bytes = |step: &Step| match step {
        Step::Log(bytes) | Step::LogOn(bytes) | Step::LogAgain(bytes) => *bytes,
        Step::FirstPage | Step::Page => PAGE_BYTES,
        Step::Commit(bytes) => bytes + PAGE_BYTES,
        Step::Sync(_) => INODE_BYTES + PAGE_BYTES,
    };
    steps.iter().map(bytes).sum()
}
