//! All conclusions of a record, drawn from its cells in one order.

use std::cmp::Reverse;

use record::{Finding, Record, Severity, Use};

use crate::conclusions::advice;
use crate::conclusions::genuine::{capacity, content, identity, read_back};
use crate::conclusions::geometry::{self, misalignment, open_aus, write_unit};
use crate::conclusions::health::{failing, not_restored, wear};
use crate::conclusions::host::{self, cpu, not_of_a_medium};
use crate::conclusions::speed::{
    burst, caches, flush, imported_curves, places, random_write, stalls, throttling,
};
use crate::figures::{genuineness, usability};
use crate::kinds::{Trait, is, rank};
use crate::matrix;
use crate::phrases::HOST_CACHED;
use crate::verdict::{benchmark_bias, classes, findings as verdict_findings, is_verdict, limits};

/// All conclusions of a record: the verdict first, then failures, warnings and information;
/// failures and warnings in the order of [`IDS`](crate::IDS).
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
        rest.retain(|finding| is(&finding.id, Trait::BesideFault));
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
    found.extend(burst::conclude(&quiet));
    found.extend(throttling::conclude(&quiet));
    found.extend(misalignment::conclude(&quiet));
    found.extend(flush::conclude(&quiet));
    found.extend(places::conclude(&quiet));
    found.extend(geometry::conclude(&quiet));
    found.extend(write_unit::conclude(&quiet));
    found.extend(open_aus::conclude(&quiet));
    // Answers from the host's memory look like a trick.
    if usability::is_host_cached(record) {
        found.retain(|finding| !is(&finding.id, Trait::Trick));
    }
    found
}
