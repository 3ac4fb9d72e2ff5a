//! Pages of the five articles, beside the latest media of the tree.

use anyhow::Result;
use collection::site::{self, SiteInfo};
use record::collection::{CollectionLine, Origin};
use report::articles::{ARTICLES, MAX_PICKED};
use report::reference::figures_of;

use super::filling::Tree;
use super::source::PublishedLines;
use crate::parallel::on_all_processors;

/// Writes the list of the articles and a page of each.
pub fn write(
    tree: &Tree,
    site: &SiteInfo,
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<()> {
    let articles = ARTICLES.each_ref().map(figures_of);
    let places = measured_last(lines);
    let beside = places.iter().map(|at| source.medium(tree, *at)).collect::<Result<Vec<_>>>()?;
    tree.write("published.html", site::published_index(site, &articles))?;
    on_all_processors(articles.len(), |at| {
        let file = site::published_file(articles[at].article);
        tree.make(&[&file], source.page_key(site, &places)?, || {
            tree.write(&file, site::published(site, &articles[at], &beside))
        })
    })
}

/// Indexes of the media to show, the latest first, as many as a page has room for; without fakes
/// and simulated ones.
fn measured_last(lines: &[&CollectionLine]) -> Vec<usize> {
    let is_measured =
        |line: &CollectionLine| line.origin == Origin::Measured && !line.is_fake && line.is_listed;
    let mut places: Vec<usize> = (0..lines.len()).filter(|at| is_measured(lines[*at])).collect();
    places.sort_by(|a, b| lines[*b].latest.cmp(&lines[*a].latest).then(a.cmp(b)));
    places.truncate(MAX_PICKED);
    places
}
