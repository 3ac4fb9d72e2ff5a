//! What may be printed: a figure with its interval, its sample count and its stop reason, or the
//! reason why there is none.

use record::{Bound, Cell, Estimate, Flag, Latency, OPEN_INTERVAL, Stop, metric, test};

use crate::{display, words};

/// A metric of a cell, ready to print.
pub(crate) struct MetricText {
    /// Name in the record (`access_time_ns`), or "latency p99".
    pub name: String,
    /// What is shown of it.
    pub shown: Shown,
}

impl MetricText {
    /// True if it is what single I/Os took.
    pub fn is_latency(&self) -> bool {
        self.name.starts_with(LATENCY)
    }
}

/// How the names of order statistics of single I/Os begin.
const LATENCY: &str = "latency ";

/// A number with all it needs, or why it is withheld.
pub(crate) enum Shown {
    /// May be printed, with its interval in words and its sample count.
    Number { value: f64, text: String, interval: String, n: u64 },
    /// May be printed, marked as [`ONE_RUN`]; never ranked, and no part of a sentence.
    Single { value: f64, text: String, n: u64 },
    /// Must not be printed; one phrase.
    Withheld(String),
}

/// What stands where the interval of a single figure would.
pub(crate) const ONE_RUN: &str = "one run";
/// What that means, for the line below a table.
pub(crate) const ONE_RUN_MEANS: &str =
    "One run: measured once, or a single figure of others; without an interval.";

/// What stands where the interval would of a cell that there was no time to measure again.
const ONE_LOOK: &str = "one look";

/// What a line of a table tells of a figure.
pub(crate) struct PrintedFigure<'a> {
    /// The figure with its unit.
    pub text: &'a str,
    /// Its interval, what bounds it, or that it has none.
    pub interval: &'a str,
    /// How many I/Os or repeats it rests on.
    pub n: u64,
}

impl Shown {
    /// The value, where it may be compared and judged.
    pub fn value(&self) -> Option<f64> {
        match self {
            Shown::Number { value, .. } => Some(*value),
            Shown::Single { .. } | Shown::Withheld(_) => None,
        }
    }

    /// The value, where it may be drawn.
    pub fn drawn(&self) -> Option<f64> {
        match self {
            Shown::Number { value, .. } | Shown::Single { value, .. } => Some(*value),
            Shown::Withheld(_) => None,
        }
    }

    /// What is printed of it, or why nothing is.
    pub fn printed(&self) -> Result<PrintedFigure<'_>, &str> {
        match self {
            Shown::Number { text, interval, n, .. } => Ok(PrintedFigure { text, interval, n: *n }),
            Shown::Single { text, n, .. } => Ok(PrintedFigure { text, interval: ONE_RUN, n: *n }),
            Shown::Withheld(why) => Err(why),
        }
    }

    /// True if it is a single figure.
    pub fn is_single(&self) -> bool {
        matches!(self, Shown::Single { .. })
    }

    /// The reason why there is no number, where there is none.
    pub fn withheld(&self) -> Option<&str> {
        match self {
            Shown::Number { .. } | Shown::Single { .. } => None,
            Shown::Withheld(why) => Some(why),
        }
    }
}

/// The reason why a cell's numbers cannot be the medium's, where they cannot.
pub(crate) fn impossible(cell: &Cell) -> Option<String> {
    impossible_flags(cell).next().map(said_impossible)
}

/// The flags that say so. A cell that measures the cache on purpose (hdparm -T) has a number of its
/// own; its flag is a footnote there.
pub(crate) fn impossible_flags(cell: &Cell) -> impl Iterator<Item = &Flag> {
    let is_meant = |flag: &Flag| {
        *flag == Flag::Cached
            && cell.test == test::BUFFERED_READ
            && cell.params.form.as_deref() == Some("cache")
    };
    cell.flags.iter().filter(move |flag| flag.is_impossible() && !is_meant(flag))
}

/// Such a flag, in words that begin with "impossible".
pub(crate) fn said_impossible(flag: &Flag) -> String {
    let text = words::clean(&flag.to_string());
    if text.starts_with("impossible") { text } else { format!("impossible: {text}") }
}

/// What a metric is that is a fact and no estimate, which has a sample count but no interval: the
/// largest or smallest there was, or what was counted over all of it; one word, which stands where
/// an interval would.
fn fact(name: &str) -> Option<&'static str> {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    Some(match name {
        metric::REAL_BYTES => "exact",
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
/// collection say which. What we measure ourselves has an interval, or too few samples to be shown.
pub(crate) fn is_of_others(cell: &Cell) -> bool {
    !cell.label("tool").is_empty()
}

/// One estimate of a cell.
pub(crate) fn show(cell: &Cell, name: &str, estimate: &Estimate) -> Shown {
    if let Some(why) = impossible(cell) {
        return Shown::Withheld(why);
    }
    let bound = cell.bound().map(Bound::words);
    let finite = estimate.ci95.filter(|ends| ends.iter().all(|end| end.is_finite()));
    let interval = match finite {
        _ if !estimate.value.is_finite() || estimate.n == 0 => {
            return Shown::Withheld("nothing measured".to_owned());
        }
        // A passing state has no level: the figure bounds it on one side, and that is all it says.
        _ if let Some(bound) = bound.filter(|_| fact(name).is_none()) => bound.to_owned(),
        // Where little is known but a limit, a figure would say more than is known.
        Some([low, high]) if name == metric::REAL_BYTES && low < high / 4.0 => {
            let most = words::quantity(name, high);
            return Shown::Withheld(format!("no more than {most}; how much was not found in time"));
        }
        Some(_) if let Some(rounds) = cell.variation(name) => words::variation(name, rounds),
        Some(_) if cell.is_one_look() => ONE_LOOK.to_owned(),
        Some(_) if estimate.is_open() => OPEN_INTERVAL.to_owned(),
        Some(ends) => words::interval(name, ends),
        None if let Some(what) = fact(name) => what.to_owned(),
        None if is_of_others(cell) || estimate.n == 1 => {
            let text = words::quantity(name, estimate.value);
            return Shown::Single { value: estimate.value, text, n: estimate.n };
        }
        None => {
            return Shown::Withheld(format!(
                "no interval from {}",
                words::count(estimate.n as usize, "sample")
            ));
        }
    };
    Shown::Number {
        value: estimate.value,
        text: words::quantity(name, estimate.value),
        interval,
        n: estimate.n,
    }
}

/// True if what a cell says of a metric is a single figure.
pub(crate) fn is_single(cell: &Cell, name: &str) -> bool {
    estimate(cell, name).is_some_and(|found| show(cell, name, found).is_single())
}

/// An estimate under the name it has in the record.
pub(crate) fn estimate<'a>(cell: &'a Cell, name: &str) -> Option<&'a Estimate> {
    match name {
        metric::IOPS => cell.metrics.iops.as_ref(),
        metric::BPS => cell.metrics.bps.as_ref(),
        other => cell.metrics.other.get(other),
    }
}

/// All metrics of a cell in the order of the record: rates, everything else by name, then what
/// single I/Os took. The mean latency is left out, because the record has no interval for it; the
/// rate says the same.
pub(crate) fn figures(cell: &Cell) -> Vec<MetricText> {
    let metrics = &cell.metrics;
    let rates = [(metric::IOPS, &metrics.iops), (metric::BPS, &metrics.bps)]
        .into_iter()
        .filter_map(|(name, e)| Some((name, e.as_ref()?)));
    let others = metrics.other.iter().map(|(name, e)| (name.as_str(), e));
    let mut figures: Vec<MetricText> = rates
        .chain(others)
        .map(|(name, e)| {
            // What a fill came to in the end has its interval in its curve.
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

/// What a cell is about: the metric it is known by, or else the first that can be printed. Of a
/// probe of the capacity that is the capacity, or why it is not known, and nothing else.
pub(crate) fn primary(cell: &Cell) -> Option<MetricText> {
    let order = findings::metrics_of(cell);
    let mut figures = figures(cell);
    if cell.test == test::CAPACITY {
        let found = figures.into_iter().find(|figure| figure.name == metric::REAL_BYTES);
        return Some(found.unwrap_or_else(|| MetricText {
            name: metric::REAL_BYTES.to_owned(),
            shown: Shown::Withheld(impossible(cell).unwrap_or_else(|| not_found(cell).to_owned())),
        }));
    }
    figures.sort_by_key(|figure| {
        order.iter().position(|name| *name == figure.name).unwrap_or(order.len())
    });
    let best = figures.iter().position(|figure| figure.shown.drawn().is_some()).unwrap_or(0);
    (!figures.is_empty()).then(|| figures.swap_remove(best))
}

/// The reason why a probe of the capacity has no size.
fn not_found(cell: &Cell) -> &'static str {
    match cell.stop {
        Stop::Time => "not found before its time was up",
        Stop::Error => "an error ended the probe",
        Stop::Interrupted => "the probe was interrupted",
        _ => "not found",
    }
}

/// Order statistics of single I/Os; percentiles that too few samples support are absent from the
/// record and stay so (docs/field/statistics.md#percentiles).
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
        text: words::quantity("_ns", ns as f64),
        interval,
        n: latency.n,
    };
    MetricText { name: format!("{LATENCY}{}", name.replace("9_9", "9.9")), shown }
}

fn percentile_interval(latency: &Latency, name: &str) -> Option<String> {
    latency.ci95.get(name).map(|ends| words::interval("_ns", ends.map(|ns| ns as f64)))
}

/// A percentile with its interval in one text, "1.20 ms (1.10 to 1.30 ms)"; "-" where too few
/// samples support it.
pub(crate) fn percentile(latency: &Latency, name: &str, ns: Option<u64>) -> String {
    let Some(ns) = ns else { return "-".to_owned() };
    // Broken before the interval, where there is no room, and nowhere else.
    let interval = percentile_interval(latency, name)
        .map(|interval| format!(" ({})", display::unbroken(&interval)))
        .unwrap_or_default();
    display::unbroken(&words::quantity("_ns", ns as f64)) + &interval
}

/// The longest a single I/O took, in nanoseconds.
pub(crate) fn worst_ns(cell: &Cell) -> Option<f64> {
    if impossible(cell).is_some() {
        return None;
    }
    // Of the writes that were measured, as its counts are; what came before them is a metric of its
    // own.
    let seen =
        cell.metrics.latency_ns.as_ref().map(|latency| latency.max as f64).filter(|ns| *ns > 0.0);
    let told = cell.metrics.other.get(metric::WORST_STALL_NS).map(|e| e.value);
    seen.or(told).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// The flags of a cell that are not already said by withholding its numbers.
pub(crate) fn caveats(cell: &Cell) -> impl Iterator<Item = &Flag> {
    let withheld: Vec<&Flag> = impossible_flags(cell).collect();
    cell.flags.iter().filter(move |flag| !withheld.contains(flag))
}
