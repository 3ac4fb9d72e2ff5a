//! Runs of `flashmark check` and their figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};
use record::units::significant;
use record::{Record, Summary};
use serde_json::Value;

use crate::programs::{go_on, output_if};

/// Checks a directory, with results in `home`; returns the path of the record. An error if the
/// check fails or is interrupted, but not if the medium is not suitable.
pub fn check(
    mut program: Command,
    directory: &Path,
    home: &Path,
    budget: Option<&str>,
    interrupted: &AtomicBool,
) -> Result<PathBuf> {
    program.arg("check").arg(directory).args(["--again", "--json", "--quiet"]);
    program.args(budget.map(|budget| format!("--budget={budget}")));
    program.env("FLASHMARK_HOME", home).stdin(Stdio::null());
    let printed = output_if(&mut program, |code| code == 1);
    go_on(interrupted)?;
    let printed: Value = serde_json::from_str(&printed?).context("reading what check printed")?;
    let run = printed["run"].as_str().context("check printed no name of its run")?;
    Ok(home.join(run).join("record.json"))
}

/// Reads a record that was kept.
pub fn read(path: &Path) -> Result<Record> {
    let reading = || format!("reading {}", path.display());
    let text = fs::read_to_string(path).with_context(reading)?;
    Record::from_json(&text).with_context(reading)
}

/// A figure in a summary, with the low and the high end of its interval.
type Field = fn(&Summary) -> [Option<f64>; 3];

/// Figures of a check: name, and its fields.
pub const FIGURES: [(&str, Field); 4] = [
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
    pub value: f64,
    pub ci95: Option<[f64; 2]>,
}

/// Figures of a check in the order of [`FIGURES`]; `None` for missing ones.
pub fn figures(record: &Record) -> [Option<Figure>; 4] {
    FIGURES.map(|(_, field)| {
        let [value, low, high] = field(record.summary.as_ref()?);
        Some(Figure { value: value?, ci95: low.zip(high).map(|(low, high)| [low, high]) })
    })
}

/// Figures of a kept record in one line, to show progress.
pub fn in_words(path: &Path) -> Result<String> {
    let figure = |((name, _), figure): (_, Option<Figure>)| {
        format!("{name} {}", figure.map_or("-".to_owned(), |figure| significant(figure.value)))
    };
    let figures = figures(&read(path)?);
    Ok(FIGURES.into_iter().zip(figures).map(figure).collect::<Vec<_>>().join("; "))
}

/// A record with this summary.
#[cfg(test)]
pub fn recorded(summary: Summary) -> Record {
    Record { summary: Some(summary), ..Record::new(record::Run::default()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_summary() -> Result<()> {
        let record = recorded(Summary {
            sequential_read_bps: Some(10.0),
            sequential_read_bps_low: Some(9.0),
            sequential_read_bps_high: Some(12.0),
            random_write_4k_iops: Some(3.0),
            random_write_4k_iops_low: Some(2.0),
            ..Summary::default()
        });
        let read = Figure { value: 10.0, ci95: Some([9.0, 12.0]) };
        let write = Figure { value: 3.0, ci95: None };
        assert_eq!(figures(&record), [Some(read), None, None, Some(write)]);
        let kept = tempfile::NamedTempFile::new()?;
        fs::write(kept.path(), record.to_json())?;
        insta::assert_snapshot!(in_words(kept.path())?, @"sequential read 10.0; sequential write -; random read, 4 KiB -; random write, 4 KiB 3.00");
        Ok(())
    }
}
