//! Counterfeits: the type and real size, to the byte, that a run finds, and its time.

use device::Device;
use record::units::{GIB, MIB};
use sim::{SimDevice, SimOptions};
use suite::catalogue::capacity::trial::{CapacityKind, Geometry, Trial, trial};

use super::medium::parsed;
use super::row::{Row, Target};
use super::{Part, Wrong, each, some};

/// Number of media of each kind.
const OF_EACH: u64 = 100;
/// Number of media that are not fakes.
const GOOD: u64 = 1000;
/// Longest time of a run at 10 MB/s, in seconds: until it recognises a fake, and below until it
/// clears a good medium.
const FAKE_S: f64 = 120.0;
/// Longest time for a fake of 2 TiB: the root of two more than for 1 TiB.
const HUGE_S: f64 = 170.0;
const GOOD_S: f64 = 240.0;

fn medium(profile: &str, seed: u64) -> Box<dyn Device> {
    Box::new(SimDevice::new(&parsed(profile), SimOptions { seed, capacity: None, keep_data: true }))
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let drawn = |kind: CapacityKind, many: u64| {
        each(some(many, share), |number| trial(kind, seed.wrapping_add(number), &medium))
    };
    // The time of the search for folded addresses grows as the root of the size: this one has its
    // own limit.
    let huge = [0, 4 * MIB, 64 * MIB]
        .map(|cache| Geometry::limbo(2048 * GIB, 14 * GIB + 512).remembering(cache));
    let huge = each(huge.len() as u64, |number| {
        Trial::of(huge[number as usize].clone(), seed.wrapping_add(number), &medium)
    });
    const RIGHT: &str = "type and real size right";
    let rows = [
        ("limbo", RIGHT, FAKE_S, drawn(CapacityKind::Limbo, OF_EACH)),
        ("wraparound", RIGHT, FAKE_S, drawn(CapacityKind::Wraparound, OF_EACH)),
        ("chain", RIGHT, FAKE_S, drawn(CapacityKind::Chain, OF_EACH)),
        ("damaged", "type right", GOOD_S, drawn(CapacityKind::Damaged, OF_EACH)),
        ("limbo that says 2 TiB", RIGHT, HUGE_S, huge),
        ("good", "cleared, never called fake", GOOD_S, drawn(CapacityKind::Good, GOOD)),
    ];
    let mut part = Part::default();
    for (name, right, longest_s, trials) in rows {
        let wrong = |trial: &Trial| {
            let what = format!("{}: {:#?}", trial.wrong.as_ref()?, trial.geometry);
            Some(Wrong { what, drawn: None })
        };
        let wrong = trials.iter().map(wrong).collect();
        part.row(format!("{name}: {right}"), Target::AtLeast(100.0), wrong);
        let longest_ns = trials.iter().map(|trial| trial.ruling.took_ns).max().unwrap_or(0);
        part.rows.push(Row {
            what: format!("{name}: longest"),
            target: Target::Seconds(longest_s),
            of: longest_ns as f64 / 1e9,
            n: trials.len(),
        });
    }
    part
}
