//! The collection as data: lines as JSON and CSV for people and programs, and the short form for
//! the script of the table.

use record::collection::{CollectionLine, CollectionRun, HeadlineFigure, HostSpread};
use record::text::printable;
use record::{Cell, Histogram, Sample, Series};
use serde_json::{Value, json};

use super::table::{self, FigureCell};

/// One line as JSON on one line of text.
pub fn line_json(line: &CollectionLine) -> String {
    line.encode()
}

/// Beginning of a medium with its runs, as JSON: `{"schema": "flashmark-medium/1", "line": ..,
/// "runs": [..]}`. Histograms, curves and kernel counters are only in each run's own file.
pub fn medium_json_head(line: &CollectionLine) -> String {
    format!("{{\"schema\":\"flashmark-medium/1\",\"line\":{},\"runs\":[", line_json(line))
}

/// The next run in it, without its [`Bulk`]; `at` counts from 0.
pub fn medium_json_run(at: usize, lean: &CollectionRun) -> String {
    let between = if at == 0 { "\n" } else { ",\n" };
    between.to_owned() + &lean.encode()
}

/// End of the runs.
pub const MEDIUM_JSON_END: &str = "\n]}\n";

/// Histograms, curves and kernel counters of each cell: nine tenths of a run.
pub struct Bulk(Vec<(Option<Histogram>, Vec<Series>, Vec<Sample>)>);

impl Bulk {
    /// Moves them out of a run.
    pub fn of(entry: &mut CollectionRun) -> Bulk {
        let of = |cell: &mut Cell| {
            (
                cell.histogram.take(),
                std::mem::take(&mut cell.series),
                std::mem::take(&mut cell.activity),
            )
        };
        Bulk(entry.run.cells.iter_mut().map(of).collect())
    }

    /// Restores them in the run that they were taken from.
    pub fn put_back(self, entry: &mut CollectionRun) {
        for (cell, bulk) in entry.run.cells.iter_mut().zip(self.0) {
            (cell.histogram, cell.series, cell.activity) = bulk;
        }
    }
}

/// A column of the table as CSV: its name and its value.
type CsvColumn = (&'static str, fn(&CollectionLine) -> String);

/// Columns of a line before those of its figures.
const COLUMNS: [CsvColumn; 17] = [
    ("medium", |line| text(&line.slug)),
    ("name", |line| text(&line.name)),
    ("kind", |line| line.model.kind.name().to_owned()),
    ("vendor", |line| text(&line.model.vendor)),
    ("model", |line| text(&line.model.model)),
    ("capacity_gb", |line| line.model.capacity_gb.to_string()),
    ("origin", |line| line.origin.name().to_owned()),
    ("interface", |line| text(line.interface.as_deref().unwrap_or_default())),
    ("classes", |line| text(&line.classes.join(" "))),
    ("runs", |line| line.runs.to_string()),
    ("senders", |line| line.senders.to_string()),
    ("fakes", |line| line.fakes.to_string()),
    ("damaged", |line| line.damaged.to_string()),
    ("is_fake", |line| line.is_fake.to_string()),
    ("is_damaged", |line| line.is_damaged.to_string()),
    ("is_listed", |line| line.is_listed.to_string()),
    ("latest", |line| text(&line.latest)),
];

/// Header of [`line_csv`]: properties of the medium, then eight columns for each figure (median,
/// low, high, runs, hosts, senders, against, standing) in IOPS, bytes per second or nanoseconds.
pub fn csv_head() -> String {
    let mut heads = COLUMNS.map(|(name, _)| name.to_owned()).to_vec();
    for figure in HeadlineFigure::ALL {
        let (name, unit) = (figure.entry().column, figure.unit().name());
        heads.extend(["", "_low", "_high"].map(|part| format!("{name}{part}_{unit}")));
        let counts = ["runs", "hosts", "senders", "against", "standing"];
        heads.extend(counts.map(|part| format!("{name}_{part}")));
    }
    heads.push("verdict".to_owned());
    heads.join(",") + "\r\n"
}

/// A line as CSV (RFC 4180), with its line end.
pub fn line_csv(line: &CollectionLine) -> String {
    let mut fields = COLUMNS.map(|(_, value)| value(line)).to_vec();
    for figure in HeadlineFigure::ALL {
        match line.figures.get(&figure) {
            Some(HostSpread { median, low, high, runs, hosts, senders, against, standing }) => {
                fields.extend([median, low, high].map(f64::to_string));
                fields.extend([runs, hosts, senders, against].map(u64::to_string));
                fields.push(standing.to_string());
            }
            None => fields.extend(std::iter::repeat_n(String::new(), 8)),
        }
    }
    fields.push(text(line.verdict.as_deref().unwrap_or_default()));
    fields.join(",") + "\r\n"
}

/// A text field. An apostrophe is put before text that a spreadsheet would execute as a formula.
fn text(field: &str) -> String {
    let field = printable(field);
    let field = if field.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        format!("'{field}")
    } else {
        field
    };
    if field.contains([',', '"', '\'']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}

/// A line in the short form for the table's script: slug, name, kind, capacity in GB, origin,
/// interface, classes, runs, true for fakes, time of the latest run, verdict, figures, other names
/// of the product, reports of fakes and damage, true for a name of the register. Figures are
/// `[which, median, text, place, runs, level, tier]` as in the table; the level of one without a
/// rank is "u", and one of a lower tier comes first.
pub fn short_json(line: &CollectionLine) -> String {
    let figures = (0..).zip(HeadlineFigure::ALL).filter_map(|(at, figure)| {
        let FigureCell { value, place, runs, level } = FigureCell::of(line, figure)?;
        let level = level.parse::<u8>().map_or_else(|_| Value::from(level), Value::from);
        let tier = line.tier(figure)?;
        Some(json!([at, line.figures[&figure].median, value, place, runs, level, tier]))
    });
    json!([
        line.slug,
        printable(&line.name),
        line.model.kind.name(),
        line.model.capacity_gb,
        line.origin.name(),
        printable(line.interface.as_deref().unwrap_or_default()),
        printable(&line.classes.join(" ")),
        line.runs,
        u8::from(line.is_fake),
        table::day(&line.latest),
        line.verdict.as_deref().map(table::short_verdict).unwrap_or_default(),
        figures.collect::<Vec<Value>>(),
        printable(&line.other_names),
        table::reports(line).join(" · "),
        u8::from(line.is_listed),
        u8::from(line.is_damaged),
    ])
    .to_string()
}
