//! Fills a new file before a replay, so that the trace has data to read.

use std::sync::atomic::{AtomicBool, Ordering};

use device::{Completion, DataGenerator, Device, Extent, IoError, Request};
use record::Content;
use record::units::MIB;

use super::{OnProgress, ReplayProgress};

/// Most writes of 1 MiB kept in flight.
const MAX_IN_FLIGHT: u32 = 4;

/// Writes all of `extent` once, sequentially, with incompressible data; false if it was stopped.
pub(super) fn fill(
    device: &mut dyn Device,
    extent: Extent,
    seed: u64,
    stop: &AtomicBool,
    on_progress: OnProgress<'_>,
) -> Result<bool, IoError> {
    let in_flight = MAX_IN_FLIGHT.min(device.facts().max_in_flight);
    device.prepare(in_flight, MIB as usize)?;
    let (generator, started_ns) = (DataGenerator::new(seed), device.now());
    let mut free: Vec<u32> = (0..in_flight).collect();
    let mut done: Vec<Completion> = Vec::new();
    let (mut asked, mut ops) = (0, 0);
    on_progress("filling", ReplayProgress::default());
    while asked < extent.bytes || free.len() < in_flight as usize {
        let stopped = stop.load(Ordering::Relaxed);
        if stopped && free.len() == in_flight as usize {
            return Ok(false);
        }
        if let Some(slot) = free.pop_if(|_| asked < extent.bytes && !stopped) {
            let bytes = MIB.min(extent.bytes - asked);
            let at = extent.offset_bytes + asked;
            generator.fill(
                &mut device.buffer(slot)[..bytes as usize],
                Content::Incompressible,
                u32::MAX - 1,
                at,
            );
            device.submit(Request::write(slot, at, bytes))?;
            asked += bytes;
            continue;
        }
        device.reap(1, &mut done)?;
        for completion in done.drain(..) {
            completion.result?;
            free.push(completion.slot);
            ops += 1;
        }
        let elapsed_ns = device.now().saturating_sub(started_ns);
        let share = asked as f64 / extent.bytes.max(1) as f64;
        let progress =
            ReplayProgress { ops, bytes: asked, written_bytes: asked, share, elapsed_ns };
        on_progress("filling", progress);
    }
    Ok(true)
}
