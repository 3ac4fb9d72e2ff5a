//! What a program on ext4 makes a medium do when it wants something to be durable: pieces of writes
//! with flushes between them, at the places where the file system's journal, the program's log and
//! its pages lie. What `commit` and `log-append` are made of.

use device::Extent;
use record::Region;
use record::units::{Bytes, KIB, MIB, MILLISECOND_NS};

use super::stretch;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::uniform;
use crate::{CellContext, CellOutcome, TargetInfo};
use stats::Random;

/// A block of the file system, and a page of a database.
pub const PAGE_BYTES: u64 = 4 * KIB;
/// The file system's journal, in front: far from every file, as ext4 has it in the middle of a
/// medium.
const JOURNAL_BYTES: u64 = 8 * MIB;
/// Groups of ext4, and with them files of a directory, begin at multiples of this.
const GROUP_BYTES: u64 = 128 * MIB;
/// The files, from the half of the span on: an old part of a database of some thousand rows, places
/// for small new files, a log, and behind it the newest pages of the database. All as they were
/// seen to lie.
const FILES_BYTES: u64 = 9 * MIB;
const OLD_PAGES: Extent = Extent { offset_bytes: 0, bytes: MIB };
/// ext4 gives each processor a place of its own for small new files. A program that goes from one
/// to the other has its journal now here, now there.
const NEW_FILES: [Extent; 2] = [
    Extent { offset_bytes: 7 * MIB / 2, bytes: 3 * MIB / 2 },
    Extent { offset_bytes: 2 * MIB, bytes: 3 * MIB / 2 },
];
/// One file of so many lies in the second place: where that makes one allocation unit too many, it
/// makes this commit slow and the next, a quarter of all.
const ELSEWHERE: u64 = 8;
/// After so many files the database has a new page.
const FILES_A_PAGE: u64 = 32;
const LOG: Extent = Extent { offset_bytes: 7 * MIB / 2, bytes: 4 * MIB };
/// The largest single write.
pub const LARGEST_BYTES: u64 = 64 * KIB;
/// A file's time of modification is that of the kernel's last tick (CONFIG_HZ=250): what is written
/// within one tick changes no inode.
const TICK_NS: u64 = 4 * MILLISECOND_NS;
/// What the file system's journal takes for an inode that has changed: a descriptor and the block
/// of the inode.
const INODE_BYTES: u64 = 8 * KIB;

/// A step of such work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableStep {
    /// So much is appended to the log.
    Log(u64),
    /// So much is written to the log from its last page on, which was not full.
    LogOn(u64),
    /// A new file of so much.
    NewFile(u64),
    /// What was appended to the log, or the file that is new, is written again from its beginning
    /// on.
    Again(u64),
    /// The first page of the database, in which it counts its changes.
    FirstPage,
    /// A page anywhere in the older part of the database.
    OldPage,
    /// The newest page of a database whose journals are small files: it lies among these.
    PageAmongFiles,
    /// So much of the newest pages of a database that has a log: behind it.
    PagesBehindLog(u64),
    /// So much is appended to the file system's journal, then its commit block, each durable before
    /// the next; all else with them.
    Commit(u64),
    /// As a sync ends where nothing of the file has changed but what was written, and perhaps its
    /// time: all of it is made durable.
    Sync(File),
}

/// Whose time of modification it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The log, or the file that is new.
    Log,
    Database,
}

/// A medium with a journal, a log and pages on it.
pub struct Durable<'a, 'b> {
    /// What the cell holds.
    pub context: &'a mut CellContext<'b>,
    /// What came of it.
    pub outcome: CellOutcome,
    load: IoLoad,
    journal: Ring,
    log: Ring,
    new_files: [Ring; 2],
    behind_log: Ring,
    processors: Random,
    files: u64,
    last: Extent,
    newest_page: Extent,
    files_bytes: u64,
    old_pages: Box<dyn FnMut(u32) -> Option<Extent>>,
    /// The tick of each file's time that is in the file system's journal.
    journalled_ticks: [u64; 2],
    /// What the steps under way have taken, in nanoseconds.
    took_ns: u64,
}

/// A place that is written from its front to its end, over and over.
struct Ring {
    span: Extent,
    at_bytes: u64,
}

impl Ring {
    fn new(span: Extent) -> Ring {
        Ring { span, at_bytes: 0 }
    }

    fn back(&mut self, bytes: u64) {
        self.at_bytes = self.at_bytes.saturating_sub(bytes);
    }

    fn next(&mut self, bytes: u64) -> Extent {
        if self.at_bytes + bytes > self.span.bytes {
            self.at_bytes = 0;
        }
        self.at_bytes += bytes;
        Extent::new(self.span.offset_bytes + self.at_bytes - bytes, bytes)
    }
}

impl<'a, 'b> Durable<'a, 'b> {
    /// The file system's journal at the beginning of `span`, the files from its half on.
    pub fn new(
        cell: &record::PlannedCell,
        span: Extent,
        context: &'a mut CellContext<'b>,
    ) -> Durable<'a, 'b> {
        let journal = Extent::new(span.offset_bytes, JOURNAL_BYTES);
        let half_bytes = span.offset_bytes + span.bytes / 2;
        let grid_bytes = if span.bytes < 4 * GROUP_BYTES { MIB } else { GROUP_BYTES };
        let files_bytes = (half_bytes / grid_bytes * grid_bytes).max(journal.end());
        let at = |part: Extent| Extent::new(files_bytes + part.offset_bytes, part.bytes);
        let new_files = NEW_FILES.map(|place| Ring::new(at(place)));
        let old_pages = uniform(at(OLD_PAGES), PAGE_BYTES, PAGE_BYTES, context.random("pages"));
        Durable {
            outcome: CellOutcome::new(cell),
            load: IoLoad { block_bytes: LARGEST_BYTES, ..stretch::load(cell, context, "data") },
            journal: Ring::new(journal),
            last: at(Extent::new(LOG.offset_bytes, 0)),
            log: Ring::new(at(LOG)),
            new_files,
            files: 0,
            newest_page: at(Extent::new(NEW_FILES[0].offset_bytes, PAGE_BYTES)),
            behind_log: Ring::new(at(Extent::new(LOG.end(), FILES_BYTES - LOG.end()))),
            processors: context.random("processors"),
            files_bytes,
            old_pages: Box::new(old_pages),
            journalled_ticks: [u64::MAX; 2],
            took_ns: 0,
            context,
        }
    }

    /// Does these steps; what the medium took for them, in nanoseconds. `None` where it is over.
    pub fn go(&mut self, steps: &[DurableStep]) -> Option<u64> {
        self.took_ns = 0;
        steps.iter().try_for_each(|step| self.step(*step))?;
        Some(self.took_ns)
    }

    fn step(&mut self, step: DurableStep) -> Option<()> {
        match step {
            DurableStep::Log(bytes) => self.append(bytes),
            DurableStep::LogOn(bytes) => {
                self.log.back(PAGE_BYTES);
                self.append(bytes)
            }
            DurableStep::NewFile(bytes) => self.new_file(bytes),
            DurableStep::Again(bytes) => self.write(Extent::new(self.last.offset_bytes, bytes)),
            DurableStep::FirstPage => self.write(Extent::new(self.files_bytes, PAGE_BYTES)),
            DurableStep::OldPage => {
                let place = (self.old_pages)(0)?;
                self.write(place)
            }
            DurableStep::PageAmongFiles => self.write(self.newest_page),
            DurableStep::PagesBehindLog(bytes) => {
                let place = self.behind_log.next(bytes);
                self.write(place)
            }
            DurableStep::Commit(bytes) => self.commit(bytes),
            DurableStep::Sync(file) => self.sync(file),
        }
    }

    fn new_file(&mut self, bytes: u64) -> Option<()> {
        if self.files.is_multiple_of(FILES_A_PAGE) {
            self.newest_page = self.new_files[0].next(PAGE_BYTES);
        }
        self.files += 1;
        let place = usize::from(self.processors.below(ELSEWHERE) == 0);
        self.last = self.new_files[place].next(bytes);
        self.journalled_ticks[File::Log as usize] = self.tick();
        self.write(self.last)
    }

    fn append(&mut self, bytes: u64) -> Option<()> {
        self.last = self.log.next(bytes);
        self.write(self.last)
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
        let tick = self.tick();
        let journalled_ticks = &mut self.journalled_ticks[file as usize];
        if std::mem::replace(journalled_ticks, tick) == tick {
            self.flush()
        } else {
            self.commit(INODE_BYTES)
        }
    }

    fn tick(&mut self) -> u64 {
        device::Device::now(self.context.medium) / TICK_NS
    }

    fn flush(&mut self) -> Option<()> {
        let flushed = self.context.flush();
        self.took_ns +=
            flushed.map_err(|error| self.outcome.end(record::Stop::Error, Some(error))).ok()?;
        Some(())
    }

    fn write(&mut self, place: Extent) -> Option<()> {
        let mut places = Some(place).into_iter();
        let tally =
            self.context
                .drive("writing", &self.load, &LoopLimits::time(u64::MAX), &mut |_| places.next());
        self.outcome.cell.ops += tally.ops;
        self.outcome.cell.bytes += tally.bytes;
        self.took_ns += tally.busy_ns;
        if let Some(seen) = tally.disturbance {
            self.outcome.cell.disturbance.get_or_insert_default().add(seen);
        }
        // Its end is what this is about: nothing ends it early but an error or whoever ends the
        // run.
        if tally.stop.cut_short() {
            self.outcome.end(tally.stop, tally.error);
            return None;
        }
        Some(())
    }
}

/// Where it is done. On a raw medium in all of its second half: file systems have their journal in
/// the middle, far from the files, and the way between them is what takes a disk its time. In a
/// file in the first `wanted_bytes`. `Err` says what does not fit.
pub fn preconditioned_span(target: &TargetInfo, wanted_bytes: u64) -> Result<Extent, String> {
    let span =
        target.region(Region::Middle, if target.is_file() { wanted_bytes } else { u64::MAX })?;
    if span.bytes < JOURNAL_BYTES + FILES_BYTES {
        return Err(format!("journal and files do not fit into {}", Bytes(span.bytes)));
    }
    Ok(span)
}

/// What these steps write at most, in bytes.
pub fn written_bytes(steps: &[DurableStep]) -> u64 {
    let bytes = |step: &DurableStep| match step {
        DurableStep::Log(bytes)
        | DurableStep::LogOn(bytes)
        | DurableStep::NewFile(bytes)
        | DurableStep::Again(bytes)
        | DurableStep::PagesBehindLog(bytes) => *bytes,
        DurableStep::FirstPage | DurableStep::OldPage | DurableStep::PageAmongFiles => PAGE_BYTES,
        DurableStep::Commit(bytes) => bytes + PAGE_BYTES,
        DurableStep::Sync(_) => INODE_BYTES + PAGE_BYTES,
    };
    steps.iter().map(bytes).sum()
}
