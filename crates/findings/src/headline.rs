//! Summary of a run in one line, for collections.

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
    let mut faults: Vec<String> = findings
        .iter()
        .filter(|finding| is_fault(finding))
        .map(|finding| finding.id.clone())
        .collect();
    faults.sort();
    faults.dedup();
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
            stalls::everyday(record).map(|stalls| stalls.worst().ns as f64)
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
    use record::units::{GIB, KIB, MIB};
    use record::{Bound, Estimate, Flag, Params, Stop, metric, test};

    use super::*;
    use crate::testing::{cell, empty, iops, known};
    use crate::{figure, streaming_cell};

    fn card() -> Record {
        let mut writing = cell("sequential-write", 1, MIB);
        writing.metrics.bps = Some(known(20e6, 0.02, 100));
        writing.metrics.other.insert("sustained_bps".into(), known(9e6, 0.02, 100));
        let cells = vec![
            iops("random-write", 1, 4 * KIB, 1.5, 3_000_000_000),
            iops("random-write", 2, 16 * KIB, 1.2, 900_000_000),
            iops("random-read", 1, 4 * KIB, 1500.0, 2_000_000),
            writing,
        ];
        Record { cells, ..empty() }
    }

    #[test]
    fn every_figure_that_was_measured_is_in_the_line() {
        let line = headline(&card());
        let figures: Vec<(&str, f64)> =
            line.figures.iter().map(|(figure, value)| (figure.name(), *value)).collect();
        insta::assert_debug_snapshot!(figures, @r#"
        [
            (
                "random-write-4k",
                1.5,
            ),
            (
                "worst-stall",
                3000000000.0,
            ),
            (
                "random-write-16k",
                1.2,
            ),
            (
                "sequential-write",
                9000000.0,
            ),
            (
                "random-read-4k",
                1500.0,
            ),
        ]
        "#);
        assert!(
            line.verdict.is_some_and(|verdict| verdict.contains("random writes")),
            "random writes decide"
        );
        assert!(!line.is_fake);
    }

    /// Of one run a table said 2.63 IOPS and 9.25 MB/s, and its verdict 2.78 and 9.10.
    #[test]
    fn a_verdict_goes_by_the_figures_that_are_shown() {
        let mut record = card();
        let spans = [GIB, 512 * MIB, 512 * MIB].into_iter().zip(record.cells.iter_mut());
        for (span, cell) in spans {
            cell.params.span_bytes = Some(span);
            cell.metrics.iops = cell.metrics.iops.map(|iops| known(iops.value, 0.02, 400));
        }
        let mut small = iops("random-write", 5, 4 * KIB, 2.63, 2_040_000_000);
        small.params.span_bytes = Some(512 * MIB);
        small.metrics.iops = Some(known(2.63, 0.02, 400));
        record.cells.push(small);
        let mut sustained = cell(test::SUSTAINED, 1, MIB);
        sustained.params.form = Some("first".into());
        sustained.metrics.other.insert(metric::SUSTAINED_BPS.into(), known(8.1e6, 0.02, 90));
        record.cells.push(sustained);
        let shown = |wanted| Figures::of(&record).get(wanted).map(|known| known.estimate.value);
        let judged = figure::random_write(&record, 4 * KIB).map(|figure| figure.value);
        assert_eq!(judged, Some(2.63));
        assert_eq!(shown(HeadlineFigure::RandomWrite4k), judged);
        let judged = figure::sustained_write(&record).map(|figure| figure.value);
        assert_eq!(judged, Some(8.1e6));
        assert_eq!(shown(HeadlineFigure::SequentialWrite), judged);
    }

    /// Of one run a verdict said "at least 700 IOPS", and the table the rate over a small span.
    #[test]
    fn a_bound_is_shown_where_the_verdict_goes_by_it() {
        let of = |span, transient: bool, rate: f64| {
            let mut cell = iops("random-write", span as u32, 4 * KIB, rate, 3_000_000);
            cell.params.span_bytes = Some(span * MIB);
            cell.flags.extend(transient.then_some(Flag::Transient { bound: Bound::AtLeast }));
            cell
        };
        let record = Record { cells: vec![of(64, false, 900.0), of(8192, true, 700.0)], ..empty() };
        let figures = Figures::of(&record);
        let shown = figures.get(HeadlineFigure::RandomWrite4k).map(|it| it.estimate.value);
        let judged = figures.judged(HeadlineFigure::RandomWrite4k).map(|it| it.text());
        assert_eq!((shown, judged.as_deref()), (Some(700.0), Some("at least 700 IOPS")));
        assert!(!headline(&record).figures.contains_key(&HeadlineFigure::RandomWrite4k));
    }

    #[test]
    fn a_figure_of_a_broken_cell_is_absent() {
        let mut record = card();
        record.cells[0].flags.push(Flag::Cached);
        record.cells[1].stop = Stop::Error;
        record.cells[2].metrics.iops = Some(Estimate { value: f64::NAN, ci95: None, n: 0 });
        let line = headline(&record);
        assert_eq!(line.figures.into_keys().collect::<Vec<_>>(), [HeadlineFigure::SequentialWrite]);
    }

    #[test]
    fn deep_queues_are_no_figure_of_queue_depth_1() {
        let mut record = card();
        record.cells[0].params = Params { queue_depth: 32, ..record.cells[0].params.clone() };
        record.cells[2].params = Params { threads: 4, ..record.cells[2].params.clone() };
        let figures = headline(&record).figures;
        assert!(
            !figures.contains_key(&HeadlineFigure::RandomWrite4k)
                && !figures.contains_key(&HeadlineFigure::RandomRead4k)
        );
        assert!(figures.contains_key(&HeadlineFigure::RandomWrite16k));
    }

    #[test]
    fn a_fake_is_one_by_its_cells_and_not_by_what_the_record_says() {
        let mut probe = cell("capacity", 1, MIB);
        for (name, value) in [("type", 3.0), ("real_bytes", 8.0 * GIB as f64)] {
            probe.metrics.other.insert(name.into(), Estimate { value, ci95: None, n: 1 });
        }
        let mut record = Record { cells: vec![probe], ..empty() };
        record.medium.capacity_bytes = Some(32 * GIB);
        let line = headline(&record);
        assert!(line.is_fake && line.faults == ["capacity"], "{line:?}");
        let mut liar = card();
        liar.findings = conclude(&record);
        assert!(!headline(&liar).is_fake);
    }

    #[test]
    fn the_largest_block_up_to_a_mebibyte_streams() {
        let of = |blocks: &[u64]| {
            let cells = blocks.iter().zip(1..).map(|(block, number)| {
                crate::testing::cell(record::test::SEQUENTIAL_READ, number, *block)
            });
            let record = crate::testing::record_of(cells.collect());
            streaming_cell(&record, record::test::SEQUENTIAL_READ)
                .and_then(|cell| cell.params.block_bytes)
        };
        assert_eq!(of(&[4096, 1 << 20, (1 << 20) + 512]), Some(1 << 20));
        assert_eq!(of(&[4096, 8192]), Some(8192));
    }
}
