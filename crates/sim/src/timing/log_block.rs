//! Log-block mapping: a few allocation units are open for writing, and closing one merges it
//! (docs/field/ftl.md#nand, docs/field/ftl.md#model).

use super::read_path::ReadPath;
use super::rewrites::Rewrites;
use super::write_path::WritePath;
use super::{MediumCommand, Timing};
use crate::profile::spec::{Bypass, Front, LogBlock, ReadSpec, WriteSpec};
use crate::rng::SimRng;

/// An allocation unit that is open for writing.
#[derive(Clone, Copy, Debug)]
struct OpenAu {
    index: u64,
    /// First byte of the next write of an ascending run.
    pointer: u64,
    /// Bytes written in ascending order.
    covered: u64,
    /// Bytes in its log.
    logged: u64,
    /// True if it was written out of order: closing it copies all of it.
    random: bool,
}

/// The small-write log and its fill level.
#[derive(Debug)]
struct SmallLog {
    up_to: u64,
    ns: f64,
    capacity: f64,
    recovered_per_ns: f64,
    used: f64,
}

impl SmallLog {
    fn new(bypass: &Bypass) -> SmallLog {
        SmallLog {
            up_to: bypass.up_to.0,
            ns: bypass.time.0,
            capacity: bypass.capacity.map_or(f64::INFINITY, |size| size.0 as f64),
            recovered_per_ns: bypass.recovery_rate.map_or(0.0, |rate| rate.0 / 1e9),
            used: 0.0,
        }
    }

    /// Accepts a small write while there is room.
    #[inline]
    fn takes(&mut self, bytes: u64) -> bool {
        let takes = bytes <= self.up_to && self.used + bytes as f64 <= self.capacity;
        if takes {
            self.used += bytes as f64;
        }
        takes
    }
}

/// The controller of a cheap card or stick.
#[derive(Debug)]
pub(super) struct LogBlockModel {
    read: ReadPath,
    write: WritePath,
    rewrites: Option<Rewrites>,
    au: u64,
    /// Open units, the least recently used first; never more than `open_aus`.
    open: Vec<OpenAu>,
    open_aus: usize,
    copy_ns_per_byte: f64,
    erase_ns: f64,
    log_merges: f64,
    page_buffer: bool,
    fills_gaps: bool,
    small: Option<SmallLog>,
    front: Option<Front>,
    last_end: u64,
    /// True if the last write went to the small-write log and did not continue another.
    single: bool,
}

impl LogBlockModel {
    pub(super) fn new(ftl: &LogBlock, read: &ReadSpec, write: &WriteSpec) -> LogBlockModel {
        LogBlockModel {
            read: ReadPath::new(read, write.unit.0, ftl.au.0),
            write: WritePath::new(write),
            rewrites: Rewrites::new(write),
            au: ftl.au.0,
            open: Vec::with_capacity(ftl.open_aus as usize),
            open_aus: ftl.open_aus as usize,
            copy_ns_per_byte: ftl.copy_rate.ns_per_byte(),
            erase_ns: ftl.erase.0,
            log_merges: ftl.log_merges,
            page_buffer: ftl.page_buffer,
            fills_gaps: ftl.fills_gaps,
            small: ftl.bypass.as_ref().map(SmallLog::new),
            front: ftl.front.clone(),
            last_end: u64::MAX,
            single: false,
        }
    }

    /// Closes the least recently used unit and copies the parts that were not written in order;
    /// returns the time in nanoseconds.
    #[inline]
    fn evict(&mut self) -> f64 {
        let closed = self.open.remove(0);
        let copied = if closed.random { self.au } else { self.au.saturating_sub(closed.covered) };
        copied as f64 * self.copy_ns_per_byte + self.erase_ns
    }

    /// Makes the unit the most recently used one (the last of `open`) and opens it if need be;
    /// returns the time in nanoseconds.
    #[inline]
    fn touch(&mut self, index: u64, at: u64) -> f64 {
        if let Some(position) = self.open.iter().rposition(|open| open.index == index) {
            self.open[position..].rotate_left(1);
            return 0.0;
        }
        let ns = if self.open.len() == self.open_aus { self.evict() } else { 0.0 };
        self.open.push(OpenAu { index, pointer: at, covered: 0, logged: 0, random: false });
        ns
    }

    /// Time in nanoseconds of a write to a page that is kept apart; `None` for all others, and in
    /// an open unit.
    #[inline]
    fn rewritten(&mut self, index: u64, start: u64, end: u64) -> Option<f64> {
        let rewrites = self.rewrites.as_mut()?;
        let is_open = self.open.iter().any(|open| open.index == index);
        if is_open { None } else { rewrites.time(start, end) }
    }

    /// Streaming time in nanoseconds of bytes at this place.
    #[inline]
    fn stream(&self, at: u64, bytes: u64, ease: f64) -> f64 {
        let ns = bytes as f64 * self.write.ns_per_byte * ease;
        match &self.front {
            Some(front) if at < front.size.0 => ns / front.rate_factor,
            _ => ns,
        }
    }

    /// Writes the part of a command that is in one allocation unit; returns the time in
    /// nanoseconds.
    #[inline]
    fn write_inside(&mut self, index: u64, start: u64, end: u64, ease: f64) -> f64 {
        let continues = start == self.last_end;
        if !continues && let Some(ns) = self.rewritten(index, start, end) {
            return ns;
        }
        self.last_end = end;
        let bytes = end - start;
        // One write that happens to follow another is no stream yet, two are.
        let is_stream = continues && !self.single;
        if !is_stream
            && let Some(small) = &mut self.small
            && small.takes(bytes)
        {
            self.single = !continues;
            return small.ns;
        }
        self.single = false;
        let partial = self.write.is_partial(start, end);
        let shared = continues && self.page_buffer && !start.is_multiple_of(self.write.unit);
        let mut ns = self.touch(index, start);
        ns += self.stream(start, self.write.programmed(start, end, shared), ease);
        if partial && !shared {
            ns += self.write.partial_ns;
        }
        ns + self.account(start, end, partial)
    }

    /// Updates the most recently used unit; returns the time of the merges that became due.
    #[inline]
    fn account(&mut self, start: u64, end: u64, partial: bool) -> f64 {
        let bytes = end - start;
        let open = self.open.last_mut().expect("touch has just put it there");
        let in_order = self.fills_gaps && !open.random;
        let gap = if in_order { start.saturating_sub(open.pointer) } else { 0 };
        let copied_ns = gap as f64 * self.copy_ns_per_byte;
        open.random |= start != open.pointer + gap;
        open.pointer = end;
        open.covered += gap + bytes;
        open.logged += if partial { bytes.max(self.write.unit) } else { bytes };
        if open.random && open.logged >= self.au {
            open.logged = 0;
            open.covered = 0;
            return self.log_merges * self.au as f64 * self.copy_ns_per_byte + 2.0 * self.erase_ns;
        }
        if !open.random && open.covered >= self.au {
            self.open.pop();
            return copied_ns + self.erase_ns;
        }
        copied_ns
    }
}

impl Timing for LogBlockModel {
    fn read(&mut self, piece: &MediumCommand, _: &mut SimRng) -> f64 {
        self.read.read(piece)
    }

    fn write(&mut self, piece: &MediumCommand, _: &mut SimRng) -> f64 {
        let mut ns = self.write.command(piece);
        let (mut at, end) = (piece.offset_bytes, piece.offset_bytes + piece.bytes);
        while at < end {
            let index = at / self.au;
            let stop = end.min((index + 1) * self.au);
            ns += self.write_inside(index, at, stop, piece.ease);
            at = stop;
        }
        ns
    }

    fn discard(&mut self, offset_bytes: u64, bytes: u64) -> f64 {
        let (start, end, au) = (offset_bytes, offset_bytes + bytes, self.au);
        self.open.retain(|open| open.index * au < start || (open.index + 1) * au > end);
        self.read.command()
    }

    fn command(&self) -> f64 {
        self.read.command()
    }

    fn idle(&mut self, ns: f64) {
        if let Some(small) = &mut self.small {
            small.used = (small.used - ns * small.recovered_per_ns).max(0.0);
        }
    }
}
