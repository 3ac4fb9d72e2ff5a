//! Conclusions on records drawn at random, where no medium of ours comes near. The records are
//! those of the golden corpus, with cells gone, slower, faster, marked with a caveat, cut short, of
//! few I/Os, at round numbers, and with another medium around them.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::thread;

use record::units::{GIB, KIB, MIB};
use record::{
    Bound, Cell, Claims, Estimate, Flag, MediumKind, Outcome, Queue, Record, SeriesAxis, Severity,
    Stop, Use, metric, test,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};
use stats::Random;

use crate::compare;
use crate::conclude::conclude_for;
use crate::kinds::IDS;
use crate::testing::cell;
use crate::words::headline::headline;

/// Records that are drawn.
const DRAWN: u64 = 300;
/// What a figure becomes so many times of.
const FACTORS: [f64; 16] =
    [0.02, 0.1, 0.25, 0.5, 0.7, 0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0, 50.0];
/// Counts around which the tests decide whether there are enough.
const COUNTS: [u64; 14] = [0, 1, 2, 5, 8, 15, 16, 29, 30, 59, 64, 299, 1000, 3000];

fn one_in(random: &mut Random, many: u64) -> bool {
    random.below(many) == 0
}

/// To one digit, where thresholds lie.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().log10().floor());
    if unit.is_normal() { (value / unit).round() * unit } else { value }
}

fn drawn(random: &mut Random) -> Record {
    let mut record = random.pick(bases()).clone();
    with_another_medium(&mut record, random);
    if one_in(random, 10) {
        record.cells.push(probe(random));
    }
    record.cells.retain(|_| !one_in(random, 12));
    let level = *random.pick(&FACTORS);
    let is_another_level = one_in(random, 2);
    for cell in &mut record.cells {
        if is_another_level {
            scale(cell, level);
        }
        if one_in(random, 3) {
            scale(cell, *random.pick(&FACTORS));
        }
        if one_in(random, 4) {
            round(cell);
        }
        if one_in(random, 6) {
            fall(cell, random);
        }
        if one_in(random, 25) {
            caveat(cell, random);
        }
        if one_in(random, 40) {
            break_figures(cell, random);
        }
        if one_in(random, 5) {
            cell.metrics = stirred(&cell.metrics, random);
        }
        if one_in(random, 12) {
            cell.params = stirred(&cell.params, random);
        }
    }
    if one_in(random, 20) {
        let at = random.below(record.cells.len().max(1) as u64) as usize;
        record.cells.iter_mut().skip(at).take(1).for_each(|cell| cell.stop = Stop::Error);
    }
    record
}

/// The records of the golden corpus: media of every kind by every suite, directories, imports.
fn bases() -> &'static [Record] {
    static BASES: LazyLock<Vec<Record>> = LazyLock::new(|| {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/records");
        let mut paths: Vec<PathBuf> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        paths
            .iter()
            .map(|path| Record::from_json(&fs::read_to_string(path).unwrap()).unwrap())
            .collect()
    });
    &BASES
}

/// A probe of the capacity that came to something.
fn probe(random: &mut Random) -> Cell {
    let mut cell = cell(test::CAPACITY, 1, 512);
    let exactly = |value: f64| Estimate { value, ci95: None, n: 1 };
    let real_bytes = *random.pick(&[0.0, 2.0, 8.0, 32.0]) * GIB as f64;
    cell.metrics.other.extend([
        ("type".to_owned(), exactly(random.below(6) as f64)),
        (metric::REAL_BYTES.to_owned(), exactly(real_bytes)),
    ]);
    cell
}

fn with_another_medium(record: &mut Record, random: &mut Random) {
    let medium = &mut record.medium;
    medium.kind = *random.pick(&[
        MediumKind::Sd,
        MediumKind::Sd,
        MediumKind::Usb,
        MediumKind::Ssd,
        MediumKind::Disk,
        MediumKind::Emmc,
    ]);
    medium.rotational = *random.pick(&[None, Some(false), Some(medium.kind == MediumKind::Disk)]);
    medium.capacity_bytes = random
        .pick(&[
            medium.capacity_bytes,
            Some(2 * GIB),
            Some(8 * GIB),
            Some(32 * GIB),
            Some(36_000_000_000),
            Some(64 * GIB),
            None,
        ])
        .to_owned();
    medium.au_bytes = *random.pick(&[
        None,
        None,
        Some(4 * MIB),
        Some(16 * MIB),
        Some(64 * KIB),
        Some(16 * KIB),
        Some(8 * KIB),
        Some(2 * GIB),
    ]);
    // The register of a 16 GB card of 2019, made in another month.
    let made = (random.below(22) << 4) | random.below(14);
    medium.cid = one_in(random, 4).then(|| format!("035344534c31364780b5ef9a00{made:04x}00"));
    let granularity = *random.pick(&[None, Some(0), Some(512), Some(4 * MIB)]);
    record.target.queue = one_in(random, 2)
        .then(|| Queue { discard_granularity_bytes: granularity, ..Queue::default() });
    let medium = &mut record.medium;
    medium.claims = one_in(random, 2).then(|| Claims {
        capacity_bytes: *random.pick(&[None, Some(8 * GIB), Some(64 * GIB)]),
        speed_class: *random.pick(&[None, Some(0), Some(4), Some(10)]),
        video_class: *random.pick(&[None, Some(6), Some(30), Some(90)]),
        app_class: *random.pick(&[None, Some(1), Some(2), Some(7)]),
        read_bps: *random.pick(&[None, Some(90e6)]),
        write_bps: *random.pick(&[None, Some(20e6)]),
        ..Claims::default()
    });
}

/// So many times as fast, in everything that was measured.
fn scale(cell: &mut Cell, factor: f64) {
    let metrics = &mut cell.metrics;
    let rates = [&mut metrics.iops, &mut metrics.bps].into_iter().flatten();
    let others = metrics.other.iter_mut().filter_map(|(name, figure)| {
        let factor = match name.rsplit('_').next() {
            Some("ns" | "s") => 1.0 / factor,
            Some("bps" | "iops") => factor,
            _ => return None,
        };
        Some((figure, factor))
    });
    for (figure, factor) in rates.map(|figure| (figure, factor)).chain(others) {
        figure.value *= factor;
        figure.ci95 = figure.ci95.map(|ends| ends.map(|end| end * factor));
    }
    let slower = |ns: &mut u64| *ns = (*ns as f64 / factor) as u64;
    if let Some(latency) = &mut metrics.latency_ns {
        latency.mean /= factor;
        [&mut latency.min, &mut latency.max].into_iter().for_each(slower);
        [
            &mut latency.p50,
            &mut latency.p90,
            &mut latency.p95,
            &mut latency.p99,
            &mut latency.p99_9,
        ]
        .into_iter()
        .flatten()
        .for_each(slower);
        latency.ci95.values_mut().flatten().for_each(slower);
    }
    for series in &mut cell.series {
        let factor = if series.y == SeriesAxis::LatencyNs { 1.0 / factor } else { factor };
        series.points.iter_mut().for_each(|point| point[1] *= factor);
    }
    slower(&mut cell.elapsed_ns);
}

/// Rates to one digit, and known exactly: where thresholds lie.
fn round(cell: &mut Cell) {
    for figure in [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten() {
        figure.value = rounded(figure.value);
        figure.ci95 = Some([figure.value; 2]);
    }
    if let Some(latency) = &mut cell.metrics.latency_ns {
        latency.max = rounded(latency.max as f64) as u64;
        latency.p50 = latency.p50.map(|ns| rounded(ns as f64) as u64);
    }
}

/// Numbers that no medium has, as a broken record may hold them.
fn break_figures(cell: &mut Cell, random: &mut Random) {
    let numbers = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e300];
    let metrics = &mut cell.metrics;
    let figures = [&mut metrics.iops, &mut metrics.bps].into_iter().flatten();
    for figure in figures.chain(metrics.other.values_mut()) {
        figure.value = *random.pick(&numbers);
        figure.ci95 = one_in(random, 2).then(|| [*random.pick(&numbers), *random.pick(&numbers)]);
    }
    let points = cell.series.iter_mut().flat_map(|series| &mut series.points).flatten();
    for number in points {
        *number = if one_in(random, 9) { *random.pick(&numbers) } else { *number };
    }
}

/// Curves that fall or rise from somewhere on, and may come back.
fn fall(cell: &mut Cell, random: &mut Random) {
    for series in &mut cell.series {
        let points = series.points.len() as u64;
        let from = random.below(points.max(1)) as usize;
        let until = if one_in(random, 2) { points as usize } else { from + points as usize / 4 };
        let factor = *random.pick(&FACTORS);
        let stretch = series.points.iter_mut().take(until).skip(from);
        stretch.for_each(|point| point[1] *= factor);
    }
}

fn caveat(cell: &mut Cell, random: &mut Random) {
    let flags = [
        Flag::Cached,
        Flag::HostCached,
        Flag::NotPrimed,
        Flag::Transient { bound: Bound::AtLeast },
        Flag::Transient { bound: Bound::AtMost },
        Flag::MayNotLast { written_bytes: 100 * MIB },
        Flag::Autocorrelated { lag1: 0.6 },
        Flag::NotConverged { relative_half_width: 0.3 },
        Flag::TooFewSamples { n: 4 },
        Flag::ZeroLatency { n: 40 },
        Flag::FasterThanLink { bps: 2e8, link_bps: 1e8 },
        Flag::HostStalled { host_stall_ns: 900_000_000, left_out: 3 },
        Flag::NotThisMedium { issued_bytes: 64 * MIB, counted_bytes: MIB },
    ];
    match random.below(4) {
        0 | 1 => cell.flags.push(random.pick(&flags).clone()),
        2 => cell.stop = *random.pick(&[Stop::Time, Stop::Interrupted, Stop::Ops]),
        _ => {
            let n = *random.pick(&COUNTS);
            cell.ops = n;
            [&mut cell.metrics.iops, &mut cell.metrics.bps]
                .into_iter()
                .flatten()
                .for_each(|figure| figure.n = n);
            cell.metrics.latency_ns.iter_mut().for_each(|latency| latency.n = n);
        }
    }
}

/// The same with some of its numbers changed, one by one, and some of its entries gone. What is
/// none of its kind any more stays as it was.
fn stirred<T: Serialize + DeserializeOwned + Clone>(of: &T, random: &mut Random) -> T {
    let mut value = serde_json::to_value(of).expect("what a record holds can be written");
    stir(&mut value, random);
    serde_json::from_value(value).unwrap_or_else(|_| of.clone())
}

fn stir(value: &mut Value, random: &mut Random) {
    match value {
        Value::Number(number) if one_in(random, 5) => *number = stirred_number(number, random),
        Value::Array(list) => list.iter_mut().for_each(|one| stir(one, random)),
        Value::Object(entries) => {
            entries.retain(|_, _| !one_in(random, 30));
            entries.iter_mut().for_each(|(_, one)| stir(one, random));
        }
        _ => {}
    }
}

fn stirred_number(number: &Number, random: &mut Random) -> Number {
    let was = number.as_f64().unwrap_or_default();
    let becomes = match random.below(3) {
        0 => was * random.pick(&FACTORS),
        1 => rounded(was),
        _ => *random.pick(&COUNTS) as f64,
    };
    if number.is_u64() {
        Number::from(becomes as u64)
    } else {
        Number::from_f64(becomes).unwrap_or_else(|| number.clone())
    }
}

/// Every conclusion on a drawn record can be drawn, and says what its kind always says.
fn assert_concludes(number: u64) {
    let mut random = Random::after(2026, number << 32);
    let record = drawn(&mut random);
    let wanted = [Use::RootDisk, Use::Camera, Use::Video { mbit: 100 }, Use::Logger, Use::Database];
    let wanted = if one_in(&mut random, 2) { &wanted[..] } else { &[] };
    let found = conclude_for(&record, wanted);
    for finding in &found {
        let shown = format!("record {number}: {finding:?}");
        assert!(!finding.statement.trim().is_empty(), "{shown}");
        assert!(IDS.contains(&finding.id.as_str()), "{shown}");
        assert!(
            !finding.statement.contains("NaN") && !finding.statement.contains("inf "),
            "{shown}"
        );
        if finding.id.starts_with("verdict-") {
            assert!(matches!(finding.outcome, Some(Outcome::Use(_))), "{shown}");
        }
        let confidence = finding.confidence.unwrap_or(0.5);
        assert!((0.0..=1.0).contains(&confidence), "{shown}");
    }
    // Runs of many file systems judge no use.
    let judges = crate::matrix::of(&record).is_none();
    let asked = wanted.iter().filter(|_| judges);
    for of in asked.filter(|_| !found.iter().any(|one| one.severity == Severity::Failure)) {
        assert!(found.iter().any(|one| one.id == of.verdict_id()), "record {number}: no {of}");
    }
    headline(&record);
    let mut other = record.clone();
    other.medium.model = Some("another".to_owned());
    other.cells.iter_mut().for_each(|cell| scale(cell, *random.pick(&FACTORS)));
    compare(&[record, other]);
}

#[test]
fn every_drawn_record_is_concluded_on() {
    bases();
    thread::scope(|scope| {
        for first in 0..2 {
            scope.spawn(move || (first..DRAWN).step_by(2).for_each(assert_concludes));
        }
    });
}
