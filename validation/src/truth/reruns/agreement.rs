//! Agreement among runs of one command: share of the figures of other runs that an interval
//! contains.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use record::units::significant;
use record::{Record, Summary};

/// Percent of the figures of other runs that a 95 % interval should contain.
const EXPECTED: std::ops::RangeInclusive<f64> = 90.0..=98.0;
/// Widest interval at a steady rate, in standard deviations.
const WIDEST: f64 = 4.0;

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
    FIGURES.map(|(_, field)| {
        let [value, low, high] = field(record.summary.as_ref()?);
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
    /// Mean half-width of the intervals, in percent of the logarithm.
    half_width: f64,
    /// Standard deviation of the figures, in percent of the logarithm.
    deviation: f64,
}

impl Agreement {
    /// Agreement of the runs of one target; `None` for fewer than two, or if none has an interval.
    fn of(runs: &[Figure]) -> Option<Agreement> {
        let intervals: Vec<(usize, [f64; 2])> =
            runs.iter().enumerate().filter_map(|(at, run)| Some((at, run.ci95?))).collect();
        if runs.len() < 2 || intervals.is_empty() {
            return None;
        }
        let others = |at: usize| runs.iter().enumerate().filter(move |(other, _)| *other != at);
        let held = intervals.iter().map(|(at, [low, high])| {
            others(*at).filter(|(_, run)| (*low..=*high).contains(&run.value)).count()
        });
        let pairs = intervals.len() * (runs.len() - 1);
        let half_widths = intervals.iter().map(|(_, [low, high])| (high / low).ln() / 2.0);
        Some(Agreement {
            inside: 100.0 * held.sum::<usize>() as f64 / pairs as f64,
            half_width: 100.0 * half_widths.sum::<f64>() / intervals.len() as f64,
            deviation: 100.0 * deviation(runs.iter().map(|run| run.value.ln())),
        })
    }
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
        format!("| {} | {} |{cells}", self.name, self.runs.len())
    }

    /// Goals that it misses.
    pub fn missed(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for (figure, agreement) in self.agreements() {
            let mut miss = |what: String| missed.push(format!("{}, {figure}: {what}", self.name));
            let Some(Agreement { inside, half_width, deviation }) = agreement else {
                miss("no intervals to count".to_owned());
                continue;
            };
            if !EXPECTED.contains(&inside) {
                miss(format!("{inside:.1} % inside"));
            }
            if self.is_steady && half_width > WIDEST * deviation {
                miss(format!("a half-width of {:.1} standard deviations", half_width / deviation));
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
         the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard\n\
         deviation of the runs, both in percent of the logarithm. `card`: an ext4 on the simulated medium\n\
         {card}, attached as a block device. `directory`: on the system's disk. `busy`: beside busy threads and\n\
         synced writes, in bursts.\n\n\
         | target | runs |{heads}\n|---|---:|---:|---:|---:|---:|\n"
    );
    series.iter().for_each(|of| text += &format!("{}\n", of.line()));
    let missed: Vec<String> = series.iter().flat_map(Series::missed).collect();
    let goals = match missed.as_slice() {
        [] => "None is missed.".to_owned(),
        missed => format!("Missed:\n\n- {}", missed.join("\n- ")),
    };
    writeln!(
        text,
        "\nGoals: {} to {} % inside; on `card` a half-width of at most {WIDEST} standard deviations. {goals}",
        EXPECTED.start(),
        EXPECTED.end(),
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
        the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard
        deviation of the runs, both in percent of the logarithm. `card`: an ext4 on the simulated medium
        a1, attached as a block device. `directory`: on the system's disk. `busy`: beside busy threads and
        synced writes, in bursts.

        | target | runs | sequential read | sequential write | random read, 4 KiB | random write, 4 KiB |
        |---|---:|---:|---:|---:|---:|
        | card | 3 | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) |
        | directory-busy | 2 | 0 (0.1, 0.7) | - | 0 (0.1, 0.7) | 0 (0.1, 0.7) |

        Goals: 90 to 98 % inside; on `card` a half-width of at most 4 standard deviations. Missed:

        - card, sequential read: 66.7 % inside
        - card, sequential write: 66.7 % inside
        - card, random read, 4 KiB: 66.7 % inside
        - card, random write, 4 KiB: 66.7 % inside
        - directory-busy, sequential read: 0.0 % inside
        - directory-busy, sequential write: no intervals to count
        - directory-busy, random read, 4 KiB: 0.0 % inside
        - directory-busy, random write, 4 KiB: 0.0 % inside
        ");
    }

    #[test]
    fn intervals_that_are_too_wide_count_where_the_rate_is_steady() {
        let mut odd: Vec<f64> = (0..20).map(|number| 100.0 + f64::from(number % 3)).collect();
        odd[0] = 130.0;
        // 18 of 19 others are inside for 19 runs, none for the odd one: 90 %; a deviation of 6 %.
        assert_eq!(series("card", &odd, 1.2).missed(), [""; 0]);
        assert_eq!(series("directory", &odd, 1.31).missed().len(), 4);
        let wide = series("card", &odd, 1.5).missed();
        assert_eq!(wide.len(), 8, "{wide:?}");
        assert!(wide[1].contains("standard deviations"), "{wide:?}");
    }
}
