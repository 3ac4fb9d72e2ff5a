//! Fakes of every kind in each suite, on media that may be erased and on lent ones: what is said of
//! them, and whether a size that is said is true.

use ::findings::Analysis;
use record::units::{GIB, KIB, MIB};
use record::{Answer, CapacityKind, Cell, Record, metric, test};
use stats::Random;
use suite::catalogue::capacity::trial::Geometry;
use suite::definition::Suite;

use super::look::Drawn;
use super::row::Target;
use super::trouble::Trouble;
use super::{Part, Wrong, each, some};

/// Ways in which a fake loses data, and number of media of each.
const WAYS: [(Way, u64); 7] = [
    (Way::Of(CapacityKind::Limbo), 6),
    (Way::Of(CapacityKind::Wraparound), 5),
    (Way::Of(CapacityKind::Chain), 4),
    (Way::Hashed, 5),
    (Way::Errors, 5),
    (Way::Memory, 10),
    (Way::Of(CapacityKind::Filling), 5),
];
/// Suites, and whether the medium is only lent.
const RUNS: [(&str, bool); 4] =
    [("check", true), ("check", false), ("quick", false), ("standard", false)];
/// A size that is said to be exact is no further off than this: the block of the probe.
const BLOCK_BYTES: f64 = 64.0 * KIB as f64;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Of(CapacityKind),
    /// Addresses are hashed: each block is the same place as some others.
    Hashed,
    /// Behind a part that drops writes, one that answers with errors.
    Errors,
    /// What has no flash stays in a memory, until later writes push it out.
    Memory,
}

/// Makes the rows, with this share of the media.
pub fn hold(seed: u64, share: f64) -> Part {
    let fakes: Vec<(Way, Geometry)> = WAYS
        .iter()
        .flat_map(|(way, many)| (0..some(*many, share)).map(move |number| (*way, number)))
        .map(|(way, number)| (way, draw(way, number, seed)))
        .collect();
    let mut part = Part::default();
    for (name, lent) in RUNS {
        let suite = Suite::built_in(name).expect("it comes with the program");
        let wrong = each(fakes.len() as u64, |number| {
            let (way, geometry) = &fakes[number as usize];
            let drawn = Drawn {
                profile: geometry.profile(),
                trouble: Trouble::default(),
                seed: seed.wrapping_add(number),
            };
            let record = drawn.run_on(&suite, true, lent.then(|| "it is lent".into()));
            let why = wrong(*way, geometry, lent, &record)?;
            Some(Wrong { what: format!("{name}, lent {lent}: {why}: {geometry:?}"), drawn: None })
        });
        let on = if lent { "lent, " } else { "" };
        part.row(format!("fakes: {on}{name}: right"), Target::AtLeast(100.0), wrong);
    }
    part
}

fn draw(way: Way, number: u64, seed: u64) -> Geometry {
    let mut random = Random::for_purpose(seed.wrapping_add(number), &format!("{way:?}"));
    let kind = if let Way::Of(kind) = way { kind } else { CapacityKind::Limbo };
    // What a host can hold of a medium that a suite fills.
    let drawn = std::iter::repeat_with(|| Geometry::draw(kind, &mut random))
        .find(|geometry| (4 * GIB..64 * GIB).contains(&geometry.capacity_bytes));
    let drawn = drawn.expect("there is no end to them");
    let mut size = |low: u64, high: u64| {
        (random.log_uniform(low as f64, high as f64) as u64).next_multiple_of(4 * KIB)
    };
    match way {
        Way::Of(CapacityKind::Filling) => {
            let real_bytes = size(8 * MIB, 2 * GIB) / MIB * MIB;
            Geometry { real_bytes, remembers_bytes: 0, ..drawn }
        }
        Way::Of(_) => drawn,
        Way::Hashed => Geometry { keeps: "hashed", ..drawn },
        Way::Errors => {
            let (from, bytes) = (drawn.real_bytes, drawn.capacity_bytes - drawn.real_bytes);
            let from = from.next_multiple_of(4 * MIB) + bytes / 8 / MIB * MIB;
            let damage = format!(
                "[[fault]]\nkind = \"medium-error\"\noffset = \"{from} B\"\nsize = \"{} B\"\n",
                bytes / 3 / MIB * MIB
            );
            Geometry { damage, merges: false, ..drawn }
        }
        Way::Memory => Geometry {
            remembers_bytes: size(128 * KIB, 512 * MIB),
            remembers_lost: number.is_multiple_of(2),
            ..drawn
        },
    }
}

/// What is wrong about the answer on a fake, or about its size.
fn wrong(way: Way, geometry: &Geometry, lent: bool, record: &Record) -> Option<String> {
    let summary = Analysis::of(record, &[]).summary;
    let probes = || record.cells_of(test::CAPACITY).chain(record.cells_of(test::SUSTAINED));
    let figures =
        |name: &'static str| probes().filter_map(move |cell| cell.metrics.other.get(name));
    let figure = |name: &'static str| figures(name).max_by(|a, b| a.value.total_cmp(&b.value));
    let amount = |name: &'static str| figure(name).map_or(0.0, |figure| figure.value) as u64;
    let may_hide = match way {
        Way::Of(CapacityKind::Filling) => {
            geometry.real_bytes as f64
                >= 0.95 * (spread(record) + amount("probe_written_bytes")) as f64
        }
        _ => {
            let searched =
                if geometry.remembers_lost { metric::FAR_BYTES } else { "overwhelmed_bytes" };
            let remembers_bytes = geometry.remembers_bytes;
            remembers_bytes > 0 && (lent || remembers_bytes >= amount(searched))
        }
    };
    match summary.genuine {
        Answer::No => {
            let is_fake =
                |cell: &&Cell| CapacityKind::of_probe(cell).is_some_and(CapacityKind::is_fake);
            let cell = probes().find(is_fake)?;
            wrong_size(way, geometry, cell.metrics.other.get(metric::REAL_BYTES)?)
        }
        Answer::NoSign | Answer::NotTested if may_hide => None,
        Answer::Inconclusive if may_hide && way == Way::Errors => None,
        other => Some(format!("{other:?}: {}", summary.genuine_reason)),
    }
}

/// Bytes that a fill wrote all over the medium.
fn spread(record: &Record) -> u64 {
    record.cells_of(test::SUSTAINED).map(|cell| cell.written_bytes).max().unwrap_or(0)
}

fn wrong_size(way: Way, geometry: &Geometry, size: &record::Estimate) -> Option<String> {
    let real = geometry.real_bytes as f64;
    let [low, high] = size.ci95.unwrap_or([size.value - BLOCK_BYTES, size.value + BLOCK_BYTES]);
    let says = || format!("{} said to be {}, {:?}", geometry.real_bytes, size.value, size.ci95);
    // Hashed addresses have no size up to which data is kept.
    (way != Way::Hashed && !(low..=high).contains(&real)).then(says)
}
