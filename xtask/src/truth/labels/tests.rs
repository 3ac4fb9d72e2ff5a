//! Every suite on every medium, once. `cargo xtask truth --labels` does it with more seeds and without a limit.

use super::*;

/// A medium on which `seeds` writes hundreds of gigabytes is not written to its end.
const SEEDS_LIMIT: &str = "10m";

#[track_caller]
fn check(suites: &[&'static str], time_limit: Option<&'static str>) {
    let profiles: Vec<&Profile> = Profile::all().iter().collect();
    let cases: Vec<Case> = cases(&profiles, suites, 1, 1).into_iter().map(|case| Case { time_limit, ..case }).collect();
    let faults = faults(&cases);
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn quick_and_standard_name_every_medium() {
    check(&["quick", "standard"], None);
}

#[test]
fn full_names_every_medium() {
    check(&["full"], None);
}

#[test]
fn seeds_name_every_medium() {
    check(&["seeds"], Some(SEEDS_LIMIT));
}

#[test]
fn every_suite_is_among_them() {
    let mut suites: Vec<&str> = Suite::names().collect();
    suites.sort_unstable();
    assert_eq!(suites, ["full", "quick", "seeds", "standard"]);
}
