//! Columns of every export: of a run, and of a cell. Names are stable: one may be added at the end,
//! none changes its meaning. Names have the unit, as in the record.

use std::collections::BTreeMap;

use record::collection::{CollectionRun, FIGURES, HeadlineFigure};
use record::{Cell, Estimate, Flag, Health, Moment, Published};
use serde::Serialize;

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Texts in UTF-8, never empty ones.
    Text,
    /// Texts that are JSON.
    Json,
    /// Lists of words; separated by spaces where a format has no lists.
    Words,
    /// Points in time, to the microsecond; RFC 3339 in UTC where a format has no times.
    Time,
    /// Whole numbers that fit into 63 bits.
    Integer,
    /// Floating-point numbers of 64 bits, always finite.
    Real,
    /// True or false; `true` and `false` in CSV.
    Truth,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// Value of a column of texts or JSON.
    Text(String),
    /// Value of a column of lists of words.
    Words(Vec<String>),
    /// Value of a column of times.
    Time(Moment),
    /// Value of a column of whole numbers.
    Integer(i64),
    /// Value of a column of floating-point numbers.
    Real(f64),
    /// Value of a column of truth values.
    Truth(bool),
    /// Not known, or not measured.
    Nothing,
}

/// A column: its name, its type, and the function that gives its value.
pub struct ExportColumn<T> {
    /// Name of the column: stable, and the same in all formats.
    pub name: &'static str,
    /// Type of its values.
    pub kind: ColumnKind,
    value: fn(&T) -> ColumnValue,
}

impl<T> ExportColumn<T> {
    /// Value of this column for a row.
    pub fn of(&self, row: &T) -> ColumnValue {
        (self.value)(row)
    }
}

pub(super) fn text(value: Option<&str>) -> ColumnValue {
    value
        .filter(|text| !text.is_empty())
        .map_or(ColumnValue::Nothing, |text| ColumnValue::Text(text.to_owned()))
}

/// A time as RFC 3339 writes it; a date alone is its first moment in UTC.
pub(super) fn time(value: Option<&str>) -> ColumnValue {
    let read = |text: &str| Moment::read(text).or_else(|| Moment::read_date(text));
    value.and_then(read).map_or(ColumnValue::Nothing, ColumnValue::Time)
}

/// Name of a flag in a record.
fn flag_name(flag: &Flag) -> Option<String> {
    Some(flag.json().get("flag")?.as_str()?.to_owned())
}

/// Names of flags, in their order.
fn flag_names(flags: &[Flag]) -> ColumnValue {
    if flags.is_empty() {
        return ColumnValue::Nothing;
    }
    ColumnValue::Words(flags.iter().filter_map(flag_name).collect())
}

pub(super) fn integer(value: Option<impl TryInto<i64>>) -> ColumnValue {
    // No medium has larger values than `i64::MAX`.
    value.map_or(ColumnValue::Nothing, |number| {
        ColumnValue::Integer(number.try_into().unwrap_or(i64::MAX))
    })
}

pub(super) fn real(value: Option<f64>) -> ColumnValue {
    value.filter(|number| number.is_finite()).map_or(ColumnValue::Nothing, ColumnValue::Real)
}

/// Word that the record has for an enumerated value; "byte:165" for one with a number.
pub(super) fn word(value: Option<impl Serialize>) -> ColumnValue {
    match value.map(serde_json::to_value) {
        Some(Ok(serde_json::Value::String(word))) => ColumnValue::Text(word),
        Some(Ok(serde_json::Value::Object(pair))) => {
            pair.iter().next().map_or(ColumnValue::Nothing, |(name, number)| {
                ColumnValue::Text(format!("{name}:{number}"))
            })
        }
        _ => ColumnValue::Nothing,
    }
}

fn json(value: &impl Serialize, is_empty: bool) -> ColumnValue {
    if is_empty {
        ColumnValue::Nothing
    } else {
        serde_json::to_string(value).map_or(ColumnValue::Nothing, ColumnValue::Text)
    }
}

/// Values of estimates by name; those that are not finite are left out, because JSON cannot
/// represent them.
fn values(estimates: &BTreeMap<String, Estimate>) -> ColumnValue {
    let finite: BTreeMap<&str, f64> = estimates
        .iter()
        .filter(|(_, found)| found.value.is_finite())
        .map(|(name, found)| (name.as_str(), found.value))
        .collect();
    json(&finite, finite.is_empty())
}

macro_rules! columns {
    ($(#[$doc:meta])* $name:ident : $row:ty; $($column:literal $kind:ident $value:expr,)*) => {
        $(#[$doc])*
        pub const $name: &[ExportColumn<$row>] = &[$(ExportColumn { name: $column, kind: ColumnKind::$kind, value: $value }),*];
    };
}

fn run(entry: &CollectionRun) -> &Published {
    &entry.run
}

fn health(entry: &CollectionRun) -> Option<&Health> {
    entry.run.health.as_ref()
}

columns! {
    /// Columns of a table with one row for each run. A column for each headline figure follows
    /// them.
    RUN: CollectionRun;
    "run_id" Text |e| text(Some(&e.id)),
    "received" Time |e| time(Some(&e.received)),
    "origin" Text |e| text(Some(e.origin.name())),
    "name" Text |e| text(Some(&run(e).name())),
    "kind" Text |e| text(Some(run(e).kind.name())),
    "vendor" Text |e| text(run(e).vendor.as_deref()),
    "model" Text |e| text(run(e).model.as_deref()),
    "firmware" Text |e| text(run(e).firmware.as_deref()),
    "capacity_bytes" Integer |e| integer(run(e).capacity_bytes),
    "model_vendor" Text |e| text(Some(&e.model.vendor)),
    "model_name" Text |e| text(Some(&e.model.model)),
    "model_capacity_gb" Integer |e| integer(Some(e.model.capacity_gb)),
    "is_fake" Truth |e| ColumnValue::Truth(e.headline.is_fake),
    "interface" Text |e| text(run(e).interface.as_deref()),
    "attached" Text |e| text(run(e).interface_words().as_deref()),
    "classes" Text |e| text(Some(&run(e).class_words().join(" "))),
    "manufacturer" Text |e| text(run(e).manufacturer.as_deref()),
    "oem" Text |e| text(run(e).oem.as_deref()),
    "made" Text |e| text(run(e).made.as_deref()),
    "profile" Text |e| text(run(e).profile.as_deref()),
    "label" Text |e| text(run(e).label.as_deref()),
    "started" Time |e| time(run(e).started.as_deref()),
    "run_elapsed_ns" Integer |e| integer(Some(run(e).elapsed_ns)),
    "suite" Text |e| text(Some(&run(e).suite)),
    "seed" Text |e| text(Some(&run(e).seed.to_string())),
    "software" Text |e| text(Some(&run(e).software.name)),
    "software_version" Text |e| text(Some(&run(e).software.version)),
    "target" Text |e| word(Some(run(e).target)),
    "filesystem" Text |e| text(run(e).filesystem.as_deref()),
    "mount_options" Text |e| text(run(e).mount_options.as_deref()),
    "scheduler" Text |e| text(run(e).queue.as_ref().and_then(|queue| queue.scheduler.as_deref())),
    "link_driver" Text |e| text(run(e).link.as_ref().and_then(|link| link.driver.as_deref())),
    "link_mode" Text |e| text(run(e).link.as_ref().and_then(|link| link.mode.as_deref())),
    "reader" Text |e| text(run(e).link.as_ref().and_then(|link| link.usb_name.as_deref())),
    "engine" Text |e| text(run(e).engine.as_deref()),
    "kernel" Text |e| text(run(e).kernel.as_deref()),
    "arch" Text |e| text(run(e).arch.as_deref()),
    "board" Text |e| text(run(e).board.as_deref()),
    "cpu" Text |e| text(run(e).cpu.as_deref()),
    "cpus" Integer |e| integer(run(e).cpus),
    "governor" Text |e| text(run(e).governor.as_deref()),
    "cells" Integer |e| integer(Some(run(e).cells.len())),
    "verdict" Text |e| text(e.headline.verdict.as_deref()),
    "faults" Text |e| text(Some(&e.headline.faults.join(" "))),
    "local_name" Text |e| text(e.local_name.as_deref()),
    "life_used_percent" Real |e| real(health(e).and_then(|health| health.used_percent)),
    "life_written_bytes" Integer |e| integer(health(e).and_then(|health| health.written_bytes)),
    "media_errors" Integer |e| integer(health(e).and_then(|health| health.media_errors)),
}

/// Columns of a run that are repeated in each row of its cells, in formats with a single table.
pub const REPEATED: &str = "run_id received origin name kind vendor model firmware capacity_bytes is_fake \
    interface classes label started suite software software_version filesystem scheduler reader \
    kernel arch board local_name";

fn rate(estimate: Option<&Estimate>, part: fn(&Estimate) -> Option<f64>) -> ColumnValue {
    real(estimate.and_then(part))
}

fn low(estimate: &Estimate) -> Option<f64> {
    estimate.ci95.map(|[low, _]| low)
}

fn high(estimate: &Estimate) -> Option<f64> {
    estimate.ci95.map(|[_, high]| high)
}

fn value(estimate: &Estimate) -> Option<f64> {
    Some(estimate.value)
}

fn latency(cell: &Cell, part: fn(&record::Latency) -> Option<u64>) -> ColumnValue {
    integer(cell.metrics.latency_ns.as_ref().and_then(part))
}

columns! {
    /// Columns of a table with one row for each cell.
    CELL: Cell;
    "cell_id" Text |c| text(Some(&c.id)),
    "test" Text |c| text(Some(&c.test)),
    "direction" Text |c| word(c.params.direction),
    "pattern" Text |c| word(c.params.pattern),
    "block_bytes" Integer |c| integer(c.params.block_bytes),
    "region" Text |c| word(c.params.region),
    "span_offset_bytes" Integer |c| integer(c.params.span_offset_bytes),
    "span_bytes" Integer |c| integer(c.params.span_bytes),
    "queue_depth" Integer |c| integer(Some(c.params.queue_depth)),
    "threads" Integer |c| integer(Some(c.params.threads)),
    "sync" Text |c| word(Some(c.params.sync)),
    "path" Text |c| word(Some(c.params.path)),
    "content" Text |c| word(c.params.content),
    "passes" Integer |c| integer(c.params.passes),
    "form" Text |c| text(c.params.form.as_deref()),
    "iops" Real |c| rate(c.metrics.iops.as_ref(), value),
    "iops_ci95_low" Real |c| rate(c.metrics.iops.as_ref(), low),
    "iops_ci95_high" Real |c| rate(c.metrics.iops.as_ref(), high),
    "iops_n" Integer |c| integer(c.metrics.iops.map(|found| found.n)),
    "bps" Real |c| rate(c.metrics.bps.as_ref(), value),
    "bps_ci95_low" Real |c| rate(c.metrics.bps.as_ref(), low),
    "bps_ci95_high" Real |c| rate(c.metrics.bps.as_ref(), high),
    "bps_n" Integer |c| integer(c.metrics.bps.map(|found| found.n)),
    "latency_n" Integer |c| latency(c, |l| Some(l.n)),
    "latency_min_ns" Integer |c| latency(c, |l| Some(l.min)),
    "latency_mean_ns" Real |c| real(c.metrics.latency_ns.as_ref().map(|found| found.mean)),
    "latency_p50_ns" Integer |c| latency(c, |l| l.p50),
    "latency_p90_ns" Integer |c| latency(c, |l| l.p90),
    "latency_p95_ns" Integer |c| latency(c, |l| l.p95),
    "latency_p99_ns" Integer |c| latency(c, |l| l.p99),
    "latency_p99_9_ns" Integer |c| latency(c, |l| l.p99_9),
    "latency_max_ns" Integer |c| latency(c, |l| Some(l.max)),
    "ops" Integer |c| integer(Some(c.ops)),
    "bytes" Integer |c| integer(Some(c.bytes)),
    "written_bytes" Integer |c| integer(Some(c.written_bytes)),
    "elapsed_ns" Integer |c| integer(Some(c.elapsed_ns)),
    "stop" Text |c| word(Some(c.stop)),
    "reason" Text |c| text(c.reason.as_deref()),
    "flags" Json |c| json(&c.flags, c.flags.is_empty()),
    "is_impossible" Truth |c| ColumnValue::Truth(c.flags.iter().any(Flag::is_impossible)),
    "on_what" Text |c| text(c.on.as_deref()),
    "other_metrics" Json |c| values(&c.metrics.other),
    "other_params" Json |c| json(&c.params.other, c.params.other.is_empty()),
    "labels" Json |c| json(&c.labels, c.labels.is_empty()),
    "counts" Text |c| word(Some(c.count_unit())),
    "flag_names" Words |c| flag_names(&c.flags),
}

/// The columns of [`REPEATED`].
pub(super) fn repeated() -> impl Iterator<Item = &'static ExportColumn<CollectionRun>> {
    REPEATED.split(' ').filter_map(|name| RUN.iter().find(|column| column.name == name))
}

/// Names and types of the columns of a table, in formats with a table of runs and one of cells.
pub(super) type Columns = Vec<(String, ColumnKind)>;

/// Units of numeric columns, as a JSON object by name of the column: `B`, `B/s`, `1/s`, `ns`, `GB`,
/// and `1` for counts.
pub(super) fn units(columns: &Columns) -> String {
    let units: serde_json::Map<String, serde_json::Value> = columns
        .iter()
        .filter(|(_, kind)| matches!(kind, ColumnKind::Integer | ColumnKind::Real))
        .map(|(name, _)| (name.clone(), serde_json::Value::from(unit(name))))
        .collect();
    serde_json::Value::from(units).to_string()
}

fn unit(name: &str) -> &'static str {
    let quantity = name.trim_end_matches("_ci95_low").trim_end_matches("_ci95_high");
    match quantity.rsplit('_').next().unwrap_or_default() {
        "bytes" => "B",
        "bps" => "B/s",
        "iops" => "1/s",
        "ns" => "ns",
        "gb" => "GB",
        _ => "1",
    }
}

fn named<T>(column: &ExportColumn<T>) -> (String, ColumnKind) {
    (column.name.to_owned(), column.kind)
}

/// The columns of a table of runs.
pub(super) fn of_runs() -> Columns {
    let figures = FIGURES.iter().map(|figure| (figure.download_column(), ColumnKind::Real));
    RUN.iter().map(named).chain(figures).collect()
}

/// The columns of the table of cells beside it: each row begins with the id of its run.
pub(super) fn of_cells() -> Columns {
    RUN.iter().take(1).map(named).chain(CELL.iter().map(named)).collect()
}

/// The row of a run in [`of_runs`].
pub(super) fn run_row(entry: &CollectionRun) -> impl Iterator<Item = ColumnValue> {
    let figure = |figure| real(entry.headline.figures.get(&figure).copied());
    RUN.iter().map(|column| column.of(entry)).chain(HeadlineFigure::ALL.into_iter().map(figure))
}

/// The rows of its cells in [`of_cells`].
pub(super) fn cell_rows(
    entry: &CollectionRun,
) -> impl Iterator<Item = impl Iterator<Item = ColumnValue>> {
    entry.run.cells.iter().map(|cell| {
        let id = ColumnValue::Text(entry.id.clone());
        std::iter::once(id).chain(CELL.iter().map(|column| column.of(cell)))
    })
}
