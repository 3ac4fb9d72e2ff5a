//! Summary of a run in one line, for collections.

use std::collections::{BTreeMap, BTreeSet};

use crate::conclude::conclude;
use crate::conclusions::speed::stalls;
use crate::figures::{Figures, genuineness, other_tools, usability};
use crate::kinds::{self, Trait};
use crate::matrix;
use crate::verdict::{self, is_verdict};
use record::collection::{HeadlineFigure, RunHeadline};
use record::{Cell, Finding, Histogram, Outcome, Record, Severity, Use};

/// Summary of a run in one line. Conclusions are drawn anew from the cells; findings in the record
/// are ignored, as the sender might have written them.
///
/// Rates of random I/O are those at queue depth 1; results only at other depths or with several
/// threads are left out.
pub fn headline(record: &Record) -> RunHeadline {
    let findings = conclude(record);
    // The cells of a matrix are of many file systems: none of them represents the medium.
    let asked: &[HeadlineFigure] =
        if matrix::of(record).is_some() || usability::of_record(record).is_some() {
            &[]
        } else {
            &HeadlineFigure::ALL
        };
    let (mut figures, mut thin) = (BTreeMap::new(), BTreeSet::new());
    for &wanted in asked {
        let Some((value, is_evidence)) = value(record, wanted) else { continue };
        figures.insert(wanted, value);
        if !is_evidence {
            thin.insert(wanted);
        }
    }
    let verdict = findings
        .iter()
        .find(|finding| finding.id == "verdict")
        .map(|finding| finding.statement.clone());
    let faults = findings.iter().filter(|finding| is_fault(finding));
    let faults: BTreeSet<String> = faults.map(|finding| finding.id.clone()).collect();
    let faults = faults.into_iter().collect();
    let levels = verdict::all(record).into_iter().filter_map(|wanted| level(record, wanted));
    let levels = levels.collect();
    let is_fake = genuineness::is_fake(record);
    let is_unusable = |finding: &Finding| matches!(finding.outcome, Some(Outcome::Unusable { .. }));
    let is_damaged = !is_fake && findings.iter().any(is_unusable);
    RunHeadline { figures, thin, verdict, faults, levels, is_fake, is_damaged }
}

/// Level of a use as a word; `None` if it was not judged.
fn level(record: &Record, wanted: Use) -> Option<String> {
    let level = verdict::verdict_on(record, wanted)?.level.word().replace(' ', "-");
    let name = wanted.verdict_id().trim_start_matches("verdict-");
    Some(match wanted {
        Use::Video { mbit } => format!("{name}={level}-{mbit}"),
        _ => format!("{name}={level}"),
    })
}

/// True for a failed check, or for a trick of the controller that may mislead users.
fn is_fault(finding: &Finding) -> bool {
    let is_trick = kinds::is(&finding.id, Trait::Trick) && finding.severity >= Severity::Warning;
    is_trick || finding.severity == Severity::Failure && !is_verdict(finding)
}

/// A figure that is a level, in the unit of collections, and whether its cells are evidence for it.
/// Other tools seldom keep latencies: their figures are never held against measured ones.
fn value(record: &Record, wanted: HeadlineFigure) -> Option<(f64, bool)> {
    let (value, cells) = match wanted {
        HeadlineFigure::WorstStall => {
            let stalls = stalls::longest_small_writes(record)?;
            (stalls.worst().ns as f64, stalls.cells.clone())
        }
        rate => {
            if let Some(value) = other_tools::figure(record, rate) {
                return Some((value, true));
            }
            let level = Figures::of(record).sound(rate).filter(|found| found.bound.is_none())?;
            (level.value, vec![level.cell])
        }
    };
    let ios = |cell: &&Cell| cell.histogram.as_ref().map_or(0, Histogram::len);
    let ios = cells.iter().map(ios).fold(0, u64::saturating_add);
    let elapsed_ns = cells.iter().map(|cell| cell.elapsed_ns).fold(0, u64::saturating_add);
    let is_ours = record.run.software.is_flashmark();
    Some((value, !is_ours || wanted.entry().is_evidence(ios, elapsed_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::record_in_words;

    #[test]
    fn a_fake_is_one_by_its_cells_and_not_by_the_stored_findings() {
        let fake = "medium.capacity_bytes=32GiB; capacity 1MiB metrics.type=3";
        let fake = record_in_words(&format!("{fake} metrics.real_bytes=8GiB"));
        let line = headline(&fake);
        assert!(line.is_fake && line.faults == ["capacity"], "{line:?}");
        let mut liar = record_in_words("random-write 4KiB 1.5/s");
        liar.findings = conclude(&fake);
        assert!(!headline(&liar).is_fake);
    }
}
