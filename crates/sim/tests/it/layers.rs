//! Cheats, heat, age, and the volatile cache.

use device::{Device, Request};
use flashmark_sim::{Profile, SimDevice, SimOptions, truth};
use record::Content;

use crate::common::*;

/// Mean time in ms of 4 KiB writes at random places in a span.
fn random_writes(device: &mut SimDevice, span: u64, n: u64, content: Content) -> f64 {
    let start = device.facts().capacity_bytes / 2;
    let mut dice = stats::Random::new(11);
    let mut place = || start + dice.below(span / 4096) * 4096;
    let mut write = || ms(device, Request { content, ..Request::write(0, place(), 4096) });
    (0..n).map(|_| write()).sum::<f64>() / n as f64
}

#[test]
fn a_span_cheat_is_fast_inside_its_span_only() {
    for mib in [16, 64, 128] {
        let medium = || fast(&format!("span-cheat-{mib}"), 1);
        let mut device = medium();
        let mut write = |n| random_writes(&mut device, mib * MIB, n, Content::Incompressible);
        let (_, inside) = (write(2000), write(5000));
        let outside = random_writes(&mut medium(), 512 * MIB, 2000, Content::Incompressible);
        assert!(
            inside < 1.0 && outside > 100.0,
            "{mib} MiB: {inside} ms inside, {outside} ms outside"
        );
    }
}

#[test]
fn a_zero_cheat_is_fast_for_zeros_only() {
    use Content::{Byte, Compressible, Incompressible, Repeated, Zeros};
    let time = |content| random_writes(&mut fast("zero-cheat", 1), 512 * MIB, 1000, content);
    let fast = [Zeros, Byte(7), Repeated].map(time);
    let slow = [Compressible(50), Incompressible].map(time);
    assert!(
        fast.iter().all(|ms| *ms < 1.0) && slow.iter().all(|ms| *ms > 300.0),
        "{fast:?} {slow:?}"
    );
}

#[test]
fn the_data_decides_and_not_the_declared_content() {
    let mut device = SimDevice::new(Profile::builtin("zero-cheat").unwrap(), SimOptions::default());
    device.prepare(1, 4096).unwrap();
    let mut write = |fill: fn(usize) -> u8| {
        (0..4096).for_each(|i| device.buffer(0)[i] = fill(i));
        let zeros = |at| Request { content: Content::Zeros, ..Request::write(0, at, 4096) };
        (0..8).map(|i| ms(&mut device, zeros(i * 64 * MIB))).sum::<f64>()
    };
    let (zeros, data) = (write(|_| 0), write(|i| ((i * i) >> 3) as u8));
    assert!(zeros < 8.0 && data > 1000.0, "{zeros} {data}");
}

#[test]
fn heat_slows_a_medium_down_and_rest_makes_it_fast_again() {
    let mut device = fast("throttler", 1);
    let second = |device: &mut SimDevice| {
        let begin = device.now();
        let mut written = 0;
        while device.now() - begin < 1_000_000_000 {
            run(device, Request::write(0, written % GIB, MIB));
            written += MIB;
        }
        written as f64 / 1e9
    };
    let rates: Vec<f64> = (0..300).map(|_| second(&mut device)).collect();
    let hot = rates.iter().position(|rate| *rate < 1.0).expect("it gets hot within five minutes");
    assert!(rates[..hot - 1].iter().all(|rate| *rate > 1.7) && hot > 60, "{hot}");
    assert!(rates[hot + 5..].iter().any(|rate| *rate > 1.7), "it cools under the lighter load");
    assert!(device.celsius().unwrap() > 60.0);
    device.idle(3_600_000_000_000);
    assert!(second(&mut device) > 1.7);
    assert!(device.celsius().unwrap() < 35.0);
}

#[test]
fn an_honest_cache_makes_a_flush_wait_and_a_liar_does_not() {
    let text = Profile::text("flush-liar").unwrap();
    let flush_ms = |text: &str| {
        let mut device = of_text(text, 1);
        let mut dice = stats::Random::new(1);
        let mut write = || ms(&mut device, Request::write(0, dice.below(1000) * MIB, 4096));
        let writes = (0..500).map(|_| write()).sum::<f64>() / 500.0;
        assert!(writes < 0.2, "the cache takes 500 writes: {writes}");
        ms(&mut device, Request::flush(0))
    };
    let (liar, honest) =
        (flush_ms(text), flush_ms(&text.replace("honest = false", "honest = true")));
    assert!(liar < 5.0 && honest > 100.0, "{liar} {honest}");
}

#[test]
fn a_full_cache_is_no_faster_than_the_flash() {
    let profile = Profile::builtin("flush-liar").unwrap();
    let iops = truth::random_write_iops(profile, 4096, 512 * MIB, 1);
    // 0.22 ms command, 0.10 ms data, 1.2 ms garbage collection.
    assert!((640.0..680.0).contains(&iops), "{iops}");
}
