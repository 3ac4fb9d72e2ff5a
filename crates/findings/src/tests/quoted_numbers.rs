//! Every number of a sentence stands in its evidence, whatever the figures are.

use proptest::prelude::*;

use record::units::{MIB, SECOND_NS};
use record::{Bound, Content, Estimate, Flag, Record, Severity, Stop};

use crate::conclude;
use crate::testing::{iops, known, record_of};
/// A record as a run leaves it: figures of one size, some of them flagged, cut short or without
/// an interval.
fn plausible() -> impl Strategy<Value = Record> {
    let cells = [
        ("random-write", "", 4096),
        ("random-write", "", 16384),
        ("random-write", "", 65536),
        ("random-read", "", 4096),
        ("sequential-write", "", MIB),
        ("sequential-write", "", 8192),
        ("sequential-read", "", MIB),
        ("zero-fill", "", MIB),
        ("random-fill", "", MIB),
        ("record-ops", "random-write", 4096),
        ("commit", "rollback", 4096),
        ("commit", "wal", 4096),
        ("log-append", "", 512),
        ("flush-cost", "flushed", 4096),
        ("pattern", "common", 4096),
        ("pattern", "odd-span", 4096),
        ("pattern", "odd-span-again", 4096),
        ("capacity", "", 512),
    ];
    let flag = proptest::sample::select(vec![
        Flag::Cached,
        Flag::Transient { bound: Bound::AtLeast },
        Flag::Transient { bound: Bound::AtMost },
        Flag::HostStalled { host_stall_ns: SECOND_NS, left_out: 3 },
        Flag::MayNotLast { written_bytes: 1 },
        Flag::Autocorrelated { lag1: 0.5 },
    ]);
    let one = move |(test, form, block): (&'static str, &'static str, u64)| {
        let numbers = (1.0..40_000.0f64, 0.01..0.5f64, 1.0..4.0f64, any::<bool>());
        let flag = proptest::option::weighted(0.2, flag.clone());
        let stop = prop_oneof![8 => Just(Stop::Converged), 1 => Just(Stop::Error), 1 => Just(Stop::Interrupted)];
        let held = (numbers, flag, stop, 1_000_000..9_000_000_000u64);
        held.prop_map(move |((value, share, times, is_known), flag, stop, worst_ns)| {
            let mut cell = iops(test, block as u32, block, value, worst_ns);
            cell.id = format!("{test}/{form}{block}");
            (cell.stop, cell.elapsed_ns) = (stop, 10 * SECOND_NS);
            cell.flags.extend(flag);
            cell.params.form = (!form.is_empty()).then(|| form.into());
            cell.params.content =
                Some(if test == "zero-fill" { Content::Zeros } else { Content::Incompressible });
            if test == "record-ops" {
                cell.params.sync = record::Sync::File;
            }
            cell.metrics.iops = Some(known(value, share, 400));
            cell.metrics.bps = Some(known(value * block as f64, share, 400));
            for (at, name) in ["write_ns", "flush_ns", "idle_flush_ns"]
                .into_iter()
                .enumerate()
                .filter(|_| test == "flush-cost")
            {
                cell.metrics
                    .other
                    .insert(name.into(), known(1e5 * times.powi(at as i32), share, 24));
            }
            if test == "capacity" {
                cell.metrics.other.insert(
                    "type".into(),
                    Estimate { value: if times > 3.5 { 2.0 } else { 0.0 }, ci95: None, n: 1 },
                );
            }
            if !is_known {
                let figures =
                    [cell.metrics.iops.as_mut(), cell.metrics.bps.as_mut()].into_iter().flatten();
                figures
                    .chain(cell.metrics.other.values_mut())
                    .for_each(|figure| figure.ci95 = None);
            }
            proptest::option::weighted(0.8, Just(cell))
        })
    };
    let cells: Vec<_> = cells.into_iter().map(|of| one(of).prop_flat_map(|cell| cell)).collect();
    cells.prop_map(|cells| record_of(cells.into_iter().flatten().collect()))
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
    fn every_number_that_is_said_stands_in_the_evidence_with_its_interval(record in plausible()) {
        for finding in conclude(&record) {
            let evidence = finding.evidence.join("\n");
            let shown = quoted(&evidence);
            let is_judged = crate::is_verdict(&finding)
                || crate::TRICKS.contains(&finding.id.as_str())
                || ["classes", "claim", "flush", "random-write", "small-write-bypass"].contains(&finding.id.as_str())
                || finding.id.starts_with("advice");
            if !is_judged || finding.severity == Severity::Failure {
                continue;
            }
            for number in quoted(&finding.statement) {
                prop_assert!(FIXED.contains(&number.as_str()) || shown.contains(&number), "{number}: {finding:#?}");
            }
            prop_assert!(!evidence.contains("too few for an interval"), "{finding:#?}");
            for line in &finding.evidence {
                let named = record.cells.iter().filter(|cell| line.starts_with(&format!("{},", cell.id)));
                for cell in named {
                    let is_bound = line.contains("a transient state");
                    prop_assert!(is_bound || crate::usability::of_cell(cell).is_none() || line.contains("slowest of"), "{line}: {:?}", cell.flags);
                    if let Some((told, _)) = line.split_once(" (").filter(|(_, rest)| rest.contains(", n ")) {
                        let figures = ["iops", "bps"].into_iter().filter_map(|name| Some((name, crate::figure::quantity(name, match name {
                            "iops" => cell.metrics.iops?.value,
                            _ => cell.metrics.bps?.value,
                        })))).chain(cell.metrics.other.iter().map(|(name, found)| (name.as_str(), crate::figure::quantity(name, found.value))));
                        let stands = figures.into_iter().any(|(_, text)| told.ends_with(&text));
                        prop_assert!(stands || cell.test == "flush-cost", "{line}");
                    }
                }
            }
        }
    }
}
