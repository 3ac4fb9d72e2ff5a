//! fio's logs of I/O, versions 2 and 3 (fio's manual, "Trace file format").
//!
//! They say when each I/O was begun (version 3, in microseconds) or how long was waited before it
//! (version 2), and never when it was done. Their files become ranges of the medium, one behind the
//! other.

use std::path::Path;

use device::Op;

use super::lines::TraceLines;
use super::{Issue, Steps, TraceError, TraceEvent};

/// What a log's first line is made of.
const OPENING: &str = "fio version ";
const CLOSING: &str = " iolog";

/// The version in a first line; `None` if it is none of fio's.
pub(super) fn version(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix(OPENING)?.strip_suffix(CLOSING)
}

/// A fio iolog, read line by line.
pub(super) struct Iolog {
    lines: TraceLines,
    timed: bool,
    time_ns: u64,
    files: Vec<String>,
    cut_off: Option<String>,
}

impl Iolog {
    /// Opens the file, and reads from its first line whether it is of version 2 or 3.
    pub fn open(path: &Path) -> Result<Iolog, TraceError> {
        let mut lines = TraceLines::open(path)?;
        let first = lines.next()?.unwrap_or_default().to_owned();
        let timed = match version(&first) {
            Some("2") => false,
            Some("3") => true,
            found => {
                let found = found.unwrap_or("unknown");
                let found = format_args!(
                    "is a fio iolog of version {found}; this flashmark reads versions 2 and 3"
                );
                return Err(TraceError::of(path, found));
            }
        };
        Ok(Iolog { lines, timed, time_ns: 0, files: Vec::new(), cut_off: None })
    }

    /// The number of a file.
    fn file(&mut self, name: &str) -> u32 {
        let known = self.files.iter().position(|file| file == name);
        let at = known.unwrap_or_else(|| {
            self.files.push(name.to_owned());
            self.files.len() - 1
        });
        at as u32
    }

    /// What a line says; `Err` with what is wrong with it.
    fn step(&mut self, line: &str) -> Result<Option<TraceEvent>, String> {
        let mut words = line.split_ascii_whitespace();
        if self.timed {
            let Some(first) = words.next() else { return Ok(None) };
            let time: u64 =
                first.parse().map_err(|_| format!("'{first}' is no time in microseconds"))?;
            self.time_ns = time.saturating_mul(1000);
        }
        let Some(name) = words.next() else {
            return if self.timed { Err("the line ends after the time".into()) } else { Ok(None) };
        };
        let action = words.next().ok_or("there is no action after the file's name")?;
        let mut number = |what: &str| {
            let word = words.next().ok_or(format!("{action} has no {what}"))?;
            word.parse::<u64>().map_err(|_| format!("'{word}' is no {what} in bytes"))
        };
        let op = match action {
            "read" => Op::Read,
            "write" => Op::Write,
            "trim" => Op::Discard,
            "sync" | "datasync" | "sync_file_range" => Op::Flush,
            "add" | "open" | "close" => {
                self.file(name);
                return Ok(None);
            }
            "wait" if !self.timed => {
                let micros = number("time")?;
                self.time_ns = self.time_ns.saturating_add(micros.saturating_mul(1000));
                return Ok(None);
            }
            other => return Err(format!("'{other}' is no action of an iolog's")),
        };
        let (offset_bytes, length_bytes) =
            if op == Op::Flush { (0, 0) } else { (number("offset")?, number("length")?) };
        if op != Op::Flush && length_bytes == 0 {
            return Ok(None);
        }
        let device = self.file(name);
        Ok(Some(TraceEvent::Issued(Issue {
            time_ns: self.time_ns,
            op,
            fua: false,
            offset_bytes,
            length_bytes,
            device,
        })))
    }
}

impl Steps for Iolog {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        while let Some(line) = self.lines.next()? {
            let line = line.to_owned();
            match self.step(&line) {
                // The last line of a log that was cut off may even look whole; without its end it
                // is not believed.
                _ if !self.lines.ended_by_newline() => {
                    self.cut_off = Some(format!("it breaks off in line {}", self.lines.number()));
                    return Ok(None);
                }
                Ok(Some(step)) => return Ok(Some(step)),
                Ok(None) => {}
                Err(what) => return Err(self.lines.damaged(what)),
            }
        }
        Ok(None)
    }

    fn cut_off(&self) -> Option<String> {
        self.cut_off.clone()
    }
}
