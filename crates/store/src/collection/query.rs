//! Queries of lines: filter, order and page.

use record::MediumKind;
use record::collection::{CollectionLine, HeadlineFigure, Origin, Page, Query, SortBy};

use super::line_index::LineIndexEntry;
use super::{Collection, CollectionError, lines};

/// Lines of a page by default.
const USUAL: u32 = 50;
/// Most lines of a page.
const MOST: u32 = 500;
/// Most words of a search, and the most letters of each: a name is shorter than this.
const WORDS: usize = 16;
const LETTERS: usize = 80;

/// A query prepared for the comparison with lines.
pub(super) struct PreparedQuery {
    /// Words in small letters.
    words: Vec<String>,
    interface: Vec<String>,
    /// Speed classes between spaces: " a1 ".
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

    /// True if a line fits. Cheap conditions come first, searches of texts last.
    pub fn fits(&self, line: &LineIndexEntry) -> bool {
        // A line without runs is only kept for its address.
        line.runs > 0
            && self.origins.contains(&line.origin)
            && self.fakes.is_none_or(|fakes| fakes == line.is_fake)
            && (self.kinds.is_empty() || self.kinds.contains(&line.kind))
            && (self.capacity_from_gb..=self.capacity_to_gb).contains(&line.capacity_gb)
            && self.at_least.iter().all(|(figure, limit)| reaches_limit(line, *figure, *limit))
            && self.classes.iter().all(|class| line.classes.contains(class.as_str()))
            && self.interface.iter().all(|word| line.interface.contains(word.as_str()))
            && self.words.iter().all(|word| line.name.contains(word.as_str()))
    }
}

/// True if the median of a figure reaches the limit; false where it was not measured.
fn reaches_limit(line: &LineIndexEntry, figure: HeadlineFigure, limit: f64) -> bool {
    line.median(figure).is_some_and(|median| {
        if figure.smaller_is_better() { median <= limit } else { median >= limit }
    })
}

/// Splits a text into words in small letters.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .take(WORDS)
        .map(|word| word.to_lowercase().chars().take(LETTERS).collect())
        .collect()
}

impl Collection {
    /// A page of the lines that fit a query. Simulated media are only included if the query asks
    /// for them.
    ///
    /// Order: figures best first and lines without the figure last; names and capacities rising;
    /// runs and latest falling; each the other way round if the query is reversed, but lines
    /// without the figure still last.
    ///
    /// # Errors
    /// If the database fails.
    pub fn lines(&self, query: &Query) -> Result<Page, CollectionError> {
        self.lines_and_filled(query, []).map(|(page, _)| page)
    }

    /// Returns the same, and those of the other queries that fit any line, without another read of
    /// the database.
    ///
    /// # Errors
    /// If the database fails.
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
