//! Test that every simulated medium keeps the contract of a device, and that the same profile, seed
//! and requests give the same bytes and times.

use device::conformance::device_conformance;
use device::{Completion, Device, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions};

use crate::common::*;

/// A mixed load on a small medium: all completions, and the data read back.
fn session(profile: &Profile, seed: u64) -> (Vec<Completion>, Vec<u8>) {
    let mut device =
        SimDevice::new(profile, SimOptions { seed, capacity: Some(256 * MIB), keep_data: true });
    device.prepare(8, 64 << 10).unwrap();
    let blocks = device.facts().capacity_bytes / 4096 - 16;
    let (mut dice, mut all, mut bytes) = (stats::Random::new(9), Vec::new(), Vec::new());
    for round in 0..200 {
        for slot in 0..8 {
            let (offset, length) = (dice.below(blocks) * 4096, 4096 << dice.below(4));
            device.buffer(slot)[..length as usize].fill(round);
            let request = if dice.below(3) == 0 {
                Request::read(slot, offset, length)
            } else {
                Request::write(slot, offset, length)
            };
            device.submit(request).unwrap();
        }
        device.reap(8, &mut all).unwrap();
        device.idle(dice.below(10_000_000));
        bytes.extend_from_slice(&device.buffer(0)[..4096]);
    }
    (all, bytes)
}

#[test]
fn the_same_seed_gives_the_same_times_and_bytes_and_another_other_times() {
    for profile in Profile::all() {
        let once = session(profile, 3);
        assert!(once == session(profile, 3), "{}", profile.name());
        assert!(once.0 != session(profile, 4).0, "{}", profile.name());
    }
}

/// Some I/Os of `worn` fail by design, anywhere.
#[test]
fn every_profile_keeps_the_contract() {
    for profile in Profile::all().iter().filter(|profile| profile.name() != "worn") {
        for keep_data in [true, false] {
            let options = SimOptions { keep_data, ..SimOptions::default() };
            device_conformance(&mut SimDevice::new(profile, options));
        }
    }
}

#[test]
fn a_simulated_device_may_go_to_another_thread() {
    fn goes<T: Send>(_: T) {}
    goes(SimDevice::new(&Profile::all()[0], SimOptions::default()));
}
