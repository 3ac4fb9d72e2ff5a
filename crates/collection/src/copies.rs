//! Detection of copies: runs that are one measurement, sent again under another name, from another
//! board or with a few cells changed. Two runs with the same latencies in a cell are one
//! measurement; a copy whose latencies were changed is for a reviewer to find.

use std::collections::{BTreeMap, BTreeSet};

use record::collection::{Origin, RunHeadline};
use record::{Histogram, Published};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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
    /// Hashes of the histogram of each of its cells, 32 hexadecimal digits each. Two runs that share
    /// one are of one measurement, whatever else was changed. Empty for a run with too few I/Os.
    pub exact: BTreeSet<String>,
    /// True for a simulated run: these repeat to the byte.
    is_simulated: bool,
}

impl RunMarks {
    /// Computes the marks of a run.
    pub fn of(run: &Published) -> RunMarks {
        let histograms = run.cells.iter().filter_map(|cell| cell.histogram.as_ref());
        let mut exact: BTreeSet<String> = histograms.filter_map(mark).collect();
        if exact.is_empty() && !run.software.is_flashmark() {
            exact = marks_of_rates(run);
        }
        RunMarks { exact, is_simulated: Origin::of(run) == Origin::Simulated }
    }

    /// True if the run is of a simulated medium.
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }
}

/// Hash of a histogram; `None` if its counts may equal others by chance.
fn mark(histogram: &Histogram) -> Option<String> {
    histogram.buckets().nth(DIFFERENT - 1).filter(|_| histogram.len() >= MARKED)?;
    let counts = histogram.buckets().flat_map(|(ns, count)| [ns, count]);
    Some(mark_of(&counts.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()))
}

/// Hashes for a run of another tool without latencies: one for each [`RATES`] consecutive rates.
fn marks_of_rates(run: &Published) -> BTreeSet<String> {
    let metrics = run.cells.iter().map(|cell| &cell.metrics);
    let rates: Vec<f64> =
        metrics.filter_map(|metrics| Some(metrics.bps.or(metrics.iops)?.value)).collect();
    rates.windows(RATES).map(|rates| mark_of(format!("{rates:?}").as_bytes())).collect()
}

fn mark_of(bytes: &[u8]) -> String {
    record::text::hex(&Sha256::digest(bytes)[..16])
}

/// A run beside others.
pub struct MarkedRun<'a, N> {
    /// Its marks.
    pub marks: &'a RunMarks,
    /// Name under which it stands.
    pub name: N,
    /// Its account; `None` if the publisher answers for it.
    pub sender: Option<&'a str>,
    /// What it says of the medium.
    pub headline: &'a RunHeadline,
    /// True if a person who may decide says that it counts.
    pub is_settled: bool,
}

/// Reason why a run does not count beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// Its measurement counts already, as this run.
    Counted(usize),
    /// Its measurement is also under another name, or another account's with other figures, as this
    /// run; a person has to say which is right.
    Otherwise(usize),
}

/// Of runs in the order in which they were received, each that does not count, and why. A
/// measurement counts once, whoever sent it: first what is settled, then what was first. Simulated
/// runs repeat to the byte: they are held against measured ones only.
pub fn again<N: PartialEq>(runs: &[MarkedRun<N>]) -> BTreeMap<usize, Again> {
    let mut by_mark: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        run.marks.exact.iter().for_each(|mark| by_mark.entry(mark).or_default().push(at));
    }
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|at| !runs[*at].is_settled);
    let (mut found, mut counts) = (BTreeMap::new(), vec![false; runs.len()]);
    for at in order {
        let MarkedRun { marks, name, sender, headline, is_settled } = &runs[at];
        let same = || {
            let same = marks.exact.iter().flat_map(|mark| &by_mark[mark.as_str()]).copied();
            let is_measured =
                |other: usize| !(marks.is_simulated && runs[other].marks.is_simulated);
            same.filter(move |other| *other != at && is_measured(*other))
        };
        // One's own run may have come before it was complete.
        let is_otherwise = |other: &MarkedRun<N>| {
            other.name != *name || (other.sender != *sender && other.headline != *headline)
        };
        let otherwise = same().find(|other| is_otherwise(&runs[*other]) && !is_settled);
        let known = || same().find(|other| counts[*other] && runs[*other].name == *name);
        match otherwise.map(Again::Otherwise).or_else(|| known().map(Again::Counted)) {
            Some(why) => drop(found.insert(at, why)),
            None => counts[at] = true,
        }
    }
    found
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

    /// Which of runs with these names do not count; of `name by sender`, those of this account.
    fn not_counted(runs: &[(&Published, &str)]) -> Vec<(usize, Again)> {
        let marks: Vec<RunMarks> = runs.iter().map(|(run, _)| RunMarks::of(run)).collect();
        let headlines: Vec<RunHeadline> =
            runs.iter().map(|(run, _)| findings::headline(&run.to_record("a"))).collect();
        let marked =
            (marks.iter().zip(&headlines)).zip(runs).map(|((marks, headline), (_, name))| {
                let (name, sender) = name.split_once(" by ").unwrap_or((name, "ada"));
                MarkedRun {
                    marks,
                    name,
                    sender: Some(sender),
                    headline,
                    is_settled: name == "settled",
                }
            });
        again(&marked.collect::<Vec<_>>()).into_iter().collect()
    }

    #[test]
    fn one_measurement_counts_once_under_one_name_and_not_at_all_under_two() {
        let (one, other) = (run(1, false), run(2, false));
        let mut part = other.clone();
        part.cells.truncate(1);
        part.cells[0].id = "another".to_owned();
        let of = |names: [&str; 3]| {
            not_counted(&[(&one, names[0]), (&other, names[1]), (&part, names[2])])
        };
        assert_eq!(of(["a", "a", "a"]), [(2, Again::Counted(1))]);
        assert_eq!(of(["a", "b", "a"]), [(1, Again::Otherwise(2)), (2, Again::Otherwise(1))]);
        assert_eq!(of(["a", "b", "settled"]), [(1, Again::Otherwise(2))], "a reviewer has decided");
        assert_eq!(not_counted(&[(&one, "a"), (&other, "b"), (&run(3, false), "c")]), []);
    }

    /// Regression: one cell of an open request in a record of one's own, merged first, took the
    /// voice of who had measured it.
    #[test]
    fn a_cell_of_another_account_beside_other_figures_takes_no_voice() {
        let text = include_str!("../../../fixtures/records/check-a1.json");
        let mut honest = Published::from(&record::Record::from_json(text).unwrap());
        (honest.kind, honest.target) = (MediumKind::Sd, record::TargetKind::Block);
        (honest.profile, honest.engine) = (None, None);
        let is_marked =
            |cell: &record::Cell| cell.histogram.as_ref().is_some_and(|it| mark(it).is_some());
        let mut stolen = honest.clone();
        let taken = stolen.cells.iter().find(|cell| is_marked(cell)).unwrap().id.clone();
        stolen.cells.retain(|cell| cell.id == taken || !is_marked(cell));
        let both = [(0, Again::Otherwise(1)), (1, Again::Otherwise(0))];
        assert_eq!(not_counted(&[(&stolen, "a by mallory"), (&honest, "a by ada")]), both);
        let own = [(&stolen, "a by ada"), (&honest, "a by ada")];
        assert_eq!(
            not_counted(&own),
            [(1, Again::Counted(0))],
            "a part that came before the whole"
        );
        let alike = [(&honest, "a by ada"), (&honest, "a by bea")];
        assert_eq!(not_counted(&alike), [(1, Again::Counted(0))], "one vote, whoever sent it");
    }

    /// Regression: a measurement sent again as simulated kept the measurement out.
    #[test]
    fn simulated_runs_repeat_but_are_no_measurements() {
        let (simulated, measured) = (run(1, true), run(1, false));
        assert_eq!(not_counted(&[(&simulated, "s"), (&simulated, "s")]), []);
        let both = [(0, Again::Otherwise(1)), (1, Again::Otherwise(0))];
        assert_eq!(not_counted(&[(&simulated, "s"), (&measured, "a")]), both);
    }

    #[test]
    fn a_run_without_latencies_is_known_by_its_rates() {
        let rated = |factor: f64| {
            let mut run = run(1, false);
            run.software.name = "dd".to_owned();
            let of = |at: u32| {
                let value = factor * f64::from(at);
                let iops = Some(record::Estimate::of(value, 0));
                let metrics = record::Metrics { iops, ..record::Metrics::default() };
                record::Cell { histogram: None, metrics, ..run.cells[0].clone() }
            };
            run.cells = (1..=8).map(of).collect();
            run
        };
        let mut copy = rated(43.5);
        copy.model = Some("other".to_owned());
        copy.cells.remove(0);
        assert_eq!(not_counted(&[(&rated(43.5), "a"), (&copy, "a")]), [(1, Again::Counted(0))]);
        assert_eq!(not_counted(&[(&rated(43.5), "a"), (&rated(43.6), "a")]), []);
    }
}
