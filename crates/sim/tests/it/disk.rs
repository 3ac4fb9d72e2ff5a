//! Test of the disk against the arithmetic of docs/field/ftl.md#disk-arithmetic.

use crate::common::*;
use device::{Device, Request};

/// Mean IOPS of 4 KiB reads in the first share of the disk.
fn iops(name: &str, share: f64) -> f64 {
    let mut device = fast(name, 1);
    let blocks = (device.facts().capacity_bytes as f64 * share) as u64 / 4096;
    let mut dice = stats::Random::new(1);
    let n = 20_000;
    let start = device.now();
    for _ in 0..n {
        run(&mut device, Request::read(0, dice.below(blocks) * 4096, 4096));
    }
    n as f64 * 1e9 / (device.now() - start) as f64
}

#[test]
fn test_vector_i7_mean_of_the_whole_disk_is_17_7_ms() {
    let mean_ms = 1000.0 / iops("disk-5400", 1.0);
    // The vector leaves the transfer of the block out: 0.08 ms.
    assert!((mean_ms - 17.78).abs() < 0.15, "{mean_ms}");
}

#[test]
fn a_sixth_of_the_disk_gives_the_90_iops_of_the_yardstick() {
    let iops = iops("disk-5400", 0.16);
    assert!((iops - 90.0).abs() < 2.0, "{iops}");
}
