//! Random writes against their span: a cache shows as a steep drop
//! (docs/field/cheats.md#cheats-and-caches, docs/field/statistics.md#sampling-random-writes).

use record::units::Bytes;
use record::{Cell, Record, metric, test};
use report::figure::{self, PrintedFigure};
use report::headline::{self, CellRelation};
use report::tables::Table;
use report::yardstick;

use super::{Panel, hollow_style, push_metric};
use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, HUES, Reference, ReferenceAxis,
    Scale, Stroke, Style,
};

/// A line for each block size that was measured over several spans.
pub(super) fn random_writes(record: &Record) -> Panel {
    let mut table =
        Table::new(&["Span", "#Block", "#Figure", "95 % interval", "#n", "#Slowest", "Stop"]);
    let mut series = Vec::new();
    for size in sizes(record) {
        let mut cells: Vec<&Cell> =
            comparable(record).filter(|cell| cell.params.block_bytes == Some(size)).collect();
        cells.sort_by_key(|cell| cell.params.span_bytes);
        let is_single = cells.iter().all(|cell| figure::is_single(cell, metric::IOPS));
        let points = cells.into_iter().filter_map(|cell| point(&mut table, cell)).collect();
        series.push(ChartLine {
            name: Bytes(size).to_string(),
            points,
            style: hollow_style(
                Style { hue: series.len() % HUES, stroke: Stroke::Solid, mark: ChartMark::Disc },
                is_single,
            ),
        });
    }
    let axis = |label: &str, unit| AxisSpec { label: label.to_owned(), scale: Scale::Log, unit };
    let chart = Chart {
        id: "span".to_owned(),
        title: "Random writes against span".to_owned(),
        x: axis("span they fall into", AxisUnit::Blocks),
        y: axis("IOPS, more is better", AxisUnit::Iops),
        series,
        references: vec![Reference {
            axis: ReferenceAxis::Y,
            value: yardstick::DISK_IOPS,
            label: format!("{}: {} IOPS", yardstick::DISK, yardstick::DISK_IOPS),
        }],
        note: "Writes that stay within a small span can be faster than the medium is: controllers cache so much and no more.".to_owned(),
    };
    Panel { chart, table }
}

/// Cells that differ only in block size and span.
fn comparable(record: &Record) -> impl Iterator<Item = &Cell> {
    record.cells_of(test::RANDOM_WRITE).filter(|cell| {
        headline::kind(record, cell) != CellRelation::Variant && cell.params.span_bytes.is_some()
    })
}

/// Block sizes measured over at least two spans.
fn sizes(record: &Record) -> Vec<u64> {
    let mut pairs: Vec<(u64, u64)> = comparable(record)
        .filter_map(|cell| Some((cell.params.block_bytes?, cell.params.span_bytes?)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut sizes: Vec<u64> =
        pairs.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0).collect();
    sizes.dedup();
    sizes
}

/// A point and its row.
fn point(table: &mut Table, cell: &Cell) -> Option<ChartPoint> {
    let (iops, span) = (cell.metrics.iops?, cell.params.span_bytes?);
    let span_text = Bytes(span).to_string();
    push_metric(table, &span_text, cell, metric::IOPS, &iops);
    let shown = figure::show(cell, metric::IOPS, &iops);
    let (value, printed) = (shown.drawn()?, shown.printed().ok()?);
    let PrintedFigure { text, interval, .. } = printed;
    let tip = format!("{span_text}: {text} ({interval})");
    Some(ChartPoint { x: span as f64, y: value, interval: iops.ci95, tip })
}
