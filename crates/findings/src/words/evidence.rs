//! What a finding rests on, as text.

use record::units::{interval, quantity, without_unit};
use record::{Evidence, EvidenceNumber, Record};

use crate::figures::figure::named;

/// "random-write/2, 4 KiB: 2.31 IOPS (2.2 to 2.4, n 110)", "ratio 3.03 (2.9 to 3.2)": a line of the
/// evidence of a finding on this record.
pub fn evidence_text(evidence: &Evidence, record: &Record) -> String {
    let text = match evidence {
        Evidence::Number(number) => number_text(number),
        Evidence::Note { text, .. } => text.clone(),
    };
    let Some(id) = evidence.cell() else { return text };
    let cell = record.cells.iter().find(|cell| cell.id == id);
    format!("{}: {text}", cell.map_or_else(|| id.to_owned(), named))
}

fn number_text(number: &EvidenceNumber) -> String {
    let EvidenceNumber { name, value, ci95, n, bound, .. } = number;
    let value = quantity(name, *value);
    let ends = ci95.map(|ends| without_unit(&interval(name, ends), &value).to_owned());
    let parts = [
        Some(words(name)).filter(|words| !words.is_empty()),
        bound.map(|bound| bound.words().to_owned()),
        Some(value),
    ];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let state = bound.and(*n).map(|_| "a transient state".to_owned());
    let n = n.map(|n| format!("n {n}"));
    let notes: Vec<String> = [ends, state, n].into_iter().flatten().collect();
    if notes.is_empty() { text } else { format!("{text} ({})", notes.join(", ")) }
}

/// The name without its unit, which its value has: "idle flush" of `idle_flush_ns`; empty for a
/// plain rate.
fn words(name: &str) -> String {
    let units = ["iops", "bps", "ns", "bytes"];
    let unit = units.into_iter().find(|unit| name.ends_with(unit)).unwrap_or_default();
    name.trim_end_matches(unit).replace('_', " ").trim().to_owned()
}
