//! The contract of a device, its guards and wrappers, and the data that is written to it.
//!
//! A *device* is the software object that does I/O to a medium. This crate defines its contract
//! ([`Device`]), wraps any device ([`ExtentGuard`], [`Tracing`], and the faults in [`fault`]), and makes and checks the data ([`content`], [`stamp`]). It must never know which
//! backend is behind a device, test names, or standard output.

pub mod conformance;
pub mod content;
mod contract;
mod error;
mod extent;
pub mod fault;
mod guard;
mod memory;
mod request;
mod sector;
pub mod stamp;
pub mod tracing;
mod waits;
mod write_log;

pub use content::DataGenerator;
pub use contract::{Completion, Device, Facts, do_io};
pub use error::IoError;
pub use extent::{Extent, Extents};
pub use guard::ExtentGuard;
pub use memory::MemoryDevice;
pub use record::{HostStall, IoErrorKind};
pub use request::{Op, Request, Slot};
pub use sector::{SECTOR_BYTES, Sector};
pub use stamp::{SectorVerdict, VerifyCounts};
pub use tracing::Tracing;
pub use write_log::{LoggedWrite, WriteLog};
