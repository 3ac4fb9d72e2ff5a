//! Repetitions of one command: share of the figures of other runs that an interval contains.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;

use super::checks::{FIGURES, Figure, figures, read};
use super::shares::Agreement;
use super::throttle::Caps;
use super::{Flags, LOOP, PAGE, Target, goals_missed, record_of};
use crate::section::Section;

const TABLE: Section<'static> = Section {
    page: PAGE,
    heading: "Repetitions on real machines",
    name: "cargo validation truth --reruns",
};
/// Percent of the figures of other runs that a 95 % interval should contain.
const EXPECTED: std::ops::RangeInclusive<f64> = 90.0..=98.0;
/// Widest interval at a steady rate, in standard deviations.
const WIDEST: f64 = 4.0;

/// The runs of one target.
struct Series {
    target: Target,
    runs: Vec<[Option<Figure>; 4]>,
}

impl Series {
    /// Reads the runs of a target.
    fn of(target: Target, directory: &Path, runs: usize) -> Result<Series> {
        let run = |number| Ok(figures(&read(&record_of(directory, target, number))?));
        Ok(Series { target, runs: (0..runs).map(run).collect::<Result<_>>()? })
    }

    /// Agreement of its runs, in the order of [`FIGURES`].
    fn agreements(&self) -> [Option<Agreement>; 4] {
        let figure = |at: usize| self.runs.iter().filter_map(|run| run[at]).collect::<Vec<_>>();
        std::array::from_fn(|at| Agreement::of(&figure(at)))
    }
}

/// Makes the table; returns it with its place and the number of missed goals.
pub fn counted(
    flags: &Flags,
    directory: &Path,
    targets: &[Target],
) -> Result<(Section<'static>, String, usize)> {
    let series = targets
        .iter()
        .map(|target| Series::of(*target, directory, flags.runs()))
        .collect::<Result<Vec<_>>>()?;
    Ok((TABLE, table(&series, flags), series.iter().flat_map(missed).count()))
}

fn table(series: &[Series], flags: &Flags) -> String {
    let heads = FIGURES.map(|(head, _)| format!(" {head} |")).concat();
    let Caps { read_bps, write_bps, read_iops, write_iops } = Caps::CARD;
    let mut text = format!(
        "`{} {}`: percent of the figures of other runs that lie inside\n\
         the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard\n\
         deviation of the runs, both in percent of the logarithm. `loop`: a file system on a loop device that\n\
         the kernel keeps below {} MB/s and {read_iops} IOPS of reads, {} MB/s and {write_iops} IOPS of writes.\n\
         `directory`: on the system's disk. `busy`: beside busy threads and synced writes, in bursts.\n\n\
         | target | runs |{heads}\n|---|---:|---:|---:|---:|---:|\n",
        TABLE.name,
        flags.words(),
        read_bps / 1_000_000,
        write_bps / 1_000_000,
    );
    for of in series {
        let cells = of.agreements().map(|agreement| format!(" {} |", cell(agreement))).concat();
        writeln!(text, "| {} | {} |{cells}", of.target.name, of.runs.len()).ok();
    }
    let missed: Vec<String> = series.iter().flat_map(missed).collect();
    writeln!(
        text,
        "\nGoals: {} to {} % inside; on `loop` a half-width of at most {WIDEST} standard deviations. {}",
        EXPECTED.start(),
        EXPECTED.end(),
        goals_missed(&missed)
    )
    .ok();
    text
}

fn cell(agreement: Option<Agreement>) -> String {
    agreement.map_or("-".to_owned(), |Agreement { inside, half_width, deviation }| {
        format!("{inside:.0} ({half_width:.1}, {deviation:.1})")
    })
}

/// Goals that a target misses.
fn missed(series: &Series) -> Vec<String> {
    let mut missed = Vec::new();
    for ((figure, _), agreement) in FIGURES.into_iter().zip(series.agreements()) {
        let target = series.target.name;
        let Some(Agreement { inside, half_width, deviation }) = agreement else {
            missed.push(format!("{target}, {figure}: no intervals to count"));
            continue;
        };
        if !EXPECTED.contains(&inside) {
            missed.push(format!("{target}, {figure}: {inside:.1} % inside"));
        }
        if series.target == LOOP && half_width > WIDEST * deviation {
            let times = half_width / deviation;
            missed.push(format!(
                "{target}, {figure}: a half-width of {times:.1} standard deviations"
            ));
        }
    }
    missed
}

#[cfg(test)]
mod tests {
    use super::super::{DIRECTORY, TARGETS};
    use super::*;

    /// Makes runs of one figure, each with an interval of this factor on both sides.
    fn series(target: Target, values: &[f64], factor: f64) -> Series {
        let run = |value: &f64| {
            let figure = Figure { value: *value, ci95: Some([value / factor, value * factor]) };
            [Some(figure); 4]
        };
        Series { target, runs: values.iter().map(run).collect() }
    }

    #[test]
    fn the_table_has_a_line_a_target_and_the_goals_below() {
        let mut bare = series(TARGETS[3], &[100.0, 101.0], 1.001);
        bare.runs.iter_mut().for_each(|run| run[1] = None);
        insta::assert_snapshot!(table(&[series(LOOP, &[100.0, 101.0, 103.0], 1.021), bare], &Flags::of(3, Some("15s"))), @r"
    `cargo validation truth --reruns --runs 3 --budget 15s`: percent of the figures of other runs that lie inside
    the 95 % interval of a run; in parentheses the mean half-width of the intervals and the standard
    deviation of the runs, both in percent of the logarithm. `loop`: a file system on a loop device that
    the kernel keeps below 40 MB/s and 2000 IOPS of reads, 20 MB/s and 1000 IOPS of writes.
    `directory`: on the system's disk. `busy`: beside busy threads and synced writes, in bursts.

    | target | runs | sequential read | sequential write | random read, 4 KiB | random write, 4 KiB |
    |---|---:|---:|---:|---:|---:|
    | loop | 3 | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) | 67 (2.1, 1.5) |
    | directory-busy | 2 | 0 (0.1, 0.7) | - | 0 (0.1, 0.7) | 0 (0.1, 0.7) |

    Goals: 90 to 98 % inside; on `loop` a half-width of at most 4 standard deviations. Missed:

    - loop, sequential read: 66.7 % inside
    - loop, sequential write: 66.7 % inside
    - loop, random read, 4 KiB: 66.7 % inside
    - loop, random write, 4 KiB: 66.7 % inside
    - directory-busy, sequential read: 0.0 % inside
    - directory-busy, sequential write: no intervals to count
    - directory-busy, random read, 4 KiB: 0.0 % inside
    - directory-busy, random write, 4 KiB: 0.0 % inside
    ");
    }

    #[test]
    fn intervals_that_are_too_wide_count_where_the_rate_is_steady() {
        let values: Vec<f64> = (0..20).map(|number| 100.0 + f64::from(number % 3)).collect();
        let mut odd = values;
        odd[0] = 130.0;
        // 18 of 19 others are inside for 19 runs, none for the odd one: 90 %; a deviation of 6 %.
        assert_eq!(missed(&series(LOOP, &odd, 1.2)), [""; 0]);
        assert_eq!(missed(&series(DIRECTORY, &odd, 1.31)).len(), 4);
        let wide = missed(&series(LOOP, &odd, 1.5));
        assert_eq!(wide.len(), 8, "{wide:?}");
        assert!(wide[1].contains("standard deviations"), "{wide:?}");
    }
}
