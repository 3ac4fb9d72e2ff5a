//! Test of long-run truths against values computed by hand.

use flashmark_sim::Profile;
use flashmark_sim::truth::{self, SteadyLoad};

use crate::common::*;

fn profile(name: &str) -> &'static Profile {
    Profile::builtin(name).unwrap()
}

#[test]
fn truth_is_the_arithmetic_of_the_profile() {
    // 4 MiB at 11.6 MB/s, 4 ms to erase, 0.8 ms command, 4 KiB at 9.2 MB/s; one write in 128/3 hits
    // an open unit.
    let merge_ms = 4.0 * MIB as f64 / 11.6e3 + 4.0;
    let expected = 1e3 / (merge_ms * (1.0 - 3.0 / 128.0) + 0.8 + 4096.0 / 9.2e3);
    let iops = truth::random_write_iops(profile("class10"), 4096, 512 * MIB, 1);
    assert!((iops / expected - 1.0).abs() < 0.01, "{iops} {expected}");
}

#[test]
fn caches_are_full_before_the_truth_begins() {
    let rate = |name| truth::headline(profile(name), 1).write_bps / 1e6;
    assert!((44.0..46.0).contains(&rate("usb3-modern")));
    assert!((155.0..161.0).contains(&rate("ssd-pslc")));
    let hot = rate("throttler");
    assert!((690.0..1200.0).contains(&hot), "between hot and cool: {hot}");
}

#[test]
fn truth_hardly_depends_on_the_seed() {
    for name in ["class10", "a1", "disk-5400"] {
        let [one, other] =
            [1, 2].map(|seed| truth::random_write_iops(profile(name), 4096, 512 * MIB, seed));
        assert!((one / other - 1.0).abs() < 0.005, "{name}: {one} {other}");
    }
}

#[test]
fn headlines_are_near_the_truth() {
    for name in ["class10", "class10-bypass", "a1", "usb3-modern", "disk-5400"] {
        let headline = truth::headline(profile(name), 1);
        let shown = [headline.random_write_4k_iops, headline.random_write_16k_iops];
        for (block, shown) in [4096, 16384].into_iter().zip(shown) {
            let iops = truth::random_write_iops(profile(name), block, 512 * MIB, 1);
            assert!((shown / iops - 1.0).abs() < 0.02, "{name} at {block}: {shown} {iops}");
        }
    }
}

#[test]
fn the_percentiles_of_a_card_with_put_off_garbage_collection_are_far_from_its_mean() {
    let histogram = truth::latencies(profile("a1"), &SteadyLoad::random_write(4096, 512 * MIB), 1);
    let (p50, mean, p99) =
        (histogram.quantile(0.5) as f64, histogram.mean(), histogram.quantile(0.99) as f64);
    assert!(p50 < 0.6 * mean && p99 > 5.0 * mean, "{p50} {mean} {p99}");
}
