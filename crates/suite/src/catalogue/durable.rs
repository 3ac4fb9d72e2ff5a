//! I/O of a program on ext4 that makes data durable: writes with flushes between them, at the
//! places of the file system's journal, the program's log and its pages. `commit` and `log-append`
//! are made of it.

use device::Extent;
use record::Region;
use record::units::{Bytes, KIB, MIB, MILLISECOND_NS};

use super::stretch;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::offsets::uniform;
use crate::{CellContext, CellOutcome, TargetInfo};
use stats::Random;

/// Bytes of a block of the file system, and of a page of a database.
pub const PAGE_BYTES: u64 = 4 * KIB;
/// Bytes of the file system's journal. It is at the start of the span, far from every file, as ext4
/// has it in the middle of a medium.
const JOURNAL_BYTES: u64 = 8 * MIB;
/// Size in bytes of a block group of ext4: the files of a directory begin at multiples of it.
const GROUP_BYTES: u64 = 128 * MIB;
/// Bytes of the files, from the half of the span on: an old part of a database of some thousand
/// rows, places for small new files, a log, and behind it the newest pages of the database. The
/// layout was observed on ext4.
const FILES_BYTES: u64 = 9 * MIB;
const OLD_PAGES: Extent = Extent { offset_bytes: 0, bytes: MIB };
/// Places of small new files: ext4 has one for each processor. The journal of a program that moves
/// between two processors changes its place.
const NEW_FILES: [Extent; 2] = [
    Extent { offset_bytes: 7 * MIB / 2, bytes: 3 * MIB / 2 },
    Extent { offset_bytes: 2 * MIB, bytes: 3 * MIB / 2 },
];
/// One file in this many is in the second place: if that needs one allocation unit too many, this
/// commit and the next are slow, a quarter of all.
const ELSEWHERE: u64 = 8;
/// Number of files after which the database has a new page.
const FILES_A_PAGE: u64 = 32;
const LOG: Extent = Extent { offset_bytes: 7 * MIB / 2, bytes: 4 * MIB };
/// The largest single write.
pub const LARGEST_BYTES: u64 = 64 * KIB;
/// Tick of the kernel in nanoseconds (CONFIG_HZ=250), the resolution of a file's modification time:
/// writes within one tick change the inode once.
const TICK_NS: u64 = 4 * MILLISECOND_NS;
/// Bytes that the file system's journal needs for a changed inode: a descriptor and the block of
/// the inode.
const INODE_BYTES: u64 = 8 * KIB;

/// A step of durable work; numbers are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableStep {
    /// Appends to the log.
    Log(u64),
    /// Writes to the log from its last page on, which was not full.
    LogOn(u64),
    /// Writes a new file.
    NewFile(u64),
    /// Writes the last appended part of the log, or the new file, again from its beginning.
    Again(u64),
    /// Writes the first page of the database, which counts its changes.
    FirstPage,
    /// Writes a page anywhere in the older part of the database.
    OldPage,
    /// Writes the newest page of a database whose journals are small files: it is among these.
    PageAmongFiles,
    /// Writes the newest pages of a database with a log: behind it.
    PagesBehindLog(u64),
    /// Appends to the file system's journal, then its commit block; everything is durable before
    /// the next step.
    Commit(u64),
    /// Ends a sync of which only the data, and perhaps the time, of the file has changed: makes
    /// everything durable.
    Sync(File),
}

/// A file with a modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// The log, or the new file.
    Log,
    Database,
}

/// A medium with a journal, a log and pages on it.
pub struct Durable<'a, 'b> {
    /// Context of the cell.
    pub context: &'a mut CellContext<'b>,
    /// Outcome of the cell so far.
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
    /// Time of the present steps so far, in nanoseconds.
    took_ns: u64,
}

/// A range that is written from its start to its end, again and again.
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
    /// A medium with the file system's journal at the start of `span`, and the files from its half
    /// on.
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

    /// Does these steps; returns their time on the medium in nanoseconds. `None` if the cell is
    /// over.
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

    /// Journals the file's modification time if it has changed.
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
        if let Some(seen) = tally.host_state {
            self.outcome.cell.host_state.get_or_insert_default().add(seen);
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

/// Range of the work. On a raw medium all of its second half: file systems have their journal in
/// the middle, far from the files, and a disk needs its time for the distance. In a file the first
/// `wanted_bytes`. `Err` is the reason why they do not fit.
pub fn preconditioned_span(target: &TargetInfo, wanted_bytes: u64) -> Result<Extent, String> {
    let span =
        target.region(Region::Middle, if target.is_file() { wanted_bytes } else { u64::MAX })?;
    if span.bytes < JOURNAL_BYTES + FILES_BYTES {
        return Err(format!("journal and files do not fit into {}", Bytes(span.bytes)));
    }
    Ok(span)
}

/// Most bytes that these steps write.
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
