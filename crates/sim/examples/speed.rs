//! Simulated I/Os per second of one core, with every latency recorded: `cargo run --release -p
//! flashmark-sim --example speed`.
//!
//! The only place of this crate that reads a wall clock: it measures the simulator, not a medium.
#![allow(
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it times the simulator and prints"
)]

use std::time::Instant;

use device::{Completion, Device, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};
use record::Histogram;

/// Number of records of 4 KiB in 512 MiB, as iozone writes them.
const RECORDS: u64 = 131_072;

fn main() {
    for (name, ios) in [
        ("a1", 20_000_000),
        ("class10", 20_000_000),
        ("cf-kingston-266x", 20_000_000),
        ("disk-5400", 10_000_000),
        ("span-cheat-128", 10_000_000),
    ] {
        let (seconds, simulated) = random_writes(name, ios);
        println!(
            "{name:18} {:6.1} M I/Os a second ({simulated:.0} s of device time in {seconds:.2} s)",
            ios as f64 / seconds / 1e6
        );
    }
    let (seconds, simulated) = random_writes("sd-worst", RECORDS);
    println!(
        "one iozone pass of sd-worst: {:.1} h of device time in {seconds:.3} s",
        simulated / 3600.0
    );
}

/// Uniformly random 4 KiB writes in 512 MiB; returns seconds of the wall clock and of the device.
fn random_writes(name: &str, ios: u64) -> (f64, f64) {
    let profile = Profile::builtin(name).expect("it comes with the program");
    let mut device =
        SimDevice::new(profile, SimOptions { seed: 1, capacity: None, keep_data: false });
    device.prepare(1, 4096).expect("buffers in memory can be made");
    let start = device.facts().capacity_bytes / 2;
    let mut histogram = Histogram::default();
    let mut done: Vec<Completion> = Vec::with_capacity(1);
    let mut random = stats::Random::new(1);
    let begin = Instant::now();
    for _ in 0..ios {
        let offset = start + random.below(RECORDS) * 4096;
        device.submit(Request::write(0, offset, 4096)).expect("it lies on the medium");
        device.reap(1, &mut done).expect("a simulated device always knows its I/Os");
        for completion in done.drain(..) {
            histogram.record(completion.latency_ns());
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    assert_eq!(histogram.len(), ios);
    (seconds, device.now() as f64 / 1e9)
}
