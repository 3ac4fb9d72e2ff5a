//! The read requests of the API. Requests that change something are in `submissions.rs` and
//! `moderation.rs`.

pub mod description;

use axum::Json;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use record::collection::{CollectionLine, HeadlineFigure, HostSpread};
use serde::{Deserialize, Serialize};
use store::collection::{Facet, HostEffect};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::client::{Bearer, Client, Identity};
use crate::pages::{asked, no_medium, no_revision, shown, with_beside};
use crate::problem::{Problem, ProblemBody};
use crate::schema;
use crate::state::App;
use crate::{judgements, moderation, submissions};

/// Entries of the audit log per answer: the default and the maximum.
const AUDIT: usize = 1000;
const SOME_AUDIT: usize = 100;

/// All routes of the API with their descriptions.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(schema::base())
        .routes(routes!(submissions::submit, judgements::list))
        .routes(routes!(run, submissions::replace, submissions::withdraw))
        .routes(routes!(revisions))
        .routes(routes!(revision))
        .routes(routes!(moderation::judge))
        .routes(routes!(judgements::judge_many))
        .routes(routes!(judgements::undo))
        .routes(routes!(lines))
        .routes(routes!(line))
        .routes(routes!(host_effects))
        .routes(routes!(media))
        .routes(routes!(moderation::quarantine))
        .routes(routes!(audit))
        .routes(routes!(openapi))
}

fn answer(body: impl Serialize) -> Response {
    ([(CACHE_CONTROL, "public, max-age=5")], Json(body)).into_response()
}

/// A run.
///
/// Everything published of it. A rejected or withdrawn run is shown to moderators only.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs",
    params(("id" = String, Path, description = "Name of the run in the collection")),
    responses(
        (status = 200, description = "The run", body = schema::Entry),
        (status = 404, description = "Not found", body = ProblemBody, content_type = "application/problem+json"),
        (status = 410, description = "It was rejected or withdrawn", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn run(
    State(app): State<App>,
    Path(id): Path<String>,
    bearer: Bearer,
    client: Client,
) -> Result<Response, Problem> {
    let sees_all = matches!(app.identity(bearer, client).await?, Identity::Moderator { .. });
    let entry = app
        .make(move |collection| match shown(collection, &id) {
            Ok((entry, _)) => Ok(entry),
            Err(problem) if sees_all => collection.entry(&id)?.ok_or(problem),
            Err(problem) => Err(problem),
        })
        .await?;
    if sees_all {
        return Ok(([(CACHE_CONTROL, "no-store")], Json(entry)).into_response());
    }
    Ok(answer(entry))
}

/// A revision of a run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Revision)]
pub struct RevisionView {
    /// 1 for the first revision, then counted up with each replacement.
    pub revision: u32,
    /// Time of arrival, RFC 3339.
    pub received: String,
    /// Sender, as named in the audit log.
    pub who: String,
    /// Reason for this revision.
    pub why: String,
}

/// The revisions of a run.
///
/// The oldest first. A withdrawn run has its revisions listed, but not shown.
#[utoipa::path(get, path = "/api/v1/runs/{id}/revisions", tag = "runs",
    params(("id" = String, Path, description = "Name of the run in the collection")),
    responses(
        (status = 200, description = "Its revisions", body = Vec<RevisionView>),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn revisions(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let revisions = app.read(move |collection| collection.revisions(&id)).await?;
    if revisions.is_empty() {
        return Err(Problem::not_found("no run of this name is in the collection"));
    }
    let revision = |it: store::collection::Revision| RevisionView {
        revision: it.revision,
        received: it.received,
        who: it.who,
        why: it.why,
    };
    Ok(answer(revisions.into_iter().map(revision).collect::<Vec<_>>()))
}

/// A run in one of its revisions.
///
/// A replaced revision has the status `withdrawn`.
#[utoipa::path(get, path = "/api/v1/runs/{id}/revisions/{revision}", tag = "runs",
    params(("id" = String, Path, description = "Name of the run in the collection"), ("revision" = u32, Path, description = "From 1")),
    responses(
        (status = 200, description = "The run as it was", body = schema::Entry),
        (status = 400, description = "The revision is no number", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run or revision", body = ProblemBody, content_type = "application/problem+json"),
        (status = 410, description = "The run was rejected or withdrawn", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn revision(
    State(app): State<App>,
    Path((id, revision)): Path<(String, u32)>,
) -> Result<Response, Problem> {
    let entry = app
        .make(move |collection| {
            let (current, _) = shown(collection, &id)?;
            if revision == current.revision {
                return Ok(current);
            }
            collection.revision(&id, revision)?.ok_or_else(|| no_revision(revision))
        })
        .await?;
    Ok(answer(entry))
}

/// A page of lines.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lines)]
pub struct LinesPage {
    /// The lines in the requested order.
    #[schema(value_type = Vec<schema::Line>)]
    pub lines: Vec<CollectionLine>,
    /// Number of lines that match the query.
    pub total: u64,
    /// Number of this page, from 1.
    pub page: u64,
    /// Lines per page.
    pub per_page: u32,
}

/// Parameters of a query for lines. Each figure is also a parameter: at least that many IOPS or
/// MB/s, or at most that many ms.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "it describes what report::collection::query reads")]
struct LinesQuery {
    /// Words that the name contains.
    q: Option<String>,
    /// Only this kind; may be given several times.
    #[param(example = "sd")]
    kind: Option<Vec<String>>,
    /// Only this origin; may be given several times. Without: measured, imported, reference.
    #[param(example = "measured")]
    origin: Option<Vec<String>>,
    /// Least capacity in GB (10^9 bytes).
    #[param(rename = "from-gb")]
    from_gb: Option<u64>,
    /// Largest capacity in GB.
    #[param(rename = "to-gb")]
    to_gb: Option<u64>,
    /// A speed class that the medium claims.
    #[param(example = "A1")]
    class: Option<String>,
    /// Words of the interface.
    interface: Option<String>,
    /// `only` fakes, or `none`.
    fakes: Option<String>,
    /// The figure to sort by, or `name`, `capacity`, `runs`, `latest`.
    #[param(example = "worst-stall")]
    sort: Option<String>,
    /// `1` to reverse the order.
    reversed: Option<String>,
    /// Lines per page, at most 500.
    #[param(rename = "per-page")]
    per_page: Option<u32>,
    /// Number of the page, from 1.
    page: Option<u32>,
}

/// The lines of the table.
///
/// The same as the table shows with this query string. Unknown parameters are ignored.
#[utoipa::path(get, path = "/api/v1/lines", tag = "lines", params(LinesQuery),
    responses((status = 200, description = "A page of lines", body = LinesPage)))]
pub async fn lines(State(app): State<App>, RawQuery(text): RawQuery) -> Result<Response, Problem> {
    let query = asked(text.as_deref());
    let (page, per_page) =
        (u64::from(query.page) + 1, query.per_page.unwrap_or(report::collection::query::LINES));
    let found = app.read(move |collection| collection.lines(&query)).await?;
    Ok(answer(LinesPage { lines: found.lines, total: found.total, page, per_page }))
}

/// A line with the other lines of its model.
#[derive(Debug, Serialize, ToSchema)]
pub struct LineBody {
    /// The line.
    #[schema(value_type = schema::Line)]
    pub line: CollectionLine,
    /// The other lines of its model: other origins, and its fakes. They are never mixed with it.
    #[schema(value_type = Vec<schema::Line>)]
    pub beside: Vec<CollectionLine>,
}

/// A line.
///
/// Medians and spread over all runs of one model and origin, and the other lines of that model.
#[utoipa::path(get, path = "/api/v1/lines/{slug}", tag = "lines",
    params(("slug" = String, Path, description = "Name of the medium in addresses")),
    responses(
        (status = 200, description = "The line", body = LineBody),
        (status = 404, description = "Not found", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn line(State(app): State<App>, Path(slug): Path<String>) -> Result<Response, Problem> {
    let found = app.read(move |collection| with_beside(collection, &slug)).await?;
    found.map(|(line, beside)| answer(LineBody { line, beside })).ok_or_else(no_medium)
}

/// Comparison of a figure between one group of hosts and all others.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Effect)]
pub struct EffectView {
    /// Property that groups the hosts.
    #[schema(value_type = String, example = "kernel")]
    pub facet: Facet,
    /// Value of that property in this group.
    #[schema(example = "6.12")]
    pub group: String,
    /// The compared figure.
    #[schema(value_type = schema::Figure)]
    pub figure: HeadlineFigure,
    /// The figure on the hosts of this group.
    #[schema(value_type = schema::Spread)]
    pub inside: HostSpread,
    /// The figure on all other hosts.
    #[schema(value_type = schema::Spread)]
    pub outside: HostSpread,
}

/// Effects of the host on a medium.
///
/// For each property in which hosts differ, each of its values, and each figure: the median inside
/// and outside the group. Empty if all hosts are alike.
#[utoipa::path(get, path = "/api/v1/lines/{slug}/host-effects", tag = "lines",
    params(("slug" = String, Path, description = "Name of the medium in addresses")),
    responses(
        (status = 200, description = "Effects", body = Vec<EffectView>),
        (status = 404, description = "There is no such line", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn host_effects(
    State(app): State<App>,
    Path(slug): Path<String>,
) -> Result<Response, Problem> {
    let found = app
        .read(move |collection| match collection.line(&slug)? {
            Some(line) => collection.host_effects(&line.slug).map(Some),
            None => Ok(None),
        })
        .await?;
    let effect = |it: HostEffect| EffectView {
        facet: it.facet,
        group: it.group,
        figure: it.figure,
        inside: it.inside,
        outside: it.outside,
    };
    let effects = found.ok_or_else(no_medium)?;
    Ok(answer(effects.into_iter().map(effect).collect::<Vec<_>>()))
}

/// The media of a line.
///
/// Number of media with different keys, and those that differ from the others. Empty if no run has
/// a key of its medium.
#[utoipa::path(get, path = "/api/v1/lines/{slug}/media", tag = "lines",
    params(("slug" = String, Path, description = "Name of the medium in addresses")),
    responses(
        (status = 200, description = "The media", body = schema::Media),
        (status = 404, description = "There is no such line", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn media(State(app): State<App>, Path(slug): Path<String>) -> Result<Response, Problem> {
    let runs = app
        .read(move |collection| match collection.line(&slug)? {
            Some(line) => collection.medium_runs(&line.slug).map(Some),
            None => Ok(None),
        })
        .await?
        .ok_or_else(no_medium)?;
    Ok(answer(findings::media(&runs)))
}

/// Part of the audit log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only entries after this number.
    #[serde(default)]
    after: u64,
    /// Number of entries, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    n: Option<usize>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLine {
    /// Consecutive number, from 1.
    pub number: u64,
    /// Time, RFC 3339.
    pub at: String,
    /// Author of the change.
    pub who: String,
    /// Kind of change: `submitted`, `accepted`, `withdrawn`, ...
    pub what: String,
    /// Run that was changed.
    pub run: Option<String>,
    /// Reason, or other details.
    pub detail: String,
    /// SHA-256 over the hash of the entry before and all fields above: a changed or removed entry
    /// is detected.
    pub hash: String,
}

/// Changes of the collection.
///
/// Each with its author and reason, the oldest first. Entries are only ever added. None has the
/// address that a submission came from.
#[utoipa::path(get, path = "/api/v1/audit", tag = "audit", params(AuditQuery),
    responses(
        (status = 200, description = "Lines of the audit", body = Vec<AuditLine>),
        (status = 400, description = "No numbers", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn audit(
    State(app): State<App>,
    Query(query): Query<AuditQuery>,
) -> Result<Response, Problem> {
    let n = query.n.unwrap_or(SOME_AUDIT).clamp(1, AUDIT);
    // Numbers beyond the database's range are after the last entry.
    let after = query.after.min(i64::MAX as u64);
    let lines = app.read(move |collection| collection.audit(after, n)).await?;
    let line = |it: store::collection::Audited| AuditLine {
        number: it.number,
        at: it.at,
        who: it.who,
        what: it.what,
        run: it.run,
        detail: it.detail,
        hash: it.hash,
    };
    Ok(answer(lines.into_iter().map(line).collect::<Vec<_>>()))
}

/// This description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "about",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub async fn openapi(State(app): State<App>) -> Response {
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "public, max-age=300")];
    (headers, description::json(app.prefix())).into_response()
}
