//! Whether the medium has the capacity it says, from the probe and from a full verification (flash.md C1, peers.md wish 14).

use record::units::Bytes;
use record::{Cell, Finding, Record};

use crate::draft::Draft;
use crate::figure;

/// What the probe found, as its codes have it: 0 good, 1 damaged, 2 limbo, 3 wraparound, 4 chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Good,
    Damaged,
    Limbo,
    Wraparound,
    Chain,
}

impl Kind {
    fn of(code: f64) -> Option<Kind> {
        // A code is a whole number; anything between is none.
        [Kind::Good, Kind::Damaged, Kind::Limbo, Kind::Wraparound, Kind::Chain]
            .into_iter()
            .enumerate()
            .find(|(at, _)| code == *at as f64)
            .map(|(_, kind)| kind)
    }
}

/// `capacity` and `verify`.
pub(crate) fn conclude(record: &Record) -> Vec<Finding> {
    [probe(record), verify(record)].into_iter().flatten().collect()
}

/// A number of the probe: metrics of `other`, which may be zero.
fn number(cell: &Cell, name: &str) -> Option<f64> {
    cell.metrics.other.get(name).map(|found| found.value).filter(|value| (0.0..MOST).contains(value))
}

/// No medium has so many bytes, or sectors.
const MOST: f64 = (1u64 << 60) as f64;

fn probe(record: &Record) -> Option<Finding> {
    let cell = record.cells_of("capacity").find(|cell| figure::is_sound(cell))?;
    let kind = Kind::of(number(cell, "type")?)?;
    let declared = record.medium.capacity_bytes.or(cell.params.span_bytes);
    let real = number(cell, "real_bytes").map(|bytes| bytes as u64);
    let says = declared.map(|bytes| format!("it says {}", Bytes(bytes))).unwrap_or_else(|| "the size it declares".into());
    let has = real.map(|bytes| format!("it has {}", Bytes(bytes))).unwrap_or_else(|| "less is real".into());
    let draft = match kind {
        Kind::Good => Draft::info(
            "capacity",
            format!(
                "Its capacity is real: samples over {} came back as they were written.",
                declared.map_or("all of it".into(), |bytes| Bytes(bytes).to_string())
            ),
        ),
        Kind::Damaged if real == Some(0) => Draft::failure("capacity", "It is damaged: nothing that was written came back. Throw it away."),
        Kind::Damaged => Draft::failure(
            "capacity",
            "It is damaged: some of what was written did not come back, in places all over it. It is broken rather than fake; throw it away.",
        ),
        Kind::Limbo => Draft::failure(
            "capacity",
            format!("It is a fake: {says}, {has}; what is written beyond is lost without an error. Do not use it, or only its first part."),
        ),
        Kind::Wraparound => Draft::failure(
            "capacity",
            format!("It is a fake: {says}, {has}; what is written beyond overwrites what is in front, without an error. Do not use it."),
        ),
        Kind::Chain => Draft::failure(
            "capacity",
            format!(
                "It is a fake: {says}, {has}; what is written beyond is partly lost and partly overwrites what is in front. Do not use it."
            ),
        ),
    };
    let notes = ["real_bytes", "cache_bytes", "wrap_bytes"]
        .into_iter()
        .filter_map(|name| Some(format!("{}: {name} {}", figure::named(cell), number(cell, name)?)));
    Some(draft.notes(notes).note("samples of the whole medium with what lay there remembered (flash.md C1)").done())
}

fn verify(record: &Record) -> Option<Finding> {
    let cell = record.cells_of("verify").find(|cell| !cell.flags.iter().any(record::Flag::is_impossible))?;
    let count = |names: [&str; 2]| names.iter().find_map(|name| number(cell, name)).map(|n| n as u64);
    let good = count(["good_sectors", "good"])?;
    let bad: Vec<(&str, u64)> = [
        ("corrupted", count(["corrupted_sectors", "corrupted"])),
        ("changed", count(["changed_sectors", "changed"])),
        ("overwritten", count(["overwritten_sectors", "overwritten"])),
    ]
    .into_iter()
    .filter_map(|(name, n)| Some((name, n.filter(|n| *n > 0)?)))
    .collect();
    if good == 0 && bad.is_empty() {
        return None;
    }
    let first = count(["first_bad_offset_bytes", "first_bad_bytes"]);
    let draft = if bad.is_empty() {
        let whole = if figure::is_sound(cell) { "" } else { " so far" };
        Draft::info("verify", format!("All {good} sectors that were written and read back{whole} are as they were written."))
    } else {
        let list = bad.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ");
        let at = first.map(|at| format!(", the first at {}", Bytes(at))).unwrap_or_default();
        Draft::failure(
            "verify",
            format!(
                "It does not keep what is written: of {} sectors {list}{at}. Do not trust data to it.",
                good + bad.iter().map(|(_, n)| n).sum::<u64>()
            ),
        )
    };
    Some(
        draft
            .note(format!(
                "{}: {good} good, {}",
                figure::named(cell),
                bad.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>().join(", ")
            ))
            .done(),
    )
}
