//! Damage of a journal and its cost.

use std::fmt;

/// A damaged place of a journal. It costs the cells that it names and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Number of the line, from 1; the first of several in succession.
    pub first: u64,
    /// Number of the last of several lines in succession; else the same as `first`.
    pub last: u64,
    /// Kind of the damage.
    pub kind: LineDamage,
    /// Ids of the cells that have no result because of it, as far as known. `resume` measures them
    /// again.
    pub cells: Vec<String>,
}

/// Kinds of damage of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineDamage {
    /// The last line is incomplete: the program was ended while it wrote the line, which was never
    /// acknowledged.
    Torn,
    /// The line fails its checksum, or has none; with the reason.
    Flipped(String),
    /// The line is missing.
    Missing,
    /// The line is in the journal more than once; it counts once.
    Doubled,
    /// The line is before one that was written earlier; it is read in its right place.
    Misplaced,
    /// Behind the line (0: before the first) are lines that were written for another run; they are
    /// left out.
    Foreign,
    /// Behind the line (0: before the first) are bytes that are not a line.
    Junk,
    /// The line passes its checksum, but this version does not know its content; with the reason.
    Unknown(String),
    /// The first line is damaged; its copy was read instead.
    Header,
    /// The journal cannot be read, but the record is there; with the reason.
    Unreadable(String),
}

impl Damage {
    /// Damage of one line, by its number.
    pub(crate) fn of_line(number: u64, kind: LineDamage) -> Damage {
        Damage { first: number, last: number, kind, cells: Vec::new() }
    }

    /// True if something that was acknowledged may be missing.
    pub fn is_loss(&self) -> bool {
        matches!(
            self.kind,
            LineDamage::Flipped(_)
                | LineDamage::Missing
                | LineDamage::Unknown(_)
                | LineDamage::Unreadable(_)
        )
    }

    /// True if a person should see it: a torn last line costs nothing that was acknowledged.
    pub fn is_reported(&self) -> bool {
        self.kind != LineDamage::Torn
    }

    /// Adds to a list; damage that continues the last entry becomes part of it.
    pub(crate) fn join(self, list: &mut Vec<Damage>) {
        match list.last_mut() {
            Some(before) if before.goes_on_with(&self) => before.last = self.last,
            _ => list.push(self),
        }
    }

    fn goes_on_with(&self, next: &Damage) -> bool {
        let may_join = matches!(
            next.kind,
            LineDamage::Missing
                | LineDamage::Doubled
                | LineDamage::Misplaced
                | LineDamage::Foreign
                | LineDamage::Junk
        );
        may_join
            && self.kind == next.kind
            && (self.last..=self.last.saturating_add(1)).contains(&next.first)
    }

    fn lines(&self, one: &str, several: &str) -> String {
        match self.last {
            last if last == self.first => format!("line {} of the journal {one}", self.first),
            last => format!("lines {} to {last} of the journal {several}", self.first),
        }
    }

    fn place(&self) -> String {
        match self.first {
            0 => "before line 1 of the journal".to_owned(),
            line => format!("behind line {line} of the journal"),
        }
    }

    fn cost(&self) -> String {
        match &self.cells[..] {
            [] => "no cell is known to be lost".to_owned(),
            [cell] => format!("cell {cell} is measured again by resume"),
            cells => format!("cells {} are measured again by resume", cells.join(", ")),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LineDamage::Torn => f.write_str("the last line of the journal is incomplete: it was being written when the program was ended"),
            LineDamage::Flipped(_) => write!(f, "{}: {}", self.lines("is damaged", "are damaged"), self.cost()),
            LineDamage::Missing => write!(f, "{}: {}", self.lines("is missing", "are missing"), self.cost()),
            LineDamage::Doubled => write!(f, "{}", self.lines("is there twice: it counts once", "are there twice: they count once")),
            LineDamage::Misplaced => {
                write!(
                    f,
                    "{}",
                    self.lines("is out of order: it was read in its place", "are out of order: they were read in their place")
                )
            }
            LineDamage::Foreign => write!(f, "{} are lines of another run: they are left out", self.place()),
            LineDamage::Junk => write!(f, "{} is something that is not a line of it: it is left out", self.place()),
            LineDamage::Unknown(reason) => {
                write!(f, "{} ({reason}): {}", self.lines("cannot be understood", "cannot be understood"), self.cost())
            }
            LineDamage::Header => f.write_str("line 1 of the journal is damaged: its copy was read instead, nothing is lost"),
            LineDamage::Unreadable(reason) => write!(f, "{reason}; its record stands alone"),
        }
    }
}
