//! A finding as it is put together.

use record::{Finding, Fitness, Outcome, Severity, Use};

use crate::figure::UsableEstimate;

/// A finding being written: what is said, then what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct FindingBuilder(Finding);

impl FindingBuilder {
    /// Begins a finding that is good to know: of severity `Info`.
    pub fn info(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Info, statement)
    }

    /// Read with care, or act.
    pub fn warning(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Warning, statement)
    }

    /// The medium fails a check.
    pub fn failure(id: &str, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder::new(id, Severity::Failure, statement)
    }

    /// The verdict on a use.
    pub fn on_use(
        wanted: Use,
        level: Fitness,
        severity: Severity,
        statement: impl Into<String>,
    ) -> FindingBuilder {
        FindingBuilder::new(wanted.verdict_id(), severity, statement).outcome(Outcome::Use {
            wanted,
            level,
            condition: None,
        })
    }

    /// A finding without evidence yet.
    pub fn new(id: &str, severity: Severity, statement: impl Into<String>) -> FindingBuilder {
        FindingBuilder(Finding::new(id, severity, statement))
    }

    /// Adds a figure with its cell, interval and count.
    pub fn figure(mut self, figure: &UsableEstimate) -> FindingBuilder {
        self.0.evidence.push(figure.to_string());
        self
    }

    /// Adds several figures, a line of evidence for each.
    pub fn figures<'a>(
        self,
        figures: impl IntoIterator<Item = &'a UsableEstimate<'a>>,
    ) -> FindingBuilder {
        figures.into_iter().fold(self, FindingBuilder::figure)
    }

    /// Adds a line of evidence: a number worked out from figures, a threshold with its source.
    pub fn note(mut self, line: impl Into<String>) -> FindingBuilder {
        self.0.evidence.push(line.into());
        self
    }

    /// Adds lines of evidence.
    pub fn notes(self, lines: impl IntoIterator<Item = String>) -> FindingBuilder {
        lines.into_iter().fold(self, FindingBuilder::note)
    }

    /// What it comes to, for programs.
    pub fn outcome(mut self, outcome: Outcome) -> FindingBuilder {
        self.0.outcome = Some(outcome);
        self
    }

    /// The probability that it is so, where one was worked out.
    pub fn surely(mut self, confidence: Option<f64>) -> FindingBuilder {
        self.0.confidence = confidence.and_then(rounded);
        self
    }

    /// The finished finding, with the evidence in the order it was added.
    pub fn done(self) -> Finding {
        self.0
    }
}

/// A probability in thousandths: more than any of these deserve, and equal on every machine.
pub(crate) fn rounded(share: f64) -> Option<f64> {
    share.is_finite().then(|| (share.clamp(0.0, 1.0) * 1000.0).round() / 1000.0)
}
