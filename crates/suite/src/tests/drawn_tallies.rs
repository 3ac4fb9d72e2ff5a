//! What streams of I/Os drawn at random come to: every figure, curve and doubt.

use device::{Completion, IoError, IoErrorKind};
use record::units::SECOND_NS;
use record::{Lateness, Standstill, Stop};
use stats::{Random, StopRule};

use super::{in_text, one_in, table_of};
use crate::IoTally;

/// Streams that are drawn.
const DRAWN: u64 = 640;
/// Lines of the snapshot: each holds what came of so many.
const A_LINE: u64 = 20;

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
            stalls.push(Standstill { from_ns, to_ns });
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
        let mean_ns = random.below(1 + usual_ns as u64);
        tally.lateness = Lateness { mean_ns, p99_ns: mean_ns * random.below(20) };
    }
    tally.stop = *random.pick(&[Stop::Converged, Stop::Time, Stop::Ops]);
    if one_in(random, 2) {
        tally.leave_out(&stalls);
    }
    if one_in(random, 10) {
        for kind in [IoErrorKind::Medium, IoErrorKind::Gone] {
            tally.fail(IoError { request: None, kind, errno: None, detail: "drawn".into() });
        }
    }
    tally
}

fn told(number: u64) -> String {
    let mut random = Random::after(2026, number << 32);
    let tally = drawn(&mut random);
    let start_bytes = random.below(1 << 40);
    let drift = tally.drift().map(|drift| format!("{:.3e} {:.3e}", drift.range, drift.slope));
    format!(
        "{} {} {} {} {} {} {:?} {:?} {drift:?} {}\n{}\n{}\n{}\n{}\n{}\n{}\n",
        tally.ops,
        tally.bytes,
        tally.busy_ns,
        tally.idle_ns,
        tally.zero_latencies,
        tally.worst_ns,
        tally.stop,
        tally.error,
        tally.has_slow(),
        in_text(&tally.metrics()),
        in_text(&tally.flags()),
        in_text(&tally.rate_series("rate")),
        in_text(&tally.rate_along_span("along", start_bytes)),
        in_text(&tally.stall_series()),
        in_text(&tally.disturbance),
    )
}

#[test]
fn what_drawn_streams_come_to_is_what_they_came_to() {
    insta::assert_snapshot!(table_of(DRAWN, A_LINE, told));
}
