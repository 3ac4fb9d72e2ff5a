//! Loop device that both sides measure: made here, and removed afterwards.

use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use device::DataGenerator;
use host::loopdev::attach_with;
use host::{Loop, LoopOptions};
use record::Content;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use tempfile::TempDir;

/// Size of the writes that fill the file, in bytes.
const PIECE_BYTES: u64 = 1 << 20;

/// Storage of the file under the loop device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum On {
    /// Disk of the checkout.
    Disk,
    /// Memory.
    Tmpfs,
}

impl fmt::Display for On {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            On::Disk => "disk",
            On::Tmpfs => "tmpfs",
        })
    }
}

/// Processors of the kernel's unbound workers, a loop device's among them; a mask in hexadecimal.
const WORKERS: &str = "/sys/devices/virtual/workqueue/cpumask";

/// Processor to which the kernel's unbound workers and both programs are bound. Dropping it
/// restores the mask of the workers.
///
/// The processor of a loop device's worker relative to that of the waiting program makes a factor
/// of five on a small virtual machine. The scheduler changes it now and then, and differently for
/// two programs that do the same.
struct OneProcessor {
    before: String,
}

impl OneProcessor {
    /// Number of the processor: the first.
    const NUMBER: usize = 0;

    fn keep() -> Result<OneProcessor> {
        let before = fs::read_to_string(WORKERS).with_context(|| format!("reading {WORKERS}"))?;
        fs::write(WORKERS, format!("{:x}", 1 << Self::NUMBER))
            .with_context(|| format!("writing {WORKERS}"))?;
        Ok(OneProcessor { before })
    }
}

impl Drop for OneProcessor {
    fn drop(&mut self) {
        if let Err(error) = fs::write(WORKERS, self.before.trim()) {
            eprintln!("{WORKERS} was {} and could not be set back: {error}", self.before.trim());
        }
    }
}

/// Loop device over a file that is wholly written, past the page cache. Dropping it detaches the
/// device, then removes the file.
pub struct LoopMedium {
    _processor: OneProcessor,
    // Before the folder: it must be detached first.
    medium: Loop,
    folder: TempDir,
}

impl LoopMedium {
    /// Makes the loop device. Needs root.
    pub fn make(root: &Path, on: On, bytes: u64) -> Result<LoopMedium> {
        let parent = match on {
            On::Disk => root.join("target"),
            On::Tmpfs => PathBuf::from("/dev/shm"),
        };
        let folder = tempfile::Builder::new().prefix("flashmark-agree-").tempdir_in(&parent);
        let folder =
            folder.with_context(|| format!("no directory can be made in {}", parent.display()))?;
        let file = folder.path().join("medium");
        write_whole(&file, bytes).with_context(|| format!("writing {}", file.display()))?;
        let options = LoopOptions { direct_io: true, ..LoopOptions::default() };
        let medium = attach_with(&file, options).context("a loop device needs root")?;
        ensure!(
            medium.direct_io(),
            "the file system under {} does not let a loop device past the page cache",
            parent.display()
        );
        Ok(LoopMedium { _processor: OneProcessor::keep()?, medium, folder })
    }

    pub fn device(&self) -> &Path {
        self.medium.path()
    }

    /// Command of a program that stays on the processor of the loop device's worker.
    pub fn pinned(&self, program: &Path) -> Command {
        let mut command = Command::new("taskset");
        command.arg("--cpu-list").arg(OneProcessor::NUMBER.to_string()).arg(program);
        command
    }

    /// Binds kernel threads to the same processor, such as those of the journal of a file system on
    /// the device: their processor makes a factor of ten for writes that wait for them.
    pub fn bring(&self, threads: &[Pid]) -> Result<()> {
        let mut here = CpuSet::new();
        here.set(OneProcessor::NUMBER);
        let bring = |pid: &Pid| sched_setaffinity(Some(*pid), &here);
        threads.iter().try_for_each(bring).context("keeping kernel threads on one processor")
    }

    /// Directory for the records of the runs.
    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join("runs")
    }
}

/// Writes every block of a file: a hole would be read without I/O, and its first write would
/// allocate it.
fn write_whole(path: &Path, bytes: u64) -> Result<()> {
    let mut file = File::create_new(path)?;
    let generator = DataGenerator::new(1);
    let mut piece = vec![0; PIECE_BYTES as usize];
    for offset in (0..bytes / PIECE_BYTES).map(|number| number * PIECE_BYTES) {
        generator.fill(&mut piece, Content::Incompressible, 0, offset);
        file.write_all(&piece)?;
    }
    Ok(file.sync_all()?)
}
