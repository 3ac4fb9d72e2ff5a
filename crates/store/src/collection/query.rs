//! Lines that fit a query, in its order.

use record::MediumKind;
use record::collection::{CollectionLine, HeadlineFigure, Origin, Page, Query, SortBy};

use super::line_index::LineIndexEntry;
use super::{Collection, CollectionError, lines};

/// Lines a page, where nothing is said.
const USUAL: u32 = 50;
/// Lines a page at most.
const MOST: u32 = 500;
/// Words that are looked for at most, and how long each may be: a name is shorter than this.
const WORDS: usize = 16;
const LETTERS: usize = 80;

/// A query, ready to be held against lines.
pub(super) struct PreparedQuery {
    /// In small letters, each.
    words: Vec<String>,
    interface: Vec<String>,
    /// " a1 ", each.
    classes: Vec<String>,
    kinds: Vec<MediumKind>,
    origins: Vec<Origin>,
    capacity_from_gb: u64,
    capacity_to_gb: u64,
    at_least: Vec<(HeadlineFigure, f64)>,
    fakes: Option<bool>,
    pub sort: SortBy,
    pub reversed: bool,
}

impl PreparedQuery {
    fn of(query: &Query) -> PreparedQuery {
        let shown = [Origin::Measured, Origin::Imported, Origin::Reference];
        PreparedQuery {
            words: words(&query.words),
            interface: words(query.interface.as_deref().unwrap_or_default()),
            classes: words(query.class.as_deref().unwrap_or_default())
                .into_iter()
                .map(|class| format!(" {class} "))
                .collect(),
            kinds: query.kinds.clone(),
            origins: if query.origins.is_empty() { shown.to_vec() } else { query.origins.clone() },
            capacity_from_gb: query.capacity_from_gb.unwrap_or(0),
            capacity_to_gb: query.capacity_to_gb.unwrap_or(u64::MAX),
            at_least: query.at_least.clone(),
            fakes: query.fakes,
            sort: query.sort.unwrap_or_default(),
            reversed: query.reversed,
        }
    }

    /// What is soon decided comes first, what takes a look into texts last.
    pub fn fits(&self, line: &LineIndexEntry) -> bool {
        // A line whose runs all went is kept for its address only.
        line.runs > 0
            && self.origins.contains(&line.origin)
            && self.fakes.is_none_or(|fakes| fakes == line.is_fake)
            && (self.kinds.is_empty() || self.kinds.contains(&line.kind))
            && (self.capacity_from_gb..=self.capacity_to_gb).contains(&line.capacity_gb)
            && self.at_least.iter().all(|(figure, limit)| is_as_good(line, *figure, *limit))
            && self.classes.iter().all(|class| line.classes.contains(class.as_str()))
            && self.interface.iter().all(|word| line.interface.contains(word.as_str()))
            && self.words.iter().all(|word| line.name.contains(word.as_str()))
    }
}

/// Nothing is as good as what is no number, and what was not measured as good as nothing.
fn is_as_good(line: &LineIndexEntry, figure: HeadlineFigure, limit: f64) -> bool {
    line.median(figure).is_some_and(|median| {
        if figure.smaller_is_better() { median <= limit } else { median >= limit }
    })
}

/// Words in small letters.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .take(WORDS)
        .map(|word| word.to_lowercase().chars().take(LETTERS).collect())
        .collect()
}

impl Collection {
    /// A page of the lines that fit a query. Simulated media are there only where the query asks
    /// for them.
    ///
    /// Order: figures best first and lines without the figure last; names and capacities rising;
    /// runs and latest falling; each the other way round where the query is reversed, but lines
    /// without the figure still last.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn lines(&self, query: &Query) -> Result<Page, CollectionError> {
        self.lines_and_filled(query, []).map(|(page, _)| page)
    }

    /// The same, and those of some other queries that any line fits, without another look at the
    /// database.
    ///
    /// # Errors
    /// Where the database fails.
    pub fn lines_and_filled(
        &self,
        query: &Query,
        others: impl IntoIterator<Item = Query>,
    ) -> Result<(Page, Vec<Query>), CollectionError> {
        let asked = PreparedQuery::of(query);
        let per_page = query.per_page.unwrap_or(USUAL).clamp(1, MOST) as usize;
        let from = per_page.saturating_mul(query.page as usize);
        let page = self.pool.look(|connection| {
            self.catalogue.catch_up(connection)?;
            let (total, numbers) = self.catalogue.find(&asked, from, per_page);
            let lines: Vec<CollectionLine> = lines::of_numbers(connection, &numbers)?;
            Ok(Page { lines, total })
        })?;
        Ok((
            page,
            others
                .into_iter()
                .filter(|query| self.catalogue.has(&PreparedQuery::of(query)))
                .collect(),
        ))
    }
}
