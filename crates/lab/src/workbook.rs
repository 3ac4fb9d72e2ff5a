//! The raw values of a matrix for people who work in spreadsheets: a workbook with formulas, and
//! the same rows as CSV.
//!
//! The sheet "Results" holds one row for each try, as measured; "Summary" one row for each
//! combination, computed from "Results" by formulas, so that its figures follow when rows are
//! removed or added. "About" describes the host and the medium.

use findings::matrix::{CombinationResult, WorkPlaces};
use record::units::Bytes;
use record::{Cell, Combination, Record, Stop, metric};
use rust_xlsxwriter::{
    ConditionalFormat3ColorScale, Format, Formula, Workbook, Worksheet, XlsxError,
};

/// Columns of the raw values.
const COLUMNS: [&str; 20] = [
    "work",
    "file system",
    "fitted to AU",
    "mount options",
    "scheduler",
    "repeat",
    "outcome",
    "result",
    "unit",
    "worst stall ms",
    "median ms",
    "p99 ms",
    "fairness",
    "extents per file before",
    "extents per file after",
    "read time against one piece",
    "bytes written",
    "elapsed s",
    "reason",
    "made by",
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

/// Work, file system, settings fitted to the medium, mount options, scheduler.
fn labels(combination: &Combination) -> [&str; LABELS as usize] {
    let Combination { filesystem, align, mount_options, scheduler, work } = combination;
    [work, filesystem, if *align { "yes" } else { "no" }, mount_options, scheduler]
}

fn texts(combination: &Combination) -> impl Iterator<Item = Value> {
    labels(combination).into_iter().map(|label| Value::Text(label.to_owned()))
}

/// All tries, by work and combination: rows of the sheet "Results".
fn tries(record: &Record) -> Vec<Vec<Value>> {
    let is_headline = |cell: &&Cell| {
        !cell.label("filesystem").is_empty() && cell.is_headline() && cell.stop != Stop::Interrupted
    };
    let mut heads: Vec<&Cell> = record.cells.iter().filter(is_headline).collect();
    let repeat = |cell: &Cell| cell.label("repeat").parse::<u32>().unwrap_or(0);
    heads.sort_by_cached_key(|cell| {
        (labels(&Combination::of(cell)).map(str::to_owned), repeat(cell))
    });
    heads.into_iter().map(|head| one(head, record)).collect()
}

fn one(head: &Cell, record: &Record) -> Vec<Value> {
    let combination = Combination::of(head);
    let same = |cell: &&Cell| {
        Combination::of(cell) == combination && cell.label("repeat") == head.label("repeat")
    };
    let parts: Vec<&Cell> = record.cells.iter().filter(same).collect();
    let other = |name: &str| {
        parts.iter().find_map(|cell| cell.metrics.other.get(name)).map(|estimate| estimate.value)
    };
    let worst =
        parts.iter().filter_map(|cell| findings::matrix::stall(cell)).max_by(f64::total_cmp);
    let latency = head.metrics.latency_ns.as_ref();
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    let failed = head.stop == Stop::Error;
    let result = if failed { None } else { head.work_result() };
    let text = |text: &str| Value::Text(text.to_owned());
    let figures = [
        Value::of(head.label("repeat").parse().ok()),
        text(if failed { "failed" } else { "done" }),
        Value::of(result.map(|(figure, _)| figure)),
        text(result.map_or("", |(_, larger)| unit(larger))),
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
    ];
    texts(&combination).chain(figures).collect()
}

fn unit(larger_is_better: bool) -> &'static str {
    if larger_is_better { "a second" } else { "s" }
}

/// Raw values as CSV (RFC 4180): a line with the names of the columns, then one line for each try, and
/// for each phase of its threads, which has the last columns.
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
    let heads = [&COLUMNS[..], PHASE].concat();
    let line = |one: &Vec<Value>| {
        let values = one.iter().chain([const { &Value::Nothing }; PHASE.len()]).take(heads.len());
        values.map(value).collect::<Vec<_>>().join(",")
    };
    let mut lines = vec![heads.join(",")];
    lines.extend(tries(record).iter().chain(&phases(record)).map(line));
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
    let works = findings::matrix::of(record).map_or_else(Vec::new, |matrix| matrix.works);
    summary(workbook.add_worksheet(), &works, tries.len() + 1)?;
    table(workbook.add_worksheet(), "Results", &COLUMNS, &tries, 2)?;
    let phases = phases(record);
    if !phases.is_empty() {
        let named = usize::from(LABELS) + 1;
        let row = |row: &Vec<Value>| [&row[..named], &row[COLUMNS.len()..]].concat();
        let rows: Vec<Vec<Value>> = phases.iter().map(row).collect();
        table(workbook.add_worksheet(), "Threads", &[&COLUMNS[..named], PHASE].concat(), &rows, 2)?;
    }
    about(workbook.add_worksheet(), record)?;
    workbook.save_to_buffer()
}

/// Fills a sheet with a table: its name, heads and rows; the heads and the first `fixed` columns stay
/// in sight.
fn table(
    sheet: &mut Worksheet,
    name: &str,
    heads: &[&str],
    rows: &[Vec<Value>],
    fixed: u16,
) -> Result<(), XlsxError> {
    let head = Format::new().set_bold().set_text_wrap().set_background_color("#E8ECF1");
    sheet.set_name(name)?.write_row_with_format(0, 0, heads.iter().copied(), &head)?;
    for (row, values) in (1_u32..).zip(rows) {
        for (column, value) in (0_u16..).zip(values) {
            match value {
                Value::Text(text) => sheet.write_string(row, column, text)?,
                Value::Number(number) => sheet.write_number(row, column, *number)?,
                Value::Nothing => continue,
            };
        }
    }
    sheet.set_freeze_panes(1, fixed)?.set_autofit_max_width(160).autofit();
    if !rows.is_empty() {
        sheet.autofilter(0, 0, rows.len() as u32, heads.len() as u16 - 1)?;
    }
    Ok(())
}

/// The throughput of the threads in a phase, as iozone's throughput mode prints it.
const PHASE: &[&str] = &["phase", "children MB/s", "parent MB/s", "slowest MB/s", "fastest MB/s"];

/// A row for each phase of threads: what names its try, nothing of the try, and [`PHASE`].
fn phases(record: &Record) -> Vec<Vec<Value>> {
    let row = |cell: &Cell| {
        let figures = record::thread_views(cell)?.map(Value::of);
        let repeat = Value::of(cell.label("repeat").parse().ok());
        let nothing = std::iter::repeat_n(Value::Nothing, COLUMNS.len() - usize::from(LABELS) - 1);
        let phase = Value::Text(cell.params.form.clone().unwrap_or_default());
        let combination = Combination::of(cell);
        let labels = texts(&combination).chain([repeat]);
        Some(labels.chain(nothing).chain([phase]).chain(figures).collect())
    };
    record.cells.iter().filter_map(row).collect()
}

/// Writes one row for each combination, the best of each work first; `last` is the last line of the
/// sheet "Results". Results of formulas are written too, for programs that do not calculate.
fn summary(sheet: &mut Worksheet, works: &[WorkPlaces], last: usize) -> Result<(), XlsxError> {
    let names = ["tries", "geometric mean", "least", "largest", "unit", "against the best"];
    let heads = [&COLUMNS[..usize::from(LABELS)], &names].concat();
    let placed = |work: &WorkPlaces| -> Vec<Vec<Value>> {
        let places = work.places.iter().map(|place| texts(&place.combination).collect());
        let failed = |(combination, _): &(Combination, String)| {
            let no_result = [Value::Nothing, Value::Text("failed".to_owned())];
            texts(combination).chain(no_result).collect()
        };
        places.chain(work.failed.iter().map(failed)).collect()
    };
    let rows: Vec<Vec<Vec<Value>>> = works.iter().map(placed).collect();
    table(sheet, "Summary", &heads, &rows.concat(), 0)?;
    let scale = ConditionalFormat3ColorScale::new()
        .set_minimum_color("F4A582")
        .set_midpoint_color("F7F7F7")
        .set_maximum_color("7FBF7B");
    let mut first = 1;
    for (work, rows) in works.iter().zip(&rows).filter(|(_, rows)| !rows.is_empty()) {
        let end = first + rows.len() as u32;
        for (row, place) in (first..).zip(&work.places) {
            write_row(sheet, place, work.larger_is_better, row, [first + 1, end], last)?;
        }
        sheet.add_conditional_format(first, 10, end - 1, 10, &scale)?;
        first = end;
    }
    Ok(())
}

/// Writes the figures of a combination. `row` counts from 0, as the library does; the lines of its
/// work from 1, as formulas do.
fn write_row(
    sheet: &mut Worksheet,
    place: &CombinationResult,
    larger_is_better: bool,
    row: u32,
    [from, to]: [u32; 2],
    last: usize,
) -> Result<(), XlsxError> {
    let line = row + 1;
    let values = format!("Results!$H$2:$H${last}");
    let same = ["A", "B", "C", "D", "E"]
        .map(|column| format!("(Results!${column}$2:${column}${last}=${column}{line})"))
        .join("*");
    let pick = |pick: fn(f64, f64) -> f64| place.figures.iter().copied().reduce(pick);
    // MINIFS and MAXIFS are younger than many programs; AGGREGATE is in all of them, but
    // LibreOffice's takes no conditions: so products
    let count = format!("SUMPRODUCT({same}*({values}>0))");
    let logarithms = format!("SUMPRODUCT({same}*LN({values}+({values}=0)))");
    let figures = [
        (format!("={count}"), Some(place.figures.len() as f64)),
        (format!("=EXP({logarithms}/{count})"), Some(place.centre)),
        (
            format!("=1/SUMPRODUCT(MAX({same}*(({values}>0)/({values}+({values}=0)))))"),
            pick(f64::min),
        ),
        (format!("=SUMPRODUCT(MAX({same}*{values}))"), pick(f64::max)),
    ];
    for (column, (formula, result)) in (LABELS..).zip(figures) {
        let result = result.unwrap_or_default().to_string();
        sheet.write_formula(row, column, Formula::new(formula).set_result(result))?;
    }
    sheet.write_string(row, 9, unit(larger_is_better))?;
    let against = if larger_is_better {
        format!("=G{line}/MAX(G${from}:G${to})")
    } else {
        format!("=MIN(G${from}:G${to})/G{line}")
    };
    let against = Formula::new(against).set_result(place.relative.to_string());
    sheet.write_formula_with_format(row, 10, against, &Format::new().set_num_format("0.00"))?;
    Ok(())
}

fn about(sheet: &mut Worksheet, record: &Record) -> Result<(), XlsxError> {
    sheet.set_name("About")?;
    sheet.set_column_width(0, 20)?;
    sheet.set_column_width(1, 100)?;
    let medium = &record.medium;
    let names = [&medium.vendor, &medium.model].into_iter().flatten();
    let capacity = medium.capacity_bytes.map(|bytes| Bytes(bytes).to_string());
    let host = record.host.clone().unwrap_or_default();
    let mut facts = vec![
        ("Run", record.run.id.clone()),
        ("Started", record.run.started.clone().unwrap_or_default()),
        ("Medium", names.cloned().collect::<Vec<_>>().join(" ")),
        ("Capacity", capacity.unwrap_or_default()),
        ("Kernel", host.kernel.unwrap_or_default()),
        ("Board", host.board.unwrap_or_default()),
        ("Processor", host.cpu.unwrap_or_default()),
        ("Seed", record.run.seed.to_string()),
        ("Software", format!("{} {}", record.run.software.name, record.run.software.version)),
    ];
    facts.extend(record.findings.iter().map(|finding| ("Finding", finding.statement.clone())));
    let skipped = record.skipped.iter();
    facts.extend(skipped.map(|skip| ("Left out", format!("{}: {}", skip.test, skip.reason))));
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
        cell.metrics.iops = Some(Estimate::of(figure, 1));
        let [filesystem, mount_options, scheduler, work] =
            [filesystem, "noatime,discard", "none", "untar"].map(str::to_owned);
        let align = false;
        let combination = Combination { filesystem, align, mount_options, scheduler, work };
        cell.labels = combination.labels(repeat);
        cell
    }

    fn record() -> Record {
        let mut failed = cell("jfs", 1, 1.0);
        failed.stop = Stop::Error;
        failed.reason = Some("=HYPERLINK(\"evil\")".to_owned());
        let mut detail = cell("ext4", 1, 9.0);
        detail.labels.insert("part".to_owned(), "1".to_owned());
        let fairness = Estimate::of(0.5, 4);
        detail.metrics.other.insert("fairness".to_owned(), fairness);
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
        work,file system,fitted to AU,mount options,scheduler,repeat,outcome,result,unit,worst stall ms,median ms,p99 ms,fairness,extents per file before,extents per file after,read time against one piece,bytes written,elapsed s,reason,made by,phase,children MB/s,parent MB/s,slowest MB/s,fastest MB/s
        untar,ext4,no,"noatime,discard",none,1,done,100,a second,,,,0.5,,,,0,0,,,,,,,
        untar,ext4,no,"noatime,discard",none,2,done,110,a second,,,,,,,,0,0,,,,,,,
        untar,jfs,no,"noatime,discard",none,1,failed,,,,,,,,,,0,0,"'=HYPERLINK(""evil"")",,,,,,
        untar,xfs,no,"noatime,discard",none,1,done,50,a second,,,,,,,,0,0,,,,,,,
        "#);
    }

    #[test]
    fn a_workbook_is_made_of_anything() {
        let empty = Record { cells: Vec::new(), ..record() };
        for record in [record(), empty] {
            assert!(workbook(&record).unwrap().starts_with(b"PK"));
        }
    }
}
