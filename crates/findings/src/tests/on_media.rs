//! Conclusions on the simulated media that come with the program: properties, and the levels of
//! every medium by each suite. Findings and screens stand in the golden corpus.

use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::thread;

use device::{Device, ExtentGuard};
use record::{Finding, Outcome, Record, Severity, TargetKind, UseLevel};
use sim::{Profile, SimDevice, SimOptions};
use suite::definition::Suite;
use suite::{Choice, NoStage, Plan, RunOptions, TargetInfo};

use crate::add_caveats;
use crate::conclude::conclude;
use crate::testing::empty;

/// The record of a suite on a medium.
pub(super) fn measured(profile: &Profile, suite: &str) -> Record {
    measured_as(profile, suite, &Choice::default(), 1)
}

/// The same of these tests of the suite and with this seed, without the probe of the capacity,
/// which needs memory for all that is written.
pub(super) fn measured_as(profile: &Profile, suite: &str, choice: &Choice, seed: u64) -> Record {
    let options = SimOptions { seed, capacity: None, keep_data: false };
    let medium = SimDevice::new(profile, options);
    let target = TargetInfo {
        au_bytes: profile.au_bytes(),
        commands_at_once: Some(profile.spec().queue.depth),
        files: Err("no file system is simulated here".into()),
        ..TargetInfo::unrestricted(TargetKind::Simulated, medium.facts().clone())
    };
    let suite = Suite::built_in(suite).expect("it comes with the program");
    let plan = Plan::make(&suite, choice, &target).expect("it can be planned");
    let mut record = empty();
    record.target.kind = TargetKind::Simulated;
    record.medium.capacity_bytes = Some(medium.facts().capacity_bytes);
    let mut guarded = ExtentGuard::new(Box::new(medium) as Box<dyn Device>, plan.writes());
    let stop = AtomicBool::new(false);
    let options = RunOptions::new(seed, &target, &stop);
    record.cells = suite::run(&mut guarded, &mut NoStage, &plan, options, &mut ()).cells;
    add_caveats(&mut record);
    record
}

/// Every medium that comes with the program, and the record of `standard` on it; measured once.
pub(super) fn records() -> &'static [(&'static str, Record)] {
    static RECORDS: LazyLock<Vec<(&'static str, Record)>> = LazyLock::new(|| {
        let (front, back) = Profile::all().split_at(Profile::all().len() / 2);
        let of = |media: &'static [Profile]| -> Vec<(&'static str, Record)> {
            media.iter().map(|profile| (profile.name(), measured(profile, "standard"))).collect()
        };
        thread::scope(|scope| {
            let front = scope.spawn(|| of(front));
            let back = of(back);
            front.join().expect("no test of a suite panics").into_iter().chain(back).collect()
        })
    });
    &RECORDS
}

#[test]
fn what_changes_a_decision_comes_right_after_the_verdict() {
    let (_, record) =
        records().iter().find(|(name, _)| *name == "span-cheat-64").expect("a medium");
    let ids: Vec<String> = conclude(record)
        .into_iter()
        .filter(|finding| !crate::verdict::is_verdict(finding))
        .map(|finding| finding.id)
        .collect();
    assert_eq!(ids[0], "small-span", "{ids:?}");
}

/// Rates are always decimal and sizes of writes binary; of amounts a sentence has either binary or
/// decimal ones.
#[test]
fn a_sentence_has_one_system_of_units() {
    let has = |sentence: &str, units: &[&str]| {
        let mut words = sentence.split(|c: char| !(c.is_alphanumeric() || c == '/'));
        words.any(|word| units.contains(&word))
    };
    for (name, record) in records() {
        for finding in conclude(record) {
            let sizes = ["writes of 4 KiB", "writes of 16 KiB", "writes of 1 MiB"];
            let statement = sizes.iter().fold(finding.statement, |text, of| text.replace(of, ""));
            for sentence in statement.split(". ") {
                let is_mixed = has(sentence, &["KiB", "MiB", "GiB", "TiB"])
                    && has(sentence, &["kB", "MB", "GB", "TB"]);
                assert!(!is_mixed, "{name}, {}: {statement}", finding.id);
            }
        }
    }
}

/// True if a finding of this id is right about a medium of this profile.
fn is_true_of(profile: &Profile, id: &str) -> bool {
    let spec = profile.spec();
    let log_block = spec.log_block.as_ref();
    let small_writes = log_block.is_some_and(|mapping| mapping.bypass.is_some());
    match id {
        "compression" | "repeats-recognised" | "equal-rewrites-skipped" => {
            spec.compression.is_some()
        }
        "small-write-bypass" => small_writes,
        // Open units take sequential and random writes alike.
        "span-cache" | "small-span" => log_block.is_some_and(|mapping| mapping.log_merges < 1.0),
        // "A fast cache is full, or it is hot": a fill without pauses cannot tell them apart.
        "slc-cache" => {
            spec.heat.is_some()
                || spec.page_mapped.as_ref().is_some_and(|mapping| !mapping.stages.is_empty())
        }
        "throttling" => spec.heat.is_some(),
        "flush" => spec.cache.as_ref().is_some_and(|cache| !cache.honest),
        "capacity" => spec.fake.is_some() || spec.wear.is_some(),
        "verify" | "io-error" => spec.wear.is_some(),
        // Merges take as long as stalls; garbage collection of single pages does not.
        "stalls" => log_block.is_some(),
        "along-the-medium" | "counterfeit-hints" | "impossible" | "host" | "claim"
        | "class-claim" | "health" => false,
        _ => true,
    }
}

#[test]
fn no_medium_gets_an_adverse_finding_for_a_property_that_it_does_not_have() {
    let is_adverse = |finding: &Finding| finding.severity > Severity::Info;
    for (profile, (name, record)) in Profile::all().iter().zip(records()) {
        for finding in conclude(record).iter().filter(|finding| is_adverse(finding)) {
            assert!(is_true_of(profile, &finding.id), "{name}: {finding:?}");
        }
    }
}

#[test]
fn every_verdict_on_a_use_begins_with_its_level() {
    let mut levels = std::collections::BTreeSet::new();
    for (name, record) in records() {
        for finding in conclude(record).iter().filter(|it| it.id.starts_with("verdict-")) {
            let Some(Outcome::Use(UseLevel { wanted, level, .. })) = finding.outcome else {
                panic!("{name}: {finding:?}");
            };
            assert!(finding.statement.starts_with(&level.verdict(wanted)), "{name}: {finding:?}");
            levels.insert(level);
        }
    }
    assert!(levels.len() >= 5, "{levels:?}");
}

/// Levels of the five uses by medium and suite, one line each: "a1 check: good good good - -".
#[test]
fn every_medium_has_its_levels_in_every_suite() {
    let line = |name: &str, suite: &str, record: &Record| {
        let levels = crate::use_levels(record);
        let words = levels.iter().map(|level| {
            let condition = if level.condition.is_some() { "?" } else { "" };
            format!("{} {}{condition}", level.wanted.verdict_id(), level.level.word())
        });
        format!(
            "{name} {suite}: {}\n",
            words.collect::<Vec<_>>().join(", ").replace("verdict-", "")
        )
    };
    let of = |profile: &Profile, standard: &Record| {
        let [check, quick] = ["check", "quick"].map(|suite| measured(profile, suite));
        [("check", &check), ("quick", &quick), ("standard", standard)]
            .map(|(suite, record)| line(profile.name(), suite, record))
            .concat()
    };
    let pairs = || Profile::all().iter().zip(records());
    let text: String = pairs().map(|(profile, (_, standard))| of(profile, standard)).collect();
    insta::assert_snapshot!(text);
}
