//! Block devices of the machine and their uses; mkfs, mount, loop devices.
//!
//! Everything is read through [`Roots`], so that a copied tree gives the same answers as the
//! running system. This crate reports devices and refuses those that must not be touched; it never
//! knows a test and never prints.

mod bus;
mod change_error;
mod changes;
mod claim;
mod contents;
mod diskstats;
mod facts;
mod filesystems;
mod holding;
mod identity;
mod in_use;
mod inventory;
mod io_limits;
mod layers;
mod location;
pub mod loopdev;
mod mounts;
mod open_files;
mod pressure;
mod recipes;
mod reinserted;
mod roots;
mod scheduler;
mod smart;
mod stage;
mod target;
mod tool;
mod topology;

pub use bus::buses;
pub use change_error::ChangeError;
pub use changes::{Changes, Undone, boot_id, clean_changes};
pub use claim::{Claim, ClaimError, claim};
pub use contents::{ContentItem, Contents, contents, contents_of, contents_of_file};
pub use diskstats::{DiskStats, StatFile, counts_all, diskstats};
pub use facts::{facts, load, temperatures_now, throttled};
pub use filesystems::{FsClass, Space, fs_class};
pub use in_use::{InUseReason, exclusively_open, summary, uses};
pub use inventory::{InventoryEntry, find, list};
pub use location::{Location, NotProved, device_of_directory, free_space, prove_on_device};
pub use loopdev::{Loop, LoopOptions};
pub use mounts::{Mount, mount_of, mounts, sees_mounts};
pub use open_files::{Hold, Holding, LockKind, NotSeen, OpenFiles, Process};
pub use pressure::HostPressure;
pub use recipes::{RECIPES, Recipe, Unavailable, recipe, why_not_tried};
pub use reinserted::nodes_like;
pub use roots::{DeviceNumber, Node, Roots};
pub use scheduler::written_bytes;
pub use smart::{health, parse_sdmon, parse_smartctl};
pub use stage::{MkfsSpec, Staged, stage_filesystem};
pub use target::{
    Access, BlockTarget, DirectoryTarget, FileTarget, NO_MOUNTS, ResolvedTarget, TargetError,
    not_seen, resolve,
};
pub use tool::ToolError;
pub use topology::Partition;
