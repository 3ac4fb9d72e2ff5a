//! Record of a run.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::{Cell, Finding, Flag, Host, Medium, Params, Summary, Target};

/// Version of the record's form.
pub const SCHEMA: &str = "flashmark/1";

/// The program that measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Software {
    /// Name of the program: "flashmark", or the tool whose output was imported.
    pub name: String,
    /// Version of the program, such as "0.1.0".
    pub version: String,
    /// Commit of its source, if the build knew it.
    pub commit: Option<String>,
}

impl Software {
    /// True if this is Flashmark, by its name or because the name is missing.
    pub fn is_flashmark(&self) -> bool {
        let name = self.name.trim();
        name.is_empty() || name.eq_ignore_ascii_case("flashmark")
    }
}

/// State of a run at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It has not ended yet.
    #[default]
    Running,
    /// All planned cells are done.
    Complete,
    /// Ended by Ctrl-C or a signal; can be resumed.
    Interrupted,
    /// The medium failed; can be resumed.
    Error,
}

/// One execution of a suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Name of the run, for a real medium made of its time, medium and suite.
    pub id: String,
    /// RFC 3339; null for a simulated medium, whose time is not ours.
    pub started: Option<String>,
    /// Time at which it ended or was interrupted, RFC 3339; null before that, and for a simulated
    /// medium.
    pub finished: Option<String>,
    /// Time from the first cell to the last, in nanoseconds by the device's clock.
    pub elapsed_ns: u64,
    /// Seed of every random choice.
    pub seed: u64,
    /// Name of the suite.
    pub suite: String,
    /// Label that the user gave it.
    pub label: Option<String>,
    /// The command line, one word each, the program first.
    pub command: Vec<String>,
    /// The program that measured, with its version.
    pub software: Software,
    /// State at the end: complete, or the reason for an early end.
    pub ended: Ended,
    /// Number of times it was resumed after an interruption.
    pub resumed: u32,
    /// Number of planned measurements of every cell with a rate; absent if one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<NonZeroU32>,
}

/// A cell as it was planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedCell {
    /// Stable name within the run.
    pub id: String,
    /// Name of the test, such as `random-write`.
    pub test: String,
    /// Planned parameters of its I/O: block size, pattern, span, threads.
    pub params: Params,
    /// Longest time that it may take, in nanoseconds by the device's clock.
    pub max_ns: u64,
    /// Most bytes that it may write.
    pub max_written_bytes: u64,
}

/// A test or cell that was not run, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skip {
    /// The test, or the cell's id.
    pub test: String,
    /// The reason why it was not run, in one sentence.
    pub reason: String,
    /// Block size that was left out, if that is all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
}

impl Skip {
    /// A test or cell that was left out as a whole.
    pub fn new(test: impl Into<String>, reason: impl Into<String>) -> Skip {
        Skip { test: test.into(), reason: reason.into(), block_bytes: None }
    }
}

/// The file that holds the result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Version of the record's form: "flashmark/1".
    pub schema: String,
    /// Time, program and seed of the measurement.
    pub run: Run,
    /// The thing under test.
    pub medium: Medium,
    /// The machine; null for a simulated medium.
    pub host: Option<Host>,
    /// The way to the medium.
    pub target: Target,
    /// Planned cells.
    pub plan: Vec<PlannedCell>,
    /// Results: a row for each cell that was run.
    pub cells: Vec<Cell>,
    /// Cells and tests that were left out, with the reason.
    pub skipped: Vec<Skip>,
    /// Caveats about the run as a whole.
    pub flags: Vec<Flag>,
    /// Conclusions from the results, each with its evidence.
    pub findings: Vec<Finding>,
    /// Flat summary; absent before a run has ended, and in imported records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
}

impl Record {
    /// A record of which only the run is known.
    pub fn new(run: Run) -> Record {
        Record {
            schema: SCHEMA.to_owned(),
            run,
            medium: Medium::default(),
            host: None,
            target: Target::default(),
            plan: Vec::new(),
            cells: Vec::new(),
            skipped: Vec::new(),
            flags: Vec::new(),
            findings: Vec::new(),
            summary: None,
        }
    }

    /// Bytes written to the medium by all cells.
    pub fn written_bytes(&self) -> u64 {
        crate::units::saturating_sum(self.cells.iter().map(|cell| cell.written_bytes))
    }

    /// The cells of one test, in order.
    pub fn cells_of<'a>(&'a self, test: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.test == test)
    }
}

impl PlannedCell {
    /// True if its time is limited: 1000 hours, as the published tests have, count as no limit.
    pub fn has_time_limit(&self) -> bool {
        self.max_ns < 1000 * 3600 * crate::units::SECOND_NS
    }

    /// Bytes of one I/O; 4096 where the test planned none.
    pub fn block_bytes(&self) -> u64 {
        self.params.block_bytes.unwrap_or(4096)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cells_of_a_test_are_those_of_its_name() {
        let text = include_str!("../../../fixtures/records/flashmark-0.1.0-sim.json");
        let mut record = Record::from_json(text).expect("the fixture is a record");
        record.cells =
            ["a", "b", "a"].map(|test| Cell::begun(test, test, Default::default())).into();
        (record.cells[0].written_bytes, record.cells[1].written_bytes) = (3, 4);
        assert_eq!(["a", "b", "c"].map(|test| record.cells_of(test).count()), [2, 1, 0]);
        assert_eq!(record.written_bytes(), 7);
        record.cells.iter_mut().for_each(|cell| cell.written_bytes = u64::MAX);
        assert_eq!(record.written_bytes(), u64::MAX, "a record that someone wrote by hand");
    }
}
