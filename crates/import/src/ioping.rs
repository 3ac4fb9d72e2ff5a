//! ioping: single requests (`-c`) and the highest request rate (`-R`). Its KiB are 1024 bytes, its
//! "k requests" 1000.

use record::Filesystem;

use super::prelude::*;

pub(super) static TABLE: Tool = tool! {
    "ioping", "ioping output", 1024.0, facts: place;
    ["a line '--- .. ioping statistics ---'": "ioping statistics ---"]
    ["a line 'min/avg/max/mdev = ..'": r"(?m)^\s*min/avg/max/mdev = "]
    // "4 KiB <<< /dev/loop0 (block device 1 GiB): request=2 time=155.3 us".
    Says r"^(?<each_request>.*?)(?: bytes)? (?:<<<|>>>|from) .*: request=.* time=(?<ns>\S+ \S+)(?<cold>.*\(warmup\))?.*$";
    Says r"--- (?<path>.*?)(?: \((?<place>.*)\))? ioping statistics ---";
    Says COMPLETED;
    Repeats r"^\s*generated .* requests in ";
    Gives r"^\s*min/avg/max/mdev = (?<times>.*)" => finish;
};

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

fn finish(known: &Known) -> Made {
    let block = |line: &Known| line.size("each_request");
    let requests: Vec<&Known> =
        known.each("each_request").filter(|line| block(line).is_some()).collect();
    let direction = known.has("way").then(|| known.direction("way").unwrap_or(Direction::Read));
    let ops = wanted("the number of requests", scaled(known.text("ops"), 1000.0))? as u64;
    let amount = if known.has("amount") { scaled(known.text("amount"), 1024.0) } else { Some(0.0) };
    let bytes = wanted("the amount", amount)? as u64;
    // Without a line for each request: the nearest power of two, as the figures have three digits.
    let power = (bytes as f64 / ops.max(1) as f64).log2().round();
    let nearest = (9.0..30.0).contains(&power).then(|| 1u64 << power as u32);
    let block = requests.last().and_then(|line| block(line)).or(nearest);
    let iops = known.has("iops").then(|| wanted("iops", scaled(known.text("iops"), 1000.0)));
    let bps = known.has("rate").then(|| wanted("the rate", known.rate("rate")));
    let mut cell = cell("ioping", direction, Pattern::Uniform, block)
        .path(Path::Buffered)
        .region(Region::Whole)
        .note("the text does not say whether past the page cache (-D)")
        .took(wanted("the time", known.time("time"))?)
        .moved(bytes, ops)
        .rates(iops.transpose()?, bps.transpose()?, ops);
    // The first one warms up and does not count.
    let warm = requests.into_iter().filter(|line| !line.has("cold"));
    add_times(known, &mut cell, warm.filter_map(|line| line.time("ns")).collect())?;
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
    let cell = cell.other("latency_deviation_ns", deviation, n);
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
    } else {
        requests.clear();
    }
    cell.times(latency, |share| {
        requests.get(((n as f64 * share).ceil() as usize).saturating_sub(1)).copied()
    });
    Ok(())
}
