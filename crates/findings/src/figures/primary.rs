//! Main metric of a cell.

use record::{Cell, Pattern, metric};

use crate::figures::figure::{self, UsableEstimate};

/// Metrics that are the main one of their test; for other tests it is the rate.
const PUBLISHED: [&str; 5] = [
    metric::SEEKS_PER_S,
    metric::GROUPS_PER_S,
    "mean_ms",
    metric::SUSTAINED_BPS,
    metric::REAL_BYTES,
];

/// Block size from which on rates are in bytes per second.
const LARGE: u64 = 64 << 10;

/// Metrics of a cell, the main one first.
pub fn metrics_of(cell: &Cell) -> Vec<&str> {
    let metrics = &cell.metrics;
    // dd prints bytes per second for any block size.
    let is_large = cell.params.block_bytes.is_some_and(|bytes| bytes >= LARGE);
    let is_in_bytes = cell.params.pattern == Some(Pattern::Sequential)
        && (is_large || cell.label("tool") == "dd");
    let iops = metrics.iops.map(|_| metric::IOPS);
    let bps = metrics.bps.map(|_| metric::BPS);
    let rates = if is_in_bytes { [bps, iops] } else { [iops, bps] };
    let (known, others): (Vec<&str>, Vec<&str>) =
        metrics.other.keys().map(String::as_str).partition(|name| PUBLISHED.contains(name));
    known.into_iter().chain(rates.into_iter().flatten()).chain(others).collect()
}

/// Main rate or time of a cell, if it may be used.
pub(crate) fn primary(cell: &Cell) -> Option<UsableEstimate<'_>> {
    let is_speed = |name: &&str| larger_is_better(name).is_some();
    let mut speeds = metrics_of(cell).into_iter().filter(is_speed);
    speeds.find_map(|name| match name {
        // The final rate of a fill has its interval from its curve.
        metric::SUSTAINED_BPS => figure::sustained_of(cell),
        name => UsableEstimate::of(cell, name),
    })
}

/// True if more of a metric is better (rates), false for times; `None` for a count.
pub(crate) fn larger_is_better(name: &str) -> Option<bool> {
    let ends = |all: &[&str]| all.iter().any(|end| name.ends_with(end));
    match name {
        _ if ends(&["iops", "bps", "_per_s"]) => Some(true),
        _ if ends(&["_ns", "_ms"]) => Some(false),
        _ => None,
    }
}
