//! Runs every suite on every medium once. `cargo validation truth --labels` uses more seeds and no
//! limit.

use super::*;

/// Media of hundreds of gigabytes, which `seeds` fills from front to end: only the command runs
/// them.
const LARGE: [&str; 5] = ["ssd", "ssd-pslc", "throttler", "disk-5400", "disk-7200"];

#[track_caller]
fn check(suites: &[&'static str], without: &[&str]) {
    let profiles: Vec<&Profile> =
        Profile::all().iter().filter(|profile| !without.contains(&profile.name())).collect();
    let faults = faults(&cases(&profiles, suites, 1, 1));
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn quick_names_a_card() {
    let card = Profile::builtin("class10").expect("it comes with the program");
    let faults = faults(&cases(&[card], &["quick"], 1, 1));
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
#[ignore = "a study, run by hand: cargo test --manifest-path validation/Cargo.toml -- --ignored"]
fn quick_and_standard_name_every_medium() {
    check(&["quick", "standard"], &[]);
}

#[test]
#[ignore = "a study, run by hand: cargo test --manifest-path validation/Cargo.toml -- --ignored"]
fn full_names_every_medium() {
    check(&["full"], &[]);
}

#[test]
#[ignore = "a study, run by hand: cargo test --manifest-path validation/Cargo.toml -- --ignored"]
fn seeds_name_every_medium() {
    check(&["seeds"], &LARGE);
}

#[test]
fn every_suite_is_among_them() {
    let mut suites: Vec<&str> = Suite::names().collect();
    suites.sort_unstable();
    assert_eq!(suites, ["check", "full", "quick", "seeds", "standard"]);
}
