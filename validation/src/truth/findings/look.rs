//! Runs on media drawn at random, and their findings.

use std::sync::atomic::AtomicBool;

use device::{Device, ExtentGuard, WriteBudget};
use record::{Cell, Finding, MediumKind, Record, TargetKind};
use sim::{Profile, SimDevice, SimOptions};
use suite::definition::{Suite, SuiteEntry};
use suite::{Choice, NoStage, Plan, RunOptions, TargetInfo};

use super::medium::Medium;
use super::trouble::Trouble;

/// Tests behind the findings, in the order and with the settings of the suite `full`.
const TESTS: [&str; 11] = [
    "sustained",
    "prime",
    "random-write",
    "align-read",
    "open-aus",
    "write-unit",
    "front-area",
    "management-unit",
    "span-sweep",
    "pattern",
    "content-sweep",
];

/// The suite `full` without tests that no finding here uses.
pub fn suite() -> Suite {
    let mut suite = Suite::built_in("full").expect("it comes with the program");
    suite.tests.retain(|entry| TESTS.contains(&entry.test.as_str()));
    // Of several entries of a test the one with the fewest changed settings is kept.
    let all = suite.tests.clone();
    let changes_less = |entry: &SuiteEntry, other: &SuiteEntry| {
        other.test == entry.test && other.settings.len() < entry.settings.len()
    };
    suite.tests.retain(|entry| !all.iter().any(|other| changes_less(entry, other)));
    suite
}

/// Runs the suite on a fresh medium and concludes. The medium declares no allocation unit, as
/// behind a USB reader.
pub fn look(medium: &Medium, suite: &Suite, seed: u64) -> Record {
    look_through(&medium.profile(), &Trouble::default(), suite, seed, false)
}

/// Runs the suite on a medium that is described by the text of its profile, behind `trouble`. There
/// is no file system on it.
pub fn look_through(
    text: &str,
    trouble: &Trouble,
    suite: &Suite,
    seed: u64,
    keep_data: bool,
) -> Record {
    let profile = Profile::parse("drawn", text)
        .unwrap_or_else(|error| panic!("what was drawn can be: {error}\n{text}"));
    let rotational = profile.spec().disk.is_some();
    let device =
        trouble.around(SimDevice::new(&profile, SimOptions { seed, capacity: None, keep_data }));
    let files = Err("there is no file system to put a file on".into());
    let site = TargetInfo {
        files,
        ..TargetInfo::unrestricted(TargetKind::Simulated, device.facts().clone())
    };
    let plan = Plan::make(suite, &Choice::default(), &site)
        .expect("the suite can be planned on any medium");
    let budgeted: Box<dyn Device> = Box::new(WriteBudget::new(device, plan.max_written_bytes()));
    let mut guarded = ExtentGuard::new(budgeted, plan.writes());
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(seed, &site, &stop);
    let end = suite::run(&mut guarded, &mut NoStage, &plan, options, &mut ());
    let largest_bytes = site.facts.max_transfer_bytes;
    let queue = largest_bytes.map(|bytes| record::Queue {
        max_sectors_kb: Some(bytes / 1024),
        ..record::Queue::default()
    });
    let medium = record::Medium {
        kind: MediumKind::Simulated,
        capacity_bytes: Some(site.facts.capacity_bytes),
        rotational: Some(rotational),
        ..record::Medium::default()
    };
    let mut record = Record {
        medium,
        target: record::Target { kind: TargetKind::Simulated, queue, ..record::Target::default() },
        plan: plan.cells,
        cells: end.cells,
        skipped: end.skipped,
        ..Record::new(record::Run {
            seed,
            ended: end.ended,
            elapsed_ns: end.elapsed_ns,
            ..record::Run::default()
        })
    };
    ::findings::add_caveats(&mut record);
    record.findings = ::findings::conclude(&record);
    record
}

/// Number behind a key in the evidence of a finding: "au_bytes 4194304". `None` if it is not a
/// plain number.
pub fn number(findings: &[Finding], id: &str, key: &str) -> Option<u64> {
    let lines =
        findings.iter().filter(|finding| finding.id == id).flat_map(|finding| &finding.evidence);
    lines
        .filter_map(|line| {
            line.strip_prefix(key)?.split_whitespace().next()?.trim_end_matches(',').parse().ok()
        })
        .next()
}

/// Line of evidence that begins with a key.
pub fn line<'a>(findings: &'a [Finding], id: &str, key: &str) -> Option<&'a str> {
    let mut lines =
        findings.iter().filter(|finding| finding.id == id).flat_map(|finding| &finding.evidence);
    lines.find(|line| line.starts_with(key)).map(String::as_str)
}

/// Text of a cell on one line, its curve of rates on the next.
pub fn cell_text(cell: &Cell) -> String {
    let params = &cell.params;
    let number = |name: &str| {
        params.other.get(name).map_or(String::new(), |value| format!(" {name} {value}"))
    };
    let asked: String =
        ["n_aus", "au_index", "shift_bytes", "assumed_au_bytes"].map(number).concat();
    let (form, block, span) = (
        params.form.as_deref().unwrap_or("-"),
        params.block_bytes.unwrap_or(0),
        params.span_bytes.unwrap_or(0) >> 20,
    );
    let figure = |figure: &Option<record::Estimate>| {
        figure.map_or("-".into(), |figure| {
            let [low, high] = figure.ci95.unwrap_or([f64::NAN; 2]);
            format!("{:.1} ({low:.1} to {high:.1})", figure.value)
        })
    };
    let read = cell
        .metrics
        .other
        .get("read_bps")
        .map_or(String::new(), |figure| format!(", reads {:.0} B/s", figure.value));
    let p50 = cell.metrics.latency_ns.as_ref().and_then(|latency| latency.p50).unwrap_or(0);
    let mut text = format!(
        "{} {form} {block} B in {span} MiB{asked}: {} IOPS, {} B/s, p50 {p50} ns, n {}, {:?}{read}\n",
        cell.id,
        figure(&cell.metrics.iops),
        figure(&cell.metrics.bps),
        cell.ops,
        cell.stop
    );
    let curves = cell
        .series
        .iter()
        .filter(|series| ["rate along the fill", "diff", "rate"].contains(&series.name.as_str()));
    for curve in curves.filter(|_| {
        ["sustained", "align-read", "front-area", "pattern", "prime"].contains(&cell.test.as_str())
    }) {
        let points = curve.points.iter().map(|[x, y]| {
            format!("{:.3}:{:.1}", x / 1e6, y / 1e6 * if curve.name == "diff" { 1e3 } else { 1.0 })
        });
        text += &format!("    {}: {}\n", curve.name, points.collect::<Vec<_>>().join(" "));
    }
    text
}
