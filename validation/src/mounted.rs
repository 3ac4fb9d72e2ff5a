//! File systems on block devices, mounted for a study.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use rustix::process::Pid;
use tempfile::TempDir;

use crate::programs::output;

/// A fresh file system; unmounted when dropped.
pub struct Mounted {
    point: TempDir,
    device: String,
}

impl Mounted {
    /// Makes a file system of this kind ("ext4" or "xfs") on a block device and mounts it below
    /// `root`/target; needs root.
    pub fn make(root: &Path, kind: &str, node: &Path) -> Result<Mounted> {
        // Writes now what the kernel would otherwise write during a measurement; on a slow card
        // only as much as is needed.
        let options: &[&str] = match kind {
            "ext4" => &[
                "-q",
                "-F",
                "-b4096",
                "-N65536",
                "-Jsize=32",
                "-Elazy_itable_init=0,lazy_journal_init=0,nodiscard",
            ],
            "xfs" => &["-q", "-f", "-K"],
            other => bail!("no study knows how to make {other}"),
        };
        let point = tempfile::tempdir_in(root.join("target"))?;
        output(Command::new(format!("mkfs.{kind}")).args(options).arg(node))?;
        output(Command::new("mount").args(["-o", "noatime"]).arg(node).arg(point.path()))?;
        let device = node.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Mounted { point, device })
    }

    /// Directory that it is mounted on.
    pub fn point(&self) -> &Path {
        self.point.path()
    }

    /// Kernel threads that write its journal: a commit waits for them.
    pub fn journal_threads(&self) -> Result<Vec<Pid>> {
        let name = format!("jbd2/{}-", self.device);
        let is_one = |process: &PathBuf| {
            fs::read_to_string(process.join("comm")).is_ok_and(|comm| comm.starts_with(&name))
        };
        let processes = fs::read_dir("/proc")?.flatten().map(|process| process.path());
        let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
        Ok(processes.filter(is_one).filter_map(number).filter_map(Pid::from_raw).collect())
    }

    /// The same with the journal's threads at the priority of the programs that are measured, so
    /// that a commit does not wait for other users of the processor.
    pub fn before_everything_ordinary(self) -> Result<Mounted> {
        for pid in self.journal_threads()? {
            let pid = pid.as_raw_nonzero().to_string();
            output(Command::new("chrt").args(["--fifo", "--pid", "5", &pid]))?;
        }
        Ok(self)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = output(Command::new("umount").arg(self.point.path())) {
            // The content of the mounted file system must not be removed with the directory.
            self.point.disable_cleanup(true);
            eprintln!("{} is still mounted: {error:#}", self.point.path().display());
        }
    }
}
