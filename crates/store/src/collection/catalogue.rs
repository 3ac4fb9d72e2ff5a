//! Index of all lines in memory, for filters and sorting. A search of tens of thousands takes a
//! millisecond, for any filter and any order; a database would need an index for each, and every
//! submission would have to update them all.
//!
//! The database stays authoritative. Before each search the index reads the lines that changed
//! since the last one, whoever changed them.

use crate::collection::line_index::LineIndexEntry;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use record::collection::{HeadlineFigure, SortBy};

use super::columns::{kind_named, origin_named};
use super::connection::{Connection, SqlRow, SqlValue};
use super::error::ErrorContext;
use super::line_index::Medians;
use super::query::PreparedQuery;
use super::{CollectionError, columns};

/// All lines in memory, where queries are filtered and sorted.
#[derive(Default)]
pub(super) struct Catalogue(RwLock<Lines>);

#[derive(Default)]
struct Lines {
    known: Vec<LineIndexEntry>,
    places: HashMap<u64, usize>,
    /// Number in the audit of the newest change in the index; `None` while it is empty.
    seen: Option<i64>,
}

impl Catalogue {
    /// Reads the lines that changed since the last call.
    pub fn catch_up(&self, connection: &mut dyn Connection) -> Result<(), CollectionError> {
        let seen = self.0.read().unwrap_or_else(PoisonError::into_inner).seen.unwrap_or(-1);
        let sql = format!(
            "SELECT number, changed, slug, name_folded, interface, classes, latest, kind, origin, is_fake, capacity_gb, runs, confirmed, {} \
             FROM lines WHERE changed > $1",
            columns::figures()
        );
        let rows = connection.query(&sql, &[SqlValue::Integer(seen)]).reading()?;
        if rows.is_empty() {
            return Ok(());
        }
        let changed = rows.into_iter().map(known).collect::<Result<Vec<_>, _>>()?;
        // A thread that panicked with the lock was only reading.
        let mut lines = self.0.write().unwrap_or_else(PoisonError::into_inner);
        changed.into_iter().for_each(|line| lines.take(line));
        Ok(())
    }

    /// True if any line fits the query.
    pub fn has(&self, asked: &PreparedQuery) -> bool {
        let lines = self.0.read().unwrap_or_else(PoisonError::into_inner);
        lines.known.iter().any(|line| asked.fits(line))
    }

    /// Number of lines that fit, and the numbers of `count` of them from place `from` on in their
    /// order.
    pub fn find(&self, asked: &PreparedQuery, from: usize, count: usize) -> (u64, Vec<u64>) {
        let lines = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let with_key =
            |(at, line): (usize, &LineIndexEntry)| (key(line, asked.sort, asked.reversed), at);
        let mut fit: Vec<(u128, usize)> = lines
            .known
            .iter()
            .enumerate()
            .filter(|(_, line)| asked.fits(line))
            .map(with_key)
            .collect();
        let total = fit.len();
        if from >= total {
            return (total as u64, Vec::new());
        }
        let to = total.min(from.saturating_add(count));
        // Sorts only as much as is needed, by keys that are close together in memory; lines are
        // compared only if their keys are equal.
        let order = |(a, at): &(u128, usize), (b, other): &(u128, usize)| {
            a.cmp(b).then_with(|| {
                compare(&lines.known[*at], &lines.known[*other], asked.sort, asked.reversed)
            })
        };
        if from > 0 {
            fit.select_nth_unstable_by(from, order);
        }
        let rest = &mut fit[from..];
        if to < total {
            rest.select_nth_unstable_by(to - from, order);
        }
        let page = &mut rest[..to - from];
        page.sort_unstable_by(order);
        (total as u64, page.iter().map(|(_, at)| lines.known[*at].number).collect())
    }
}

/// Sort key that separates most lines: of two lines in the order of [`compare`] the first never has
/// the larger key.
fn key(line: &LineIndexEntry, sort: SortBy, reversed: bool) -> u128 {
    // True if the usual order is falling.
    let (falling, key) = match sort {
        SortBy::Figure(figure) => {
            let Some(median) = line.median(figure) else { return u128::MAX };
            let falling = figure.smaller_is_better() == reversed;
            let key = if falling { !ordered(median) } else { ordered(median) };
            return u128::from(key) | u128::from(!line.is_confirmed(figure)) << 64;
        }
        SortBy::Name => (false, beginning(&line.name)),
        SortBy::Capacity => (false, u128::from(line.capacity_gb)),
        SortBy::Runs => (true, u128::from(line.runs)),
        SortBy::Latest => (true, beginning(&line.latest)),
    };
    if falling != reversed { !key } else { key }
}

/// Bits of a number that compare as unsigned integers in its order (IEEE 754, totalOrder).
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The first 16 bytes of a text as a number.
fn beginning(text: &str) -> u128 {
    text.bytes()
        .chain(std::iter::repeat(0))
        .take(16)
        .fold(0, |number, byte| number << 8 | u128::from(byte))
}

impl Lines {
    /// Adds or replaces a line, unless the index has a newer state of it.
    fn take(&mut self, line: LineIndexEntry) {
        self.seen = self.seen.max(Some(line.changed));
        match self.places.get(&line.number) {
            Some(at) if self.known[*at].changed > line.changed => {}
            Some(at) => self.known[*at] = line,
            None => {
                self.places.insert(line.number, self.known.len());
                self.known.push(line);
            }
        }
    }
}

fn known(mut row: SqlRow) -> Result<LineIndexEntry, CollectionError> {
    Ok(LineIndexEntry {
        number: row.number()?,
        changed: i64::try_from(row.number()?).unwrap_or(i64::MAX),
        slug: row.text()?.into(),
        name: row.text()?.into(),
        interface: row.optional_text()?.unwrap_or_default().to_lowercase().into(),
        classes: row.text()?.into(),
        latest: row.text()?.into(),
        kind: kind_named(&row.text()?)?,
        origin: origin_named(&row.text()?)?,
        is_fake: row.number()? == 1,
        capacity_gb: row.number()?,
        runs: row.number()?,
        confirmed: row.number()?,
        medians: medians(&mut row)?,
    })
}

fn medians(row: &mut SqlRow) -> Result<Medians, CollectionError> {
    let mut medians = [f64::NAN; HeadlineFigure::ALL.len()];
    for median in &mut medians {
        *median = row.optional_real()?.unwrap_or(f64::NAN);
    }
    Ok(medians)
}

/// Compares two lines in the order of the table: figures best first, then those that are not
/// confirmed, and lines without the figure last; names and capacities rising; runs and latest
/// falling. `reversed` turns each order round, but not that of these groups. The slug decides
/// between equals.
fn compare(a: &LineIndexEntry, b: &LineIndexEntry, sort: SortBy, reversed: bool) -> Ordering {
    let turned = |order: Ordering| if reversed { order.reverse() } else { order };
    let first = match sort {
        SortBy::Figure(figure) => match (a.median(figure), b.median(figure)) {
            (Some(x), Some(y)) => {
                let usual =
                    if figure.smaller_is_better() { x.total_cmp(&y) } else { y.total_cmp(&x) };
                let ranked = |line: &LineIndexEntry| line.is_confirmed(figure);
                ranked(b).cmp(&ranked(a)).then(turned(usual))
            }
            (x, y) => x.is_none().cmp(&y.is_none()),
        },
        SortBy::Name => turned(a.name.cmp(&b.name)),
        SortBy::Capacity => turned(a.capacity_gb.cmp(&b.capacity_gb)),
        SortBy::Runs => turned(b.runs.cmp(&a.runs)),
        SortBy::Latest => turned(b.latest.cmp(&a.latest)),
    };
    first.then_with(|| a.slug.cmp(&b.slug))
}
