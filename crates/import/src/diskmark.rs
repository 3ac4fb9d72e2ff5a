//! KDiskMark and CrystalDiskMark: their text reports.
//!
//! CrystalDiskMark's MB/s are 10^6 bytes. KDiskMark's are fio's KiB/s divided by 1000, although its
//! head says otherwise: they are 2.3 % too low (4.6 % in 2020, when it divided by 1024). The IOPS
//! beside them are right, and tell which of these units a line has.

use regex::Regex;

use super::prelude::*;

/// "SEQ    1MiB (Q=  8, T= 1):   194.805 MB/s [    185.8 IOPS] < 42830.02 us>".
const RESULT: &str = r"(?m)^[ \t]*(?<line>(?<order>Sequential|Random|SEQ|RND).*(?:\(Q| Read| Write).*):(?<rate>[^:\n]*)MB/s(?:.*?\[(?<iops>.*?)IOPS)?(?:.*?<(?<us>.*?)us>)?";

pub(super) static TABLE: Tool = tool! {
    "CrystalDiskMark", "KDiskMark or CrystalDiskMark text", 1000.0, facts: of_run;
    ["lines 'Random 4 KiB (Q= 1, T= 1): .. MB/s' or 'Sequential Read : .. MB/s'": RESULT]
    ["'[Read]' and '[Write]', or 'Read' and 'Write' in the lines": r"(?m)^\s*(?:\[(?:Read|Write|Mix)\]|(?:Sequential|Random|SEQ|RND).* (?i:read|write))"]
    Begins r"(?<kdiskmark>KDiskMark) ?(?:\((?<version>.*?)\)|:)";
    Begins r"(?<kdiskmark>github\.com/JonMagon/KDiskMark)";
    Begins r"CrystalDiskMark (?<version>.*?) ";
    Says r"^\s*\[(?<section>Read|Write|Mix)\]";
    Says r"^\s*(?<each_zero>(?:Sequential|Random|SEQ|RND).*(?:\(Q| Read| Write).*):\s*0[.,]0+ MB/s";
    Gives RESULT => of_result;
    // "Test: 1 GiB (x5) [Interval: 5 sec]": size of the file, and number of repetitions.
    Says r"^\s*Test[ :]*(?<span>[^(\[]*)(?:.*\(x(?<runs>\d+)\))?";
    Says r"^\s*Date.*?:(?<date>.*)";
    Says r"^\s*OS.*?:.*\[linux (?<kernel>.*?)\]";
    Repeats r"MB/s\]? = 1";
};

/// Units that KDiskMark's "MB/s" have had, in units of 10^6 bytes: 10^6, 1000 KiB, 1 MiB.
const MEGABYTES: [(f64, &str); 3] = [
    (1.0, ""),
    (1.024, "printed 2.3 % too low: its MB/s are 1000 KiB/s; corrected"),
    (1.048576, "printed 4.6 % too low: its MB/s are MiB/s; corrected"),
];

/// Takes what the lines around the results say.
fn of_run(known: &mut Known, run: &mut ImportedRun) {
    if known.has("kdiskmark") {
        run.tool = "KDiskMark";
    }
    let runs = known.count("runs").unwrap_or(1);
    for (_, cell) in run.cells.iter_mut().filter(|(_, cell)| cell.params.span_bytes.is_none()) {
        cell.params.span_bytes = known.size("span");
        cell.metrics.other.get_mut("mean_latency_ns").into_iter().for_each(|ns| ns.n = runs);
    }
    for line in known.each("each_zero").filter_map(|line| line.short("each_zero", 60)) {
        run.note(format!("{line}: a rate of 0: the test failed or was not run"));
    }
    if let Some(date) = known.short("date", 40) {
        run.note(format!("measured {date} by the clock of its host"));
    }
    if let Some(kernel) = known.short("kernel", 60) {
        run.host = Some(Host { kernel: Some(kernel), ..Host::default() });
    }
}

fn of_result(known: &Known) -> Made {
    let stated = |what: &str, name: &str| {
        known.has(name).then(|| wanted(what, known.number(name))).transpose()
    };
    let rate = wanted("the rate", known.number("rate"))?;
    let (iops, us) = (stated("IOPS", "iops")?, stated("the latency", "us")?);
    let cell = with_rates(of_line(known), rate, iops, known.has("kdiskmark"));
    let ns = us.filter(|us| *us > 0.0).map(|us| us * 1e3);
    Ok(vec![cell.other("mean_latency_ns", ns, 1)])
}

fn of_line(known: &Known) -> Cell {
    let (line, is_kdiskmark) = (known.text("line"), known.has("kdiskmark"));
    let find = |pattern: &Regex| pattern.captures(line).map_or("", |found| group(&found, 1));
    let count = |text: &str| text.parse().ok().filter(|n| (1..=65_536).contains(n)).unwrap_or(1);
    let queue_depth = count(find(re!(r"(?i)q(?:d)?=\s*(\d+)")));
    let threads = count(find(re!(r"(?i)t=\s*(\d+)")));
    // All of its units are binary.
    let block = size(&find(re!(r"(\d+ ?[KM]i?B)")).replace(' ', ""));
    let is_random = known.text("order").to_lowercase().starts_with('r');
    let (kind, pattern) =
        if is_random { ("random", Pattern::Uniform) } else { ("sequential", Pattern::Sequential) };
    let direction = known.direction("line").or(known.direction("section"));
    // KDiskMark runs fio for some seconds; CrystalDiskMark shows the best of its runs, which is
    // another figure.
    let tool = if is_kdiskmark { "KDiskMark" } else { "CrystalDiskMark" };
    let test = match direction.filter(|_| is_kdiskmark && queue_depth == 1 && threads == 1) {
        Some(direction) => our_test(pattern, direction).to_owned(),
        None => format!("{tool}:{kind}-{}", word(direction)),
    };
    let mut cell = cell(test, direction, pattern, block).region(Region::File);
    (cell.params.queue_depth, cell.params.threads) = (queue_depth, threads);
    let text = "before May 2026 KDiskMark showed half of what several threads did";
    cell.label("line", line)
        .label("tool", &format!("{tool} {}", known.text("version")))
        .note_if(!is_kdiskmark, "the best of its runs, the first left out")
        .note_if(is_kdiskmark && threads > 1, text)
}

fn with_rates(cell: Cell, rate: f64, iops: Option<f64>, is_kdiskmark: bool) -> Cell {
    let block = cell.params.block_bytes;
    let ratio = iops.zip(block).map(|(iops, block)| iops * block as f64 / (rate * 1e6));
    let ratio = ratio.filter(|ratio| *ratio > 0.0);
    // Printed with three and one digits behind the point.
    let slack = 0.006 + 0.0005 / rate + iops.map_or(0.0, |iops| 0.05 / iops.max(0.05));
    let off = |factor: f64| ratio.map_or(f64::INFINITY, |ratio| (ratio / factor - 1.0).abs());
    let fitting: Vec<_> = MEGABYTES.iter().filter(|(factor, _)| off(*factor) < slack).collect();
    let usual = &MEGABYTES[usize::from(is_kdiskmark)];
    let (factor, text) = if let [only] = fitting[..] { only } else { usual };
    let is_odd = ratio.is_some() && fitting.is_empty();
    cell.rate(rate * 1e6 * factor, 1)
        .rates(iops.filter(|iops| *iops > 0.0), None, 1)
        .note_if(!text.is_empty(), text)
        .note_if(is_odd, "its MB/s and IOPS do not agree")
}
