//! Pure conclusions from a record: suitable uses of a medium, claims on its box and if they hold,
//! tricks of its controller, and advice.
//!
//! [`conclude`] reads a record and nothing else. Tests measure and do not conclude; findings
//! conclude and do not measure, so anyone can draw every conclusion again from the record. Three
//! rules hold for each of them:
//! - a finding without enough evidence is not made, and an uncertain one says so;
//! - its confidence is a probability computed from intervals or fits, or null;
//! - no record makes it panic (an empty or partial one, numbers that are not finite).
//!
//! Every id has a page in `docs/findings/` with its evidence, its thresholds, and their source.
//!
//! Begin reading at `figure.rs` (access to the figures of a record), `verdict.rs` (verdicts from
//! them) and `verdict_findings.rs` (what they say), then any other file.

mod advice;
mod analysis;
mod asked;
mod benchmark_bias;
mod brief;
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
mod identity;
mod imported_curves;
mod levels;
mod likelihood;
mod limits;
mod logger;
pub mod matrix;
mod misalignment;
mod need;
mod next_steps;
mod no_sign;
mod not_of_a_medium;
mod not_restored;
mod open_aus;
mod other_tools;
pub mod phrases;
mod places;
mod primary;
mod random_write;
mod read_back;
mod sectors;
mod span_sweep;
mod stalls;
mod summary;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod throttling;
pub mod usability;
mod use_levels;
mod verdict;
mod verdict_findings;
mod waits;
mod wear;
mod write_unit;
mod written_share;

use std::cmp::Reverse;

use phrases::HOST_CACHED;
use record::{Finding, Record, Severity, Use};

pub use analysis::Analysis;
pub use asked::undecided;
pub use benchmark_bias::overstatement;
pub use brief::{Brief, brief, name_of_use, noun_of_use};
pub use caveats::{LINK_SLACK, add_caveats};
pub use compare::{
    BlockSizePoint, ChangedFigure, CombinationRow, Compared, ComparedBy, ComparedFigure,
    ComparisonSide, Crossing, Curve, FasterMedium, FastestMedium, FigureRow, LevelComparison,
    LevelFigure, MatrixComparison, MediaComparison, MediaRatio, MoreRuns, Rank, RankPlace,
    Regression, WorkComparison, WorkRow, compare, compare_by, compare_change, compare_curves,
    compare_runs, compare_sides, is_one_medium, letters, regression, unclear, with_medium_named,
};
pub use failing::is_failing;
pub use figures::{Figures, KnownFigure, standard_cell, streaming_cell, sustained_estimate};
pub use geometry::{Levels, fit_levels, fit_page};
pub use headline::headline;
pub use next_steps::{NextStep, next_steps};
pub use primary::metrics_of;
pub use stalls::{LongestWrite, longest_write};
pub use use_levels::{UseLevel, use_levels};
pub use verdict_findings::repeats;
pub use write_unit::{UnitFit, fit_unit};

macro_rules! ids {
    ($($id:literal,)*) => {
        /// All ids of findings, the most important for a decision first: failures and warnings are
        /// shown in this order. Each has a page, `docs/findings/ID.md`.
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
    "read-back",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "flush",
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
    "along-the-medium",
    "misalignment",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "write-amplification",
    "idle-recovery",
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
}

/// Tricks of a controller, detected by the ratio of two rates.
const TRICKS: [&str; 7] = [
    "span-cache",
    "small-span",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "slc-cache",
    "throttling",
];

/// Findings that stay for a medium that fails a check: the result of the check, and the reported
/// health. Users who must copy data off it or throw it away need no class and no file system.
const BESIDE_FAULTS: [&str; 13] = [
    "not-put-back",
    "claim",
    "class-claim",
    "capacity",
    "verify",
    "read-back",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "stalls",
    "impossible",
    "host",
];

/// All conclusions of a record: the verdict first, then failures, warnings and information;
/// failures and warnings in the order of [`IDS`].
pub fn conclude(record: &Record) -> Vec<Finding> {
    conclude_for(record, &[])
}

/// All conclusions for these uses: a medium that is certainly not suitable for one of them is a
/// failure.
pub fn conclude_for(record: &Record, wanted: &[Use]) -> Vec<Finding> {
    // Its cells are of many file systems, so the other rules must not read them as the medium's
    // own.
    if let Some(matrix) = matrix::of(record) {
        return matrix.findings();
    }
    // Numbers that are not a medium's lead to no conclusion about one.
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
    if failing::has_errors(record) && !genuineness::is_fake(record) {
        failing = failing.map(|failing| with_damage(failing, &mut probed));
    }
    rest.extend(failing.into_iter().chain(probed));
    rest.extend(read_back::conclude(record));
    rest.extend(identity::conclude(record));
    rest.extend(wear::conclude(record));
    rest.extend(host::conclude(record));
    rest.extend(cpu::conclude(record));
    rest.extend(random_write::conclude(record));
    rest.extend(adverse_findings(record));
    rest.extend(classes::conclude(record).filter(|_| is_of_the_medium));
    rest.extend(imported_curves::conclude(record));
    // Advice depends on all other findings.
    rest.sort_by_key(|finding| match sort_severity(finding) {
        Severity::Info => (Reverse(Severity::Info), 0),
        severity => (Reverse(severity), rank(&finding.id)),
    });
    let is_fault =
        |finding: &&Finding| finding.severity == Severity::Failure && finding.id != "claim";
    let faults: Vec<Finding> = rest.iter().filter(is_fault).cloned().collect();
    if !faults.is_empty() {
        rest.retain(|finding| BESIDE_FAULTS.contains(&finding.id.as_str()));
    }
    let mut findings: Vec<Finding> = not_restored::conclude(record).into_iter().collect();
    findings.extend(verdict_findings::conclude(record, wanted, &faults));
    benchmark_bias::name(&mut findings, &rest);
    if !findings.iter().any(is_verdict) {
        findings.extend(
            verdict_findings::of_checks(&rest).or_else(|| verdict_findings::of_reads(record)),
        );
    }
    findings.extend(rest);
    if faults.is_empty() {
        findings.extend(advice::conclude(record));
    }
    findings
}

/// Severity for the order of findings. Of `small-span` only the cause is uncertain.
fn sort_severity(finding: &Finding) -> Severity {
    if finding.id == "small-span" { Severity::Warning } else { finding.severity }
}

/// The place of an id among [`IDS`].
fn rank(id: &str) -> usize {
    IDS.iter().position(|known| *known == id).unwrap_or(IDS.len())
}

/// Moves damage found by a probe into the evidence of the errors: these also say which places fail,
/// and two statements on one damage would differ.
fn with_damage(mut failing: Finding, probed: &mut Vec<Finding>) -> Finding {
    let is_damage =
        |finding: &mut Finding| finding.id == "capacity" && finding.severity > Severity::Info;
    let found: Vec<Finding> = probed.extract_if(.., is_damage).collect();
    failing.evidence.extend(found.into_iter().flat_map(|finding| finding.evidence));
    failing
}

/// Findings against a medium, or about its internal structure: from cells without host stalls.
fn adverse_findings(record: &Record) -> Vec<Finding> {
    let quiet = usability::without_host_stalls(record);
    let mut found = Vec::new();
    found.extend(stalls::conclude(&quiet));
    found.extend(content::conclude(&quiet));
    found.extend(caches::conclude(&quiet));
    found.extend(throttling::conclude(&quiet));
    found.extend(misalignment::conclude(&quiet));
    found.extend(flush::conclude(&quiet));
    found.extend(places::conclude(&quiet));
    found.extend(geometry::conclude(&quiet));
    found.extend(write_unit::conclude(&quiet));
    found.extend(open_aus::conclude(&quiet));
    // Answers from the host's memory look like a trick.
    if usability::is_host_cached(record) {
        found.retain(|finding| !TRICKS.contains(&finding.id.as_str()));
    }
    found
}

/// Page that explains a kind of finding: a title, paragraphs, and lists of one level. `None` for an
/// unknown id.
pub fn about(id: &str) -> Option<&'static str> {
    PAGES.get(rank(id)).copied()
}

/// True if a finding is part of the verdict, which a reader wants to know first.
pub fn is_verdict(finding: &Finding) -> bool {
    finding.id == "verdict" || finding.id.starts_with("verdict-")
}
