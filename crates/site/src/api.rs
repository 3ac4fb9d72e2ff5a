//! The interface for programs: reading. What changes something is in `submissions.rs` and
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

use crate::client::{Bearer, Client, Who};
use crate::pages::{asked, no_medium, no_revision, shown, with_beside};
use crate::problem::{Problem, ProblemBody};
use crate::schema;
use crate::state::App;
use crate::{judgements, moderation, submissions};

/// Lines of the audit that are given at once, at most, and where nothing is said.
const AUDIT: usize = 1000;
const SOME_AUDIT: usize = 100;

/// All routes of the interface, described.
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
/// All that is published of it. One that was rejected or withdrawn is shown to moderators only.
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
    let sees_all = matches!(app.who(bearer, client).await?, Who::Moderator { .. });
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

/// What a revision of a run was.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Revision)]
pub struct RevisionView {
    /// 1, and one more with each replacement.
    pub revision: u32,
    /// RFC 3339, when it came in.
    pub received: String,
    /// Who sent it, as the audit calls them.
    pub who: String,
    /// Why.
    pub why: String,
}

/// The revisions of a run.
///
/// The oldest first. What a withdrawn run was is told too, but not shown.
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

/// A run as it was in one of its revisions.
///
/// One that was replaced has the status `withdrawn`.
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
    /// The lines, in the order asked for.
    #[schema(value_type = Vec<schema::Line>)]
    pub lines: Vec<CollectionLine>,
    /// How many fit the query.
    pub total: u64,
    /// Which page this is, from 1.
    pub page: u64,
    /// Lines a page.
    pub per_page: u32,
}

/// What is asked of the lines. Any figure is a parameter too: at least that many IOPS or MB/s, or
/// at most that many ms.
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
    /// Capacity in GB (10^9), at least.
    #[param(rename = "from-gb")]
    from_gb: Option<u64>,
    /// Capacity in GB, at most.
    #[param(rename = "to-gb")]
    to_gb: Option<u64>,
    /// A claimed class.
    #[param(example = "A1")]
    class: Option<String>,
    /// Words of the interface.
    interface: Option<String>,
    /// `only` fakes, or `none`.
    fakes: Option<String>,
    /// The figure to sort by, or `name`, `capacity`, `runs`, `latest`.
    #[param(example = "worst-stall")]
    sort: Option<String>,
    /// `1`: the other way round.
    reversed: Option<String>,
    /// Lines a page, at most 500.
    #[param(rename = "per-page")]
    per_page: Option<u32>,
    /// Which page, from 1.
    page: Option<u32>,
}

/// The lines of the table.
///
/// What the table shows with the same words behind the `?`. What is not understood is passed over.
#[utoipa::path(get, path = "/api/v1/lines", tag = "lines", params(LinesQuery),
    responses((status = 200, description = "A page of lines", body = LinesPage)))]
pub async fn lines(State(app): State<App>, RawQuery(text): RawQuery) -> Result<Response, Problem> {
    let query = asked(text.as_deref());
    let (page, per_page) =
        (u64::from(query.page) + 1, query.per_page.unwrap_or(report::collection::query::LINES));
    let found = app.read(move |collection| collection.lines(&query)).await?;
    Ok(answer(LinesPage { lines: found.lines, total: found.total, page, per_page }))
}

/// A line with those it stands beside.
#[derive(Debug, Serialize, ToSchema)]
pub struct LineBody {
    /// The line.
    #[schema(value_type = schema::Line)]
    pub line: CollectionLine,
    /// The other lines of its model: other origins, its fakes. They are never mixed with it.
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

/// A figure on one kind of host against all others.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Effect)]
pub struct EffectView {
    /// What the hosts are told apart by.
    #[schema(value_type = String, example = "kernel")]
    pub facet: Facet,
    /// Which of them.
    #[schema(example = "6.12")]
    pub group: String,
    /// Of which figure.
    #[schema(value_type = schema::Figure)]
    pub figure: HeadlineFigure,
    /// On these hosts.
    #[schema(value_type = schema::Spread)]
    pub inside: HostSpread,
    /// On all others.
    #[schema(value_type = schema::Spread)]
    pub outside: HostSpread,
}

/// What the host does to a medium.
///
/// For each thing by which hosts differ, each of its values, and each figure: the median there and
/// elsewhere. Empty where all hosts are alike.
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
/// How many are told apart by their keys, and which of them differ from the others. Empty where no
/// run says which medium it is of.
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

/// Which part of the audit.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Lines after this number.
    #[serde(default)]
    after: u64,
    /// How many, at most 1000.
    #[param(minimum = 1, maximum = 1000)]
    n: Option<usize>,
}

/// A line of the audit.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditLine {
    /// 1, 2, 3, without gaps.
    pub number: u64,
    /// RFC 3339.
    pub at: String,
    /// Who did it.
    pub who: String,
    /// What: `submitted`, `accepted`, `withdrawn`, ...
    pub what: String,
    /// To which run.
    pub run: Option<String>,
    /// Why, or anything else.
    pub detail: String,
    /// SHA-256 over the hash of the line before and all of the above: what is changed or taken out
    /// shows.
    pub hash: String,
}

/// What was done to the collection.
///
/// By whom and why, the oldest first. Lines are only ever added. Nothing here tells where a
/// submission came from.
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
    // Numbers beyond what a database counts to are beyond the end.
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
