//! The tests, one file each, and the runner that puts them in order.
//!
//! A *suite* ([`definition::Suite`], a TOML file) names tests and their settings; [`Plan::make`] turns it into planned cells for one
//! [`Site`]; [`run`] executes them on a guarded device and tells a [`Listener`] what happens. This room must never know the terminal,
//! files, HTML, or which device it got: the only clock is the device's, and every random choice comes from the run's seed.

mod bench;
pub mod catalogue;
pub mod definition;
mod doubts;
pub mod drive;
mod events;
mod ext2;
mod figures;
pub mod fingerprint;
pub mod offsets;
mod outcome;
mod plan;
pub mod random;
mod runner;
mod settings;
mod site;
mod stage;
mod tally;
pub mod undo;

pub use bench::{Bench, Guarded};
pub use doubts::certainty;
pub use events::{Event, Listener, Progress};
pub use outcome::Outcome;
pub use plan::{CellList, Choice, Plan, PlanError, is_filling, span_of};
pub use runner::{RunEnd, RunOptions, run};
pub use settings::{Setting, SettingError, Settings};
pub use site::Site;
pub use stage::{KeptFile, NoStage, Stage, StageError, StagedFile};
pub use tally::{Tally, latency};
pub use undo::{MemoryUndo, Undo};

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
    fn plan(&self, settings: &Settings, site: &Site, plan: &mut CellList) -> Result<(), SettingError>;
    /// Runs one cell. What went wrong on the medium is in the outcome, with all that was measured before.
    fn run(&self, cell: &record::PlannedCell, bench: &mut Bench<'_>) -> Outcome;
}

/// What a test needs of its target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// It writes.
    pub writing: bool,
    /// It addresses a whole medium; a file does not do.
    pub raw: bool,
    /// It works on files in a file system.
    pub files: bool,
    /// It looks at what it reads, so the medium must return what was written to it.
    pub data: bool,
    /// It can put back what it overwrites, so it may write to a medium that was only lent.
    pub restores: bool,
}
