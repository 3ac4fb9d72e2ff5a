//! The figures of a run, drawn again from its evidence as the program that measures draws them
//! (`stats`): nothing has to be compared with what the sender states.
//!
//! Evidence is: histograms, counts of I/Os and bytes, times, rounds, windows of curves, the rate
//! that a cell paid for deferred work (it only lowers a figure), flags of the host, sizes and
//! settings. These stay as stated:
//!
//! - The tests in [`STATED`] and the works of a matrix, whose figures are not I/Os over time, or
//!   those of a part of the I/Os: a record does not have the time of each part. Commits and the end
//!   of a long write are held within what their histogram allows.
//! - Figures that a test adds in `Metrics::other`, but for access times and stalls.
//! - The interval of a single stretch, which rests on the order of its I/Os. On a real host it is at
//!   least the floor of all runs.
//! - All figures of other tools, up to what the latencies allow, if they have them.
//!
//! All of them are within the limits of kind and interface (`rules`).

use record::units::saturating_sum;
use record::{
    CHECKPOINT_COMMITS, Cell, CountUnit, Estimate, Histogram, Latency, Published, ROUNDING,
    SeriesAxis, TargetKind, metric, test,
};

use super::limits;

/// Tests whose rate is not that of all their I/Os.
const STATED: [&str; 7] = [
    test::BUFFERED_READ,
    test::COMMIT,
    test::EXT2_FILL,
    test::EXT2_FORMAT,
    test::FLUSH_COST,
    test::LOG_APPEND,
    test::REPLAY,
];
/// Label of the cells of a matrix: each work has a rate of its own kind, such as the sum over threads.
const WORK: &str = "work";
/// Tests of which every I/O is one block.
pub(super) const OF_BLOCKS: [&str; 7] = [
    test::RANDOM_WRITE,
    test::RANDOM_READ,
    test::SEQUENTIAL_WRITE,
    test::SEQUENTIAL_READ,
    test::RANDOM_FILL,
    test::ZERO_FILL,
    test::SECTOR_WRITE,
];
/// Factor that the width of a histogram's buckets explains.
const DIGITS: f64 = 1.001;
/// The same for other tools: they use coarser buckets (fio: 1.6 %), and other clocks.
const COARSE: f64 = 1.05;
/// Divisor for the shortest final part of a cell's time that has a rate of its own. Flashmark uses
/// the last quarter, less one window of a curve.
const PART: f64 = 50.0;

/// Draws all figures of a run.
pub(super) fn draw(run: &mut Published) {
    if !run.software.is_flashmark() {
        run.cells.iter_mut().for_each(cap);
        return;
    }
    let most_bps = limits::of_kind(run.kind).bps;
    let mut of_rounds = Vec::with_capacity(run.cells.len());
    for cell in &mut run.cells {
        if is_of_ios(cell) {
            set_counts(cell);
        }
        set_latencies(cell);
        of_rounds.push(is_of_ios(cell) && set_rates(cell));
        set_sustained(cell);
        set_commits(cell);
        set_curves(cell, most_bps);
    }
    if run.target != TargetKind::Simulated {
        set_intervals(&mut run.cells, &of_rounds);
    }
    for cell in run.cells.iter_mut().filter(|cell| is_of_ios(cell)) {
        let known = cell.metrics.other.get_mut(metric::ACCESS_TIME_NS);
        if let Some((time, iops)) = known.zip(cell.metrics.iops) {
            *time = stats::inverse(1e9, iops);
        }
    }
}

/// True if the rate of a cell is that of all its I/Os. That of a medium that was filled several times
/// is of the first pass.
pub(super) fn is_of_ios(cell: &Cell) -> bool {
    let test = cell.test.as_str();
    let is_of_a_part = test == test::PRIME && cell.params.passes.is_some_and(|n| n > 1);
    let is_stated = is_of_a_part || STATED.contains(&test) || cell.labels.contains_key(WORK);
    OF_BLOCKS.contains(&test) || cell.count_unit() == CountUnit::Ios && !is_stated
}

/// Histogram of a cell that has latencies.
fn histogram(cell: &Cell) -> Option<&Histogram> {
    cell.histogram.as_ref().filter(|histogram| !histogram.is_empty())
}

/// Least time of a cell, in nanoseconds: that of its latencies with as many in flight as possible.
fn least_ns(cell: &Cell) -> f64 {
    let sum_ns = |histogram: &Histogram| histogram.mean() * histogram.len() as f64;
    histogram(cell).map_or(0.0, sum_ns) / cell.params.in_flight() as f64
}

/// Lowers the rates of another tool to what its latencies allow.
fn cap(cell: &mut Cell) {
    let least_ns = least_ns(cell);
    if least_ns <= 0.0 || !is_of_ios(cell) {
        return;
    }
    let rates = [(&mut cell.metrics.iops, cell.ops), (&mut cell.metrics.bps, cell.bytes)];
    for (rate, amount) in rates {
        let most = amount as f64 * 1e9 / least_ns;
        if let Some(rate) = rate.as_mut().filter(|rate| rate.value > most * COARSE) {
            *rate = Estimate::of(most, rate.n);
        }
    }
}

/// Caps bytes and rounds of a cell by its I/Os, and its time from below.
fn set_counts(cell: &mut Cell) {
    if OF_BLOCKS.contains(&cell.test.as_str()) {
        let block = cell.params.block_bytes.unwrap_or(0);
        cell.bytes = cell.bytes.min(cell.ops.saturating_mul(block));
    }
    if saturating_sum(cell.rounds.iter().map(|round| round.ops)) != cell.ops {
        cell.rounds.clear();
    }
    let of_rounds_ns = saturating_sum(cell.rounds.iter().map(|round| round.elapsed_ns)) as f64;
    let least_ns = least_ns(cell).max(of_rounds_ns);
    if least_ns > cell.elapsed_ns as f64 * DIGITS {
        cell.elapsed_ns = least_ns as u64;
    }
    let longer = cell.elapsed_ns as f64 / of_rounds_ns;
    for round in &mut cell.rounds {
        if longer > DIGITS {
            round.elapsed_ns = (round.elapsed_ns as f64 * longer) as u64;
        }
        let most = stats::per_second(round.ops, round.elapsed_ns);
        if round.iops > most * (1.0 + ROUNDING) {
            round.iops = most;
        }
    }
}

/// Latencies from the histogram; none without it.
fn set_latencies(cell: &mut Cell) {
    let Some(longest_ns) = histogram(cell).map(Histogram::max) else {
        cell.metrics.latency_ns = None;
        return;
    };
    // A histogram knows it to three digits.
    let shortest_ns = longest_ns - longest_ns / 1000;
    if let Some(stall) = cell.metrics.other.get_mut(metric::WORST_STALL_NS) {
        stall.value = stall.value.max(shortest_ns as f64);
    }
    let known = histogram(cell).zip(cell.metrics.latency_ns.as_ref());
    let Some((histogram, stated)) = known else { return };
    if stated.n < histogram.len() && !is_of_ios(cell) {
        return;
    }
    let worst_ns = stated.max.clamp(shortest_ns, longest_ns);
    let mut drawn = if cell.rounds.is_empty() {
        Latency { ci95: stated.ci95.clone(), ..stats::latency(histogram, worst_ns) }
    } else {
        stats::latency_of_rounds(histogram, worst_ns, Some(stated))
    };
    drawn.ci95.retain(|name, _| stated.ci95.contains_key(name));
    for (name, at) in [("p50", drawn.p50), ("p99", drawn.p99)] {
        match (drawn.ci95.get_mut(name), at) {
            (Some([low, high]), Some(at)) => (*low, *high) = ((*low).min(at), (*high).max(at)),
            _ => drop(drawn.ci95.remove(name)),
        }
    }
    drawn.ci95.retain(|name, _| name == "p50" || name == "p99");
    cell.metrics.latency_ns = Some(drawn);
}

/// Rates from I/Os, bytes and times; true if rounds give the interval.
fn set_rates(cell: &mut Cell) -> bool {
    let metrics = &mut cell.metrics;
    if cell.ops == 0 || cell.elapsed_ns == 0 {
        (metrics.iops, metrics.bps) = (None, None);
        return false;
    }
    let stated = [metrics.iops, metrics.bps];
    if metrics.iops.is_none() {
        metrics.bps = None;
    }
    let has_interval = metrics.iops.is_some_and(|iops| iops.ci95.is_some());
    let is_of_rounds = stats::set_rates(cell);
    let metrics = &mut cell.metrics;
    for (stated, drawn) in stated.iter().zip([&mut metrics.iops, &mut metrics.bps]) {
        if !has_interval {
            drawn.iter_mut().for_each(|rate| rate.ci95 = None);
        }
        settle(*stated, drawn);
    }
    has_interval && is_of_rounds
}

/// Keeps what was stated where it differs by rounding only, so that a run keeps its name. An interval
/// that does not have its figure inside is dropped.
fn settle(stated: Option<Estimate>, drawn: &mut Option<Estimate>) {
    let (Some(stated), Some(rate)) = (stated, drawn.as_mut()) else { return };
    let is_near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b.abs();
    let ends = |rate: &Estimate| rate.ci95.unwrap_or([rate.value; 2]);
    let [one, other] = [ends(&stated), ends(rate)];
    let is_same = is_near(stated.value, rate.value)
        && is_near(one[0], other[0])
        && is_near(one[1], other[1])
        && stated.ci95.is_some() == rate.ci95.is_some();
    if is_same {
        *rate = Estimate { n: rate.n, ..stated };
    }
    rate.ci95 = rate.ci95.filter(|[low, high]| *low <= rate.value && rate.value <= *high);
}

/// Intervals on a real host: with its drift where rounds show it, and never below the floor.
fn set_intervals(cells: &mut [Cell], of_rounds: &[bool]) {
    let drift = stats::drift_of_run(cells);
    for (cell, is_of_rounds) in cells.iter_mut().zip(of_rounds) {
        let Some(Estimate { value, ci95: Some(ends), .. }) = cell.metrics.iops else { continue };
        let of_run = if *is_of_rounds { drift } else { None };
        let stated = [cell.metrics.iops, cell.metrics.bps];
        let far = if *is_of_rounds {
            stats::distances_on_a_host(cell, of_run)
        } else {
            Some(ends.map(|end| (end / value).ln().abs().max(stats::FLOOR)))
        };
        let Some([slow, fast]) = far else { continue };
        stats::set_interval(cell, [value * (-slow).exp(), value * fast.exp()]);
        settle(stated[0], &mut cell.metrics.iops);
        settle(stated[1], &mut cell.metrics.bps);
    }
}

/// Holds commits a second within what the times of commits allow: a commit may also bear its share of
/// one checkpoint, which is in the time of the cell, but in no commit.
fn set_commits(cell: &mut Cell) {
    if cell.count_unit() != CountUnit::Commits {
        return;
    }
    let bounds = histogram(cell).map(|histogram| {
        let (mean_ns, n) = (histogram.mean(), histogram.len());
        let checkpoint_ns = (cell.elapsed_ns as f64 - mean_ns * n as f64).max(0.0);
        let share_ns = checkpoint_ns / n.min(CHECKPOINT_COMMITS) as f64;
        [1e9 / (mean_ns + share_ns) / DIGITS, 1e9 / mean_ns * DIGITS]
    });
    hold(&mut cell.metrics.iops, bounds);
}

/// Holds the rate at the end of a cell within those of its slowest and its fastest I/Os in
/// succession. Other tests have none.
fn set_sustained(cell: &mut Cell) {
    let mut rate = cell.metrics.other.remove(metric::SUSTAINED_BPS);
    let bounds = rate.and_then(|_| rates_of_a_part(cell)).filter(|_| cell.test == test::SUSTAINED);
    hold(&mut rate, bounds);
    cell.metrics.other.extend(rate.map(|rate| (metric::SUSTAINED_BPS.to_owned(), rate)));
}

/// Holds a figure within bounds; none without them.
fn hold(figure: &mut Option<Estimate>, bounds: Option<[f64; 2]>) {
    let Some((rate, [low, high])) = figure.as_mut().zip(bounds) else {
        *figure = None;
        return;
    };
    if !(low..=high).contains(&rate.value) {
        *rate = Estimate::of(rate.value.clamp(low, high), rate.n);
    }
}

/// Bytes per second of the slowest and of the fastest I/Os that together fill a part of the time.
fn rates_of_a_part(cell: &Cell) -> Option<[f64; 2]> {
    let buckets: Vec<(u64, u64)> = histogram(cell)?.buckets().collect();
    let all_ns: f64 = buckets.iter().map(|(ns, count)| *ns as f64 * *count as f64).sum();
    let io_bytes = cell.bytes as f64 / cell.ops as f64 * cell.params.in_flight() as f64;
    let rate = |buckets: &mut dyn Iterator<Item = &(u64, u64)>| {
        let (mut ios, mut took_ns) = (0.0, 0.0);
        for (ns, count) in buckets {
            let left = ((all_ns / PART - took_ns) / *ns as f64).ceil().clamp(0.0, *count as f64);
            ios += left;
            took_ns += left * *ns as f64;
        }
        ios * io_bytes * 1e9 / took_ns
    };
    let rates = [rate(&mut buckets.iter().rev()) / DIGITS, rate(&mut buckets.iter()) * DIGITS];
    rates.iter().all(|rate| rate.is_finite()).then_some(rates)
}

/// Joins windows of curves that are too short for a rate; none is faster than any medium of the kind.
fn set_curves(cell: &mut Cell, most_bps: f64) {
    for curve in cell.series.iter_mut().filter(|curve| curve.y == SeriesAxis::Bps) {
        let start = match curve.x {
            SeriesAxis::Bytes => 0.0,
            SeriesAxis::OffsetBytes => cell.params.span_offset_bytes.unwrap_or(0) as f64,
            _ => continue,
        };
        let mut from = start;
        let window = |[to, bps]: &[f64; 2]| {
            let bytes = (to - std::mem::replace(&mut from, *to)).max(0.0);
            (bytes, if bytes > 0.0 { bytes * 1e9 / bps.min(most_bps) } else { 0.0 })
        };
        let windows: Vec<(f64, f64)> = curve.points.iter().map(window).collect();
        let is_short = |(bytes, ns): &(f64, f64)| *bytes > 0.0 && *ns < stats::SHORTEST_NS / DIGITS;
        if windows.len() > 1 && windows.iter().any(is_short) {
            let joined = stats::rates_of(windows);
            curve.points = joined.into_iter().map(|(at, bps)| [start + at, bps]).collect();
        }
        curve.points.iter_mut().for_each(|[_, bps]| *bps = bps.min(most_bps));
    }
}
