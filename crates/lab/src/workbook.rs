//! The raw values of a matrix for people who work in spreadsheets: a workbook with formulas, and
//! the same rows as CSV.
//!
//! The sheet "Results" holds one row for each try, as measured; "Summary" one row for each
//! combination, computed from "Results" by formulas, so that its figures follow when rows are
//! removed or added. "About" describes the host and the medium.

use std::collections::BTreeMap;

use record::units::Bytes;
use record::{Cell, Record, Stop, metric};
use rust_xlsxwriter::{
    ConditionalFormat3ColorScale, Format, Formula, Workbook, Worksheet, XlsxError,
};

/// Columns of the raw values: name, and true if they are numbers.
const COLUMNS: [(&str, bool); 20] = [
    ("work", false),
    ("file system", false),
    ("fitted to AU", false),
    ("mount options", false),
    ("scheduler", false),
    ("repeat", true),
    ("outcome", false),
    ("result", true),
    ("unit", false),
    ("worst stall ms", true),
    ("median ms", true),
    ("p99 ms", true),
    ("fairness", true),
    ("extents per file before", true),
    ("extents per file after", true),
    ("read time against one piece", true),
    ("bytes written", true),
    ("elapsed s", true),
    ("reason", false),
    ("made by", false),
];
/// Number of columns, from the first on, that name the combination.
const LABELS: u16 = 5;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
    Nothing,
}

impl Value {
    fn of(number: Option<f64>) -> Value {
        number.filter(|number| number.is_finite()).map_or(Value::Nothing, Value::Number)
    }
}

/// One try of a combination: a row of the sheet "Results".
struct Try {
    values: Vec<Value>,
    /// Result, and true if more is better.
    result: Option<(f64, bool)>,
}

/// Work, file system, settings fitted to the medium, mount options, scheduler.
type Labels = [String; LABELS as usize];

/// All tries, by work and combination.
fn tries(record: &Record) -> Vec<Try> {
    let is_headline = |cell: &&Cell| {
        !cell.label("filesystem").is_empty()
            && cell.label("part").is_empty()
            && cell.stop != Stop::Interrupted
    };
    let mut heads: Vec<&Cell> = record.cells.iter().filter(is_headline).collect();
    let repeat = |cell: &Cell| cell.label("repeat").parse::<u32>().unwrap_or(0);
    heads.sort_by_key(|cell| (labels(cell), repeat(cell)));
    heads.into_iter().map(|head| one(head, record)).collect()
}

fn labels(cell: &Cell) -> Labels {
    ["work", "filesystem", "align", "mount_options", "scheduler"]
        .map(|name| cell.label(name).to_owned())
}

fn one(head: &Cell, record: &Record) -> Try {
    let same =
        |cell: &&Cell| labels(cell) == labels(head) && cell.label("repeat") == head.label("repeat");
    let parts: Vec<&Cell> = record.cells.iter().filter(same).collect();
    let other = |name: &str| {
        parts.iter().find_map(|cell| cell.metrics.other.get(name)).map(|estimate| estimate.value)
    };
    let stall = |cell: &&Cell| {
        let stall_ns =
            cell.metrics.other.get(metric::WORST_STALL_NS).map(|estimate| estimate.value);
        stall_ns.or(cell.metrics.latency_ns.as_ref().map(|latency| latency.max as f64))
    };
    let worst = parts.iter().filter_map(stall).max_by(f64::total_cmp);
    let latency = head.metrics.latency_ns.as_ref();
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    let failed = head.stop == Stop::Error;
    let result = if failed { None } else { head.work_result() };
    let unit = match result {
        Some((_, true)) => "a second",
        Some((_, false)) => "s",
        None => "",
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let mut values: Vec<Value> = labels(head).iter().map(|label| text(label)).collect();
    values.extend([
        Value::of(head.label("repeat").parse().ok()),
        text(if failed { "failed" } else { "done" }),
        Value::of(result.map(|(figure, _)| figure)),
        text(unit),
        Value::of(worst.map(|ns| ns / 1e6)),
        Value::of(ms(latency.and_then(|latency| latency.p50))),
        Value::of(ms(latency.and_then(|latency| latency.p99))),
        Value::of(other("fairness")),
        Value::of(other(metric::EXTENTS_PER_FILE_BEFORE)),
        Value::of(other(metric::EXTENTS_PER_FILE_AFTER)),
        Value::of(other(metric::FRAGMENTATION_READ_RATIO)),
        Value::Number(parts.iter().map(|cell| cell.written_bytes as f64).sum()),
        Value::Number(head.elapsed_ns as f64 / 1e9),
        text(head.reason.as_deref().unwrap_or_default()),
        text(head.label("mkfs")),
    ]);
    Try { values, result }
}

/// Raw values as CSV (RFC 4180): a line with the names of the columns, then one line for each try.
pub fn csv(record: &Record) -> String {
    let quoted = |text: &str| {
        // A spreadsheet would take these for a formula.
        let text = if text.starts_with(['=', '+', '-', '@']) {
            format!("'{text}")
        } else {
            text.to_owned()
        };
        if text.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text
        }
    };
    let value = |value: &Value| match value {
        Value::Text(text) => quoted(text),
        Value::Number(number) => number.to_string(),
        Value::Nothing => String::new(),
    };
    let mut lines = vec![COLUMNS.map(|(name, _)| name.to_owned()).join(",")];
    lines.extend(
        tries(record).iter().map(|one| one.values.iter().map(value).collect::<Vec<_>>().join(",")),
    );
    lines.join("\r\n") + "\r\n"
}

/// Makes the workbook (.xlsx).
///
/// # Errors
/// If the format cannot hold it: more rows than a sheet has, or a text that is longer than a cell
/// takes.
pub fn workbook(record: &Record) -> Result<Vec<u8>, XlsxError> {
    let tries = tries(record);
    let mut workbook = Workbook::new();
    summary(workbook.add_worksheet(), &tries)?;
    let heads =
        COLUMNS.iter().map(|(name, is_number)| (*name, if *is_number { 11.0 } else { 16.0 }));
    let values: Vec<Vec<Value>> = tries.into_iter().map(|one| one.values).collect();
    table(workbook.add_worksheet(), "Results", heads, &values, 2)?;
    let phases: Vec<Vec<Value>> = record.cells.iter().filter_map(thread_row).collect();
    if !phases.is_empty() {
        let heads = THREADS.into_iter().map(|name| (name, 16.0));
        table(workbook.add_worksheet(), "Threads", heads, &phases, 2)?;
    }
    about(workbook.add_worksheet(), record)?;
    workbook.save_to_buffer()
}

fn head() -> Format {
    Format::new().set_bold().set_text_wrap().set_background_color("#E8ECF1")
}

/// Fills a sheet with a table: its name, heads with their widths, and rows; the heads and the first
/// `fixed` columns stay in sight.
fn table<'a>(
    sheet: &mut Worksheet,
    name: &str,
    heads: impl Iterator<Item = (&'a str, f64)>,
    rows: &[Vec<Value>],
    fixed: u16,
) -> Result<(), XlsxError> {
    sheet.set_name(name)?;
    let mut last = 0;
    for (column, (name, width)) in (0_u16..).zip(heads) {
        sheet.write_with_format(0, column, name, &head())?;
        sheet.set_column_width(column, width)?;
        last = column;
    }
    for (row, values) in (1_u32..).zip(rows) {
        for (column, value) in (0_u16..).zip(values) {
            match value {
                Value::Text(text) => sheet.write_string(row, column, text)?,
                Value::Number(number) => sheet.write_number(row, column, *number)?,
                Value::Nothing => continue,
            };
        }
    }
    sheet.set_freeze_panes(1, fixed)?;
    if !rows.is_empty() {
        sheet.autofilter(0, 0, rows.len() as u32, last)?;
    }
    Ok(())
}

/// The throughput of the threads in each phase of each try, as iozone's throughput mode prints it.
const THREADS: [&str; 8] = [
    "file system",
    "scheduler",
    "repeat",
    "phase",
    "children MB/s",
    "parent MB/s",
    "slowest MB/s",
    "fastest MB/s",
];

/// A row of the sheet "Threads"; `None` if the cell is of no threads.
fn thread_row(cell: &Cell) -> Option<Vec<Value>> {
    let labels = ["filesystem", "scheduler", "repeat"].map(|name| cell.label(name));
    let phase = cell.params.form.as_deref().unwrap_or_default();
    let texts = labels.into_iter().chain([phase]).map(|text| Value::Text(text.to_owned()));
    Some(texts.chain(record::thread_views(cell)?.map(Value::of)).collect())
}

/// A row of the summary: its combination and its results.
struct Row {
    labels: Labels,
    results: Vec<f64>,
    larger_is_better: bool,
}

impl Row {
    fn mean(&self) -> Option<f64> {
        (!self.results.is_empty())
            .then(|| self.results.iter().sum::<f64>() / self.results.len() as f64)
    }
}

fn rows(tries: &[Try]) -> Vec<Row> {
    let mut rows: BTreeMap<Labels, Row> = BTreeMap::new();
    for one in tries {
        let text = |at: usize| {
            if let Value::Text(text) = &one.values[at] { text.clone() } else { String::new() }
        };
        let labels: Labels = std::array::from_fn(text);
        let row = rows.entry(labels.clone()).or_insert(Row {
            labels,
            results: Vec::new(),
            larger_is_better: true,
        });
        if let Some((figure, larger)) = one.result {
            row.results.push(figure);
            row.larger_is_better = larger;
        }
    }
    rows.into_values().collect()
}

/// Writes one row for each combination; the best of each work is 1. Results of formulas are written
/// too, for programs that do not calculate.
fn summary(sheet: &mut Worksheet, tries: &[Try]) -> Result<(), XlsxError> {
    let names = ["tries", "mean result", "least", "largest", "unit", "against the best"];
    let heads = COLUMNS[..usize::from(LABELS)].iter().map(|(name, _)| *name).chain(names);
    let rows = rows(tries);
    let labels = |row: &Row| row.labels.iter().cloned().map(Value::Text).collect();
    let values: Vec<Vec<Value>> = rows.iter().map(labels).collect();
    table(sheet, "Summary", heads.map(|name| (name, 15.0)), &values, 0)?;
    let last = tries.len() + 1;
    let mut at = 0;
    while at < rows.len() {
        let count = rows[at..].iter().take_while(|row| row.labels[0] == rows[at].labels[0]).count();
        let group = at..at + count;
        let best = best_of(&rows[group.clone()]);
        for number in group.clone() {
            write_row(
                sheet,
                &rows[number],
                number as u32 + 1,
                [group.start + 2, group.end + 1],
                last,
                best,
            )?;
        }
        let scale = ConditionalFormat3ColorScale::new()
            .set_minimum_color("F4A582")
            .set_midpoint_color("F7F7F7")
            .set_maximum_color("7FBF7B");
        sheet.add_conditional_format(group.start as u32 + 1, 10, group.end as u32, 10, &scale)?;
        at += count;
    }
    Ok(())
}

fn best_of(rows: &[Row]) -> Option<f64> {
    let larger = rows.iter().find(|row| !row.results.is_empty())?.larger_is_better;
    let means = rows.iter().filter_map(Row::mean);
    if larger { means.max_by(f64::total_cmp) } else { means.min_by(f64::total_cmp) }
}

/// Writes a row of the summary. `row` counts from 0, as the library does; ranges from 1, as
/// formulas do.
fn write_row(
    sheet: &mut Worksheet,
    row: &Row,
    at: u32,
    [from, to]: [usize; 2],
    last: usize,
    best: Option<f64>,
) -> Result<(), XlsxError> {
    let line = at + 1;
    let columns = ["A", "B", "C", "D", "E"];
    let same: Vec<String> = columns
        .iter()
        .map(|column| format!("Results!${column}$2:${column}${last},${column}{line}"))
        .collect();
    let same = same.join(",");
    let values = format!("Results!$H$2:$H${last}");
    let n = row.results.len();
    let count = format!("=COUNTIFS({same},{values},\">0\")");
    sheet.write_formula(at, LABELS, Formula::new(count).set_result(n.to_string()))?;
    let Some((mean, best)) = row.mean().zip(best) else {
        sheet.write_string(at, LABELS + 1, "no result")?;
        return Ok(());
    };
    let extreme = |from: f64, pick: fn(f64, f64) -> f64| {
        row.results.iter().copied().fold(from, pick).to_string()
    };
    let (least, largest) = (extreme(f64::INFINITY, f64::min), extreme(0.0, f64::max));
    // MINIFS and MAXIFS are younger than many programs; AGGREGATE is in all of them, but
    // LibreOffice's takes no conditions: so a product
    let conditions: Vec<String> = columns
        .iter()
        .map(|column| format!("(Results!${column}$2:${column}${last}=${column}{line})"))
        .collect();
    let conditions = conditions.join("*");
    let smallest =
        format!("=1/SUMPRODUCT(MAX({conditions}*(({values}>0)/({values}+({values}=0)))))");
    let biggest = format!("=SUMPRODUCT(MAX({conditions}*{values}))");
    let against = if row.larger_is_better {
        format!("=G{line}/MAX(G${from}:G${to})")
    } else {
        format!("=MIN(G${from}:G${to})/G{line}")
    };
    let relative = if row.larger_is_better { mean / best } else { best / mean };
    let mean_formula = format!("=AVERAGEIFS({values},{same})");
    let figures = [(mean_formula, mean.to_string()), (smallest, least), (biggest, largest)];
    for (column, (formula, result)) in (6..).zip(figures) {
        sheet.write_formula(at, column, Formula::new(formula).set_result(result))?;
    }
    sheet.write_string(at, 9, if row.larger_is_better { "a second" } else { "s" })?;
    let two = Format::new().set_num_format("0.00");
    let against = Formula::new(against).set_result(relative.to_string());
    sheet.write_formula_with_format(at, 10, against, &two)?;
    Ok(())
}

fn about(sheet: &mut Worksheet, record: &Record) -> Result<(), XlsxError> {
    sheet.set_name("About")?;
    sheet.set_column_width(0, 20)?;
    sheet.set_column_width(1, 100)?;
    let medium = &record.medium;
    let name = [&medium.vendor, &medium.model]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>()
        .join(" ");
    let host = record.host.clone().unwrap_or_default();
    let mut facts = vec![
        ("Run", record.run.id.clone()),
        ("Started", record.run.started.clone().unwrap_or_default()),
        ("Medium", name),
        (
            "Capacity",
            medium.capacity_bytes.map(|bytes| Bytes(bytes).to_string()).unwrap_or_default(),
        ),
        ("Kernel", host.kernel.unwrap_or_default()),
        ("Board", host.board.unwrap_or_default()),
        ("Processor", host.cpu.unwrap_or_default()),
        ("Seed", record.run.seed.to_string()),
        ("Software", format!("{} {}", record.run.software.name, record.run.software.version)),
    ];
    facts.extend(record.findings.iter().map(|finding| ("Finding", finding.statement.clone())));
    facts.extend(
        record.skipped.iter().map(|skip| ("Left out", format!("{}: {}", skip.test, skip.reason))),
    );
    for (row, (name, text)) in (0..).zip(&facts) {
        sheet.write_with_format(row, 0, *name, &Format::new().set_bold())?;
        sheet.write_string(row, 1, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use record::{Estimate, Params};

    use super::*;

    fn cell(filesystem: &str, repeat: u32, figure: f64) -> Cell {
        let mut cell = Cell::begun(format!("{filesystem}#{repeat}"), "untar", Params::default());
        cell.metrics.iops = Some(Estimate { value: figure, ci95: None, n: 1 });
        let labels = [
            ("work", "untar"),
            ("filesystem", filesystem),
            ("align", "no"),
            ("mount_options", "noatime,discard"),
            ("scheduler", "none"),
        ];
        cell.labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        cell.labels.insert("repeat".to_owned(), repeat.to_string());
        cell
    }

    fn record() -> Record {
        let mut failed = cell("jfs", 1, 1.0);
        failed.stop = Stop::Error;
        failed.reason = Some("=HYPERLINK(\"evil\")".to_owned());
        let mut detail = cell("ext4", 1, 9.0);
        detail.labels.insert("part".to_owned(), "1".to_owned());
        detail
            .metrics
            .other
            .insert("fairness".to_owned(), Estimate { value: 0.5, ci95: None, n: 4 });
        let cells = vec![
            cell("xfs", 1, 50.0),
            cell("ext4", 2, 110.0),
            cell("ext4", 1, 100.0),
            detail,
            failed,
        ];
        Record { cells, ..Record::new(record::Run::default()) }
    }

    #[test]
    fn raw_values_are_one_line_a_try_and_no_text_is_a_formula() {
        insta::assert_snapshot!(csv(&record()).replace('\r', ""), @r#"
        work,file system,fitted to AU,mount options,scheduler,repeat,outcome,result,unit,worst stall ms,median ms,p99 ms,fairness,extents per file before,extents per file after,read time against one piece,bytes written,elapsed s,reason,made by
        untar,ext4,no,"noatime,discard",none,1,done,100,a second,,,,0.5,,,,0,0,,
        untar,ext4,no,"noatime,discard",none,2,done,110,a second,,,,,,,,0,0,,
        untar,jfs,no,"noatime,discard",none,1,failed,,,,,,,,,,0,0,"'=HYPERLINK(""evil"")",
        untar,xfs,no,"noatime,discard",none,1,done,50,a second,,,,,,,,0,0,,
        "#);
    }

    #[test]
    fn a_summary_row_is_a_combination() {
        let rows = rows(&tries(&record()));
        let stalls_by_fs: Vec<(&str, Option<f64>)> =
            rows.iter().map(|row| (row.labels[1].as_str(), row.mean())).collect();
        assert_eq!(stalls_by_fs, [("ext4", Some(105.0)), ("jfs", None), ("xfs", Some(50.0))]);
        assert_eq!(best_of(&rows), Some(105.0));
    }

    #[test]
    fn a_workbook_is_made_of_anything() {
        let empty = Record { cells: Vec::new(), ..record() };
        for record in [record(), empty] {
            assert!(workbook(&record).unwrap().starts_with(b"PK"));
        }
    }
}
