//! Writing of flash: times of a command and its data, without the mapping.

use super::MediumCommand;
use crate::profile::spec::WriteSpec;

/// Figures of the write side (docs/field/ftl.md#model, "write").
#[derive(Debug)]
pub(super) struct WritePath {
    command_ns: f64,
    next_command_ns: f64,
    pub(super) ns_per_byte: f64,
    pub(super) unit: u64,
    pub(super) partial_ns: f64,
    pub(super) whole_units: bool,
    /// Size of the last piece of a split I/O, and its extra time.
    tails: Vec<(u64, f64)>,
}

impl WritePath {
    pub(super) fn new(write: &WriteSpec) -> WritePath {
        WritePath {
            command_ns: write.command.0,
            next_command_ns: write.next_command.unwrap_or(write.command).0,
            ns_per_byte: write.rate.ns_per_byte(),
            unit: write.unit.0,
            partial_ns: write.partial.0,
            whole_units: write.whole_units,
            tails: write.tails.iter().map(|(size, time)| (size.0, time.0)).collect(),
        }
    }

    /// Time of the command without its data, in nanoseconds.
    #[inline]
    pub(super) fn command(&self, piece: &MediumCommand) -> f64 {
        let command = if piece.first { self.command_ns } else { self.next_command_ns };
        if piece.tail && !self.tails.is_empty() {
            command + self.tail(piece.bytes)
        } else {
            command
        }
    }

    fn tail(&self, bytes: u64) -> f64 {
        self.tails.iter().find(|(size, _)| *size == bytes).map_or(0.0, |(_, ns)| *ns)
    }

    /// True if a range does not begin and end at a unit.
    #[inline]
    pub(super) fn is_partial(&self, start: u64, end: u64) -> bool {
        !start.is_multiple_of(self.unit) || !end.is_multiple_of(self.unit)
    }

    /// Bytes programmed for a range; `shared` if the write before has already programmed its first
    /// unit.
    #[inline]
    pub(super) fn programmed(&self, start: u64, end: u64, shared: bool) -> u64 {
        if !self.whole_units {
            return end - start;
        }
        let units = (end - 1) / self.unit - start / self.unit + 1 - u64::from(shared);
        (units * self.unit).max(end - start)
    }
}
