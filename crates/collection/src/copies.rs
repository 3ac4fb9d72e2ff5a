//! Detection of copies: runs that are one measurement, sent again under another name, from another
//! board or with a few numbers changed. Two runs with the same latencies in a cell are one
//! measurement; a copy whose latencies were changed is for a reviewer to find.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use record::collection::Origin;
use record::{Histogram, Published};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Most cells with a mark, those with most I/Os.
const CELLS: usize = 8;
/// Least number of I/Os in a cell with a mark.
const MARKED: u64 = 101;
/// Least number of distinct latencies with which two histograms are not equal by chance.
const DIFFERENT: usize = 20;
/// Number of consecutive rates that are not equal by chance, although a tool prints only three
/// digits.
const RATES: usize = 6;

/// Marks by which a run is recognised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMarks {
    /// Hashes of the histogram of each of its largest cells, 32 hexadecimal digits each. Two runs
    /// that share one are of one measurement, whatever else was changed. Empty for a run with too
    /// few I/Os.
    pub exact: BTreeSet<String>,
    /// True for a simulated run: these repeat to the byte.
    is_simulated: bool,
}

impl RunMarks {
    /// Computes the marks of a run.
    pub fn of(run: &Published) -> RunMarks {
        let cells = largest(run);
        let exact = if cells.is_empty() && !run.software.is_flashmark() {
            marks_of_rates(run)
        } else {
            cells.into_iter().filter_map(mark).collect()
        };
        RunMarks { exact, is_simulated: Origin::of(run) == Origin::Simulated }
    }

    /// True if the run is of a simulated medium.
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }
}

/// Histograms of the cells with most I/Os, the largest first.
fn largest(run: &Published) -> Vec<&Histogram> {
    let mut large: Vec<_> = run
        .cells
        .iter()
        .filter_map(|cell| Some((cell.id.as_str(), cell.histogram.as_ref()?)))
        .filter(|(_, histogram)| histogram.len() >= MARKED)
        .collect();
    large.sort_by(|(a, x), (b, y)| y.len().cmp(&x.len()).then_with(|| a.cmp(b)));
    large.truncate(CELLS);
    large.into_iter().map(|(_, histogram)| histogram).collect()
}

/// Hash of a histogram; `None` if its counts may equal others by chance.
fn mark(histogram: &Histogram) -> Option<String> {
    histogram.buckets().nth(DIFFERENT - 1)?;
    let mut text = String::new();
    for (ns, count) in histogram.buckets() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{ns}:{count} ");
    }
    Some(mark_of(&text))
}

/// Hashes for a run of another tool without latencies: one for each [`RATES`] consecutive rates.
fn marks_of_rates(run: &Published) -> BTreeSet<String> {
    let metrics = run.cells.iter().map(|cell| &cell.metrics);
    let rates: Vec<f64> =
        metrics.filter_map(|metrics| Some(metrics.bps.or(metrics.iops)?.value)).collect();
    rates.windows(RATES).map(|rates| mark_of(&format!("{rates:?}"))).collect()
}

fn mark_of(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    record::text::hex(&hash[..16])
}

/// Runs in which copies are searched, named by their numbers.
#[derive(Debug, Default)]
pub struct CopyRegister(BTreeMap<String, Vec<(usize, bool)>>);

impl CopyRegister {
    /// Adds a run.
    pub fn add(&mut self, number: usize, marks: &RunMarks) {
        for mark in &marks.exact {
            self.0.entry(mark.clone()).or_default().push((number, marks.is_simulated));
        }
    }

    /// Finds the run of which the run with these marks is a copy, the first that `may_be_original`.
    /// Simulated runs repeat to the byte, so they are compared with measured ones only: a run that
    /// is marked simulated may be a copy of a measurement, and a measurement one of a simulation.
    pub fn find(&self, marks: &RunMarks, may_be_original: impl Fn(usize) -> bool) -> Option<usize> {
        let known = marks.exact.iter().filter_map(|mark| self.0.get(mark)).flatten();
        let may_be = known.filter(|(number, is_simulated)| {
            !(marks.is_simulated && *is_simulated) && may_be_original(*number)
        });
        may_be.map(|(number, _)| *number).min()
    }
}

#[cfg(test)]
mod tests {
    use record::MediumKind;

    use super::*;

    /// A run with three cells; the latencies depend on `seed`.
    fn run(seed: u64, simulated: bool) -> Published {
        let text = include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut run = Published::from(&record::Record::from_json(text).unwrap());
        if !simulated {
            run.kind = MediumKind::Sd;
            run.target = record::TargetKind::Block;
            (run.profile, run.engine) = (None, None);
        }
        run.cells.truncate(3);
        for (at, cell) in run.cells.iter_mut().enumerate() {
            let mut histogram = Histogram::default();
            let mut state = seed * 10 + at as u64;
            for _ in 0..1000 + 100 * at {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                histogram.record(400_000 + (state >> 44) / 8 * (1 + seed % 7));
            }
            cell.histogram = Some(histogram);
        }
        run
    }

    fn found(known: &[Published], run: &Published) -> Option<usize> {
        let mut register = CopyRegister::default();
        known.iter().enumerate().for_each(|(at, run)| register.add(at, &RunMarks::of(run)));
        register.find(&RunMarks::of(run), |_| true)
    }

    #[test]
    fn one_cell_under_another_name_is_enough() {
        let known = [run(1, false), run(2, false)];
        let mut copy = run(2, false);
        copy.cells.truncate(1);
        copy.cells[0].id = "another".to_owned();
        copy.model = Some("other".to_owned());
        assert_eq!(found(&known, &copy), Some(1));
        assert_eq!(found(&known, &run(3, false)), None);
    }

    #[test]
    fn a_simulated_run_is_no_copy_but_what_is_made_of_it_is() {
        let known = [run(1, true)];
        assert_eq!(found(&known, &run(1, true)), None);
        assert_eq!(found(&known, &run(1, false)), Some(0));
    }

    /// Regression: a measurement sent again as simulated kept the measurement out.
    #[test]
    fn a_measurement_called_simulated_is_a_copy_of_it() {
        assert_eq!(found(&[run(1, false)], &run(1, true)), Some(0));
    }

    #[test]
    fn a_run_without_latencies_is_known_by_its_rates() {
        let rated = |factor: f64| {
            let mut run = run(1, false);
            run.software.name = "dd".to_owned();
            let cell = run.cells[0].clone();
            run.cells = (1..=8).map(|_| cell.clone()).collect();
            for (at, cell) in run.cells.iter_mut().enumerate() {
                cell.histogram = None;
                let value = factor * (at + 1) as f64;
                cell.metrics.iops = Some(record::Estimate { value, ci95: None, n: 0 });
                cell.metrics.bps = None;
            }
            run
        };
        let mut copy = rated(43.5);
        copy.model = Some("other".to_owned());
        copy.cells.remove(0);
        assert_eq!(found(&[rated(43.5)], &copy), Some(0));
        assert_eq!(found(&[rated(43.5)], &rated(43.6)), None);
    }

    #[test]
    fn a_run_excluded_as_a_copy_does_not_hide_another() {
        let mut register = CopyRegister::default();
        let marks = RunMarks::of(&run(1, false));
        register.add(0, &marks);
        register.add(1, &marks);
        assert_eq!(register.find(&marks, |at| at != 0), Some(1));
    }
}
