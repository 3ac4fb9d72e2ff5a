use std::sync::atomic::AtomicBool;

use record::Ended;

use super::*;
use crate::catalogue::testing::TestBench;
use crate::definition::Suite;
use crate::{Choice, NoStage, Plan, RunOptions, TargetInfo, run};

/// Writes that a run of this suite read back and lost, on the medium of a built-in profile that
/// loses this share of its writes.
fn read_and_lost(profile: &str, suite: &str, share: f64, seed: u64) -> [u64; 2] {
    let text = sim::Profile::text(profile).unwrap();
    let text = format!("{text}\n[[fault]]\nkind = \"lost-write\"\nshare = {share}\n");
    let profile = sim::Profile::parse("losing", &text).unwrap();
    let options = sim::SimOptions { seed, capacity: None, keep_data: true };
    let device = sim::SimDevice::new(&profile, options);
    let target = TargetInfo { facts: device.facts().clone(), ..TestBench::raw(0, |_, _| 0).target };
    let plan = Plan::make(&Suite::built_in(suite).unwrap(), &Choice::default(), &target).unwrap();
    let mut guarded = plan.guard(device);
    let stop = AtomicBool::new(false);
    let options = RunOptions { anyway: true, ..RunOptions::new(seed, &target, &stop) };
    let end = run(&mut guarded, &mut NoStage, &plan, options, &mut ());
    assert_eq!((end.ended, &end.error), (Ended::Complete, &None));
    let is_its = |cell: &&record::Cell| cell.test == test::READ_BACK;
    assert!(end.cells.last().is_some_and(|cell| is_its(&cell)), "{:?}", end.skipped);
    [metric::READ_BACK, metric::LOST_WRITES].map(|name| {
        end.cells.iter().filter(is_its).map(|cell| cell.metrics.other[name].value as u64).sum()
    })
}

#[test]
fn one_write_in_500_that_is_lost_is_seen() {
    for (suite, share, seed) in
        [("check", 0.002, 0), ("check", 0.002, 1), ("check", 0.002, 2), ("standard", 0.0005, 0)]
    {
        let [read, lost] = read_and_lost("ssd", suite, share, seed);
        assert!(read > 2000 && lost > 0, "{suite}: {lost} of {read}");
    }
}

#[test]
fn of_a_medium_that_keeps_what_it_is_given_nothing_is_lost() {
    for (profile, suite) in [
        ("a1", "check"),
        ("class10", "quick"),
        ("usb3-modern", "check"),
        ("disk-7200", "quick"),
        ("a1", "standard"),
    ] {
        let [read, lost] = read_and_lost(profile, suite, 0.0, 1);
        assert!(read > 90 && lost == 0, "{suite} on {profile}: {lost} of {read}");
    }
}
