//! Bookkeeping of the lines of a text. Importers mark the lines that they used or refuse;
//! [`Reading::left`] lists the rest.

use std::fmt;

use record::Cell;

use super::clean::CleanText;
use super::imported_run::{self, ImportedRun};
use super::text::{FIGURE, ImportText, decimal, re, short};
use super::{MAX_CELLS, MAX_LISTED, MAX_MEDIA, UnreadLine};

/// State of the lines of a text while importers read it.
pub(super) struct Reading<'a> {
    cleaned: &'a CleanText,
    lines: &'a [&'a str],
    taken: Vec<bool>,
    /// Refused lines with the reason, in the order in which they were found.
    refused: Vec<(usize, String)>,
    cells: usize,
}

impl<'a> Reading<'a> {
    pub fn new(cleaned: &'a CleanText, source: &'a ImportText<'a>) -> Reading<'a> {
        Reading {
            cleaned,
            lines: &source.lines,
            taken: vec![false; source.lines.len()],
            refused: Vec::new(),
            cells: 0,
        }
    }

    /// Marks a line as used, or as part of a used output.
    pub fn take(&mut self, at: usize) {
        if let Some(taken) = self.taken.get_mut(at) {
            *taken = true;
        }
    }

    /// Marks `count` lines.
    pub fn take_many(&mut self, at: usize, count: usize) {
        (at..at.saturating_add(count).min(self.taken.len())).for_each(|at| self.taken[at] = true);
    }

    /// True if a line was used.
    pub fn is_taken(&self, at: usize) -> bool {
        self.taken.get(at).copied().unwrap_or(false)
    }

    /// Refuses a line of a tool that cannot be read or is impossible.
    pub fn refuse(&mut self, at: usize, what: impl fmt::Display) {
        if self.refused.len() < MAX_LISTED * 10 {
            self.refused.push((at, what.to_string()));
        }
    }

    /// Marks a line and adds its result, if that is possible and there is room for it.
    pub fn add(&mut self, found: &mut ImportedRun, at: usize, cell: Cell) {
        self.add_all(found, at, [cell]);
    }

    /// Marks a line and adds all of its results.
    pub fn add_all(
        &mut self,
        found: &mut ImportedRun,
        at: usize,
        cells: impl IntoIterator<Item = Cell>,
    ) {
        for cell in cells {
            self.take(at);
            if self.cells == MAX_CELLS {
                self.refuse(at, format_args!("more than {MAX_CELLS} results; this is left out"));
                return;
            }
            if let Err(what) = imported_run::check_cell(&cell) {
                self.refuse(at, what);
                continue;
            }
            self.cells += 1;
            found.cells.push((at, cell));
        }
    }

    /// Value of a result; an error is refused at its line.
    pub fn accept<T>(&mut self, at: usize, result: Result<T, String>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(what) => {
                self.refuse(at, what);
                None
            }
        }
    }

    /// True if there may be another medium beside so many; else the line is refused.
    pub fn has_room(&mut self, at: usize, media: usize) -> bool {
        if media >= MAX_MEDIA {
            self.refuse(at, format_args!("it has results of more than {MAX_MEDIA} media"));
        }
        media < MAX_MEDIA
    }

    /// Number of refused lines.
    pub fn refusals(&self) -> usize {
        self.refused.len()
    }

    /// Reason of the first refusal.
    pub fn first_refusal(&self) -> Option<String> {
        let (at, what) = self.refused.first()?;
        Some(format!("line {}: {what}", self.number(*at)))
    }

    fn number(&self, at: usize) -> u32 {
        self.cleaned.numbers.get(at).copied().unwrap_or(1)
    }

    /// Unread lines that look like a figure, and refused ones: at most [`MAX_LISTED`] of them, and
    /// their total number.
    pub fn left(&self) -> (Vec<UnreadLine>, usize) {
        let mut left: Vec<(usize, Option<&str>)> =
            self.refused.iter().map(|(at, why)| (*at, Some(why.as_str()))).collect();
        let in_table = in_tables(self.lines);
        let is_figure = |at: usize| re!(FIGURE).is_match(self.lines[at]) || in_table[at];
        let is_of_network = |at: usize| re!(NETWORK).is_match(self.lines[at]);
        let untaken = |at: &usize| !self.taken[*at] && is_figure(*at) && !is_of_network(*at);
        left.extend((0..self.lines.len()).filter(untaken).map(|at| (at, None)));
        let damaged = self.cleaned.damaged.iter().filter(|at| !self.is_taken(**at));
        left.extend(damaged.map(|at| (*at, Some("it holds bytes that are no text"))));
        // For each line the reason comes first.
        left.sort_by_key(|(at, why)| (*at, why.is_none()));
        left.dedup_by(|later, first| {
            later.0 == first.0 && (later.1.is_none() || later.1 == first.1)
        });
        let count = left.len();
        let listed = left.into_iter().take(MAX_LISTED);
        let listed = listed.map(|(at, why)| UnreadLine {
            line: self.number(at),
            text: short(self.lines.get(at).copied().unwrap_or_default(), 100),
            why: why.map(|why| short(why, 300)),
        });
        (listed.collect(), count)
    }
}

/// True for each line of figures below a head with a unit: "Block | Read (MB/s) | Write (MB/s)".
fn in_tables(lines: &[&str]) -> Vec<bool> {
    let is_apart = |c: char| c.is_whitespace() || c == '|';
    let mut is_below = false;
    let is_row = |line: &&str| {
        let figures = line.split(is_apart).filter(|word| decimal(word).is_some()).count();
        let is_head =
            figures == 0 && line.len() < 300 && !line.contains('=') && re!(HEAD).is_match(line);
        is_below = is_head || is_below && !line.trim().is_empty();
        is_below && figures >= 2
    };
    lines.iter().map(is_row).collect()
}

/// A line about a network in the log of a whole machine: its rates and times say nothing about a
/// medium.
const NETWORK: &str = r"^\s*(?:IF: |IF-ID-|Network:|Fetched |Retrieving speedtest)| mac: |duplex: |\] saved|['’] saved \[|Average Dload|rtt min/avg/max/mdev| bytes from .*(?:icmp_seq|ttl=)";

/// Two columns or more of which one has a unit.
const HEAD: &str = r"(?i)\S.*(?:\t|  |\|).*\b(?:[kmg]i?b/s|iops|ms|us)\b|\b(?:[kmg]i?b/s|iops)\b.*(?:\t|  |\|).*\S";
