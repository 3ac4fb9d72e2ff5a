use device::{Device, Op, Request, do_io};
use record::units::{GIB, MILLISECOND_NS};

use super::*;
use crate::catalogue::testing::{TestBench, run_simulated};
use crate::offsets::iozone_permutation;

/// Latency of a medium on which one write of a hundred takes 101 ms, the others 1 ms, without a
/// period: 500 IOPS on average.
fn one_slow_in_a_hundred(request: &Request, number: u64) -> u64 {
    let is_slow =
        request.op == Op::Write && number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & 0xffff < 655;
    if is_slow { 101 * MILLISECOND_NS } else { MILLISECOND_NS }
}

#[test]
fn consecutive_writes_fill_different_units_and_then_each_record_comes_once() {
    let ran = TestBench::raw(2 * GIB, |_, _| MILLISECOND_NS)
        .run(&["random-write block=64KiB overwhelm=8MiB max_time=40s"]);
    let writes = ran.writes(GIB);
    let (settling, rest) = writes.split_at(4);
    assert_eq!(settling, [0, 65536, 131072, 196608]);
    let (filling, rest) = rest.split_at(128);
    let mut units: Vec<u64> = filling.iter().map(|offset| offset / GUESSED_AU_BYTES).collect();
    units.sort_unstable();
    assert_eq!(units, (0..128).collect::<Vec<_>>());
    let (measured, settling) = rest.split_at(rest.len() - 4);
    assert_eq!(settling, [262144, 327680, 393216, 458752]);
    let mut records = measured.to_vec();
    records.sort_unstable();
    records.dedup();
    assert_eq!(records.len(), measured.len());
    assert_eq!(ran.cell("random-write/1").ops as usize, measured.len());
}

#[test]
fn a_rare_slow_write_is_in_the_figure() {
    let ran = TestBench::raw(4 * GIB, one_slow_in_a_hundred)
        .run(&["prime passes=1", "random-write block=4KiB"]);
    let cell = ran.cell("random-write/1");
    let iops = cell.metrics.iops.unwrap();
    let [low, high] = iops.ci95.unwrap();
    assert!(low < 500.0 && 500.0 < high && (iops.value - 500.0).abs() < 50.0, "{iops:?}");
    assert_eq!(ran.other("random-write/1", "worst_stall_ns"), 101e6);
}

/// True IOPS of a full pass: after preconditioning, each record of the span once in iozone's order.
fn full_pass_iops(profile: &str, seed: u64, block_bytes: u64) -> f64 {
    let profile = sim::Profile::builtin(profile).unwrap();
    let mut medium =
        sim::SimDevice::new(profile, sim::SimOptions { seed, capacity: None, keep_data: false });
    let start = medium.facts().capacity_bytes / 2 / (4 * MIB) * (4 * MIB);
    let write = |medium: &mut sim::SimDevice, offset, bytes| {
        do_io(medium, Request::write(0, offset, bytes)).unwrap();
    };
    medium.prepare(1, MIB as usize).unwrap();
    (0..512).for_each(|i| write(&mut medium, start + i * MIB, MIB));
    let records = (512 * MIB / block_bytes) as u32;
    let started_ns = medium.now();
    for record in iozone_permutation(records) {
        write(&mut medium, start + u64::from(record) * block_bytes, block_bytes);
    }
    f64::from(records) * 1e9 / (medium.now() - started_ns) as f64
}

/// The result against the truth of simulated media: the mean deviation shows a bias, the count the
/// spread.
#[test]
fn the_figure_is_the_full_pass() {
    for (profile, block_bytes) in [
        ("sd-class4", 4096),
        ("sd-worst", 65536),
        ("class10-bypass", 4096),
        ("a1", 4096),
        ("cf-sandisk-ultra", 16384),
    ] {
        let truth = full_pass_iops(profile, 99, block_bytes);
        let test = format!("random-write block={block_bytes}");
        let deviations: Vec<f64> = (0..20)
            .map(|seed| {
                let cells = run_simulated(profile, seed, &["prime passes=1", &test]);
                cells[1].metrics.iops.unwrap().value / truth - 1.0
            })
            .collect();
        let far = deviations.iter().filter(|deviation| deviation.abs() > 0.10).count();
        let mean = deviations.iter().sum::<f64>() / 20.0;
        assert!(
            mean.abs() < 0.03 && far <= 2,
            "{profile} at {block_bytes}: {truth} IOPS, {deviations:.3?}"
        );
    }
}
