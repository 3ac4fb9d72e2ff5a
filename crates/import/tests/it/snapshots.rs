//! Snapshots of the records of every sample, and of texts as people paste them.

use std::fmt::Write;

use import::{Import, ImportError, understand};
use record::units::Bytes;
use record::{Cell, Latency, Record, Stop};

/// A figure as it was read, without rounding errors of binary fractions.
fn plain(value: f64) -> String {
    format!("{}", (value * 1e6).round() / 1e6)
}

/// Word by which serde serialises a value.
fn word(value: impl serde::Serialize) -> String {
    let json = serde_json::to_string(&value).unwrap();
    json.trim_matches('"').to_owned()
}

/// Procedure: direction, order, sizes, queue depth, path.
fn procedure(cell: &Cell) -> String {
    let params = &cell.params;
    let bytes = |name: &str, bytes: Option<u64>| bytes.map(|n| format!("{name} {}", Bytes(n)));
    let count = |name: &str, n: u32| (n != 1).then(|| format!("{name} {n}"));
    let words = [
        params.form.as_ref().map(|form| format!("form {form}")),
        params.direction.map(word),
        params.pattern.map(word),
        bytes("block", params.block_bytes),
        bytes("from", params.span_offset_bytes),
        bytes("span", params.span_bytes),
        params.region.map(|region| format!("region {}", word(region))),
        count("queue depth", params.queue_depth),
        count("threads", params.threads),
        Some(word(params.path)),
        (params.sync != record::Sync::None).then(|| format!("sync {}", word(params.sync))),
        params.content.map(|content| format!("content {}", word(content))),
    ];
    let others = params.other.iter().map(|(name, value)| Some(format!("{name} {value}")));
    words.into_iter().chain(others).flatten().collect::<Vec<_>>().join(", ")
}

fn latency(latency: &Latency) -> String {
    let mut text = format!(
        "latency of {} I/Os: min {} ns, mean {} ns",
        latency.n,
        latency.min,
        plain(latency.mean)
    );
    let shares = [
        ("p50", latency.p50),
        ("p90", latency.p90),
        ("p95", latency.p95),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("max", Some(latency.max)),
    ];
    for (name, ns) in shares.into_iter().filter_map(|(name, ns)| Some((name, ns?))) {
        write!(text, ", {name} {ns} ns").unwrap();
    }
    text
}

/// The figures of a cell, each with its unit.
fn figures(cell: &Cell) -> Vec<String> {
    let mut figures = Vec::new();
    let metrics = &cell.metrics;
    for (unit, figure) in [("IOPS", metrics.iops), ("B/s", metrics.bps)] {
        let Some(figure) = figure else { continue };
        let ends = figure.ci95.map(|[low, high]| format!(" ({} to {})", plain(low), plain(high)));
        figures.push(format!("{} {unit}{}", plain(figure.value), ends.unwrap_or_default()));
    }
    figures
        .extend(metrics.other.iter().map(|(name, other)| format!("{name} {}", plain(other.value))));
    let totals = [
        ("I/Os", cell.ops),
        ("B", cell.bytes),
        ("B written", cell.written_bytes),
        ("ns", cell.elapsed_ns),
    ];
    figures.extend(totals.iter().filter(|(_, n)| *n > 0).map(|(unit, n)| format!("{n} {unit}")));
    figures.extend(metrics.latency_ns.as_ref().map(latency));
    figures.extend(cell.histogram.as_ref().map(|it| format!("histogram of {} I/Os", it.len())));
    figures.extend(cell.series.iter().map(|series| {
        let sum: f64 = series.points.iter().map(|[x, y]| x + y).sum();
        format!("curve '{}' of {} points, sum {}", series.name, series.points.len(), plain(sum))
    }));
    figures
}

fn cell(cell: &Cell, notes_before: &mut Vec<String>) -> String {
    let mut text = format!("  {}: {}\n", cell.id, procedure(cell));
    writeln!(text, "    {}", figures(cell).join("; ")).unwrap();
    let labels = cell.labels.iter().filter(|(name, _)| *name != "tool");
    let labels: Vec<String> = labels.map(|(name, label)| format!("{name}={label}")).collect();
    if !labels.is_empty() {
        writeln!(text, "    {}", labels.join(" ")).unwrap();
    }
    if cell.stop == Stop::Error {
        writeln!(text, "    failed: {}", cell.reason.as_deref().unwrap_or_default()).unwrap();
    }
    // Notes that an earlier cell had are not repeated.
    let notes: Vec<String> = cell.flags.iter().map(ToString::to_string).collect();
    if notes != *notes_before {
        notes.iter().for_each(|note| writeln!(text, "    note: {note}").unwrap());
        *notes_before = notes;
    }
    text
}

fn record(record: &Record) -> String {
    let (run, medium, target) = (&record.run, &record.medium, &record.target);
    let host = record.host.as_ref().map(|host| {
        format!(
            "host {} {}",
            host.kernel.as_deref().unwrap_or("-"),
            host.arch.as_deref().unwrap_or("-")
        )
    });
    let facts = [
        Some(format!("medium {}", word(medium.kind))),
        medium.vendor.clone(),
        medium.model.clone(),
        medium.capacity_bytes.map(|bytes| Bytes(bytes).to_string()),
        medium.serial.as_ref().map(|serial| format!("serial {serial}")),
        medium.firmware.as_ref().map(|firmware| format!("firmware {firmware}")),
        medium.claims.as_ref().and_then(|it| Some(format!("claims {} B/s written", it.write_bps?))),
        medium
            .health
            .as_ref()
            .map(|health| format!("health {}", serde_json::to_string(health).unwrap())),
        Some(format!("target {} {}", word(target.kind), target.path)),
        target.device.as_ref().map(|device| format!("device {device}")),
        host,
        run.started.as_ref().map(|started| format!("from {started}")),
        run.finished.as_ref().map(|finished| format!("to {finished}")),
    ];
    let facts = facts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let software = format!("{} {}", run.software.name, run.software.version);
    let mut text = format!("{}: {facts}, {}\n", software.trim_end(), word(run.ended));
    record.flags.iter().for_each(|flag| writeln!(text, "  note: {flag}").unwrap());
    let mut notes = Vec::new();
    record.cells.iter().for_each(|one| text += &cell(one, &mut notes));
    text
}

/// All records and errors from a text, for the snapshot.
pub fn outcome_text(import: &Result<Import, ImportError>) -> String {
    let import = match import {
        Ok(import) => import,
        Err(error) => return format!("refused: {error}\n"),
    };
    let cells: usize = import.records.iter().map(|record| record.cells.len()).sum();
    let mut text = format!("{} records, {cells} results\n", import.records.len());
    import.records.iter().for_each(|one| text += &record(one));
    for line in &import.left {
        let why = line.why.as_ref().map(|why| format!(": {why}"));
        writeln!(text, "not taken, line {}: {}{}", line.line, line.text, why.unwrap_or_default())
            .unwrap();
    }
    text
}

fn outcome_of(bytes: &[u8]) -> String {
    outcome_text(&understand("text", bytes, None))
}

#[test]
fn sample_figures() {
    insta::glob!("../../../../fixtures/import", "*.{txt,json,csv}", |path| {
        let bytes = std::fs::read(path).unwrap();
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(outcome_of(&bytes));
        });
        for record in import::read("text", &bytes).unwrap_or_else(|error| panic!("{error}")) {
            assert_eq!(Record::from_json(&record.to_json()).unwrap(), record, "{}", path.display());
            assert!(record.cells.iter().all(|cell| !cell.label("tool").is_empty()));
        }
    });
}

/// Texts are separated by lines `==== what it is about`.
#[test]
fn pasted_texts() {
    insta::glob!("texts/*.txt", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let mut all = String::new();
        for part in text.split("==== ").skip(1) {
            let (about, text) = part.split_once('\n').unwrap_or_default();
            writeln!(all, "==== {about}\n{}", outcome_of(text.as_bytes())).unwrap();
        }
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(all);
        });
    });
}
