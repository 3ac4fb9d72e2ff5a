//! Facts and quantities in words: names of media, tests and parameters, and numbers with the unit
//! in their name.

use record::text::{capitalised, printable};
use record::units::{Bytes, interval, quantity, significant};
use record::{
    Cell, Content, Direction, Estimate, Finding, Flag, Medium, MediumKind, Params, Path, Record,
    Region, Severity, Stop, Sync, TargetKind, UnsteadyRounds, metric,
};

use crate::display;

/// A caveat in words: the observation, and advice to the reader. The statistics behind it are in
/// the record.
pub(crate) fn caveat(flag: &Flag) -> String {
    match flag {
        Flag::Autocorrelated { .. } => {
            "results are autocorrelated, so the interval is wider: run it for longer if it is too wide for you".to_owned()
        }
        Flag::BusyHost { .. } => {
            "the machine was busy when the run began: run it again on an idle one if a figure surprises you".to_owned()
        }
        flag => printable(&flag.to_string()),
    }
}

/// Kind of a medium in words.
pub fn kind(kind: MediumKind) -> &'static str {
    match kind {
        MediumKind::Sd => "SD card",
        MediumKind::Emmc => "eMMC",
        MediumKind::Usb => "USB stick",
        MediumKind::CompactFlash => "CompactFlash card",
        MediumKind::Ssd => "SSD",
        MediumKind::Nvme => "NVMe SSD",
        MediumKind::Disk => "hard disk",
        MediumKind::Virtual => "virtual disk",
        MediumKind::Loop => "loop device",
        MediumKind::Simulated => "simulated medium",
        MediumKind::Unknown => "medium of unknown kind",
    }
}

/// Name of a medium: its own, or else its kind.
pub fn name(medium: &Medium) -> String {
    let known: Vec<String> =
        [&medium.vendor, &medium.model].into_iter().flatten().map(|part| printable(part)).collect();
    let known = known
        .iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ");
    match (&medium.profile, known.is_empty()) {
        (_, false) => known,
        (Some(profile), true) => printable(profile),
        (None, true) => capitalised(kind(medium.kind)),
    }
}

/// Other facts that identify a medium and its link: kind, capacity, link, file system.
pub fn medium_facts(record: &Record) -> Vec<String> {
    let medium = &record.medium;
    let mut facts = Vec::new();
    if name(medium) != capitalised(kind(medium.kind)) {
        facts.push(kind(medium.kind).to_owned());
    }
    let size = |bytes: u64| Bytes(bytes).to_string();
    facts.extend(match (&record.target.part_of, medium.capacity_bytes) {
        (Some(whole), Some(bytes)) => Some(format!(
            "a partition of {} on {}, {}",
            size(bytes),
            printable(&whole.device),
            size(whole.capacity_bytes)
        )),
        (_, bytes) => bytes.map(size),
    });
    facts.extend(record.target.link.as_ref().and_then(|link| link.mode.as_deref()).map(printable));
    if medium.behind_reader == Some(true) {
        facts.push("behind a reader".to_owned());
    }
    let place = match record.target.kind {
        TargetKind::Directory | TargetKind::File => "a file on ",
        TargetKind::Block | TargetKind::Simulated => "",
    };
    if let Some(fs) = record.target.filesystem.as_ref().and_then(|fs| fs.kind.as_deref()) {
        facts.push(format!("{place}{}", printable(fs)));
    }
    facts
}

/// The medium in one line: "SanDisk SU08G, SD card, 31.9 GB, sd uhs SDR104".
pub fn medium_line(record: &Record) -> String {
    std::iter::once(name(&record.medium)).chain(medium_facts(record)).collect::<Vec<_>>().join(", ")
}

/// Name of a test in words: "random write", "precondition".
pub fn test(name: &str) -> String {
    if name == record::test::PRIME {
        return "precondition".to_owned();
    }
    printable(name).replace('-', " ")
}

/// Written data in words.
pub fn content(content: Content) -> String {
    match content {
        Content::Zeros => "zeros".to_owned(),
        Content::Byte(byte) => format!("byte {byte:#04x}"),
        Content::Repeated => "one block repeated".to_owned(),
        Content::Incompressible => "incompressible".to_owned(),
        Content::Compressible(percent) => format!("{percent} % compressible"),
    }
}

/// Region of the medium in words.
pub fn region(region: Region) -> &'static str {
    match region {
        Region::Front => "front",
        Region::Middle => "middle",
        Region::Whole => "whole medium",
        Region::File => "in a file",
    }
}

/// Settings that distinguish a cell from its neighbours, except the block size: form, region,
/// threads, depth, content.
pub fn variant(params: &Params) -> Vec<String> {
    let mut parts: Vec<String> = params.form.iter().map(|form| printable(form)).collect();
    parts.extend(params.region.map(|r| region(r).to_owned()));
    if params.threads > 1 {
        parts.push(format!("{} threads", params.threads));
    }
    if params.queue_depth > 1 {
        parts.push(format!("queue depth {}", params.queue_depth));
    }
    if params.direction != Some(Direction::Read) {
        parts.extend(params.content.filter(|c| *c != Content::Incompressible).map(content));
    }
    match params.sync {
        Sync::None => {}
        Sync::Data => parts.push("O_DSYNC".to_owned()),
        Sync::File => parts.push("O_SYNC".to_owned()),
    }
    if params.path == Path::Buffered {
        parts.push("buffered".to_owned());
    }
    parts.extend(params.passes.filter(|&n| n != 1).map(|n| format!("{n} passes")));
    parts
}

/// Settings stored with the cells of a test: "certainty 0.02, min 3.00 s".
pub fn settings(params: &Params) -> String {
    let setting = |(name, value): (&String, &f64)| {
        let is_number = quantity(name, *value) == significant(*value) && value.fract() == 0.0;
        let text = if is_number { value.to_string() } else { quantity(name, *value) };
        format!("{} {text}", metric(name))
    };
    params.other.iter().map(setting).collect::<Vec<_>>().join(", ")
}

/// All parameters that identify a cell, block size first: "4 KiB, middle, 8 threads".
pub fn params(params: &Params) -> String {
    let block = params.block_bytes.map(|bytes| Bytes(bytes).to_string());
    block.into_iter().chain(variant(params)).collect::<Vec<_>>().join(", ")
}

/// A cell in a few words: "random write 4 KiB".
pub fn cell(cell: &Cell) -> String {
    [test(&cell.test), params(&cell.params)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Name of a cell, with its span if other cells differ only in that.
pub fn cell_among(record: &Record, one: &Cell) -> String {
    let alike =
        |other: &Cell| cell(other) == cell(one) && other.params.span_bytes != one.params.span_bytes;
    let span = one.params.span_bytes.filter(|_| record.cells_of(&one.test).any(alike));
    let span = span.map(|bytes| format!(", span {}", Bytes(bytes))).unwrap_or_default();
    cell(one) + &span
}

/// Parameters of a cell in a table of its test: all but the usual region and iozone's one repeated
/// byte, the form first.
pub fn row(params: &Params) -> String {
    let place =
        params.region.filter(|place| matches!(place, Region::Middle | Region::File)).map(region);
    let byte = params.content.filter(|data| matches!(data, Content::Byte(_))).map(content);
    let usual = |part: &String| place == Some(part.as_str()) || byte.as_ref() == Some(part);
    let block = params.block_bytes.map(|bytes| Bytes(bytes).to_string());
    let form = params.form.iter().map(|form| printable(form));
    let rest =
        variant(params).into_iter().skip(params.form.iter().count()).filter(|part| !usual(part));
    form.chain(block).chain(rest).collect::<Vec<_>>().join(", ")
}

/// Label of a cell's row, and its tool if the name of the test has one: "Sequential read, 1 MiB, QD
/// 32" and "CrystalDiskMark".
pub fn row_label(test: &str, params: &Params) -> (String, Option<String>) {
    let (tool, test) = test.split_once(':').map_or((None, test), |(tool, what)| (Some(tool), what));
    let what = row(params).replace("queue depth", "QD");
    let test = capitalised(&self::test(test));
    let label = if what.is_empty() { test } else { format!("{test}, {what}") };
    (label, tool.map(printable))
}

/// Label and tool in one text: "Sequential read, 1 MiB, QD 32 (CrystalDiskMark)"; of a sweep over
/// spans the span: "Span sweep, 64 MiB".
pub fn whole_label(test: &str, params: &Params) -> String {
    if let (record::test::SPAN_SWEEP, Some(bytes)) = (test, params.span_bytes) {
        return format!("{}, {}", capitalised(&self::test(test)), Bytes(bytes));
    }
    let (label, tool) = row_label(test, params);
    tool.map_or(label.clone(), |tool| format!("{label} ({tool})"))
}

/// Relative half-width of an interval from which on nothing has converged: no test accepts more.
const NEVER_ASKED: f64 = 0.5;

/// Reason why a cell ended, in a word or two. For a cell measured in rounds it is "converged", or
/// "rounds" if its interval is wider than requested.
pub fn stop_of(cell: &Cell) -> &'static str {
    let is_open = |flag: &Flag| matches!(flag, Flag::NotConverged { .. });
    let is_one_look = cell.is_one_look();
    let rates = [cell.metrics.iops, cell.metrics.bps].into_iter().flatten();
    let is_wide = |rate: Estimate| rate.relative_half_width().is_some_and(|w| w > NEVER_ASKED);
    match cell.stop {
        stop if !cell.rounds.is_empty() && !is_one_look && !stop.cut_short() => {
            if cell.flags.iter().any(is_open) { "rounds" } else { "converged" }
        }
        Stop::Converged if rates.into_iter().any(is_wide) => "too wide",
        other => stop(other),
    }
}

/// The reason why a cell ended, in one word.
pub fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::Converged => "converged",
        Stop::Time => "time",
        Stop::Bytes => "bytes",
        Stop::Ops => "ops",
        Stop::Interrupted => "interrupted",
        Stop::Error => "error",
    }
}

/// Unit suffixes of metric names, longest first.
const SUFFIXES: [&str; 9] =
    ["_per_s", "_celsius", "_percent", "_bytes", "_ratio", "_iops", "_bps", "_ns", "_ms"];

/// Name of a metric in words, without its unit: "access time", "CPU time per I/O".
pub fn metric(name: &str) -> String {
    match name {
        metric::IOPS => return "I/O rate".to_owned(),
        metric::BPS => return "data rate".to_owned(),
        metric::CPU_NS_PER_IO => return "CPU time per I/O".to_owned(),
        metric::ZERO_TO_RANDOM_RATIO => return "zeros against incompressible".to_owned(),
        _ => {}
    }
    let name = printable(name);
    let stem = SUFFIXES
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .or_else(|| name.strip_suffix("_s"))
        .unwrap_or(&name);
    match stem {
        "mean" => "mean time".to_owned(),
        _ => stem.replace("_ns_", " ").replace('_', " "),
    }
}

/// Latency of the slowest I/O in one short word, even if it is minutes.
pub fn stall(ns: f64) -> String {
    if ns < 120e9 { quantity("_ns", ns) } else { format!("{:.0} s", ns / 1e9) }
}

/// "varies 2.19-3.41 GB/s", "levels 1.57, 2.90 GB/s": results of rounds that differ too much for an
/// interval.
pub fn variation(name: &str, rounds: UnsteadyRounds) -> String {
    match rounds {
        UnsteadyRounds::Range(ends) => {
            format!("varies {}", interval(name, ends).replacen(" to ", "-", 1))
        }
        UnsteadyRounds::Levels(ends) => {
            format!("levels {}", interval(name, ends).replacen(" to ", ", ", 1))
        }
    }
}

/// A text of at most this many columns, the last one a mark if it was cut.
pub fn clipped(text: &str, width: usize) -> String {
    if display::width(text) <= width {
        return text.to_owned();
    }
    display::split(text, width.saturating_sub(1)).0.to_owned() + "…"
}

/// "3 caveats"; empty for none.
pub(crate) fn counted(n: usize, noun: &str) -> String {
    if n == 0 { String::new() } else { count(n, noun) }
}

/// Severity of a finding in a word.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Failure => "failure",
    }
}

/// Confidence of a finding, if a probability was computed: "97 % confidence".
pub fn confidence(finding: &Finding) -> Option<String> {
    let percent = finding.confidence.filter(|share| (0.0..=1.0).contains(share))? * 100.0;
    // 100 % would claim too much.
    Some(if percent > 99.0 {
        "over 99 % confidence".to_owned()
    } else {
        format!("{} % confidence", percent.floor())
    })
}

/// A count with its noun: "1 cell", "3 cells".
pub fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_interval_wider_than_its_figure_is_called_converged() {
        let with = |half: f64, flag: Option<Flag>| {
            let mut cell = Cell::begun("a", "random-write", Params::default());
            let known =
                Estimate { value: 10.0, ci95: Some([10.0 - half / 2.0, 10.0 + 1.5 * half]), n: 9 };
            (cell.stop, cell.metrics.iops) = (Stop::Converged, Some(known));
            cell.flags.extend(flag);
            stop_of(&cell)
        };
        let host = Some(Flag::HostLimited { mean_ns: 12_000 });
        assert_eq!([with(0.5, None), with(2.0, host)], ["converged"; 2]);
        assert_eq!([with(5.3, None), with(41_150.7, None)], ["too wide"; 2]);
    }

    #[test]
    fn metrics_have_the_unit_of_their_name() {
        let texts: Vec<String> = [
            ("iops", 49.23),
            ("access_time_ns", 370_123.4),
            ("cpu_ns_per_io", 9_876.0),
            ("mean_ms", 537.0),
            ("full_pass_s", 131_072.0),
            ("groups_per_s", 1.42),
            ("zero_to_random_ratio", 1.852),
            ("burst_iops", f64::NAN),
            ("a_new_thing", 7.0),
        ]
        .iter()
        .map(|(name, value)| format!("{}: {}", metric(name), quantity(name, *value)))
        .collect();
        insta::assert_debug_snapshot!(texts, @r#"
        [
            "I/O rate: 49.2 IOPS",
            "access time: 370 µs",
            "CPU time per I/O: 9.88 µs",
            "mean time: 537 ms",
            "full pass: 36 h 24 min",
            "groups: 1.42 /s",
            "zeros against incompressible: 1.85 x",
            "burst: -",
            "a new thing: 7.00",
        ]
        "#);
    }

    #[test]
    fn an_interval_has_its_unit_once() {}

    #[test]
    fn text_from_a_record_cannot_steer_a_terminal() {
        assert_eq!(printable("a\u{1b}[31mred\r\nb\u{202e}c"), "a [31mred  bc");
    }
}
