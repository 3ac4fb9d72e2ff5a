//! What is wrong with a journal, and what that costs.

use std::fmt;

/// Something in a journal that is not as it was written. It costs what it says and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, counted from 1; of several in succession the first.
    pub first: u64,
    /// The last of several lines in succession; else the same.
    pub last: u64,
    /// What is wrong there.
    pub wrong: Wrong,
    /// Ids of cells that have no result because of it, as far as that is known. `resume` measures
    /// them again.
    pub cells: Vec<String>,
}

/// What can be wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The last line is incomplete: it was being written when the program was ended, and was never
    /// acknowledged.
    Torn,
    /// The line does not pass its checksum, or has none: what is wrong with it.
    Flipped(String),
    /// The line is not there.
    Missing,
    /// The line stands there more than once; it counts once.
    Doubled,
    /// The line stands before one that was written earlier; it is read in its place.
    Misplaced,
    /// Behind the line (0: before the first) stand lines that were written for another run; they
    /// are left out.
    Foreign,
    /// Behind the line (0: before the first) stands something that is none.
    Junk,
    /// The line is as it was written, but this version does not know what it says: why.
    Unknown(String),
    /// The first line is damaged; its copy was read instead.
    Header,
    /// Nothing can be read, but the record is there: why.
    Unreadable(String),
}

impl Damage {
    /// One line, by its number.
    pub(crate) fn of_line(number: u64, wrong: Wrong) -> Damage {
        Damage { first: number, last: number, wrong, cells: Vec::new() }
    }

    /// True if something that was acknowledged may be missing.
    pub fn is_loss(&self) -> bool {
        matches!(
            self.wrong,
            Wrong::Flipped(_) | Wrong::Missing | Wrong::Unknown(_) | Wrong::Unreadable(_)
        )
    }

    /// True if it is worth telling a person: a torn last line costs nothing that was acknowledged.
    pub fn is_told(&self) -> bool {
        self.wrong != Wrong::Torn
    }

    /// Adds to a list; what goes on where the last one ends becomes part of it.
    pub(crate) fn join(self, list: &mut Vec<Damage>) {
        match list.last_mut() {
            Some(before) if before.goes_on_with(&self) => before.last = self.last,
            _ => list.push(self),
        }
    }

    fn goes_on_with(&self, next: &Damage) -> bool {
        let may_join = matches!(
            next.wrong,
            Wrong::Missing | Wrong::Doubled | Wrong::Misplaced | Wrong::Foreign | Wrong::Junk
        );
        may_join
            && self.wrong == next.wrong
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
        match &self.wrong {
            Wrong::Torn => f.write_str("the last line of the journal is incomplete: it was being written when the program was ended"),
            Wrong::Flipped(_) => write!(f, "{}: {}", self.lines("is damaged", "are damaged"), self.cost()),
            Wrong::Missing => write!(f, "{}: {}", self.lines("is missing", "are missing"), self.cost()),
            Wrong::Doubled => write!(f, "{}", self.lines("is there twice: it counts once", "are there twice: they count once")),
            Wrong::Misplaced => {
                write!(
                    f,
                    "{}",
                    self.lines("is out of order: it was read in its place", "are out of order: they were read in their place")
                )
            }
            Wrong::Foreign => write!(f, "{} are lines of another run: they are left out", self.place()),
            Wrong::Junk => write!(f, "{} is something that is not a line of it: it is left out", self.place()),
            Wrong::Unknown(reason) => {
                write!(f, "{} ({reason}): {}", self.lines("cannot be understood", "cannot be understood"), self.cost())
            }
            Wrong::Header => f.write_str("line 1 of the journal is damaged: its copy was read instead, nothing is lost"),
            Wrong::Unreadable(reason) => write!(f, "{reason}; its record stands alone"),
        }
    }
}
