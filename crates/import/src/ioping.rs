//! ioping: single requests (`-c`) and as many as there can be (`-R`). Its KiB are 1024 bytes, its
//! "k requests" 1000.

use record::units::KIB;
use record::{
    Cell, Direction, Latency, Params, Path, Pattern, Region, Series, SeriesAxis, TargetKind,
};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, estimate, note, percentiles, room_for_another, whole_ns,
};
use super::reading::Reading;
use super::text::{
    ImportText, between, binary_rate, number, prefix, size, time_ns, wanted, with_unit,
};
use super::{Hints, Importer, Sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "ioping output",
    signs: &[
        Sign {
            what: "a line '--- .. ioping statistics ---'",
            is_there: |source| source.has(|line| line.contains("ioping statistics ---")),
        },
        Sign {
            what: "a line 'min/avg/max/mdev = ..'",
            is_there: |source| source.has(|line| extremes(line).is_some()),
        },
    ],
    read,
    chatter: |line| {
        let line = line.trim();
        line.starts_with("generated ") && line.contains(" requests in ")
    },
};

/// Also of versions before 0.8, which print one unit for all: "0.2/2.8/12.7/5.0 ms".
fn extremes(line: &str) -> Option<&str> {
    line.trim().strip_prefix("min/avg/max/mdev = ")
}

/// Most points of the curve over requests.
const MOST_POINTS: usize = 400;

fn read(source: &ImportText, _: &Hints, reading: &mut Reading) -> Vec<ImportedRun> {
    let mut media = Vec::new();
    let mut requests: Vec<f64> = Vec::new();
    let mut block = None;
    let mut current: Option<(ImportedRun, Cell)> = None;
    for (at, line) in source.numbered() {
        if let Some((bytes, ns)) = request(line) {
            block = Some(bytes);
            requests.extend(ns);
            reading.take(at);
        } else if let Some(name) = between(line, "--- ", " ioping statistics ---") {
            current = Some((found_on(name), begun(block)));
        } else if let Some((_, cell)) = &mut current {
            if line.contains(" completed in ") {
                if reading.accept(at, completed(at, line, cell)).is_some() {
                    reading.take(at);
                }
            } else if let Some(times) = extremes(line) {
                reading.accept(at, finish(at, times, cell, &mut requests));
                if let Some((mut found, cell)) = current.take() {
                    reading.add(&mut found, at, cell);
                    if reading.accept(at, room_for_another(&media)).is_some() {
                        media.push(found);
                    }
                }
            }
        }
    }
    media
}

/// Size and time of "4 KiB <<< /dev/loop0 (block device 1 GiB): request=2 time=155.3 us"; the first
/// one warms up and does not count.
fn request(line: &str) -> Option<(u64, Option<f64>)> {
    let (head, time) = line.split_once(" time=")?;
    head.contains(": request=").then_some(())?;
    let (amount, _) = head
        .split_once(" <<< ")
        .or_else(|| head.split_once(" >>> "))
        .or_else(|| head.split_once(" from "))?;
    let bytes = size(amount.replace(' ', "").trim_end_matches("bytes"))?;
    let is_warm_up = time.contains("(warmup)");
    let mut words = time.split_whitespace();
    let ns = number(words.next()?).zip(words.next()).and_then(|(value, unit)| time_ns(value, unit));
    Some((bytes, ns.filter(|_| !is_warm_up)))
}

/// "/dev/loop0 (block device 1 GiB)", ". (ext4 /dev/sda1 20.1 GiB)".
fn found_on(name: &str) -> ImportedRun {
    let mut found = ImportedRun::by("ioping");
    let (path, rest) = name.split_once(" (").unwrap_or((name, ""));
    found.on(path);
    match rest
        .trim_end_matches(')')
        .strip_prefix("block device ")
        .or_else(|| rest.trim_end_matches(')').strip_prefix("device "))
    {
        // Three digits of it; enough to tell the size on the label.
        Some(capacity) => found.medium.capacity_bytes = rounded_size(capacity),
        None => {
            found.target.kind = TargetKind::Directory;
            let mut words = rest.split_whitespace();
            if let (Some(kind), Some(device)) = (words.next(), words.next()) {
                found.target.device = device.strip_prefix("/dev/").map(str::to_owned);
                let filesystem = record::Filesystem {
                    kind: Some(kind.to_owned()),
                    ..record::Filesystem::default()
                };
                found.target.filesystem = Some(filesystem);
            }
        }
    }
    found
}

fn rounded_size(text: &str) -> Option<u64> {
    let (value, unit) = text.trim().split_once(' ')?;
    let bytes = number(value)? * prefix(unit.get(..1)?, KIB as f64)?;
    (bytes < 1e18).then_some(bytes as u64)
}

fn begun(block_bytes: Option<u64>) -> Cell {
    let params = Params {
        pattern: Some(Pattern::Uniform),
        block_bytes,
        path: Path::Buffered,
        region: Some(Region::Whole),
        ..Params::default()
    };
    let mut cell = cell("ioping", params);
    note(&mut cell, "the text does not say whether past the page cache (-D)");
    cell
}

/// "4 requests completed in 1.17 ms, 16 KiB read, 3.40 k iops, 13.3 MiB/s".
fn completed(at: usize, line: &str, cell: &mut Cell) -> Result<(), ImportTrouble> {
    let mut parts = line.trim().split(", ");
    let (count, time) =
        parts.next().and_then(|part| part.split_once(" completed in ")).unwrap_or_default();
    let count = count.trim_end_matches(" requests");
    cell.ops = wanted(at, "the number of requests", counted(count))? as u64;
    let time = time.split_once(' ').and_then(|(value, unit)| time_ns(number(value)?, unit));
    cell.elapsed_ns = whole_ns(wanted(at, "the time", time)?);
    for part in parts {
        if let Some(amount) = part.strip_suffix(" read").or_else(|| part.strip_suffix(" written")) {
            cell.params.direction =
                Some(if part.ends_with("read") { Direction::Read } else { Direction::Write });
            let bytes = amount.split_once(' ').and_then(|(value, unit)| {
                Some(number(value)? * prefix(unit.trim_end_matches(['B', 'i']), 1024.0)?)
            });
            cell.bytes = wanted(at, "the amount", bytes)? as u64;
        } else if let Some(rate) = part.strip_suffix(" iops") {
            cell.metrics.iops = Some(estimate(wanted(at, "iops", counted(rate))?, cell.ops));
        } else if let Some((value, unit)) =
            part.trim().split_once(' ').filter(|(_, unit)| unit.ends_with("/s"))
        {
            let bps = number(value).and_then(|value| binary_rate(value, unit));
            cell.metrics.bps = Some(estimate(wanted(at, "the rate", bps)?, cell.ops));
        }
    }
    cell.written_bytes =
        if cell.params.direction == Some(Direction::Write) { cell.bytes } else { 0 };
    if cell.params.block_bytes.is_none() {
        // Without a line for each request: the power of two that fits, as figures have three
        // digits.
        let block = (cell.bytes as f64 / cell.ops.max(1) as f64).log2().round();
        cell.params.block_bytes = (9.0..30.0).contains(&block).then(|| 1u64 << block as u32);
    }
    Ok(())
}

/// "22.8 k" as 22800.
fn counted(text: &str) -> Option<f64> {
    let (value, letter) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    Some(number(value)? * prefix(letter.trim(), 1000.0)?)
}

/// "155.3 us / 293.7 us / 458.9 us / 131.3 us".
fn finish(
    at: usize,
    times: &str,
    cell: &mut Cell,
    requests: &mut Vec<f64>,
) -> Result<(), ImportTrouble> {
    let unit = with_unit(times.rsplit('/').next().unwrap_or_default()).map_or("", |(_, unit)| unit);
    let of_one = |text: &str| {
        let (value, own) = with_unit(text)?;
        time_ns(value, if own.is_empty() { unit } else { own })
    };
    let ns: Option<Vec<f64>> = times.split('/').map(of_one).collect();
    let Some(&[min, mean, max, ..]) = ns.as_deref() else {
        return Err(ImportTrouble::at(at, "the times are not four"));
    };
    let mut latency =
        Latency { n: cell.ops, min: whole_ns(min), mean, max: whole_ns(max), ..Latency::default() };
    let mut sorted = std::mem::take(requests);
    if sorted.len() as u64 == cell.ops && !sorted.is_empty() {
        let step = sorted.len().div_ceil(MOST_POINTS);
        let points = (1u32..)
            .zip(&sorted)
            .step_by(step)
            .map(|(number, ns)| [f64::from(number), *ns])
            .collect();
        cell.series.push(Series {
            name: "latency of each request".into(),
            x: SeriesAxis::Ops,
            y: SeriesAxis::LatencyNs,
            points,
        });
        sorted.sort_by(f64::total_cmp);
        // Its sums are printed with fewer digits than the requests.
        latency.min = latency.min.min(whole_ns(sorted[0]));
        latency.max = latency.max.max(whole_ns(sorted[sorted.len() - 1]));
        let _ = percentiles(&mut latency, |share| {
            sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied()
        });
    }
    cell.metrics.latency_ns = Some(latency);
    Ok(())
}
