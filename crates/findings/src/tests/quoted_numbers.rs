//! Every number of a sentence stands in its evidence, whatever the figures are.

use proptest::prelude::*;
use record::{Evidence, Record, Severity};

use crate::conclude::conclude;
use crate::figures::usability;
use crate::kinds::{self, Trait};
use crate::testing::evidence_texts;
use crate::testing::record_in_words;

/// Cells of a run: test, size in bytes, settings.
const CELLS: [(&str, u64, &str); 15] = [
    ("random-write", 4096, ""),
    ("random-write", 16384, ""),
    ("random-write", 65536, ""),
    ("random-read", 4096, ""),
    ("sequential-write", 1 << 20, ""),
    ("sequential-write", 8192, ""),
    ("sequential-read", 1 << 20, ""),
    ("zero-fill", 1 << 20, "content=zeros"),
    ("random-fill", 1 << 20, ""),
    ("record-ops", 4096, "form=random-write sync=file"),
    ("commit", 4096, "form=rollback"),
    ("commit", 4096, "form=wal"),
    ("log-append", 512, ""),
    ("flush-cost", 4096, "form=flushed"),
    ("capacity", 512, ""),
];
const FLAGS: [&str; 6] = [
    "flag=cached",
    "flag=transient,bound=at-least",
    "flag=transient,bound=at-most",
    "flag=host-stood-still,stood_still_ns=1s,left_out=3",
    "flag=may-not-last,written_bytes=1",
    "flag=autocorrelated,lag1=0.5",
];

/// A record as a run leaves it: figures of one size, some of them flagged, cut short or without
/// an interval.
fn plausible() -> impl Strategy<Value = Record> {
    let cell = |(test, block, settings): (&'static str, u64, &'static str)| {
        let numbers = (1.0..40_000.0f64, 1.0..50.0f64, 1.0..4.0f64, any::<bool>());
        let flag = proptest::option::weighted(0.2, prop::sample::select(&FLAGS[..]));
        let stop =
            prop_oneof![8 => Just("converged"), 1 => Just("error"), 1 => Just("interrupted")];
        let drawn = (numbers, flag, stop, 1_000_000..9_000_000_000u64);
        let cell =
            drawn.prop_map(move |((rate, percent, times, is_known), flag, stop, worst_ns)| {
                let known = if is_known { format!("~{percent}%") } else { String::new() };
                let bps = rate * block as f64;
                let own = match test {
                    "flush-cost" => {
                        let [flush, idle] = [1e5 * times, 1e5 * times * times];
                        format!(
                            "metrics.write_ns=100us{known}*24 metrics.flush_ns={flush}{known}*24 \
                         metrics.idle_flush_ns={idle}{known}*24",
                        )
                    }
                    "capacity" => format!("metrics.type={}", if times > 3.5 { 2 } else { 0 }),
                    _ => String::new(),
                };
                format!(
                    "{test} {block} {rate}/s {settings} metrics.iops={rate}{known} \
                 metrics.bps={bps}{known} metrics.latency_ns.max={worst_ns} elapsed_ns=10s \
                 stop={stop} {own} {}; ",
                    flag.unwrap_or_default()
                )
            });
        proptest::option::weighted(0.8, cell)
    };
    let cells: Vec<_> = CELLS.into_iter().map(cell).collect();
    cells.prop_map(|cells| record_in_words(&cells.into_iter().flatten().collect::<String>()))
}

/// Words of a text that are numbers with a fraction or of three digits and more: what is
/// quoted, and not a size or a threshold.
fn quoted(text: &str) -> Vec<String> {
    let words = text
        .split(|c: char| c.is_whitespace() || "();:,".contains(c))
        .map(|word| word.trim_end_matches('.'));
    words.filter(|word| word.parse::<f64>().is_ok()).map(str::to_owned).collect()
}

/// What statements say that is no figure: block sizes, the yardstick, limits of the SD
/// specification, classes, counts of cells.
const FIXED: [&str; 24] = [
    "17", "28", "50", "200", "720", "4", "8", "16", "32", "64", "128", "512", "1", "2", "5400",
    "90", "250", "500", "100", "1.00", "2.00", "5.00", "10.0", "400",
];

proptest! {
    #[test]
    fn every_number_of_a_statement_is_in_the_evidence_with_its_interval(record in plausible()) {
        for finding in conclude(&record) {
            let evidence = evidence_texts(&finding, &record);
            let shown = quoted(&evidence);
            let is_judged = crate::verdict::is_verdict(&finding)
                || kinds::is(&finding.id, Trait::Trick)
                || ["classes", "claim", "flush", "random-write", "small-write-bypass"].contains(&finding.id.as_str())
                || finding.id.starts_with("advice");
            if !is_judged || finding.severity == Severity::Failure {
                continue;
            }
            for number in quoted(&finding.statement) {
                prop_assert!(FIXED.contains(&number.as_str()) || shown.contains(&number), "{number}: {finding:#?}");
            }
            for evidence in &finding.evidence {
                let Evidence::Number(number) = evidence else { continue };
                let Some(cell) = record.cells.iter().find(|cell| number.cell.as_ref() == Some(&cell.id)) else { continue };
                let metrics = &cell.metrics;
                let stands = match number.name.as_str() {
                    "slowest_ns" | "third_slowest_ns" => continue,
                    "iops" => metrics.iops.is_some_and(|it| it.value == number.value),
                    "bps" => metrics.bps.is_some_and(|it| it.value == number.value),
                    other => metrics.other.get(other).is_some_and(|it| it.value == number.value),
                };
                prop_assert!(stands || cell.test == "flush-cost", "{number:?}");
                prop_assert!(number.bound.is_some() || usability::of_cell(cell).is_none(), "{number:?}: {:?}", cell.flags);
                prop_assert!(number.bound.is_some() || number.ci95.is_some(), "{number:?}");
            }
        }
    }
}
