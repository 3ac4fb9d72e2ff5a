//! The real devices: io_uring, and pread/pwrite where that is refused.
//!
//! [`RealDevice`] does I/O to a file or a block device past the page cache. It is the one crate
//! with unsafe code: buffers that the kernel writes into, and the calls that hand them over. It
//! knows nothing of tests, flags or printing.

mod buffers;
mod clock;
mod device;
mod directory;
mod errors;
mod exact;
mod expect;
mod going;
mod host_lateness;
mod in_flight;
mod ioctl;
mod memory;
mod open;
mod pool;
mod priority;
mod psync;
mod target;
mod transfer;
#[cfg_attr(not(target_pointer_width = "64"), path = "no_uring.rs")]
mod uring;

pub use clock::now_ns;
pub use device::RealDevice;
pub use directory::Directory;
pub use expect::{ExpectedFile, FileIdentity, OpenError};
pub use in_flight::{InFlight, InFlightWatch};
pub use ioctl::{LoopBacking, file_extents, has_writer, loop_backing};
pub use memory::memory_copy_bps;
pub use open::{EngineChoice, OpenOptions, OpenSettings};
pub use priority::{RaisedPriority, RaisedSession};
