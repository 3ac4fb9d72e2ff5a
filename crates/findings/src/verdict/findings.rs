//! Findings from verdicts: one for each use, and one that sums them up in a sentence.

use record::text::capitalised;
use record::units::{KIB, decimal};
use record::{Direction, Finding, Fitness, Outcome, Record, Severity, Use, UseLevel};

use crate::figures::figure::{self, writes};
use crate::figures::usability;
use crate::figures::written_share::{self, Share};
use crate::finding_builder::FindingBuilder;
use crate::phrases::DO_NOT_USE;
use crate::verdict::conditions::{self, listed, listed_with};
use crate::verdict::need::{OpenVerdict, UseVerdict};
use crate::verdict::{
    commits, few_samples, is_sure, is_verdict, judged, logger, open_verdict, withheld,
};

/// All verdicts: the summary first, then each use. A fault of the medium itself (`faults`: it is a
/// fake, it loses data, it fails) is the only verdict; no rates are mentioned then.
pub(crate) fn conclude(record: &Record, wanted: &[Use], faults: &[Finding]) -> Vec<Finding> {
    if let Some(fault) = faults.first() {
        let others = faults.iter().skip(1).map(|fault| fault.statement.clone());
        return vec![
            FindingBuilder::failure("verdict", format!("{DO_NOT_USE} {}", fault.statement))
                .outcome(Outcome::Unusable { because: fault.id.clone() })
                .notes(fault.evidence.iter().cloned())
                .notes(others)
                .with_confidence(fault.confidence)
                .done(),
        ];
    }
    if let Some(why) = withheld(record) {
        return of_withheld(record, wanted, why);
    }
    let verdicts = judged(record, wanted);
    let mut findings: Vec<Finding> =
        summary(record, &verdicts, !wanted.is_empty()).into_iter().collect();
    findings.extend(verdicts.iter().map(|verdict| finding(verdict, !wanted.is_empty())));
    let given = |wanted: &Use| verdicts.iter().any(|verdict| verdict.wanted == *wanted);
    findings.extend(
        wanted.iter().filter(|wanted| !given(wanted)).map(|wanted| untested(record, *wanted)),
    );
    // The rate that random writes seem to promise a database is given, but not as a verdict.
    let has_writes =
        figure::random_write(record, 4 * KIB).is_some() || commits::of(record).is_some();
    let open = [(Use::Logger, logger::has_lines(record)), (Use::Database, has_writes)].into_iter();
    let is_open = |(of, was_tried): &(Use, bool)| wanted.is_empty() && *was_tried && !given(of);
    findings.extend(open.filter(is_open).map(|(of, _)| untested(record, of)));
    findings
}

/// Verdicts on a medium whose figures count neither for nor against it.
fn of_withheld(record: &Record, wanted: &[Use], why: &str) -> Vec<Finding> {
    let statement = format!("Cannot be told here: what it is good for; {why}.");
    let is_written = record.cells.iter().any(writes);
    let verdict = is_written.then(|| FindingBuilder::warning("verdict", statement).done());
    let of_use = |wanted: &Use| {
        let statement = format!("{}: {why}.", Fitness::CannotTell.verdict(*wanted));
        FindingBuilder::on_use(*wanted, Fitness::CannotTell, Severity::Warning, statement).done()
    };
    verdict.into_iter().chain(wanted.iter().map(of_use)).collect()
}

/// Verdict if only the capacity or the kept data were checked: passed.
pub(crate) fn of_checks(findings: &[Finding]) -> Option<Finding> {
    let passed: Vec<&Finding> = findings
        .iter()
        .filter(|finding| {
            ["capacity", "verify"].contains(&finding.id.as_str())
                && finding.severity == Severity::Info
        })
        .collect();
    let statement =
        passed.iter().map(|finding| finding.statement.as_str()).collect::<Vec<_>>().join(" ");
    let evidence = passed.iter().flat_map(|finding| finding.evidence.iter().cloned());
    (!passed.is_empty()).then(|| FindingBuilder::info("verdict", statement).notes(evidence).done())
}

/// First finding for a medium that was only read: neither its uses nor its capacity can be judged.
pub(crate) fn of_reads(record: &Record) -> Option<Finding> {
    let is_read = |cell: &record::Cell| cell.params.direction == Some(Direction::Read);
    let is_raw = record.target.kind == record::TargetKind::Block;
    (is_raw && usability::cells(record).any(is_read) && !record.cells.iter().any(writes)).then(|| {
        let statement = "It was only read. Not tested: whether it is a fake, and what it is good for. \
                    Both need writing; --only capacity finds a fake and restores what was there.";
        FindingBuilder::info("verdict", statement).done()
    })
}

/// Note on few samples, as evidence.
fn few_samples_note(verdict: &UseVerdict) -> Option<String> {
    Some(format!("how well it does for {}: {}", verdict.wanted, few_samples(verdict.confidence)?))
}

/// Note on few samples in parentheses, or empty.
fn in_brackets(verdict: &UseVerdict) -> String {
    few_samples(verdict.confidence)
        .map(|few_samples| format!(" ({few_samples})"))
        .unwrap_or_default()
}

/// Finding on a requested use that cannot be judged.
pub(crate) fn untested(record: &Record, wanted: Use) -> Finding {
    let OpenVerdict { level, why, evidence } = open_verdict(record, wanted);
    let statement = format!("{}: {why}", level.verdict(wanted));
    FindingBuilder::on_use(wanted, level, Severity::Info, statement).notes(evidence).done()
}

pub(crate) fn finding(verdict: &UseVerdict, asked: bool) -> Finding {
    let UseVerdict {
        wanted,
        level,
        reason,
        evidence,
        confidence,
        untested,
        condition,
        within_bytes,
    } = verdict;
    let severity = match level {
        Fitness::NotSuitable | Fitness::Poor if asked && is_sure(verdict) => Severity::Failure,
        Fitness::NotSuitable | Fitness::Poor => Severity::Warning,
        Fitness::Usable | Fitness::Good | Fitness::CannotTell | Fitness::NotTested => {
            Severity::Info
        }
    };
    let caveat = in_brackets(verdict);
    let open = if untested.is_empty() {
        String::new()
    } else {
        format!(" Not measured: {}.", untested.join(", "))
    };
    let only = condition.map(|condition| format!(" {condition}")).unwrap_or_default();
    let within = within_bytes.map(within).unwrap_or_default();
    FindingBuilder::new(
        wanted.verdict_id(),
        severity,
        format!("{}{within}{caveat}{only}: {reason}.{open}", level.verdict(wanted)),
    )
    .outcome(Outcome::Use(UseLevel {
        condition: *condition,
        within_bytes: *within_bytes,
        ..UseLevel::of(*wanted, *level)
    }))
    .notes(evidence.iter().cloned())
    .notes(few_samples_note(verdict))
    .with_confidence(*confidence)
    .done()
}

/// Summary: unsuitable uses with the reason, then suitable ones with their conditions. With `asked`
/// only about the requested uses, and with a higher severity if it is not suitable.
fn summary(record: &Record, verdicts: &[UseVerdict], asked: bool) -> Option<Finding> {
    let worst = verdicts.iter().min_by_key(|verdict| verdict.level)?;
    let blame = [Fitness::NotSuitable, Fitness::Poor].into_iter().filter_map(|level| {
        let is_worst = level == worst.level;
        let because = if is_worst { format!(": {}", worst.reason) } else { String::new() };
        Some(format!("{}{because}.", level.verdict(uses(verdicts, level, None)?)))
    });
    let praised = || verdicts.iter().filter(|verdict| verdict.level >= Fitness::Usable);
    // A use with a condition states it itself.
    let is_durable = |verdict: &UseVerdict| {
        matches!(verdict.wanted, Use::RootDisk | Use::Database | Use::Logger)
            && verdict.condition.is_none()
    };
    let caveats = if praised().next().is_none() {
        conditions::caveat_of_negative(record).map(str::to_owned)
    } else {
        let is_part = |verdict: &UseVerdict| match verdict.wanted {
            Use::Camera | Use::Video { .. } => {
                written_share::of(record, verdict.wanted) != Share::All
            }
            _ => verdict.within_bytes.is_some(),
        };
        conditions::caveats_of_positive(record, praised().any(is_durable), praised().any(is_part))
    };
    let reason =
        (worst.level >= Fitness::Usable).then(|| format!("{}.", capitalised(&worst.reason)));
    let sentences = blame.chain(positive_sentences(verdicts)).chain(caveats).chain(reason);
    let severity = if worst.level <= Fitness::Poor { Severity::Warning } else { Severity::Info };
    let severity = if asked && worst.level <= Fitness::Poor && is_sure(worst) {
        Severity::Failure
    } else {
        severity
    };
    Some(
        FindingBuilder::new("verdict", severity, sentences.collect::<Vec<_>>().join(" "))
            .outcome(Outcome::Uses)
            .notes(worst.evidence.iter().cloned())
            .notes(verdicts.iter().filter_map(few_samples_note))
            .with_confidence(worst.confidence)
            .done(),
    )
}

/// " in 268 MB that were written": what a verdict rests on.
fn within(bytes: u64) -> String {
    format!(" in {} that were written", decimal(bytes))
}

/// List of the uses of this level without a condition that rest on this part of the medium; those
/// that rest on few samples are marked.
fn uses(verdicts: &[UseVerdict], level: Fitness, within_bytes: Option<u64>) -> Option<String> {
    let wording = |verdict: &UseVerdict| format!("{}{}", verdict.wanted, in_brackets(verdict));
    let names = verdicts
        .iter()
        .filter(|verdict| verdict.level == level && verdict.condition.is_none())
        .filter(|verdict| verdict.within_bytes == within_bytes)
        .map(wording);
    if level == Fitness::NotSuitable { listed_with(names, "or") } else { listed(names) }
}

/// Sentences on uses that it is good or usable for: one for each level and part of the medium, and
/// one for each use with a condition.
fn positive_sentences(verdicts: &[UseVerdict]) -> impl Iterator<Item = String> {
    let levels = [Fitness::Good, Fitness::Usable].into_iter();
    let parts = [None].into_iter().chain(verdicts.iter().map(|verdict| verdict.within_bytes));
    let parts = parts.fold(Vec::new(), |mut parts, part| {
        if !parts.contains(&part) {
            parts.push(part);
        }
        parts
    });
    let flat =
        levels.flat_map(move |level| parts.clone().into_iter().map(move |part| (level, part)));
    let flat = flat.filter_map(move |(level, part)| {
        let lead = level.verdict(uses(verdicts, level, part)?);
        Some(format!("{lead}{}.", part.map(within).unwrap_or_default()))
    });
    let praised = verdicts.iter().filter(|verdict| verdict.level >= Fitness::Usable);
    let only_if = praised.filter_map(|verdict| {
        let lead = verdict.level.verdict(verdict.wanted);
        Some(format!("{lead} only {}.", verdict.condition?))
    });
    flat.chain(only_if)
}

/// True if a verdict tells of another finding.
pub fn repeats(verdict: &Finding, other: &Finding) -> bool {
    match &verdict.outcome {
        Some(Outcome::Unusable { because }) => *because == other.id,
        Some(Outcome::Uses) => other.id != verdict.id && is_verdict(other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::FEW_SAMPLES;

    #[test]
    fn a_verdict_is_unqualified_from_95_percent_confidence_on() {
        let of = |confidence: Option<f64>, level: Fitness| UseVerdict {
            wanted: Use::Camera,
            level,
            reason: "so".into(),
            evidence: Vec::new(),
            confidence,
            untested: Vec::new(),
            condition: None,
            within_bytes: None,
        };
        for (confidence, sure) in
            [(None, true), (Some(0.96), true), (Some(0.95), true), (Some(0.94), false)]
        {
            let verdict = of(confidence, Fitness::NotSuitable);
            assert_eq!(is_sure(&verdict), sure, "{confidence:?}");
            let wording = finding(&verdict, true);
            assert_eq!(wording.statement.contains(FEW_SAMPLES), !sure, "{confidence:?}");
            assert_eq!(
                wording.severity,
                if sure { Severity::Failure } else { Severity::Warning },
                "{confidence:?}"
            );
            // Nobody asked about a camera.
            assert_eq!(finding(&verdict, false).severity, Severity::Warning);
        }
        let levels = [Fitness::Poor, Fitness::Usable, Fitness::Good]
            .map(|level| finding(&of(None, level), true).severity);
        assert_eq!(levels, [Severity::Failure, Severity::Info, Severity::Info]);
    }
}
