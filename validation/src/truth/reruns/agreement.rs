//! Agreement among runs of one command: share of the figures of other runs that an interval
//! contains.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use record::units::significant;
use record::{Record, Summary};
use stats::{Random, median};

/// Least percent of the figures of other runs that the intervals should contain, and least lower end
/// of its 95 % interval by a bootstrap over runs.
const EXPECTED: [f64; 2] = [85.0, 75.0];
/// Widest median half-width at a steady rate, in percent.
const WIDEST: f64 = 4.0;
/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;

/// A figure in a summary, with the low and the high end of its interval.
type Field = fn(&Summary) -> [Option<f64>; 3];

/// Figures of a check: name, and its fields.
const FIGURES: [(&str, Field); 4] = [
    ("sequential read", |of| {
        [of.sequential_read_bps, of.sequential_read_bps_low, of.sequential_read_bps_high]
    }),
    ("sequential write", |of| {
        [of.sequential_write_bps, of.sequential_write_bps_low, of.sequential_write_bps_high]
    }),
    ("random read, 4 KiB", |of| {
        [of.random_read_4k_iops, of.random_read_4k_iops_low, of.random_read_4k_iops_high]
    }),
    ("random write, 4 KiB", |of| {
        [of.random_write_4k_iops, of.random_write_4k_iops_low, of.random_write_4k_iops_high]
    }),
];

/// A figure with its 95 % interval, in bytes a second or IOPS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    value: f64,
    ci95: Option<[f64; 2]>,
}

/// Figures of a check in the order of the table; `None` for missing ones.
pub type Figures = [Option<Figure>; 4];

/// Reads the figures of a record that was kept.
pub fn read(path: &Path) -> Result<Figures> {
    let reading = || format!("reading {}", path.display());
    let text = fs::read_to_string(path).with_context(reading)?;
    Ok(figures(&Record::from_json(&text).with_context(reading)?))
}

fn figures(record: &Record) -> Figures {
    let summary = findings::Analysis::of(record, &[]).summary;
    FIGURES.map(|(_, field)| {
        let [value, low, high] = field(&summary);
        Some(Figure { value: value?, ci95: low.zip(high).map(|(low, high)| [low, high]) })
    })
}

/// Figures in one line, to show progress.
pub fn in_words(figures: Figures) -> String {
    let figure = |((name, _), figure): (_, Option<Figure>)| {
        format!("{name} {}", figure.map_or("-".to_owned(), |figure| significant(figure.value)))
    };
    FIGURES.into_iter().zip(figures).map(figure).collect::<Vec<_>>().join("; ")
}

/// How well the intervals of one figure predict the other runs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Agreement {
    /// Percent of the figures of other runs that are inside a run's interval.
    inside: f64,
    /// Median half-width of the intervals, in percent of the logarithm.
    half_width: f64,
    /// Standard deviation of the figures, in percent of the logarithm.
    deviation: f64,
}

impl Agreement {
    /// Agreement of the runs of one target in one figure; `None` for fewer than two, or if none has
    /// an interval.
    fn of(runs: &[Figure]) -> Option<Agreement> {
        let figures: Vec<[Option<Figure>; 1]> = runs.iter().map(|run| [Some(*run)]).collect();
        let all: Vec<usize> = (0..runs.len()).collect();
        let inside = inside(&figures, &all)?;
        let ends = runs.iter().filter_map(|run| run.ci95);
        let mut half_widths: Vec<f64> = ends.map(|[low, high]| (high / low).ln() / 2.0).collect();
        Some(Agreement {
            inside,
            half_width: 100.0 * median(&mut half_widths)?,
            deviation: 100.0 * deviation(runs.iter().map(|run| run.value.ln())),
        })
    }
}

/// Percent of the pairs of runs of these numbers, in all figures, in which the second is inside the
/// interval of the first; `None` without any.
fn inside<const N: usize>(runs: &[[Option<Figure>; N]], numbers: &[usize]) -> Option<f64> {
    let (mut held, mut pairs) = (0, 0);
    for (&a, &b) in numbers.iter().flat_map(|a| numbers.iter().map(move |b| (a, b))) {
        for (of_a, of_b) in runs[a].iter().zip(&runs[b]).filter(|_| a != b) {
            let ends = of_a.and_then(|of_a| of_a.ci95);
            let Some(([low, high], of_b)) = ends.zip(*of_b) else { continue };
            pairs += 1;
            held += u64::from((low..=high).contains(&of_b.value));
        }
    }
    (pairs > 0).then(|| 100.0 * held as f64 / pairs as f64)
}

/// Standard deviation of a sample of two or more.
fn deviation(samples: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = samples.clone().count() as f64;
    let mean = samples.clone().sum::<f64>() / n;
    (samples.map(|sample| (sample - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// The runs of one target.
pub struct Series {
    /// Name of the target.
    pub name: &'static str,
    /// True if its rate is steady, so that an interval can be too wide.
    pub is_steady: bool,
    /// Figures of each run.
    pub runs: Vec<Figures>,
}

impl Series {
    /// Names of the figures with the agreement of the runs.
    fn agreements(&self) -> impl Iterator<Item = (&'static str, Option<Agreement>)> {
        let of = |at: usize| self.runs.iter().filter_map(|run| run[at]).collect::<Vec<_>>();
        FIGURES.iter().enumerate().map(move |(at, (name, _))| (*name, Agreement::of(&of(at))))
    }

    /// Its line in the table.
    fn line(&self) -> String {
        let cell = |(_, agreement): (_, Option<Agreement>)| match agreement {
            None => " - |".to_owned(),
            Some(Agreement { inside, half_width, deviation }) => {
                format!(" {inside:.0} ({half_width:.1}, {deviation:.1}) |")
            }
        };
        let cells: String = self.agreements().map(cell).collect();
        let all = self.inside_of_all().map_or("-".to_owned(), |[inside, low, high]| {
            format!("{inside:.0} ({low:.0} to {high:.0})")
        });
        format!("| {} | {} |{cells} {all} |", self.name, self.runs.len())
    }

    /// Percent of all pairs that are inside, with the ends of its 95 % interval by a bootstrap over
    /// runs.
    fn inside_of_all(&self) -> Option<[f64; 3]> {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        let held = inside(&self.runs, &all)?;
        let mut random = Random::new(all.len() as u64);
        let mut drawn: Vec<f64> = (0..RESAMPLES)
            .filter_map(|_| {
                let runs = all.iter().map(|_| random.below(all.len() as u64) as usize);
                inside(&self.runs, &runs.collect::<Vec<_>>())
            })
            .collect();
        drawn.sort_unstable_by(f64::total_cmp);
        let end = |share: f64| drawn.get((share * drawn.len() as f64) as usize).copied();
        Some([held, end(0.025)?, end(0.975)?])
    }

    /// Goals that it misses.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        match self.inside_of_all() {
            None => missed.push(format!("{}: no intervals to count", self.name)),
            Some([inside, low, _]) if inside < EXPECTED[0] || low <= EXPECTED[1] => {
                missed.push(format!("{}: {inside:.0} % inside, from {low:.0} %", self.name));
            }
            Some(_) => {}
        }
        for (figure, agreement) in self.agreements() {
            let mut miss = |what: String| missed.push(format!("{}, {figure}: {what}", self.name));
            let Some(Agreement { half_width, .. }) = agreement else { continue };
            if self.is_steady && half_width > WIDEST {
                miss(format!("a half-width of {half_width:.1} %"));
            }
        }
        missed
    }
}

/// Makes the table, with the goals below; `command` is what made the runs, `card` the profile of the
/// emulated card.
pub fn table(command: &str, card: &str, series: &[Series]) -> String {
    let heads = FIGURES.map(|(head, _)| format!(" {head} |")).concat();
    let mut text = format!(
        "`{command}`: percent of the figures of other runs that lie inside\n\
         the 95 % interval of a run; in parentheses the median half-width of the intervals and the standard\n\
         deviation of the runs, both in percent of the logarithm. `card`: an ext4 on the simulated medium\n\
         {card}, attached as a block device. `directory`: on the system's disk. `busy`: beside four busy loops.\n\n\
         | target | runs |{heads} all, by a bootstrap |\n|---|---:|---:|---:|---:|---:|---:|\n"
    );
    series.iter().for_each(|of| text += &format!("{}\n", of.line()));
    let missed: Vec<String> = series.iter().flat_map(Series::missed).collect();
    let goals = match missed.as_slice() {
        [] => "None is missed.".to_owned(),
        missed => format!("Missed:\n\n- {}", missed.join("\n- ")),
    };
    writeln!(
        text,
        "\nGoals: {} % inside, from {} % on; on `card` a half-width of at most {WIDEST} %. {goals}",
        EXPECTED[0], EXPECTED[1],
    )
    .ok();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(value: f64, low: f64, high: f64) -> Figure {
        Figure { value, ci95: Some([low, high]) }
    }

    #[test]
    fn figures_are_read_from_the_summary() {
        let summary = Summary {
            sequential_read_bps: Some(10.0),
            sequential_read_bps_low: Some(9.0),
            sequential_read_bps_high: Some(12.0),
            random_write_4k_iops: Some(3.0),
            random_write_4k_iops_low: Some(2.0),
            ..Summary::default()
        };
        let record = Record { summary: Some(summary), ..Record::new(record::Run::default()) };
        let write = Figure { value: 3.0, ci95: None };
        let read = figures(&record);
        assert_eq!(read, [Some(figure(10.0, 9.0, 12.0)), None, None, Some(write)]);
        insta::assert_snapshot!(in_words(read), @"sequential read 10.0; sequential write -; random read, 4 KiB -; random write, 4 KiB 3.00");
    }

    #[test]
    fn a_run_is_held_against_every_other_and_never_against_itself() {
        // The first interval contains one of two others, the second both, the third none.
        let mut runs = [figure(10.0, 9.0, 11.0), figure(11.0, 5.0, 20.0), figure(15.0, 14.0, 16.0)];
        assert_eq!(Agreement::of(&runs).unwrap().inside, 50.0);
        assert_eq!(Agreement::of(&runs[..1]), None);
        runs[1].ci95 = None;
        assert_eq!(Agreement::of(&runs).unwrap().inside, 25.0);
        runs.iter_mut().for_each(|run| run.ci95 = None);
        assert_eq!(Agreement::of(&runs), None);
    }

    #[test]
    fn widths_and_deviations_are_those_of_the_logarithm() {
        let e = std::f64::consts::E;
        let runs = [figure(1.0, 1.0 / e, e), figure(e * e, e, e.powi(5))];
        let agreement = Agreement::of(&runs).unwrap();
        // Half-widths 1 and 2; logarithms 0 and 2, whose deviation is the root of two.
        assert!((agreement.half_width - 150.0).abs() < 1e-9, "{agreement:?}");
        assert!((agreement.deviation - 100.0 * 2f64.sqrt()).abs() < 1e-9, "{agreement:?}");
    }

    /// Runs of one figure, each with an interval of this factor on both sides.
    fn series(name: &'static str, values: &[f64], factor: f64) -> Series {
        let run = |value: &f64| [Some(figure(*value, value / factor, value * factor)); 4];
        Series { name, is_steady: name == "card", runs: values.iter().map(run).collect() }
    }

    #[test]
    fn the_table_has_a_line_a_target_and_the_goals_below() {
        let mut bare = series("directory-busy", &[100.0, 101.0], 1.001);
        bare.runs.iter_mut().for_each(|run| run[1] = None);
        let steady = series("card", &[100.0, 101.0, 103.0], 1.021);
        insta::assert_snapshot!(table("truth --reruns", "a1", &[steady, bare]), @r"
        `truth --reruns`: percent of the figures of other runs that lie inside
        the 95 % interval of a run; in parentheses the median half-width of the intervals and the standard
        deviation of the runs, both in percent of the logarithm. `card`: an ext4 on the simulated medium
        a1, attached as a block device. `directory`: on the system's disk. `busy`: beside four busy loops.

        | target | runs | sequential read | sequential write | random read, 4 KiB | random write, 4 KiB | all, by a bootstrap |
        |---|---:|---:|---:|---:|---:|---:|
        | card | 3 | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (0 to 100) |
        | directory-busy | 2 | 0 (0.1, 0.7) | - | 0 (0.1, 0.7) | 0 (0.1, 0.7) | 0 (0 to 0) |

        Goals: 85 % inside, from 75 % on; on `card` a half-width of at most 4 %. Missed:

        - card: 67 % inside, from 0 %
        - directory-busy: 0 % inside, from 0 %
        ");
    }

    #[test]
    fn intervals_that_are_too_wide_count_where_the_rate_is_steady() {
        let mut rates: Vec<f64> = (0..20).map(|number| 100.0 + f64::from(number % 3)).collect();
        assert_eq!(series("card", &rates, 1.03).missed(), [""; 0]);
        assert_eq!(series("directory", &rates, 1.05).missed(), [""; 0]);
        assert_eq!(series("card", &rates, 1.05).missed().len(), 4);
        // 18 of 19 others are inside for 19 runs, none for the odd one: 90 %, but from 72 % on.
        rates[0] = 130.0;
        assert_eq!(
            series("directory", &rates, 1.05).missed(),
            ["directory: 90 % inside, from 72 %"]
        );
    }
}
