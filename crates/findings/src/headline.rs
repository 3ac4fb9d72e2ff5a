//! Summary of a run in one line, for collections.

use std::collections::BTreeSet;

use crate::genuineness;
use record::collection::{HeadlineFigure, RunHeadline};
use record::{Finding, Record, Severity, Use};

use crate::{
    Figures, TRICKS, conclude, is_verdict, matrix, other_tools, stalls, usability, verdict,
};

/// Summary of a run in one line. Conclusions are drawn anew from the cells; findings in the record
/// are ignored, as the sender might have written them.
///
/// Rates of random I/O are those at queue depth 1; results only at other depths or with several
/// threads are left out.
pub fn headline(record: &Record) -> RunHeadline {
    let findings = conclude(record);
    // The cells of a matrix are of many file systems: none of them represents the medium.
    let asked: &[HeadlineFigure] =
        if matrix::of(record).is_some() || usability::of_run(record).is_some() {
            &[]
        } else {
            &HeadlineFigure::ALL
        };
    let figures =
        asked.iter().filter_map(|&wanted| Some((wanted, value(record, wanted)?))).collect();
    let verdict = findings
        .iter()
        .find(|finding| finding.id == "verdict")
        .map(|finding| finding.statement.clone());
    let faults = findings.iter().filter(|finding| is_fault(finding));
    let faults: BTreeSet<String> = faults.map(|finding| finding.id.clone()).collect();
    let faults = faults.into_iter().collect();
    let levels = verdict::all(record).into_iter().filter_map(|wanted| level(record, wanted));
    let levels = levels.collect();
    RunHeadline { figures, verdict, faults, levels, is_fake: genuineness::is_fake(record) }
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
    let is_trick = TRICKS.contains(&finding.id.as_str()) && finding.severity >= Severity::Warning;
    is_trick || finding.severity == Severity::Failure && !is_verdict(finding)
}

/// A figure that is a level, in the unit of collections.
fn value(record: &Record, wanted: HeadlineFigure) -> Option<f64> {
    match wanted {
        HeadlineFigure::WorstStall => {
            stalls::longest_small_writes(record).map(|stalls| stalls.worst().ns as f64)
        }
        rate => {
            if let Some(value) = other_tools::figure(record, rate) {
                return Some(value);
            }
            let level = Figures::of(record).sound(rate).filter(|found| found.bound.is_none())?;
            Some(level.value)
        }
    }
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
