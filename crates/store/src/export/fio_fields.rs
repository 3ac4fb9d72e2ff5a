//! Fields of fio's JSON for one direction of a job, made from a cell: rates, times, and shares of
//! I/Os by time.
//!
//! It has all fields that fio's own `fio_jsonplus_clat2csv` and fio-plot read. Neither checks that
//! a field exists.

use std::ops::RangeInclusive;

use record::units::KIB;
use record::{Cell, Histogram, Latency, SeriesAxis};
use serde_json::{Map, Value, json};

/// Upper end of fio's last bucket, 2^34 - 2^26 ns; its tool never ends at a longer one.
const LAST_BUCKET_NS: u64 = 17_112_760_320;

/// Fields of a direction without I/O.
pub(super) fn nothing() -> Value {
    way(0, 0, [0.0; 2], 0, &[], None, None)
}

/// Fields of the direction in which the cell moved data.
pub(super) fn of_cell(cell: &Cell) -> Value {
    let value = |estimate: Option<record::Estimate>| estimate.map_or(0.0, |found| found.value);
    let (iops, bps) = (value(cell.metrics.iops).max(0.0), value(cell.metrics.bps).max(0.0));
    way(
        cell.bytes,
        cell.ops,
        [iops, bps],
        cell.elapsed_ns,
        &samples(cell),
        cell.metrics.latency_ns.as_ref(),
        cell.histogram.as_ref(),
    )
}

fn way(
    bytes: u64,
    ops: u64,
    [iops, bps]: [f64; 2],
    elapsed_ns: u64,
    samples: &[f64],
    latency: Option<&Latency>,
    histogram: Option<&Histogram>,
) -> Value {
    let none = Latency::default();
    let latency = latency.unwrap_or(&none);
    let deviation = histogram.filter(|found| !found.is_empty()).map_or(0.0, deviation_ns);
    let mut detail = times(latency, deviation);
    detail["percentile"] = percentiles(latency);
    if let Some(bins) = histogram.and_then(bins) {
        detail["bins"] = bins;
    }
    let kib_per_op = if ops > 0 { bytes as f64 / ops as f64 / KIB as f64 } else { 0.0 };
    let [least, most, mean, spread] = spread(samples);
    json!({
        "io_bytes": bytes,
        "io_kbytes": bytes / KIB,
        "bw_bytes": bps.round(),
        "bw": (bps / KIB as f64).round(),
        "iops": iops,
        "runtime": (elapsed_ns as f64 / 1e6).round(),
        "total_ios": ops,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": times(&none, 0.0),
        "clat_ns": detail,
        "lat_ns": times(latency, deviation),
        "bw_min": (least * kib_per_op).round(),
        "bw_max": (most * kib_per_op).round(),
        "bw_agg": if samples.is_empty() { 0.0 } else { 100.0 },
        "bw_mean": mean * kib_per_op,
        "bw_dev": spread * kib_per_op,
        "bw_samples": samples.len(),
        "iops_min": least.round(),
        "iops_max": most.round(),
        "iops_mean": mean,
        "iops_stddev": spread,
        "iops_samples": samples.len(),
    })
}

fn times(latency: &Latency, deviation_ns: f64) -> Value {
    json!({
        "min": latency.min,
        "max": latency.max,
        "mean": latency.mean,
        "stddev": deviation_ns,
        "N": latency.n,
    })
}

/// Rate over time in IOPS, if the cell has such a curve.
fn samples(cell: &Cell) -> Vec<f64> {
    let per_op = if cell.ops > 0 { cell.bytes as f64 / cell.ops as f64 } else { 0.0 };
    let unit = |axis| match axis {
        SeriesAxis::Iops => Some(1.0),
        SeriesAxis::Bps if per_op > 0.0 => Some(per_op),
        _ => None,
    };
    let over_time = cell.series.iter().filter(|series| series.x == SeriesAxis::ElapsedNs);
    let curve = over_time.filter_map(|series| Some((series, unit(series.y)?))).next();
    curve.map_or_else(Vec::new, |(series, unit)| {
        series.points.iter().map(|[_, rate]| rate / unit).filter(|rate| rate.is_finite()).collect()
    })
}

/// Minimum, maximum, mean and standard deviation.
fn spread(samples: &[f64]) -> [f64; 4] {
    if samples.is_empty() {
        return [0.0; 4];
    }
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let squares = samples.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
    let most = samples.iter().copied().fold(0.0, f64::max);
    [least, most, mean, (squares / (n - 1.0).max(1.0)).sqrt()]
}

fn deviation_ns(histogram: &Histogram) -> f64 {
    let mean = histogram.mean();
    let squares: f64 =
        histogram.buckets().map(|(ns, n)| (ns as f64 - mean).powi(2) * n as f64).sum();
    (squares / (histogram.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// Percentiles under fio's names; those that too few samples support are left out, as in the
/// record.
fn percentiles(latency: &Latency) -> Value {
    let all = [
        ("50.000000", latency.p50),
        ("90.000000", latency.p90),
        ("95.000000", latency.p95),
        ("99.000000", latency.p99),
        ("99.900000", latency.p99_9),
    ];
    all.into_iter()
        .filter_map(|(name, ns)| Some((name.to_owned(), Value::from(ns?))))
        .collect::<Map<_, _>>()
        .into()
}

fn bins(histogram: &Histogram) -> Option<Value> {
    let mut bins: Map<String, Value> = Map::new();
    let mut beyond = 0;
    for (ns, count) in histogram.buckets() {
        if ns < LAST_BUCKET_NS {
            bins.insert(ns.to_string(), count.into());
        } else {
            beyond += count;
            bins.insert(LAST_BUCKET_NS.to_string(), beyond.into());
        }
    }
    (!bins.is_empty()).then_some(bins.into())
}

/// Upper ends of fio's time classes, the same in ns and us; ms has two more.
const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Shares of the I/Os in percent by time class, as `latency_ns`, `latency_us` and `latency_ms`:
/// each class ends at its time and begins at the one before.
pub(super) fn shares(cell: &Cell) -> [(&'static str, Value); 3] {
    let all = cell.histogram.as_ref().map_or(0, Histogram::len).max(1) as f64;
    let share = |range: RangeInclusive<u64>| {
        let buckets = cell.histogram.iter().flat_map(Histogram::buckets);
        let within = buckets.filter(|(ns, _)| range.contains(ns));
        Value::from(within.map(|(_, n)| n).sum::<u64>() as f64 / all * 100.0)
    };
    let mut from = 0;
    let mut classes = |unit: u64| {
        let mut classes = Map::new();
        for end in ENDS {
            classes.insert(end.to_string(), share(from..=end * unit));
            from = end * unit + 1;
        }
        classes
    };
    let (ns, us, mut ms) = (classes(1), classes(1000), classes(1_000_000));
    ms.insert("2000".to_owned(), share(1_000_000_001..=2_000_000_000));
    ms.insert(">=2000".to_owned(), share(2_000_000_001..=u64::MAX));
    [("latency_ns", ns.into()), ("latency_us", us.into()), ("latency_ms", ms.into())]
}
