//! Writing of marks and reading them back, in spite of errors of single places.

mod away;
mod backing_up;
mod elsewhere;

use std::cell::RefCell;
use std::collections::BTreeMap;

use device::content::DataGenerator;
use device::{Device, Extent, IoError, IoErrorKind, Request, do_io};
use record::units::MIB;
use record::{PlannedCell, Stop};

use super::backed_up::BackedUp;
use super::block_content::BlockContent;
use crate::backup::PIECE_BYTES;
use crate::io_loop::{IoLoad, LoopLimits};
use crate::planned::span_of;
use crate::{CellContext, CellOutcome, IoTally};

/// Most errors of single places that are findings; a medium with more has failed.
const MAX_ERRORS: u32 = 1000;

/// Bytes that are backed up at once before they are overwritten.
const BATCH_BYTES: u64 = 8 * MIB;

/// A failure at a place.
#[derive(Clone, Copy, Debug)]
struct Failed {
    bytes: u64,
    writing: bool,
}

/// The reason why probing ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The time is up.
    TimeUp,
    /// The medium failed, or the run was interrupted; the outcome has the reason.
    Over,
}

/// Result of a step, unless probing ended early.
pub type StepOutcome<T = ()> = Result<T, Halt>;

/// The medium, and everything known about its places.
pub struct Prober<'a, 'b> {
    /// Context of the cell.
    pub context: &'a mut CellContext<'b>,
    /// Outcome of the cell so far.
    pub outcome: CellOutcome,
    /// Range that may be touched.
    pub span: Extent,
    /// Bytes of a mark.
    pub block_bytes: u64,
    /// Distance in bytes of addresses with the same flash; `None` while it is unknown.
    pub wrap_bytes: Option<u64>,
    /// The last content of each place.
    pub shown: BTreeMap<u64, BlockContent>,
    /// Addresses with data of others: the address that was read, and the one for which it was
    /// written.
    pub folded: Vec<(u64, u64)>,
    /// Bytes that may still be written, and that might be written at first.
    pub budget_bytes: u64,
    all_bytes: u64,
    /// Bytes of marks and ramps that were read back.
    pub read_bytes: u64,
    /// The pass of the last data.
    pass: u32,
    cursor_bytes: u64,
    errors: u32,
    /// Places with an error, by their first byte.
    unusable: BTreeMap<u64, Failed>,
    /// Ranges that are backed up, if old data is to be restored.
    keep: Option<BackedUp>,
    /// Ranges that are kept but not durably yet: nothing was written there.
    unsealed: Vec<Extent>,
    /// Places with data that is not overwritten, with a hash of it.
    elsewhere: Vec<(Extent, u64)>,
    /// Expected time of the restore, in nanoseconds.
    restoring_ns: u64,
    /// Part of the cell's time that is not to be used, in nanoseconds.
    unused_ns: u64,
}

impl<'a, 'b> Prober<'a, 'b> {
    /// A prober that has written nothing. With `keep_bytes`, so much old data can be kept, and
    /// [`restore`](Prober::restore) restores it.
    pub fn new(
        cell: &PlannedCell,
        context: &'a mut CellContext<'b>,
        keep_bytes: Option<u64>,
    ) -> Prober<'a, 'b> {
        // Data of its own: other tests' passes are small numbers.
        let pass = 1 << 30 | (context.random("data").bits() as u32 >> 3);
        Prober {
            outcome: CellOutcome::new(cell),
            span: span_of(cell),
            block_bytes: cell.block_bytes(),
            wrap_bytes: None,
            shown: BTreeMap::new(),
            folded: Vec::new(),
            budget_bytes: cell.max_written_bytes - keep_bytes.unwrap_or(0),
            all_bytes: cell.max_written_bytes - keep_bytes.unwrap_or(0),
            read_bytes: 0,
            pass,
            cursor_bytes: 0,
            errors: 0,
            unusable: BTreeMap::new(),
            keep: keep_bytes.map(BackedUp::new),
            unsealed: Vec::new(),
            elsewhere: Vec::new(),
            restoring_ns: 0,
            unused_ns: 0,
            context,
        }
    }

    /// Begins new data, which differs from everything written before; returns its pass.
    pub fn new_data(&mut self) -> u32 {
        self.pass += 1;
        self.pass
    }

    /// Writes data of this pass. A place that cannot be written is noted, and the next one follows.
    /// If old data is to be restored, it is read first; a place that cannot be read is then not
    /// written.
    pub fn write(
        &mut self,
        phase: &'static str,
        pass: u32,
        largest_bytes: u64,
        places: impl IntoIterator<Item = Extent>,
    ) -> StepOutcome {
        if self.keep.is_none() {
            return self.overwrite(phase, pass, largest_bytes, places);
        }
        let mut places = places.into_iter().peekable();
        while places.peek().is_some() {
            let started_ns = self.now_ns();
            let kept_bytes = self.kept_bytes();
            let mut batch = Vec::new();
            let mut bytes = 0;
            while bytes < BATCH_BYTES
                && let Some(place) = places.next()
            {
                bytes += place.bytes;
                if self.save(place)? {
                    batch.push(place);
                }
            }
            self.seal()?;
            self.overwrite(phase, pass, largest_bytes, batch)?;
            // What is restored was written here for the first time; that took as long as putting it
            // back will.
            let share = (self.kept_bytes() - kept_bytes) as f64 / bytes.max(1) as f64;
            self.restoring_ns += (self.now_ns().saturating_sub(started_ns) as f64 * share) as u64;
        }
        Ok(())
    }

    /// Does one read by itself.
    fn transfer(&mut self, request: Request) -> Result<Vec<u8>, IoError> {
        let medium = &mut *self.context.medium;
        medium.prepare(1, PIECE_BYTES as usize)?;
        let done = do_io(medium, request);
        let cell = &mut self.outcome.cell;
        cell.ops += 1;
        cell.bytes += request.length_bytes;
        done?;
        Ok(self.context.medium.buffer(0)[..request.length_bytes as usize].to_vec())
    }

    /// Writes at `places` without keeping old data; a place that fails is noted as unusable.
    fn overwrite(
        &mut self,
        phase: &'static str,
        pass: u32,
        largest_bytes: u64,
        places: impl IntoIterator<Item = Extent>,
    ) -> StepOutcome {
        let load = IoLoad { pass, ..IoLoad::write(largest_bytes) };
        let mut places = places.into_iter();
        let mut left_bytes = self.budget_bytes;
        let (mut last, mut is_used_up) = (None, false);
        loop {
            let limits = LoopLimits::time(self.time_left()?);
            let tally = self.context.drive(phase, &load, &limits, &mut |_| {
                let place = places.next()?;
                is_used_up |= place.bytes > left_bytes;
                if is_used_up {
                    return None;
                }
                left_bytes -= place.bytes;
                last = Some(place);
                last
            });
            self.budget_bytes = left_bytes;
            match self.take(tally)? {
                // What was to be written was not: nothing follows from reading it.
                true if is_used_up => return Err(Halt::TimeUp),
                true => return Ok(()),
                false => {}
            }
            self.note_unusable(
                last,
                Failed { bytes: last.map_or(0, |place| place.bytes), writing: true },
            );
        }
    }

    /// Reads blocks in this order, with data of `pass` expected, and returns their contents, until
    /// `enough` of it is known.
    pub fn read(
        &mut self,
        phase: &'static str,
        pass: u32,
        places: &[u64],
        block_bytes: u64,
        enough: impl Fn(&[(u64, BlockContent)]) -> bool,
    ) -> StepOutcome<Vec<(u64, BlockContent)>> {
        let (load, generator) = (IoLoad::read(block_bytes), self.context.generator);
        let mut places = places.iter();
        let seen = RefCell::new(Vec::new());
        let mut last = None;
        loop {
            let limits = LoopLimits::time(self.time_left()?);
            let mut next = |_| {
                let next = if enough(&seen.borrow()) { None } else { places.next() };
                last = next.map(|place| Extent::new(*place, block_bytes));
                last
            };
            let mut look = |place: Extent, data: &[u8]| {
                seen.borrow_mut().push((place.offset_bytes, block(generator, pass, place, data)))
            };
            let tally = self.context.read_back(phase, &load, &limits, &mut next, &mut look);
            self.read_bytes += tally.bytes;
            match self.take(tally) {
                Ok(true) => break,
                Ok(false) => {
                    self.note_unusable(last, Failed { bytes: block_bytes, writing: false });
                    seen.borrow_mut()
                        .extend(last.map(|place| (place.offset_bytes, BlockContent::Unusable)));
                }
                Err(halt) => {
                    // What was seen until then counts.
                    self.note_folded(&seen.borrow());
                    return Err(halt);
                }
            }
        }
        let seen = seen.into_inner();
        self.note_folded(&seen);
        Ok(seen)
    }

    fn note_folded(&mut self, seen: &[(u64, BlockContent)]) {
        for &(place, seen) in seen {
            if let BlockContent::WrongAddress { by_bytes } = seen {
                self.folded.push((place, by_bytes));
            }
        }
    }

    /// Keeps the contents of marks. A place that could not be written stays unusable, whatever is
    /// read there.
    pub fn keep(&mut self, seen: &[(u64, BlockContent)]) {
        for &(place, seen) in seen {
            if self.shown.get(&place) != Some(&BlockContent::Unusable) {
                self.shown.insert(place, seen);
            }
        }
    }

    /// Reads a range back sector by sector; true for each with flash behind it.
    pub fn sectors(
        &mut self,
        phase: &'static str,
        pass: u32,
        range: Extent,
        piece_bytes: u64,
    ) -> StepOutcome<Vec<bool>> {
        let (generator, wrap_bytes) = (self.context.generator, self.wrap_bytes);
        let mut present = vec![false; (range.bytes / 512) as usize];
        let mut at = range.offset_bytes;
        let load = IoLoad::read(piece_bytes);
        loop {
            let limits = LoopLimits::time(self.time_left()?);
            let mut next = |_| {
                let piece = Extent::new(at, piece_bytes.min(range.end() - at));
                at = piece.end();
                (piece.bytes > 0).then_some(piece)
            };
            let mut look = |place: Extent, data: &[u8]| {
                for (offset, verdict) in generator.verify(data, pass, place.offset_bytes) {
                    present[((offset - range.offset_bytes) / 512) as usize] =
                        BlockContent::sector(offset, verdict).is_present(offset, wrap_bytes);
                }
            };
            let tally = self.context.read_back(phase, &load, &limits, &mut next, &mut look);
            self.read_bytes += tally.bytes;
            if self.take(tally)? {
                return Ok(present);
            }
        }
    }

    /// Writes so many bytes outside of `spared`, so that no memory of the controller still answers
    /// for earlier writes.
    pub fn fill_cache(&mut self, bytes: u64, spared: Extent) -> StepOutcome {
        let below =
            Extent::new(self.span.offset_bytes, spared.offset_bytes - self.span.offset_bytes);
        let above = Extent::new(spared.end(), self.span.end() - spared.end());
        // What is to be restored must be kept: no more places than are needed, and those of the
        // run, which are kept already. Elsewhere beyond it first, as a memory may take only what
        // has no flash.
        let keeping = self.keep.is_some();
        let area = match keeping {
            true if below.bytes > above.bytes || below.bytes >= bytes => below,
            true => above,
            false if above.bytes >= bytes => above,
            false => {
                self.fill_area(above, above.bytes)?;
                if below.bytes >= MIB { below } else { above }
            }
        };
        self.fill_area(area, bytes)
    }

    /// Writes so many bytes in this range, again and again if it is shorter.
    pub fn fill_area(&mut self, area: Extent, bytes: u64) -> StepOutcome {
        let keeping = self.keep.is_some();
        let pieces =
            if keeping { (area.bytes / MIB).min(bytes.div_ceil(MIB)) } else { area.bytes / MIB };
        // What folds to before the span would overwrite what the span spares.
        let spare = self.wrap_bytes.map(|wrap_bytes| (wrap_bytes, self.span.offset_bytes));
        let harmless = |piece: &Extent| {
            spare.is_none_or(|(wrap_bytes, first)| {
                piece.offset_bytes % wrap_bytes >= first && (piece.end() - 1) % wrap_bytes >= first
            })
        };
        if pieces == 0 {
            return Ok(());
        }
        let start = self.cursor_bytes / MIB;
        let turn = (start..)
            .map(|piece| Extent::new(area.offset_bytes + piece % pieces * MIB, MIB))
            .take((2 * pieces + bytes / MIB) as usize);
        let chosen: Vec<Extent> =
            turn.filter(harmless).take(bytes.div_ceil(MIB) as usize).collect();
        self.cursor_bytes += chosen.len() as u64 * MIB;
        let pass = self.new_data();
        self.write("filling caches", pass, MIB, chosen)
    }

    /// Bytes of marks and ramps that were written.
    pub fn written_bytes(&self) -> u64 {
        self.all_bytes - self.budget_bytes
    }

    /// Remaining time of the cell, without that of the restore, in nanoseconds.
    pub fn left_ns(&mut self) -> u64 {
        self.context.time_left_ns().saturating_sub(self.restoring_ns.saturating_add(self.unused_ns))
    }

    /// Gives up so many nanoseconds of the cell's time.
    pub fn hurry(&mut self, unused_ns: u64) {
        self.unused_ns = unused_ns;
    }

    fn kept_bytes(&self) -> u64 {
        self.keep.as_ref().map_or(0, BackedUp::bytes)
    }

    /// True if old data is to be restored.
    pub fn is_keeping(&self) -> bool {
        self.keep.is_some()
    }

    /// Remaining time of the cell in nanoseconds; an `Err` if there is none.
    fn time_left(&mut self) -> StepOutcome<u64> {
        match self.left_ns() {
            0 => Err(Halt::TimeUp),
            left_ns => Ok(left_ns),
        }
    }

    /// Number of places with an error.
    pub fn failed_places(&self) -> usize {
        self.unusable.len()
    }

    /// Number of those that begin in a range.
    pub fn failed_places_in(&self, range: Extent) -> usize {
        self.unusable.range(range.offset_bytes..range.end()).count()
    }

    fn note_unusable(&mut self, place: Option<Extent>, failed: Failed) {
        self.shown.extend(place.map(|place| (place.offset_bytes, BlockContent::Unusable)));
        self.unusable.extend(place.map(|place| (place.offset_bytes, failed)));
    }

    /// Counts a stretch; true if it was complete, false if it stopped at a place that does not
    /// work.
    fn take(&mut self, tally: IoTally) -> StepOutcome<bool> {
        let cell = &mut self.outcome.cell;
        cell.ops += tally.ops;
        cell.bytes += tally.bytes;
        cell.elapsed_ns += tally.busy_ns;
        match (tally.stop, tally.error) {
            (Stop::Error, Some(error))
                if error.kind == IoErrorKind::Medium && self.errors < MAX_ERRORS =>
            {
                self.errors += 1;
                Ok(false)
            }
            (stop, error) if stop.cut_short() => {
                self.outcome.end(stop, error);
                Err(Halt::Over)
            }
            (Stop::Time, _) => Err(Halt::TimeUp),
            _ => Ok(true),
        }
    }

    /// Makes written data durable. A medium without flush is probed all the same.
    pub fn flush(&mut self) {
        let _ = self.context.flush();
    }

    /// The time in nanoseconds, by the device's clock.
    pub fn now_ns(&mut self) -> u64 {
        self.context.medium.now()
    }
}

/// Content of a block: its worst sector. Data of another address may begin in the middle of it, so
/// the address is that of the block.
pub fn block(generator: &DataGenerator, pass: u32, place: Extent, data: &[u8]) -> BlockContent {
    let sectors = generator.verify(data, pass, place.offset_bytes).map(|(offset, verdict)| {
        match BlockContent::sector(offset, verdict) {
            BlockContent::WrongAddress { by_bytes } => {
                let block = by_bytes.checked_sub(offset - place.offset_bytes);
                block.map_or(BlockContent::Lost, |by_bytes| BlockContent::WrongAddress { by_bytes })
            }
            seen => seen,
        }
    });
    sectors.reduce(BlockContent::worse_of).unwrap_or(BlockContent::Lost)
}

#[cfg(test)]
mod tests {
    use record::Content;

    use super::*;

    #[test]
    fn data_of_elsewhere_is_named_by_its_distance_wherever_it_begins_in_a_block() {
        let generator = DataGenerator::new(1);
        let mut data = vec![0; 4096];
        generator.fill(&mut data, Content::Incompressible, 2, 1 << 20);
        generator.fill(&mut data[1536..], Content::Incompressible, 9, (5 << 20) + 1536);
        assert_eq!(
            block(&generator, 2, Extent::new(1 << 20, 4096), &data),
            BlockContent::WrongAddress { by_bytes: 5 << 20 }
        );
    }
}
