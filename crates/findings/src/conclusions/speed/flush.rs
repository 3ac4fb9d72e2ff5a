//! Plausibility of a flush: can the data be safe when it returns
//! (docs/field/cheats.md#cheats-and-caches, docs/field/ftl.md#nand)?

use crate::figures::figure::{self, UsableEstimate};
use crate::figures::levels;
use crate::finding_builder::FindingBuilder;
use crate::phrases::{FLUSH_EMPTIES, FLUSH_LIES, FLUSH_UNTESTED};
use record::units::{MIB, interval, quantity};
use record::{Cell, EvidenceNumber, Finding, MediumKind, Record, metric, test};

/// Ratio of the rate of durable writes to the fastest write rate from which on the data is not on
/// flash: both figures are uncertain by up to 20 %.
const IMPLAUSIBLE: f64 = 1.5;
/// Shortest time in which any flash programs a page (docs/field/ftl.md#nand: SLC 200 us), halved
/// for faster parts. A flush that writes anything takes at least this much longer than an idle one.
const FASTEST_PROGRAM_NS: f64 = 100_000.0;

/// Result on the flush.
pub(crate) enum Flush<'a> {
    /// There is no cell of writes with a flush after each, or the medium is a hard disk.
    Untested,
    /// Data is reported as safe faster than the medium can write it: that rate, and the fastest
    /// write rate in bytes per second.
    Lies(UsableEstimate<'a>, f64),
    /// A flush after a write takes significantly longer than an idle one: it empties a cache.
    Empties(FlushCostTimes<'a>),
    /// A write with its flush is significantly faster than any flash.
    TooFast(FlushCostTimes<'a>),
    /// A flush costs nothing, or too little to distinguish.
    Unclear(Option<FlushCostTimes<'a>>),
}

/// The three times of a cell of `flush-cost`, as medians with their intervals.
pub(crate) struct FlushCostTimes<'a> {
    write: UsableEstimate<'a>,
    flush: UsableEstimate<'a>,
    /// Time in ns of an idle flush, which may be zero, with its interval.
    idle: EvidenceNumber,
}

impl<'a> FlushCostTimes<'a> {
    /// `None` if one of them has no interval: then they cannot be compared.
    fn of(cell: &'a Cell) -> Option<FlushCostTimes<'a>> {
        let known = |name| UsableEstimate::of(cell, name).filter(|figure| figure.ci95.is_some());
        let idle = cell.metrics.other.get(metric::IDLE_FLUSH_NS)?;
        let idle_ends = idle.ci95.filter(|[low, high]| {
            *low >= 0.0 && low <= high && high.is_finite() && idle.value >= 0.0
        })?;
        let (ci95, n) = (Some(idle_ends), Some(idle.n));
        let of = EvidenceNumber::of(cell, metric::IDLE_FLUSH_NS, idle.value);
        Some(FlushCostTimes {
            write: known(metric::WRITE_NS)?,
            flush: known(metric::FLUSH_NS)?,
            idle: EvidenceNumber { ci95, n, ..of },
        })
    }

    /// Least extra time in ns of a flush with something to write.
    fn emptying_ns(&self) -> f64 {
        let idle = self.idle.ci95.map_or(self.idle.value, |[_, high]| high);
        ends(&self.flush)[0] - idle
    }

    /// Least and most time in ns of a write and its flush.
    fn both_ns(&self) -> [f64; 2] {
        let ([write_low, write_high], [flush_low, flush_high]) =
            (ends(&self.write), ends(&self.flush));
        [write_low + flush_low, write_high + flush_high]
    }
}

fn ends(figure: &UsableEstimate) -> [f64; 2] {
    figure.ci95.unwrap_or([figure.value; 2])
}

impl Flush<'_> {
    /// Result on the flush from this record.
    pub fn of(record: &Record) -> Flush<'_> {
        let Some(small) = flushed(record).min_by_key(|cell| cell.params.block_bytes) else {
            return Flush::Untested;
        };
        if let Some((durable, fastest)) = lies(record) {
            return Flush::Lies(durable, fastest);
        }
        match FlushCostTimes::of(small) {
            Some(times) if times.both_ns()[1] < FASTEST_PROGRAM_NS => Flush::TooFast(times),
            Some(times) if times.emptying_ns() > FASTEST_PROGRAM_NS => Flush::Empties(times),
            times => Flush::Unclear(times),
        }
    }
}

/// Rate of data reported as safe, if it is significantly faster than the medium can write, with the
/// fastest long-term write rate in bytes per second. Such a flush does not wait for flash. `None`
/// for loop devices and virtual disks, which have no known flash: a host that lets bursts through
/// shows the same.
fn lies(record: &Record) -> Option<(UsableEstimate<'_>, f64)> {
    if matches!(record.medium.kind, MediumKind::Loop | MediumKind::Virtual) {
        return None;
    }
    let beginning = figure::form(record, test::SUSTAINED, "first")
        .and_then(|cell| Some(levels::mean_until(levels::along(cell)?, 256.0 * MIB as f64)?.1));
    // A fast part of the flash is flash too.
    let long = [test::SEQUENTIAL_WRITE, test::SUSTAINED, test::PRIME, test::RANDOM_FILL]
        .into_iter()
        .flat_map(|test| figure::cells(record, test));
    let long = long.filter(|cell| cell.bytes >= 16 * MIB).filter_map(|cell| {
        Some(UsableEstimate::of(cell, metric::BPS)?.value.max(typical_bps(cell)))
    });
    let fastest = long.chain(beginning).reduce(f64::max)?;
    let durable = durable(flushed(record).max_by_key(|cell| cell.params.block_bytes)?)?;
    (ends(&durable)[0] > IMPLAUSIBLE * fastest).then_some((durable, fastest))
}

/// Rate of the median write of a cell, in bytes per second: what a flush costs is a median, too, and
/// a few long writes slow a mean down. 0 if it is not known.
fn typical_bps(cell: &Cell) -> f64 {
    let median_ns = cell.metrics.latency_ns.as_ref().and_then(|latency| latency.p50);
    let known = cell.params.block_bytes.zip(median_ns.filter(|ns| *ns > 0));
    known.map_or(0.0, |(bytes, ns)| bytes as f64 * 1e9 / ns as f64)
}

/// Rate of durable data with its interval: measured, or computed from its times.
fn durable(cell: &Cell) -> Option<UsableEstimate<'_>> {
    let durable = UsableEstimate::of(cell, metric::DURABLE_BPS)?;
    if durable.ci95.is_some() {
        return Some(durable);
    }
    let [fast_ns, slow_ns] = FlushCostTimes::of(cell)?.both_ns();
    let rate = |ns: f64| cell.params.block_bytes.map(|bytes| bytes as f64 * 1e9 / ns);
    let (low, high) = rate(slow_ns).zip(rate(fast_ns))?;
    Some(UsableEstimate {
        ci95: Some([low.min(durable.value), high.max(durable.value)]),
        ..durable
    })
}

/// Small writes per second that were durable before the next began; `None` if their times have no
/// interval.
pub(crate) fn durable_writes(record: &Record) -> Option<UsableEstimate<'_>> {
    let small = figure::cells(record, test::FLUSH_COST)
        .filter(|cell| cell.params.form.as_deref() == Some("flushed"))
        .min_by_key(|cell| cell.params.block_bytes)?;
    let [fast_ns, slow_ns] = FlushCostTimes::of(small)?.both_ns();
    let ns = UsableEstimate::of(small, metric::WRITE_NS)?.value
        + UsableEstimate::of(small, metric::FLUSH_NS)?.value;
    Some(UsableEstimate {
        name: metric::IOPS,
        value: 1e9 / ns,
        ci95: Some([1e9 / slow_ns, 1e9 / fast_ns]),
        ..UsableEstimate::of(small, metric::WRITE_NS)?
    })
}

/// Rate of writes of 1 MiB that were durable before the next began.
pub(crate) fn durable_rate(record: &Record) -> Option<UsableEstimate<'_>> {
    durable(flushed(record).find(|cell| cell.params.block_bytes == Some(MIB))?)
}

/// Writes with a flush after each. Empty for a hard disk, which has no flash.
fn flushed(record: &Record) -> impl Iterator<Item = &Cell> {
    let is_flash = record.medium.rotational != Some(true);
    let is_flushed = |cell: &&Cell| {
        cell.params.form.as_deref() == Some("flushed")
            && cell.metrics.other.contains_key(metric::FLUSH_NS)
    };
    figure::cells(record, test::FLUSH_COST).filter(move |cell| is_flash && is_flushed(cell))
}

/// `flush`: the cost of making data durable, and if it is plausible.
pub(crate) fn conclude(record: &Record) -> Option<Finding> {
    let ns = |value: f64| quantity("_ns", value.max(0.0));
    let draft = match Flush::of(record) {
        Flush::Untested => return None,
        Flush::Lies(durable, fastest) => FindingBuilder::warning(
            "flush",
            format!(
                "It reports data as safe at {}, but can write only {}: {FLUSH_LIES}. Data it reports as safe can be lost in a power cut.",
                durable.text(),
                quantity(metric::BPS, fastest)
            ),
        )
        .figure(&durable)
        .note(format!("its fastest rate over 16 MiB and more: {}", quantity(metric::BPS, fastest))),
        Flush::TooFast(times) => {
            let [low, high] = times.both_ns();
            // This does not count against the medium: a cache that survives a power cut is honest,
            // and the kernel may have sent no flush at all.
            FindingBuilder::info(
                "flush",
                format!(
                    "A write and its flush together take {}. No flash programs a page that fast: either its cache survives a power cut, or its flush does not wait. Only a power cut can show which.",
                    interval("_ns", [low, high])
                ),
            )
            .figures([&times.write, &times.flush])
            .note(format!("both together: {}", interval("_ns", [low, high])))
        }
        Flush::Empties(times) => FindingBuilder::info(
            "flush",
            format!(
                "A flush after a small write takes {}, an idle flush {}: the flush empties its cache, {FLUSH_EMPTIES}.",
                ns(times.flush.value),
                ns(times.idle.value)
            ),
        )
        .figures([&times.write, &times.flush])
        .note(times.idle),
        Flush::Unclear(times) => {
            let cost = times.as_ref().map(|times| {
                format!("a flush after a small write takes {}, an idle flush {}. ", ns(times.flush.value), ns(times.idle.value))
            });
            let statement = format!(
                "Cannot be told here: {FLUSH_UNTESTED}; {}Only a power cut can show it.",
                cost.unwrap_or_else(|| "the cost of a flush is not certain enough. ".to_owned())
            );
            times.iter().fold(FindingBuilder::info("flush", statement), |draft, times| {
                draft.figures([&times.write, &times.flush]).note(times.idle.clone())
            })
        }
    };
    Some(draft.note("a flush that empties a cache takes at least 0.1 ms longer than an idle one (docs/field/cheats.md#cheats-and-caches, docs/field/ftl.md#nand)").done())
}
