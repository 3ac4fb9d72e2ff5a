//! The benchmark of GNOME Disks: its averages, as people copy them from the window. Its MB are
//! 10^6 bytes, its MiB 2^20.

use super::prelude::*;

const HEAD: &str = r"(?m)^\s*Average (?:Read Rate|Write Rate|Access Time):?\s+\d";

pub(super) static TABLE: Tool = tool! {
    "GNOME Disks", "the benchmark of GNOME Disks", 1000.0;
    ["lines 'Average Read Rate .. MB/s' and 'Average Access Time .. ms'": HEAD]
    Begins r"^\s*(?:Disk or Device|Device|Disk):?\s+(?:(?<model>.*?) )?[—–(-]*\s*\(?(?<device>/dev/\w+)\)?\s*$";
    Says r"^\s*Sample Size:?\s+(?<block>[\d.]+ [KM]i?B)";
    Gives r"^\s*Average (?<way>Read|Write) Rate:?\s+(?<rate>[\d.,]+ \S+/s)(?:.*?(?<samples>\d+) samples)?" => of_rate;
    Gives r"^\s*Average Access Time:?\s+(?<time>[\d.,]+ ?\w+)(?:.*?(?<samples>\d+) samples)?" => of_access;
};

fn of_rate(known: &Known) -> Made {
    let way = known.direction("way");
    let rate = wanted("the rate", known.rate("rate"))?;
    let test = format!("gnome-disks:{}", word(way));
    let cell = cell(test, way, Pattern::Strided, known.size("block"))
        .region(Region::Whole)
        .bps(rate, known.count("samples").unwrap_or(1))
        .note("the mean of samples at places spread over the medium");
    Ok(vec![cell])
}

fn of_access(known: &Known) -> Made {
    let ns = wanted("the time", known.time("time"))?;
    let cell = cell(test::SEEK, Direction::Read, Pattern::Uniform, None)
        .region(Region::Whole)
        .form("GNOME Disks")
        .other(metric::ACCESS_TIME_NS, ns, known.count("samples").unwrap_or(1));
    Ok(vec![cell])
}
