//! Time that a medium needs for a command: the models of docs/field/ftl.md#model.

mod disk;
mod log_block;
mod page_mapped;
mod read_path;
mod rewrites;
mod write_path;

use crate::profile::spec::Spec;
use crate::rng::SimRng;

/// One command as it reaches the medium: an I/O, or one of the pieces it was split into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MediumCommand {
    /// First byte, after the mapping of a fake.
    pub offset_bytes: u64,
    /// Length in bytes, at most the profile's `max_transfer`.
    pub bytes: u64,
    /// True if it is the first of its I/O.
    pub first: bool,
    /// True if it is the last of an I/O that was split.
    pub tail: bool,
    /// Share of the streaming time that is left after compression.
    pub ease: f64,
}

/// Times of a medium's commands, one after the other, in nanoseconds: means before jitter.
pub(crate) trait Timing: Send {
    /// Time to read a piece.
    fn read(&mut self, piece: &MediumCommand, rng: &mut SimRng) -> f64;
    /// Time to write a piece, merges and garbage collection included.
    fn write(&mut self, piece: &MediumCommand, rng: &mut SimRng) -> f64;
    /// Time to discard a range.
    fn discard(&mut self, offset_bytes: u64, bytes: u64) -> f64;
    /// Time of a command that moves no data.
    fn command(&self) -> f64;
    /// Gives the medium idle time for work that it has deferred.
    fn idle(&mut self, ns: f64);
}

/// The model of a profile, for a medium of this size.
pub(crate) fn model(spec: &Spec, capacity_bytes: u64) -> Box<dyn Timing> {
    if let Some(disk) = &spec.disk {
        return Box::new(disk::DiskModel::new(disk, capacity_bytes));
    }
    let (read, write) = spec
        .read
        .as_ref()
        .zip(spec.write.as_ref())
        .expect("a checked profile of flash says what reads and writes take");
    match (&spec.log_block, &spec.page_mapped) {
        (Some(ftl), _) => Box::new(log_block::LogBlockModel::new(ftl, read, write)),
        (None, Some(ftl)) => Box::new(page_mapped::PageMappedModel::new(ftl, read, write)),
        (None, None) => unreachable!("a checked profile has a model"),
    }
}
