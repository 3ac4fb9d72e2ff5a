//! Exit codes, all in one place, and the failure that carries one.

use std::fmt;
use std::process::ExitCode;

use device::{IoError, IoErrorKind};
use record::{Ended, Record, Severity, Stop};

/// End of the program. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The task is done, and no check failed.
    Done = 0,
    /// The medium failed a check (fake, verify error, less than it claims).
    MediumFailed = 1,
    /// The command line, a suite, a profile or a given file cannot be understood.
    Usage = 2,
    /// Refused for safety; nothing was written.
    Refused = 3,
    /// I/O error on the medium; a partial record was kept.
    Io = 4,
    /// A bug of the program, or a fault of the machine beside the medium.
    Internal = 5,
    /// Interrupted; the record was kept and can be resumed.
    Interrupted = 130,
}

impl Exit {
    /// Exit code of a run, from its record and the last error of the medium.
    pub fn of(record: &Record, error: Option<&IoError>) -> Exit {
        match (&record.run.ended, error) {
            (_, Some(error)) if error.kind == IoErrorKind::Refused || is_size_limit(error) => {
                Exit::Internal
            }
            (Ended::Interrupted, _) => Exit::Interrupted,
            (Ended::Error, Some(_)) => Exit::Io,
            (Ended::Error, None) if record.cells.iter().any(|cell| cell.stop == Stop::Error) => {
                Exit::Io
            }
            (Ended::Error, None) => Exit::Refused,
            _ if record.findings.iter().any(|found| found.severity == Severity::Failure) => {
                Exit::MediumFailed
            }
            _ => Exit::Done,
        }
    }
}

/// True if a file met the limit of its size (`ulimit -f`), which no medium sets.
fn is_size_limit(error: &IoError) -> bool {
    error.errno == Some(rustix::io::Errno::FBIG.raw_os_error())
}

impl Exit {
    /// Reads a code with which this program ended.
    pub fn from_code(code: i32) -> Exit {
        let all = [
            Exit::Done,
            Exit::MediumFailed,
            Exit::Usage,
            Exit::Refused,
            Exit::Io,
            Exit::Interrupted,
        ];
        all.into_iter().find(|exit| *exit as i32 == code).unwrap_or(Exit::Internal)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// The reason why the program cannot go on: one line for people, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// The code that the program ends with.
    pub exit: Exit,
    /// Cause, and what to type instead.
    pub error: anyhow::Error,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = self.error.to_string();
        f.write_str(&message)?;
        // Many an error says in its own words what caused it: nobody wants to read that twice.
        let more = self
            .error
            .chain()
            .skip(1)
            .map(ToString::to_string)
            .filter(|cause| !message.contains(cause.as_str()));
        more.take(1).try_for_each(|cause| write!(f, ": {cause}"))
    }
}

/// Result of a command.
pub type Result<T = Exit> = std::result::Result<T, Failure>;

/// Gives an error its exit code.
pub trait OrExit<T> {
    /// Blames the command line or a given file.
    fn or_usage(self) -> Result<T>;
    /// Refuses for safety.
    fn or_refuse(self) -> Result<T>;
    /// Blames the medium.
    fn or_io(self) -> Result<T>;
    /// Blames this program or the machine.
    fn or_internal(self) -> Result<T>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for std::result::Result<T, E> {
    fn or_usage(self) -> Result<T> {
        self.map_err(|error| Failure { exit: Exit::Usage, error: error.into() })
    }
    fn or_refuse(self) -> Result<T> {
        self.map_err(|error| Failure { exit: Exit::Refused, error: error.into() })
    }
    fn or_io(self) -> Result<T> {
        self.map_err(|error| Failure { exit: Exit::Io, error: error.into() })
    }
    fn or_internal(self) -> Result<T> {
        self.map_err(|error| Failure { exit: Exit::Internal, error: error.into() })
    }
}

/// Usage error with this message.
pub fn usage<T>(message: impl fmt::Display) -> Result<T> {
    Err(anyhow::anyhow!("{message}")).or_usage()
}

/// Refusal with this message.
pub fn refuse<T>(message: impl fmt::Display) -> Result<T> {
    Err(anyhow::anyhow!("{message}")).or_refuse()
}
