//! Work on a mounted file system: the way in which people use cards, sticks and disks, as real work
//! and not as a list of blocks.
//!
//! A [`Workload`] is done in a directory ([`WorkloadContext`]) of a file system that the caller has
//! made and mounted, and returns cells like those of a suite; the first one is its headline. Its
//! means (files, syncs, checkpoints) are in its [`WorkloadRun`](run::WorkloadRun). Its files are
//! removed when it ends, however it ends. It never prints: it reports progress to a listener. It
//! times the kernel's file interface by the clock of the real devices.

mod error;
mod files;
mod ledger;
mod logger;
mod record_ops;
mod rrd;
mod run;
mod sqlite;
mod threads;
mod trace;
mod tree;
mod untar;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use blockio::{OpenSettings, RealDevice};
use suite::{SettingError, TestSettings};

pub use error::WorkError;

/// Opens a file of at most so many bytes for a work, past the page cache if the file system allows
/// that. A missing file is made; the caller removes it.
///
/// # Errors
/// The failure of the work.
pub(crate) fn open(work: &str, path: &Path, bytes: u64) -> Result<RealDevice, WorkError> {
    let failed = |error| WorkError::io(work, format!("opening {}", path.display()), error);
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
    RealDevice::from_file(file.map_err(failed)?, bytes, true, &OpenSettings::default())
        .map_err(|error| failed(std::io::Error::other(error.to_string())))
}

/// Place and means of a work.
pub struct WorkloadContext<'a> {
    /// Empty directory on the mounted file system. The work removes what it makes there.
    pub directory: &'a Path,
    /// Seed of every random choice.
    pub seed: u64,
    /// Set from another thread to end the work, which then ends within a second with
    /// [`WorkError::interrupted`].
    pub stop: &'a AtomicBool,
    /// Receives the progress, ten times a second at most.
    pub on_progress: &'a mut dyn FnMut(WorkloadProgress),
    /// Called while nothing is timed and the files are there: the caller measures their
    /// fragmentation.
    pub look: &'a mut dyn FnMut(InspectionPoint),
}

/// Moment at which the files of a work are examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectionPoint {
    /// Before the measured part, in works that have files by then.
    Before,
    /// After the measured part, before the files are removed.
    After,
}

/// Progress of a work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkloadProgress {
    /// Share of the work that is done, 0 to 1.
    pub share: f64,
    /// Present step ("unpacking", "polling").
    pub what: &'static str,
    /// Rate of files, commits or I/Os per second, over the present part.
    pub rate_iops: f64,
}

/// A work with its name on the command line and in records, which is also the `test` of its cells.
pub type NamedWork = (String, Box<dyn Workload>);

/// One kind of work with its settings.
pub trait Workload {
    /// Free space that it needs, in bytes: its files at their largest, and the file system's own
    /// needs for them.
    fn needs_bytes(&self) -> u64;

    /// Note for people before the work begins.
    fn note(&self) -> Option<String> {
        None
    }

    /// Does the work. The first cell is the headline: `metrics.iops` if it has one, or else
    /// `elapsed_ns` (then less is better); the others are details.
    ///
    /// # Errors
    /// The failure of this work: no space, the medium, an interruption. Its files are removed then,
    /// too.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<record::Cell>, WorkError>;
}

/// Kind of work that can be chosen by name.
#[derive(Debug)]
pub struct WorkloadKind {
    /// Name on the command line and in records: "record-ops".
    pub name: &'static str,
    /// Its settings, at the published values.
    defaults: fn() -> TestSettings,
    make: fn(&TestSettings) -> Result<Box<dyn Workload>, SettingError>,
}

/// Every kind of work, in the order in which they are listed.
pub static KINDS: &[WorkloadKind] =
    &[record_ops::KIND, threads::KIND, rrd::KIND, untar::KIND, sqlite::KIND, logger::KIND];

/// The work of this name, with the published settings except those given (name and value, as
/// typed). `files:TRACE` repeats a recording of operations on files, `trace:FILE` one of block I/O.
///
/// # Errors
/// Names the works that there are, or the setting that is not possible.
pub fn find(name: &str, settings: &[(&str, &str)]) -> Result<Box<dyn Workload>, WorkError> {
    if name.starts_with(trace::PREFIX) {
        return Ok(Box::new(trace::TraceWork::open(name, settings)?));
    }
    if name.starts_with(files::PREFIX) {
        return Ok(Box::new(files::FilesWork::open(name, settings)?));
    }
    let kind =
        KINDS.iter().find(|kind| kind.name == name).ok_or_else(|| WorkError::unknown(name))?;
    Ok((kind.make)(&choose((kind.defaults)(), settings)?)?)
}

fn choose(
    mut chosen: TestSettings,
    settings: &[(&str, &str)],
) -> Result<TestSettings, SettingError> {
    for (name, value) in settings {
        chosen.set(name, &(*value).into())?;
    }
    Ok(chosen)
}
