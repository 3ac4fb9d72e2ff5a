//! Data that is there before anything is measured.

use device::content::DataGenerator;
use device::{Device, Extent, IoError, Request, do_io};
use record::Content;
use record::units::MIB;

/// Writes an extent once, sequentially, without measuring: so that there is something to read, and
/// nothing is allocated later. The data is that of a pass of the generator. `go_on` hears how many
/// bytes are written and when, by the device's clock, and may end it; `failed` names an error of the
/// device.
pub fn lay_down<E>(
    device: &mut dyn Device,
    extent: Extent,
    (generator, content, pass): (&DataGenerator, Content, u32),
    failed: impl Fn(IoError) -> E,
    mut go_on: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<(), E> {
    device.prepare(1, MIB as usize).map_err(&failed)?;
    let mut written = 0;
    while written < extent.bytes {
        let bytes = MIB.min(extent.bytes - written);
        let at = extent.offset_bytes + written;
        generator.fill(&mut device.buffer(0)[..bytes as usize], content, pass, at);
        let done = do_io(device, Request::write(0, at, bytes)).map_err(&failed)?;
        written += bytes;
        go_on(written, done.completed_ns)?;
    }
    Ok(())
}
