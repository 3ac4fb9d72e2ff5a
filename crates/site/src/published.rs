//! Pages of published figures, beside media that a reader selects.

use std::sync::LazyLock;

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use record::PublishedSource;
use record::collection::{CollectionLine, CollectionRun, Query, SortBy};
use report::collection::{self as made, MAX_PICKED, is_slug};
use store::collection::{Collection, CollectionError};

use crate::client::CachingHeaders;
use crate::newest_runs::with_newest_runs;
use crate::pages::{FOR_EVER, RenderedPage, kept, live, packed, pairs};
use crate::problem::Problem;
use crate::state::App;

/// Most media that the form offers; others can be named in the address.
const OFFERED: u32 = 300;

static SOURCES: LazyLock<Vec<PublishedSource>> = LazyLock::new(import::reference::sources);

/// `/published`: list of the publications.
pub async fn index(
    State(app): State<App>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    kept(&app, &conditional, "published".to_owned(), 0, FOR_EVER, || {
        packed(&app, |_, site| Ok(RenderedPage::page(made::published_index(site, &SOURCES))))
    })
    .await
}

/// Page of a publication, with the media of the address (`?m=..&m=..`) beside it.
pub async fn source(
    State(app): State<App>,
    Path(key): Path<String>,
    RawQuery(text): RawQuery,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let source = SOURCES.iter().find(|source| source.key == key);
    let source =
        source.ok_or_else(|| Problem::not_found("there is no publication of this name"))?;
    let slugs = picked(text.as_deref());
    let name = format!("published {key} {}", slugs.join(" "));
    live(&app, &conditional, name, move |collection, site| {
        let media = with_runs(collection, &slugs)?;
        let page = made::published(site, source, &media, &offered(collection)?);
        Ok(RenderedPage::page(page))
    })
    .await
}

/// The media in a query string, without duplicates.
pub(crate) fn picked(text: Option<&str>) -> Vec<String> {
    let mut slugs: Vec<String> = Vec::new();
    for (name, slug) in pairs(text) {
        if name == "m" && is_slug(&slug) && !slugs.contains(&slug) && slugs.len() < MAX_PICKED {
            slugs.push(slug);
        }
    }
    slugs
}

/// The media that are in the collection, with their newest runs.
pub(crate) fn with_runs(
    collection: &Collection,
    slugs: &[String],
) -> Result<Vec<(CollectionLine, Vec<CollectionRun>)>, CollectionError> {
    let mut lines = Vec::new();
    for slug in slugs {
        lines.extend(collection.line(slug)?);
    }
    with_newest_runs(collection, lines)
}

/// Slugs and names of media to select from, sorted by name.
pub(crate) fn offered(collection: &Collection) -> Result<Vec<(String, String)>, CollectionError> {
    let asked = Query { sort: Some(SortBy::Name), per_page: Some(OFFERED), ..Query::default() };
    let (page, _) = collection.lines_and_filled(&asked, std::iter::empty::<Query>())?;
    Ok(page.lines.into_iter().map(|line| (line.slug, line.name)).collect())
}
