//! Test of random streams of I/Os: results and caveats against their counts and times.

use device::{Completion, IoError, IoErrorKind};
use record::units::SECOND_NS;
use record::{Flag, HostStall, Stop};
use stats::{Random, StopRule};

use super::one_in;
use crate::IoTally;

/// Number of random streams.
const DRAWN: u64 = 640;

fn drawn(random: &mut Random) -> IoTally {
    let in_flight = *random.pick(&[1, 1, 4, 32]);
    let rule = StopRule {
        min_ns: SECOND_NS,
        min_events: 30,
        relative_half_width: *random.pick(&[0.01, 0.05, 0.3]),
        max_ns: 10 * SECOND_NS,
    };
    let mut tally = IoTally::under((!one_in(random, 3)).then_some(rule), in_flight);
    let groups = *random.pick(&[0, 1, 2, 7, 29, 30, 31, 239, 240, 241, 600, 4_000]);
    let (usual_ns, spread) = (random.log_uniform(1e3, 2e7), random.unit() * 2.0);
    let (seldom, pause) = (2 + random.below(300), random.below(4));
    let slope = random.unit() - 0.5;
    let mut now_ns = random.below(SECOND_NS);
    let mut stalls = Vec::new();
    for group in 0..groups {
        let drifted = usual_ns * (1.0 + slope * group as f64 / groups as f64);
        let mut took_ns = (drifted * (spread * random.normal()).exp()) as u64;
        if one_in(random, seldom) {
            took_ns += random.log_uniform(4e7, 7e9) as u64;
        }
        if one_in(random, 200) {
            took_ns = *random.pick(&[0, 5 * SECOND_NS, 50_000_000, 49_999_999]);
        }
        if took_ns > 40_000_000 && one_in(random, 2) {
            let from_ns = now_ns + random.below(took_ns);
            let to_ns = from_ns + random.below(took_ns) + 1;
            stalls.push(HostStall { from_ns, to_ns });
        }
        let done = Completion {
            slot: 0,
            result: Ok(()),
            submitted_ns: now_ns,
            completed_ns: now_ns + took_ns,
        };
        let ios = if in_flight == 1 { 1 } else { 1 + random.below(u64::from(in_flight)) };
        tally.count_together(
            &done,
            ios,
            512 << random.below(8),
            one_in(random, 3) || in_flight == 1,
        );
        now_ns += took_ns + if one_in(random, 3) { random.below(1 + pause * 100_000) } else { 0 };
    }
    tally.cpu_ns = one_in(random, 2).then(|| random.below(SECOND_NS));
    if one_in(random, 2) {
        tally.run_delay_ns = Some(tally.ops * random.below(1 + usual_ns as u64));
    }
    tally.stop = *random.pick(&[Stop::Converged, Stop::Time, Stop::Ops]);
    if one_in(random, 2) {
        tally.leave_out(&stalls);
    }
    if one_in(random, 10) {
        for kind in [IoErrorKind::Medium, IoErrorKind::Gone] {
            tally.fail(IoError::general(kind, "drawn"));
        }
    }
    tally
}

/// Asserts that results are finite and not negative, follow from counts and times, and are in their
/// intervals; that percentiles are in order; and that every caveat is true.
fn holds(tally: &IoTally) {
    let (metrics, flags) = (tally.metrics(), tally.flags());
    for (name, figure) in &metrics.other {
        assert!(figure.value.is_finite() && figure.value >= 0.0, "{name} {figure:?}");
    }
    let has = |wanted: fn(&Flag) -> bool| flags.iter().any(wanted);
    assert_eq!(has(|flag| matches!(flag, Flag::ZeroLatency { .. })), tally.zero_latencies > 0);
    let stalled = has(|flag| matches!(flag, Flag::Stalled { .. }));
    assert_eq!(stalled, tally.worst_ns >= 5 * SECOND_NS);
    let Some((iops, latency)) = metrics.iops.zip(metrics.latency_ns) else {
        return assert!(tally.ops == 0 || tally.busy_ns == 0, "{} {}", tally.ops, tally.busy_ns);
    };
    let rate = tally.ops as f64 / (tally.busy_ns as f64 / 1e9);
    assert!((iops.value / rate - 1.0).abs() < 1e-9, "{} {rate}", iops.value);
    let bytes = metrics.bps.unwrap().value / iops.value * tally.ops as f64;
    assert!((bytes / tally.bytes as f64 - 1.0).abs() < 1e-9, "{bytes} {}", tally.bytes);
    match iops.ci95 {
        Some([low, high]) => assert!(low <= iops.value && iops.value <= high, "{iops:?}"),
        None => assert!(has(|flag| matches!(flag, Flag::TooFewSamples { .. })), "{flags:?}"),
    }
    let known = [latency.p50, latency.p90, latency.p95, latency.p99, latency.p99_9];
    let percentiles: Vec<u64> =
        known.into_iter().flatten().chain([latency.max.max(latency.min)]).collect();
    assert!(percentiles.is_sorted(), "{latency:?}");
}

#[test]
fn figures_of_drawn_streams_follow_from_their_counts() {
    let mut with_interval = 0;
    for number in 0..DRAWN {
        let tally = drawn(&mut Random::after(2026, number << 32));
        holds(&tally);
        with_interval += u64::from(tally.metrics().iops.is_some_and(|iops| iops.ci95.is_some()));
    }
    assert!(with_interval > DRAWN / 4, "{with_interval}");
}
