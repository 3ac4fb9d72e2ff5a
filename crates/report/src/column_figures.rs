//! Figures of a run's cells for columns: those with an interval unchanged, those of other tools as
//! single figures, and repeats as their mean.

mod text;

use std::collections::BTreeMap;

use record::units::significant;
use record::{Cell, Estimate, FigureColumn, quantities};

use crate::figure;

pub(crate) use text::table;
pub use text::{RunFigures, columns_text, shown};

/// Figure of a run in a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnFigure {
    /// Its column.
    pub column: FigureColumn,
    /// The figure in the column's unit.
    pub figure: Estimate,
    /// Number of runs of another tool, if it is their mean.
    pub repeats: Option<u64>,
}

impl ColumnFigure {
    /// The figure with its unit: "49.2 MB/s".
    pub fn text(&self) -> String {
        format!("{} {}", significant(self.figure.value), self.column.unit)
    }

    /// Its interval, "46.0 to 52.1" or "46.0 to 52.1, 3 runs", or a note that it is a single
    /// figure.
    pub fn interval(&self) -> String {
        let runs = self.repeats.map(|runs| format!("{runs} runs"));
        match (self.figure.ci95, runs) {
            (Some(ends), runs) => {
                let [low, high] = ends.map(significant);
                let ends = format!("{low} to {high}");
                runs.map_or(ends.clone(), |runs| format!("{ends}, {runs}"))
            }
            (None, Some(runs)) => runs,
            // Flashmark's own figures are means of I/Os, for which the record has no interval.
            (None, None) if self.figure.n > 1 => format!("mean of {}", self.figure.n),
            (None, None) => figure::ONE_RUN.to_owned(),
        }
    }
}

/// Figures by the name of their column. Numbers that cannot be the medium's are left out; of
/// several cells with an interval the first counts.
pub fn column_figures<'a>(
    cells: impl IntoIterator<Item = &'a Cell>,
) -> BTreeMap<String, ColumnFigure> {
    let mut found: BTreeMap<String, ColumnFigure> = BTreeMap::new();
    let mut singles: Vec<(FigureColumn, Vec<(&Cell, Estimate)>)> = Vec::new();
    for cell in cells {
        for (column, figure) in quantities(cell).into_iter().filter(|it| is_shown(cell, it)) {
            if figure.ci95.is_some() {
                let name = column.name.clone();
                found.entry(name).or_insert(ColumnFigure { column, figure, repeats: None });
                continue;
            }
            match singles.iter_mut().find(|(known, _)| known.name == column.name) {
                Some((_, figures)) => figures.push((cell, figure)),
                None => singles.push((column, vec![(cell, figure)])),
            }
        }
    }
    for (column, figures) in singles {
        found.entry(column.name.clone()).or_insert_with(|| single_or_mean(column, &figures));
    }
    found
}

/// True if a figure may be shown. Numbers that cannot be the medium's are shown only in columns
/// about memory; those without an interval only if another tool measured them, or if they are not a
/// rate of I/Os.
fn is_shown(cell: &Cell, (column, figure): &(FigureColumn, Estimate)) -> bool {
    let has_place = column.is_of_memory() || figure::impossible(cell).is_none();
    let is_figure = figure.ci95.is_some()
        || figure::is_imported(cell)
        || matches!(column.family, "completion" | "cpu" | "threads" | "hdparm");
    has_place && is_figure
}

/// The first figure, or the mean of its repeats with Student's interval.
fn single_or_mean(column: FigureColumn, figures: &[(&Cell, Estimate)]) -> ColumnFigure {
    let (first, figure) = figures[0];
    let values: Vec<f64> = figures
        .iter()
        .filter(|(cell, _)| repeats(first, cell))
        .map(|(_, figure)| figure.value)
        .collect();
    match mean_of_repeats(&values) {
        Some(figure) => ColumnFigure { column, repeats: Some(figure.n), figure },
        None => ColumnFigure { column, figure, repeats: None },
    }
}

/// Mean and Student's interval of repeats; `None` for a single one. A rate is never below zero.
pub(crate) fn mean_of_repeats(values: &[f64]) -> Option<Estimate> {
    let (value, interval) = stats::mean_interval(values)?;
    let ci95 = Some([interval.low.max(0.0), interval.high]);
    Some(Estimate { value, ci95, n: values.len() as u64 })
}

/// True if two cells of other tools in one run repeat the same test: an output with a test several
/// times, or rows of a publication marked as repeats.
pub(crate) fn repeats(one: &Cell, other: &Cell) -> bool {
    let is_same = |label: &str| one.label(label) == other.label(label);
    let is_published = !one.label("row").is_empty() || !other.label("row").is_empty();
    figure::is_imported(one)
        && one.test == other.test
        && one.params == other.params
        && ["tool", "filesystem", "scheduler"].into_iter().all(is_same)
        && (!is_published
            || std::ptr::eq(one, other)
            || (!one.label("repeat").is_empty() && !other.label("repeat").is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Params, metric, test};

    fn dd(mbps: f64) -> Cell {
        let params =
            Params { block_bytes: Some(1 << 20), queue_depth: 1, threads: 1, ..Params::default() };
        let mut cell = Cell::begun("", test::SEQUENTIAL_READ, params);
        cell.metrics.bps = Some(Estimate { value: mbps * 1e6, ci95: None, n: 1 });
        cell.labels.insert("tool".into(), "dd".into());
        cell
    }

    fn figure_texts(cells: &[Cell]) -> Vec<String> {
        let all = column_figures(cells).into_values();
        all.map(|it| format!("{}: {} ({})", it.column.name, it.text(), it.interval())).collect()
    }

    #[test]
    fn one_is_one_run_and_repeats_have_students_interval() {
        assert_eq!(figure_texts(&[dd(20.0)]), ["dd-read-1m: 20.0 MB/s (one run)"]);
        // 4.303 times 1 over the square root of 3.
        assert_eq!(
            figure_texts(&[dd(19.0), dd(20.0), dd(21.0)]),
            ["dd-read-1m: 20.0 MB/s (17.5 to 22.5, 3 runs)"]
        );
        let five = [20.0, 20.0, 21.0, 19.0, 20.0].map(dd);
        assert_eq!(figure_texts(&five), ["dd-read-1m: 20.0 MB/s (19.1 to 20.9, 5 runs)"]);
        assert_eq!(
            figure_texts(&[dd(1.0), dd(30.0)]),
            ["dd-read-1m: 15.5 MB/s (0 to 200, 2 runs)"]
        );
    }

    #[test]
    fn runs_with_other_settings_are_no_repeats() {
        let mut other = dd(90.0);
        other.params.span_bytes = Some(1 << 30);
        assert_eq!(figure_texts(&[dd(20.0), other]), ["dd-read-1m: 20.0 MB/s (one run)"]);
        let published = |mbps, repeat: &str| {
            let mut cell = dd(mbps);
            for (name, value) in [("row", "r"), ("repeat", repeat)] {
                cell.labels.insert(name.to_owned(), value.to_owned());
            }
            cell
        };
        let rows = [published(20.0, ""), published(22.0, "")];
        assert_eq!(figure_texts(&rows), ["dd-read-1m: 20.0 MB/s (one run)"], "of another person");
        let rounds = [published(20.0, "1"), published(22.0, "2")];
        assert_eq!(figure_texts(&rounds), ["dd-read-1m: 21.0 MB/s (8.29 to 33.7, 2 runs)"]);
    }

    #[test]
    fn what_has_an_interval_comes_first() {
        let mut certain = dd(10.0);
        certain.metrics.bps = Some(Estimate { value: 10e6, ci95: Some([9e6, 11e6]), n: 99 });
        assert_eq!(figure_texts(&[dd(20.0), certain]), ["dd-read-1m: 10.0 MB/s (9.00 to 11.0)"]);
    }

    #[test]
    fn ours_without_an_interval_are_shown_only_where_they_are_no_rates() {
        let mut cell = dd(20.0);
        cell.labels.clear();
        cell.metrics.iops = Some(Estimate { value: 20.0, ci95: Some([19.0, 21.0]), n: 400 });
        let cpu = Estimate { value: 50_000.0, ci95: None, n: 400 };
        cell.metrics.other.insert(metric::CPU_NS_PER_IO.into(), cpu);
        assert_eq!(figure_texts(&[cell]), ["cpu-dd-read-1m: 0.100 % (mean of 400)"]);
    }

    /// Regression: the columns of hdparm stayed empty for a single run, and that of -T always.
    #[test]
    fn hdparm_is_shown_by_its_median_and_its_cache_as_such() {
        let form = |form: &str, flag| {
            let params = Params { form: Some(form.into()), ..Params::default() };
            let mut cell = Cell::begun("", test::BUFFERED_READ, params);
            cell.metrics.bps = Some(Estimate { value: 20.0 * 1048576.0, ci95: None, n: 1 });
            cell.flags.extend(flag);
            cell
        };
        let cached = Some(record::Flag::Cached);
        assert_eq!(figure_texts(&[form("device", None)]), ["hdparm: 20.0 MiB/s (one run)"]);
        assert_eq!(figure_texts(&[form("device", cached.clone())]), [""; 0]);
        assert_eq!(figure_texts(&[form("cache", cached)]), ["hdparm-cache: 20.0 MiB/s (one run)"]);
    }
}
