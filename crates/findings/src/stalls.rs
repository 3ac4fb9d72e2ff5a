//! The longest single writes: what breaks loggers, databases and recordings (peers.md wish 5).

use std::fmt;

use record::units::{KIB, Nanos, significant};
use record::{Cell, Finding, Record};

use crate::draft::Draft;
use crate::figure;
use crate::verdict::{SDHC_BYTES, writes};

/// Limits that stalls are counted against, in nanoseconds; the second and third are how long an SDHC and an SDXC card may be busy
/// (peers.md wish 5).
const LIMITS_NS: [u64; 4] = [100_000_000, 250_000_000, 500_000_000, 1_000_000_000];

/// The longest single write of some cells.
pub(crate) struct Worst<'a> {
    pub ns: u64,
    pub cell: &'a Cell,
    /// Of so many.
    pub n: u64,
}

impl fmt::Display for Worst<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: slowest of {} writes {}", figure::named(self.cell), self.n, Nanos(self.ns))
    }
}

/// Tests whose small writes are those of work: at random, in a row, in files. All others provoke a medium on purpose (writes beside its units, more
/// open units than it has, flushes one after the other), and how long it stands still then says nothing of work.
pub(crate) const EVERYDAY: [&str; 9] =
    ["random-write", "sector-write", "sequential-write", "record-ops", "logger", "sqlite", "rrd", "untar", "boot"];
/// What a data logger does: records one after the other, and single small writes.
pub(crate) const LOGGING: [&str; 5] = ["logger", "record-ops", "sequential-write", "random-write", "sector-write"];
/// What a database does: pages at random, and a journal in files.
pub(crate) const COMMITTING: [&str; 4] = ["sqlite", "record-ops", "random-write", "sector-write"];

/// The longest single write of up to this many bytes among the tests that do what work does.
pub(crate) fn worst(record: &Record, up_to_bytes: u64) -> Option<Worst<'_>> {
    worst_in(record, &EVERYDAY, up_to_bytes)
}

/// The longest single write of up to this many bytes among these tests.
pub(crate) fn worst_in<'a>(record: &'a Record, tests: &[&str], up_to_bytes: u64) -> Option<Worst<'a>> {
    worst_of(record, |cell| tests.contains(&cell.test.as_str()), up_to_bytes)
}

/// The longest single write of up to this many bytes among these cells. A test that reckons several I/Os as one (`ext2-fill`'s files) has no
/// block size, and is not among them.
pub(crate) fn worst_of(record: &Record, wanted: impl Fn(&Cell) -> bool, up_to_bytes: u64) -> Option<Worst<'_>> {
    let fits = |cell: &&Cell| {
        figure::is_sound(cell) && writes(cell) && wanted(cell) && cell.params.block_bytes.is_some_and(|bytes| bytes <= up_to_bytes)
    };
    let worst = record.cells.iter().filter(fits).filter_map(|cell| {
        let latency = cell.metrics.latency_ns.as_ref().map_or(0, |latency| latency.max);
        let stall = cell.metrics.other.get("worst_stall_ns").map_or(0.0, |found| found.value);
        let ns = latency.max(if stall.is_finite() && stall > 0.0 { stall as u64 } else { 0 });
        (ns > 0 && cell.ops > 0).then_some(Worst { ns, cell, n: cell.ops })
    });
    worst.max_by_key(|worst| worst.ns)
}

/// The tests whose writes were looked at, for the evidence: "of random-write and sector-write".
pub(crate) fn looked_at(record: &Record, tests: &[&str]) -> String {
    let has = |test: &&str| worst_of(record, |cell| cell.test == *test, 64 * KIB).is_some();
    format!("small writes of {}", tests.iter().copied().filter(|test| has(test)).collect::<Vec<_>>().join(", "))
}

/// What the histograms of the small writes of work say.
struct Count {
    writes: u64,
    bytes: u64,
    above: [u64; 4],
}

fn count(record: &Record) -> Count {
    let mut count = Count { writes: 0, bytes: 0, above: [0; 4] };
    let small = |cell: &&Cell| {
        figure::is_sound(cell)
            && writes(cell)
            && EVERYDAY.contains(&cell.test.as_str())
            && cell.params.block_bytes.is_some_and(|bytes| bytes <= 64 * KIB)
    };
    for (cell, histogram) in record.cells.iter().filter(small).filter_map(|cell| Some((cell, cell.histogram.as_ref()?))) {
        count.writes += histogram.len();
        count.bytes = count.bytes.saturating_add(cell.bytes);
        for (above, limit_ns) in count.above.iter_mut().zip(LIMITS_NS) {
            *above += histogram.count_above(limit_ns);
        }
    }
    count
}

/// `stalls`: the slowest small write of work, how many were longer than what a card may be busy, and how many that is in each GB. What tests
/// provoked on purpose is evidence only.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let worst = worst(record, 64 * KIB)?;
    let count = count(record);
    let sdhc = record.medium.capacity_bytes.is_none_or(|bytes| bytes <= SDHC_BYTES);
    let (limit_ns, card) = if sdhc { (LIMITS_NS[1], "up to 32 GB") } else { (LIMITS_NS[2], "above 32 GB") };
    let beyond = count.above[if sdhc { 1 } else { 2 }];
    let statement = match beyond {
        0 if worst.ns <= limit_ns => {
            format!("The slowest small write took {}; an SD card {card} may be busy for {}.", Nanos(worst.ns), Nanos(limit_ns))
        }
        0 => {
            format!("The slowest small write took {}, longer than the {} an SD card {card} may be busy.", Nanos(worst.ns), Nanos(limit_ns))
        }
        _ => format!(
            "The slowest small write took {}; {} of {} small writes took longer than the {} an SD card {card} may be busy.",
            Nanos(worst.ns),
            beyond,
            count.writes,
            Nanos(limit_ns)
        ),
    };
    let draft = if worst.ns > limit_ns { Draft::warning("stalls", statement) } else { Draft::info("stalls", statement) };
    let per_gb = |above: u64| if count.bytes == 0 { "-".to_owned() } else { significant(above as f64 / (count.bytes as f64 / 1e9)) };
    let line = |(limit_ns, above): (u64, u64)| {
        format!("longer than {}: {above} of {} small writes, {} in each GB", Nanos(limit_ns), count.writes, per_gb(above))
    };
    let counted = (count.writes > 0).then(|| LIMITS_NS.into_iter().zip(count.above).map(line)).into_iter().flatten();
    let provoked = worst_of(record, |cell| !EVERYDAY.contains(&cell.test.as_str()), 64 * KIB).filter(|provoked| provoked.ns > worst.ns);
    let provoked = provoked.map(|provoked| format!("provoked on purpose, and not counted: {provoked}"));
    let draft = draft.note(worst.to_string()).notes(counted).note(looked_at(record, &EVERYDAY)).notes(provoked);
    Some(draft.note("busy limits of the SD specification: 250 ms, SDXC 500 ms").done())
}
