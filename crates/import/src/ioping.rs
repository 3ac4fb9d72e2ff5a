//! ioping: single requests (`-c`) and the highest request rate (`-R`). Its KiB are 1024 bytes, its
//! "k requests" 1000.

use record::{
    Cell, Direction, Filesystem, Latency, Params, Path, Pattern, Region, Series, SeriesAxis,
    TargetKind,
};

use super::imported_run::{
    ImportTrouble, ImportedRun, cell, io, moved, note, other, percentiles, rates, whole_ns,
};
use super::media_list::MediaList;
use super::text::{binary_rate, group, number, prefix, re, size, time_ns, wanted, with_unit};
use super::{Importer, sign};

pub(super) const IMPORTER: Importer = Importer {
    name: "ioping output",
    signs: &[
        sign!("a line '--- .. ioping statistics ---'", "ioping statistics ---"),
        sign!("a line 'min/avg/max/mdev = ..'", r"(?m)^\s*min/avg/max/mdev = "),
    ],
    read: |source, _, reading| {
        let (mut media, mut requests, mut block) = (MediaList::default(), Vec::new(), None);
        let mut current: Option<(ImportedRun, Cell)> = None;
        for (at, line) in source.numbered() {
            if let Some((bytes, ns)) = request(line) {
                block = Some(bytes);
                requests.extend(ns);
                reading.take(at);
            } else if let Some(name) = re!("--- (.*?) ioping statistics ---").captures(line) {
                current = Some((found_on(group(&name, 1)), begun(block)));
            } else if let Some((_, cell)) = &mut current {
                if line.contains(" completed in ") {
                    reading
                        .accept(at, completed(at, line, cell))
                        .iter()
                        .for_each(|()| reading.take(at));
                } else if let Some(times) = line.trim().strip_prefix("min/avg/max/mdev = ") {
                    reading.accept(at, finish(at, times, cell, std::mem::take(&mut requests)));
                    if let Some((mut found, cell)) = current.take() {
                        reading.add(&mut found, at, cell);
                        media.push(at, found, reading);
                    }
                }
            }
        }
        media.0
    },
    is_ignored_line: |line| re!(r"^\s*generated .* requests in ").is_match(line),
};

/// Most points of the curve over requests.
const MAX_POINTS: usize = 400;

/// Size and time of "4 KiB <<< /dev/loop0 (block device 1 GiB): request=2 time=155.3 us"; the first
/// one warms up and does not count.
fn request(line: &str) -> Option<(u64, Option<f64>)> {
    let found = re!(r"^(.*?)(?: bytes)? (?:<<<|>>>|from) .*: request=.* time=(\S+) (\S+)(.*)")
        .captures(line)?;
    let bytes = size(&group(&found, 1).replace(' ', ""))?;
    let ns = number(group(&found, 2)).and_then(|value| time_ns(value, group(&found, 3)));
    Some((bytes, ns.filter(|_| !group(&found, 4).contains("(warmup)"))))
}

/// Run with the target of "/dev/loop0 (block device 1 GiB)" or ". (ext4 /dev/sda1 20.1 GiB)".
fn found_on(name: &str) -> ImportedRun {
    let mut found = ImportedRun::by("ioping");
    let (path, rest) = name.split_once(" (").unwrap_or((name, ""));
    found.on(path);
    if let Some(size) = re!(r"^(?:block )?device ([\d.]+) (\w)").captures(rest) {
        // The size has three digits; enough to recognise the size on the label.
        let bytes = number(group(&size, 1)).zip(prefix(group(&size, 2), 1024.0));
        let bytes = bytes.map(|(value, unit)| value * unit).filter(|bytes| *bytes < 1e18);
        found.medium.capacity_bytes = bytes.map(|bytes| bytes as u64);
    } else if !rest.starts_with("block device ") && !rest.starts_with("device ") {
        found.target.kind = TargetKind::Directory;
        let mut words = rest.trim_end_matches(')').split_whitespace();
        if let (Some(kind), Some(device)) = (words.next(), words.next()) {
            found.target.device = device.strip_prefix("/dev/").map(str::to_owned);
            let kind = Some(kind.to_owned());
            found.target.filesystem = Some(Filesystem { kind, ..Filesystem::default() });
        }
    }
    found
}

fn begun(block_bytes: Option<u64>) -> Cell {
    let params = Params {
        path: Path::Buffered,
        region: Some(Region::Whole),
        ..io(None, Pattern::Uniform, block_bytes)
    };
    let mut cell = cell("ioping", params);
    note(&mut cell, "the text does not say whether past the page cache (-D)");
    cell
}

/// Parses "4 requests completed in 1.17 ms, 16 KiB read, 3.40 k iops, 13.3 MiB/s".
fn completed(at: usize, line: &str, cell: &mut Cell) -> Result<(), ImportTrouble> {
    let parts = re!(
        r"^\s*(.*?)(?: requests)? completed in ([\d.]+) (\w+)(?:, (.*?) (read|written))?(?:, (.*?) iops)?(?:, (.* \S+/s))?"
    );
    let found = parts
        .captures(line)
        .ok_or_else(|| ImportTrouble::at(at, "the time is missing or is no number"))?;
    // "22.8 k" as 22800, "16 KiB" as 16384.
    let counted = |text: &str, step: f64| {
        let (value, letter) = with_unit(text)?;
        Some(value * prefix(letter.trim_end_matches(['B', 'i']), step)?)
    };
    let ops = wanted(at, "the number of requests", counted(group(&found, 1), 1000.0))? as u64;
    let time = number(group(&found, 2)).and_then(|value| time_ns(value, group(&found, 3)));
    cell.elapsed_ns = whole_ns(wanted(at, "the time", time)?);
    let mut bytes = 0;
    if let Some(amount) = found.get(4) {
        let is_read = group(&found, 5) == "read";
        cell.params.direction = Some(if is_read { Direction::Read } else { Direction::Write });
        bytes = wanted(at, "the amount", counted(amount.as_str(), 1024.0))? as u64;
    }
    moved(cell, bytes, ops);
    let iops = found.get(6).map(|iops| wanted(at, "iops", counted(iops.as_str(), 1000.0)));
    let bps = found.get(7).map(|bps| {
        let bps = with_unit(bps.as_str()).and_then(|(value, unit)| binary_rate(value, unit));
        wanted(at, "the rate", bps)
    });
    rates(cell, iops.transpose()?, bps.transpose()?, ops);
    if cell.params.block_bytes.is_none() {
        // Without a line for each request: the nearest power of two, as the figures have three
        // digits.
        let block = (bytes as f64 / ops.max(1) as f64).log2().round();
        cell.params.block_bytes = (9.0..30.0).contains(&block).then(|| 1u64 << block as u32);
    }
    Ok(())
}

/// Parses "155.3 us / 293.7 us / 458.9 us / 131.3 us"; before 0.8 one unit for all:
/// "0.2/2.8/12.7/5.0 ms".
fn finish(
    at: usize,
    times: &str,
    cell: &mut Cell,
    mut requests: Vec<f64>,
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
    let (n, min, max) = (cell.ops, whole_ns(min), whole_ns(max));
    let mut latency = Latency { n, min, mean, max, ..Latency::default() };
    if let Some(deviation) = ns.as_deref().and_then(|ns| ns.get(3)) {
        other(cell, "latency_deviation_ns", *deviation, n);
    }
    if !requests.is_empty() {
        let step = requests.len().div_ceil(MAX_POINTS);
        let points = (1u32..).zip(&requests).step_by(step).map(|(at, ns)| [f64::from(at), *ns]);
        cell.series.push(Series {
            name: "latency of each request".into(),
            x: SeriesAxis::Ops,
            y: SeriesAxis::LatencyNs,
            points: points.collect(),
        });
    }
    if requests.len() as u64 == n && !requests.is_empty() {
        requests.sort_by(f64::total_cmp);
        // The extremes in the summary have fewer digits than those of the requests.
        latency.min = min.min(whole_ns(requests[0]));
        latency.max = max.max(whole_ns(requests[requests.len() - 1]));
        let _ = percentiles(&mut latency, |share| {
            requests.get(((n as f64 * share).ceil() as usize).saturating_sub(1)).copied()
        });
    }
    cell.metrics.latency_ns = Some(latency);
    Ok(())
}
