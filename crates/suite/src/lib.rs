//! The tests, one file each, and the runner that puts them in order.
//!
//! A *suite* ([`definition::Suite`], a TOML file) names tests and their settings; [`Plan::make`]
//! turns it into planned cells for one [`TargetInfo`]; [`run`] executes them on a guarded device
//! and tells a [`RunListener`] what happens. This crate must never know the terminal, files, HTML,
//! or which device it got: the only clock is the device's, and every random choice comes from the
//! run's seed.

pub mod backup;
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
pub mod random;
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
mod typed_settings;

pub use backup::{Backup, MemoryBackup};
pub use cell_context::{CellContext, Guarded};
pub use events::{CellProgress, RunEvent, RunListener};
pub use outcome::CellOutcome;
pub use plan::{Choice, Plan, PlanError, is_filling};
pub use planned::{CellList, span_of};
pub use runner::{RunEnd, RunOptions, run};
pub use settings::{Setting, SettingError, TestSettings};
pub use stage::{FileStage, FileStageError, KeptFile, NoStage, StagedFile};
pub use tally::{IoTally, latency};
pub use target_info::TargetInfo;

/// A test: one named measurement procedure.
pub trait Test: std::marker::Sync {
    /// Its name on the command line and in records.
    fn name(&self) -> &'static str;
    /// One line for people.
    fn about(&self) -> &'static str;
    /// Which section of the domain notes, and so which article or tool, fixes its semantics.
    fn source(&self) -> &'static str;
    /// What can be set, with the published values as defaults.
    fn settings(&self) -> &'static [Setting];
    /// What it needs of the target.
    fn needs(&self) -> Needs;
    /// The cells it will run on this site. An `Err` names the setting that cannot be.
    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        plan: &mut CellList,
    ) -> Result<(), SettingError>;
    /// Runs one cell. What went wrong on the medium is in the outcome, with all that was measured
    /// before.
    fn run(&self, cell: &record::PlannedCell, context: &mut CellContext<'_>) -> CellOutcome;
    /// Shortens a cell to what a round measures, in nanoseconds, at a rate in bytes a second.
    fn shorten(&self, _cell: &mut record::PlannedCell, _round_ns: u64, _bps: f64) {}
}

/// What a test needs of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// It writes, so the target has to be writable.
    pub writing: bool,
    /// It addresses a whole medium; a file does not do.
    pub raw: bool,
    /// It works on files in a file system.
    pub files: bool,
    /// It looks at what it reads, so the medium must return what was written to it.
    pub data: bool,
    /// It can restore what it overwrites, so it may write to a medium that must be restored.
    pub restores: bool,
}

impl Needs {
    /// Nothing but something to read.
    pub const READING: Needs =
        Needs { writing: false, raw: false, files: false, data: false, restores: false };
    /// It writes, wherever that is.
    pub const WRITING: Needs = Needs { writing: true, ..Needs::READING };
    /// It reads a whole medium.
    pub const RAW: Needs = Needs { raw: true, ..Needs::READING };
    /// It writes to a whole medium.
    pub const WRITING_RAW: Needs = Needs { raw: true, ..Needs::WRITING };
}
