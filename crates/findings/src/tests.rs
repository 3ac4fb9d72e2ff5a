//! Records in, findings out: what is concluded, what is not, and that nothing panics.
#![allow(clippy::disallowed_methods, reason = "records and media are drawn on all processors")]

mod drawn_media;
mod drawn_records;
mod on_media;
mod thresholds;

use record::units::{GIB, KIB, MIB, SECOND_NS};
use record::{
    Bound, Cell, Claims, Content, Estimate, Flag, MediumKind, Record, Series, SeriesAxis, Severity,
    Stop, Use,
};

use crate::testing::{cell, empty, iops, known};
use crate::{IDS, about, conclude, conclude_for};

fn with(cells: Vec<Cell>) -> Record {
    Record { cells, ..empty() }
}

/// Random writes at the four sizes, and 5 MB/s or what is asked for in sequence.
fn card(writes: [f64; 4], sequential_bps: f64) -> Record {
    let sizes = [512, 4 * KIB, 16 * KIB, 64 * KIB];
    let mut cells: Vec<Cell> = (1..)
        .zip(sizes.into_iter().zip(writes))
        .map(|(number, (block, value))| {
            iops("random-write", number, block, value, (3e9 / value) as u64)
        })
        .collect();
    cells.push(iops(
        "sequential-write",
        1,
        MIB,
        sequential_bps / MIB as f64,
        (2e9 * MIB as f64 / sequential_bps) as u64,
    ));
    cells.push(iops("sequential-read", 1, MIB, 20.0, SECOND_NS / 10));
    cells.push(iops("random-read", 1, 4 * KIB, 1000.0, SECOND_NS / 100));
    with(cells)
}

/// Ids of all findings but verdicts and advice, with how loud they are.
fn ids(record: &Record) -> Vec<String> {
    let findings = conclude(record);
    let told = findings
        .iter()
        .filter(|finding| !crate::is_verdict(finding) && !finding.id.starts_with("advice"));
    told.map(|finding| format!("{}{}", finding.id, ["", "!", "!!"][finding.severity as usize]))
        .collect()
}

fn statement(record: &Record, id: &str) -> String {
    let found = conclude(record).into_iter().find(|finding| finding.id == id);
    found.unwrap_or_else(|| panic!("no {id} among {:?}", ids(record))).statement
}

#[track_caller]
fn check(record: &Record, id: &str, expected: bool) {
    let found = ids(record);
    assert_eq!(
        found.iter().any(|known| known.trim_end_matches('!') == id),
        expected,
        "{id}: {found:?}"
    );
}

#[test]
fn the_worst_card_and_a_good_one() {
    let worst = card([1.0, 1.06, 1.05, 1.0], 5.1e6);
    insta::assert_snapshot!(statement(&worst, "verdict"), @"Not suitable for a root disk or a data logger (few samples, 72 % sure): random writes of 4 KiB reach 1.06 IOPS (1.03 to 1.09); a laptop disk reaches 90. Good for video at 28 Mbit/s. Usable for a camera. Free space cannot prove that it is genuine.");
    assert_eq!(ids(&worst), ["random-write!", "stalls!", "write-amplification!", "classes"]);
    let good = card([850.0, 1480.0, 770.0, 270.0], 60e6);
    insta::assert_snapshot!(statement(&good, "verdict"), @"Good for a root disk, a camera and video at 200 Mbit/s. Free space cannot prove that it is genuine. Not tested: whether its flush is honest. Random writes of 4 KiB reach 1480 IOPS (1436 to 1524); a laptop disk reaches 90.");
    assert!(conclude(&good).iter().all(|finding| finding.severity == Severity::Info));
}

#[test]
fn uses_that_were_asked_for_can_fail() {
    let record = card([1.0, 1.06, 1.05, 1.0], 5.1e6);
    let severities = |wanted: &[Use]| {
        conclude_for(&record, wanted)
            .iter()
            .filter(|finding| crate::is_verdict(finding))
            .map(|finding| finding.severity)
            .collect::<Vec<_>>()
    };
    assert_eq!(severities(&[Use::RootDisk]), [Severity::Failure; 2]);
    assert_eq!(severities(&[Use::Camera]), [Severity::Info; 2]);
    assert_eq!(severities(&[Use::Video { mbit: 100 }]), [Severity::Failure; 2]);
    assert_eq!(severities(&[]).into_iter().max(), Some(Severity::Warning));
    let nothing = conclude_for(&empty(), &[Use::Logger]);
    insta::assert_snapshot!(nothing[0].statement, @"Not tested for a data logger: no lines were appended (log-append).");
}

/// A file behind a loop device was called good for a root disk at gigabytes a second.
#[test]
fn what_the_host_answered_is_neither_praised_nor_blamed() {
    for a_second in [3.0, 90_000.0] {
        let writes = [4 * KIB, 16 * KIB].map(|block| iops("random-write", 1, block, a_second, 900));
        let mut record = Record { flags: vec![Flag::HostCached], ..with(writes.into()) };
        let claims = Claims { random_write_iops: Some(300.0), ..Claims::default() };
        record.medium.claims = Some(claims);
        let told = crate::conclude_for(&record, &[crate::Use::RootDisk]);
        let words = |id: &str| {
            told.iter().find(|it| it.id == id).map(|it| it.statement.clone()).unwrap_or_default()
        };
        for id in ["verdict", "verdict-root-disk", "claim"] {
            assert!(words(id).starts_with("Cannot be told here"), "{id}: {told:#?}");
        }
        assert_eq!(words("classes"), "");
        assert!(told.iter().all(|it| it.severity < record::Severity::Failure));
        record.findings = told;
        assert_eq!(crate::untold(&record, &[crate::Use::RootDisk]).len(), 2);
    }
}

#[test]
fn a_medium_that_was_only_checked_is_told_so_first() {
    let mut probe = cell("capacity", 1, 512);
    probe.metrics.other.insert("type".into(), Estimate { value: 0.0, ci95: None, n: 1 });
    let mut record = with(vec![probe]);
    record.medium.capacity_bytes = Some(64 * GIB);
    assert_eq!(conclude(&record)[0].id, "verdict");
    insta::assert_snapshot!(statement(&record, "verdict"), @"Its capacity is real: samples over all of its 64 GiB were read back as written.");
}

#[test]
fn of_a_medium_that_was_only_read_it_is_said_that_nothing_else_was_tested() {
    let mut reading = iops("random-read", 1, 4 * KIB, 1500.0, 2_000_000);
    reading.params.direction = Some(record::Direction::Read);
    let mut record = with(vec![reading]);
    record.target.kind = record::TargetKind::Block;
    insta::assert_snapshot!(statement(&record, "verdict"), @"It was only read. Not tested: whether it is a fake, and what it is good for. Both need writing; --only capacity finds a fake and puts back what was there.");
    record.target.kind = record::TargetKind::Directory;
    check(&record, "verdict", false);
}

#[test]
fn impossible_numbers_and_failures_conclude_nothing_else() {
    let mut record = card([850.0, 1480.0, 770.0, 270.0], 60e6);
    record.cells.iter_mut().for_each(|cell| cell.flags.push(Flag::Cached));
    assert_eq!(ids(&record), ["impossible!"]);
    assert!(!conclude(&record).iter().any(crate::is_verdict));
    record
        .cells
        .iter_mut()
        .for_each(|cell| (cell.flags, cell.stop) = (Vec::new(), Stop::Interrupted));
    assert_eq!(conclude(&record), []);
}

#[test]
fn every_id_has_a_page() {
    for id in IDS {
        let page = about(id).unwrap();
        assert!(page.starts_with("# ") && page.lines().count() >= 3, "{id}");
    }
    assert_eq!(about("x"), None);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    const TESTS: [&str; 23] = [
        "random-write",
        "random-read",
        "sequential-write",
        "sequential-read",
        "zero-fill",
        "random-fill",
        "prime",
        "align-read",
        "write-unit",
        "open-aus",
        "front-area",
        "management-unit",
        "capacity",
        "verify",
        "span-sweep",
        "content-sweep",
        "sustained",
        "pattern",
        "misalign",
        "flush-cost",
        "steady-state",
        "whole-view",
        "uflip",
    ];
    const FORMS: [&str; 23] = [
        "",
        "linear",
        "random",
        "first",
        "after-idle-30",
        "after-idle-300",
        "common",
        "odd-span",
        "shifted",
        "aligned",
        "misaligned",
        "flushed",
        "rewrite-equal",
        "rewrite-new",
        "read",
        "locality",
        "partitioning",
        "order",
        "granularity",
        "pause-before",
        "start-up",
        "parallelism",
        "pause",
    ];

    /// Any number a broken record may hold.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(f64::NAN),
            Just(f64::INFINITY),
            Just(-1.0),
            Just(1e-300),
            Just(1e300),
            1e-3..1e12f64,
            0.0..10.0f64
        ]
    }

    fn any_estimate() -> impl Strategy<Value = Option<Estimate>> {
        let ends = proptest::option::of((number(), number()).prop_map(|(low, high)| [low, high]));
        proptest::option::of((number(), ends, 0u64..5000).prop_map(|(value, ci95, n)| Estimate {
            value,
            ci95,
            n,
        }))
    }

    fn any_series() -> impl Strategy<Value = Series> {
        let names = proptest::sample::select(vec!["diff", "rate along the fill", "rate", "round"]);
        let axes = || {
            proptest::sample::select(vec![
                SeriesAxis::Bytes,
                SeriesAxis::OffsetBytes,
                SeriesAxis::Bps,
                SeriesAxis::Iops,
                SeriesAxis::Celsius,
                SeriesAxis::LatencyNs,
            ])
        };
        let points =
            proptest::collection::vec((number(), number()).prop_map(|(x, y)| [x, y]), 0..60);
        (names, axes(), axes(), points).prop_map(|(name, x, y, points)| Series {
            name: name.into(),
            x,
            y,
            points,
        })
    }

    fn any_cell() -> impl Strategy<Value = Cell> {
        let what = (
            proptest::sample::select(TESTS.to_vec()),
            proptest::sample::select(FORMS.to_vec()),
            proptest::sample::select(vec![0, 512, 4096, 16384, 65536, 131072, MIB]),
        );
        let figures = (any_estimate(), any_estimate(), any_estimate(), number());
        (what, figures, proptest::collection::vec(any_series(), 0..3), any::<(u64, u64, u64)>())
            .prop_map(
                |((test, form, block), (iops, bps, other, extra), series, (bytes, span, whole))| {
                    let mut cell = cell(test, 1, block);
                    cell.params.form = (!form.is_empty()).then(|| form.into());
                    (
                        cell.metrics.iops,
                        cell.metrics.bps,
                        cell.series,
                        cell.bytes,
                        cell.params.span_bytes,
                    ) = (iops, bps, series, bytes, Some(span));
                    (cell.written_bytes, cell.elapsed_ns, cell.ops) = (whole, span, whole);
                    for name in [
                        "type",
                        "real_bytes",
                        "good_sectors",
                        "corrupted_sectors",
                        "restored_bytes",
                        "start_up_ops",
                        "pause_ns",
                        "write_ns",
                        "flush_ns",
                        "durable_bps",
                        "sustained_bps",
                        "worst_stall_ns",
                        "first_bps",
                    ] {
                        cell.metrics.other.extend(other.map(|found| (name.to_owned(), found)));
                    }
                    for name in ["n_aus", "au_index", "shift_bytes", "assumed_au_bytes", "value"] {
                        cell.params.other.insert(name.into(), extra);
                    }
                    cell
                },
            )
    }

    proptest! {
        #[test]
        fn no_record_panics_and_every_confidence_is_a_probability(cells in proptest::collection::vec(any_cell(), 0..25), capacity in any::<Option<u64>>(), cid in ".{0,40}") {
            let mut record = with(cells);
            (record.medium.capacity_bytes, record.medium.kind, record.medium.cid, record.medium.au_bytes) = (capacity, MediumKind::Sd, Some(cid), capacity);
            record.medium.claims = Some(Claims { capacity_bytes: capacity, app_class: Some(7), speed_class: Some(0), ..Claims::default() });
            for finding in conclude_for(&record, &[Use::Video { mbit: 1 }, Use::RootDisk]) {
                prop_assert!(IDS.contains(&finding.id.as_str()), "{}", finding.id);
                prop_assert!(finding.confidence.is_none_or(|share| (0.0..=1.0).contains(&share)), "{finding:?}");
                prop_assert!(!finding.statement.is_empty());
            }
            let compared = crate::compare(&[record.clone(), with(Vec::new()), record]);
            prop_assert!(compared.media.len() <= 3);
        }
    }

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
            Flag::HostStoodStill { stood_still_ns: SECOND_NS, left_out: 3 },
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
                cell.params.content = Some(if test == "zero-fill" {
                    Content::Zeros
                } else {
                    Content::Incompressible
                });
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
                    let figures = [cell.metrics.iops.as_mut(), cell.metrics.bps.as_mut()]
                        .into_iter()
                        .flatten();
                    figures
                        .chain(cell.metrics.other.values_mut())
                        .for_each(|figure| figure.ci95 = None);
                }
                proptest::option::weighted(0.8, Just(cell))
            })
        };
        let cells: Vec<_> =
            cells.into_iter().map(|of| one(of).prop_flat_map(|cell| cell)).collect();
        cells.prop_map(|cells| with(cells.into_iter().flatten().collect()))
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
                        prop_assert!(is_bound || crate::gate::of_cell(cell).is_none() || line.contains("slowest of"), "{line}: {:?}", cell.flags);
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
}
