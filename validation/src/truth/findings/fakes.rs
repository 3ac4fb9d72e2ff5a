//! Counterfeits: the type and real size, to the byte, that a run finds, and its time.

use device::Device;
use record::units::{GIB, KIB, MIB};
use sim::{Profile, SimDevice, SimOptions};
use suite::catalogue::capacity::trial::{CapacityKind, Geometry, Trial, trial};

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
    let parsed = Profile::parse("trial", profile)
        .unwrap_or_else(|error| panic!("what was drawn can be: {error}\n{profile}"));
    Box::new(SimDevice::new(&parsed, SimOptions { seed, capacity: None, keep_data: true }))
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let mut part = Part::default();
    let kinds = [
        ("limbo", CapacityKind::Limbo),
        ("wraparound", CapacityKind::Wraparound),
        ("chain", CapacityKind::Chain),
        ("damaged", CapacityKind::Damaged),
    ];
    for (name, kind) in kinds {
        let trials =
            each(some(OF_EACH, share), |number| trial(kind, seed.wrapping_add(number), &medium));
        let what = if kind == CapacityKind::Damaged {
            "damaged: type right".to_owned()
        } else {
            format!("{name}: type and real size right")
        };
        part.count(what, &trials);
        part.rows.push(Row::longest(
            format!("{name}: longest"),
            if kind == CapacityKind::Damaged { GOOD_S } else { FAKE_S },
            took(&trials),
        ));
    }
    let table = table();
    let trials = each(table.len() as u64, |number| {
        Trial::of(table[number as usize].clone(), seed.wrapping_add(number), &medium)
    });
    part.count("the table of geometries: type and real size right", &trials);
    part.rows.push(Row::longest("the table of geometries: longest", FAKE_S, took(&trials)));
    // The time of the search for folded addresses grows as the root of the size: this one has its
    // own limit.
    let huge = [0, 4 * MIB, 64 * MIB]
        .map(|cache| Geometry::limbo(2048 * GIB, 14 * GIB + 512).remembering(cache));
    let trials = each(huge.len() as u64, |number| {
        Trial::of(huge[number as usize].clone(), seed.wrapping_add(number), &medium)
    });
    part.count("limbo that says 2 TiB: type and real size right", &trials);
    part.rows.push(Row::longest("limbo that says 2 TiB: longest", HUGE_S, took(&trials)));
    let trials = each(some(GOOD, share), |number| {
        trial(CapacityKind::Good, seed.wrapping_add(number), &medium)
    });
    part.count("good: cleared, never called fake", &trials);
    part.rows.push(Row::longest("good: longest", GOOD_S, took(&trials)));
    part
}

fn took(trials: &[Trial]) -> impl Iterator<Item = u64> + '_ {
    trials.iter().map(|trial| trial.ruling.took_ns)
}

impl Part {
    fn count(&mut self, what: impl Into<String>, trials: &[Trial]) {
        let wrong = |trial: &Trial| {
            let what = trial.wrong.as_ref()?;
            Some(Wrong::without_medium(format!("{what}: {:#?}", trial.geometry)))
        };
        self.row(what, Target::AtLeast(100.0), trials.iter().map(wrong).collect());
    }
}

/// Fakes of sizes that are powers of two and of others, little missing and nearly all, each without
/// a cache and with two.
fn table() -> Vec<Geometry> {
    let geometries = [
        Geometry::limbo(64 * GIB, 8 * GIB),
        Geometry::limbo(16 * GIB, 7_948_206_080),
        Geometry::limbo(256 * GIB, 4 * GIB + 512),
        Geometry::limbo(32 * GIB, 31 * GIB),
        Geometry::limbo(1024 * GIB, 32 * GIB),
        Geometry::limbo(8 * GIB, 20 * MIB + 1536),
        Geometry::wraparound(64 * GIB, 8 * GIB),
        Geometry::wraparound(32 * GIB, 7_948_206_080),
        Geometry::wraparound(16 * GIB, 15 * GIB + 512 * KIB),
        Geometry::wraparound(1024 * GIB, 32 * GIB),
        Geometry::wraparound(128 * GIB, 3 * GIB + 512),
        Geometry::chain(64 * GIB, 12 * GIB, 16 * GIB),
        Geometry::chain(64 * GIB, 7_948_206_080, 8 * GIB),
        Geometry::chain(32 * GIB, 24 * MIB, 256 * MIB),
        Geometry::chain(128 * GIB, 9 * GIB + 1024, 48 * GIB + 512),
    ];
    let with_caches = |geometry: Geometry| {
        [0, 4 * MIB, 64 * MIB].map(|cache| geometry.clone().remembering(cache))
    };
    geometries.into_iter().flat_map(with_caches).collect()
}
