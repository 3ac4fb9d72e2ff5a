//! The program in a virtual machine, in which media can be swapped, unplugged and lose their power
//! without damage to real ones.

mod away;
mod buses;
mod cards;
mod clock;
mod in_use;
mod initramfs;
mod machine;
mod qmp;
mod reader;
mod restored;
mod scene;

pub use machine::{Disk, Machine};
