//! Numbers of the lines of a journal, which the checksum covers.
//!
//! A line of form 2 begins with its number, counted from 1 (the header), and with the checksum of
//! the header of its journal: `{"line":7,"of":"1a2b3c4d",` and then the event as in form 1. So a
//! line that is missing, doubled, out of order or from another journal is recognised. Lines of form
//! 1 have neither.

use std::collections::{HashMap, HashSet};

use crate::damage::{Damage, LineDamage};
use crate::line::{LinePiece, checksum};

/// Way in which the lines behind the header are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By their position alone: form 1.
    Place,
    /// By the number they carry: form 2.
    Number {
        /// Checksum of the header.
        of: u32,
        /// Number of the next line that is written.
        next: u64,
    },
}

impl Numbering {
    /// JSON text of an event as the next line holds it.
    pub fn number(self, json: &str) -> String {
        match (self, json.strip_prefix('{')) {
            (Numbering::Number { of, next }, Some(rest)) => {
                format!("{{\"line\":{next},\"of\":\"{of:08x}\",{rest}")
            }
            _ => json.to_owned(),
        }
    }

    /// Moves on to the line after that.
    pub fn advance(&mut self) {
        if let Numbering::Number { next, .. } = self {
            *next = next.saturating_add(1);
        }
    }
}

/// A line that carries a number.
pub(crate) struct Numbered {
    pub number: u64,
    pub of: u32,
    /// The event, as in form 1.
    pub json: Vec<u8>,
}

/// Removes number and header's checksum from a line of form 2; `None` where it is no such line.
pub(crate) fn split(line: &[u8]) -> Option<Numbered> {
    let rest = line.strip_prefix(b"{\"line\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let rest = rest[digits..].strip_prefix(b",\"of\":\"")?;
    let (of, rest) = rest.split_at_checked(8)?;
    let of = u32::from_str_radix(std::str::from_utf8(of).ok()?, 16).ok()?;
    let json = [b"{", rest.strip_prefix(b"\",")?].concat();
    Some(Numbered { number, of, json })
}

/// Events of a journal in the order in which they were written, each with the number of its line,
/// and the damage that was found.
#[derive(Default)]
pub(crate) struct Ordered {
    pub events: Vec<(u64, Vec<u8>)>,
    pub damage: Vec<Damage>,
    /// Number of the line that comes next.
    pub next: u64,
}

/// True if a line looks like the first one of a journal.
pub(crate) fn looks_like_header(json: &[u8]) -> bool {
    [&b"{\"form\":\"flashmark-journal/"[..], b"{\"line\":1,\"form\":\"flashmark-journal/"]
        .iter()
        .any(|start| json.starts_with(start))
}

/// Id of the cell whose result a damaged line held, if it can still be read.
fn held_cell(bytes: &[u8]) -> Vec<String> {
    let start: &[u8] = b"\"cell\":{\"id\":\"";
    // Number and checksums come before it; further in, other texts begin.
    let head = &bytes[..bytes.len().min(400)];
    let Some(place) = head.windows(start.len()).position(|window| window == start) else {
        return Vec::new();
    };
    let id = head[place + start.len()..].split(|byte| *byte == b'"').next().unwrap_or_default();
    std::str::from_utf8(id).map(|id| vec![id.to_owned()]).unwrap_or_default()
}

/// Orders lines of form 1, whose position is their number. `header` is the first line's text.
pub(crate) fn by_place(pieces: &[LinePiece<'_>], header: &[u8]) -> Ordered {
    let mut found = Ordered::default();
    let (mut seen, mut repeated, mut foreign) = (HashSet::new(), false, false);
    let mut previous: &[u8] = b"";
    for (number, piece) in (1..).zip(pieces) {
        match *piece {
            LinePiece::Bad { .. } if number == 1 => {
                Damage::of_line(1, LineDamage::Header).join(&mut found.damage)
            }
            LinePiece::Bad { bytes, reason } => {
                let cells = held_cell(bytes);
                Damage { cells, ..Damage::of_line(number, LineDamage::Flipped(reason.to_owned())) }
                    .join(&mut found.damage);
            }
            LinePiece::Line(json) => {
                let is_header = json == header;
                foreign = !is_header && (foreign || looks_like_header(json));
                let twice = !seen.insert(json)
                    && (is_header
                        || repeated
                        || previous == json && json.starts_with(b"{\"cell\":"));
                repeated |= is_header && twice;
                if foreign {
                    Damage::of_line(number - 1, LineDamage::Foreign).join(&mut found.damage);
                } else if twice {
                    Damage::of_line(number, LineDamage::Doubled).join(&mut found.damage);
                } else if !is_header {
                    found.events.push((number, json.to_owned()));
                }
                previous = json;
            }
        }
    }
    found.next = pieces.len() as u64 + 1;
    found
}

/// A stretch that is not a line of this journal, and the number of the line before it.
struct Gap<'a> {
    after: u64,
    bytes: &'a [u8],
    reason: &'static str,
}

/// Orders lines of form 2 by their numbers. `header` is the first line's text.
pub(crate) fn by_number(pieces: &[LinePiece<'_>], header: &[u8]) -> Ordered {
    let own = checksum(header);
    let mut found = ByNumber::default();
    let mut has_header = false;
    for piece in pieces {
        match *piece {
            LinePiece::Line(json) if json == header => {
                if std::mem::replace(&mut has_header, true) {
                    found.damaged(1, LineDamage::Doubled);
                }
                found.before = found.before.max(1);
            }
            LinePiece::Line(json) => {
                match split(json).filter(|line| line.of == own && line.number > 1) {
                    Some(line) => found.take(line),
                    None => found.damaged(found.before, LineDamage::Foreign),
                }
            }
            LinePiece::Bad { bytes, reason } => {
                found.bad.push(Gap { after: found.before, bytes, reason })
            }
        }
    }
    let ByNumber { mut ordered, bad, .. } = found;
    ordered.events.sort_by_key(|(number, _)| *number);
    ordered.name_gaps(&bad, has_header);
    ordered
}

/// State while lines of form 2 are read.
#[derive(Default)]
struct ByNumber<'a> {
    ordered: Ordered,
    bad: Vec<Gap<'a>>,
    /// Checksums of the events, by number.
    seen: HashMap<u64, u32>,
    /// Highest number so far.
    before: u64,
}

impl ByNumber<'_> {
    fn damaged(&mut self, number: u64, kind: LineDamage) {
        Damage::of_line(number, kind).join(&mut self.ordered.damage);
    }

    fn take(&mut self, line: Numbered) {
        let event = checksum(&line.json);
        match self.seen.insert(line.number, event) {
            Some(first) if first == event => return self.damaged(line.number, LineDamage::Doubled),
            // Two lines with one number and different events: both pass their checksum, so both
            // count.
            Some(_) => self.damaged(line.number, LineDamage::Misplaced),
            None if line.number < self.before => self.damaged(line.number, LineDamage::Misplaced),
            None => {}
        }
        self.before = self.before.max(line.number);
        self.ordered.events.push((line.number, line.json));
    }
}

impl Ordered {
    /// Gives each bad stretch the number of a missing line, while there are any; the numbers left
    /// over are reported as missing.
    fn name_gaps(&mut self, bad: &[Gap<'_>], has_header: bool) {
        let mut bad = bad.iter().peekable();
        let mut before = u64::from(has_header);
        let numbers: Vec<u64> = self.events.iter().map(|(number, _)| *number).collect();
        let mut found = Vec::new();
        // The numbers behind the last line are unknown: each bad stretch there counts as one line.
        for number in numbers.into_iter().map(Some).chain([None]) {
            while let Some(gap) = bad.next_if(|gap| number.is_none_or(|number| gap.after < number))
            {
                let is_line = number.is_none_or(|number| before.saturating_add(1) < number);
                before = before.saturating_add(u64::from(is_line));
                gap.damage(before, is_line).join(&mut found);
            }
            let Some(number) = number else { break };
            if before.saturating_add(1) < number {
                let (first, kind) = if before == 0 {
                    (2, LineDamage::Header)
                } else {
                    (before + 1, LineDamage::Missing)
                };
                if kind == LineDamage::Header {
                    Damage::of_line(1, kind).join(&mut found);
                }
                if first < number {
                    Damage {
                        first,
                        last: number - 1,
                        kind: LineDamage::Missing,
                        cells: Vec::new(),
                    }
                    .join(&mut found);
                }
            }
            before = before.max(number);
        }
        if before == 0 {
            Damage::of_line(1, LineDamage::Header).join(&mut found);
        }
        self.next = before.max(1).saturating_add(1);
        found.append(&mut self.damage);
        self.damage = found;
    }
}

impl Gap<'_> {
    fn damage(&self, number: u64, is_line: bool) -> Damage {
        let kind = match (is_line, number) {
            (false, _) => return Damage::of_line(self.after, LineDamage::Junk),
            (true, 1) => return Damage::of_line(1, LineDamage::Header),
            (true, _) => LineDamage::Flipped(self.reason.to_owned()),
        };
        Damage { cells: held_cell(self.bytes), ..Damage::of_line(number, kind) }
    }
}
