//! Screen for effects of host settings: a sentence for each, and the settings that were not tried.

use record::text::printable;
use record::{Flag, Record, test};

use super::paragraph;
use crate::{caveats, words};

/// True if a record is about host settings.
pub(super) fn is_one(record: &Record) -> bool {
    record.run.suite == test::HOST_EFFECTS
}

/// The whole screen, in lines of at most `width` columns; with the figures of each turn if
/// `with_figures`.
pub(super) fn text(record: &Record, width: usize, with_figures: bool) -> String {
    let mut out = paragraph(&words::medium_line(record), width);
    if let Some(state) = caveats::state(record) {
        out += &paragraph(&state, width);
    }
    out += "\n";
    if record.findings.is_empty() {
        out += &paragraph("No setting could be tried.", width);
    }
    for finding in &record.findings {
        out += &paragraph(&printable(&finding.statement), width);
        for line in finding.evidence.iter().filter(|_| with_figures) {
            out += &paragraph(&format!("  {}", printable(line)), width);
        }
    }
    let notes = record.flags.iter().map(Flag::to_string);
    for note in notes {
        out += &paragraph(&format!("Caveat: {}", printable(&note)), width);
    }
    for skip in &record.skipped {
        let (what, why) = (printable(&skip.test), printable(&skip.reason));
        out += &paragraph(&format!("Not tried: {what}: {why}"), width);
    }
    out
}

#[cfg(test)]
mod tests {
    use record::{Ended, Finding, Run, Severity, Skip};

    use super::*;

    #[test]
    fn each_setting_has_its_sentence_and_what_was_not_tried_its_reason() {
        let suite = test::HOST_EFFECTS.to_owned();
        let mut record = Record::new(Run { suite, ended: Ended::Complete, ..Run::default() });
        record.findings.push(Finding {
            evidence: vec!["sequential reads, scheduler none: 20.0 MB/s".into()],
            ..Finding::new(
                "host-effects",
                Severity::Info,
                "Scheduler bfq instead of none: no effect on sequential reads is told (0.980x to 1.02x).",
            )
        });
        let (test, reason) = ("governor".to_owned(), "changing it needs root".to_owned());
        record.skipped.push(Skip::new(test, reason));
        let text = crate::text::summary(&record, 80, false);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("Scheduler bfq instead of none") && !text.contains("20.0 MB/s"));
        assert!(text.contains("Not tried: governor: changing it needs root"), "{text}");
        let details = crate::text::details(&record, "latest", 80, false);
        assert!(details.contains("20.0 MB/s"), "{details}");
    }
}
