//! The program in a virtual machine, where media can be swapped, unplugged and cut off from power
//! without hurting anyone's.

mod away;
mod buses;
mod cards;
mod clock;
mod in_use;
mod initramfs;
mod lent;
mod machine;
mod qmp;
mod reader;
mod scene;
mod swapped;

pub use machine::{Disk, Machine};
pub use qmp::Qmp;
