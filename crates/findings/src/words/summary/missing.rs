//! Reasons for missing figures in the summary.

use record::collection::HeadlineFigure;
use record::{Figure, Record};

use super::skipped;
use crate::figures::{Figures, usability};
use crate::matrix;

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
    let refused = usability::exclusion(record, cell).or_else(|| usability::of_record(record));
    let why = refused.map_or("too few I/Os for a figure".to_owned(), |refused| refused.to_string());
    match Figures::of(record).sound(wanted).filter(|found| found.bound.is_some()) {
        Some(found) => format!("{}: {why}", found.text()),
        None => why,
    }
}
