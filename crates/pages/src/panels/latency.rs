//! Latency distributions: the share of I/Os that take longer than a time, with the slowest one
//! marked.

use record::units::{Bytes, quantity};
use record::{Cell, Histogram, Record, test};
use report::tables::Table;
use report::{figure, headline, words, yardstick};

use super::Panel;
use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, HUES, Reference, ReferenceAxis,
    Scale, Stroke, Style,
};

/// Most points of a curve; more cannot be distinguished on a page.
const MAX_POINTS: usize = 48;
/// A tail is drawn up to the point beyond which this many samples remain: fewer do not support a
/// percentile (docs/field/statistics.md#percentiles: p99 needs 299).
const BEYOND: u64 = 3;

/// Random write at each size.
pub(super) fn random_writes(record: &Record) -> Panel {
    panel(
        record,
        test::RANDOM_WRITE,
        "How long a random write takes",
        &headline::RANDOM_WRITE_SIZES,
    )
}

/// Random read at a few sizes; the table has the same.
pub(super) fn random_reads(record: &Record) -> Panel {
    panel(
        record,
        test::RANDOM_READ,
        "How long a random read takes",
        &[512, 4 << 10, 16 << 10, 64 << 10, 1 << 20],
    )
}

fn panel(record: &Record, test: &str, title: &str, sizes: &[u64]) -> Panel {
    let cells: Vec<&Cell> = sizes
        .iter()
        .filter_map(|&size| findings::standard_cell(record, test, Some(size)))
        .filter(|cell| figure::impossible(cell).is_none())
        .collect();
    let mut table =
        Table::new(&["#Block", "#n", "#p50", "#p90", "#p99", "#p99.9", "#Slowest", "Stop"]);
    let mut series = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        push(&mut table, cell);
        if let Some(histogram) = cell.histogram.as_ref().filter(|histogram| !histogram.is_empty()) {
            let name =
                cell.params.block_bytes.map(|bytes| Bytes(bytes).to_string()).unwrap_or_default();
            series.push(curve(&name, at % HUES, histogram));
            series.push(worst(&name, at % HUES, cell, histogram));
        }
    }
    let chart = Chart {
        id: format!("{test}-latency"),
        title: title.to_owned(),
        x: AxisSpec {
            label: "longer than this".to_owned(),
            scale: Scale::Log,
            unit: AxisUnit::Time,
        },
        y: AxisSpec {
            label: "how many take longer, fewer is better".to_owned(),
            scale: Scale::Log,
            unit: AxisUnit::OneIn,
        },
        series,
        references: vec![Reference {
            axis: ReferenceAxis::X,
            value: yardstick::DISK_ACCESS_NS,
            label: "a disk, on average".to_owned(),
        }],
        note: format!(
            "How to read it: the height of a curve over 10 ms says how many I/Os take longer than 10 ms. A ring marks the slowest one seen; a curve ends where fewer than {BEYOND} I/Os took longer still. The upright is what a {} takes on average ({}).",
            yardstick::DISK,
            AxisUnit::Time.label(yardstick::DISK_ACCESS_NS)
        ),
    };
    Panel { chart, table }
}

/// The cumulative curve from the left: all I/Os take longer than zero.
fn curve(name: &str, hue: usize, histogram: &Histogram) -> ChartLine {
    let n = histogram.len();
    let mut beyond = n;
    let mut points = vec![ChartPoint {
        x: histogram.min().max(1) as f64,
        y: 1.0,
        interval: None,
        tip: String::new(),
    }];
    for (ns, count) in histogram.buckets() {
        beyond -= count.min(beyond);
        if beyond < BEYOND {
            break;
        }
        points.push(ChartPoint {
            x: ns as f64,
            y: beyond as f64 / n as f64,
            interval: None,
            tip: String::new(),
        });
    }
    let mut points = thinned(points);
    for point in &mut points[1..] {
        point.tip =
            format!("{name}: {} take longer than {}", one_in(point.y), quantity("_ns", point.x));
    }
    ChartLine {
        name: name.to_owned(),
        points,
        style: Style { hue, stroke: Stroke::Solid, mark: ChartMark::None },
    }
}

/// The slowest I/O as a point of its own.
fn worst(name: &str, hue: usize, cell: &Cell, histogram: &Histogram) -> ChartLine {
    let ns = figure::worst_ns(cell).unwrap_or(histogram.max() as f64);
    let n = histogram.len();
    let tip = format!("{name}: the slowest of {n} took {}", quantity("_ns", ns));
    let point = ChartPoint { x: ns, y: 1.0 / n as f64, interval: None, tip };
    ChartLine {
        name: String::new(),
        points: vec![point],
        style: Style { hue, stroke: Stroke::Points, mark: ChartMark::Ring },
    }
}

fn one_in(share: f64) -> String {
    if share > 0.5 { format!("{:.0} %", share * 100.0) } else { AxisUnit::OneIn.label(share) }
}

/// Fewer points with the same shape: equal steps in the logarithm of both axes, and both ends.
fn thinned(points: Vec<ChartPoint>) -> Vec<ChartPoint> {
    if points.len() <= MAX_POINTS {
        return points;
    }
    let (first, last) = (&points[0], &points[points.len() - 1]);
    let spread = |a: &ChartPoint, b: &ChartPoint| ((b.x / a.x).ln().abs(), (b.y / a.y).ln().abs());
    let (wide, high) = spread(first, last);
    let far = |a: &ChartPoint, b: &ChartPoint| {
        let (x, y) = spread(a, b);
        x / wide.max(1e-9) + y / high.max(1e-9) >= 2.0 / MAX_POINTS as f64
    };
    let mut kept: Vec<ChartPoint> = Vec::new();
    let end = points.len() - 1;
    for (at, point) in points.into_iter().enumerate() {
        if at == end || kept.last().is_none_or(|last| far(last, &point)) {
            kept.push(point);
        }
    }
    kept
}

fn push(table: &mut Table, cell: &Cell) {
    let Some(latency) = &cell.metrics.latency_ns else { return };
    let notes = table.notes_of(cell);
    let block = cell.params.block_bytes.map(|bytes| Bytes(bytes).to_string()).unwrap_or_default();
    let percentile = |name: &str, ns| figure::percentile(latency, name, ns);
    let worst = figure::worst_ns(cell).map(words::stall).unwrap_or_else(|| "-".to_owned());
    let row = vec![
        block,
        latency.n.to_string(),
        percentile("p50", latency.p50),
        percentile("p90", latency.p90),
        percentile("p99", latency.p99),
        percentile("p99_9", latency.p99_9),
        worst,
        words::stop_of(cell).to_owned(),
    ];
    table.push(row, notes);
}
