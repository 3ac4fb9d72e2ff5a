//! Every number of a text is in the records, or its line is listed as not taken.

use std::collections::BTreeSet;

use import::understand;
use serde_json::Value;

use crate::samples;

/// Units of rates and times, with the factors that tools mean by them: bytes a second, I/Os a
/// second, nanoseconds.
const UNITS: [(&str, &[f64]); 22] = [
    ("kb/s", &[1e3, 1024.0]),
    ("kib/s", &[1024.0]),
    ("kb/sec", &[1e3, 1024.0]),
    ("mb/s", &[1e6, 1048576.0, 1.024e6]),
    ("mib/s", &[1048576.0]),
    ("mb/sec", &[1e6, 1048576.0]),
    ("mib/sec", &[1048576.0]),
    ("mbyte/s", &[1048576.0]),
    ("gb/s", &[1e9, 1073741824.0]),
    ("gib/s", &[1073741824.0]),
    ("m/s", &[1e6]),
    ("k/s", &[1e3]),
    ("iops", &[1.0]),
    ("ns", &[1.0]),
    ("nsec", &[1.0]),
    ("us", &[1e3]),
    ("µs", &[1e3]),
    ("usec", &[1e3]),
    ("ms", &[1e6]),
    ("msec", &[1e6]),
    ("groups/s", &[1.0]),
    ("seeks/second", &[1.0]),
];

/// Lines whose figures are not of a medium, or are of a part of a result, with the reason.
const APART: [(&str, &str); 9] = [
    ("generated ", "ioping: the pace of its requests"),
    ("(warmup)", "ioping: a request that does not count"),
    ("= 1,000,000", "CrystalDiskMark: what its units are"),
    ("(target ", "Raspberry Pi Diagnostics: its limits"),
    ("bytes written in", "sysbench: making the files"),
    ("fsync", "sysbench: commits"),
    ("icmp_seq", "a network"),
    ("Fetched ", "a network"),
    ("s / ", "f3probe: the sum over its parts"),
];

/// Samples of fio in which several parts of the text are one result.
const ADDED_UP: [(&str, &str); 9] = [
    ("fio_group.json", "clones"),
    ("fio_numjobs.json", "clones"),
    ("fio_status_interval.json", "earlier looks at the same job"),
    ("fio_unified_both.json", "reads and writes together, and each"),
    ("fio_numjobs.txt", "clones"),
    ("fio_randrw_numjobs.txt", "clones"),
    ("fio_three_forms.txt", "clones that the JSON adds up"),
    ("fio_status_interval.txt", "earlier looks at the same job"),
    ("fio_unified_both.txt", "reads and writes together, and each"),
];

/// Fields of fio's JSON that are taken, with the factors of their units.
const FIELDS: [(&str, f64); 15] = [
    ("bw", 1024.0),
    ("bw_bytes", 1.0),
    ("iops", 1.0),
    ("io_bytes", 1.0),
    ("io_kbytes", 1024.0),
    ("total_ios", 1.0),
    ("runtime", 1e6),
    ("min", 1.0),
    ("max", 1.0),
    ("mean", 1.0),
    ("50.000000", 1.0),
    ("90.000000", 1.0),
    ("95.000000", 1.0),
    ("99.000000", 1.0),
    ("99.900000", 1.0),
];

/// Begins of the names of fields of fio's JSON that are not, and of objects, with the reason.
const NO_FIELDS: [(&str, &str); 23] = [
    ("N", "the number of times: that of the I/Os is taken"),
    ("slat_ns", "submission: part of lat_ns"),
    ("bins", "the histogram has them"),
    ("stddev", "the spread of times: percentiles have it"),
    ("bw_", "looks at the rate"),
    ("iops_", "looks at the rate"),
    ("latency_", "a coarse histogram"),
    ("iodepth_", "the depth that was met"),
    ("usr_cpu", "of the host"),
    ("sys_cpu", "of the host"),
    ("ctx", "of the host"),
    ("majf", "of the host"),
    ("minf", "of the host"),
    ("disk_util", "what the kernel counts"),
    ("timestamp", "a moment"),
    ("job_", "a moment, and a sum of runtimes"),
    ("eta", "a moment"),
    ("elapsed", "a moment"),
    ("groupid", "a name"),
    ("error", "a reason"),
    ("short_ios", "I/Os that went on"),
    ("drop_ios", "I/Os that went on"),
    ("trim", "no direction of a record"),
];

/// Numbers of a line that are followed by a unit, with their factors and half of their last digit.
fn numbers(line: &str) -> Vec<(f64, f64, &'static [f64])> {
    let mut found = Vec::new();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let mut from = 0;
    while let Some(start) = line[from..].find(|c: char| c.is_ascii_digit()).map(|at| from + at) {
        let end = line[start..].find(|c| !is_digit(c)).map_or(line.len(), |at| start + at);
        from = end;
        let rest = line[end..].trim_start_matches([' ', '\t']);
        let is_apart = |c: char| !c.is_alphanumeric() && c != '/';
        let unit = rest.split(is_apart).next().unwrap_or_default().to_lowercase();
        let Some((_, factors)) = UNITS.iter().find(|(name, _)| *name == unit) else { continue };
        let digits = line[start..end].trim_end_matches(['.', ',']).replace(',', ".");
        let Ok(value) = digits.parse::<f64>() else { continue };
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len() as i32);
        found.push((value, 0.51 * 10f64.powi(-places), *factors));
    }
    found
}

/// What a text gives: all figures of its records, and the lines that are listed.
fn understood(text: &str) -> (Vec<f64>, BTreeSet<u32>) {
    let import = understand("text", text.as_bytes(), None).unwrap();
    let mut all = Vec::new();
    for cell in import.records.iter().flat_map(|record| &record.cells) {
        let metrics = &cell.metrics;
        all.extend([metrics.iops, metrics.bps].into_iter().flatten().map(|figure| figure.value));
        all.extend(metrics.other.values().map(|figure| figure.value));
        all.extend(metrics.other.get("mean_ms").map(|ms| ms.value * 1e6));
        all.extend([cell.elapsed_ns, cell.bytes, cell.ops, cell.written_bytes].map(|n| n as f64));
        if let Some(times) = &metrics.latency_ns {
            all.extend([times.n as f64, times.min as f64, times.mean, times.max as f64]);
            let shares = [times.p50, times.p90, times.p95, times.p99, times.p99_9];
            all.extend(shares.into_iter().flatten().map(|ns| ns as f64));
        }
        let points = cell.series.iter().flat_map(|series| &series.points);
        all.extend(points.flatten().map(|number| number.abs()));
    }
    (all, import.left.iter().map(|left| left.line).collect())
}

/// Numbers of a text that are neither in its records nor in a line that is listed.
fn lost(text: &str) -> Vec<String> {
    let (all, listed) = understood(text);
    let is_known = |&(value, half, factors): &(f64, f64, &[f64])| {
        let near = |factor: &f64, known: f64| {
            let wanted = value * factor;
            (known - wanted).abs() <= half * factor + 0.006 * wanted
        };
        value == 0.0 || factors.iter().any(|factor| all.iter().any(|known| near(factor, *known)))
    };
    let mut lost = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if listed.contains(&number) || APART.iter().any(|(words, _)| line.contains(words)) {
            continue;
        }
        let unknown = numbers(line).into_iter().filter(|number| !is_known(number));
        lost.extend(unknown.map(|(value, ..)| format!("line {number}: {value} in {line}")));
    }
    lost
}

/// Numbers of a value of fio's JSON that are not in the records, each with the names that lead to it.
fn lost_fields(name: &str, value: &Value, path: &[&str], n: f64, all: &[f64]) -> Vec<String> {
    if let Value::Array(values) = value {
        return values.iter().flat_map(|it| lost_fields(name, it, path, n, all)).collect();
    }
    let is_apart = |part: &&str| NO_FIELDS.iter().any(|(word, _)| part.starts_with(word));
    if let Value::Object(fields) = value {
        let n = fields.get("N").and_then(Value::as_f64).unwrap_or(n);
        let inner = |(field, value): (&String, &Value)| {
            lost_fields(name, value, &[path, &[field.as_str()]].concat(), n, all)
        };
        return fields.iter().flat_map(inner).collect();
    }
    let Some(value) = value.as_f64() else { return Vec::new() };
    let [.., parent, field] = path else { return Vec::new() };
    // Of completion a record has only what fio has not of submission and completion together.
    let is_part = *parent == "clat_ns" || name == "fio_jsonplus.json" && *parent == "lat_ns";
    // Percentiles need samples beyond them (docs/field/statistics.md#percentiles).
    let share = field.parse::<f64>().map_or(0.0, |percent| percent / 100.0);
    let is_known = |wanted: f64| {
        wanted == 0.0 || all.iter().any(|known| (known - wanted).abs() <= 2e-3 * wanted)
    };
    let is_taken = match FIELDS.iter().find(|(own, _)| own == field) {
        Some(_) if *parent == "percentile" && n * (1.0 - share) < 3.0 => true,
        Some((_, factor)) => is_known(value * factor),
        None => *parent == "percentile",
    };
    let is_lost = !is_taken && !is_part && !path.iter().any(is_apart);
    is_lost.then(|| format!("{path:?} {value}")).into_iter().collect()
}

#[test]
fn every_number_of_a_sample_is_in_its_records_or_listed() {
    let mut all = String::new();
    for path in samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_added_up = ADDED_UP.iter().any(|(added, _)| *added == name);
        if is_added_up {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let lost = if name.ends_with(".json") {
            let (all, _) = understood(&text);
            let documents = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
            let of_one = |it| lost_fields(&name, &it, &[], 0.0, &all);
            documents.flat_map(|document| of_one(document.unwrap())).collect()
        } else {
            lost(&text)
        };
        lost.iter().for_each(|lost| all += &format!("{name}: {lost}\n"));
    }
    assert_eq!(all, "");
}
