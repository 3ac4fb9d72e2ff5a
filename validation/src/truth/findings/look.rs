//! Runs on media drawn at random, and their findings.

use device::Device;
use record::{Cell, Finding, MediumKind, Record, TargetKind};
use sim::{Profile, SimDevice, SimOptions};
use suite::definition::{Suite, SuiteEntry};
use suite::{Choice, NoStage, TargetInfo};

use super::medium::Medium;
use super::trouble::Trouble;
use crate::truth::runs::run;

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
    let (plan, end) = run(device, &site, suite, &Choice::default(), &mut NoStage, seed);
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

/// Text of a cell on one line, without its histogram.
pub fn cell_text(cell: &Cell) -> String {
    let short = Cell { histogram: None, ..cell.clone() };
    let json = serde_json::to_string(&short);
    json.expect("a cell has only string keys") + "\n"
}
