//! A trace that is text, line by line.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::TraceError;

/// No line of a text is longer.
const MAX_LINE_BYTES: usize = 64 << 10;

/// A text, line by line.
pub(super) struct TraceLines {
    path: PathBuf,
    input: BufReader<File>,
    raw: Vec<u8>,
    line: String,
    number: u64,
}

impl TraceLines {
    pub fn open(path: &Path) -> Result<TraceLines, TraceError> {
        let file = File::open(path).map_err(|error| TraceError::unreadable(path, &error))?;
        let input = BufReader::with_capacity(256 << 10, file);
        Ok(TraceLines {
            path: path.to_owned(),
            input,
            raw: Vec::new(),
            line: String::new(),
            number: 0,
        })
    }

    /// The next line without its end.
    pub fn next(&mut self) -> Result<Option<&str>, TraceError> {
        self.raw.clear();
        let mut limited = std::io::Read::take(&mut self.input, MAX_LINE_BYTES as u64);
        let got = limited
            .read_until(b'\n', &mut self.raw)
            .map_err(|error| TraceError::unreadable(&self.path, &error))?;
        if got == 0 {
            return Ok(None);
        }
        self.number += 1;
        if got == MAX_LINE_BYTES && !self.ended_by_newline() {
            return Err(self.damaged("the line has no end"));
        }
        self.line.clear();
        self.line.push_str(&String::from_utf8_lossy(&self.raw));
        Ok(Some(self.line.trim_end()))
    }

    /// True if the line that was read last is whole.
    pub fn ended_by_newline(&self) -> bool {
        self.raw.last() == Some(&b'\n')
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// It is broken in this line.
    pub fn damaged(&self, what: impl Display) -> TraceError {
        self.damaged_at(self.number, what)
    }

    /// It is broken in a line before.
    pub fn damaged_at(&self, line: u64, what: impl Display) -> TraceError {
        TraceError::damaged(&self.path, format_args!("line {line}"), what)
    }
}
