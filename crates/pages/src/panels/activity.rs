//! Kernel statistics of the medium over the run: rates, waiting times, queue and utilisation, with
//! the tests marked.

use record::text::printable;
use record::{Activity, Cell, Record, Sample};
use report::tables::Table;
use report::words;

use super::Panel;
use crate::chart::{
    AxisSpec, AxisUnit, Chart, ChartLine, ChartMark, ChartPoint, Reference, ReferenceAxis, Scale,
    Stroke, Style,
};

/// Most points of a line; more cannot be distinguished on a page.
const MAX_POINTS: usize = 300;

/// A time interval within a cell.
struct Stretch<'a> {
    cell: &'a Cell,
    end_ns: u64,
    did: Activity,
}

/// One line: its name, and its value in an interval.
type ActivityLine = (&'static str, fn(&Activity) -> f64);

/// Four charts over the time of the run; empty without kernel statistics.
pub(super) fn all(record: &Record) -> Vec<Panel> {
    let stretches = stretches(record);
    let rates: [ActivityLine; 2] = [
        ("Read", |did| did.read.kib_per_s * 1024.0),
        ("Written", |did| did.write.kib_per_s * 1024.0),
    ];
    let waits: [ActivityLine; 2] =
        [("Read", |did| did.read.await_ms * 1e6), ("Write", |did| did.write.await_ms * 1e6)];
    let queue: [ActivityLine; 1] = [("Queue", |did| did.queue)];
    let busy: [ActivityLine; 1] = [("Busy", |did| did.busy_percent)];
    vec![
        panel(
            record,
            &stretches,
            "kernel-rate",
            "As the kernel saw it: bytes moved",
            ("bytes per second", AxisUnit::Rate),
            &rates,
        ),
        panel(
            record,
            &stretches,
            "kernel-await",
            "As the kernel saw it: time of an I/O",
            ("queued to done, mean (await)", AxisUnit::Time),
            &waits,
        ),
        panel(
            record,
            &stretches,
            "kernel-queue",
            "As the kernel saw it: I/Os waiting",
            ("queued or in flight, mean (aqu-sz)", AxisUnit::Plain("")),
            &queue,
        ),
        panel(
            record,
            &stretches,
            "kernel-busy",
            "As the kernel saw it: how busy",
            ("time with an I/O in flight (%util)", AxisUnit::Plain("%")),
            &busy,
        ),
    ]
}

/// All intervals in order of time; neighbours in a cell are joined if there are too many.
fn stretches(record: &Record) -> Vec<Stretch<'_>> {
    let total: usize = record.cells.iter().map(|cell| cell.activity.len()).sum();
    let step = total.div_ceil(MAX_POINTS).max(1);
    let mut stretches: Vec<Stretch> =
        record.cells.iter().flat_map(|cell| of_cell(cell, step)).collect();
    stretches.sort_by_key(|stretch| stretch.end_ns);
    stretches
}

fn of_cell(cell: &Cell, step: usize) -> Vec<Stretch<'_>> {
    let samples = &cell.activity;
    let last = samples.len().saturating_sub(1);
    let kept: Vec<&Sample> = samples
        .iter()
        .enumerate()
        .filter(|(at, _)| at % step == 0 || *at == last)
        .map(|(_, sample)| sample)
        .collect();
    kept.windows(2)
        .filter_map(|pair| {
            Some(Stretch { cell, end_ns: pair[1].at_ns, did: between(pair[0], pair[1])? })
        })
        .collect()
}

/// Activity between two samples; `None` if no time passed.
fn between(first: &Sample, last: &Sample) -> Option<Activity> {
    let passed_ns = last.at_ns.checked_sub(first.at_ns).filter(|ns| *ns > 0)?;
    Activity::between(&first.counters, &last.counters, passed_ns)
}

fn panel(
    record: &Record,
    stretches: &[Stretch],
    id: &str,
    title: &str,
    y: (&str, AxisUnit),
    shows: &[ActivityLine],
) -> Panel {
    let (label, unit) = y;
    let line = |(at, (name, value)): (usize, &ActivityLine)| {
        let point = |stretch: &Stretch| {
            let y = value(&stretch.did);
            let rounded = record::units::significant(y).parse().unwrap_or(y);
            let cell = words::cell(stretch.cell);
            ChartPoint {
                x: stretch.end_ns as f64,
                y,
                interval: None,
                tip: format!("{name}, {}: {}", printable(&cell), unit.label(rounded)),
            }
        };
        let style = Style { hue: at, stroke: Stroke::Solid, mark: ChartMark::None };
        ChartLine { name: (*name).to_owned(), points: stretches.iter().map(point).collect(), style }
    };
    let axis = |label: &str, unit| AxisSpec { label: label.to_owned(), scale: Scale::Linear, unit };
    let chart = Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        x: axis("time of the run", AxisUnit::Time),
        y: axis(label, unit),
        series: shows.iter().enumerate().map(line).collect(),
        references: marks(record),
        note: "From /proc/diskstats, ten times per second, of all I/O to the device, whoever issued it; defined as in iostat -x. \
               Upright lines are where a test begins."
            .to_owned(),
    };
    Panel { chart, table: table(record, unit, shows) }
}

/// Marks at the beginning of each test.
fn marks(record: &Record) -> Vec<Reference> {
    let sampled = record.cells.iter().filter(|cell| cell.activity.len() > 1);
    let (mut marks, mut before): (Vec<Reference>, &str) = (Vec::new(), "");
    for cell in sampled {
        if std::mem::replace(&mut before, &cell.test) == cell.test {
            continue;
        }
        let value = cell.activity[0].at_ns as f64;
        marks.push(Reference { axis: ReferenceAxis::X, value, label: words::test(&cell.test) });
    }
    marks
}

/// A row for each whole cell.
fn table(record: &Record, unit: AxisUnit, shows: &[ActivityLine]) -> Table {
    let mut table = match shows {
        [_, _] => Table::new(&["Cell", "#Read", "#Written"]),
        _ => Table::new(&["Cell", "#Mean"]),
    };
    for cell in &record.cells {
        let ends = cell.activity.first().zip(cell.activity.last());
        let Some(did) = ends.and_then(|(first, last)| between(first, last)) else { continue };
        let rounded = |value: f64| record::units::significant(value).parse().unwrap_or(value);
        let values = shows.iter().map(|(_, value)| unit.label(rounded(value(&did))));
        let notes = table.notes_of(cell);
        table.push(std::iter::once(printable(&words::cell(cell))).chain(values).collect(), notes);
    }
    table
}

#[cfg(test)]
mod tests {
    use record::Counters;

    use super::*;
    use crate::demo;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Reads of 4 KiB for ten seconds, 100 per second, each 5 ms.
    fn sampled(test: &str, begin_s: u64) -> Cell {
        let sample = |second: u64| {
            let reads = second * 100;
            let fields =
                [reads, 0, reads * 8, reads * 5, 0, 0, 0, 0, 0, second * 500, second * 500];
            Sample {
                at_ns: (begin_s + second) * SECOND_NS,
                counters: Counters::from_fields(&fields).unwrap(),
            }
        };
        Cell { activity: (0..=10).map(sample).collect(), ..demo::cell(test, test) }
    }

    fn record(cells: Vec<Cell>) -> Record {
        Record { cells, ..demo::good() }
    }

    #[test]
    fn what_was_counted_is_drawn_over_the_time_of_the_run() {
        let panels = all(&record(vec![
            sampled("random-read", 0),
            sampled("random-read", 10),
            sampled("seek", 20),
        ]));
        let at = |panel: usize, line: usize| {
            panels[panel].chart.series[line].points.iter().map(|point| point.y).collect::<Vec<_>>()
        };
        assert_eq!(at(0, 0), [409_600.0; 30]);
        assert_eq!(at(0, 1), [0.0; 30]);
        assert_eq!(at(1, 0), [5e6; 30]);
        assert_eq!((at(2, 0), at(3, 0)), (vec![0.5; 30], vec![50.0; 30]));
        assert_eq!(panels[0].chart.series[0].points[29].x, 30e9);
        let marks: Vec<(f64, &str)> = panels[0]
            .chart
            .references
            .iter()
            .map(|mark| (mark.value, mark.label.as_str()))
            .collect();
        assert_eq!(marks.len(), 2);
        assert_eq!((marks[0].0, marks[1].0), (0.0, 20e9));
        assert_eq!(panels[3].table.rows[0].cells[1], "50 %");
    }

    #[test]
    fn a_long_run_is_thinned_and_none_of_it_lost() {
        let cells = (0..200).map(|at| sampled("random-read", at * 10)).collect();
        let panels = all(&record(cells));
        let points = &panels[0].chart.series[0].points;
        assert!(points.len() <= 2 * MAX_POINTS, "{}", points.len());
        assert!(points.iter().all(|point| point.y == 409_600.0));
        assert_eq!(points.last().unwrap().x, 2000e9);
    }

    #[test]
    fn without_counters_there_is_no_chart() {
        assert!(
            all(&record(vec![demo::cell("seek", "seek")]))
                .iter()
                .all(|panel| panel.chart.is_empty())
        );
    }
}
