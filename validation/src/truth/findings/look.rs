//! Runs on media drawn at random, and their findings.

use device::Device;
use record::{Cell, Evidence, Finding, MediumKind, Record, TargetKind};
use sim::{SimDevice, SimOptions};
use suite::definition::{Suite, SuiteEntry};
use suite::{Choice, NoStage, TargetInfo};

use super::Wrong;
use super::medium::parsed;
use super::trouble::Trouble;
use crate::truth::runs::run;

/// Tests behind the findings, in the order and with the settings of the suite `full`.
const TESTS: [&str; 8] = [
    "sustained",
    "prime",
    "random-write",
    "align-read",
    "open-aus",
    "write-unit",
    "span-sweep",
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

/// A medium that was drawn, and what lies between it and the program.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Text of its profile.
    pub profile: String,
    /// Disturbances beside its own work.
    pub trouble: Trouble,
    /// Seed of its run.
    pub seed: u64,
}

impl Drawn {
    /// Runs a suite on a fresh medium and concludes. There is no file system on the medium, and it
    /// declares no allocation unit, as behind a USB reader.
    pub fn run(&self, suite: &Suite, keep_data: bool) -> Record {
        self.run_on(suite, keep_data, None)
    }

    /// The same on a medium that must be restored, for the reason in `must_restore`.
    pub fn run_on(&self, suite: &Suite, keep_data: bool, must_restore: Option<String>) -> Record {
        let (profile, seed) = (parsed(&self.profile), self.seed);
        let medium = SimDevice::new(&profile, SimOptions { seed, capacity: None, keep_data });
        let device = self.trouble.around(medium);
        let files = Err("there is no file system to put a file on".into());
        let site = TargetInfo {
            files,
            must_restore,
            ..TargetInfo::unrestricted(TargetKind::Simulated, device.facts().clone())
        };
        let (plan, end) = run(device, &site, suite, &Choice::default(), &mut NoStage, seed);
        let queue = site.facts.max_transfer_bytes.map(|bytes| record::Queue {
            max_sectors_kb: Some(bytes / 1024),
            ..record::Queue::default()
        });
        let medium = record::Medium {
            kind: MediumKind::Simulated,
            capacity_bytes: Some(site.facts.capacity_bytes),
            rotational: Some(profile.spec().disk.is_some()),
            ..record::Medium::default()
        };
        let kind = TargetKind::Simulated;
        let mut record = Record {
            medium,
            target: record::Target { kind, queue, ..record::Target::default() },
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

    /// Makes a wrong statement about it, from these tests of [`suite`].
    pub fn wrong(&self, what: impl Into<String>, tests: &'static [&'static str]) -> Wrong {
        Wrong { what: what.into(), drawn: Some((self.clone(), tests)) }
    }
}

/// Number of this name that a finding rests on, if that is no bound.
pub fn number(findings: &[Finding], id: &str, name: &str) -> Option<u64> {
    let of = findings.iter().filter(|finding| finding.id == id);
    of.flat_map(|finding| &finding.evidence).find_map(|evidence| match evidence {
        Evidence::Number(number) if number.name == name && number.bound.is_none() => {
            Some(number.value as u64)
        }
        _ => None,
    })
}

/// Text of a cell on one line, without its histogram.
pub fn cell_text(cell: &Cell) -> String {
    let short = Cell { histogram: None, ..cell.clone() };
    let json = serde_json::to_string(&short);
    json.expect("a cell has only string keys") + "\n"
}
