//! Common parts of all works: the folder, progress, interruption, and naming of failures.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use blockio::{RealDevice, now_ns};
use record::units::MILLISECOND_NS;
use record::{Cell, Stop};
use stats::Random;

use super::{InspectionPoint, WorkError, WorkloadContext, WorkloadProgress, open};

/// Time between two reports of progress, in nanoseconds.
const BEAT_NS: u64 = 100 * MILLISECOND_NS;
/// Longest sleep in nanoseconds, so that an interruption is noticed.
const NAP_NS: u64 = 50 * MILLISECOND_NS;

/// One run of a work. Its files are removed when this is dropped.
pub(super) struct WorkloadRun<'g, 'a> {
    pub context: &'g mut WorkloadContext<'a>,
    work: &'static str,
    folder: Folder,
    part: (f64, f64),
    next_ns: u64,
    left_ns: u64,
    done: u64,
}

/// Runs a work in several forms: a cell for each, numbered from 1, each an equal part of the
/// progress.
pub(super) fn each(
    work: &'static str,
    context: &mut WorkloadContext<'_>,
    forms: &[&'static str],
    measure: impl Fn(usize, &'static str, &mut WorkloadRun<'_, '_>) -> Result<Cell, WorkError>,
) -> Result<Vec<Cell>, WorkError> {
    let mut run = WorkloadRun::begin(work, context)?;
    let mut cells = Vec::new();
    for (done, form) in forms.iter().enumerate() {
        run.part(done as f64 / forms.len() as f64, (done + 1) as f64 / forms.len() as f64);
        cells.push(measure(done + 1, form, &mut run)?);
    }
    run.end()?;
    Ok(cells)
}

/// A folder that is removed with its contents when dropped.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // Who ends well has removed it already and heard of it; after a failure there is one to
        // tell, and this is not it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl<'g, 'a> WorkloadRun<'g, 'a> {
    /// Makes the work's folder. Files that a killed run of the same work left are removed first.
    pub fn begin(
        work: &'static str,
        context: &'g mut WorkloadContext<'a>,
    ) -> Result<WorkloadRun<'g, 'a>, WorkError> {
        let path = context.directory.join(format!("flashmark-{work}"));
        let failed = |error| WorkError::io(work, format!("making {}", path.display()), error);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        fs::create_dir(&path).map_err(failed)?;
        let now_ns = now_ns();
        let folder = Folder(path);
        Ok(WorkloadRun {
            context,
            work,
            folder,
            part: (0.0, 1.0),
            next_ns: now_ns,
            left_ns: now_ns,
            done: 0,
        })
    }

    /// Folder of the work.
    pub fn folder(&self) -> &Path {
        &self.folder.0
    }

    /// Path of a new file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.0.join(name)
    }

    /// Opens a file of at most so many bytes, past the page cache if the file system allows that.
    pub fn open(&self, path: &Path, bytes: u64) -> Result<RealDevice, WorkError> {
        open(self.work, path, bytes)
    }

    /// Random numbers for one purpose.
    pub fn random(&self, purpose: &str) -> Random {
        Random::for_purpose(self.context.seed, &format!("{}/{purpose}", self.work))
    }

    /// Sets the part of the work's progress to which the next steps belong, from 0 to 1.
    pub fn part(&mut self, from: f64, to: f64) {
        self.part = (from, to);
        (self.left_ns, self.done) = (now_ns(), 0);
    }

    /// Reports, now and then, the progress of the present part (0 to 1) and the number of things
    /// done.
    ///
    /// # Errors
    /// [`WorkError::interrupted`] if it is to end.
    #[inline]
    pub fn checkpoint(
        &mut self,
        what: &'static str,
        share: f64,
        done: u64,
    ) -> Result<(), WorkError> {
        self.go_on()?;
        let now_ns = now_ns();
        if now_ns >= self.next_ns {
            self.next_ns = now_ns + BEAT_NS;
            let seconds = now_ns.saturating_sub(self.left_ns).max(1) as f64 / 1e9;
            let (from, to) = self.part;
            let share = from + (to - from) * share.clamp(0.0, 1.0);
            (self.context.on_progress)(WorkloadProgress {
                share,
                what,
                rate_iops: done.saturating_sub(self.done) as f64 / seconds,
            });
        }
        Ok(())
    }

    /// Does so many steps, each by its number; fewer when `max_ns` nanoseconds are over.
    pub fn steps(
        &mut self,
        what: &'static str,
        count: u64,
        max_ns: u64,
        mut step: impl FnMut(&Self, u64) -> Result<(), WorkError>,
    ) -> Result<Stop, WorkError> {
        let started_ns = now_ns();
        for number in 0..count {
            step(self, number)?;
            self.checkpoint(what, (number + 1) as f64 / count as f64, number + 1)?;
            if now_ns() - started_ns >= max_ns {
                return Ok(Stop::Time);
            }
        }
        Ok(Stop::Ops)
    }

    /// Checks that the work may go on; `Err` once `stop` is set.
    #[inline]
    pub fn go_on(&self) -> Result<(), WorkError> {
        let stop = self.context.stop.load(Ordering::Relaxed);
        if stop { Err(WorkError::interrupted(self.work)) } else { Ok(()) }
    }

    /// Sleeps for `ns` nanoseconds; an interruption ends it early.
    pub fn rest(&self, ns: u64) -> Result<(), WorkError> {
        let until_ns = now_ns() + ns;
        loop {
            self.go_on()?;
            let left_ns = until_ns.saturating_sub(now_ns());
            if left_ns == 0 {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_nanos(left_ns.min(NAP_NS)));
        }
    }

    /// Lets the caller examine the files.
    pub fn show(&mut self, point: InspectionPoint) {
        (self.context.look)(point);
    }

    /// Turns an error into this work's failure while `doing` a step.
    pub fn check<T>(
        &self,
        doing: &str,
        result: Result<T, impl Into<io::Error>>,
    ) -> Result<T, WorkError> {
        result.map_err(|error| WorkError::io(self.work, doing, error.into()))
    }

    /// Makes everything on the file system durable; returns the time that it took, in nanoseconds.
    pub fn sync(&self) -> Result<u64, WorkError> {
        let folder = self.check("opening its folder", File::open(self.folder()))?;
        let before_ns = now_ns();
        self.check("syncing the file system", rustix::fs::syncfs(&folder))?;
        Ok(now_ns() - before_ns)
    }

    /// Removes a file or a folder that is no longer needed.
    pub fn remove(&self, path: &Path) -> Result<(), WorkError> {
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        self.check("removing its files", removed)
    }

    /// Empties the folder, so that another form begins with nothing.
    pub fn empty(&self) -> Result<(), WorkError> {
        let removed =
            fs::remove_dir_all(self.folder()).and_then(|()| fs::create_dir(self.folder()));
        self.check("removing its files", removed)
    }

    /// Removes everything; an error says that this failed.
    pub fn end(self) -> Result<(), WorkError> {
        self.check("removing its files", fs::remove_dir_all(self.folder()))
    }
}
