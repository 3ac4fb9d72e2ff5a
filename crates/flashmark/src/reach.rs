//! Whether what a cell issued reached the medium it is about.

use host::{DeviceNumber, Roots};
use record::{Cell, Flag, Reach, Target};

use crate::open_target::OpenTarget;

/// What is to be marked with a caveat of every cell of a run.
pub struct Doubts {
    /// There is no medium: memory answers.
    is_memory: bool,
    /// What the kernel counts of the medium is all that reaches it, and as many bytes as are
    /// issued.
    is_counted: bool,
}

impl Doubts {
    /// Of an opened target.
    pub fn of(opened: &OpenTarget) -> Doubts {
        let is_memory = opened.flags.contains(&Flag::MemoryFilesystem);
        // What a file system compresses is fewer bytes on the medium.
        let is_compressed = opened.flags.contains(&Flag::CompressedFilesystem);
        Doubts { is_memory, is_counted: !is_compressed && is_counted(&opened.target) }
    }

    /// The cell with what was issued and counted of it, and the caveats that follow.
    pub fn told(&self, mut cell: Cell) -> Cell {
        cell.reach = cell.activity.last().map(|last| Reach::of(&cell, &last.counters));
        let stray = cell.reach.filter(|_| self.is_counted).and_then(|reach| reach.doubt(&cell));
        let doubts = self.is_memory.then_some(Flag::MemoryFilesystem).into_iter().chain(stray);
        for flag in doubts {
            if !cell.flags.contains(&flag) {
                cell.flags.push(flag);
            }
        }
        cell
    }
}

fn is_counted(target: &Target) -> bool {
    let number: Option<DeviceNumber> =
        target.device_number.as_ref().and_then(|number| number.parse().ok());
    let filesystem = target.filesystem.as_ref().and_then(|filesystem| filesystem.kind.as_deref());
    number.is_some_and(|number| host::counts_all(&Roots::default(), number, filesystem))
}
