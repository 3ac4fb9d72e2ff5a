//! The slowest single writes, which break data loggers, databases and recordings
//! (docs/field/peers.md#wishes).
//!
//! One long write may be the host's fault. Statements on a medium rest on the third longest of a
//! set of writes, so on at least three events; a longer one is reported separately.

use record::units::{KIB, Nanos, saturating_sum, significant};
use record::{Cell, Evidence, EvidenceNumber, Finding, Record, SeriesAxis, metric, test};

use crate::figures::figure::writes;
use crate::figures::usability;
use crate::finding_builder::FindingBuilder;
use record::classes::SDHC_BYTES;

/// Limits above which stalls are counted, in nanoseconds; the second and third are the allowed busy
/// times of an SDHC and an SDXC card (docs/field/peers.md#wishes).
const LIMITS_NS: [u64; 4] = [100_000_000, 250_000_000, 500_000_000, 1_000_000_000];
/// Fewest events that are not an accident: fewer may be the host's.
pub(crate) const EVENTS: usize = 3;

/// A set of writes with its longest ones.
pub(crate) struct Stalls<'a> {
    /// The longest writes in descending order; at most [`EVENTS`].
    longest: Vec<(u64, &'a Cell)>,
    /// Number of writes in the set.
    pub n: u64,
    /// Cells in which they were measured.
    pub(crate) cells: Vec<&'a Cell>,
}

/// Time of a write in ns, with its cell.
#[derive(Clone, Copy)]
pub(crate) struct SlowWrite<'a> {
    pub ns: u64,
    pub cell: &'a Cell,
}

impl<'a> Stalls<'a> {
    /// The longest write, whatever its cause.
    pub fn worst(&self) -> SlowWrite<'a> {
        let (ns, cell) = self.longest[0];
        SlowWrite { ns, cell }
    }

    /// The [`EVENTS`]-th longest write: this long a write is the medium's fault. `None` with fewer
    /// writes.
    pub fn lasting(&self) -> Option<SlowWrite<'a>> {
        self.longest.get(EVENTS - 1).map(|(ns, cell)| SlowWrite { ns: *ns, cell })
    }

    /// The slowest write and the third slowest, each in its cell, of so many.
    pub fn evidence(&self) -> Vec<Evidence> {
        let number = |name: &str, slow: SlowWrite| {
            let of = EvidenceNumber::of(slow.cell, name, slow.ns as f64);
            Evidence::from(EvidenceNumber { n: Some(self.n), ..of })
        };
        let third = match self.lasting() {
            Some(third) => number("third_slowest_ns", third),
            None => "too few writes to rule out the host".into(),
        };
        vec![number("slowest_ns", self.worst()), third]
    }

    /// Number of writes and the longest of them in ns, including those before the counted ones of a
    /// cell.
    pub fn with_warm_up(&self) -> (u64, u64) {
        let before: Vec<(u64, u64)> =
            self.cells.iter().filter_map(|cell| warm_up(cell)).map(|(ns, n)| (n, ns)).collect();
        let all = before.iter().map(|(n, _)| *n).chain([self.n]);
        let longest = before.iter().map(|(_, ns)| *ns).fold(self.worst().ns, u64::max);
        (saturating_sum(all), longest)
    }

    /// Number of writes longer than this; for cells without stored latencies only the longest is
    /// counted.
    pub fn beyond(&self, limit_ns: u64) -> u64 {
        let beyond = |cell: &&Cell| match (apart(cell), &cell.histogram) {
            (Some(stalls), _) if stalls.is_among(limit_ns) => {
                stalls.longest.iter().filter(|ns| **ns > limit_ns).count() as u64
            }
            (_, Some(histogram)) if !histogram.is_empty() => histogram.count_above(limit_ns),
            _ => u64::from(longest_of(cell).0.first().is_some_and(|ns| *ns > limit_ns)),
        };
        saturating_sum(self.cells.iter().map(beyond))
    }

    /// Probability of at least [`EVENTS`] writes longer than this in another measurement of the
    /// same length.
    pub fn chance_beyond(&self, limit_ns: u64) -> f64 {
        chance_again(self.beyond(limit_ns))
    }

    /// "1 of 30099 writes took 6.90 s; the host can cause a single event": if there are fewer than
    /// [`EVENTS`] writes above the limit.
    pub fn too_few(&self, limit_ns: u64) -> Option<String> {
        let many = self.longest.iter().filter(|(ns, _)| *ns > limit_ns).count();
        let took = Nanos(self.longest[0].0);
        match many {
            0 => None,
            1 => Some(format!(
                "one write of {} took {took}; the host can cause a single event",
                self.n
            )),
            many if many < EVENTS => Some(format!(
                "{many} writes of {} took up to {took}; the host can cause so few events",
                self.n
            )),
            _ => None,
        }
    }
}

/// Probability of at least [`EVENTS`] events in another measurement of the same length, after
/// `seen` events in this one. Events are random, and their frequency is otherwise unknown
/// (Jeffreys' prior; negative binomial).
pub(crate) fn chance_again(seen: u64) -> f64 {
    let shape = seen as f64 + 0.5;
    let none = (-shape * std::f64::consts::LN_2).exp();
    1.0 - none * (1.0 + shape / 2.0 + shape * (shape + 1.0) / 8.0)
}

/// Tests with small writes like those of real work: random, sequential, in files. The others stress
/// a medium on purpose (writes beside its units, more open units than it has, consecutive flushes),
/// and their stalls say nothing about real work.
pub(crate) const EVERYDAY: [&str; 8] = [
    test::RANDOM_WRITE,
    test::SECTOR_WRITE,
    test::SEQUENTIAL_WRITE,
    test::RECORD_OPS,
    "logger",
    "sqlite",
    "rrd",
    "untar",
];
/// Tests whose times are not of single writes: a commit may write back a thousand pages, and a line
/// waits for all lines before it.
pub(crate) const SEVERAL: [&str; 2] = [test::COMMIT, test::LOG_APPEND];
/// Tests with writes like those of a database: pages at random, and a journal in files.
pub(crate) const COMMITTING: [&str; 5] =
    [test::COMMIT, "sqlite", test::RECORD_OPS, test::RANDOM_WRITE, test::SECTOR_WRITE];

/// The longest writes of up to 64 KiB among the tests that resemble real work.
pub(crate) fn longest_small_writes(record: &Record) -> Option<Stalls<'_>> {
    of_tests(record, &EVERYDAY)
}

/// The slowest single write of a run, for all screens that show one.
pub struct LongestWrite<'a> {
    /// Its time in nanoseconds.
    pub ns: u64,
    /// Number of writes in the set.
    pub n: u64,
    /// Cell in which it occurred.
    pub cell: &'a Cell,
}

/// The slowest single write of a run: of writes of up to 64 KiB at queue depth 1, in the tests that
/// resemble real work. `None` without such writes, or with sequential ones only: readers would take
/// these for random ones, which are longer on most media.
pub fn longest_write(record: &Record) -> Option<LongestWrite<'_>> {
    let stalls = longest_small_writes(record)?;
    if stalls.cells.iter().all(|cell| cell.test == test::SEQUENTIAL_WRITE) {
        return None;
    }
    let SlowWrite { ns, cell } = stalls.worst();
    Some(LongestWrite { ns, n: stalls.n, cell })
}

/// The longest writes of up to 64 KiB among these tests.
pub(crate) fn of_tests<'a>(record: &'a Record, tests: &[&str]) -> Option<Stalls<'a>> {
    of(record, |cell| tests.contains(&cell.test.as_str()), 64 * KIB)
}

/// Cells with writes of up to this many bytes. Left out are tests that count several I/Os as one
/// and have no block size (the files of `ext2-fill`), and cells with host stalls.
fn small_write_cells(
    record: &Record,
    wanted: impl Fn(&Cell) -> bool,
    up_to_bytes: u64,
) -> impl Iterator<Item = &Cell> {
    // The time of a single write does not depend on levels, and is as long in a transient state, so
    // the rule for bounds applies.
    usability::of_a_medium(record).filter(move |cell| {
        usability::of_any(cell).is_none()
            && usability::host_stalled(cell).is_none()
            && writes(cell)
            // With several in flight each waits for the others.
            && cell.params.threads.max(cell.params.queue_depth) <= 1
            && wanted(cell)
            && cell.params.block_bytes.is_some_and(|bytes| bytes <= up_to_bytes)
    })
}

/// The longest writes of up to this many bytes among these cells; `None` if there are none.
pub(crate) fn of(
    record: &Record,
    wanted: impl Fn(&Cell) -> bool,
    up_to_bytes: u64,
) -> Option<Stalls<'_>> {
    let mut stalls = Stalls { longest: Vec::new(), n: 0, cells: Vec::new() };
    for cell in small_write_cells(record, wanted, up_to_bytes) {
        let (longest, n) = longest_of(cell);
        stalls.longest.extend(longest.into_iter().filter(|ns| *ns > 0).map(|ns| (ns, cell)));
        stalls.n = stalls.n.saturating_add(n);
        stalls.cells.push(cell);
    }
    // A stable sort: of equal writes the first cell is named.
    stalls.longest.sort_by_key(|(ns, _)| std::cmp::Reverse(*ns));
    stalls.longest.truncate(EVENTS);
    (!stalls.longest.is_empty()).then_some(stalls)
}

/// The longest writes that a cell measured, at most [`EVENTS`], and their number. Without stored
/// latencies only the longest is known.
fn longest_of(cell: &Cell) -> (Vec<u64>, u64) {
    let Some(latency) = &cell.metrics.latency_ns else {
        let worst = cell
            .metrics
            .other
            .get(metric::WORST_STALL_NS)
            .filter(|worst| worst.value.is_finite() && worst.value > 0.0);
        return worst
            .map_or((Vec::new(), 0), |worst| (vec![worst.value as u64], worst.n.max(cell.ops)));
    };
    let Some(histogram) = cell.histogram.as_ref().filter(|histogram| !histogram.is_empty()) else {
        return (vec![latency.max], cell.ops.max(latency.n));
    };
    let n = histogram.len();
    if let Some(stalls) = apart(cell) {
        return (
            stalls
                .longest
                .into_iter()
                .chain(std::iter::repeat_n(stalls.others_ns, EVENTS))
                .take(EVENTS)
                .collect(),
            n,
        );
    }
    let ranks =
        (1..EVENTS as u64).filter_map(|behind| n.checked_sub(behind)).filter(|rank| *rank > 0);
    // The histogram has three digits: no other write was longer than the longest.
    let others = ranks.map(|rank| histogram.order_statistic(rank).min(latency.max.max(1)));
    (std::iter::once(latency.max).chain(others).collect(), n)
}

/// Stalls of a cell in which many writes wait for one.
struct SeparatedStalls {
    /// The slowest write of each stall, the longest first.
    longest: Vec<u64>,
    /// The slowest of the writes that waited for no stall.
    others_ns: u64,
}

impl SeparatedStalls {
    /// True if a limit is above the writes that wait for no stall.
    fn is_among(&self, limit_ns: u64) -> bool {
        limit_ns >= self.others_ns
    }
}

/// Lines that wait for each other are late because of one event. `None` for other cells.
fn apart(cell: &Cell) -> Option<SeparatedStalls> {
    let series = cell
        .series
        .iter()
        .find(|series| cell.test == test::LOG_APPEND && series.y == SeriesAxis::LatencyNs)?;
    let histogram = cell.histogram.as_ref().filter(|histogram| !histogram.is_empty())?;
    let mut longest: Vec<u64> = series.points.iter().map(|[_, ns]| *ns as u64).collect();
    longest.sort_unstable_by_key(|ns| std::cmp::Reverse(*ns));
    let late = cell.metrics.other.get(metric::LATE_LINES).map_or(0, |late| late.value as u64);
    let in_time = histogram.len().checked_sub(late).filter(|rank| *rank > 0);
    let others_ns = in_time
        .map_or(0, |rank| histogram.order_statistic(rank).min(*longest.first().unwrap_or(&0)));
    Some(SeparatedStalls { longest, others_ns })
}

/// The evaluated tests, for the evidence: "small writes of random-write, sector-write".
pub(crate) fn looked_at(record: &Record, tests: &[&str]) -> String {
    let has = |test: &&str| of_tests(record, &[test]).is_some();
    format!(
        "small writes of {}",
        tests.iter().copied().filter(|test| has(test)).collect::<Vec<_>>().join(", ")
    )
}

/// Counts from the histograms of the small writes of real work: the same writes as those of the
/// longest, if their latencies were stored.
struct StallCounts {
    writes: u64,
    bytes: u64,
    above: [u64; 4],
}

fn count(record: &Record) -> StallCounts {
    let mut count = StallCounts { writes: 0, bytes: 0, above: [0; 4] };
    let cells = small_write_cells(record, |cell| EVERYDAY.contains(&cell.test.as_str()), 64 * KIB);
    for (cell, histogram) in cells.filter_map(|cell| Some((cell, cell.histogram.as_ref()?))) {
        count.writes += histogram.len();
        count.bytes = count.bytes.saturating_add(cell.bytes);
        for (above, limit_ns) in count.above.iter_mut().zip(LIMITS_NS) {
            *above += histogram.count_above(limit_ns);
        }
    }
    count
}

/// The longest write before the counted ones of a cell, if it was longer than those: (ns, number of
/// writes). These writes fill caches that make the first writes fast, and are a separate set.
fn warm_up(cell: &Cell) -> Option<(u64, u64)> {
    let worst = cell.metrics.other.get(metric::WORST_STALL_NS)?;
    let latency = cell.metrics.latency_ns.as_ref()?;
    let n = worst.n.checked_sub(latency.n).filter(|n| *n > 0)?;
    let is_longer = worst.value.is_finite() && worst.value > latency.max as f64;
    is_longer.then_some((worst.value as u64, n))
}

/// The longest of these over all cells: (ns, number of writes, cell).
fn before(record: &Record) -> Option<(u64, u64, &Cell)> {
    let cells = small_write_cells(record, |cell| EVERYDAY.contains(&cell.test.as_str()), 64 * KIB);
    let longer = cells.filter_map(|cell| warm_up(cell).map(|(ns, n)| (ns, n, cell)));
    longer.max_by_key(|(ns, ..)| *ns)
}

/// `stalls`: the slowest small write of real work, the number of writes longer than the allowed
/// busy time of a card, and that number per GB. Results of stress tests are only evidence.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let stalls = longest_small_writes(record)?;
    let count = count(record);
    let sdhc = record.medium.capacity_bytes.is_none_or(|bytes| bytes <= SDHC_BYTES);
    let (limit_ns, card) =
        if sdhc { (LIMITS_NS[1], "up to 32 GB") } else { (LIMITS_NS[2], "above 32 GB") };
    let beyond = count.above[if sdhc { 1 } else { 2 }];
    let slowest =
        format!("The slowest of {} small writes took {}", stalls.n, Nanos(stalls.worst().ns));
    let is_too_long = stalls.lasting().is_some_and(|third| third.ns > limit_ns);
    let statement = match stalls.too_few(limit_ns) {
        Some(_) if stalls.longest.iter().filter(|(ns, _)| *ns > limit_ns).count() == 1 => {
            let n = stalls.n;
            format!(
                "One small write of {n} took {}; the host can cause a single event.",
                Nanos(stalls.worst().ns)
            )
        }
        Some(_) => format!("{slowest}; the host can cause so few events."),
        None if !is_too_long => {
            format!("{slowest}, within the {} that an SD card {card} may be busy.", Nanos(limit_ns))
        }
        None if beyond < EVENTS as u64 => {
            format!(
                "{slowest}, longer than the {} that an SD card {card} may be busy.",
                Nanos(limit_ns)
            )
        }
        None if count.writes == stalls.n => {
            format!(
                "{slowest}; {beyond} took longer than the {} that an SD card {card} may be busy.",
                Nanos(limit_ns)
            )
        }
        None => format!(
            "{slowest}; of the {} with recorded times {beyond} took longer than the {} that an SD card {card} may be busy.",
            count.writes,
            Nanos(limit_ns)
        ),
    };
    let longest_ns = stalls.worst().ns;
    let before = before(record).filter(|(ns, ..)| *ns > longest_ns);
    // Writes within the allowed busy time of a card are only evidence.
    let settling = before.filter(|(ns, ..)| *ns > limit_ns).map(|(ns, n, _)| {
        format!(" While it filled its cache before that, one of {n} took {}.", Nanos(ns))
    });
    let statement = statement + &settling.unwrap_or_default();
    let draft = if is_too_long {
        FindingBuilder::warning("stalls", statement)
    } else {
        FindingBuilder::info("stalls", statement)
    };
    let per_gb = |above: u64| {
        if count.bytes == 0 {
            "-".to_owned()
        } else {
            significant(above as f64 / (count.bytes as f64 / 1e9))
        }
    };
    let line = |(limit_ns, above): (u64, u64)| {
        format!(
            "longer than {}: {above} of {} small writes, {} per GB",
            Nanos(limit_ns),
            count.writes,
            per_gb(above)
        )
    };
    let counted = (count.writes > 0)
        .then(|| LIMITS_NS.into_iter().zip(count.above).map(line))
        .into_iter()
        .flatten();
    let before = before.map(|(ns, n, cell)| {
        let text = format!("slowest of {n} warm-up writes, which filled its cache, {}", Nanos(ns));
        Evidence::on(cell, text)
    });
    let is_provoked =
        |cell: &Cell| ![&EVERYDAY[..], &SEVERAL].concat().contains(&cell.test.as_str());
    let provoked =
        of(record, is_provoked, 64 * KIB).filter(|provoked| provoked.worst().ns > longest_ns);
    let provoked = provoked.map(|provoked| {
        let SlowWrite { ns, cell } = provoked.worst();
        let text = format!(
            "slowest of {} writes {}, provoked by tests, not counted",
            provoked.n,
            Nanos(ns)
        );
        Evidence::on(cell, text)
    });
    let draft = draft
        .notes(stalls.evidence())
        .notes(counted)
        .note(looked_at(record, &EVERYDAY))
        .notes(before)
        .notes(provoked);
    Some(draft.note("busy limits of the SD specification: 250 ms, SDXC 500 ms; three events decide, because the host can cause fewer").done())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_of_another_stall_grows_with_those_seen() {
        let percent = [0, 1, 3, 7, 10].map(|seen| (100.0 * chance_again(seen)).round());
        assert_eq!(percent, [5.0, 22.0, 58.0, 93.0, 99.0]);
    }
}
