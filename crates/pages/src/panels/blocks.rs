//! Charts against block size.

use record::{Cell, Estimate, Record, metric, test};
use report::tables::Table;
use report::{figure, yardstick};

use super::{Group, Panel, groups, hollow_style, omitted_cells_note, push_metric};
use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, Reference, ReferenceAxis, Scale,
    Stroke, Style,
};

const COLUMNS: [&str; 7] = ["What", "#Block", "#Figure", "95 % interval", "#n", "#Slowest", "Stop"];
const TESTS: [&str; 4] =
    [test::RANDOM_WRITE, test::RANDOM_READ, test::SEQUENTIAL_WRITE, test::SEQUENTIAL_READ];

fn blocks() -> AxisSpec {
    AxisSpec { label: "block size".to_owned(), scale: Scale::Log, unit: AxisUnit::Blocks }
}

/// Random write IOPS at each size: burst and sustained, against 90 IOPS.
pub(super) fn random_writes(record: &Record) -> Panel {
    let groups = groups(record, &[test::RANDOM_WRITE]);
    let mut series = Vec::new();
    let mut table = Table::new(&COLUMNS);
    let mut add = |group: &Group, suffix: &str, name: &str, style: Style| {
        let what = format!("{}{suffix}", group.name);
        let line = line(&what, group, style, &mut table, |cell| {
            Some((name.to_owned(), *figure::estimate(cell, name)?))
        });
        series.push(line);
    };
    for group in &groups {
        add(group, "", metric::IOPS, group.style);
        if group.cells.iter().any(|cell| figure::estimate(cell, metric::BURST_IOPS).is_some()) {
            add(
                group,
                ", at first",
                metric::BURST_IOPS,
                Style { stroke: Stroke::Dotted, mark: ChartMark::Triangle, ..group.style },
            );
        }
    }
    let chart = Chart {
        id: "random-write".to_owned(),
        title: "Random write IOPS".to_owned(),
        x: blocks(),
        y: AxisSpec {
            label: "IOPS, more is better".to_owned(),
            scale: Scale::Log,
            unit: AxisUnit::Iops,
        },
        series: series.into_iter().filter(|line| !line.points.is_empty()).collect(),
        references: vec![Reference {
            axis: ReferenceAxis::Y,
            value: yardstick::DISK_IOPS,
            label: format!("{}: {} IOPS", yardstick::DISK, yardstick::DISK_IOPS),
        }],
        note: format!(
            "What decides whether a medium can carry a system. Measured after the first fast writes; where a caveat says that a figure may not last, a large cache may still have taken them.{}",
            omitted_cells_note(&groups)
        ),
    };
    Panel { chart, table }
}

/// The standard cells of the tests: with every variant a chart would have too many lines, and the
/// table of all results has them. Empty if there is only one block size.
fn representatives<'a>(record: &'a Record, tests: &[&'a str]) -> Vec<Group<'a>> {
    let mut groups = groups(record, tests);
    groups.retain(|group| group.style.stroke == Stroke::Solid);
    let sizes = || groups.iter().flat_map(|group| &group.cells).map(|c| c.params.block_bytes);
    let first = sizes().next();
    if sizes().all(|size| Some(size) == first) {
        groups.clear();
    }
    groups
}

/// Rate against block size, reads and writes.
pub(super) fn rates(record: &Record) -> Panel {
    let groups = representatives(record, &TESTS);
    let mut table = Table::new(&COLUMNS);
    let mut series: Vec<ChartLine> = groups
        .iter()
        .map(|group| line(&group.name, group, group.style, &mut table, rate))
        .collect();
    series.extend(disk(&groups, yardstick::disk_random_bps));
    let chart = Chart {
        id: "rate".to_owned(),
        title: "Rate against block size".to_owned(),
        x: blocks(),
        y: AxisSpec {
            label: "bytes per second, more is better".to_owned(),
            scale: Scale::Log,
            unit: AxisUnit::Rate,
        },
        series,
        references: Vec::new(),
        note: format!("{}{}", disk_note(), omitted_cells_note(&groups)),
    };
    Panel { chart, table }
}

fn disk_note() -> String {
    format!(
        "The grey line is the yardstick, a {}: {} to get there ({} IOPS) and then {}.",
        yardstick::DISK,
        AxisUnit::Time.label(yardstick::DISK_ACCESS_NS),
        yardstick::DISK_IOPS,
        AxisUnit::Rate.label(yardstick::DISK_BPS)
    )
}

/// A line and its rows from one metric of each cell.
fn line(
    name: &str,
    group: &Group,
    style: Style,
    table: &mut Table,
    metric: impl Fn(&Cell) -> Option<(String, Estimate)>,
) -> ChartLine {
    let (mut points, mut is_single) = (Vec::new(), true);
    for cell in &group.cells {
        let Some((metric, found)) = metric(cell) else { continue };
        push_metric(table, name, cell, &metric, &found);
        let shown = figure::show(cell, &metric, &found);
        if let (Some(value), Ok(printed), Some(block)) =
            (shown.drawn(), shown.printed(), cell.params.block_bytes)
        {
            let figure::PrintedFigure { text, interval, .. } = printed;
            let tip = format!("{name}, {}: {text} ({interval})", record::units::Bytes(block));
            points.push(ChartPoint { x: block as f64, y: value, interval: found.ci95, tip });
            is_single &= shown.is_single();
        }
    }
    ChartLine { name: name.to_owned(), points, style: hollow_style(style, is_single) }
}

/// Bytes per second; computed from IOPS if only these were recorded.
fn rate(cell: &Cell) -> Option<(String, Estimate)> {
    let found = match (cell.metrics.bps, cell.metrics.iops, cell.params.block_bytes) {
        (Some(bps), _, _) => bps,
        (None, Some(iops), Some(block)) => {
            let bytes = |iops| iops * block as f64;
            let ci95 = iops.ci95.map(|ends| ends.map(bytes));
            Estimate { value: bytes(iops.value), ci95, n: iops.n }
        }
        _ => return None,
    };
    Some((metric::BPS.to_owned(), found))
}

/// The yardstick's curve over the sizes measured.
fn disk(groups: &[Group], curve: fn(f64) -> f64) -> Option<ChartLine> {
    let cells = || {
        groups
            .iter()
            .flat_map(|group| &group.cells)
            .filter(|cell| figure::impossible(cell).is_none())
    };
    let sizes =
        || cells().filter_map(|cell| cell.params.block_bytes).map(|bytes| bytes.max(1) as f64);
    let (low, high) = (sizes().reduce(f64::min)?, sizes().reduce(f64::max)?);
    let steps = 2.0 * (high / low).log2().max(1.0);
    let points = (0..=steps as u32)
        .map(|step| {
            let x = low * (high / low).powf(f64::from(step) / steps.floor());
            ChartPoint { x, y: curve(x), interval: None, tip: String::new() }
        })
        .collect();
    Some(ChartLine {
        name: "5400 rpm disk, random".to_owned(),
        points,
        style: Style { hue: 5, stroke: Stroke::Yardstick, mark: ChartMark::None },
    })
}
