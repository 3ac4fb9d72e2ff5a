//! Work on a mounted file system: what people do with cards, sticks and disks, as real work and not
//! as a row of blocks.
//!
//! A [`Workload`] is done in a directory ([`WorkloadContext`]) of a file system that somebody else
//! made and mounted, and gives cells like those of a suite; the first one is its headline. What it
//! may do meanwhile (files, syncs, checkpoints) it does through its
//! [`WorkloadRun`](run::WorkloadRun). Its files are gone when it ends, however it ends. It never
//! prints: it tells a listener how far it is. What it measures through the kernel's file interface
//! it measures by the clock of the real devices (`CLOCK_MONOTONIC_RAW`).

mod boot;
mod clock;
mod error;
mod files;
mod ledger;
mod logger;
mod record_ops;
mod rrd;
mod run;
mod sqlite;
mod threads;
mod tree;
mod unpack;
mod untar;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use device::Device;
use suite::{Setting, SettingError, TestSettings};

pub use error::WorkError;
pub use files::PREFIX as FILES_PREFIX;

/// Opens a file of at most so many bytes in the directory of the work, past the page cache where
/// its file system offers that. The file is made if it is not there; whoever asked removes it.
pub type OpenFile<'a> = &'a mut dyn FnMut(&Path, u64) -> Result<Box<dyn Device>, WorkError>;

/// Where a work is done.
pub struct WorkloadContext<'a> {
    /// An empty directory on the mounted file system. The work removes what it made there.
    pub directory: &'a Path,
    /// A file as a device.
    pub open: OpenFile<'a>,
    /// Every random choice comes from this.
    pub seed: u64,
    /// Set from outside to end the work, which then ends within a second with
    /// [`WorkError::Interrupted`].
    pub stop: &'a AtomicBool,
    /// Hears how far it is, ten times a second at most.
    pub on_progress: &'a mut dyn FnMut(WorkloadProgress),
    /// To be called while nothing is timed and the files lie as they are: whoever made the file
    /// system looks at them (how fragmented they are).
    pub look: &'a mut dyn FnMut(WorkPhase),
}

/// When the files of a work are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkPhase {
    /// Before the measured part, in works that have files by then.
    Before,
    /// After the measured part, before the files are removed.
    After,
}

/// How far a work is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadProgress {
    /// How much of the work is done, 0 to 1.
    pub share: f64,
    /// What it is doing ("unpacking", "polling").
    pub what: &'static str,
    /// What it counts (files, commits, I/Os) a second, over the stretch that goes on.
    pub rate_iops: f64,
}

/// One kind of work with its settings.
pub trait Workload {
    /// Its name on the command line and in records; also `test` of its cells.
    fn name(&self) -> &str;

    /// Free space that it needs, in bytes: its files at their largest, and what a file system needs
    /// to keep them.
    fn needs_bytes(&self) -> u64;

    /// What a person should know of it before it is done, in words.
    fn note(&self) -> Option<String> {
        None
    }

    /// Does it. The first cell is the headline: `metrics.iops` if it has one, or else `elapsed_ns`
    /// (then less is better); the others are detail.
    ///
    /// # Errors
    /// What went wrong as this work's failure: space, the medium, an interruption. Its files are
    /// gone then, too.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<record::Cell>, WorkError>;
}

/// A kind of work that can be asked for by name.
#[derive(Debug)]
pub struct WorkloadKind {
    /// Its name on the command line and in records: "record-ops".
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Which section of the domain notes, and so which article or tool, fixes its semantics.
    pub source: &'static str,
    /// What can be set, with the published values as defaults.
    pub settings: &'static [Setting],
    make: fn(&TestSettings) -> Result<Box<dyn Workload>, SettingError>,
}

/// Every kind of work, in the order in which they are listed.
pub static KINDS: &[WorkloadKind] = &[
    record_ops::KIND,
    threads::KIND,
    rrd::KIND,
    untar::KIND,
    sqlite::KIND,
    logger::KIND,
    boot::KIND,
];

/// The work of this name, with the published settings except those given (name and value, as
/// typed). `files:TRACE` does again what a recording of operations on files holds.
///
/// # Errors
/// [`WorkError::Unknown`] names the works that there are; [`WorkError::Setting`] the setting that
/// cannot be.
pub fn find(name: &str, settings: &[(String, String)]) -> Result<Box<dyn Workload>, WorkError> {
    if name.starts_with(FILES_PREFIX) {
        let chosen = choose(files::NAME, files::SETTINGS, settings)?;
        return Ok(Box::new(files::FilesWork::open(name, &chosen)?));
    }
    let kind =
        KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| WorkError::unknown(name))?;
    Ok((kind.make)(&choose(kind.name, kind.settings, settings)?)?)
}

fn choose(
    name: &'static str,
    known: &[Setting],
    settings: &[(String, String)],
) -> Result<TestSettings, SettingError> {
    let mut chosen = TestSettings::of(name, known);
    for (name, value) in settings {
        chosen.set(name, value)?;
    }
    Ok(chosen)
}
