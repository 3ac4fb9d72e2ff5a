//! Memory of simulated media: `cargo run --release -p flashmark-sim --example memory` (Linux).
//!
//! Prints the growth of the resident set of this process, from /proc/self/statm, beside the bytes
//! that the medium reports as kept. Each step has a medium of its own, dropped before the next.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "it measures the simulator and prints"
)]

use device::{Completion, Device, Op, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// Writes of a step, and their places.
struct Step {
    what: &'static str,
    keep_data: bool,
    writes: u64,
    bytes: u64,
    /// Number of times that the same places are written.
    laps: u64,
    random: bool,
    /// True to discard everything afterwards.
    discards: bool,
}

fn main() {
    let step = Step {
        what: "",
        keep_data: true,
        writes: 0,
        bytes: MIB,
        laps: 1,
        random: false,
        discards: false,
    };
    let steps = [
        Step { what: "nothing", ..step },
        Step { what: "64 MiB in a row", writes: 64, ..step },
        Step { what: "256 MiB in a row", writes: 256, ..step },
        Step { what: "the same 64 MiB four times", writes: 4 * 64, laps: 4, ..step },
        Step {
            what: "16,384 single pages at random places",
            writes: 16_384,
            bytes: PAGE,
            random: true,
            ..step
        },
        Step { what: "256 MiB in a row, discarded again", writes: 256, discards: true, ..step },
        Step {
            what: "no data: 10,000,000 single pages at random places",
            keep_data: false,
            writes: 10_000_000,
            bytes: PAGE,
            random: true,
            ..step
        },
    ];
    println!(
        "{:52} {:>10} {:>12} {:>12}",
        "written to a medium of 500 GB (throttler)", "written", "kept", "resident"
    );
    for step in steps {
        let (kept, resident) = measure(&step);
        let written = step.writes * step.bytes / MIB;
        println!(
            "{:52} {written:>6} MiB {:>8} MiB {:>8.1} MiB",
            step.what,
            kept / MIB,
            resident / MIB as f64
        );
    }
}

/// Bytes that the medium keeps, and bytes by which this process has grown, its buffer included.
fn measure(step: &Step) -> (u64, f64) {
    let before = resident();
    let profile = Profile::builtin("throttler").expect("it comes with the program");
    let mut device =
        SimDevice::new(profile, SimOptions { seed: 1, capacity: None, keep_data: step.keep_data });
    device.prepare(1, step.bytes as usize).expect("buffers in memory can be made");
    let places = device.facts().capacity_bytes / step.bytes;
    let lap = (step.writes / step.laps).max(1);
    let mut done: Vec<Completion> = Vec::with_capacity(1);
    let mut go = |device: &mut SimDevice, request: Request| {
        device.submit(request).expect("it lies on the medium");
        device.reap(1, &mut done).expect("a simulated device always knows its I/Os");
        done.clear();
    };
    let mut random = stats::Random::new(1);
    for number in 0..step.writes {
        let place = if step.random { random.below(places) } else { number % lap };
        // A page of nothing but zeros would not be kept.
        device.buffer(0).fill(1 + (number % 255) as u8);
        go(&mut device, Request::write(0, place * step.bytes, step.bytes));
    }
    if step.discards {
        go(
            &mut device,
            Request { op: Op::Discard, ..Request::read(0, 0, step.writes * step.bytes) },
        );
    }
    (device.kept_bytes(), resident() - before)
}

/// Resident memory of this process in bytes.
fn resident() -> f64 {
    let statm =
        std::fs::read_to_string("/proc/self/statm").expect("Linux tells what a process occupies");
    let pages: f64 = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .expect("the second number is the resident set");
    pages * PAGE as f64
}
