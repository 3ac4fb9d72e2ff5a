//! Our own CSV: the rows of `flashmark export --format csv` (one for each cell, columns as in
//! docs/collection.md; any subset with `test` and a rate is enough) and of `matrix --csv` (one for
//! each try).

use std::collections::BTreeMap;

use record::{Cell, Estimate, Host, Latency, Medium, Params, Record, Stop, metric};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, check_cell, estimate, label, other, whole_ns,
};
use super::text::{number, short};
use super::{MAX_CELLS, assemble};

pub(super) const NAME: &str = "Flashmark's own CSV";

/// A row by the names of its columns; empty fields are absent.
type Row = BTreeMap<String, String>;

/// Records of a table; `None` if it is not a table of ours.
pub(super) fn read(text: &str) -> Option<Result<Vec<Record>, ImportTrouble>> {
    let head = text.lines().next()?;
    let names: Vec<&str> = head.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let is_cells = names.contains(&"test") && (names.contains(&"iops") || names.contains(&"bps"));
    let is_tries =
        names.contains(&"work") && names.contains(&"file system") && names.contains(&"result");
    if !is_cells && !is_tries {
        return None;
    }
    Some(
        rows(text)
            .and_then(|rows| if is_cells { of_cells(text, &rows) } else { of_tries(text, &rows) }),
    )
}

fn rows(text: &str) -> Result<Vec<Row>, ImportTrouble> {
    let mut reader =
        csv::ReaderBuilder::new().flexible(false).trim(csv::Trim::All).from_reader(text.as_bytes());
    let names: Vec<String> =
        reader.headers().map_err(ImportTrouble::new)?.iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(ImportTrouble::new)?;
        if rows.len() == MAX_CELLS {
            return Err(ImportTrouble::new(format_args!("more than {MAX_CELLS} rows")));
        }
        let fields = names.iter().cloned().zip(record.iter().map(unarmed));
        rows.push(fields.filter(|(_, text)| !text.is_empty()).collect());
    }
    Ok(rows)
}

/// Removes the apostrophe that keeps a spreadsheet from taking a text for a formula.
fn unarmed(text: &str) -> String {
    let armed = text.strip_prefix('\'').filter(|rest| rest.starts_with(['=', '+', '-', '@']));
    armed.unwrap_or(text).to_owned()
}

/// Makes the trouble of a row. Rows are counted with the head as the first.
fn at_row(row: usize, what: impl std::fmt::Display) -> ImportTrouble {
    ImportTrouble::new(format_args!("line {row}: {what}"))
}

/// Parses a field, if it is there, or returns the reason why it cannot.
fn field<T>(
    row: &Row,
    at: usize,
    name: &str,
    read: impl Fn(&str) -> Option<T>,
    what: &str,
) -> Result<Option<T>, ImportTrouble> {
    let Some(text) = row.get(name) else { return Ok(None) };
    let bad = || at_row(at, format_args!("{name} is '{}', which is {what}", short(text, 20)));
    read(text).map(Some).ok_or_else(bad)
}

fn figure(row: &Row, at: usize, name: &str) -> Result<Option<f64>, ImportTrouble> {
    field(row, at, name, number, "no number")
}

fn count(row: &Row, at: usize, name: &str) -> Result<Option<u64>, ImportTrouble> {
    let of_float = |value: f64| (value.fract() == 0.0 && value < 9e15).then_some(value as u64);
    let whole = |text: &str| text.parse().ok().or_else(|| number(text).and_then(of_float));
    field(row, at, name, whole, "no whole number")
}

/// Parses a word of a record: "byte:165" and "compressible:50" are {"byte": 165} and
/// {"compressible": 50} in a record.
fn word<T: DeserializeOwned>(row: &Row, at: usize, name: &str) -> Result<Option<T>, ImportTrouble> {
    let read = |text: &str| {
        let value = match text.split_once(':') {
            Some((kind, number)) => serde_json::json!({ kind: number.parse::<u64>().ok()? }),
            None => Value::String(text.to_owned()),
        };
        serde_json::from_value(value).ok()
    };
    field(row, at, name, read, "none")
}

/// Text of a field, of at most `most` letters.
fn text(row: &Row, name: &str, most: usize) -> Option<String> {
    row.get(name).map(|text| short(text, most))
}

fn of_cells(text: &str, rows: &[Row]) -> Result<Vec<Record>, ImportTrouble> {
    let mut runs: Vec<(&Row, ImportedRun)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, row) in (2..).zip(rows) {
        let run = row.get("run_id").map_or("", String::as_str);
        if !places.contains_key(run) {
            let (medium, host) = (medium(row, at)?, host(row));
            runs.push((row, ImportedRun { medium, host, ..ImportedRun::by("table") }));
        }
        let place = *places.entry(run).or_insert(runs.len() - 1);
        runs[place].1.push(at, of_row(row, at)?);
    }
    let (rows, found): (Vec<&Row>, Vec<ImportedRun>) = runs.into_iter().unzip();
    let mut records = finish(text, found)?;
    records.iter_mut().zip(rows).for_each(|(record, row)| about_run(record, row));
    Ok(records)
}

/// Takes the columns about the run: above all the tool that measured it.
fn about_run(record: &mut Record, row: &Row) {
    let run = &mut record.run;
    run.software.name = text(row, "software", 100).unwrap_or_else(|| "table".to_owned());
    run.software.version = text(row, "software_version", 100).unwrap_or_default();
    run.started = text(row, "started", 100);
    run.label = text(row, "label", 100);
    run.suite = text(row, "suite", 100).unwrap_or_else(|| run.suite.clone());
    let measured_by = format!("{} {}", run.software.name, run.software.version);
    // A cell that was imported before its export already names its tool.
    for cell in record.cells.iter_mut().filter(|cell| cell.label("tool") == "table") {
        label(cell, "tool", &measured_by);
    }
}

fn host(row: &Row) -> Option<Host> {
    let [kernel, arch, board] = ["kernel", "arch", "board"].map(|name| text(row, name, 100));
    let host = Host { kernel, arch, board, ..Host::default() };
    (host != Host::default()).then_some(host)
}

fn medium(row: &Row, at: usize) -> Result<Medium, ImportTrouble> {
    let kind = word(row, at, "kind")?.unwrap_or_default();
    let capacity_bytes = count(row, at, "capacity_bytes")?;
    let [vendor, model, firmware, interface] =
        ["vendor", "model", "firmware", "interface"].map(|name| text(row, name, 100));
    Ok(Medium { kind, vendor, model, firmware, interface, capacity_bytes, ..Medium::default() })
}

/// Parses a field that holds JSON: flags, labels, further metrics and parameters.
fn json<T: DeserializeOwned + Default>(
    row: &Row,
    at: usize,
    name: &str,
) -> Result<T, ImportTrouble> {
    let Some(text) = row.get(name) else { return Ok(T::default()) };
    serde_json::from_str(text)
        .map_err(|error| at_row(at, format_args!("{name} cannot be read: {error}")))
}

fn of_row(row: &Row, at: usize) -> Result<Cell, ImportTrouble> {
    let test = text(row, "test", 60).filter(|test| !test.is_empty());
    let test = test.ok_or_else(|| at_row(at, "the test is missing"))?;
    let small = |name: &str| count(row, at, name).map(|n| n.and_then(|n| u32::try_from(n).ok()));
    let params = Params {
        direction: word(row, at, "direction")?,
        pattern: word(row, at, "pattern")?,
        block_bytes: count(row, at, "block_bytes")?,
        region: word(row, at, "region")?,
        span_offset_bytes: count(row, at, "span_offset_bytes")?,
        span_bytes: count(row, at, "span_bytes")?,
        queue_depth: small("queue_depth")?.unwrap_or(1).max(1),
        threads: small("threads")?.unwrap_or(1).max(1),
        sync: word(row, at, "sync")?.unwrap_or_default(),
        path: word(row, at, "path")?.unwrap_or_default(),
        content: word(row, at, "content")?,
        passes: small("passes")?,
        form: text(row, "form", 60),
        other: json(row, at, "other_params")?,
    };
    let mut cell = cell(test, params);
    cell.metrics.iops = measured(row, at, "iops")?;
    cell.metrics.bps = measured(row, at, "bps")?;
    cell.metrics.latency_ns = latency(row, at)?;
    let others: BTreeMap<String, f64> = json(row, at, "other_metrics")?;
    others.iter().for_each(|(name, value)| other(&mut cell, &short(name, 60), *value, 1));
    cell.ops = count(row, at, "ops")?.unwrap_or(0);
    cell.bytes = count(row, at, "bytes")?.unwrap_or(0);
    cell.written_bytes = count(row, at, "written_bytes")?.unwrap_or(0);
    cell.elapsed_ns = count(row, at, "elapsed_ns")?.unwrap_or(0);
    cell.stop = word(row, at, "stop")?.unwrap_or(Stop::Ops);
    cell.reason = text(row, "reason", 300);
    cell.on = text(row, "on_what", 300);
    cell.flags = json(row, at, "flags")?;
    let labels: BTreeMap<String, String> = json(row, at, "labels")?;
    labels.iter().for_each(|(name, text)| label(&mut cell, &short(name, 60), text));
    Ok(cell)
}

/// Parses a figure with its interval and the number of I/Os behind it, as far as the table has
/// them.
fn measured(row: &Row, at: usize, name: &str) -> Result<Option<Estimate>, ImportTrouble> {
    let Some(value) = figure(row, at, name)? else { return Ok(None) };
    let n = [count(row, at, &format!("{name}_n"))?, count(row, at, "ops")?]
        .into_iter()
        .flatten()
        .next()
        .unwrap_or(1);
    let (low, high) = (
        figure(row, at, &format!("{name}_ci95_low"))?,
        figure(row, at, &format!("{name}_ci95_high"))?,
    );
    let ci95 = low.zip(high).map(|(low, high)| [low, high]).filter(|[low, high]| low <= high);
    Ok(Some(Estimate { value, ci95, n }))
}

fn latency(row: &Row, at: usize) -> Result<Option<Latency>, ImportTrouble> {
    let ns = |name: &str| count(row, at, &format!("latency_{name}_ns"));
    let (Some(mean), Some(max)) = (figure(row, at, "latency_mean_ns")?, ns("max")?) else {
        return Ok(None);
    };
    let (p50, p90, p95, p99, p99_9) =
        (ns("p50")?, ns("p90")?, ns("p95")?, ns("p99")?, ns("p99_9")?);
    let (n, min) = (count(row, at, "latency_n")?.unwrap_or(0), ns("min")?.unwrap_or(0));
    Ok(Some(Latency { n, min, mean, p50, p90, p95, p99, p99_9, max, ..Latency::default() }))
}

/// Columns that identify the combination of a try of a matrix, and the labels of a cell for them.
const LABELS: [(&str, &str); 6] = [
    ("work", "work"),
    ("file system", "filesystem"),
    ("fitted to AU", "align"),
    ("mount options", "mount_options"),
    ("scheduler", "scheduler"),
    ("repeat", "repeat"),
];

fn of_tries(whole: &str, rows: &[Row]) -> Result<Vec<Record>, ImportTrouble> {
    let mut found = ImportedRun::by("table");
    for (at, row) in (2..).zip(rows) {
        let work = text(row, "work", 60).ok_or_else(|| at_row(at, "the work is missing"))?;
        let mut cell = cell(work, Params::default());
        for (column, name) in LABELS {
            label(&mut cell, name, row.get(column).map_or("", String::as_str));
        }
        let result = figure(row, at, "result")?;
        match (result, row.get("unit").map(String::as_str)) {
            (Some(value), Some("a second")) => cell.metrics.iops = Some(estimate(value, 1)),
            (Some(value), _) => cell.elapsed_ns = whole_ns(value * 1e9),
            (None, _) => {}
        }
        if cell.elapsed_ns == 0 {
            cell.elapsed_ns =
                figure(row, at, "elapsed s")?.map_or(0, |seconds| whole_ns(seconds * 1e9));
        }
        if let Some(ms) = figure(row, at, "worst stall ms")? {
            other(&mut cell, metric::WORST_STALL_NS, ms * 1e6, 1);
        }
        cell.written_bytes = figure(row, at, "bytes written")?.map_or(0, |bytes| bytes as u64);
        if row.get("outcome").is_some_and(|outcome| outcome == "failed") {
            cell.stop = Stop::Error;
            cell.reason = text(row, "reason", 300).or(Some("failed".to_owned()));
        }
        found.push(at, cell);
    }
    finish(whole, vec![found])
}

fn finish(text: &str, found: Vec<ImportedRun>) -> Result<Vec<Record>, ImportTrouble> {
    if found.iter().all(|found| found.cells.is_empty()) {
        return Err(ImportTrouble::new("it has no rows"));
    }
    found.iter().flat_map(|found| &found.cells).try_for_each(check_cell)?;
    Ok(assemble::one_by_one("table", text.as_bytes(), found))
}
