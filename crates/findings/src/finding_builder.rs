//! Builder of a finding.

use record::{Evidence, Finding, Fitness, Outcome, Severity, Use, UseLevel};

use crate::figures::figure::UsableEstimate;

/// A finding under construction: the statement, then its evidence.
#[derive(Clone, Debug)]
pub(crate) struct FindingBuilder(Finding);

impl FindingBuilder {
    /// Begins an informative finding: severity `Info`.
    pub fn info(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Info, statement)
    }

    /// Begins a warning: read with care, or act.
    pub fn warning(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Warning, statement)
    }

    /// Begins a failure: the medium fails a check.
    pub fn failure(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Failure, statement)
    }

    /// Begins a verdict on a use.
    pub fn on_use(
        wanted: Use,
        level: Fitness,
        severity: Severity,
        statement: impl Into<String>,
    ) -> FindingBuilder {
        FindingBuilder::new(wanted.verdict_id(), severity, statement)
            .outcome(Outcome::Use(UseLevel::of(wanted, level)))
    }

    /// A finding without evidence yet.
    pub fn new(id: &str, severity: Severity, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder(Finding::new(id, severity, statement))
    }

    /// Adds a figure with its cell, interval and count.
    pub fn figure(self, figure: &UsableEstimate) -> FindingBuilder {
        self.note(figure)
    }

    /// Adds several figures, a line of evidence for each.
    pub fn figures<'a>(
        self,
        figures: impl IntoIterator<Item = &'a UsableEstimate<'a>>,
    ) -> FindingBuilder {
        figures.into_iter().fold(self, FindingBuilder::figure)
    }

    /// Adds a line of evidence: a number, a threshold with its source.
    pub fn note(mut self, line: impl Into<Evidence>) -> FindingBuilder {
        self.0.evidence.push(line.into());
        self
    }

    /// Adds lines of evidence.
    pub fn notes(self, lines: impl IntoIterator<Item = impl Into<Evidence>>) -> FindingBuilder {
        lines.into_iter().fold(self, FindingBuilder::note)
    }

    /// Sets the outcome for programs.
    pub fn outcome(mut self, outcome: Outcome) -> FindingBuilder {
        self.0.outcome = Some(outcome);
        self
    }

    /// Sets the probability of the statement, if one was computed.
    pub fn with_confidence(mut self, confidence: Option<f64>) -> FindingBuilder {
        self.0.confidence = confidence.and_then(rounded);
        self
    }

    /// The finished finding, with the evidence in the order it was added.
    pub fn done(self) -> Finding {
        self.0
    }
}

/// A probability rounded to thousandths: no less than its accuracy, and equal on every machine.
pub(crate) fn rounded(share: f64) -> Option<f64> {
    share.is_finite().then(|| (share.clamp(0.0, 1.0) * 1000.0).round() / 1000.0)
}
