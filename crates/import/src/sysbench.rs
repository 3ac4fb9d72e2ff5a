//! sysbench fileio: of 1.0 ("reads/s:"), 1.1 ("read: IOPS=..") and 0.4 ("Operations performed").

use super::prelude::*;

const MODE: &str = r"(?m)^\s*Doing (?<mode>random r/w|random read|random write|sequential read|sequential write \(creation\)|sequential rewrite) test\s*$";

pub(super) static TABLE: Tool = tool! {
    "sysbench", "sysbench fileio output", 1024.0, ends: of_run;
    ["a line 'sysbench ..'": "sysbench"]
    ["a line 'Doing random read test' or another of its tests": MODE]
    Says r"^\s*sysbench (?<version>[^ :]*)";
    // Other tools' output may follow the end of a run.
    Begins r"^\s*(?:Running the test with|Threads fairness)";
    Says MODE;
    Says r"^\s*Number of threads:\s*(?<threads>\d+)";
    Says r"^\s*Block size (?<block>\S+)";
    Says r"^\s*(?<span>\S+) total file size";
    Says r"^\s*Extra file open flags:\s*(?<flags>.*)";
    Says r"(?<fsync>fsync\(\) ).*nabled";
    Says r"^\s*Operations performed\s*:(?:.*?(?<read_count>[\d.]+) Read)?(?:.*?(?<write_count>[\d.]+) Write)?";
    Says r"^\s*read\s*:\s*IOPS=(?<reads>\S+)\s*(?<read_rate>\S*\s*\S*)";
    Says r"^\s*write\s*:\s*IOPS=(?<writes>\S+)\s*(?<write_rate>\S*\s*\S*)";
    Says r"^\s*reads/s:\s*(?<reads>[\d.]+)";
    Says r"^\s*writes/s:\s*(?<writes>[\d.]+)";
    Says r"^\s*read, MiB/s:\s*(?<read_mib>[\d.]+)";
    Says r"^\s*written, MiB/s:\s*(?<write_mib>[\d.]+)";
    Says r"^\s*total time:\s*(?<seconds>[\d.]+)";
    Says r"^\s*total number of events:\s*(?<events>[\d.]+)";
    Says r"^\s*min:\s*(?<min>[\d.]+)";
    Says r"^\s*avg:\s*(?<avg>[\d.]+)";
    Says r"^\s*max:\s*(?<max>[\d.]+)";
    Says r"^\s*(?:approx\.\s+95|95th) percentile:\s*(?<p95>[\d.]+)";
    Repeats r"^\s*(?:fsyncs/s|fsync:|execution time|Total file size|Time limit)|bytes written in.*MiB/sec|approx\.|Read .* Written.*Total transferred|Requests/sec executed$";
};

fn of_run(known: &Known) -> Made {
    let (mode, order) = match known.text("mode") {
        "" => return Ok(Vec::new()),
        "random r/w" => ("rndrw", Pattern::Uniform),
        "random read" => ("rndrd", Pattern::Uniform),
        "random write" => ("rndwr", Pattern::Uniform),
        "sequential read" => ("seqrd", Pattern::Sequential),
        "sequential rewrite" => ("seqrewr", Pattern::Sequential),
        _ => ("seqwr", Pattern::Sequential),
    };
    let seconds = known.number("seconds");
    let mut cells = Vec::new();
    for direction in [Direction::Read, Direction::Write] {
        let way = word(Some(direction));
        let number = |what: &str| known.number(&format!("{way}{what}"));
        let counted = number("_count").zip(seconds.filter(|seconds| *seconds > 0.0));
        let counted = counted.map(|(count, seconds)| count / seconds);
        let Some(iops) = number("s").or(counted).filter(|iops| *iops > 0.0) else { continue };
        let cell = of_direction(known, mode, order, direction);
        let exact = cell.params.block_bytes.map(|block| iops * block as f64);
        let printed = number("_mib").map(|mib| mib * MIB as f64);
        let bps = exact.or(printed).or(known.rate(&format!("{way}_rate")));
        cells.push(cell.rates(Some(iops), bps, 1).took(seconds.unwrap_or(0.0) * 1e9));
    }
    Ok(cells)
}

fn of_direction(known: &Known, mode: &str, order: Pattern, direction: Direction) -> Cell {
    let is_mixed = mode == "rndrw";
    let is_direct = known.text("flags").contains("directio") || known.text("flags") == "16384";
    // 0.4 prints "16Kb" and "2Gb".
    let bytes = |name: &str| size(&known.text(name).replace('b', "B"));
    let mut cell = cell(format!("sysbench:{mode}"), direction, order, bytes("block"))
        .region(Region::File)
        .span(bytes("span"))
        .path(if is_direct { Path::Direct } else { Path::Buffered });
    cell.params.threads = known.text("threads").parse().unwrap_or(1).max(1);
    cell.params.form = is_mixed.then(|| word(Some(direction)).into());
    let ns = ["min", "avg", "max", "p95"].map(|name| known.number(name).map(|ms| ms * 1e6));
    if let [Some(min), Some(mean), Some(max), p95] = ns {
        let p95 = p95.filter(|ns| (min..=max).contains(ns)).map(whole_ns);
        let n = known.number("events").unwrap_or(0.0) as u64;
        let (min, max) = (whole_ns(min), whole_ns(max));
        cell.metrics.latency_ns = Some(Latency { n, min, mean, p95, max, ..Latency::default() });
    }
    let has_fsync = known.has("fsync") && direction == Direction::Write;
    cell.note_if(!is_direct, BUFFERED)
        .note_if(is_mixed, "its times are of reads, writes and fsyncs together")
        .note_if(!is_mixed && has_fsync, "its times are of writes and fsyncs together")
}
