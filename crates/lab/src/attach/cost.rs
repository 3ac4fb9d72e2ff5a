//! Time that a request to an attached medium takes beside the medium: block layer, loop device,
//! FUSE, and back.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use blockio::{EngineChoice, ExpectedFile, OpenOptions, OpenSettings, RealDevice};
use device::{Device, Request, do_io};
use serde::{Deserialize, Serialize};

use super::timeline::{LONGEST_BYTES, TimelineRequest};

/// Bytes of the small and of the large request that are timed.
const SIZES: [u64; 2] = [4096, LONGEST_BYTES as u64];

/// Number of requests of each size; their median counts.
const TIMES: [usize; 2] = [201, 51];

/// Time that the harness adds to a request, measured while the medium answers after a known time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HarnessCost {
    read: LinearCost,
    write: LinearCost,
}

/// Time that grows linearly with size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LinearCost {
    ns: f64,
    ns_per_byte: f64,
}

impl LinearCost {
    /// Line through the times of the two sizes.
    fn through(small_ns: f64, large_ns: f64) -> LinearCost {
        let ns_per_byte = ((large_ns - small_ns) / (SIZES[1] - SIZES[0]) as f64).max(0.0);
        LinearCost { ns: (small_ns - SIZES[0] as f64 * ns_per_byte).max(0.0), ns_per_byte }
    }

    fn of(&self, bytes: u64) -> u64 {
        (self.ns + self.ns_per_byte * bytes as f64) as u64
    }
}

impl HarnessCost {
    /// Measures it on a loop device whose server answers everything after [`TRIAL`] and keeps
    /// nothing.
    pub fn measure(node: &Path) -> Result<HarnessCost> {
        let settings = OpenSettings { engine: EngineChoice::Psync, ..OpenSettings::default() };
        let expect = ExpectedFile::Block { number: fs::metadata(node)?.rdev() };
        let mut device = RealDevice::open(&OpenOptions {
            path: node.to_owned(),
            writable: true,
            expect,
            settings,
        })?;
        device.prepare(1, LONGEST_BYTES)?;
        let largest = SIZES[1].min(device.facts().capacity_bytes);
        let mut line = |request: fn(u32, u64, u64) -> Request| -> Result<LinearCost> {
            let small_ns = median_ns(&mut device, request(0, 0, SIZES[0]), TIMES[0])?;
            Ok(LinearCost::through(
                small_ns,
                median_ns(&mut device, request(0, 0, largest), TIMES[1])?,
            ))
        };
        Ok(HarnessCost { read: line(Request::read)?, write: line(Request::write)? })
    }

    /// Cost from this JSON file; if there is no such file, measures it and writes the file.
    pub fn known(file: Option<&Path>, node: &Path) -> Result<HarnessCost> {
        let Some(file) = file else { return HarnessCost::measure(node) };
        let name = || file.display().to_string();
        if file.exists() {
            let text = fs::read(file).with_context(name)?;
            return serde_json::from_slice(&text).with_context(name);
        }
        let cost = HarnessCost::measure(node)?;
        fs::write(file, serde_json::to_vec(&cost)?).with_context(name)?;
        Ok(cost)
    }

    /// Time that the harness adds to this request, in nanoseconds.
    pub(super) fn of(&self, asked: &TimelineRequest<'_>) -> u64 {
        match asked {
            TimelineRequest::Write(..) => self.write.of(asked.bytes()),
            TimelineRequest::Read(..) | TimelineRequest::Flush | TimelineRequest::Discard(..) => {
                self.read.of(asked.bytes())
            }
        }
    }

    /// Time that the harness adds to a small read, in nanoseconds.
    pub fn small_read_ns(&self) -> u64 {
        self.read.of(SIZES[0])
    }
}

fn median_ns(device: &mut RealDevice, request: Request, times: usize) -> Result<f64> {
    let mut latencies = Vec::with_capacity(times);
    for _ in 0..times {
        let latency_ns = do_io(device, request)?.latency_ns();
        latencies.push(latency_ns.saturating_sub(TRIAL.as_nanos() as u64));
    }
    latencies.sort_unstable();
    Ok(latencies[latencies.len() / 2] as f64)
}

/// Time that every request takes before the medium's time runs: long enough that processors go to
/// sleep meanwhile, as they do under a slow medium.
pub const TRIAL: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_grows_with_size_and_is_never_negative() {
        let check = |small_ns: f64, large_ns: f64, bytes: u64| {
            LinearCost::through(small_ns, large_ns).of(bytes)
        };
        assert_eq!(check(50_000.0, 250_000.0, SIZES[0]), 50_000);
        assert_eq!(check(50_000.0, 250_000.0, SIZES[1]), 250_000);
        // A large one that happened to be quicker says that size costs nothing.
        assert_eq!(check(50_000.0, 40_000.0, SIZES[1]), 50_000);
    }
}
