//! The tests, one file each, and the runner that executes them in order.
//!
//! A *suite* ([`definition::Suite`], a TOML file) names tests and their settings; [`Plan::make`]
//! turns it into planned cells for one [`TargetInfo`]; [`run`] executes them on a guarded device
//! and passes events to a [`RunListener`]. This crate must never know the terminal, files, HTML, or
//! which device it got: the only clock is the device's, and every random choice comes from the
//! run's seed.

pub mod backup;
#[cfg(test)]
#[path = "../../../tests/cases.rs"]
#[allow(clippy::disallowed_methods, reason = "the cases are a file")]
mod cases;
pub mod catalogue;
mod cell_context;
pub mod definition;
mod events;
mod ext2;
mod figures;
pub mod fingerprint;
pub mod io_loop;
mod observed_cache;
pub mod offsets;
mod outcome;
mod pace;
mod place_read;
mod plan;
mod planned;
mod procedure;
mod progress;
pub mod rand48;
mod round_plan;
mod runner;
mod settings;
mod spec;
mod stage;
mod stop_rule;
mod tally;
mod target_info;
#[cfg(test)]
mod tests;
mod transient;
pub mod typed_settings;

pub use backup::{Backup, MemoryBackup};
pub use cell_context::{CellContext, Guarded};
pub use events::{CellProgress, RunEvent, RunListener};
pub use outcome::CellOutcome;
pub use plan::{CHECK, Choice, Plan, PlanError, is_filling};
pub use planned::{CellList, span_of};
pub use runner::{RunEnd, RunOptions, run};
pub use settings::{Setting, SettingError, SettingValue, TestSettings};
pub use stage::{FileStage, FileStageError, KeptFile, NoStage, StagedFile};
pub use tally::IoTally;
pub use target_info::TargetInfo;

/// A test: one named measurement procedure.
pub trait Test: std::marker::Sync {
    /// Its name on the command line and in records.
    fn name(&self) -> &'static str;
    /// Description in one line.
    fn about(&self) -> &'static str;
    /// Section of the domain notes, and so the article or tool, that defines its semantics.
    fn source(&self) -> &'static str;
    /// Its settings, with the published values as defaults.
    fn settings(&self) -> &'static [Setting];
    /// Requirements on the target.
    fn needs(&self) -> Needs;
    /// The cells that it will run on this target. An `Err` names the invalid setting.
    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        plan: &mut CellList,
    ) -> Result<(), SettingError>;
    /// Runs one cell. An error of the medium is in the outcome, with all results before it.
    fn run(&self, cell: &record::PlannedCell, context: &mut CellContext<'_>) -> CellOutcome;
    /// Shortens a cell to a round of `round_ns` nanoseconds, at a rate of `bps` bytes per second.
    fn shorten(&self, _cell: &mut record::PlannedCell, _round_ns: u64, _bps: f64) {}
}

/// Requirements of a test on its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// True if it writes: the target has to be writable.
    pub writing: bool,
    /// True if it addresses a whole medium: a file is not enough.
    pub raw: bool,
    /// True if it works on files in a file system.
    pub files: bool,
    /// True if it checks the data that it reads: the medium must return written data.
    pub data: bool,
    /// True if it can restore what it overwrites: it may write to a medium that must be restored.
    pub restores: bool,
}

impl Needs {
    /// Requirements of a test that only reads.
    pub const READING: Needs =
        Needs { writing: false, raw: false, files: false, data: false, restores: false };
    /// Requirements of a test that writes, to any target.
    pub const WRITING: Needs = Needs { writing: true, ..Needs::READING };
    /// Requirements of a test that reads a whole medium.
    pub const RAW: Needs = Needs { raw: true, ..Needs::READING };
    /// Requirements of a test that writes to a whole medium.
    pub const WRITING_RAW: Needs = Needs { raw: true, ..Needs::WRITING };
}
