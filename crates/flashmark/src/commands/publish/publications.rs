//! Pages of what others have published, beside the media of the tree that were measured last.

use anyhow::Result;
use record::collection::{CollectionLine, CollectionRun, Origin};
use report::collection::{self as pages, MOST_PICKED, SiteInfo};

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
    let beside = measured_last(source, lines)?;
    tree.write("published.html", &pages::published_index(site, &sources))?;
    on_all_processors(sources.len(), |at| {
        let page = pages::published(site, &sources[at], &beside, &[]);
        tree.write(&pages::published_file(&sources[at]), &page)
    })
}

/// As many media as a page has room for, the latest first; fakes and simulated ones are none.
fn measured_last(
    source: &PublishedLines,
    lines: &[&CollectionLine],
) -> Result<Vec<(CollectionLine, Vec<CollectionRun>)>> {
    let is_measured = |line: &CollectionLine| line.origin == Origin::Measured && !line.is_fake;
    let mut places: Vec<usize> = (0..lines.len()).filter(|at| is_measured(lines[*at])).collect();
    places.sort_by(|a, b| lines[*b].latest.cmp(&lines[*a].latest).then(a.cmp(b)));
    let medium = |at: usize| {
        let (line, runs) = source.medium(at)?;
        Ok((line.clone(), runs))
    };
    places.into_iter().take(MOST_PICKED).map(medium).collect()
}
