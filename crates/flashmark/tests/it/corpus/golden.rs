//! A golden file: findings as data, the summary, the screen, and what is on the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use record::units::significant;
use record::{Evidence, EvidenceNumber};

use super::{Shown, page};

/// Records whose details are kept too, and their screen on a narrow and on a wide terminal.
const IN_FULL: [&str; 5] =
    ["check-a1", "check-fake-wrap", "quick-read-errors", "standard-a1", "standard-class10"];

/// Findings, summary, screen and page of a record as text, so that a change is shown as a
/// difference of lines.
pub(super) fn text(shown: &Shown) -> String {
    let summary = serde_json::to_string_pretty(&shown.record.summary).unwrap();
    let page = page::digest(&pages::page(&shown.record));
    let mut text = format!(
        "# Findings\n{}\n# Summary\n{summary}\n\n# Screen\n{}\n# Page\n{page}",
        findings(shown),
        shown.screen
    );
    if IN_FULL.contains(&shown.name.as_str()) {
        for columns in [40, 120] {
            let screen = shown.screen_of(columns, false);
            let _ = write!(text, "\n# Screen, {columns} columns\n{screen}");
        }
        let details = report::text::details(&shown.record, &shown.record.run.id, 80, false);
        text += &format!("\n# Details\n{}", details.replace('\u{a0}', " "));
    }
    text
}

/// A line for each finding: id, severity, level, confidence, its numbers, and the other cells of its
/// evidence.
fn findings(shown: &Shown) -> String {
    let levels = findings::use_levels(&shown.record);
    let mut text = String::new();
    for finding in &shown.record.findings {
        let _ = write!(text, "{} {:?}", finding.id, finding.severity);
        for level in levels.iter().filter(|it| it.wanted.verdict_id() == finding.id) {
            let _ = write!(text, ", {}: {}", String::from(level.wanted), level.level.word());
            let condition = level.condition.map(|it| format!(" ({it})")).unwrap_or_default();
            text += &condition;
        }
        if let Some(confidence) = finding.confidence {
            let _ = write!(text, ", {confidence:.2}");
        }
        let told: BTreeSet<String> = finding.evidence.iter().filter_map(number_or_cell).collect();
        for told in told {
            let _ = write!(text, " {told}");
        }
        text.push('\n');
    }
    text
}

/// "random-write/2.iops=2.90", "cache_bytes=8388608"; only the cell of a remark.
fn number_or_cell(evidence: &Evidence) -> Option<String> {
    let cell = evidence.cell();
    match evidence {
        Evidence::Number(EvidenceNumber { name, value, .. }) => {
            let name = [cell, Some(name)].into_iter().flatten().collect::<Vec<_>>().join(".");
            Some(format!("{name}={}", significant(*value)))
        }
        Evidence::Note { .. } => cell.map(str::to_owned),
    }
}
