//! Sum of the clones of a job (`numjobs`), which fio may list one by one.

use record::{Cell, Estimate, Flag, Latency, Stop};

use crate::imported_run::Fill;

/// Adds one of several equal jobs to the first: rates and counts add up, extremes stay extremes,
/// percentiles cannot be added.
pub(super) fn add_up(sum: &mut Cell, other: Cell) {
    let add = |a: &mut Option<Estimate>, b: Option<Estimate>| match (a, b) {
        (Some(a), Some(b)) => {
            a.value += b.value;
            a.ci95 = None;
            a.n = a.n.saturating_add(b.n);
        }
        (a, b) => *a = a.or(b),
    };
    let (is_first, is_nothing) = (sum.ops == 0, other.ops == 0);
    add(&mut sum.metrics.iops, other.metrics.iops);
    add(&mut sum.metrics.bps, other.metrics.bps);
    sum.ops = sum.ops.saturating_add(other.ops);
    sum.bytes = sum.bytes.saturating_add(other.bytes);
    sum.written_bytes = sum.written_bytes.saturating_add(other.written_bytes);
    sum.elapsed_ns = sum.elapsed_ns.max(other.elapsed_ns);
    if other.stop == Stop::Error {
        (sum.stop, sum.reason) = (other.stop, other.reason);
    }
    match (&mut sum.metrics.latency_ns, other.metrics.latency_ns) {
        (Some(a), Some(b)) => *a = both(a, &b),
        (a @ None, b) => *a = b,
        (Some(_), None) => {}
    }
    match (&mut sum.histogram, other.histogram) {
        (Some(a), Some(b)) => a.merge(&b),
        (a @ None, b) if is_first => *a = b,
        (Some(_), None) if is_nothing => {}
        (a, _) => *a = None,
    }
    if let (Some(times), Some(histogram)) = (sum.metrics.latency_ns.clone(), sum.histogram.clone())
    {
        // Histogram and percentiles are of the same times.
        (&mut *sum).times(times, |share| Some(histogram.quantile(share) as f64));
    }
    sum.metrics.other.clear();
    // A caveat about one of them does not hold for all.
    let is_of_one = |text: &str| {
        text.starts_with("percentiles")
            || text.starts_with("the interval")
            || text.contains("is kept as completion_")
    };
    for flag in other.flags {
        if !sum.flags.contains(&flag) {
            sum.flags.push(flag);
        }
    }
    sum.flags.retain(|flag| !matches!(flag, Flag::Note { text } if is_of_one(text)));
    sum.note("added up from the jobs that fio lists one by one");
}

/// Merges latencies; percentiles cannot be merged.
fn both(a: &Latency, b: &Latency) -> Latency {
    let (n, m) = (a.n.max(1) as f64, b.n.max(1) as f64);
    Latency {
        n: a.n.saturating_add(b.n),
        min: a.min.min(b.min),
        mean: (a.mean * n + b.mean * m) / (n + m),
        max: a.max.max(b.max),
        ..Latency::default()
    }
}
