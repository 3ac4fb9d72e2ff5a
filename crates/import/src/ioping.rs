//! ioping: single requests (`-c`) and the highest request rate (`-R`). Its KiB are 1024 bytes, its
//! "k requests" 1000.

use record::{
    Cell, Direction, Filesystem, Latency, Params, Path, Pattern, Region, Series, SeriesAxis,
    TargetKind,
};

use super::imported_run::{
    ImportedRun, cell, io, moved, note, other, percentiles, rates, whole_ns,
};
use super::table::{Known, Made, Tool, tool};
use super::text::{group, re, scaled, size, time, time_ns, wanted, with_unit};

pub(super) static TABLE: Tool = tool! {
    "ioping", "ioping output", 1024.0;
    ["a line '--- .. ioping statistics ---'": "ioping statistics ---"]
    ["a line 'min/avg/max/mdev = ..'": r"(?m)^\s*min/avg/max/mdev = "]
    // "4 KiB <<< /dev/loop0 (block device 1 GiB): request=2 time=155.3 us".
    Says r"^(?<each_request>.*(?:<<<|>>>|from) .*: request=.* time=\S+ \S+.*)$";
    Says r"--- (?<path>.*?)(?: \((?<place>.*)\))? ioping statistics ---";
    Says COMPLETED;
    Repeats r"^\s*generated .* requests in ";
    Gives r"^\s*min/avg/max/mdev = (?<times>.*)" => finish;
}
.facts(place);

/// "4 requests completed in 1.17 ms, 16 KiB read, 3.40 k iops, 13.3 MiB/s".
const COMPLETED: &str = r"^\s*(?<ops>.*?)(?: requests)? completed in (?<time>[\d.]+ \w+)(?:, (?<amount>.*?) (?<way>read|written))?(?:, (?<iops>.*?) iops)?(?:, (?<rate>.* \S+/s))?";
/// Most points of the curve over requests.
const MAX_POINTS: usize = 400;

/// Takes "block device 1 GiB" or "ext4 /dev/sda1 20.1 GiB" as the place of a run.
fn place(known: &mut Known, run: &mut ImportedRun) {
    let place = known.text("place");
    if let Some(size) = re!(r"^(?:block )?device ([\d.]+ \w)").captures(place) {
        // The size has three digits; enough to recognise the size on the label.
        let bytes = scaled(group(&size, 1), 1024.0).filter(|bytes| *bytes < 1e18);
        run.medium.capacity_bytes = bytes.map(|bytes| bytes as u64);
    } else if let Some((kind, device)) =
        place.split_once(' ').filter(|_| !place.contains("device "))
    {
        run.target.kind = TargetKind::Directory;
        let device = device.split_whitespace().next().unwrap_or_default();
        run.target.device = device.strip_prefix("/dev/").map(str::to_owned);
        let kind = Some(kind.to_owned());
        run.target.filesystem = Some(Filesystem { kind, ..Filesystem::default() });
    }
}

/// Size and time of a request; the first one warms up and does not count.
fn request(line: &str) -> Option<(u64, Option<f64>)> {
    let found =
        re!(r"^(.*?)(?: bytes)? (?:<<<|>>>|from) .* time=(\S+) (\S+)(.*)").captures(line)?;
    let ns = time(&format!("{} {}", group(&found, 2), group(&found, 3)));
    let is_warm = !group(&found, 4).contains("(warmup)");
    Some((size(&group(&found, 1).replace(' ', ""))?, ns.filter(|_| is_warm)))
}

fn finish(known: &Known) -> Made {
    let requests: Vec<(u64, Option<f64>)> =
        known.each("each_request").filter_map(request).collect();
    let direction = known.has("way").then(|| known.direction("way").unwrap_or(Direction::Read));
    let params = Params {
        path: Path::Buffered,
        region: Some(Region::Whole),
        ..io(direction, Pattern::Uniform, requests.last().map(|(bytes, _)| *bytes))
    };
    let mut cell = cell("ioping", params);
    note(&mut cell, "the text does not say whether past the page cache (-D)");
    let ops = wanted("the number of requests", scaled(known.text("ops"), 1000.0))? as u64;
    cell.elapsed_ns = whole_ns(wanted("the time", known.time("time"))?);
    let amount = if known.has("amount") { scaled(known.text("amount"), 1024.0) } else { Some(0.0) };
    let bytes = wanted("the amount", amount)? as u64;
    moved(&mut cell, bytes, ops);
    let iops = known.has("iops").then(|| wanted("iops", scaled(known.text("iops"), 1000.0)));
    let bps = known.has("rate").then(|| wanted("the rate", known.rate("rate")));
    rates(&mut cell, iops.transpose()?, bps.transpose()?, ops);
    if cell.params.block_bytes.is_none() {
        // Without a line for each request: the nearest power of two, as the figures have three
        // digits.
        let block = (bytes as f64 / ops.max(1) as f64).log2().round();
        cell.params.block_bytes = (9.0..30.0).contains(&block).then(|| 1u64 << block as u32);
    }
    let ns = requests.into_iter().filter_map(|(_, ns)| ns).collect();
    add_times(known, &mut cell, ns)?;
    Ok(vec![cell])
}

/// Adds "155.3 us / 293.7 us / 458.9 us / 131.3 us"; before 0.8 one unit for all:
/// "0.2/2.8/12.7/5.0 ms".
fn add_times(known: &Known, cell: &mut Cell, mut requests: Vec<f64>) -> Result<(), String> {
    let times = known.text("times");
    let unit = with_unit(times.rsplit('/').next().unwrap_or_default()).map_or("", |(_, unit)| unit);
    let of_one = |text: &str| {
        let (value, own) = with_unit(text)?;
        time_ns(value, if own.is_empty() { unit } else { own })
    };
    let ns: Option<Vec<f64>> = times.split('/').map(of_one).collect();
    let Some(&[min, mean, max, deviation, ..]) = ns.as_deref() else {
        return Err("the times are not four".to_owned());
    };
    let (n, min, max) = (cell.ops, whole_ns(min), whole_ns(max));
    let mut latency = Latency { n, min, mean, max, ..Latency::default() };
    other(cell, "latency_deviation_ns", deviation, n);
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
