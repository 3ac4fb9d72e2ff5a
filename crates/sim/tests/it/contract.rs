//! Test that every simulated medium keeps the contract of a device.

use device::conformance::device_conformance;
use flashmark_sim::{Profile, SimDevice, SimOptions};

/// Profiles on which some I/Os fail by design, in the first MiB or anywhere.
const FAILING: &[&str] = &["worn"];

#[test]
fn every_profile_keeps_the_contract() {
    for profile in Profile::all().iter().filter(|profile| !FAILING.contains(&profile.name())) {
        for keep_data in [true, false] {
            device_conformance(&mut SimDevice::new(
                profile,
                SimOptions { keep_data, ..SimOptions::default() },
            ));
        }
    }
}
