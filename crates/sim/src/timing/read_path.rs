//! Reading of flash: the same for every way of mapping.

use super::MediumCommand;
use crate::profile::spec::ReadSpec;

/// State and figures of the read side (docs/field/ftl.md#model, "read").
#[derive(Debug)]
pub(super) struct ReadPath {
    command_ns: f64,
    next_command_ns: f64,
    ns_per_byte: f64,
    random_ns: f64,
    short_below: u64,
    short_ns: f64,
    short_ns_per_byte: f64,
    cross_unit_ns: f64,
    cross_au_ns: f64,
    unit: u64,
    au: u64,
    last_end: u64,
}

impl ReadPath {
    /// The read side of flash with programming units and allocation units of these sizes.
    pub(super) fn new(read: &ReadSpec, unit: u64, au: u64) -> ReadPath {
        ReadPath {
            command_ns: read.command.0,
            next_command_ns: read.next_command.unwrap_or(read.command).0,
            ns_per_byte: read.rate.ns_per_byte(),
            random_ns: read.random.0,
            short_below: read.short_below.0,
            short_ns: read.short.0,
            short_ns_per_byte: read.short_rate.unwrap_or(read.rate).ns_per_byte(),
            cross_unit_ns: read.cross_unit.0,
            cross_au_ns: read.cross_au.0,
            unit,
            au,
            last_end: u64::MAX,
        }
    }

    #[inline]
    pub(super) fn read(&mut self, piece: &MediumCommand) -> f64 {
        let (start, end) = (piece.offset_bytes, piece.offset_bytes + piece.bytes);
        let mut ns = if piece.first { self.command_ns } else { self.next_command_ns };
        if start != self.last_end {
            ns += self.random_ns;
        }
        ns += if piece.bytes < self.short_below {
            self.short_ns + piece.bytes as f64 * self.short_ns_per_byte
        } else {
            piece.bytes as f64 * self.ns_per_byte
        };
        // A boundary between allocation units is one between units too and costs once.
        if self.cross_au_ns > 0.0 && start / self.au != (end - 1) / self.au {
            ns += self.cross_au_ns;
        } else if self.cross_unit_ns > 0.0
            && piece.bytes <= self.unit
            && start / self.unit != (end - 1) / self.unit
        {
            ns += self.cross_unit_ns;
        }
        self.last_end = end;
        ns
    }

    /// Time of a command without data, in nanoseconds.
    pub(super) fn command(&self) -> f64 {
        self.command_ns
    }
}
