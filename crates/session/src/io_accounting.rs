//! I/O accounting: compares what a cell issued with what the kernel counted on its medium.

use host::{DeviceNumber, Roots};
use record::{Cell, Flag, IoAccounting, Sample};

use crate::target::Target;

/// Checks that the I/O of a cell reached its medium.
pub struct MediumCheck {
    /// True if the target is memory, without a medium.
    is_memory: bool,
    /// True if the kernel counts for the medium exactly the bytes that reach it, uncompressed.
    is_counted: bool,
}

impl MediumCheck {
    /// Check for an opened target.
    pub fn of(opened: &Target) -> MediumCheck {
        let is_memory = opened.flags.contains(&Flag::MemoryFilesystem);
        // What a file system compresses is fewer bytes on the medium.
        let is_compressed = opened.flags.contains(&Flag::CompressedFilesystem);
        MediumCheck { is_memory, is_counted: !is_compressed && is_counted(&opened.target) }
    }

    /// Accounting of a cell by what the kernel counted meanwhile (`activity`), and the caveats that
    /// follow from it.
    pub fn of_cell(&self, cell: &Cell, activity: &[Sample]) -> (Option<IoAccounting>, Vec<Flag>) {
        let reach = activity.last().map(|last| IoAccounting::of(cell, &last.counters));
        let unexplained =
            reach.filter(|_| self.is_counted).and_then(|accounting| accounting.flag(cell));
        let caveats =
            self.is_memory.then_some(Flag::MemoryFilesystem).into_iter().chain(unexplained);
        (reach, caveats.filter(|flag| !cell.flags.contains(flag)).collect())
    }
}

fn is_counted(target: &record::Target) -> bool {
    let number: Option<DeviceNumber> =
        target.device_number.as_ref().and_then(|number| number.parse().ok());
    let filesystem = target.filesystem.as_ref().and_then(|filesystem| filesystem.kind.as_deref());
    number.is_some_and(|number| host::counts_all(&Roots::default(), number, filesystem))
}
