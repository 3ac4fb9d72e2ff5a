//! Faults of the medium, data at risk, and claims that did not fail.

use record::text::printable;
use record::{Finding, Severity};

use super::{LineLimits, Screen, of_severity};
use crate::text::{AnsiStyle, NOT_RESTORED};

/// Most claims shown that did not fail.
pub(super) const CLAIMS: usize = 4;

impl<'s> Screen<'s> {
    /// Data at risk and failures, and the number of failures without room.
    pub(super) fn faults(&self, caps: &LineLimits) -> (Vec<String>, usize) {
        let record = self.record;
        let mut lines = Vec::new();
        for finding in record.findings.iter().filter(|finding| finding.id == NOT_RESTORED) {
            lines.extend(self.prose(
                &printable(&finding.statement),
                2,
                caps.not_restored,
                AnsiStyle::alarm,
            ));
        }
        let faults = self.fault_findings();
        for finding in faults.iter().take(caps.faults) {
            let style = of_severity(finding.severity);
            lines.extend(self.prose(&printable(&finding.statement), 2, caps.fault, style));
        }
        (lines, faults.len().saturating_sub(caps.faults))
    }

    /// Failures that are not in the verdict.
    pub(super) fn fault_findings(&self) -> Vec<&'s Finding> {
        let verdict = self.verdict();
        let is_in_verdict =
            |finding: &Finding| verdict.is_some_and(|verdict| findings::repeats(verdict, finding));
        let is_fault = |finding: &&Finding| {
            let is_own = finding.severity == Severity::Failure && finding.id != NOT_RESTORED;
            is_own && !findings::is_verdict(finding) && !is_in_verdict(finding)
        };
        self.record.findings.iter().filter(is_fault).collect()
    }

    /// Results of the claims that did not fail; the others are among the faults.
    pub(super) fn claims(&self, caps: &LineLimits) -> Vec<String> {
        let claims = self.claims_not_failed().take(CLAIMS);
        claims
            .flat_map(|claim| {
                let style = of_severity(claim.severity);
                self.prose(&printable(&claim.statement), 2, caps.fault, style)
            })
            .collect()
    }

    pub(super) fn claims_not_failed(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.record.findings.iter();
        findings.filter(|it| it.id == "claim" && it.severity != Severity::Failure)
    }

    pub(super) fn findings_left(&self) -> usize {
        let is_shown = |finding: &&Finding| {
            findings::is_verdict(finding) || finding.severity == Severity::Failure
        };
        let shown = self.record.findings.iter().filter(is_shown).count()
            + self.claims_not_failed().take(CLAIMS).count();
        self.record.findings.len() - shown
    }
}
