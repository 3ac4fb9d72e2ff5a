//! The figures of the five articles, a page for each: every figure as printed, beside the same
//! quantities of media that a reader selects, with the command that measures it.

use askama::Template;
use record::collection::{CollectionLine, CollectionRun};
use report::articles::{Article, ArticleFigures, ArticleTable, MAX_PICKED, Pick};

use super::SiteFrame;
use super::address::{Links, SiteInfo};
use super::picks::pick;

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
        picked.iter().take(MAX_PICKED).map(|(line, runs)| pick(&links, line, runs)).collect();
    let title = format!("Article {} - {}", of.article.number, site.title);
    let page = SourcePage {
        shell: SiteFrame::new(links, title, ""),
        index: links.text("published"),
        table: ArticleTable::of(of, &picks),
    };
    page.render().expect("a template that compiled renders into memory")
}

#[derive(Template)]
#[template(path = "site/published.html")]
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
#[template(path = "site/source.html")]
struct SourcePage {
    shell: SiteFrame,
    index: String,
    table: ArticleTable,
}
