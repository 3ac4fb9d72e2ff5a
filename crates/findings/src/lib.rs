//! Pure conclusions from a record: what a medium is good for, what its box promises and whether it holds, where it cheats, and what to do.
//!
//! [`conclude`] reads a record and nothing else. Tests measure and conclude nothing; findings conclude and measure nothing, so every
//! conclusion can be drawn again from the record, by anyone. Three rules hold for each of them:
//! - a finding without enough evidence is not made, and one that is uncertain says so;
//! - its confidence is a probability worked out from intervals or fits, or it is null;
//! - whatever the record holds (nothing, half a run, numbers that are none), nothing here panics.
//!
//! Every id has a page in `docs/findings/` that says what is concluded from what, with which thresholds, and whose they are.
//!
//! Where to begin reading: `figure.rs` (how a figure gets out of a record), `verdict.rs` (what it comes to), then any other file.

mod advice;
mod caches;
mod capacity;
mod classes;
mod compare;
mod content;
mod draft;
mod figure;
mod geometry;
mod headline;
mod host;
mod identity;
mod lasting;
mod lent;
mod likelihood;
pub mod matrix;
mod open_aus;
mod places;
mod random_write;
mod stalls;
mod standstill;
mod stray;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thresholds;
mod throttling;
mod tricks;
mod uflip;
mod uses;
mod verdict;
mod wear;
mod write_unit;

use record::{Finding, Record};

pub use compare::{Compared, Comparison, Crossing, Curve, Judgement, Place, Point, Rank, compare};
pub use geometry::{Levels, fit_levels, fit_page};
pub use headline::{headline, standard_cell, streaming_cell};
pub use uses::{Use, UseError};
pub use write_unit::{UnitFit, fit_unit};

macro_rules! ids {
    ($($id:literal,)*) => {
        /// Every id a finding can have. Each has a page, `docs/findings/ID.md`.
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
    "classes",
    "capacity",
    "verify",
    "counterfeit-hints",
    "io-error",
    "health",
    "wear",
    "random-write",
    "small-write-bypass",
    "write-amplification",
    "stalls",
    "standstill",
    "compression",
    "repeats-recognised",
    "equal-rewrites-skipped",
    "span-cache",
    "small-span",
    "slc-cache",
    "throttling",
    "idle-recovery",
    "front-area",
    "along-the-medium",
    "pattern-cheat",
    "misalignment",
    "management-unit",
    "flush",
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
    "impossible",
    "host",
    "advice-alignment",
    "advice-file-system",
    "advice-logs",
    "advice-reserve",
    "advice-scheduler",
    "advice-trim",
    "matrix",
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

/// All conclusions of a record, the verdict first, then failures, warnings, and what is good to know.
pub fn conclude(record: &Record) -> Vec<Finding> {
    conclude_for(record, &[])
}

/// The same for someone who wants the medium for these uses: one that it is surely unfit for is a failure.
pub fn conclude_for(record: &Record, wanted: &[Use]) -> Vec<Finding> {
    // Its cells are of many file systems, so none of the others may read them as the medium's own.
    if let Some(matrix) = matrix::of(record) {
        return matrix.findings();
    }
    // The one gate for memory and caches: what is no medium's leads to no conclusion on one.
    if let Some(findings) = stray::conclude(record, wanted) {
        return lent::conclude(record).into_iter().chain(findings).collect();
    }
    let mut rest = Vec::new();
    rest.extend(classes::claims(record));
    rest.extend(capacity::conclude(record));
    rest.extend(identity::conclude(record));
    rest.extend(wear::conclude(record));
    rest.extend(host::conclude(record));
    rest.extend(random_write::conclude(record));
    rest.extend(standstill::conclude(record));
    rest.extend(stalls::conclude(record));
    rest.extend(content::conclude(record));
    rest.extend(caches::conclude(record));
    rest.extend(throttling::conclude(record));
    rest.extend(tricks::conclude(record));
    rest.extend(places::conclude(record));
    rest.extend(geometry::conclude(record));
    rest.extend(uflip::conclude(record));
    rest.extend(write_unit::conclude(record));
    rest.extend(open_aus::conclude(record));
    rest.extend(classes::conclude(record));
    // What the host's memory answered, or a processor that had no time, looks like any trick.
    if host::clouds(record) {
        rest.retain(|finding| !TRICKS.contains(&finding.id.as_str()));
    }
    // The loudest first, otherwise in this order; advice follows from all of it.
    rest.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let is_fault = |finding: &&Finding| finding.severity == record::Severity::Failure && finding.id != "claim";
    let faults: Vec<&Finding> = rest.iter().filter(is_fault).collect();
    let mut findings: Vec<Finding> = lent::conclude(record).into_iter().collect();
    findings.extend(verdict::conclude(record, wanted, &faults));
    if !findings.iter().any(is_verdict) {
        findings.extend(verdict::of_checks(&rest));
    }
    findings.extend(rest);
    findings.extend(advice::conclude(record));
    findings
}

/// The page of a finding, from the root of the project's sources; `None` for an id that is not ours.
pub fn page(id: &str) -> Option<String> {
    IDS.contains(&id).then(|| format!("docs/findings/{id}.md"))
}

/// What a kind of finding means and how it is concluded: the text of its page. A title, paragraphs, and lists of one level.
pub fn about(id: &str) -> Option<&'static str> {
    let at = IDS.iter().position(|known| *known == id)?;
    Some(PAGES[at])
}

/// Whether a finding is part of the verdict: what a reader wants to know first.
pub fn is_verdict(finding: &Finding) -> bool {
    finding.id == "verdict" || finding.id.starts_with("verdict-")
}
