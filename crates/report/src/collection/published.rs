//! Published figures of others, a page for each publication: every figure as printed, beside the
//! same quantities of media that a reader selects, with the command that measures it.

mod alone;
mod figures;
mod text;

use askama::Template;
use record::PublishedSource;
use record::collection::{CollectionLine, CollectionRun};

use super::SiteFrame;
use super::address::{Links, SiteInfo};
use super::picks::{MAX_PICKED, Pick};
use crate::articles::{self, Article};
use crate::{figure, words};

pub use alone::published_alone;
pub use text::{article_list, published_text};

use figures::{MeasureCommand, MediumFigures, commands, groups, without_any};

/// The list of publications.
pub fn published_index(site: &SiteInfo, sources: &[PublishedSource]) -> String {
    let links = Links { site, depth: 0 };
    let entry = |source: &PublishedSource| IndexRow {
        title: source.title.clone(),
        href: links.published(&source.key),
        date: source.date.clone(),
        address: source.address.clone(),
        figures: source.figures.len(),
    };
    let page = IndexPage {
        shell: SiteFrame::new(links, format!("Published figures - {}", site.title), "published"),
        count: sources.iter().map(|source| source.figures.len()).sum(),
        rows: sources.iter().map(entry).collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

/// The file of a publication's page in a tree.
pub fn published_file(source: &PublishedSource) -> String {
    format!("published/{}.html", source.key)
}

/// The page of one publication. `picked` are up to [`MAX_PICKED`] media with their runs, newest
/// first.
pub fn published(
    site: &SiteInfo,
    source: &PublishedSource,
    picked: &[(CollectionLine, Vec<CollectionRun>)],
) -> String {
    let links = Links { site, depth: 1 };
    let picks: Vec<Pick> =
        picked.iter().take(MAX_PICKED).map(|(line, runs)| Pick::of(&links, line, runs)).collect();
    let page = SourcePage {
        shell: SiteFrame::new(links, format!("{} - {}", source.title, site.title), ""),
        index: links.text("published"),
        table: SourceTable::of(source, &picks),
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "collection/published.html")]
struct IndexPage {
    shell: SiteFrame,
    count: usize,
    rows: Vec<IndexRow>,
}

struct IndexRow {
    title: String,
    href: String,
    date: String,
    address: String,
    figures: usize,
}

#[derive(Template)]
#[template(path = "collection/source.html")]
struct SourcePage<'a> {
    shell: SiteFrame,
    index: String,
    table: SourceTable<'a>,
}

/// The part that is the same within a site and alone: the finding, every figure, and the command
/// for each column.
struct SourceTable<'a> {
    source: &'a PublishedSource,
    article: Option<&'static Article>,
    heads: Vec<PickHead>,
    groups: Vec<MediumFigures>,
    /// Names of selected media without any of the figures.
    without_any: Vec<String>,
    commands: Vec<MeasureCommand>,
    one_run: &'static str,
}

impl<'a> SourceTable<'a> {
    fn of(source: &'a PublishedSource, picks: &[Pick]) -> SourceTable<'a> {
        let groups = groups(source, picks);
        let head = |pick: &Pick| PickHead { name: pick.name.clone(), href: pick.href.clone() };
        SourceTable {
            article: articles::named(&source.key),
            heads: picks.iter().map(head).collect(),
            without_any: without_any(&groups, picks),
            groups,
            commands: commands(source),
            one_run: figure::ONE_RUN_MEANS,
            source,
        }
    }

    /// True if a figure is also shown in another unit, or with its repeats.
    fn has_ours(&self) -> bool {
        let mut rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.any(|row| !row.ours.is_empty() || !row.repeats.is_empty())
    }

    /// Number of columns of the table.
    fn columns(&self) -> usize {
        4 + usize::from(self.has_ours()) + self.heads.len()
    }

    /// "Article 004: Flash storage devices and how slow they are".
    fn heading(&self) -> String {
        let title = self.article.map_or(String::new(), |article| format!(": {}", article.title));
        format!("{}{title}", self.source.title)
    }

    /// Author of an article; then its date (without one, the year), and the number of figures.
    fn facts(&self) -> String {
        let date = &self.source.date;
        let count = words::count(self.source.figures.len(), "figure");
        let Some(article) = self.article else { return format!("{date} · {count}") };
        let date = match date.starts_with(|c: char| c.is_ascii_digit()) {
            true => date.clone(),
            false => article.year.to_string(),
        };
        format!("{} · {date} · {count}", article.author)
    }

    /// Address of the publication; empty if unknown.
    fn address(&self) -> &str {
        match self.article {
            Some(article) => article.address,
            None => &self.source.address,
        }
    }
}

/// Head of the column of a medium; without an address if it has no page.
struct PickHead {
    name: String,
    href: String,
}
