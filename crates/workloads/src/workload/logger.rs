//! `logger`: a log that must not be lost. A line is appended, then the file is made durable, line
//! after line, as syslog does with files that are not marked with `-`, and every database, broker
//! and mail server in some form. The result is the time of a commit, and the longest one.

use std::fs::OpenOptions;
use std::io::Write as _;

use record::{Cell, Content, Direction, Params, Path, Pattern, Region, Stop, Sync};
use suite::{Setting, SettingError, TestSettings};

use super::clock::now_ns;
use super::ledger::{Ledger, sys};
use super::run::WorkloadRun;
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "logger",
    about: "appends lines and makes each durable: commits per second, and the longest",
    source: "syslog's synchronous files",
    settings: &[
        Setting { name: "lines", default: "2000", about: "how many lines" },
        Setting { name: "line", default: "128", about: "bytes of a line" },
        Setting {
            name: "sync",
            default: "file",
            about: "how a line is made durable: file (fsync), data (fdatasync)",
        },
        Setting { name: "max_time", default: "60s", about: "at most this long" },
    ],
    make: |settings| Ok(Box::new(Logger::new(settings)?)),
};

struct Logger {
    lines: u64,
    line_bytes: u64,
    sync: Sync,
    max_ns: u64,
}

impl Logger {
    fn new(settings: &TestSettings) -> Result<Logger, SettingError> {
        let sync = match settings.choice("sync", &["file", "data"])? {
            "data" => Sync::Data,
            _ => Sync::File,
        };
        let line_bytes = settings.size("line")?;
        if line_bytes > 1 << 20 {
            return Err(settings.bad("line", "a line has at most 1 MiB"));
        }
        Ok(Logger {
            lines: settings.count("lines")?,
            line_bytes,
            sync,
            max_ns: settings.duration_ns("max_time")?,
        })
    }

    fn params(&self, form: &str) -> Params {
        Params {
            direction: Some(Direction::Write),
            pattern: Some(Pattern::Sequential),
            block_bytes: Some(self.line_bytes),
            region: Some(Region::File),
            sync: self.sync,
            path: Path::Buffered,
            content: Some(Content::Byte(b'.')),
            form: Some(form.into()),
            queue_depth: 1,
            threads: 1,
            ..Params::default()
        }
    }
}

impl Workload for Logger {
    fn name(&self) -> &str {
        KIND.name
    }

    fn needs_bytes(&self) -> u64 {
        // Journals and logs of the file system grow with every commit before they are reused.
        self.lines * self.line_bytes + (16 << 20)
    }

    /// Returns the cells `commit` (a line and its sync together; `iops` are lines per second),
    /// `append` and `sync`.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let mut run = WorkloadRun::begin(KIND.name, context)?;
        let path = run.path("log");
        let mut log = run.check(
            "making the log",
            OpenOptions::new().append(true).create_new(true).open(&path),
        )?;
        let mut line = vec![b'.'; self.line_bytes as usize];
        let (mut commits, mut appends, mut syncs) =
            (Ledger::default(), Ledger::default(), Ledger::default());
        let started_ns = now_ns();
        let mut stop = Stop::Ops;
        for number in 0..self.lines {
            number_line(&mut line, number);
            let before_ns = now_ns();
            run.check("appending to the log", log.write_all(&line))?;
            let between_ns = now_ns();
            let durable = if self.sync == Sync::Data {
                rustix::fs::fdatasync(&log)
            } else {
                rustix::fs::fsync(&log)
            };
            run.check("making the log durable", sys(durable))?;
            let after_ns = now_ns();
            appends.count(before_ns, between_ns, self.line_bytes);
            syncs.count(between_ns, after_ns, 0);
            commits.count(before_ns, after_ns, self.line_bytes);
            run.checkpoint("logging", (number + 1) as f64 / self.lines as f64, number + 1)?;
            if after_ns - started_ns >= self.max_ns {
                stop = Stop::Time;
                break;
            }
        }
        drop(log);
        run.show(InspectionPoint::After);
        run.end()?;
        Ok(vec![
            commits.cell(KIND.name, 1, self.params("commit"), stop),
            appends.cell(KIND.name, 2, Params { sync: Sync::None, ..self.params("append") }, stop),
            syncs.cell(KIND.name, 3, self.params("sync"), stop),
        ])
    }
}

/// Writes the line's number at its start, as far as it fits, and a line break at its end.
fn number_line(line: &mut [u8], number: u64) {
    let text = format!("{number:08} ");
    let text = text.as_bytes();
    let length = text.len().min(line.len());
    line[..length].copy_from_slice(&text[..length]);
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
}
