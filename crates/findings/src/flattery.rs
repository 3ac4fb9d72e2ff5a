//! What benchmarks measure of a medium and work never gets: named in the verdict's first words.

use record::{Finding, Severity};

use crate::conditions::listed;
use crate::phrases::OVERSTATED;

/// Findings that say so for certain, and how the verdict puts it.
const FLATTERING: [(&str, &str); 3] = [
    ("pattern-cheat", "the pattern they write is faster than real work"),
    ("span-cache", "it is fast only in small spans"),
    ("compression", "zeros are written faster than data"),
];

/// Puts what flatters it in front of the verdict.
pub(crate) fn name(verdicts: &mut [Finding], findings: &[Finding]) {
    let is_certain = |id: &str| {
        findings.iter().any(|finding| finding.id == id && finding.severity >= Severity::Warning)
    };
    let Some(reasons) =
        listed(FLATTERING.into_iter().filter(|(id, _)| is_certain(id)).map(|(_, words)| words))
    else {
        return;
    };
    for verdict in verdicts.iter_mut().filter(|finding| finding.id == "verdict") {
        verdict.statement = format!("{OVERSTATED} {reasons}. {}", verdict.statement);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding_builder::FindingBuilder;

    #[test]
    fn what_is_certain_is_named_first_and_nothing_else() {
        let told = |findings: &[Finding]| {
            let mut verdicts = vec![
                FindingBuilder::info("verdict", "Poor as a root disk.").done(),
                FindingBuilder::info("verdict-camera", "Good.").done(),
            ];
            name(&mut verdicts, findings);
            assert_eq!(verdicts[1].statement, "Good.");
            verdicts.remove(0).statement
        };
        let zeros = FindingBuilder::warning("compression", "").done();
        let span = FindingBuilder::warning("span-cache", "").done();
        assert_eq!(told(&[]), "Poor as a root disk.");
        assert_eq!(
            told(&[FindingBuilder::info("pattern-cheat", "").done()]),
            "Poor as a root disk."
        );
        assert_eq!(
            told(&[zeros, span]),
            "Benchmarks overstate it: it is fast only in small spans and zeros are written faster than data. Poor as a root disk."
        );
    }
}
