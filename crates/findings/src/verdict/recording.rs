//! Verdicts on recording: a camera, and video at a rate.

use record::classes::SPEED;
use record::units::{MIB, SECOND_NS, quantity};
use record::{Evidence, Fitness, Record, Use, metric, test};

use crate::conclusions::speed::stalls::{self, EVENTS};
use crate::conclusions::speed::{flush, places, throttling};
use crate::figures::figure::{self, UsableEstimate};
use crate::figures::usability;
use crate::verdict::need::{NeedLevel, UseVerdict, weakest_verdict};

pub(super) fn camera(record: &Record) -> Option<UseVerdict> {
    let figure = figure::sustained_write(record)?;
    let reason = format!("sequential writes reach {}", figure.with_interval());
    let asked = [SPEED[0], SPEED[1], SPEED[3]].map(|class| class.write_bps);
    let source = "classes C2, C4, C10; docs/field/classes.md#minimum-rates";
    let own = NeedLevel::at_least(&figure, asked, reason, source)?;
    let mut needs = lower_needs(record, asked, "", source);
    needs.push(own);
    needs.extend(flushed_need(record, asked, "", source));
    weakest_verdict(Use::Camera, needs, vec![])
}

/// Need for large writes that are durable: a cache makes the others faster than the medium is for
/// long. They are poor at worst, as a camera does not wait for each.
fn flushed_need(record: &Record, asked: [f64; 3], ending: &str, source: &str) -> Option<NeedLevel> {
    let durable = flush::durable_rate(record)?;
    let reason = format!(
        "writes of 1 MiB with a flush after each reach {}{ending}",
        durable.with_interval()
    );
    let need = NeedLevel::at_least(&durable, asked, reason, source)?;
    Some(NeedLevel { level: need.level.max(Fitness::Poor), ..need })
}

/// Needs for the lower rates of a fill: the level to which it fell, and that of a slow part, which
/// is poor at worst.
fn lower_needs(record: &Record, asked: [f64; 3], ending: &str, source: &str) -> Vec<NeedLevel> {
    let need = |figure: &UsableEstimate, reason: String, evidence: String| {
        let need = NeedLevel::at_least(figure, asked, format!("{reason}{ending}"), source)?;
        Some(NeedLevel { evidence: vec![Evidence::on(figure.cell, evidence)], ..need })
    };
    let fallen = throttling::fallen(record).and_then(|low| {
        let reason = format!("sequential writes fall to {}", low.text());
        need(&low, reason, format!("lowest level {}", low.text()))
    });
    let slow = places::slow_part(record).and_then(|part| {
        let need = need(&part.figure, part.text.clone(), part.text.clone())?;
        Some(NeedLevel { level: need.level.max(Fitness::Poor), ..need })
    });
    fallen.into_iter().chain(slow).collect()
}

pub(super) fn video(record: &Record, mbit: u32) -> Option<UseVerdict> {
    let figure = figure::sustained_write(record)?;
    let need_bps = f64::from(mbit) * 125e3;
    let ending = format!("; the recording needs {}", quantity(metric::BPS, need_bps));
    let reason = format!("sequential writes reach {}{ending}", figure.with_interval());
    // A rate equal to the need leaves no reserve for the file system: 25 % more is good.
    let asked = [need_bps * 0.999, need_bps, need_bps * 1.25];
    let source = "the recording's rate, and 25 % more";
    let own = NeedLevel::at_least(&figure, asked, reason, source)?;
    let is_suitable = own.level > Fitness::NotSuitable;
    let mut needs = lower_needs(record, asked, &ending, source);
    needs.push(own);
    needs.extend(flushed_need(record, asked, &ending, source));
    let slow = slowest_stretch(record, need_bps)
        .filter(|(_, slowest, _)| *slowest < need_bps && is_suitable);
    if let Some((from, slowest, many)) = slow {
        let reason =
            format!("some stretches reach only {}{ending}", quantity(metric::BPS, slowest));
        needs.push(NeedLevel {
            level: Fitness::Poor,
            reason,
            evidence: vec![from],
            confidence: Some(stalls::chance_again(many)),
        });
    }
    let stalls = stalls::of(
        record,
        |cell| cell.test == test::SEQUENTIAL_WRITE || cell.test == test::SUSTAINED,
        MIB,
    );
    let stall = stalls.and_then(|stalls| {
        let held = |ns: u64| quantity("_bytes", need_bps * ns as f64 / 1e9);
        let reason = |wording: &str, ns: u64| {
            format!("{wording}; the camera must buffer {} for that long", held(ns))
        };
        let source = "a camera buffers one or two seconds; our choice";
        NeedLevel::at_most(
            &stalls,
            [SECOND_NS, 2 * SECOND_NS],
            Some(10 * SECOND_NS),
            reason,
            source,
        )
    });
    let untested = if stall.is_none() { vec!["the slowest single large write"] } else { vec![] };
    needs.extend(stall);
    weakest_verdict(Use::Video { mbit }, needs, untested)
}

/// Time in seconds that a camera can buffer; a longer slow stretch loses frames. Our choice.
const CAMERA_BUFFER_S: f64 = 2.0;

/// The third lowest rate (bytes per second) of two-second stretches in a long sequential write, the
/// lowest over all such writes: evidence, the rate, and the number of stretches of that
/// write below `need_bps`. A single slow stretch may be the host's fault.
fn slowest_stretch(record: &Record, need_bps: f64) -> Option<(Evidence, f64, u64)> {
    let long = [test::SUSTAINED, test::RANDOM_FILL, test::PRIME]
        .iter()
        .flat_map(|test| figure::cells(record, test));
    let quiet = long.filter(|cell| usability::adverse_exclusion(record, cell).is_none());
    let along = quiet
        .flat_map(|cell| figure::rates_over_bytes(cell).map(move |(series, _)| (cell, series)));
    let slowest = along.filter_map(|(cell, series)| {
        let rates = stretches(&series.points);
        let rate = *rates.get(EVENTS - 1)?;
        let many = rates.iter().filter(|rate| **rate < need_bps).count() as u64;
        Some((
            Evidence::on(
                cell,
                format!(
                    "{EVENTS} stretches of '{}' at {} or less",
                    series.name,
                    quantity(metric::BPS, rate)
                ),
            ),
            rate,
            many,
        ))
    });
    slowest.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Rates of stretches of two seconds, the slowest first. Points are (bytes so far, bytes per second
/// since the point before).
fn stretches(points: &[[f64; 2]]) -> Vec<f64> {
    let step = |pair: &[[f64; 2]]| {
        let (bytes, bps) = (pair[1][0] - pair[0][0], pair[1][1]);
        (bytes > 0.0 && bps > 0.0 && bytes.is_finite() && bps.is_finite())
            .then(|| (bytes, bytes / bps))
    };
    let (mut bytes, mut seconds) = (0.0, 0.0);
    let mut rates: Vec<f64> = Vec::new();
    for (step_bytes, step_seconds) in points.windows(2).filter_map(step) {
        (bytes, seconds) = (bytes + step_bytes, seconds + step_seconds);
        if seconds >= CAMERA_BUFFER_S {
            rates.push(bytes / seconds);
            (bytes, seconds) = (0.0, 0.0);
        }
    }
    rates.sort_by(f64::total_cmp);
    rates
}

/// Usual recording rates, in Mbit/s: standard definition, HD, action cameras, 4K, and the video
/// speed classes.
const USUAL_VIDEO: [u32; 8] = [8, 17, 28, 50, 100, 200, 400, 720];

/// The fastest usual recording rate (Mbit/s) that it is good for, or else usable for, or else the
/// slowest one.
pub(super) fn usual_video(record: &Record) -> u32 {
    let fastest = |level: Fitness| {
        USUAL_VIDEO
            .into_iter()
            .rev()
            .find(|mbit| video(record, *mbit).is_some_and(|verdict| verdict.level >= level))
    };
    fastest(Fitness::Good).or_else(|| fastest(Fitness::Usable)).unwrap_or(USUAL_VIDEO[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_two_seconds_are_listed_slowest_first() {
        // A second at 10 MB/s, one at 20, two at 5 and one that ends too soon.
        let points = [[0.0, 0.0], [10e6, 10e6], [30e6, 20e6], [40e6, 5e6], [44e6, 4e6]];
        assert_eq!(stretches(&points), [5e6, 15e6]);
        assert_eq!(stretches(&points[..2]), [0.0; 0]);
    }
}
