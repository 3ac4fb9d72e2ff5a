//! What is plugged in and what it is used for; mkfs, mount, loop.
//!
//! Everything that is read comes through [`Roots`], so that a copied tree answers as the running system does. This room says
//! what is there and refuses what must not be touched; it never knows a test and never prints.

mod changes;
mod claim;
mod diskstats;
mod facts;
mod filesystems;
mod identity;
mod inventory;
pub mod loopdev;
mod mounts;
mod picture;
mod place;
mod recipes;
mod returned;
mod roots;
mod scheduler;
mod smart;
mod stage;
mod target;
mod tool;
mod uses;

pub use changes::{ChangeError, Changes, Undone, clean_changes};
pub use claim::{Claim, ClaimError, claim};
pub use diskstats::{DiskStats, StatFile, diskstats, parse_diskstats};
pub use facts::{end_temperatures, facts, load, temperatures_now, throttled};
pub use filesystems::{Nature, Space, nature};
pub use identity::registers;
pub use inventory::{Disk, find, list};
pub use loopdev::{Loop, LoopError, LoopOptions};
pub use mounts::{Mount, mount_of, mounts};
pub use picture::Partition;
pub use place::{NotProved, Place, device_of_directory, free_space, prove_on_device};
pub use recipes::{RECIPES, Recipe, Unavailable, recipe};
pub use returned::nodes_like;
pub use roots::{DeviceNumber, Node, Roots};
pub use scheduler::{QueueError, written_bytes};
pub use smart::{health, parse_sdmon, parse_smartctl};
pub use stage::{Leftover, MkfsSpec, StageError, Staged, boot_id, clean_leftovers, stage_filesystem};
pub use target::{Access, BlockTarget, DirectoryTarget, FileTarget, Found, TargetError, resolve};
pub use tool::ToolError;
pub use uses::{Use, exclusively_open, summary, uses};
