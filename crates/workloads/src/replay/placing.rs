//! Mapping of recorded requests to offsets on the medium.

use device::{Extent, Facts, Op};
use record::units::{Bytes, MIB};

use super::{ReplayError, ReplaySettings};
use crate::trace::{Issue, TraceSurvey};

/// Bytes that scaling moves as a whole, so that neighbours stay neighbours: sequential requests
/// must not become random ones.
const CHUNK_BYTES: u64 = MIB;

/// Treatment of a trace on a medium of another size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CapacityFit {
    /// The trace must fit.
    #[default]
    Exact,
    /// It is scaled to the whole medium, each MiB as a whole.
    Scale,
    /// Offsets are taken modulo the size of the medium.
    Wrap,
    /// Requests beyond the end of the medium are left out.
    Skip,
}

/// Reason why a request is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The medium ends before it.
    Beyond,
    /// Only reads are wanted.
    NotRead,
    /// The medium takes no discards.
    NoDiscards,
}

/// Maps the offsets of recorded requests to offsets on the medium.
#[derive(Clone, Debug)]
pub struct Placing {
    fit: CapacityFit,
    /// Part of the medium that the replay may touch.
    room: Extent,
    unit: u64,
    /// Recorded devices or files, each with its beginning in the trace's own address space, in
    /// bytes.
    bases: Vec<(u32, u64)>,
    /// Size of that address space, rounded up to the unit.
    trace_bytes: u64,
    reads_only: bool,
    discards: bool,
}

impl Placing {
    /// Maps `survey`'s requests into `room` of a medium; an error says why that is not possible.
    pub fn new(
        survey: &TraceSurvey,
        settings: &ReplaySettings,
        facts: &Facts,
        room: Extent,
    ) -> Result<Placing, ReplayError> {
        let unit = facts.logical_block_bytes.max(1);
        let room = Extent::new(room.offset_bytes, room.bytes / unit * unit);
        let (bases, trace_bytes) = layout(survey, unit);
        if settings.fit == CapacityFit::Exact && trace_bytes > room.bytes {
            return Err(ReplayError(format!(
                "the trace reaches to byte {trace_bytes}, the target has {} bytes ({}): say with --fit what becomes of the rest \
                 (scale: the whole trace is squeezed into the target, wrap: it goes on at the beginning, skip: it is left out)",
                room.bytes,
                Bytes(room.bytes)
            )));
        }
        if longest_widened(survey, unit).min(trace_bytes) > room.bytes {
            return Err(ReplayError(format!(
                "the trace has a request of {}, more than the {} of the target",
                Bytes(survey.longest_bytes),
                Bytes(room.bytes)
            )));
        }
        if settings.reads_only && survey.of_op(Op::Read).requests == 0 {
            let none = "the trace has no reads; without its writes there is nothing to replay";
            return Err(ReplayError(none.into()));
        }
        let ReplaySettings { fit, reads_only, .. } = *settings;
        Ok(Placing { fit, room, unit, bases, trace_bytes, reads_only, discards: facts.discards })
    }

    /// The part of the medium that is touched: all of the room if the trace is scaled, else as much
    /// as the trace spans.
    pub fn span(&self) -> Extent {
        match self.fit {
            CapacityFit::Scale => self.room,
            _ => Extent::new(self.room.offset_bytes, self.trace_bytes.min(self.room.bytes)),
        }
    }

    /// Longest read or write in bytes, widened to whole blocks of the medium.
    pub fn slot_bytes(&self, survey: &TraceSurvey) -> u64 {
        longest_widened(survey, self.unit).clamp(self.unit, self.room.bytes)
    }

    /// Place of a request on the medium; `Err` if it is left out. A flush has no place and gets an
    /// empty one.
    #[inline]
    pub fn place(&self, issue: &Issue) -> Result<Extent, Left> {
        if self.reads_only && issue.op != Op::Read {
            return Err(Left::NotRead);
        }
        match issue.op {
            Op::Flush => return Ok(Extent::new(0, 0)),
            Op::Discard if !self.discards => return Err(Left::NoDiscards),
            _ => {}
        }
        let base = self
            .bases
            .iter()
            .find(|(device, _)| *device == issue.device)
            .map_or(0, |(_, base)| *base);
        // Whole blocks: what a file system wrote in bytes, a medium moves in blocks.
        let from = (base + issue.offset_bytes) / self.unit * self.unit;
        let until = (base + issue.offset_bytes + issue.length_bytes).next_multiple_of(self.unit);
        let bytes = (until - from).min(self.room.bytes);
        let last = self.room.bytes - bytes;
        let start = match self.fit {
            CapacityFit::Exact => from,
            CapacityFit::Skip if until > self.room.bytes => return Err(Left::Beyond),
            CapacityFit::Skip => from,
            CapacityFit::Wrap => (from % self.room.bytes).min(last),
            CapacityFit::Scale => self.scaled(from).min(last),
        };
        Ok(Extent::new(self.room.offset_bytes + start, bytes))
    }

    /// True if a request had to be widened to whole blocks.
    pub fn widens(&self, issue: &Issue) -> bool {
        issue.op != Op::Flush
            && !(issue.offset_bytes | issue.length_bytes).is_multiple_of(self.unit)
    }

    fn scaled(&self, from: u64) -> u64 {
        if self.room.bytes < CHUNK_BYTES {
            return from % self.room.bytes;
        }
        let chunks = self.trace_bytes.div_ceil(CHUNK_BYTES).max(1);
        let there = self.room.bytes / CHUNK_BYTES;
        let chunk = u128::from(from / CHUNK_BYTES) * u128::from(there) / u128::from(chunks);
        chunk as u64 * CHUNK_BYTES + from % CHUNK_BYTES
    }
}

/// Most bytes of the longest request, widened to whole blocks: it may begin at the last byte of a
/// block and end at the first byte of another.
fn longest_widened(survey: &TraceSurvey, unit: u64) -> u64 {
    survey.longest_bytes.saturating_add(2 * (unit - 1)) / unit * unit
}

/// Beginnings of the recorded devices or files, one behind the other, each at a multiple of 1 MiB;
/// and the size of the address space.
fn layout(survey: &TraceSurvey, unit: u64) -> (Vec<(u32, u64)>, u64) {
    let mut next = 0u64;
    let mut end = 0;
    let mut bases = Vec::new();
    for span in &survey.spans {
        bases.push((span.device, next));
        end = next.saturating_add(span.end_bytes);
        next = end.checked_next_multiple_of(CHUNK_BYTES).unwrap_or(u64::MAX);
    }
    (bases, end.checked_next_multiple_of(unit).unwrap_or(u64::MAX))
}
