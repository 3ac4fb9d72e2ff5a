//! Comparison of the program with another tool, in pairs: the two take turns, the first changing
//! with each, so that other load on the machine affects both. The median of the pairs' ratios
//! counts.

use std::sync::atomic::AtomicBool;

use anyhow::Result;
use record::units::significant;

use crate::agree::loop_medium::On;
use crate::programs::go_on;

/// Flags of the studies that compare on a loop device of their own.
#[derive(clap::Args)]
pub struct PairFlags {
    /// Storage of the file under the loop device.
    #[arg(long, value_delimiter = ',', default_value = "disk,tmpfs")]
    pub on: Vec<On>,
    /// Text in the names of the cells, works or commands to measure. Without it, all.
    #[arg(long)]
    only: Option<String>,
    /// Pairs of runs of each.
    #[arg(long, default_value_t = 5, value_parser = at_least_one)]
    pub pairs: usize,
    /// Write the tables to their document.
    #[arg(long)]
    pub write: bool,
}

impl PairFlags {
    /// True if what has this name is to be measured.
    pub fn is_wanted(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| name.contains(only))
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "at least one is needed".to_owned())
}

/// Measures both sides `count` times in turn, theirs first if `number` is odd; returns the results
/// of each. An error after Ctrl-C.
pub fn in_turn<T>(
    number: usize,
    count: usize,
    interrupted: &AtomicBool,
    mut ours: impl FnMut() -> Result<T>,
    mut theirs: impl FnMut() -> Result<T>,
) -> Result<(Vec<T>, Vec<T>)> {
    let mut sides = (Vec::new(), Vec::new());
    for turn in 0..count {
        go_on(interrupted)?;
        let we_begin = (number + turn).is_multiple_of(2);
        if we_begin {
            sides.0.push(ours()?);
        }
        sides.1.push(theirs()?);
        if !we_begin {
            sides.0.push(ours()?);
        }
    }
    Ok(sides)
}

/// A figure of both sides, pair by pair.
pub struct Pairs {
    pub ours: Vec<f64>,
    pub theirs: Vec<f64>,
}

impl Pairs {
    /// A figure of the results of both sides.
    pub fn of<T>(ours: &[T], theirs: &[T], figure: impl Fn(&T) -> f64) -> Pairs {
        let of = |side: &[T]| side.iter().map(&figure).collect();
        Pairs { ours: of(ours), theirs: of(theirs) }
    }

    /// Ours over theirs.
    pub fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.theirs).map(|(ours, theirs)| ours / theirs).collect()
    }

    /// Median of the ratios.
    pub fn ratio(&self) -> f64 {
        median(&self.ratios())
    }

    /// Medians of our figures and of theirs.
    pub fn medians(&self) -> [f64; 2] {
        [median(&self.ours), median(&self.theirs)]
    }

    /// True if the median is within `tolerance` of 1, or 1 is between the smallest and the largest.
    pub fn agree(&self, tolerance: f64) -> bool {
        let (ratios, ratio) = (self.ratios(), self.ratio());
        let is_within = ratios.iter().any(|it| *it <= 1.0) && ratios.iter().any(|it| *it >= 1.0);
        is_within || (ratio - 1.0).abs() <= tolerance
    }

    /// "0.990 to 1.020", with this number of decimals: smallest and largest ratio.
    pub fn range(&self, decimals: usize) -> String {
        let ratios = self.ratios();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        format!("{least:.decimals$} to {most:.decimals$}")
    }
}

fn median(values: &[f64]) -> f64 {
    stats::median(&mut values.to_vec()).unwrap_or(f64::NAN)
}

/// Rate and median latency of one run.
#[derive(Clone, Copy)]
pub struct Speed {
    /// I/Os a second.
    pub iops: f64,
    pub median_ns: f64,
}

/// Pairs of runs of the same I/O by the program and by fio.
pub struct Row {
    /// First columns of its line: "sequential read, 4 KiB", "record-ops | write".
    pub name: String,
    pub ours: Vec<Speed>,
    pub fio: Vec<Speed>,
}

impl Row {
    /// Rates of both sides.
    pub fn rates(&self) -> Pairs {
        Pairs::of(&self.ours, &self.fio, |speed| speed.iops)
    }

    /// True if the median ratio of the rates is within `tolerance` of 1.
    pub fn agrees(&self, tolerance: f64) -> bool {
        (self.rates().ratio() - 1.0).abs() <= tolerance
    }

    fn line(&self, tolerance: f64) -> String {
        let rates = self.rates();
        let [ours, fio] = rates.medians().map(significant);
        let word = if self.agrees(tolerance) { "agrees" } else { "**differs**" };
        // Less affected by other work of the machine than rates are.
        let latencies = Pairs::of(&self.ours, &self.fio, |speed| speed.median_ns);
        format!(
            "| {} | {ours} | {fio} | {:.3} ({}) | {word} | {:.3} |\n",
            self.name,
            rates.ratio(),
            rates.range(3),
            latencies.ratio()
        )
    }
}

/// Table of rows whose first columns have these heads: "cell", "work | form".
pub fn table(heads: &str, rows: &[Row], tolerance: f64) -> String {
    let marks = "|---".repeat(heads.split('|').count());
    let lines = rows.iter().map(|row| row.line(tolerance)).collect::<String>();
    format!(
        "| {heads} | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | | ratio of median latencies |\n\
         {marks}|---:|---:|---:|---|---:|\n{lines}"
    )
}

/// Names of the rows that differ.
pub fn apart(rows: &[Row], tolerance: f64) -> Vec<String> {
    let apart = rows.iter().filter(|row| !row.agrees(tolerance));
    apart.map(|row| row.name.replace(" | ", " ")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, pairs: &[(f64, f64)]) -> Row {
        let side = |iops: f64| Speed { iops, median_ns: 1e9 / iops };
        Row {
            name: name.to_owned(),
            ours: pairs.iter().map(|pair| side(pair.0)).collect(),
            fio: pairs.iter().map(|pair| side(pair.1)).collect(),
        }
    }

    #[test]
    fn the_median_of_the_ratios_decides_and_not_the_ratio_of_the_medians() {
        let outlier = row(
            "x",
            &[(100.0, 100.0), (104.0, 100.0), (300.0, 100.0), (98.0, 100.0), (96.0, 100.0)],
        );
        assert!(outlier.agrees(0.05) && outlier.rates().ratio() == 1.0);
        let slower = row("x", &[(94.0, 100.0), (940.0, 1000.0), (9.4, 10.0)]);
        assert!(!slower.agrees(0.05) && slower.agrees(0.10));
        assert!(!row("x", &[(f64::NAN, 1.0)]).agrees(0.05));
    }

    #[test]
    fn the_table_marks_rows_that_differ() {
        let rows = [
            row("works | read", &[(1010.0, 1000.0), (990.0, 1000.0), (1020.0, 1000.0)]),
            row("works | write", &[(80.0, 100.0)]),
        ];
        insta::assert_snapshot!(table("work | form", &rows, 0.05), @r"
        | work | form | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | | ratio of median latencies |
        |---|---|---:|---:|---:|---|---:|
        | works | read | 1010 | 1000 | 1.010 (0.990 to 1.020) | agrees | 0.990 |
        | works | write | 80.0 | 100 | 0.800 (0.800 to 0.800) | **differs** | 1.250 |
        ");
        assert_eq!(apart(&rows, 0.05), ["works write"]);
    }

    #[test]
    fn the_side_that_begins_changes_with_each_turn() {
        let order = std::cell::RefCell::new(String::new());
        let side = |name: char| {
            order.borrow_mut().push(name);
            Ok(name)
        };
        let sides = in_turn(1, 3, &AtomicBool::new(false), || side('o'), || side('t'));
        assert_eq!(sides.map(|sides| (sides.0.len(), sides.1.len())).ok(), Some((3, 3)));
        assert_eq!(*order.borrow(), "tootto");
        assert!(in_turn(0, 1, &AtomicBool::new(true), || side('o'), || side('t')).is_err());
    }
}
