//! Small programs of I/O that the tests run.

use device::{Completion, Device, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;

/// A fresh medium without data.
pub fn fast(name: &str, seed: u64) -> SimDevice {
    let profile = Profile::builtin(name).unwrap_or_else(|| panic!("there is no profile {name}"));
    let mut device = SimDevice::new(profile, SimOptions { seed, keep_data: false, capacity: None });
    device.prepare(32, MIB as usize).unwrap();
    device
}

/// The medium of a profile text, with data.
pub fn of_text(text: &str, seed: u64) -> SimDevice {
    let profile = Profile::parse("test.toml", text).unwrap();
    let mut device = SimDevice::new(&profile, SimOptions { seed, ..SimOptions::default() });
    device.prepare(32, MIB as usize).unwrap();
    device
}

/// Does one I/O from submission to completion.
pub fn run(device: &mut SimDevice, request: Request) -> Completion {
    device.submit(request).unwrap();
    let mut done = Vec::new();
    device.reap(1, &mut done).unwrap();
    done.remove(0)
}

/// Does one I/O and returns its latency in milliseconds.
pub fn ms(device: &mut SimDevice, request: Request) -> f64 {
    run(device, request).latency_ns() as f64 / 1e6
}
