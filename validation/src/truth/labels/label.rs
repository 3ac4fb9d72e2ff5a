//! Label of each profile, and the statements that a run must make about such a medium.

use ::findings::phrases::{
    COPY_NOW, DO_NOT_USE, FLUSH_LIES, FLUSH_UNTESTED, IS_FAKE, MANY_PLACES, ONE_AREA, OVERSTATED,
    RANDOM_WRITES, STAYS_FAST,
};
use flashmark::exit::Exit;
use record::{Bound, Condition, Ended, Finding, Fitness, Severity};
use sim::Profile;

use super::run_output::RunOutput;

/// True kind of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Only slow or fast.
    Honest,
    /// Better in benchmarks than in use.
    Cheat,
    /// Reports data as safe that is not.
    Liar,
    /// Smaller than it claims.
    Fake,
    /// At the end of its life.
    Worn,
}

const HONEST: [&str; 23] = [
    "cf-lexar-300x",
    "cf-kingston-266x",
    "cf-sandisk-ultra",
    "sd-class4",
    "sd-worst",
    "class6",
    "class10",
    "class10-bypass",
    "a1",
    "a2",
    "a2-cq",
    "usb2-voyager",
    "usb2-kingston",
    "usb2-cruzer",
    "usb3-extreme",
    "usb3-modern",
    "emmc",
    "ssd",
    "ssd-pslc",
    "throttler",
    "disk-5400",
    "disk-7200",
    "disk-10k",
];
const CHEATS: [&str; 5] =
    ["span-cheat-16", "span-cheat-64", "span-cheat-128", "zero-cheat", "pattern-cheat"];
const LIARS: [&str; 1] = ["flush-liar"];
const FAKES: [&str; 3] = ["fake-wrap", "fake-limbo", "chain"];
const WORN: [&str; 1] = ["worn"];

impl Label {
    /// Label of a built-in profile; `None` if it has none.
    pub fn of(profile: &str) -> Option<Label> {
        let sets: [(&[&str], Label); 5] = [
            (&HONEST, Label::Honest),
            (&CHEATS, Label::Cheat),
            (&LIARS, Label::Liar),
            (&FAKES, Label::Fake),
            (&WORN, Label::Worn),
        ];
        sets.into_iter().find(|(names, _)| names.contains(&profile)).map(|(_, label)| label)
    }

    /// Faults of a run on a medium with this label; empty if there are none.
    pub fn faults(self, profile: &Profile, output: &RunOutput) -> Vec<String> {
        let mut faults = adverse_findings(profile, &output.record.findings);
        let mut expect = |is_so: bool, what: &str| faults.extend((!is_so).then(|| what.to_owned()));
        let shows = |words: &str| output.first.contains(words);
        match self {
            Label::Fake => {
                expect(
                    output
                        .first
                        .starts_with(&format!("{DO_NOT_USE} {IS_FAKE} it says 64 GiB, it has ")),
                    "it is not called a fake first",
                );
                expect(
                    output.record.cells.iter().all(|cell| cell.test == "capacity"),
                    "it is measured though it is a fake",
                );
                expect(
                    output.exit == Exit::MediumFailed,
                    "the exit code is not that of a medium that failed",
                );
            }
            Label::Worn => {
                expect(
                    output.first.starts_with(DO_NOT_USE) && shows(COPY_NOW),
                    "nobody is told to copy what is on it",
                );
                expect(shows(MANY_PLACES) || shows(ONE_AREA), "its damage is not told");
                expect(
                    output.exit
                        == if output.record.run.ended == Ended::Error {
                            Exit::Io
                        } else {
                            Exit::MediumFailed
                        },
                    "the exit code",
                );
            }
            Label::Liar => {
                let named = shows(FLUSH_LIES);
                let left_open = shows(FLUSH_UNTESTED) || shows(Condition::FlushHonest.short());
                expect(named || left_open, "its flush is taken for honest");
                expect(named || output.record.run.suite != "full", "full does not find the lie");
            }
            Label::Cheat => expect(
                output.record.run.suite != "full" || shows(OVERSTATED),
                "full does not name the cheat",
            ),
            Label::Honest => {}
        }
        if matches!(self, Label::Fake | Label::Worn) {
            faults.extend(recommendations(&output.record.findings));
        } else {
            expect(output.exit == Exit::Done, "the exit code is not 0");
            expect(!shows(DO_NOT_USE) && !shows(IS_FAKE), "it is condemned");
            faults.extend(misjudged(profile, output));
        }
        faults
    }
}

/// Recommendation of a medium that must not be recommended.
fn recommendations(findings: &[Finding]) -> Option<String> {
    let is_one =
        |id: &str| id == "classes" || id.starts_with("advice") || id.starts_with("verdict-");
    findings
        .iter()
        .find(|finding| is_one(&finding.id))
        .map(|finding| format!("it is recommended all the same: {}", finding.statement))
}

/// Findings against a medium that are not true of its profile.
fn adverse_findings(profile: &Profile, findings: &[Finding]) -> Vec<String> {
    let falsely = findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info && !is_so(profile, &finding.id));
    falsely.map(|finding| format!("falsely accused: {}", finding.statement)).collect()
}

/// True if a finding of this id is right about a medium of this profile.
fn is_so(profile: &Profile, id: &str) -> bool {
    let spec = profile.spec();
    let log_block = spec.log_block.as_ref();
    match id {
        "compression" | "repeats-recognised" | "equal-rewrites-skipped" => {
            spec.compression.is_some()
        }
        "pattern-cheat" => spec.pattern_cheat.is_some(),
        // The fast way of a benchmark's pattern is one for small writes.
        "small-write-bypass" => {
            spec.pattern_cheat.is_some()
                || log_block.is_some_and(|mapping| mapping.bypass.is_some())
        }
        // Open units take sequential and random writes alike.
        "span-cache" | "small-span" => log_block.is_some_and(|mapping| mapping.log_merges < 1.0),
        "slc-cache" => spec.page_mapped.as_ref().is_some_and(|mapping| !mapping.stages.is_empty()),
        "throttling" => spec.heat.is_some(),
        "front-area" => log_block.is_some_and(|mapping| mapping.front.is_some()),
        "flush" => spec.cache.as_ref().is_some_and(|cache| !cache.honest),
        "capacity" => spec.fake.is_some() || spec.wear.is_some(),
        "verify" | "io-error" => spec.wear.is_some(),
        // Merges take as long as stalls; garbage collection of single pages does not.
        "stalls" => log_block.is_some(),
        "standstill" | "counterfeit-hints" | "impossible" | "host" | "claim" | "class-claim"
        | "health" => false,
        _ => true,
    }
}

/// IOPS of random writes from which on a medium is poor, usable and good for a root disk
/// (docs/findings/verdict-root-disk.md).
const WRITES: [f64; 3] = [9.0, 90.0, 500.0];
/// Distance from a threshold within which a figure may be on its other side, as a share.
const NEAR: f64 = 0.15;
const LEVELS: [Fitness; 4] = [Fitness::NotSuitable, Fitness::Poor, Fitness::Usable, Fitness::Good];

/// Fault of the verdict on it for a root disk, by the long-run truth of its random writes: praise
/// without a caveat for a rate that does not last, or blame for random writes that are faster.
fn misjudged(profile: &Profile, output: &RunOutput) -> Option<String> {
    let truth = sim::truth::headline(profile, 1);
    let slowest = truth.random_write_4k_iops.min(truth.random_write_16k_iops);
    let level = |iops: f64| WRITES.iter().filter(|least| iops >= **least).count();
    let verdict =
        output.record.findings.iter().find(|finding| finding.id == "verdict-root-disk")?;
    let Some(fitness) = verdict.level() else {
        return Some(format!("a verdict without a level: {}", verdict.statement));
    };
    let verdict_level = LEVELS.iter().position(|level| *level == fitness)?;
    let has_caveat = output.first.contains(STAYS_FAST);
    // An upper bound leaves open how much worse it is.
    let is_upper_bound = verdict.statement.contains(&format!(" reach {} ", Bound::AtMost.words()));
    let is_praised =
        verdict_level > level(slowest * (1.0 + NEAR)) && !has_caveat && !is_upper_bound;
    let is_blamed =
        verdict_level < level(slowest * (1.0 - NEAR)) && verdict.statement.contains(RANDOM_WRITES);
    (is_praised || is_blamed).then(|| {
        format!("it does {slowest:.1} random writes a second in truth: {}", verdict.statement)
    })
}
