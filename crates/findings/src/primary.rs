//! The metric that a cell is known by.

use record::{Cell, Pattern, metric};

use crate::figure::{self, UsableEstimate};

/// Metrics that are what their test is known by; elsewhere the rate is.
const PUBLISHED: [&str; 5] = [
    metric::SEEKS_PER_S,
    metric::GROUPS_PER_S,
    "mean_ms",
    metric::SUSTAINED_BPS,
    metric::REAL_BYTES,
];

/// Blocks from here on are given in bytes a second.
const LARGE: u64 = 64 << 10;

/// The metrics of a cell, the one it is known by first.
pub fn metrics_of(cell: &Cell) -> Vec<&str> {
    let metrics = &cell.metrics;
    // dd prints bytes a second whatever its block.
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

/// The rate or the time that a cell is known by, where it may be used.
pub(crate) fn primary(cell: &Cell) -> Option<UsableEstimate<'_>> {
    let is_speed = |name: &&str| larger_is_better(name).is_some();
    let mut speeds = metrics_of(cell).into_iter().filter(is_speed);
    speeds.find_map(|name| match name {
        // What a fill came to in the end has its interval in its curve.
        metric::SUSTAINED_BPS => figure::sustained_of(cell),
        name => UsableEstimate::of(cell, name),
    })
}

/// True if more of a metric is better: of rates it is, of times it is not; `None` of a count.
pub(crate) fn larger_is_better(name: &str) -> Option<bool> {
    let ends = |all: &[&str]| all.iter().any(|end| name.ends_with(end));
    match name {
        _ if ends(&["iops", "bps", "_per_s"]) => Some(true),
        _ if ends(&["_ns", "_ms"]) => Some(false),
        _ => None,
    }
}
