//! Printable figures: a figure with its interval, its sample count and its stop reason, or the
//! reason why there is none.

use record::text::printable;
use record::units::{interval, quantity};
use record::{Bound, Cell, Estimate, Flag, Latency, OPEN_INTERVAL, Stop, metric, test};

use crate::{display, words};

/// A metric of a cell, ready to print.
pub struct MetricText {
    /// Name in the record (`access_time_ns`), or "latency p99".
    pub name: String,
    /// The figure, or the reason why it is withheld.
    pub shown: Shown,
}

/// Start of the names of latency statistics.
const LATENCY: &str = "latency ";

/// A number with its interval and count, or the reason why it is withheld.
pub enum Shown {
    /// A figure with its interval in words and its sample count.
    Number {
        /// The value.
        value: f64,
        /// It with its unit.
        text: String,
        /// Its interval in words.
        interval: String,
        /// Number of I/Os or repeats.
        n: u64,
    },
    /// A single figure, marked as [`ONE_RUN`]; it is never ranked and not used in sentences.
    Single {
        /// The value.
        value: f64,
        /// It with its unit.
        text: String,
        /// Number of I/Os or repeats.
        n: u64,
    },
    /// Must not be printed; the reason in a phrase.
    Withheld(String),
    /// Cannot be the medium's; the reason in a phrase.
    Impossible(String),
}

/// Text in place of the interval of a single figure.
pub const ONE_RUN: &str = "one run";
/// Explanation of [`ONE_RUN`], for the line below a table.
pub const ONE_RUN_MEANS: &str =
    "One run: measured once, or a single figure of others; without an interval.";

/// Text in place of the interval of a cell that there was no time to measure again.
const ONE_LOOK: &str = "one look";

/// Texts of a figure in a line of a table.
pub struct PrintedFigure<'a> {
    /// The figure with its unit.
    pub text: &'a str,
    /// Its interval or bound, or a note that it has none.
    pub interval: &'a str,
    /// Number of I/Os or repeats.
    pub n: u64,
}

impl Shown {
    /// The value, if it may be compared and judged.
    pub fn value(&self) -> Option<f64> {
        match self {
            Shown::Number { value, .. } => Some(*value),
            Shown::Single { .. } | Shown::Withheld(_) | Shown::Impossible(_) => None,
        }
    }

    /// The value, if it may be drawn.
    pub fn drawn(&self) -> Option<f64> {
        match self {
            Shown::Number { value, .. } | Shown::Single { value, .. } => Some(*value),
            Shown::Withheld(_) | Shown::Impossible(_) => None,
        }
    }

    /// Texts to print, or the reason why nothing is printed.
    pub fn printed(&self) -> Result<PrintedFigure<'_>, &str> {
        match self {
            Shown::Number { text, interval, n, .. } => Ok(PrintedFigure { text, interval, n: *n }),
            Shown::Single { text, n, .. } => Ok(PrintedFigure { text, interval: ONE_RUN, n: *n }),
            Shown::Withheld(why) | Shown::Impossible(why) => Err(why),
        }
    }

    /// True if it is a single figure without an interval.
    pub fn is_single(&self) -> bool {
        matches!(self, Shown::Single { .. })
    }

    /// True if the number cannot be the medium's.
    pub fn is_impossible(&self) -> bool {
        matches!(self, Shown::Impossible(_))
    }

    /// The reason why the number is withheld; `None` if it is not.
    pub fn withheld(&self) -> Option<&str> {
        match self {
            Shown::Number { .. } | Shown::Single { .. } => None,
            Shown::Withheld(why) | Shown::Impossible(why) => Some(why),
        }
    }
}

/// The reason why a cell's numbers cannot be the medium's; `None` if they can.
pub fn impossible(cell: &Cell) -> Option<String> {
    impossible_flags(cell).next().map(impossible_text)
}

/// Flags of impossible numbers. A cell that measures the cache on purpose (hdparm -T) has a valid
/// number; there the flag is a footnote.
pub(crate) fn impossible_flags(cell: &Cell) -> impl Iterator<Item = &Flag> {
    let is_meant = |flag: &Flag| {
        *flag == Flag::Cached
            && cell.test == test::BUFFERED_READ
            && cell.params.form.as_deref() == Some("cache")
    };
    cell.flags.iter().filter(move |flag| flag.is_impossible() && !is_meant(flag))
}

/// An impossibility flag, in words that begin with "impossible".
pub(crate) fn impossible_text(flag: &Flag) -> String {
    format!("impossible: {}", printable(&flag.to_string()))
}

/// Kind of a metric that is a fact and not an estimate, in one word in place of an interval: the
/// extreme of all samples, or a total. Such a metric has a sample count but no interval; `None` for
/// other metrics.
fn fact(name: &str) -> Option<&'static str> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(match name {
        metric::REAL_BYTES | metric::WRAP_BYTES | metric::CACHE_BYTES | "type" => "exact",
        metric::OVERWHELMED_BYTES => "exact",
        _ if begins(&["marks_", "probe_"]) => "count",
        metric::DEBT_NS => "total",
        metric::CPU_NS_PER_IO | metric::RUN_DELAY_NS => "mean",
        _ if begins(&["slowest_", "min_"]) => "minimum",
        _ if begins(&["worst_", "longest_", "max_"]) => "maximum",
        _ if !begins(&["replay_"]) => return None,
        _ if name.contains("_max_") => "maximum",
        _ if name.contains("_p50_") => "median",
        _ if name.contains("_p99_") => "99 of 100",
        _ if name.contains("_rate_") => "mean",
        _ if name.ends_with("_ns") || name.ends_with("_percent") => "total",
        _ => "count",
    })
}

/// True if another tool measured it, which prints no interval: importers and the reference
/// collection label these cells. Flashmark's own figures have an interval, or too few samples to be
/// shown.
pub(crate) fn is_imported(cell: &Cell) -> bool {
    !cell.label("tool").is_empty()
}

/// One estimate of a cell.
pub fn show(cell: &Cell, name: &str, estimate: &Estimate) -> Shown {
    if let Some(why) = impossible(cell) {
        return Shown::Impossible(why);
    }
    let bound = cell.bound().map(Bound::words);
    let finite = estimate.ci95.filter(|ends| ends.iter().all(|end| end.is_finite()));
    let interval = match (finite, bound, fact(name)) {
        _ if !estimate.value.is_finite() || estimate.n == 0 => {
            return Shown::Withheld("nothing measured".to_owned());
        }
        // A transient state has no level: the figure is only a bound.
        (_, Some(bound), None) => bound.to_owned(),
        // If little more than a limit is known, a figure would be too precise.
        (Some([low, high]), ..) if name == metric::REAL_BYTES && low < high / 4.0 => {
            let most = quantity(name, high);
            return Shown::Withheld(format!("no more than {most}; how much was not found in time"));
        }
        (Some(ends), ..) => match cell.variation(name) {
            Some(rounds) => words::variation(name, rounds),
            None if cell.is_one_look() => ONE_LOOK.to_owned(),
            None if estimate.is_open() => OPEN_INTERVAL.to_owned(),
            None => interval(name, ends),
        },
        (None, _, Some(what)) => what.to_owned(),
        (None, ..) if cell.is_one_look() => ONE_LOOK.to_owned(),
        (None, ..) if is_imported(cell) || estimate.n == 1 => {
            let text = quantity(name, estimate.value);
            return Shown::Single { value: estimate.value, text, n: estimate.n };
        }
        (None, ..) => {
            return Shown::Withheld(format!(
                "no interval from {}",
                words::count(estimate.n as usize, "sample")
            ));
        }
    };
    Shown::Number {
        value: estimate.value,
        text: quantity(name, estimate.value),
        interval,
        n: estimate.n,
    }
}

/// A figure that a cell has not: its numbers are impossible, or else this is the reason.
pub fn missing(cell: &Cell, why: &str) -> Shown {
    impossible(cell).map_or_else(|| Shown::Withheld(why.to_owned()), Shown::Impossible)
}

/// True if a metric of a cell is a single figure.
pub fn is_single(cell: &Cell, name: &str) -> bool {
    estimate(cell, name).is_some_and(|found| show(cell, name, found).is_single())
}

/// An estimate by its name in the record.
pub fn estimate<'a>(cell: &'a Cell, name: &str) -> Option<&'a Estimate> {
    match name {
        metric::IOPS => cell.metrics.iops.as_ref(),
        metric::BPS => cell.metrics.bps.as_ref(),
        other => cell.metrics.other.get(other),
    }
}

/// All metrics of a cell in the order of the record: rates, others by name, then latencies of
/// single I/Os. The mean latency is left out, because the record has no interval for it; the rate
/// has the same information.
pub(crate) fn figures(cell: &Cell) -> Vec<MetricText> {
    let metrics = &cell.metrics;
    let rates = [(metric::IOPS, &metrics.iops), (metric::BPS, &metrics.bps)]
        .into_iter()
        .filter_map(|(name, e)| Some((name, e.as_ref()?)));
    let others = metrics.other.iter().map(|(name, e)| (name.as_str(), e));
    let mut figures: Vec<MetricText> = rates
        .chain(others)
        .map(|(name, e)| {
            // The final rate of a fill has its interval from its curve.
            let along =
                findings::sustained_estimate(cell).filter(|_| name == metric::SUSTAINED_BPS);
            let shown = show(cell, name, along.as_ref().unwrap_or(e));
            MetricText { name: name.to_owned(), shown }
        })
        .collect();
    if let (Some(latency), None) = (&metrics.latency_ns, impossible(cell)) {
        figures.extend(latencies(latency));
    }
    figures
}

/// The figures of a cell without those of single I/Os, its main one first. What says the same in
/// another unit stands behind it: "3911 IOPS (2.00 MB/s, 256 µs)".
pub(crate) fn rates(cell: &Cell) -> Vec<MetricText> {
    let mut figures = figures(cell);
    figures.retain(|figure| !figure.name.starts_with(LATENCY));
    let order = findings::metrics_of(cell);
    figures.sort_by_key(|figure| order.first() != Some(&figure.name.as_str()));
    let mut rates: Vec<(MetricText, Vec<String>)> = Vec::new();
    for figure in figures {
        let same = rates.iter_mut().find(|(rate, _)| restates(cell, &figure.name, &rate.name));
        match (same, figure.shown.printed()) {
            (Some((_, others)), Ok(printed)) => others.push(printed.text.to_owned()),
            _ => rates.push((figure, Vec::new())),
        }
    }
    for (rate, others) in rates.iter_mut().filter(|(_, others)| !others.is_empty()) {
        if let Shown::Number { text, .. } | Shown::Single { text, .. } = &mut rate.shown {
            *text += &format!(" ({})", others.join(", "));
        }
    }
    rates.into_iter().map(|(rate, _)| rate).collect()
}

/// True if two metrics of a cell are one figure in two units: their intervals are the same share of
/// them, or of their reciprocals.
fn restates(cell: &Cell, one: &str, other: &str) -> bool {
    let shares = |name: &str| {
        let found = estimate(cell, name)?;
        Some((found.ci95?.map(|end| end / found.value), found.n))
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < record::ROUNDING;
    let (Some(([low, high], n)), Some((ends, others))) = (shares(one), shares(other)) else {
        return false;
    };
    let same = |ends: [f64; 2]| near(low, ends[0]) && near(high, ends[1]);
    n == others && (same(ends) || same([1.0 / ends[1], 1.0 / ends[0]]))
}

/// Main metric of a cell: the one of its test, or else the first that can be printed. For a
/// capacity probe it is the capacity, or the reason why it is unknown.
pub fn primary(cell: &Cell) -> Option<MetricText> {
    let order = findings::metrics_of(cell);
    let mut figures = figures(cell);
    if cell.test == test::CAPACITY {
        let found = figures.into_iter().find(|figure| figure.name == metric::REAL_BYTES);
        return Some(found.unwrap_or_else(|| MetricText {
            name: metric::REAL_BYTES.to_owned(),
            shown: missing(cell, not_found(cell)),
        }));
    }
    figures.sort_by_key(|figure| {
        order.iter().position(|name| *name == figure.name).unwrap_or(order.len())
    });
    let best = figures.iter().position(|figure| figure.shown.drawn().is_some()).unwrap_or(0);
    (!figures.is_empty()).then(|| figures.swap_remove(best))
}

/// The reason why a capacity probe has no size.
fn not_found(cell: &Cell) -> &'static str {
    match cell.stop {
        Stop::Time => "not found before its time was up",
        Stop::Error => "an error ended the probe",
        Stop::Interrupted => "the probe was interrupted",
        _ => "not found",
    }
}

/// Latency statistics of single I/Os. Percentiles with too few samples are missing in the record,
/// and here too (docs/field/statistics.md#percentiles).
fn latencies(latency: &Latency) -> Vec<MetricText> {
    let percentiles = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p95", latency.p95),
        ("p99", latency.p99),
        ("p99_9", latency.p99_9),
    ];
    let extreme = |name: &str, ns: u64, what: &str| {
        (ns > 0).then(|| time(name, latency, ns, what.to_owned()))
    };
    let interval =
        |name| percentile_interval(latency, name).unwrap_or_else(|| "no interval".to_owned());
    let middle = percentiles
        .into_iter()
        .filter_map(|(name, ns)| Some(time(name, latency, ns?, interval(name))));
    extreme("fastest", latency.min, "minimum")
        .into_iter()
        .chain(middle)
        .chain(extreme("slowest", latency.max, "maximum"))
        .collect()
}

fn time(name: &str, latency: &Latency, ns: u64, interval: String) -> MetricText {
    let shown = Shown::Number {
        value: ns as f64,
        text: quantity("_ns", ns as f64),
        interval,
        n: latency.n,
    };
    MetricText { name: format!("{LATENCY}{}", name.replace("9_9", "9.9")), shown }
}

fn percentile_interval(latency: &Latency, name: &str) -> Option<String> {
    latency.ci95.get(name).map(|ends| interval("_ns", ends.map(|ns| ns as f64)))
}

/// A percentile with its interval in one text, "1.20 ms (1.10 to 1.30 ms)"; "-" with too few
/// samples.
pub fn percentile(latency: &Latency, name: &str, ns: Option<u64>) -> String {
    let Some(ns) = ns else { return "-".to_owned() };
    // The only line break allowed is before the interval.
    let interval = percentile_interval(latency, name)
        .map(|interval| format!(" ({})", display::unbroken(&interval)))
        .unwrap_or_default();
    display::unbroken(&quantity("_ns", ns as f64)) + &interval
}

/// Longest latency of a single I/O in nanoseconds.
pub fn worst_ns(cell: &Cell) -> Option<f64> {
    if impossible(cell).is_some() {
        return None;
    }
    // Of the measured writes, like its counts; the writes before them have a metric of their own.
    let seen =
        cell.metrics.latency_ns.as_ref().map(|latency| latency.max as f64).filter(|ns| *ns > 0.0);
    let reported = cell.metrics.other.get(metric::WORST_STALL_NS).map(|e| e.value);
    seen.or(reported).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// Flags of a cell, except those for which its numbers are withheld.
pub(crate) fn caveats(cell: &Cell) -> impl Iterator<Item = &Flag> {
    let withheld: Vec<&Flag> = impossible_flags(cell).collect();
    cell.flags.iter().filter(move |flag| !withheld.contains(flag))
}
