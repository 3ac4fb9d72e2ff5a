//! Ways in which benchmarks overstate a medium: named at the start of the verdict.

use record::{Finding, Severity};

use crate::verdict::conditions::listed;

/// Findings that prove this, with their words in the verdict.
const BIASES: [(&str, &str); 2] = [
    ("span-cache", "it is fast only in small spans"),
    ("compression", "zeros are written faster than data"),
];

fn reasons(findings: &[Finding]) -> impl Iterator<Item = &'static str> {
    let is_certain = |id: &str| {
        findings.iter().any(|finding| finding.id == id && finding.severity >= Severity::Warning)
    };
    BIASES.into_iter().filter(move |(id, _)| is_certain(id)).map(|(_, words)| words)
}

/// "Benchmarks overstate it: it is fast only in small spans."
pub fn overstatement(findings: &[Finding]) -> Option<String> {
    listed(reasons(findings)).map(|reasons| format!("Benchmarks overstate it: {reasons}."))
}

/// Adds the reasons of the overstatement at the start of the verdict.
pub(crate) fn name(verdicts: &mut [Finding], findings: &[Finding]) {
    let Some(text) = overstatement(findings) else { return };
    for verdict in verdicts.iter_mut().filter(|finding| finding.id == "verdict") {
        verdict.statement = format!("{text} {}", verdict.statement);
    }
}
