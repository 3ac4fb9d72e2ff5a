//! Pages for people: those of `report`, live. A page is rendered on request, compressed, and cached
//! until the collection changes.

use std::fmt::Write as _;
use std::future::Future;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use record::collection::{CollectionLine, CollectionRun, Query, SubmissionStatus};
use record::text::{hex, printable};
use report::collection::{self as made, Item, MAX_COMPARED, MAX_RUNS, SiteInfo, is_slug, query};
use sha2::{Digest as _, Sha256};
use store::collection::{Collection, Revision};

use crate::cache::CompressedPage;
use crate::client::CachingHeaders;
use crate::newest_runs::with_newest_runs;
use crate::problem::Problem;
use crate::state::App;

/// Entries in the feed.
const FEED: usize = 50;
/// Most runs of each medium in a comparison: the newest.
const COMPARED_RUNS: usize = 10;
/// Age limit for pages of constant text, which never change while the program runs.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);
/// Time for which a browser shows a page without asking again.
const FRESH: &str = "public, max-age=5";
const HTML: &str = "text/html; charset=utf-8";

/// A rendered page.
pub struct RenderedPage {
    text: String,
    media_type: &'static str,
}

impl RenderedPage {
    pub(crate) fn page(text: String) -> RenderedPage {
        RenderedPage { text, media_type: HTML }
    }
}

/// The page with this name, cached or rendered now. `version` is that of its data.
pub(crate) async fn kept<F>(
    app: &App,
    conditional: &CachingHeaders,
    name: String,
    version: u64,
    most_age: Duration,
    make: impl FnOnce() -> F,
) -> Result<Response, Problem>
where
    F: Future<Output = Result<CompressedPage, Problem>>,
{
    let now = Instant::now();
    let known = app.cache().get(&name, version, most_age, now);
    app.metrics().page(known.is_some());
    let page = match known {
        Some(page) => page,
        None => {
            let page = Arc::new(make().await?);
            app.cache().put(name, version, page.clone(), now);
            page
        }
    };
    Ok(answer(&page, conditional))
}

/// A page about the whole collection: rendered again after each change.
pub(crate) async fn live(
    app: &App,
    conditional: &CachingHeaders,
    name: String,
    make: impl FnOnce(&Collection, &SiteInfo) -> Result<RenderedPage, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    let version = app.changes();
    kept(app, conditional, name, version, app.options().page_age, || packed(app, make)).await
}

/// Renders and compresses a page, on another thread than those that answer.
pub(crate) async fn packed(
    app: &App,
    make: impl FnOnce(&Collection, &SiteInfo) -> Result<RenderedPage, Problem> + Send + 'static,
) -> Result<CompressedPage, Problem> {
    let site = app.site().clone();
    app.make(move |collection| {
        let RenderedPage { text, media_type } = make(collection, &site)?;
        let etag = format!("W/\"{}\"", &hex(&Sha256::digest(&text))[..16]);
        Ok(CompressedPage { media_type, etag, body: gzipped(text.as_bytes()) })
    })
    .await
}

fn gzipped(text: &[u8]) -> Bytes {
    // Above this level a page takes twice the time to save 5 % of its bytes.
    let mut packer = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::new(4));
    packer
        .write_all(text)
        .and_then(|()| packer.finish())
        .expect("memory takes what is written")
        .into()
}

fn answer(page: &CompressedPage, conditional: &CachingHeaders) -> Response {
    let mut response = match (conditional.has(&page.etag), conditional.gzip) {
        (true, _) => StatusCode::NOT_MODIFIED.into_response(),
        (false, true) => {
            let mut response = page.body.clone().into_response();
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        }
        (false, false) => {
            let mut plain = Vec::new();
            GzDecoder::new(&page.body[..]).read_to_end(&mut plain).expect("it was packed here");
            plain.into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(page.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(FRESH));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    headers.extend(HeaderValue::from_str(&page.etag).ok().map(|etag| (ETAG, etag)));
    response
}

/// Pairs of names and values in a query string.
pub fn pairs(text: Option<&str>) -> Vec<(String, String)> {
    let uri = format!("/?{}", text.unwrap_or_default());
    let uri: Uri = uri.parse().unwrap_or_default();
    axum::extract::Query::try_from_uri(&uri).map(|pairs| pairs.0).unwrap_or_default()
}

/// `/`: the table of the lines that match the query.
pub async fn table(
    State(app): State<App>,
    RawQuery(text): RawQuery,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let mut asked = asked(text.as_deref());
    if !asked.columns.is_empty() {
        // Columns that a reader chose are looked up in runs, not in lines.
        asked.per_page = asked.per_page.map(|lines| lines.min(query::LINES));
    }
    let name = format!("table?{}", query::to_text(&asked));
    live(&app, &conditional, name, move |collection, site| {
        let categories = made::categories().into_iter().map(|category| category.query);
        let (page, categories) = collection.lines_and_filled(&asked, categories)?;
        let site = SiteInfo { categories: Some(categories), ..site.clone() };
        if asked.columns.is_empty() {
            return Ok(RenderedPage::page(made::table(&site, &page, &asked)));
        }
        let lines = with_newest_runs(collection, page.lines)?;
        Ok(RenderedPage::page(made::table_with_runs(&site, &lines, page.total, &asked)))
    })
    .await
}

/// A medium with its runs.
pub async fn medium(
    State(app): State<App>,
    Path(slug): Path<String>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let (line, beside) = line_and_beside(&app, slug).await?;
    // It changes when its line does, which is looked up each time. Other changes of other processes
    // expire soon.
    let version = version_of(&line, &beside, app.reworks());
    kept(
        &app,
        &conditional,
        format!("medium {}", line.slug),
        version,
        app.options().page_age * 6,
        || {
            packed(&app, move |collection, site| {
                let entries = collection.latest_runs_of(&line.slug, MAX_RUNS)?;
                let media = findings::media(&collection.medium_runs(&line.slug)?);
                Ok(RenderedPage::page(made::medium_beside(site, &line, &entries, &beside, &media)))
            })
        },
    )
    .await
}

async fn line_and_beside(
    app: &App,
    slug: String,
) -> Result<(CollectionLine, Vec<CollectionLine>), Problem> {
    let found = match is_slug(&slug) {
        true => app.read(move |collection| with_beside(collection, &slug)).await?,
        false => None,
    };
    found.ok_or_else(no_medium)
}

/// A line by its name, and the other lines of its model.
pub fn with_beside(
    collection: &Collection,
    slug: &str,
) -> Result<Option<(CollectionLine, Vec<CollectionLine>)>, store::collection::CollectionError> {
    let Some(line) = collection.line(slug)? else { return Ok(None) };
    let mut beside = collection.lines_of(&line.model)?;
    beside.retain(|other| other.slug != line.slug);
    Ok(Some((line, beside)))
}

/// Error if no medium has that name.
pub fn no_medium() -> Problem {
    Problem::not_found(
        "no medium of this name is in the collection; its runs may have been withdrawn",
    )
}

fn version_of(line: &CollectionLine, beside: &[CollectionLine], reworks: u64) -> u64 {
    let mut hasher = Sha256::new_with_prefix(reworks.to_le_bytes());
    for line in std::iter::once(line).chain(beside) {
        hasher.update(made::data::line_json(line));
    }
    u64::from_le_bytes(hasher.finalize()[..8].try_into().expect("a hash has more than eight bytes"))
}

/// Comparison of media.
pub async fn compare(
    State(app): State<App>,
    RawQuery(text): RawQuery,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let mut slugs: Vec<String> = Vec::new();
    for (name, slug) in pairs(text.as_deref()) {
        if name == "m" && is_slug(&slug) && !slugs.contains(&slug) && slugs.len() <= MAX_COMPARED {
            slugs.push(slug);
        }
    }
    let name = format!("compare {}", slugs.join(" "));
    live(&app, &conditional, name, move |collection, site| {
        let mut media = Vec::new();
        for slug in &slugs {
            if let Some(line) = collection.line(slug)? {
                // Media beyond the limit are not shown, but mentioned.
                let runs = if media.len() < MAX_COMPARED {
                    collection.latest_runs_of(slug, COMPARED_RUNS)?
                } else {
                    Vec::new()
                };
                media.push((line, runs));
            }
        }
        Ok(RenderedPage::page(made::compare(site, &media)))
    })
    .await
}

/// Page of the downloads.
pub async fn about(
    State(app): State<App>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    live(&app, &conditional, "about".to_owned(), |collection, site| {
        let counts = collection.counts()?;
        Ok(RenderedPage::page(made::about(site, counts.lines, counts.accepted)))
    })
    .await
}

/// A page of text, if one has that name.
pub async fn text(
    State(app): State<App>,
    Path(name): Path<String>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let is_known = ["methodology", "findings"].contains(&name.as_str())
        || made::TEXTS.iter().any(|text| text.name == name);
    if !is_known {
        return Err(Problem::not_found("there is nothing at this address"));
    }
    kept(&app, &conditional, format!("text {name}"), 0, FOR_EVER, || {
        packed(&app, move |_, site| {
            let page = if name == "methodology" {
                Some(made::methodology(site))
            } else {
                made::text_page(site, &name)
            };
            page.map(RenderedPage::page)
                .ok_or_else(|| Problem::not_found("there is nothing at this address"))
        })
    })
    .await
}

/// `/feed.atom`: the newest accepted runs as an Atom feed.
pub async fn feed(
    State(app): State<App>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    live(&app, &conditional, "feed".to_owned(), |collection, site| {
        let entries = collection.latest(FEED)?;
        let mut found = Vec::new();
        for entry in &entries {
            found.push(line_of(collection, entry)?);
        }
        let with_line =
            entries.iter().zip(&found).filter_map(|(entry, line)| Some((entry, line.as_ref()?)));
        let items: Vec<Item> = with_line
            .map(|(entry, line)| Item { entry, slug: &line.slug, name: &line.name })
            .collect();
        // The base has the prefix already.
        let place = if site.base.is_some() {
            made::SiteKind::Live(String::new())
        } else {
            site.place.clone()
        };
        let text = made::feed(&SiteInfo { place, ..site.clone() }, &items);
        Ok(RenderedPage { text, media_type: "application/atom+xml; charset=utf-8" })
    })
    .await
}

/// The line that a run belongs to, if it is shown.
pub fn line_of(
    collection: &Collection,
    entry: &CollectionRun,
) -> Result<Option<CollectionLine>, store::collection::CollectionError> {
    let fits = |line: &CollectionLine| {
        line.origin == entry.origin && line.is_fake == entry.headline.is_fake
    };
    Ok(collection.lines_of(&entry.model)?.into_iter().find(fits))
}

/// Report of a run.
pub async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    report_of(&app, &conditional, id, None).await
}

/// Report of a run in an older revision.
pub async fn run_revision(
    State(app): State<App>,
    Path((id, revision)): Path<(String, u32)>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    report_of(&app, &conditional, id, Some(revision)).await
}

async fn report_of(
    app: &App,
    conditional: &CachingHeaders,
    id: String,
    revision: Option<u32>,
) -> Result<Response, Problem> {
    let name = format!("run {id} {}", revision.unwrap_or_default());
    live(app, conditional, name, move |collection, site| {
        let (current, revisions) = shown(collection, &id)?;
        let entry = match revision.filter(|revision| *revision != current.revision) {
            None => current.clone(),
            Some(revision) => {
                collection.revision(&id, revision)?.ok_or_else(|| no_revision(revision))?
            }
        };
        let line = line_of(collection, &entry)?;
        let (links, notes) =
            (links_of(site, &current, line.as_ref(), &revisions), notes_of(&current, &entry));
        Ok(RenderedPage::page(made::run(site, &entry, &links, &notes)))
    })
    .await
}

/// A run and its revisions; an error for a rejected or withdrawn run.
pub fn shown(collection: &Collection, id: &str) -> Result<(CollectionRun, Vec<Revision>), Problem> {
    let entry = if is_slug(id) { collection.entry(id)? } else { None };
    let entry =
        entry.ok_or_else(|| Problem::not_found("no run of this name is in the collection"))?;
    match entry.status {
        SubmissionStatus::Rejected => Err(Problem::gone(
            "rejected",
            "this run was looked at and not taken into the collection",
        )),
        SubmissionStatus::Withdrawn => Err(Problem::gone("withdrawn", "this run was withdrawn")),
        SubmissionStatus::Accepted | SubmissionStatus::Quarantined => {
            let revisions = collection.revisions(id)?;
            Ok((entry, revisions))
        }
    }
}

/// Error if a run has no such revision.
pub fn no_revision(revision: u32) -> Problem {
    Problem::not_found(format!("this run has no revision {revision}"))
}

pub(crate) fn prefix_of(site: &SiteInfo) -> &str {
    match &site.place {
        made::SiteKind::Live(prefix) => prefix,
        made::SiteKind::Tree => "",
    }
}

fn links_of(
    site: &SiteInfo,
    current: &CollectionRun,
    line: Option<&CollectionLine>,
    revisions: &[Revision],
) -> Vec<(String, String)> {
    let (prefix, id) = (prefix_of(site), &current.id);
    let mut links = Vec::new();
    links
        .extend(line.map(|line| (printable(&line.name), format!("{prefix}/medium/{}", line.slug))));
    let history = if revisions.len() > 1 {
        format!("{} revisions", revisions.len())
    } else {
        "History".to_owned()
    };
    links.push((history, format!("{prefix}/run/{id}/revisions")));
    links.push(("The record as JSON".to_owned(), format!("{prefix}/data/run/{id}.json")));
    links
}

fn notes_of(current: &CollectionRun, entry: &CollectionRun) -> Vec<String> {
    let mut notes = Vec::new();
    if current.status == SubmissionStatus::Quarantined {
        notes.push(
            "This run waits until a person has looked at it. It is not part of the collection."
                .to_owned(),
        );
    }
    if entry.revision != current.revision {
        notes.push(format!(
            "This is revision {} as it was; revision {} has taken its place.",
            entry.revision, current.revision
        ));
    }
    notes
}

#[derive(Template)]
#[template(path = "revisions.html")]
struct RevisionsPage {
    id: String,
    name: String,
    run: String,
    status: &'static str,
    rows: Vec<RevisionRow>,
}

struct RevisionRow {
    number: u32,
    href: String,
    received: String,
    who: String,
    why: String,
    here: bool,
}

/// Page of the revisions of a run.
pub async fn revisions(
    State(app): State<App>,
    Path(id): Path<String>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    live(&app, &conditional, format!("revisions {id}"), move |collection, site| {
        let (current, revisions) = shown(collection, &id)?;
        let prefix = prefix_of(site);
        let row = |revision: Revision| RevisionRow {
            number: revision.revision,
            href: format!("{prefix}/run/{id}/revisions/{}", revision.revision),
            received: revision.received,
            who: revision.who,
            why: revision.why,
            here: revision.revision == current.revision,
        };
        let page = RevisionsPage {
            run: format!("{prefix}/run/{id}"),
            name: printable(&current.run.name()),
            status: status_words(current.status),
            rows: revisions.into_iter().rev().map(row).collect(),
            id: id.clone(),
        };
        let body = page.render().expect("a template that compiled renders into memory");
        Ok(RenderedPage::page(made::framed(site, "History", &body)))
    })
    .await
}

/// A status in words.
pub fn status_words(status: SubmissionStatus) -> &'static str {
    match status {
        SubmissionStatus::Accepted => "in the collection",
        SubmissionStatus::Quarantined => "waits until a person has looked at it",
        SubmissionStatus::Rejected => "not taken",
        SubmissionStatus::Withdrawn => "withdrawn",
    }
}

/// A file that all pages share.
pub async fn asset(
    State(app): State<App>,
    Path(name): Path<String>,
    conditional: CachingHeaders,
) -> Result<Response, Problem> {
    let asset =
        made::assets().iter().find(|asset| asset.path.strip_prefix("assets/") == Some(&name));
    let asset = asset.ok_or_else(|| Problem::not_found("there is no such file"))?;
    let mut response = kept(&app, &conditional, format!("asset {name}"), 0, FOR_EVER, || async {
        let etag = format!("W/\"{}\"", &hex(&Sha256::digest(asset.text))[..16]);
        Ok(CompressedPage {
            media_type: asset.media_type,
            etag,
            body: gzipped(asset.text.as_bytes()),
        })
    })
    .await?;
    // Its name changes with its content.
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    Ok(response)
}

/// `/robots.txt`: paths without content for search engines.
pub async fn robots(State(app): State<App>) -> impl IntoResponse {
    let mut text = "User-agent: *\n".to_owned();
    for path in ["/api/", "/data/", "/moderation", "/compare"] {
        writeln!(text, "Disallow: {}{path}", app.prefix()).expect("memory takes what is written");
    }
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text)
}

/// Redirect to the site's address without its last slash.
pub fn to_root(app: &App) -> Response {
    Redirect::permanent(&app.address("/")).into_response()
}

/// Parses the query string of any address that gives lines.
pub fn asked(text: Option<&str>) -> Query {
    query::of_pairs(pairs(text))
}
