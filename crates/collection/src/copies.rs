//! Detection of copies: runs that are one measurement, sent again under another name, from another
//! board or with a few numbers changed.

mod register;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use record::collection::{Model, Origin};
use record::{Histogram, Published};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use register::CopyRegister;

use crate::model_of;

/// Quantiles of a sketch: shares of the samples, in thousandths.
const POINTS: [u64; 16] =
    [5, 10, 25, 50, 100, 200, 300, 400, 600, 700, 800, 900, 950, 975, 990, 995];
/// Most cells in a sketch, those with most I/Os.
const CELLS: usize = 8;
/// Least number of I/Os in a cell of a sketch: with fewer, the first two quantiles coincide.
const SKETCHED: u64 = 101;
/// Least number of distinct latencies with which two histograms are not equal by chance.
const DIFFERENT: usize = 20;
/// Quantiles of a sketch without the tails, as indices into [`POINTS`].
const INNER: std::ops::Range<usize> = 3..13;
/// Number of consecutive rates that are not equal by chance, although a tool prints only three
/// digits.
const RATES: usize = 6;
/// Difference between neighbouring latencies in a histogram, as a logarithm.
const GRAIN: f64 = 0.001;
/// Largest ratio between the sample counts of two cells that are compared.
const NEAR_COUNTS: f64 = 1.5;
/// Largest factor by which the logarithms of a copy may be stretched.
const MAX_STRETCH: f64 = 1.1;
/// Two sketches are of one measurement below this mean of the squared differences of their shares,
/// divided by the variance that two measurements of one medium have with so many samples. Of 3,747
/// pairs of cells (six simulated media with six seeds each, and a disk with three runs) none was
/// below 0.17. A copy with each latency changed by 1 % had a median of 0.06 to 0.17, but 1.2 on an
/// SSD.
const COPY: f64 = 0.15;

/// Shapes of a run's latency distributions, reduced to a few quantiles: they identify a copy of the
/// run, whatever else is changed in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSketch(Vec<CellSketch>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct CellSketch {
    /// Number of samples.
    samples: u64,
    /// Logarithms of latency divided by median, at [`POINTS`].
    logs: Vec<f32>,
}

impl CellSketch {
    fn of(histogram: &Histogram) -> CellSketch {
        let samples = histogram.len();
        let at = |thousandths: u64| {
            let rank = (samples * thousandths).div_ceil(1000).max(1);
            (histogram.order_statistic(rank).max(1) as f64).ln()
        };
        let median = at(500);
        let logs = POINTS.iter().map(|point| (at(*point) - median) as f32).collect();
        CellSketch { samples, logs }
    }

    /// True if it can be distinguished from others. With only a few distinct latencies, as from a
    /// coarse clock or a bus, quantiles are equal by chance.
    fn is_smooth(&self) -> bool {
        let inner = self.logs.get(INNER).unwrap_or_default();
        !inner.is_empty() && inner.windows(2).all(|pair| f64::from(pair[1] - pair[0]) >= GRAIN)
    }

    /// True if two cells have the same shape. Few smooth samples resemble any measurement of the
    /// medium with many, so only similar sample counts are compared.
    fn is_like(&self, other: &CellSketch) -> bool {
        let (few, many) = (self.samples.min(other.samples), self.samples.max(other.samples));
        let is_whole = |sketch: &CellSketch| sketch.logs.len() == POINTS.len();
        is_whole(self)
            && is_whole(other)
            && many as f64 <= few as f64 * NEAR_COUNTS
            && self.difference(other).min(other.difference(self)) < COPY
    }

    /// Mean over the quantiles of the squared difference of the shares of samples, divided by its
    /// variance in two measurements of one medium. `other` is first stretched by up to
    /// [`MAX_STRETCH`] to fit.
    fn difference(&self, other: &CellSketch) -> f64 {
        let (n, m) = (self.samples as f64, other.samples as f64);
        let effective = n * m / (n + m);
        let share = |at: usize| POINTS[at] as f64 / 1000.0;
        let pairs =
            || self.logs.iter().zip(&other.logs).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let product: f64 = pairs().map(|(a, b)| a * b).sum();
        let stretch = product / pairs().map(|(_, b)| b * b).sum::<f64>().max(f64::MIN_POSITIVE);
        let stretch = stretch.clamp(1.0 / MAX_STRETCH, MAX_STRETCH);
        let pairs: Vec<(f64, f64)> = pairs().map(|(a, b)| (a, b * stretch)).collect();
        let log = |at: usize| (pairs[at].0 + pairs[at].1) / 2.0;
        let last = POINTS.len() - 1;
        let squared = |at: usize| {
            let (before, after) = (at.saturating_sub(1), (at + 1).min(last));
            let width = (log(after) - log(before)).max(GRAIN);
            let density = (share(after) - share(before)) / width;
            let difference = (pairs[at].0 - pairs[at].1) * density;
            difference * difference * effective / (share(at) * (1.0 - share(at)))
        };
        (0..=last).map(squared).sum::<f64>() / POINTS.len() as f64
    }
}

/// Histograms of the cells with most I/Os, the largest first.
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
        let distinctive = cells.iter().filter(|histogram| has_many_places(histogram));
        let sketches = distinctive.map(|histogram| CellSketch::of(histogram));
        RunSketch(sketches.filter(CellSketch::is_smooth).collect())
    }

    /// True if it has too few cells to identify a run: no run is then found to be its copy.
    pub fn is_empty(&self) -> bool {
        self.0.len() < 2
    }

    /// True if two runs have the latencies of one measurement: at least two cells, and at least
    /// half of the smaller sketch, can be paired with cells of the same shape, whatever their
    /// names. The relation is symmetric.
    fn is_copy_of(&self, other: &RunSketch) -> bool {
        let alike = most_pairs(&self.0, &other.0);
        alike >= 2 && alike * 2 >= self.0.len().min(other.0.len())
    }
}

/// Largest number of disjoint pairs of like cells (Kuhn's algorithm).
fn most_pairs(ours: &[CellSketch], theirs: &[CellSketch]) -> usize {
    fn pair(
        at: usize,
        like: &[Vec<usize>],
        seen: &mut BTreeSet<usize>,
        of: &mut [Option<usize>],
    ) -> bool {
        like[at].iter().any(|other| {
            let found =
                seen.insert(*other) && of[*other].is_none_or(|before| pair(before, like, seen, of));
            if found {
                of[*other] = Some(at);
            }
            found
        })
    }
    let like_of =
        |mine: &CellSketch| (0..theirs.len()).filter(|at| mine.is_like(&theirs[*at])).collect();
    let like: Vec<Vec<usize>> = ours.iter().map(like_of).collect();
    let mut of = vec![None; theirs.len()];
    (0..ours.len()).filter(|at| pair(*at, &like, &mut BTreeSet::new(), &mut of)).count()
}

/// Marks by which a run is recognised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMarks {
    /// Hashes of the exact histogram of each of its largest cells, 32 hexadecimal digits each. Two
    /// runs that share one are of one measurement, whatever else was changed. Empty for a run with
    /// too few I/Os.
    pub exact: BTreeSet<String>,
    /// Shapes of these cells.
    pub sketch: RunSketch,
    /// Model of the medium; shapes are compared only with runs of the same model.
    model: Model,
    /// True for a simulated run: these repeat to the byte.
    is_simulated: bool,
}

impl RunMarks {
    /// Computes the marks of a run.
    pub fn of(run: &Published) -> RunMarks {
        let cells = largest(run);
        RunMarks {
            exact: if cells.is_empty() && !run.software.is_flashmark() {
                marks_of_rates(run)
            } else {
                cells.iter().filter_map(|histogram| mark(histogram)).collect()
            },
            sketch: RunSketch::of(&cells),
            model: model_of(run),
            is_simulated: Origin::of(run) == Origin::Simulated,
        }
    }

    /// True if the run is of a simulated medium.
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    /// True if the run may be a copy of a run that is simulated, or not, as given.
    pub fn may_copy(&self, is_simulated: bool) -> bool {
        !(self.is_simulated && is_simulated)
    }

    /// Model of the medium, to whose runs the shapes are compared.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

/// True if the histogram has enough distinct latencies not to equal another by chance.
fn has_many_places(histogram: &Histogram) -> bool {
    histogram.buckets().nth(DIFFERENT - 1).is_some()
}

/// Hash of a histogram; `None` if its counts may equal others by chance.
fn mark(histogram: &Histogram) -> Option<String> {
    if !has_many_places(histogram) {
        return None;
    }
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

/// Store of runs in which copies are searched.
pub trait KnownRuns {
    /// Name of a run in this store.
    type Name;
    /// Error if the store cannot be read.
    type Error;

    /// Calls back with the runs that [count](RunMarks::may_copy) and share one of these marks, the
    /// oldest first, until one is accepted.
    ///
    /// # Errors
    /// If the runs cannot be read.
    fn with_mark(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&Self::Name) -> bool,
    ) -> Result<Option<Self::Name>, Self::Error>;

    /// Calls back with the measured runs of the model, of any capacity, and their sketches. If
    /// there are many, the search may be limited to the newest. Simulated runs do not count:
    /// anybody can make one that resembles all measurements of a medium.
    ///
    /// # Errors
    /// If the runs cannot be read.
    fn of_model(
        &mut self,
        marks: &RunMarks,
        is_taken: &mut dyn FnMut(&Self::Name, &RunSketch) -> bool,
    ) -> Result<Option<Self::Name>, Self::Error>;
}

/// Finds the run of which the run with these marks is a copy: one with exactly the latencies of a
/// cell, under any name; or nearly these, of the same model. `may_be_original` selects the runs
/// that count: not the run itself, nor one that it replaces. `None` for runs with too few I/Os.
/// Simulated runs repeat to the byte, so they are compared with measured ones only: a run that is
/// marked simulated may be a copy of a measurement, and a measurement one of a simulation.
///
/// # Errors
/// If the known runs cannot be read.
pub fn find_copy<K: KnownRuns>(
    known: &mut K,
    marks: &RunMarks,
    may_be_original: impl Fn(&K::Name) -> bool,
) -> Result<Option<K::Name>, K::Error> {
    if !marks.exact.is_empty()
        && let Some(found) = known.with_mark(marks, &mut |name| may_be_original(name))?
    {
        return Ok(Some(found));
    }
    if marks.sketch.is_empty() {
        return Ok(None);
    }
    known.of_model(marks, &mut |name, theirs| {
        may_be_original(name) && marks.sketch.is_copy_of(theirs)
    })
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

    /// Regression: a measurement sent again as simulated put the measurement in quarantine.
    #[test]
    fn a_measurement_called_simulated_is_a_copy_of_it() {
        assert_eq!(found(&[run(1, false)], &run(1, true)), Some(0));
    }

    /// A run of a slow card with `ios` I/Os in each of three cells. `latency` turns a standard
    /// normal number into a latency.
    fn drawn(draw: u64, ios: u64, latency: &mut dyn FnMut(f64) -> f64) -> Published {
        let mut random = stats::Random::for_purpose(draw, "a slow card");
        let mut run = run(1, false);
        for (at, cell) in run.cells.iter_mut().enumerate() {
            let mut histogram = Histogram::default();
            for _ in 0..ios + at as u64 {
                histogram.record(latency(random.normal()) as u64);
            }
            cell.histogram = Some(histogram);
        }
        run
    }

    #[test]
    fn a_copy_with_a_percent_of_noise_is_found_and_a_second_measurement_is_none() {
        let measured = |draw| drawn(draw, 120, &mut |normal| 3e6 * (0.4 * normal).exp());
        let known: Vec<Published> = (0..30).map(measured).collect();
        let mut others = (30..60).map(measured);
        assert!(others.all(|run| found(&known, &run).is_none()));
        let is_found = |draw: &u64| {
            let draw = *draw;
            let mut noise = stats::Random::for_purpose(draw, "noise");
            let mut noisy =
                |normal: f64| 3e6 * (0.4 * normal).exp() * 1.07 * (1.0 + 0.01 * noise.normal());
            found(&known, &drawn(draw, 120, &mut noisy)) == Some(draw as usize)
        };
        let caught = (0..30).filter(is_found).count();
        assert!(caught >= 25, "{caught} of 30");
    }

    #[test]
    fn cells_that_are_alike_on_all_media_prove_no_copy() {
        let narrow = |draw| drawn(draw, 500, &mut |normal| 3e6 * (0.0005 * normal).exp());
        assert_eq!(found(&[narrow(1)], &narrow(2)), None);
        // Two modes, each as sharp as a clock; and the frames of a bus.
        let modes = |normal: f64| if normal > 1.0 { 5e6 } else { 1e6 } * (1.0 + 2e-4 * normal);
        let frames = |normal: f64| (8.0 + (normal + 1.0).clamp(0.0, 2.0).round()) * 125e3;
        for (draw, other) in (0..20).flat_map(|draw| (20..40).map(move |other| (draw, other))) {
            let sharp = |draw| drawn(draw, 1000, &mut |normal| modes(normal));
            let framed = |draw| drawn(draw, 1000, &mut |normal| frames(normal));
            assert_eq!(found(&[sharp(draw)], &sharp(other)), None);
            assert_eq!(found(&[framed(draw)], &framed(other)), None);
        }
    }

    /// Regression: a smooth record with few I/Os resembled each later measurement of the medium.
    #[test]
    fn few_smooth_ios_are_like_no_measurement() {
        let mut rank = 0.0;
        let smooth = drawn(0, 150, &mut |_| {
            rank = (rank + 1.0) % 150.0;
            2e6 * (1.0 + 0.8 * (rank + 0.5) / 150.0)
        });
        for draw in 1..20 {
            let mut random = stats::Random::for_purpose(draw, "uniform");
            let measured = drawn(draw, 2000, &mut |_| 2e6 * (1.0 + 0.8 * random.unit()));
            assert_eq!(found(std::slice::from_ref(&smooth), &measured), None);
        }
    }

    #[test]
    fn a_copy_that_is_stretched_is_found() {
        let measured = |stretch: f64| {
            drawn(1, 1000, &mut |normal| {
                3e6 * (stretch * (0.3 * normal + 0.1 * normal.powi(3))).exp()
            })
        };
        assert_eq!(found(&[measured(1.0)], &measured(1.06)), Some(0));
    }

    /// Regression: a run was a copy of another, but not the other way round.
    #[test]
    fn pairs_are_as_many_either_way_round() {
        let sketch = |histogram: fn(f64) -> f64| {
            let run = drawn(1, 500, &mut |normal| histogram(normal));
            CellSketch::of(run.cells[0].histogram.as_ref().unwrap())
        };
        let (broad, broader) =
            (sketch(|it| 1e6 * (0.40 * it).exp()), sketch(|it| 1e6 * (0.46 * it).exp()));
        let between = sketch(|it| 1e6 * (0.43 * it).exp());
        assert!(broad.is_like(&between) && broader.is_like(&between));
        let (ours, theirs) = ([broad.clone(), between.clone()], [between, broad]);
        assert_eq!(most_pairs(&ours, &theirs), 2);
        assert_eq!(most_pairs(&theirs, &ours), 2);
        assert_eq!(most_pairs(&ours, &[broader]), 1);
    }

    proptest::proptest! {
        /// Regression: a cell was like another, but not the other way round.
        #[test]
        fn likeness_is_the_same_either_way_round(
            sigma in 0.3f64..0.5,
            other in 0.3f64..0.5,
            bend in 0.0f64..0.1,
        ) {
            let sketch = |latency: &mut dyn FnMut(f64) -> f64| {
                CellSketch::of(drawn(1, 500, latency).cells[0].histogram.as_ref().unwrap())
            };
            let one = sketch(&mut |normal| 1e6 * (sigma * normal).exp());
            let bent = sketch(&mut |normal| 1e6 * (other * normal + bend * normal * normal).exp());
            proptest::prop_assert_eq!(one.is_like(&bent), bent.is_like(&one));
        }
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
        assert_eq!(find_copy(&mut register, &marks, |at| *at != 0), Ok(Some(1)));
    }
}
