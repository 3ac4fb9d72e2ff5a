//! Cells in a few words, for lines on the screen.

use record::units::{Bytes, MILLISECOND_NS, Nanos, SECOND_NS, significant};
use record::{Cell, Content, Direction, Params, Pattern, PlannedCell, Region, metric, test};
use report::CellNames;
use suite::Plan;

/// Advice for a medium that fails, if it holds data.
pub(crate) const COPY_FIRST: &str = "Copy what is on it first, if that is needed";

/// Longest time of a plan of which `used_ns` are used: "at most 10 min 00 s", or that it has no
/// limit.
pub fn longest(plan: &Plan, used_ns: u64) -> String {
    let endless: Vec<&PlannedCell> =
        plan.cells.iter().filter(|cell| !cell.has_time_limit()).collect();
    if endless.is_empty() || plan.time_limit_ns.is_some() {
        return format!("at most {}", Nanos(plan.max_ns().saturating_sub(used_ns)));
    }
    let cells = match endless.len() {
        1 => "one cell has no time limit".to_owned(),
        many => format!("{many} cells have no time limit"),
    };
    format!("as long as it takes: {cells}{}", random_writes(&endless))
}

/// "; 262144 random writes take 3 days at 1 a second, 4 min 22 s at 1000": media differ so much.
fn random_writes(cells: &[&PlannedCell]) -> String {
    let is_random = |cell: &&&PlannedCell| {
        let pattern = cell.params.pattern;
        cell.params.direction == Some(Direction::Write)
            && pattern.is_some_and(|pattern| pattern != Pattern::Sequential)
    };
    let writes =
        cells.iter().filter(is_random).map(|cell| cell.max_written_bytes / cell.block_bytes());
    let writes: u64 = writes.sum();
    if writes == 0 {
        return String::new();
    }
    let [slow, fast] = [SECOND_NS, MILLISECOND_NS].map(|ns| Nanos(writes.saturating_mul(ns)));
    format!("; {writes} random writes take {slow} at 1 a second, {fast} at 1000")
}

/// Names of planned cells, made different if two would be called the same.
pub fn names(plan: &[PlannedCell]) -> CellNames {
    CellNames::of(
        plan.iter()
            .map(|planned| (&*planned.id, cell(&planned.test, &planned.params), &planned.params)),
    )
}

/// A cell's name for people: "random-write 4 KiB", "sequential-write 1 MiB, zeros, front".
pub fn cell(test: &str, params: &Params) -> String {
    let mut words = test.to_owned();
    if let Some(form) = &params.form {
        words += &format!(" {form}");
    }
    if let Some(block) = params.block_bytes {
        words += &format!(" {}", Bytes(block));
    }
    if params.threads > 1 {
        words += &format!(" x{}", params.threads);
    }
    match params.region {
        Some(Region::Front) => words += ", front",
        Some(Region::Whole) => words += ", whole",
        _ => {}
    }
    match params.content {
        Some(Content::Zeros) if test != test::ZERO_FILL => words += ", zeros",
        Some(Content::Repeated) => words += ", repeated",
        _ => {}
    }
    words
}

/// Figure of a cell without a rate: its latencies, or else the number of its I/Os. A replay keeps
/// the rate of its recording, so that its rate is no figure.
fn typical(cell: &Cell) -> String {
    let latency = cell.metrics.latency_ns.as_ref();
    match latency.and_then(|latency| Some((latency.p50?, latency.max))) {
        Some((p50, max)) => format!("typically {}, slowest {}", Nanos(p50), Nanos(max)),
        None if cell.ops > 0 => {
            let noun = if cell.ops == 1 { "I/O" } else { "I/Os" };
            format!("done: {} {noun}, {}", cell.ops, Bytes(cell.bytes))
        }
        None if !cell.metrics.other.is_empty() || !cell.series.is_empty() => "done".to_owned(),
        None => "nothing measured".to_owned(),
    }
}

/// Main figure of a cell while its run goes on: the interval is known at the end only.
pub fn figure(cell: &Cell) -> String {
    let metrics = &cell.metrics;
    let named = [(metric::GROUPS_PER_S, "groups/s"), (metric::SEEKS_PER_S, "seeks/s")];
    for (name, unit) in named {
        if let Some(estimate) = metrics.other.get(name) {
            return format!("{} {unit}", significant(estimate.value));
        }
    }
    if let Some(mean) = metrics.other.get("mean_ms") {
        return format!("{} a write", Nanos((mean.value * 1e6) as u64));
    }
    let large = cell.bytes / cell.ops.max(1) >= 32 << 10;
    let (name, estimate) = match (metrics.bps, metrics.iops) {
        (Some(bps), _) if large => (metric::BPS, bps),
        (_, Some(iops)) => (metric::IOPS, iops),
        _ => return typical(cell),
    };
    let value = record::units::quantity(name, estimate.value);
    // Of what was measured, as in every table of the run.
    let stall = metrics.other.get(metric::WORST_STALL_NS).map(|stall| stall.value as u64);
    let worst = metrics.latency_ns.as_ref().map(|latency| latency.max).or(stall);
    let worst = worst.map(|ns| format!(", slowest {}", Nanos(ns))).unwrap_or_default();
    format!("{value}{worst}")
}
