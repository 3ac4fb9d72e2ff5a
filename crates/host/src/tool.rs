//! The system's own programs (losetup, addpart, mkfs, smartctl), run quietly and with their complaint in the error.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Searched besides `PATH`.
const SYSTEM_FOLDERS: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// A program failed.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{tool} is not installed; install the package {package}")]
    Missing {
        /// The program.
        tool: String,
        /// Debian's package that has it.
        package: &'static str,
    },
    /// It could not be started.
    #[error("cannot run {tool}: {source}")]
    Start {
        /// The program.
        tool: String,
        /// Why.
        source: io::Error,
    },
    /// It complained.
    #[error("`{command}` failed: {complaint}")]
    Failed {
        /// The command line.
        command: String,
        /// Last line of its standard error, or its exit status.
        complaint: String,
    },
}

/// Runs a program to its end; its standard output without surrounding blanks.
///
/// System directories are searched besides `PATH`, as sudo-less shells leave `/sbin` out.
pub(crate) fn run<I, S>(tool: &str, arguments: I) -> Result<String, ToolError>
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = prepare(tool);
    command.args(arguments);
    let output = command.output().map_err(|error| not_started(tool, error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().rev().find(|line| !line.trim().is_empty());
    let complaint = last.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned());
    Err(ToolError::Failed { command: words(&command), complaint })
}

/// Runs a program that may hang on a sick medium; its standard output whatever its exit status, `None` if it is not there or
/// took longer than `seconds`.
pub(crate) fn run_for(tool: &str, arguments: &[&str], seconds: u64) -> Option<String> {
    const NAP: Duration = Duration::from_millis(20);
    let mut child = prepare(tool).args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut pipe = child.stdout.take()?;
    // a full pipe would stop the program, so it is emptied while it runs
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).map(|_| text)
    });
    for _ in 0..seconds * 1000 / NAP.as_millis() as u64 {
        if child.try_wait().ok()?.is_some() {
            return reader.join().ok()?.ok();
        }
        std::thread::sleep(NAP);
    }
    // a program in uninterruptible sleep stays until its I/O returns; it is not waited for
    let _ = child.kill();
    None
}

/// Whether a program is installed, where [`run`] looks for it.
pub(crate) fn is_there(tool: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = format!("{path}:{SYSTEM_FOLDERS}");
    folders.split(':').filter(|folder| !folder.is_empty()).any(|folder| std::path::Path::new(folder).join(tool).is_file())
}

fn prepare(tool: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(tool);
    command.env("PATH", format!("{path}:{SYSTEM_FOLDERS}")).env("LC_ALL", "C").stdin(Stdio::null());
    command
}

fn not_started(tool: &str, error: io::Error) -> ToolError {
    let tool = tool.to_owned();
    match error.kind() {
        // a directory of PATH that may not be entered makes "not found" a "permission denied"
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => ToolError::Missing { package: package(&tool), tool },
        _ => ToolError::Start { tool, source: error },
    }
}

/// Debian's package of a program.
pub(crate) fn package(tool: &str) -> &'static str {
    match tool {
        "mkfs.ext2" | "mkfs.ext3" | "mkfs.ext4" => "e2fsprogs",
        "mkfs.xfs" => "xfsprogs",
        "mkfs.btrfs" => "btrfs-progs",
        "mkfs.f2fs" => "f2fs-tools",
        "mkfs.vfat" | "mkfs.fat" => "dosfstools",
        "mkfs.exfat" => "exfatprogs",
        "mkfs.jfs" => "jfsutils",
        "mkfs.nilfs2" => "nilfs-tools",
        "smartctl" => "smartmontools",
        "losetup" => "mount",
        _ => "util-linux",
    }
}

fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_and_a_missing_program_are_told_apart() {
        assert_eq!(run("echo", ["a", "b"]).unwrap(), "a b");
        let failed = run("sh", ["-c", "echo first >&2; echo no such medium >&2; exit 3"]).unwrap_err().to_string();
        assert!(failed.ends_with("failed: no such medium"), "{failed}");
        insta::assert_snapshot!(run("mkfs.nilfs2-not-here", [""; 0]).unwrap_err(), @"mkfs.nilfs2-not-here is not installed; install the package util-linux");
    }

    #[test]
    fn a_program_that_hangs_is_left() {
        assert_eq!(run_for("sleep", &["30"], 0), None);
        assert_eq!(run_for("sh", &["-c", "echo out; exit 4"], 10).as_deref(), Some("out\n"));
    }
}
