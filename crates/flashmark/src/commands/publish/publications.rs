//! Pages of what others have published, beside the latest media of the tree.

use anyhow::Result;
use record::collection::{CollectionLine, Origin};
use report::collection::{self as pages, MAX_PICKED, SiteInfo};

use super::filling::Tree;
use super::source::PublishedLines;
use crate::parallel::on_all_processors;

/// Writes the list of publications and a page of each.
pub fn write(
    tree: &Tree,
    site: &SiteInfo,
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<()> {
    let sources = import::reference::sources();
    let places = measured_last(lines);
    let beside = places.iter().map(|at| source.medium(tree, *at)).collect::<Result<Vec<_>>>()?;
    tree.write("published.html", pages::published_index(site, &sources))?;
    on_all_processors(sources.len(), |at| {
        let file = pages::published_file(&sources[at]);
        tree.make(&[&file], source.page_key(site, &places)?, || {
            tree.write(&file, pages::published(site, &sources[at], &beside))
        })
    })
}

/// Indexes of the media to show, the latest first, as many as a page has room for; without fakes
/// and simulated ones.
fn measured_last(lines: &[&CollectionLine]) -> Vec<usize> {
    let is_measured = |line: &CollectionLine| line.origin == Origin::Measured && !line.is_fake;
    let mut places: Vec<usize> = (0..lines.len()).filter(|at| is_measured(lines[*at])).collect();
    places.sort_by(|a, b| lines[*b].latest.cmp(&lines[*a].latest).then(a.cmp(b)));
    places.truncate(MAX_PICKED);
    places
}
