//! Curves stored in cells: rate along the fill first, then all others.

use record::text::{capitalised, printable};
use record::{Cell, Record, Series, SeriesAxis, test};
use report::tables::Table;
use report::{figure, headline, words, yardstick};

use super::{Panel, hue};
use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, HUES, Reference, ReferenceAxis,
    Scale, Stroke, Style,
};

/// Most lines that can be distinguished.
const MAX_LINES: usize = HUES;

type CellSeries<'a> = (&'a Cell, &'a Series);

/// Panels of rates along fills, then one for each other test and kind of curve.
pub(super) fn all(record: &Record) -> impl Iterator<Item = Panel> {
    let possible = record.cells.iter().filter(|cell| figure::impossible(cell).is_none());
    let kept: Vec<CellSeries> =
        possible.flat_map(|cell| cell.series.iter().map(move |series| (cell, series))).collect();
    let (fills, others): (Vec<CellSeries>, Vec<CellSeries>) =
        kept.into_iter().partition(|(cell, _)| is_fill(cell));
    let rates = fills.into_iter().filter(|(_, series)| series.y == SeriesAxis::Bps).collect();
    let fills = grouped(rates, |a: &CellSeries, b: &CellSeries| a.1.x == b.1.x);
    let others = grouped(
        others.into_iter().filter(|(cell, series)| has_chart(record, cell, series)).collect(),
        |a, b| (&a.0.test, a.1.x, a.1.y, &a.1.name) == (&b.0.test, b.1.x, b.1.y, &b.1.name),
    );
    let fills = fills
        .into_iter()
        .enumerate()
        .map(|(at, group)| panel(format!("fill-{at}"), "Rate along the fill".to_owned(), &group));
    let others = others.into_iter().enumerate().map(|(at, group)| {
        let title = format!(
            "{}: {}",
            capitalised(&words::test(&group[0].0.test)),
            printable(&group[0].1.name)
        );
        panel(format!("curve-{at}"), title, &group)
    });
    fills.chain(others)
}

/// Curves that belong to one chart, at most [`MAX_LINES`] each.
fn grouped<'a>(
    kept: Vec<CellSeries<'a>>,
    alike: impl Fn(&CellSeries, &CellSeries) -> bool,
) -> Vec<Vec<CellSeries<'a>>> {
    let mut groups: Vec<Vec<CellSeries>> = Vec::new();
    for one in kept {
        match groups.iter_mut().find(|group| alike(&group[0], &one) && group.len() < MAX_LINES) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// True for tests whose purpose is the rate along the medium.
fn is_fill(cell: &Cell) -> bool {
    [test::PRIME, test::ZERO_FILL, test::RANDOM_FILL].contains(&cell.test.as_str())
}

/// Fewest points of a curve that is drawn.
const MIN_POINTS: usize = 24;
/// Fewest bytes behind each rate: fewer are only a handful of I/Os.
const MIN_BYTES: f64 = 64.0 * 1_048_576.0;

/// True if a curve of a test other than a fill is worth a chart: enough points, a rate over enough
/// bytes, and not a position against a position.
fn is_readable(series: &Series) -> bool {
    let finite = || series.points.iter().filter(|point| point.iter().all(|at| at.is_finite()));
    let moved = finite().map(|point| point[0]).fold(0.0, f64::max);
    let is_place = |axis| matches!(axis, SeriesAxis::OffsetBytes | SeriesAxis::Bytes);
    finite().count() >= MIN_POINTS
        && !(is_place(series.x) && is_place(series.y))
        && !(series.y == SeriesAxis::Bps && is_place(series.x) && moved < MIN_BYTES)
}

/// True for the curves over time that every cell stores: its rate and its slowest I/Os.
fn is_course(series: &Series) -> bool {
    ["rate", "slowest I/O"].contains(&series.name.as_str())
}

/// True if a curve gets a chart. Every cell stores curves over time, a hundred cells in a full run.
/// Drawn are only those of the headline's writes and of sustained writes, and curves of tests that
/// exist for their curve; the record has the rest.
fn has_chart(record: &Record, cell: &Cell, series: &Series) -> bool {
    if !is_readable(series) {
        return false;
    }
    match cell.test.as_str() {
        test::RANDOM_WRITE => {
            headline::kind(record, cell) == headline::CellRelation::Standard
                && cell
                    .params
                    .block_bytes
                    .is_some_and(|bytes| headline::RANDOM_WRITE_SIZES.contains(&bytes))
                && series.y != SeriesAxis::Bps
        }
        test::SEQUENTIAL_WRITE => {
            findings::streaming_cell(record, test::SEQUENTIAL_WRITE)
                .is_some_and(|representative| representative.id == cell.id)
                && series.y == SeriesAxis::Bps
        }
        test::RANDOM_READ
        | test::SEQUENTIAL_READ
        | test::SEEK
        | test::BUFFERED_READ
        | test::ALIGN_READ => false,
        test::SUSTAINED => true,
        _ => !is_course(series),
    }
}

fn panel(id: String, title: String, kept: &[CellSeries]) -> Panel {
    let (x, y) = (axis(kept[0].1.x), axis(kept[0].1.y));
    let several = kept.iter().any(|(cell, _)| cell.test != kept[0].0.test);
    let mut table = Table::new(&["Curve", "#Points", "#Lowest", "#Median", "#Highest"]);
    let (mut series, mut names): (Vec<ChartLine>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, (cell, curve)) in kept.iter().enumerate() {
        let own = name(cell, curve, several, kept.len());
        let twins = names.iter().filter(|name| **name == own).count();
        names.push(own.clone());
        let name = if twins > 0 { format!("{own}, {}", twins + 1) } else { own };
        row(&mut table, &name, cell, curve);
        let same = kept[..at].iter().filter(|(before, _)| before.test == cell.test).count();
        let hue = if several { hue(&cell.test) } else { (hue(&cell.test) + at) % HUES };
        let stroke = if several && same > 0 { Stroke::Dashed } else { Stroke::Solid };
        series.push(line(name, curve, Style { hue, stroke, mark: ChartMark::None }));
    }
    let (references, note) = references(kept);
    let spec = |(label, unit, scale): (&str, AxisUnit, Scale), at: usize| {
        let scale = if is_wide(kept, at) { Scale::Log } else { scale };
        AxisSpec { label: label.to_owned(), scale, unit }
    };
    Panel {
        chart: Chart { id, title, x: spec(x, 0), y: spec(y, 1), series, references, note },
        table,
    }
}

/// True if the curves of a chart differ so much in length that a linear axis would flatten some of
/// them.
fn is_wide(kept: &[CellSeries], at: usize) -> bool {
    let ends = || {
        kept.iter().filter_map(|(_, series)| {
            series.points.iter().map(|point| point[at]).filter(|v| v.is_finite()).reduce(f64::max)
        })
    };
    let (low, high) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    low > 0.0 && high > 20.0 * low
}

/// Name that distinguishes a curve from its neighbours: the test, the parameters, and its own name
/// if a cell has several of a kind.
fn name(cell: &Cell, series: &Series, several: bool, lines: usize) -> String {
    let params = words::params(&cell.params);
    let name = match () {
        () if several => capitalised(&words::test(&cell.test)),
        () if lines == 1 => capitalised(&words::cell(cell)),
        () if params.is_empty() => printable(&cell.id),
        () => params,
    };
    let siblings =
        cell.series.iter().filter(|other| (other.x, other.y) == (series.x, series.y)).count();
    if siblings > 1 {
        format!("{name}, {}", printable(series.name.rsplit(", ").next().unwrap_or(&series.name)))
    } else {
        name
    }
}

/// Label, unit and scale of a kind of axis.
fn axis(axis: SeriesAxis) -> (&'static str, AxisUnit, Scale) {
    match axis {
        SeriesAxis::ElapsedNs => ("time since the cell began", AxisUnit::Time, Scale::Linear),
        SeriesAxis::Bytes => ("bytes moved", AxisUnit::Bytes, Scale::Linear),
        SeriesAxis::OffsetBytes => ("position on the medium", AxisUnit::Bytes, Scale::Linear),
        SeriesAxis::Ops => ("I/Os done", AxisUnit::Iops, Scale::Linear),
        SeriesAxis::Bps => ("bytes per second, more is better", AxisUnit::Rate, Scale::Linear),
        SeriesAxis::Iops => ("IOPS, more is better", AxisUnit::Iops, Scale::Log),
        SeriesAxis::LatencyNs => ("time of one I/O, less is better", AxisUnit::Time, Scale::Log),
        SeriesAxis::Celsius => ("temperature", AxisUnit::Plain("°C"), Scale::Linear),
    }
}

/// The yardstick as a line if it does not flatten the curves, else in words.
fn references(kept: &[CellSeries]) -> (Vec<Reference>, String) {
    let highest = kept
        .iter()
        .flat_map(|(_, series)| &series.points)
        .map(|point| point[1])
        .filter(|y| y.is_finite())
        .fold(0.0, f64::max);
    let value = match kept[0].1.y {
        // A disk's random write rate is not a single number: it depends on the block size.
        SeriesAxis::Bps if kept[0].0.test.starts_with("random-") && !is_fill(kept[0].0) => {
            return (Vec::new(), String::new());
        }
        SeriesAxis::Bps => yardstick::DISK_BPS,
        SeriesAxis::Iops => yardstick::DISK_IOPS,
        SeriesAxis::LatencyNs => yardstick::DISK_ACCESS_NS,
        _ => return (Vec::new(), String::new()),
    };
    let (_, unit, scale) = axis(kept[0].1.y);
    let label = format!("{}: {}", yardstick::DISK, unit.label(value));
    if scale == Scale::Linear && value > 2.5 * highest {
        (Vec::new(), format!("For comparison, beyond this chart: {label}."))
    } else {
        (vec![Reference { axis: ReferenceAxis::Y, value, label }], String::new())
    }
}

fn line(name: String, series: &Series, style: Style) -> ChartLine {
    let (x, y) = (axis(series.x).1, axis(series.y).1);
    let point = |&[at, value]: &[f64; 2]| ChartPoint {
        x: at,
        y: value,
        interval: None,
        tip: format!("{name}, {}: {}", x.label(rounded(at)), y.label(rounded(value))),
    };
    let points = series.points.iter().map(point).collect();
    ChartLine { name, points, style }
}

/// A value rounded to three digits, for a tooltip.
fn rounded(value: f64) -> f64 {
    record::units::significant(value).parse().unwrap_or(value)
}

/// A row for a curve: its points, and the lowest, the median and the highest of their values.
fn row(table: &mut Table, name: &str, cell: &Cell, series: &Series) {
    let unit = axis(series.y).1;
    let mut values: Vec<f64> =
        series.points.iter().map(|point| point[1]).filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let text =
        |at: usize| values.get(at).map_or("-".to_owned(), |value| unit.label(rounded(*value)));
    let notes = table.notes_of(cell);
    let ends = [0, values.len() / 2, values.len().saturating_sub(1)].map(text);
    let head = [name.to_owned(), values.len().to_string()];
    table.push(head.into_iter().chain(ends).collect(), notes);
}
