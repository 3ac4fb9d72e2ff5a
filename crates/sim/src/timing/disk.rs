//! A hard disk: seek, rotation, zones (docs/field/ftl.md#model).

use super::{MediumCommand, Timing};
use crate::profile::spec::DiskSpec;
use crate::rng::SimRng;

/// Time model of a hard disk, and the position of its head.
#[derive(Debug)]
pub(super) struct DiskModel {
    per_byte_of_capacity: f64,
    command_ns: f64,
    seek_shortest_ns: f64,
    seek_stroke_ns: f64,
    turn_ns: f64,
    rate_outer: f64,
    rate_slope: f64,
    /// Position of the head in bytes: the end of the last transfer.
    head: u64,
}

impl DiskModel {
    pub(super) fn new(disk: &DiskSpec, capacity_bytes: u64) -> DiskModel {
        DiskModel {
            per_byte_of_capacity: 1.0 / capacity_bytes as f64,
            command_ns: disk.command.0,
            seek_shortest_ns: disk.seek_shortest.0,
            seek_stroke_ns: disk.seek_stroke.0,
            turn_ns: 60e9 / disk.rpm,
            rate_outer: disk.rate_outer.0,
            rate_slope: disk.rate_inner.0 - disk.rate_outer.0,
            head: 0,
        }
    }

    #[inline]
    fn access(&mut self, piece: &MediumCommand, rng: &mut SimRng) -> f64 {
        let at = piece.offset_bytes as f64 * self.per_byte_of_capacity;
        let mut ns = self.command_ns;
        if piece.offset_bytes != self.head {
            let distance =
                piece.offset_bytes.abs_diff(self.head) as f64 * self.per_byte_of_capacity;
            ns += self.seek_shortest_ns
                + self.seek_stroke_ns * distance.sqrt()
                + rng.unit() * self.turn_ns;
        }
        self.head = piece.offset_bytes + piece.bytes;
        ns + piece.bytes as f64 * 1e9 / (self.rate_outer + self.rate_slope * at)
    }
}

impl Timing for DiskModel {
    fn read(&mut self, piece: &MediumCommand, rng: &mut SimRng) -> f64 {
        self.access(piece, rng)
    }

    fn write(&mut self, piece: &MediumCommand, rng: &mut SimRng) -> f64 {
        self.access(piece, rng)
    }

    fn discard(&mut self, _: u64, _: u64) -> f64 {
        self.command_ns
    }

    fn command(&self) -> f64 {
        self.command_ns
    }

    fn idle(&mut self, _: f64) {}
}
