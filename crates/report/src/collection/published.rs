//! The figures of the five articles, a page for each: every figure as printed, beside the same
//! quantities of media that a reader selects, with the command that measures it.

mod alone;
mod figures;
mod text;

use askama::Template;
use record::collection::{CollectionLine, CollectionRun};

use super::SiteFrame;
use super::address::{Links, SiteInfo};
use super::picks::{MAX_PICKED, Pick};
use crate::articles::{Article, ArticleFigures};
use crate::{figure, words};

pub use alone::published_alone;
pub use text::{article_list, published_text};

use figures::{MeasureCommand, MediumFigures, commands, groups, without_any};

/// The list of articles.
pub fn published_index(site: &SiteInfo, articles: &[ArticleFigures]) -> String {
    let links = Links { site, depth: 0 };
    let entry = |of: &ArticleFigures| IndexRow {
        title: format!("Article {}: {}", of.article.number, of.article.title),
        href: links.published(of.article.key),
        date: of.date(),
        address: of.article.address,
        figures: of.count(),
    };
    let page = IndexPage {
        shell: SiteFrame::new(links, format!("Published figures - {}", site.title), "published"),
        count: articles.iter().map(ArticleFigures::count).sum(),
        rows: articles.iter().map(entry).collect(),
    };
    page.render().expect("a template that compiled renders into memory")
}

/// The file of an article's page in a tree.
pub fn published_file(article: &Article) -> String {
    format!("published/{}.html", article.key)
}

/// The page of one article. `picked` are up to [`MAX_PICKED`] media with their runs, newest first.
pub fn published(
    site: &SiteInfo,
    of: &ArticleFigures,
    picked: &[(CollectionLine, Vec<CollectionRun>)],
) -> String {
    let links = Links { site, depth: 1 };
    let picks: Vec<Pick> =
        picked.iter().take(MAX_PICKED).map(|(line, runs)| Pick::of(&links, line, runs)).collect();
    let title = format!("Article {} - {}", of.article.number, site.title);
    let page = SourcePage {
        shell: SiteFrame::new(links, title, ""),
        index: links.text("published"),
        table: SourceTable::of(of, &picks),
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
    address: &'static str,
    figures: usize,
}

#[derive(Template)]
#[template(path = "collection/source.html")]
struct SourcePage {
    shell: SiteFrame,
    index: String,
    table: SourceTable,
}

/// The part that is the same within a site and alone: the finding, every figure, and the command
/// for each column.
struct SourceTable {
    article: &'static Article,
    date: String,
    count: usize,
    heads: Vec<PickHead>,
    groups: Vec<MediumFigures>,
    /// Names of selected media without any of the figures.
    without_any: Vec<String>,
    commands: Vec<MeasureCommand>,
    one_run: &'static str,
}

impl SourceTable {
    fn of(of: &ArticleFigures, picks: &[Pick]) -> SourceTable {
        let groups = groups(of, picks);
        let head = |pick: &Pick| PickHead { name: pick.name.clone(), href: pick.href.clone() };
        SourceTable {
            article: of.article,
            date: of.date(),
            count: of.count(),
            heads: picks.iter().map(head).collect(),
            without_any: without_any(&groups, picks),
            groups,
            commands: commands(of),
            one_run: figure::ONE_RUN_MEANS,
        }
    }

    /// True if a figure is also shown in another unit, or with its repeats.
    fn has_ours(&self) -> bool {
        let mut rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.any(|row| !row.ours.is_empty() || !row.repeats.is_empty())
    }

    /// Number of columns of the table.
    fn columns(&self) -> usize {
        2 + usize::from(self.has_ours()) + self.heads.len()
    }

    /// "Article 004: Flash storage devices and how slow they are".
    fn heading(&self) -> String {
        format!("Article {}: {}", self.article.number, self.article.title)
    }

    /// Author, date, and the number of figures.
    fn facts(&self) -> String {
        let count = words::count(self.count, "figure");
        format!("{} · {} · {count}", self.article.author, self.date)
    }
}

/// Head of the column of a medium; without an address if it has no page.
struct PickHead {
    name: String,
    href: String,
}
