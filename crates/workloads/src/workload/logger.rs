//! `logger`: a log that must not be lost. A line is appended, then the file is made durable, line
//! after line, as syslog does with files that are not marked with `-`, and every database, broker
//! and mail server in some form. The result is the time of a commit, and the longest one.

use std::fs::OpenOptions;
use std::io::Write as _;

use blockio::now_ns;
use record::units::MIB;
use record::{Cell, Content, Direction, Params, Pattern, Sync};
use suite::TestSettings;
use suite::typed_settings::{TypedSettings as _, settings};

use super::ledger::{Ledger, buffered};
use super::run::WorkloadRun;
use super::{InspectionPoint, WorkError, Workload, WorkloadContext, WorkloadKind};

pub(super) const KIND: WorkloadKind = WorkloadKind {
    name: "logger",
    defaults: || TestSettings::of("logger", Logger::LIST),
    make: |settings| {
        let logger = Logger::read(settings)?;
        if logger.line > MIB {
            return Err(settings.bad("line", "a line has at most 1 MiB"));
        }
        Ok(Box::new(logger))
    },
};

settings! {
    Logger {
        lines: Count = "2000", "how many lines";
        line: Size = "128", "bytes of a line";
        sync: Word(["file", "data"]) = "file",
            "how a line is made durable: file (fsync), data (fdatasync)";
        max_time: Time = "60s", "at most this long";
    }
}

impl Logger {
    fn params(&self, form: &str) -> Params {
        Params {
            direction: Some(Direction::Write),
            pattern: Some(Pattern::Sequential),
            block_bytes: Some(self.line),
            sync: if self.sync == "data" { Sync::Data } else { Sync::File },
            content: Some(Content::Byte(b'.')),
            ..buffered(form)
        }
    }
}

impl Workload for Logger {
    fn needs_bytes(&self) -> u64 {
        // Journals and logs of the file system grow with every commit before they are reused.
        self.lines * self.line + (16 << 20)
    }

    /// Returns the cells `commit` (a line and its sync together; `iops` are lines per second),
    /// `append` and `sync`.
    fn run(&self, context: &mut WorkloadContext<'_>) -> Result<Vec<Cell>, WorkError> {
        let mut run = WorkloadRun::begin(KIND.name, context)?;
        let made = OpenOptions::new().append(true).create_new(true).open(run.path("log"));
        let mut log = run.check("making the log", made)?;
        let mut line = vec![b'.'; self.line as usize];
        let (mut commits, mut appends, mut syncs) =
            (Ledger::default(), Ledger::default(), Ledger::default());
        let stop = run.steps("logging", self.lines, self.max_time, |run, number| {
            number_line(&mut line, number);
            let before_ns = now_ns();
            run.check("appending to the log", log.write_all(&line))?;
            let between_ns = now_ns();
            let durable = if self.sync == "data" {
                rustix::fs::fdatasync(&log)
            } else {
                rustix::fs::fsync(&log)
            };
            run.check("making the log durable", durable)?;
            let after_ns = now_ns();
            appends.count(before_ns, between_ns, self.line);
            syncs.count(between_ns, after_ns, 0);
            commits.count(before_ns, after_ns, self.line);
            Ok(())
        })?;
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
    let length = text.len().min(line.len());
    line[..length].copy_from_slice(&text.as_bytes()[..length]);
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
}
