use device::{Device, Extent, Op, Request, do_io};
use record::units::{GIB, MILLISECOND_NS, SECOND_NS};

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
fn burst_and_sustained_apart() {
    // 288 fast writes after priming, a flush and four writes that settle, then 20 ms each: 50 IOPS.
    let cost = |request: &Request, number: u64| match request.op {
        Op::Write if request.length_bytes == 4096 && number >= 297 => 20 * MILLISECOND_NS,
        _ => MILLISECOND_NS,
    };
    let ran = TestBench::raw(8 * MIB, cost)
        .run(&["prime span=4MiB passes=1", "random-write block=4KiB span=4MiB overwhelm=2MiB"]);
    let cell = ran.cell("random-write/1");
    let iops = cell.metrics.iops.unwrap();
    assert!((iops.value - 50.0).abs() < 1e-6, "{iops:?}");
    let burst = cell.metrics.other["burst_iops"];
    assert_eq!((burst.value.round(), burst.n), (1000.0, 288));
    assert_eq!(ran.other("random-write/1", "worst_stall_ns"), 20e6);
    assert_eq!(ran.other("random-write/1", "full_pass_s").round(), (131072.0_f64 / 50.0).round());
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
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

#[test]
fn a_fast_medium_does_the_whole_pass() {
    let ran = TestBench::raw(GIB, |_, _| 20_000).run(&[
        "prime span=64MiB passes=1",
        "random-write block=4KiB span=64MiB total=64MiB certainty=0%",
    ]);
    let cell = ran.cell("random-write/1");
    assert_eq!((cell.stop, cell.ops), (Stop::Bytes, 16384));
    assert_eq!(cell.flags, []);
}

#[test]
fn debt_is_paid() {
    // Writes cost 1 ms, and the flush all that the medium put off.
    let cost =
        |request: &Request, _| if request.op == Op::Flush { 5 * SECOND_NS } else { MILLISECOND_NS };
    let ran = TestBench::raw(GIB, cost)
        .run(&["prime passes=1", "random-write block=4KiB overwhelm=1MiB"]);
    let cell = ran.cell("random-write/1");
    let debt_ns = ran.other("random-write/1", "debt_ns");
    assert_eq!(debt_ns, 5e9 + 3e6);
    // 1 MiB filled.
    let ops = cell.ops as f64 + 256.0;
    let paid = ops / (ops * 1e6 + debt_ns) * 1e9;
    assert!(
        (cell.metrics.iops.unwrap().value - paid).abs() < 1e-6
            && (cell.metrics.other["paid_iops"].value - paid).abs() < 1e-6
    );
    assert!(cell.flags.contains(&Flag::Debt { debt_ns: debt_ns as u64 }));
}

#[test]
fn without_deferred_work_no_debt_is_flagged() {
    let rate = |mut cost: crate::catalogue::testing::Cost| {
        let ran = TestBench::raw(GIB, move |request, number| cost(request, number))
            .run(&["prime passes=1", "random-write block=4KiB overwhelm=1MiB"]);
        let cell = ran.cell("random-write/1");
        let flags = &cell.flags;
        assert!(!flags.iter().any(|flag| matches!(flag, Flag::Debt { .. })), "{flags:?}");
        cell.metrics.iops.unwrap().value
    };
    // Settling meets one slow write, as long as one that was measured.
    let slow = rate(Box::new(|request, number| {
        match (request.length_bytes, request.offset_bytes, number) {
            (4096, _, 1000) | (65536, 0x2000_0000, _) => SECOND_NS,
            _ => MILLISECOND_NS,
        }
    }));
    assert!(slow > 500.0, "{slow}");
    // A cache took the first writes, and gives back as much in the end: the level between is the
    // medium's.
    let cached = rate(Box::new(|request, number| match (request.op, number) {
        (Op::Write, 513..769) => 100_000,
        (Op::Flush, 600..) => 200 * MILLISECOND_NS,
        _ => MILLISECOND_NS,
    }));
    assert!((cached - 1000.0).abs() < 1e-6, "{cached}");
}

#[test]
fn small_writes_that_go_another_way_are_flagged() {
    let cost = |small_ns: u64| {
        move |request: &Request, _| {
            if request.length_bytes <= 4096 { small_ns } else { 100 * MILLISECOND_NS }
        }
    };
    let tests = [
        "prime span=64MiB passes=1 block=64KiB",
        "random-write block=4KiB,16KiB span=64MiB overwhelm=1MiB max_time=60s",
    ];
    let flagged = |small_ns| {
        let ran = TestBench::raw(GIB, cost(small_ns)).run(&tests);
        ran.cell("random-write/2")
            .flags
            .iter()
            .any(|flag| matches!(flag, Flag::SmallWriteBypass { .. }))
    };
    assert!(flagged(4 * MILLISECOND_NS));
    assert!(!flagged(30 * MILLISECOND_NS));
}

#[test]
fn partly_preconditioned_and_not_preconditioned_are_flagged() {
    let caveats = |tests: &[&str]| {
        let ran = TestBench::raw(GIB, |_, _| 10 * MILLISECOND_NS).run(tests);
        let cell = ran.cell("random-write/1");
        (cell.flags.clone(), cell.params.span_bytes)
    };
    let partly = Flag::PartlyPrimed { primed_bytes: 100 * MIB, wanted_bytes: 512 * MIB };
    let test = "random-write block=4KiB overwhelm=1MiB";
    assert_eq!(caveats(&["prime max_time=1s", test]), (vec![partly], Some(100 * MIB)));
    assert_eq!(caveats(&[test]), (vec![Flag::NotPrimed], Some(512 * MIB)));
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

#[test]
fn a_span_of_any_number_of_sectors_is_settled_at_whole_blocks() {
    let mut bench = TestBench::raw(GIB, |_, _| MILLISECOND_NS);
    bench.target.only = Some(Extent::new(4 * MIB, 497 * 512));
    let ran = bench.run(&["random-write block=512 overwhelm=64KiB max_time=20s"]);
    let cell = ran.cell("random-write/1");
    assert_ne!(cell.stop, Stop::Error, "{:?}", cell.reason);
    assert!(ran.requests.iter().all(|request| request.offset_bytes.is_multiple_of(512)));
}
