//! Test that the models have the known properties of flash controllers
//! (docs/field/published-figures.md#survey-of-microsd-cards, docs/field/ftl.md#model,
//! docs/field/ftl.md#profiles).

use device::{Device, Request};
use flashmark_sim::SimDevice;

use crate::common::*;

/// Mean time in ms of writes of this size, in turn over `n` allocation units 12 apart
/// (docs/field/allocation-units.md#flashbench).
fn in_turn(device: &mut SimDevice, n: u64, bytes: u64) -> f64 {
    let au = 4 * MIB;
    let rounds = 40;
    let mut sum = 0.0;
    for round in 0..rounds {
        for k in 0..n {
            let ms = ms(device, Request::write(0, 16 * MIB + k * 12 * au + round * bytes, bytes));
            sum += if round >= rounds / 2 { ms } else { 0.0 };
        }
    }
    sum / (n * rounds / 2) as f64
}

#[test]
fn one_allocation_unit_more_than_are_open_is_a_cliff() {
    let times: Vec<f64> = (1..=5).map(|n| in_turn(&mut fast("class10", 1), n, 64 * KIB)).collect();
    assert!(times[..3].iter().all(|ms| (6.0..11.0).contains(ms)), "{times:?}");
    assert!(times[3..].iter().all(|ms| (300.0..450.0).contains(ms)), "{times:?}");
}

const LIMITED: &str = r#"
about = "a bypass that fills up"
source = "test"
guesses = "test"
medium = { capacity = "1 GiB" }
read = { command = "1 ms", rate = "20 MB/s" }
write = { command = "1 ms", rate = "10 MB/s", unit = "4 KiB" }
[log_block]
au = "4 MiB"
open_aus = 1
copy_rate = "10 MB/s"
erase = "4 ms"
bypass = { up_to = "4 KiB", time = "9 ms", capacity = "400 KiB", recovery_rate = "40 kB/s" }
"#;

#[test]
fn a_bypass_that_is_full_recovers_while_the_medium_is_idle() {
    let mut device = of_text(LIMITED, 1);
    let write = |device: &mut SimDevice, i: u64| {
        ms(device, Request::write(0, (i * 37 % 256) * 4 * MIB, 4 * KIB))
    };
    let times: Vec<f64> = (0..110).map(|i| write(&mut device, i)).collect();
    // The 101st only opens a unit.
    assert_eq!(times.iter().position(|ms| *ms > 10.5), Some(101), "{times:?}");
    assert!(times[102..].iter().all(|ms| *ms > 400.0), "{times:?}");
    device.idle(1_100_000_000);
    let after: Vec<bool> = (0..12).map(|i| write(&mut device, i) < 10.5).collect();
    // 1.1 s at 40 kB/s is room for ten writes.
    assert_eq!(after, [[true; 10].as_slice(), &[false; 2]].concat());
}

#[test]
fn random_order_inside_an_open_unit_costs_a_merge_whenever_the_log_is_full() {
    let mut device = fast("class10", 1);
    let mut dice = stats::Random::new(5);
    let mut write = || ms(&mut device, Request::write(0, dice.below(64) * 64 * KIB, 64 * KIB));
    let merges = (0..4 * 1024).filter(|_| write() > 200.0).count();
    assert_eq!(merges, 64, "a log of 4 MiB takes 64 writes of 64 KiB");
}

#[test]
fn the_front_of_a_card_may_be_slower() {
    let mut device = fast("class10-bypass", 1);
    let mut write = |at| ms(&mut device, Request::write(0, at, 64 * KIB));
    let mut row = |start: u64| (0..64).map(|i| write(start + i * 64 * KIB)).sum::<f64>();
    let (front, middle) = (row(0), row(2 * GIB));
    assert!((1.5..2.1).contains(&(front / middle)), "{front} {middle}");
}

#[test]
fn a_cache_of_slc_fills_up_and_recovers_while_idle() {
    let mut device = fast("usb3-modern", 1);
    let mut at = 0;
    let mut rate = |device: &mut SimDevice, mib: u64| {
        let begin = device.now();
        for _ in 0..mib {
            run(device, Request::write(0, at, MIB));
            at += MIB;
        }
        (mib * MIB) as f64 * 1e3 / (device.now() - begin) as f64
    };
    let stages = [rate(&mut device, 7_000), rate(&mut device, 20_000), rate(&mut device, 20_000)];
    device.idle(700 * 1_000_000_000);
    let recovered = rate(&mut device, 1_000);
    let rough = [stages[0], stages[2], recovered].map(|mbps| (mbps / 10.0).round() as u32 * 10);
    assert_eq!(rough, [290, 50, 290], "{stages:?} {recovered}");
    assert!((70.0..100.0).contains(&stages[1]), "{stages:?}");
}

#[test]
fn reads_that_straddle_units_show_the_geometry() {
    let mut device = fast("sd-class4", 1);
    let mut straddle = |at: u64| {
        let mut read = |i: u64| ms(&mut device, Request::read(0, at + i * 16 * MIB - 512, KIB));
        let mut times: Vec<f64> = (0..401).map(&mut read).collect();
        times.sort_by(f64::total_cmp);
        times[200]
    };
    let [inside, unit, au] = [8 * KIB, 16 * KIB, 0].map(|at| straddle(64 * MIB + at));
    assert!((0.04..0.11).contains(&(unit - inside)), "{inside} {unit}");
    assert!((0.18..0.29).contains(&(au - inside)), "{inside} {au}");
}

/// IOPS with this many I/Os in flight.
fn at_depth(name: &str, depth: u32, write: bool) -> f64 {
    let mut device = fast(name, 1);
    let mut dice = stats::Random::new(2);
    let mut request = |slot| {
        let request = Request::read(slot, dice.below(1 << 17) * 4096, 4096);
        if write { Request::write(slot, request.offset_bytes, 4096) } else { request }
    };
    let mut done = Vec::new();
    (0..depth).for_each(|slot| device.submit(request(slot)).unwrap());
    let mut seen = 0;
    while seen < 20_000 {
        device.reap(1, &mut done).unwrap();
        seen += done.len();
        done.drain(..).for_each(|completion| device.submit(request(completion.slot)).unwrap());
    }
    seen as f64 * 1e9 / device.now() as f64
}

/// One random write in many continues its predecessor by chance; two in succession are the
/// beginning of a stream.
#[test]
fn a_single_write_that_follows_is_no_stream() {
    let mut device = fast("usb2-cruzer", 1);
    for mib in [0, 256, 512] {
        run(&mut device, Request::write(0, mib * MIB, 64 * KIB));
    }
    let mut write = |at| ms(&mut device, Request::write(0, at, 4096));
    let times = [0, 1, 2].map(|block| write(8 * GIB + block * 4096));
    assert!(times[0] < 20.0 && times[1] < 20.0 && times[2] > 500.0, "{times:?}");
}

#[test]
fn depth_helps_where_there_is_a_command_queue_and_nowhere_else() {
    let gain = |name, write| at_depth(name, 16, write) / at_depth(name, 1, write);
    assert!((2.4..2.9).contains(&gain("a2-cq", false)));
    assert!((2.2..2.7).contains(&gain("a2-cq", true)));
    assert!((0.95..1.05).contains(&gain("a2", false)));
    assert!((0.9..1.1).contains(&gain("usb2-voyager", true)));
}

#[test]
fn latency_at_depth_includes_the_wait() {
    let mut device = fast("a1", 1);
    for slot in 0..4 {
        device.submit(Request::read(slot, u64::from(slot) * MIB, 4096)).unwrap();
    }
    let mut done = Vec::new();
    device.reap(4, &mut done).unwrap();
    let latencies: Vec<u64> =
        done.iter().map(|completion| completion.latency_ns() / 100_000).collect();
    assert!(latencies.is_sorted() && latencies[3] > 3 * latencies[0], "{latencies:?}");
}
