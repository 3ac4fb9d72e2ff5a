//! Reasons for missing figures in the summary.

use record::collection::HeadlineFigure;
use record::{Figure, Record};

use super::skipped;
use crate::figure::UsableEstimate;
use crate::{Figures, matrix, usability};

/// The name of a figure in the summary: "random_write_4k_iops".
pub(super) fn field(wanted: HeadlineFigure) -> String {
    let Figure { column, unit, .. } = wanted.entry();
    format!("{column}_{}", unit.name())
}

/// Reason why the summary has no level for this figure: a bound with its reason, or the obstacle to
/// its measurement or use.
pub(super) fn why(record: &Record, wanted: HeadlineFigure) -> String {
    if let Some(refused) = usability::of_run(record) {
        return refused.to_string();
    }
    if matrix::of(record).is_some() {
        return "a matrix has many file systems".to_owned();
    }
    let test = wanted.entry().test;
    let Some(cell) = Figures::of(record).cell(wanted) else {
        return match skipped(record, test) {
            Some(reason) => format!("left out: {reason}"),
            None => "not measured".to_owned(),
        };
    };
    let refused = usability::exclusion(record, cell).map(|refused| refused.to_string());
    let why = refused.unwrap_or_else(|| "too few I/Os for a figure".to_owned());
    match Figures::of(record).sound(wanted).filter(|found| found.bound.is_some()) {
        Some(found) => format!("{}: {why}", found.text()),
        None => why,
    }
}

/// Ends of the figure's interval, or of its rounds if it has none; `None` without both.
pub(super) fn ends(found: &UsableEstimate) -> Option<[f64; 2]> {
    use record::Unsteady::{Levels, Range};
    match found.cell.variation(found.name) {
        Some(Range(ends) | Levels(ends)) => Some(ends),
        None if found.cell.is_one_look() => None,
        None => found.ci95,
    }
}

#[cfg(test)]
mod tests {
    use record::Flag;
    use record::units::KIB;

    use crate::testing::{empty, iops};

    #[test]
    fn a_figure_that_is_null_has_its_reason() {
        let mut record = empty();
        record.cells = vec![
            iops("random-write", 1, 4 * KIB, 1006.0, 1),
            iops("random-read", 1, 4 * KIB, 2000.0, 1),
        ];
        record.cells[0].flags.push(Flag::Transient { bound: record::Bound::AtMost });
        record.skipped.push(record::Skip::new("sequential-read", "no time was left"));
        let found = crate::Analysis::of(&record, &[]).summary;
        assert_eq!((found.random_write_4k_iops, found.random_read_4k_iops), (None, Some(2000.0)));
        insta::assert_debug_snapshot!(found.missing, @r#"
            {
                "random_write_4k_iops": "at most 1006 IOPS: its rate was still changing: the sustained rate is at most that",
                "sequential_read_bps": "left out: no time was left",
                "sequential_write_bps": "not measured",
            }
        "#);
    }
}
