//! Probe of a medium after a failure: whether it still reads and writes.

use device::{Device, Op, Request, do_io};
use host::BlockTarget;
use record::{Path as Through, Sync};
use session::target::device_of;
use workloads::matrix::MediumFailure;

/// Reads at the beginning, in the middle and at the end of a block device that this program holds,
/// and writes back what it read at the end.
///
/// # Errors
/// The failure of the medium.
pub fn probe(block: &BlockTarget) -> Result<(), MediumFailure> {
    let mut device = device_of(block, true).map_err(|error| error.to_string())?;
    let block_bytes =
        device.facts().physical_block_bytes.max(device.facts().logical_block_bytes).max(4096);
    let last = (block.size_bytes() / block_bytes).saturating_sub(1);
    device.prepare(1, usize::try_from(block_bytes).map_err(|error| error.to_string())?)?;
    for block in [0, last / 2, last] {
        do_io(&mut device, Request::read(0, block * block_bytes, block_bytes))?;
    }
    let back = Request {
        sync: Sync::Data,
        path: Through::Direct,
        op: Op::Write,
        ..Request::read(0, last * block_bytes, block_bytes)
    };
    do_io(&mut device, back)?;
    Ok(())
}
