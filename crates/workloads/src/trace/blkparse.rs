//! The text that blkparse prints in its default form:
//! `8,0  3  11  0.009507758  697  C  W 223490 + 8 [0]`, one event a line, in the order of time.

use std::path::Path;

use super::kernel::{Action, BlockEvent, Interpreter, rwbs};
use super::lines::TraceLines;
use super::{Notes, Steps, TraceError, TraceEvent};

/// Lines by whose actions it is told whether there are events of the driver.
const SAMPLE: usize = 50_000;

/// True if this is a line of such a text.
pub(super) fn is_begun(line: &str) -> bool {
    event_or_else(line).is_some()
}

/// A line that begins as an event does: the event where it is about a request.
fn event_or_else(line: &str) -> Option<Option<BlockEvent>> {
    let mut words = line.split_ascii_whitespace();
    let (major, minor) = words.next()?.split_once(',')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    let _cpu: u32 = words.next()?.parse().ok()?;
    let _sequence: u64 = words.next()?.parse().ok()?;
    let time_ns = nanoseconds(words.next()?)?;
    let pid: u32 = words.next()?.parse().ok()?;
    let action = match words.next()? {
        "Q" => Action::Queued,
        "D" => Action::Issued,
        "C" => Action::Completed,
        "R" => Action::Requeued,
        _ => return Some(None),
    };
    let Some(what) = words.next().and_then(rwbs) else { return Some(None) };
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let sector = number();
    let plus = words.next();
    let sectors = words.next().and_then(|word| word.parse::<u64>().ok());
    let (offset_bytes, length_bytes) = match (sector, plus, sectors) {
        (Some(sector), Some("+"), Some(sectors)) => {
            (sector.wrapping_mul(512), sectors.saturating_mul(512))
        }
        // A flush has no place; a command to the drive itself is no I/O.
        _ if what.op == Some(device::Op::Flush) => (0, 0),
        _ => return Some(None),
    };
    Some(Some(BlockEvent {
        time_ns,
        action,
        what,
        offset_bytes,
        length_bytes,
        device: major << 20 | minor,
        pid,
    }))
}

/// Reads seconds with nine decimals.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    if fraction.len() != 9 {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}

/// Reads such a text.
pub(super) struct Blkparse {
    lines: TraceLines,
    interpreter: Interpreter,
}

impl Blkparse {
    /// Opens the file, and finds out from its first lines whether it has events of the driver.
    pub fn open(path: &Path) -> Result<Blkparse, TraceError> {
        let mut sample = TraceLines::open(path)?;
        let mut has_issues = false;
        for _ in 0..SAMPLE {
            let Some(line) = sample.next()? else { break };
            has_issues |=
                event_or_else(line).flatten().is_some_and(|event| event.action == Action::Issued);
        }
        Ok(Blkparse { lines: TraceLines::open(path)?, interpreter: Interpreter::new(has_issues) })
    }
}

impl Steps for Blkparse {
    fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        loop {
            if let Some(step) = self.interpreter.pop() {
                return Ok(Some(step));
            }
            // Messages, and the summary at the end, are no events.
            match self.lines.next()? {
                Some(line) => {
                    if let Some(event) = event_or_else(line).flatten() {
                        self.interpreter.take(&event);
                    }
                }
                None => return Ok(None),
            }
        }
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }
}
