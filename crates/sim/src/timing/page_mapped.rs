//! Page mapping: any page goes to any place, and random writes cause garbage collection
//! (docs/field/ftl.md#model).

use super::read_path::ReadPath;
use super::rewrites::Rewrites;
use super::write_path::WritePath;
use super::{MediumCommand, Timing};
use crate::profile::spec::{PageMapped, ReadSpec, WriteSpec};
use crate::rng::SimRng;

/// A cache in front of the flash: the total of written bytes at which it is full, and its rate.
#[derive(Debug)]
struct Stage {
    until: f64,
    ns_per_byte: f64,
}

/// The controller of a better card, eMMC, stick or SSD.
#[derive(Debug)]
pub(super) struct PageMappedModel {
    read: ReadPath,
    write: WritePath,
    rewrites: Option<Rewrites>,
    gc_ns: f64,
    gc_ns_per_byte: f64,
    gc_burst_ns: f64,
    /// Deferred garbage collection in nanoseconds.
    due_ns: f64,
    stages: Vec<Stage>,
    /// Bytes in the caches.
    cached: f64,
    recovered_per_ns: f64,
    recovery_after_ns: f64,
    last_end: u64,
}

/// Allocation unit that no read straddles: it cannot be seen through page mapping.
const NO_AU: u64 = u64::MAX;

impl PageMappedModel {
    pub(super) fn new(ftl: &PageMapped, read: &ReadSpec, write: &WriteSpec) -> PageMappedModel {
        let mut until = 0.0;
        let stages = ftl.stages.iter().map(|stage| {
            until += stage.size.0 as f64;
            Stage { until, ns_per_byte: stage.rate.ns_per_byte() }
        });
        PageMappedModel {
            stages: stages.collect(),
            read: ReadPath::new(read, write.unit.0, NO_AU),
            write: WritePath::new(write),
            rewrites: Rewrites::new(write),
            gc_ns: ftl.gc.0,
            gc_ns_per_byte: ftl.gc_per_kib.0 / 1024.0,
            gc_burst_ns: ftl.gc_burst.0,
            due_ns: 0.0,
            cached: 0.0,
            recovered_per_ns: ftl.recovery_rate.map_or(0.0, |rate| rate.0 / 1e9),
            recovery_after_ns: ftl.recovery_after.0,
            last_end: u64::MAX,
        }
    }

    /// Time in nanoseconds of the garbage collection of a random write: deferred, then done all at
    /// once.
    #[inline]
    fn collect(&mut self, bytes: u64) -> f64 {
        self.due_ns += self.gc_ns + self.gc_ns_per_byte * bytes as f64;
        if self.due_ns < self.gc_burst_ns {
            return 0.0;
        }
        std::mem::take(&mut self.due_ns)
    }
}

impl Timing for PageMappedModel {
    fn read(&mut self, piece: &MediumCommand, _: &mut SimRng) -> f64 {
        self.read.read(piece)
    }

    fn write(&mut self, piece: &MediumCommand, _: &mut SimRng) -> f64 {
        let (start, end) = (piece.offset_bytes, piece.offset_bytes + piece.bytes);
        let random = start != self.last_end;
        if random && let Some(ns) = self.rewrites.as_mut().and_then(|it| it.time(start, end)) {
            return self.write.command(piece) + ns;
        }
        self.last_end = end;
        let stage = self.stages.iter().find(|stage| self.cached < stage.until);
        let ns_per_byte = stage.map_or(self.write.ns_per_byte, |stage| stage.ns_per_byte);
        let to_flash = stage.is_none();
        if !to_flash {
            self.cached += piece.bytes as f64;
        }
        let mut ns = self.write.command(piece)
            + self.write.programmed(start, end, false) as f64 * ns_per_byte * piece.ease;
        if self.write.is_partial(start, end) {
            ns += self.write.partial_ns;
        }
        if random && to_flash {
            ns += self.collect(piece.bytes);
        }
        ns
    }

    fn discard(&mut self, _: u64, _: u64) -> f64 {
        self.read.command()
    }

    fn command(&self) -> f64 {
        self.read.command()
    }

    fn idle(&mut self, ns: f64) {
        self.due_ns = (self.due_ns - ns).max(0.0);
        let emptying = (ns - self.recovery_after_ns).max(0.0);
        self.cached = (self.cached - emptying * self.recovered_per_ns).max(0.0);
    }
}
