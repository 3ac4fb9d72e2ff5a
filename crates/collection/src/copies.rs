//! Runs that are one measurement, sent again under another name, from another board or with a few
//! numbers changed: by what they are known, and the rule by which one is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use record::collection::{Model, Origin};
use record::{Histogram, MediumKind, Published};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model_of;

/// Points of a sketch: shares of the samples, in thousandths.
const POINTS: [u64; 16] =
    [5, 10, 25, 50, 100, 200, 300, 400, 600, 700, 800, 900, 950, 975, 990, 995];
/// Cells that a sketch takes, those with most I/Os.
const CELLS: usize = 6;
/// I/Os that a cell of a sketch has at least.
const SKETCHED: u64 = 300;
/// Places of a histogram from which on its counts are equal to others by no chance.
const DIFFERENT: usize = 20;
/// Two sketches whose logarithms differ by no more are of one measurement: a second one of the same
/// medium differs by the square root of its samples, in the tails by percents.
const COPY: f64 = 0.004;

/// The shapes of a run's latencies in little: by which a copy of it is found again, whatever else
/// is written beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSketch(Vec<CellSketch>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CellSketch {
    /// Logarithms of latency over median at [`POINTS`].
    logs: Vec<f32>,
}

impl CellSketch {
    fn is_like(&self, other: &CellSketch) -> bool {
        let mut pairs = self.logs.iter().zip(&other.logs);
        pairs.all(|(a, b)| f64::from((a - b).abs()) <= COPY)
    }
}

/// Cells of a run with most I/Os that have a histogram, the largest first.
fn largest(run: &Published) -> Vec<&Histogram> {
    let mut large: Vec<_> = run
        .cells
        .iter()
        .filter_map(|cell| Some((cell.id.as_str(), cell.histogram.as_ref()?)))
        .filter(|(_, histogram)| histogram.len() >= SKETCHED)
        .collect();
    large.sort_by(|(a, x), (b, y)| y.len().cmp(&x.len()).then_with(|| a.cmp(b)));
    large.truncate(CELLS);
    large.into_iter().map(|(_, histogram)| histogram).collect()
}

impl RunSketch {
    fn of(cells: &[&Histogram]) -> RunSketch {
        let sketch = |histogram: &&Histogram| {
            let at = |thousandths: u64| {
                let rank = (histogram.len() * thousandths).div_ceil(1000).max(1);
                (histogram.order_statistic(rank).max(1) as f64).ln()
            };
            let median = at(500);
            let logs = POINTS.iter().map(|point| (at(*point) - median) as f32).collect();
            CellSketch { logs }
        };
        RunSketch(cells.iter().map(sketch).collect())
    }

    /// Tells whether it says nothing: no run is a copy of one like that.
    pub fn is_empty(&self) -> bool {
        self.0.len() < 2
    }

    /// Tells whether two runs have the latencies of one measurement: at least two cells, and half of
    /// those of the smaller sketch, have a cell of the same shape in the other, whatever they are
    /// called.
    fn is_copy_of(&self, other: &RunSketch) -> bool {
        let mut theirs: Vec<&CellSketch> = other.0.iter().collect();
        let is_there = |mine: &&CellSketch| {
            let found = theirs.iter().position(|cell| mine.is_like(cell));
            found.map(|at| theirs.swap_remove(at)).is_some()
        };
        let alike = self.0.iter().filter(is_there).count();
        alike >= 2 && alike * 2 >= self.0.len().min(other.0.len())
    }
}

/// By what a run is known again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMarks {
    /// A mark for the latencies of each of its largest cells to the last count, 32 hexadecimal digits
    /// each: two runs that share one are of one measurement, whatever else was changed. None of a run
    /// with too few I/Os.
    pub exact: BTreeSet<String>,
    /// Their shapes.
    pub sketch: RunSketch,
    /// Whose runs the shapes are held against.
    model: Model,
    /// Simulated runs repeat to the byte.
    is_simulated: bool,
}

impl RunMarks {
    /// The marks of a run.
    pub fn of(run: &Published) -> RunMarks {
        let cells = largest(run);
        RunMarks {
            exact: cells.iter().filter_map(|histogram| mark(histogram)).collect(),
            sketch: RunSketch::of(&cells),
            model: model_of(run),
            is_simulated: Origin::of(run) == Origin::Simulated,
        }
    }

    /// Tells whether the run is of a simulated medium.
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }
}

/// The mark of a histogram; none of one whose counts may be those of another by chance.
fn mark(histogram: &Histogram) -> Option<String> {
    histogram.buckets().nth(DIFFERENT - 1)?;
    let mut text = String::new();
    for (ns, count) in histogram.buckets() {
        // Writing to a string does not fail.
        let _ = write!(text, "{ns}:{count} ");
    }
    let hash = Sha256::digest(text.as_bytes());
    Some(hash[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Runs of which another may be a copy, wherever they are kept.
pub trait KnownRuns {
    /// A name of a run.
    type Name;
    /// Why they cannot be looked through.
    type Error;

    /// Hands out the runs with one of these marks, the first that came in at the beginning, until
    /// one is taken.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn with_mark(
        &mut self,
        marks: &BTreeSet<String>,
        is_taken: &mut dyn FnMut(&Self::Name) -> bool,
    ) -> Result<Option<Self::Name>, Self::Error>;

    /// The same with the runs of a model, of whatever capacity, and their sketches; of many, the
    /// newest may be all that is looked through.
    ///
    /// # Errors
    /// Where they cannot be read.
    fn of_model(
        &mut self,
        model: &Model,
        is_taken: &mut dyn FnMut(&Self::Name, &RunSketch) -> bool,
    ) -> Result<Option<Self::Name>, Self::Error>;
}

/// The run of which one with these marks is a copy: with the latencies of a cell exactly, under any
/// name; or nearly, of the same model. `is_reason` says which count: not the run itself, nor one that
/// it replaces. `None` for runs with too few I/Os, and for simulated ones, which repeat to the byte;
/// an edited copy of a simulated run is found like any other.
///
/// # Errors
/// Where the known runs cannot be read.
pub fn find_copy<K: KnownRuns>(
    known: &mut K,
    marks: &RunMarks,
    is_reason: impl Fn(&K::Name) -> bool,
) -> Result<Option<K::Name>, K::Error> {
    if marks.is_simulated {
        return Ok(None);
    }
    if !marks.exact.is_empty()
        && let Some(found) = known.with_mark(&marks.exact, &mut |name| is_reason(name))?
    {
        return Ok(Some(found));
    }
    if marks.sketch.is_empty() {
        return Ok(None);
    }
    known.of_model(&marks.model, &mut |name, theirs| {
        is_reason(name) && marks.sketch.is_copy_of(theirs)
    })
}

/// Runs in memory, known by their numbers.
#[derive(Debug, Default)]
pub struct CopyRegister {
    exact: BTreeMap<String, Vec<usize>>,
    /// By kind, vendor and model.
    near: BTreeMap<(MediumKind, String, String), Vec<(usize, RunSketch)>>,
}

/// A model of whatever capacity.
fn of_any_size(model: &Model) -> (MediumKind, String, String) {
    (model.kind, model.vendor.clone(), model.model.clone())
}

impl CopyRegister {
    /// Takes a run in.
    pub fn add(&mut self, number: usize, marks: &RunMarks) {
        for mark in &marks.exact {
            self.exact.entry(mark.clone()).or_default().push(number);
        }
        if !marks.sketch.is_empty() {
            let near = self.near.entry(of_any_size(&marks.model)).or_default();
            near.push((number, marks.sketch.clone()));
        }
    }
}

impl KnownRuns for CopyRegister {
    type Name = usize;
    type Error = std::convert::Infallible;

    fn with_mark(
        &mut self,
        marks: &BTreeSet<String>,
        is_taken: &mut dyn FnMut(&usize) -> bool,
    ) -> Result<Option<usize>, Self::Error> {
        let found: BTreeSet<usize> =
            marks.iter().filter_map(|mark| self.exact.get(mark)).flatten().copied().collect();
        Ok(found.into_iter().find(|number| is_taken(number)))
    }

    fn of_model(
        &mut self,
        model: &Model,
        is_taken: &mut dyn FnMut(&usize, &RunSketch) -> bool,
    ) -> Result<Option<usize>, Self::Error> {
        let mut known = self.near.get(&of_any_size(model)).into_iter().flatten();
        Ok(known.find(|(number, sketch)| is_taken(number, sketch)).map(|(number, _)| *number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with three cells, whose latencies differ from `seed` to `seed`.
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
        find_copy(&mut register, &RunMarks::of(run), |_| true).unwrap()
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
    fn a_copy_with_an_io_more_in_each_cell_is_found_for_its_model_of_any_size() {
        let mut copy = run(1, false);
        for cell in &mut copy.cells {
            cell.histogram.as_mut().unwrap().record(400_010);
        }
        copy.capacity_bytes = Some(64_000_000_000);
        assert_eq!(found(&[run(1, false)], &copy), Some(0));
        copy.model = Some("other".to_owned());
        assert_eq!(found(&[run(1, false)], &copy), None);
    }

    #[test]
    fn a_simulated_run_is_no_copy_but_what_is_made_of_it_is() {
        let known = [run(1, true)];
        assert_eq!(found(&known, &run(1, true)), None);
        assert_eq!(found(&known, &run(1, false)), Some(0));
    }

    #[test]
    fn what_is_no_reason_does_not_hide_what_is() {
        let mut register = CopyRegister::default();
        let marks = RunMarks::of(&run(1, false));
        register.add(0, &marks);
        register.add(1, &marks);
        assert_eq!(find_copy(&mut register, &marks, |at| *at != 0), Ok(Some(1)));
    }
}
