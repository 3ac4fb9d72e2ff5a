//! Pure conclusions from a record: what a medium is good for, what its box promises and whether it
//! holds, where it cheats, and what to do.
//!
//! [`conclude`] reads a record and nothing else. Tests measure and conclude nothing; findings
//! conclude and measure nothing, so every conclusion can be drawn again from the record, by anyone.
//! Three rules hold for each of them:
//! - a finding without enough evidence is not made, and one that is uncertain says so;
//! - its confidence is a probability worked out from intervals or fits, or it is null;
//! - whatever the record holds (nothing, half a run, numbers that are none), nothing here panics.
//!
//! Every id has a page in `docs/findings/` that says what is concluded from what, with which
//! thresholds, and whose they are.
//!
//! Where to begin reading: `figure.rs` (how a figure gets out of a record), `verdict.rs` (what it
//! comes to), then any other file.

mod advice;
mod analysis;
mod asked;
mod benchmark_bias;
mod caches;
mod capacity;
mod caveats;
mod cell_usability;
mod classes;
mod commits;
mod compare;
mod conditions;
mod content;
mod cpu;
mod damaged_places;
mod failing;
mod figure;
mod figures;
mod finding_builder;
mod flush;
mod genuineness;
mod geometry;
mod headline;
mod host;
mod host_effects;
mod hung_io;
mod identity;
mod imported_curves;
mod levels;
mod likelihood;
mod limits;
mod logger;
pub mod matrix;
mod media;
mod misalignment;
mod need;
mod next_steps;
mod not_of_a_medium;
mod not_restored;
mod open_aus;
mod other_tools;
mod pattern_cheat;
pub mod phrases;
mod places;
mod primary;
mod random_write;
mod span_sweep;
mod stalls;
mod steady_state;
mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod throttling;
mod uflip;
pub mod usability;
mod use_levels;
mod verdict;
mod wear;
mod write_unit;

use std::cmp::Reverse;

use phrases::HOST_CACHED;
use record::{Finding, Record, Severity, Use};

pub use analysis::Analysis;
pub use asked::untold;
pub use benchmark_bias::is_overstated;
pub use caveats::{LINK_SLACK, add_caveats};
pub use compare::{
    BlockSizePoint, ChangedFigure, CombinationFigure, CombinationRow, Compared, ComparedBy,
    ComparedFigure, ComparisonSide, Crossing, Curve, Experiment, ExperimentFactor, Explained,
    ExplainedFigure, FasterMedium, FastestMedium, FigureRow, MatrixComparison, MediaComparison,
    MediaRatio, MoreRuns, Rank, RankPlace, RatioInterval, Regression, SimpleRatio, WorkComparison,
    WorkRow, compare, compare_by, compare_change, compare_curves, compare_runs, compare_sides,
    is_one_medium, letters, regression, unclear, with_medium_named,
};
pub use failing::is_failing;
pub use figures::{Figures, KnownFigure, standard_cell, streaming_cell, sustained_estimate};
pub use geometry::{Levels, fit_levels, fit_page};
pub use headline::headline;
pub use media::media;
pub use next_steps::{NextStep, next_steps};
pub use primary::metrics_of;
pub use stalls::{LongestWrite, longest_write};
pub use use_levels::{UseLevel, beside_levels, use_levels};
pub use verdict::repeats;
pub use write_unit::{UnitFit, fit_unit};

macro_rules! ids {
    ($($id:literal,)*) => {
        /// Every id a finding can have, those that change a decision most first: failures
        /// and warnings are told in this order. Each has a page,
        /// `docs/findings/ID.md`.
        pub const IDS: &[&str] = &[$($id),*];
        const PAGES: &[&str] = &[$(include_str!(concat!("../../../docs/findings/", $id, ".md"))),*];
    };
}

ids! {
    "not-put-back",
    "verdict",
    "verdict-root-disk",
    "verdict-camera",
    "verdict-video",
    "verdict-logger",
    "verdict-database",
    "claim",
    "class-claim",
    "capacity",
    "verify",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "standstill",
    "flush",
    "pattern-cheat",
    "span-cache",
    "small-span",
    "small-write-bypass",
    "random-write",
    "stalls",
    "slc-cache",
    "throttling",
    "impossible",
    "host",
    "cpu",
    "front-area",
    "along-the-medium",
    "misalignment",
    "management-unit",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "write-amplification",
    "idle-recovery",
    "steady-state",
    "random-locality",
    "write-rows",
    "write-order",
    "pauses",
    "start-up",
    "parallel",
    "allocation-unit",
    "page",
    "write-unit",
    "open-units",
    "open-units-random",
    "usb-split",
    "medium-dip",
    "classes",
    "advice-alignment",
    "advice-file-system",
    "advice-logs",
    "advice-reserve",
    "advice-scheduler",
    "advice-trim",
    "matrix",
    "host-effects",
}

/// Tricks of a controller, told from how fast one thing is against another.
const TRICKS: [&str; 9] = [
    "span-cache",
    "small-span",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "slc-cache",
    "throttling",
    "front-area",
    "pattern-cheat",
];

/// What is still said of a medium that fails a check: what the check found, and what the medium
/// says of its health. Whoever must copy data off it or throw it away needs no class and no file
/// system.
const BESIDE_FAULTS: [&str; 13] = [
    "not-put-back",
    "claim",
    "class-claim",
    "capacity",
    "verify",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "standstill",
    "stalls",
    "impossible",
    "host",
];

/// All conclusions of a record, the verdict first, then failures, warnings, and what is good to
/// know; the loud ones in the order of [`IDS`].
pub fn conclude(record: &Record) -> Vec<Finding> {
    conclude_for(record, &[])
}

/// The same for someone who wants the medium for these uses: one that it is surely not suitable
/// for is a failure.
pub fn conclude_for(record: &Record, wanted: &[Use]) -> Vec<Finding> {
    // Its cells are of many file systems, so none of the others may read them as the medium's own.
    if let Some(matrix) = matrix::of(record) {
        return matrix.findings();
    }
    // Its cells are of settings of the host.
    if let Some(effects) = host_effects::conclude(record) {
        return effects;
    }
    // What is no medium's leads to no conclusion on one.
    if let Some(findings) = not_of_a_medium::conclude(record, wanted) {
        return not_restored::conclude(record).into_iter().chain(findings).collect();
    }
    let mut rest = Vec::new();
    let is_of_the_medium = !usability::is_host_cached(record);
    if is_of_the_medium {
        rest.extend(classes::claims(record));
        rest.extend(limits::conclude(record));
    } else {
        rest.extend(not_of_a_medium::of_claims(record, HOST_CACHED));
    }
    let (mut failing, mut probed) = (failing::conclude(record), capacity::conclude(record));
    if failing::is_reported(record) && !genuineness::is_fake(record) {
        failing = failing.map(|failing| with_damage(failing, &mut probed));
    }
    rest.extend(failing.into_iter().chain(probed));
    rest.extend(identity::conclude(record));
    rest.extend(wear::conclude(record));
    rest.extend(host::conclude(record));
    rest.extend(cpu::conclude(record));
    rest.extend(random_write::conclude(record));
    rest.extend(hung_io::conclude(record));
    rest.extend(adverse_findings(record));
    rest.extend(classes::conclude(record).filter(|_| is_of_the_medium));
    rest.extend(imported_curves::conclude(record));
    // Advice follows from all of it.
    rest.sort_by_key(|finding| match loudness(finding) {
        Severity::Info => (Reverse(Severity::Info), 0),
        loud => (Reverse(loud), rank(&finding.id)),
    });
    let is_fault =
        |finding: &&Finding| finding.severity == Severity::Failure && finding.id != "claim";
    let faults: Vec<Finding> = rest.iter().filter(is_fault).cloned().collect();
    if !faults.is_empty() {
        rest.retain(|finding| BESIDE_FAULTS.contains(&finding.id.as_str()));
    }
    let mut findings: Vec<Finding> = not_restored::conclude(record).into_iter().collect();
    findings.extend(verdict::conclude(record, wanted, &faults));
    benchmark_bias::name(&mut findings, &rest);
    if !findings.iter().any(is_verdict) {
        findings.extend(verdict::of_checks(&rest).or_else(|| verdict::of_reads(record)));
    }
    findings.extend(rest);
    if faults.is_empty() {
        findings.extend(advice::conclude(record));
    }
    findings
}

/// The rank of a finding among the others. Of `small-span` only the cause is not certain.
fn loudness(finding: &Finding) -> Severity {
    if finding.id == "small-span" { Severity::Warning } else { finding.severity }
}

/// The place of an id among [`IDS`].
fn rank(id: &str) -> usize {
    IDS.iter().position(|known| *known == id).unwrap_or(IDS.len())
}

/// Takes what a probe found of damage as evidence of the errors: these say as well where it fails,
/// and two statements on one damage would differ.
fn with_damage(mut failing: Finding, probed: &mut Vec<Finding>) -> Finding {
    let is_damage =
        |finding: &mut Finding| finding.id == "capacity" && finding.severity == Severity::Failure;
    let found: Vec<Finding> = probed.extract_if(.., is_damage).collect();
    failing.evidence.extend(found.into_iter().flat_map(|finding| finding.evidence));
    failing
}

/// What is said against a medium, or of how it is made: from cells in which the host did not stand
/// still.
fn adverse_findings(record: &Record) -> Vec<Finding> {
    let quiet = usability::without_host_stalls(record);
    let mut found = Vec::new();
    found.extend(stalls::conclude(&quiet));
    found.extend(content::conclude(&quiet));
    found.extend(caches::conclude(&quiet));
    found.extend(throttling::conclude(&quiet));
    found.extend(pattern_cheat::conclude(&quiet));
    found.extend(misalignment::conclude(&quiet));
    found.extend(steady_state::conclude(&quiet));
    found.extend(flush::conclude(&quiet));
    found.extend(places::conclude(&quiet));
    found.extend(geometry::conclude(&quiet));
    found.extend(uflip::conclude(&quiet));
    found.extend(write_unit::conclude(&quiet));
    found.extend(open_aus::conclude(&quiet));
    // What the host's memory answered looks like any trick.
    if usability::is_host_cached(record) {
        found.retain(|finding| !TRICKS.contains(&finding.id.as_str()));
    }
    found
}

/// What a kind of finding means and how it is concluded: the text of its page. A title, paragraphs,
/// and lists of one level.
pub fn about(id: &str) -> Option<&'static str> {
    PAGES.get(rank(id)).copied()
}

/// True if a finding is part of the verdict: what a reader wants to know first.
pub fn is_verdict(finding: &Finding) -> bool {
    finding.id == "verdict" || finding.id.starts_with("verdict-")
}
