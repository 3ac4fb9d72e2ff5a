//! The system's own programs (losetup, addpart, mkfs, smartctl): their output, and their error
//! message in the error.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Folders that are searched after those in `PATH`.
const SYSTEM_FOLDERS: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// What mkfs of a kind needs: Debian's package that contains it, options that keep it from asking,
/// and its option for a label.
pub(crate) const MKFS: [(&str, &str, &[&str], &str); 10] = [
    ("ext2", "e2fsprogs", &["-q", "-F"], "-L"),
    ("ext3", "e2fsprogs", &["-q", "-F"], "-L"),
    ("ext4", "e2fsprogs", &["-q", "-F"], "-L"),
    ("xfs", "xfsprogs", &["-q", "-f"], "-L"),
    ("btrfs", "btrfs-progs", &["-q", "-f"], "-L"),
    ("f2fs", "f2fs-tools", &["-q", "-f"], "-l"),
    ("jfs", "jfsutils", &["-q"], "-L"),
    ("nilfs2", "nilfs-tools", &["-q", "-f"], "-L"),
    // on a whole device without a partition table
    ("vfat", "dosfstools", &["-I"], "-n"),
    ("exfat", "exfatprogs", &[], "-L"),
];

/// Most bytes of an error message that are kept: no program may fill the memory.
const MAX_COMPLAINT_BYTES: u64 = 64 << 10;

/// The error of a program of the system that could not be run, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// It is not installed.
    #[error("{tool} is not installed; install the package {package}")]
    Missing {
        /// Name of the program: "mkfs.ext4".
        tool: String,
        /// Debian's package that contains it.
        package: &'static str,
    },
    /// It could not be started.
    #[error("cannot run {tool}: {source}")]
    Start {
        /// Name of the program: "mkfs.ext4".
        tool: String,
        /// Error of starting it or of reading its output.
        source: io::Error,
    },
    /// It ended with another exit status than 0, or by a signal.
    #[error("`{command}` failed: {complaint}")]
    Failed {
        /// Program and arguments, separated by blanks.
        command: String,
        /// Last line of its standard error, or its exit status.
        complaint: String,
    },
    /// It took longer than so many seconds, and was abandoned.
    #[error("it did not answer within {0} s")]
    Late(u64),
}

/// The result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolReport {
    /// Its exit code; `None` after a signal.
    pub code: Option<i32>,
    /// Its standard output, up to the limit.
    pub output: Vec<u8>,
    /// Last line of its standard error.
    pub complaint: String,
}

/// Runs a program to its end; returns its standard output without surrounding blanks.
///
/// Searches the system directories besides `PATH`, as shells of ordinary users leave out `/sbin`.
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
    let complaint = Some(last_line(&output.stderr)).filter(|line| !line.is_empty());
    let complaint = complaint.unwrap_or_else(|| output.status.to_string());
    Err(ToolError::Failed { command: words(&command), complaint })
}

/// Runs a program that may hang on a failing medium; returns its standard output for any exit
/// status, `None` if it is not installed or took longer than `seconds`.
pub(crate) fn run_for(tool: &str, arguments: &[&str], seconds: u64) -> Option<String> {
    let looked = look(tool, arguments, seconds, u64::MAX).ok()?;
    String::from_utf8(looked.output).ok()
}

/// Runs a program that may hang on a failing medium, with a time limit in seconds and a limit on
/// its output in bytes; any exit status is a result.
pub(crate) fn look(
    tool: &str,
    arguments: &[&str],
    seconds: u64,
    most_bytes: u64,
) -> Result<ToolReport, ToolError> {
    let failed = |source: io::Error| not_started(tool, source);
    let mut child = prepare(tool)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let output = read_beside(child.stdout.take().expect("it was asked for"), most_bytes);
    let complaint =
        read_beside(child.stderr.take().expect("it was asked for"), MAX_COMPLAINT_BYTES);
    let Some(status) = wait_for(&mut child, Duration::from_secs(seconds)).map_err(failed)? else {
        // a program in uninterruptible sleep stays until its I/O returns; it is not waited for
        let _ = child.kill();
        return Err(ToolError::Late(seconds));
    };
    Ok(ToolReport {
        code: status.code(),
        output: output.join().unwrap_or_default(),
        complaint: last_line(&complaint.join().unwrap_or_default()),
    })
}

/// The last line of a text that has something in it.
fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    last.trim().to_owned()
}

/// Reads a pipe while its program runs: a full one would block it. Output beyond the limit is read
/// and dropped.
fn read_beside(
    mut pipe: impl Read + Send + 'static,
    most_bytes: u64,
) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // a pipe that breaks has nothing more to say
        let _ = pipe.by_ref().take(most_bytes).read_to_end(&mut bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
        bytes
    })
}

/// Waits for the end of a program; `None` if it does not end in time.
fn wait_for(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    const LONGEST_NAP: Duration = Duration::from_millis(20);
    let mut waited = Duration::ZERO;
    let mut nap = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if waited >= time {
            return Ok(None);
        }
        std::thread::sleep(nap);
        waited += nap;
        nap = (nap * 2).min(LONGEST_NAP);
    }
}

/// True if a program is installed in a directory that [`run`] searches.
pub(crate) fn is_there(tool: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = format!("{path}:{SYSTEM_FOLDERS}");
    folders
        .split(':')
        .filter(|folder| !folder.is_empty())
        .any(|folder| std::path::Path::new(folder).join(tool).is_file())
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
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            ToolError::Missing { package: package(&tool), tool }
        }
        _ => ToolError::Start { tool, source: error },
    }
}

/// Debian's package that contains a program.
pub(crate) fn package(tool: &str) -> &'static str {
    let of_mkfs = |kind| MKFS.iter().find(|(known, ..)| *known == kind).map(|row| row.1);
    match tool {
        "smartctl" => "smartmontools",
        "losetup" => "mount",
        "dd" => "coreutils",
        _ => tool.strip_prefix("mkfs.").and_then(of_mkfs).unwrap_or("util-linux"),
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
    fn an_error_message_and_a_missing_program_are_distinguished() {
        assert_eq!(run("echo", ["a", "b"]).unwrap(), "a b");
        let failed = run("sh", ["-c", "echo first >&2; echo no such medium >&2; exit 3"])
            .unwrap_err()
            .to_string();
        assert!(failed.ends_with("failed: no such medium"), "{failed}");
        insta::assert_snapshot!(run("mkfs.nilfs2-not-here", [""; 0]).unwrap_err(), @"mkfs.nilfs2-not-here is not installed; install the package util-linux");
    }

    #[test]
    fn a_program_that_hangs_is_left() {
        assert_eq!(run_for("sleep", &["30"], 0), None);
        assert_eq!(run_for("sh", &["-c", "echo out; exit 4"], 10).as_deref(), Some("out\n"));
        assert!(matches!(look("sleep", &["30"], 0, 1), Err(ToolError::Late(_))));
        assert!(matches!(look("blkid-not-here", &[], 1, 1), Err(ToolError::Missing { .. })));
    }

    #[test]
    fn too_much_output_is_read_to_its_end_and_cut() {
        let report = look(
            "sh",
            &["-c", "head -c 300000 /dev/zero; echo one >&2; echo two >&2; exit 8"],
            10,
            5,
        )
        .unwrap();
        assert_eq!(
            report,
            ToolReport { code: Some(8), output: vec![0; 5], complaint: "two".to_owned() }
        );
    }
}
