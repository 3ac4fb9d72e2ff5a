//! Moderation requests of the API: lists of runs, judgements of many runs, and undo. A single run
//! is judged in `moderation.rs`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use record::collection::{Origin, SubmissionStatus};
use serde::{Deserialize, Serialize};
use store::collection::{BulkJudgement, ListedRun, RunFilter, RunOrder};
use utoipa::{IntoParams, ToSchema};

use crate::client::{Bearer, Client};
use crate::moderation::many;
use crate::problem::{Problem, ProblemBody};
use crate::schema;
use crate::state::App;
use crate::submissions::ReceiptBody;

/// Default number of listed runs.
const GIVEN: usize = 50;
const MAX_GIVEN: usize = 500;

/// Filter of the listed runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// `quarantined` (default) or `accepted`.
    #[param(example = "quarantined")]
    status: Option<String>,
    /// `oldest` (default), `newest`, `suspicion` or `sender`.
    #[param(example = "suspicion")]
    order: Option<String>,
    /// Only runs of this sender, as named in the audit log.
    #[param(example = "anonymous")]
    sender: Option<String>,
    /// Number of runs, at most 500.
    #[param(minimum = 1, maximum = 500)]
    n: Option<usize>,
}

impl StatusQuery {
    fn filter(self) -> Result<RunFilter, Problem> {
        let status = match self.status.as_deref() {
            None | Some("quarantined") => SubmissionStatus::Quarantined,
            Some("accepted") => SubmissionStatus::Accepted,
            Some(_) => return Err(Problem::bad("the status is quarantined or accepted")),
        };
        let order = self.order.as_deref().map_or(Some(RunOrder::default()), RunOrder::named);
        let bad = || Problem::bad("the order is oldest, newest, suspicion or sender");
        Ok(RunFilter {
            status,
            sender: self.sender.filter(|sender| !sender.is_empty()),
            order: order.ok_or_else(bad)?,
            count: self.n.unwrap_or(GIVEN).clamp(1, MAX_GIVEN),
        })
    }
}

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedRun)]
pub struct ListedRunView {
    /// Name of the run in the collection.
    pub id: String,
    /// Name of its medium.
    pub name: String,
    /// Name of its medium in addresses.
    pub slug: String,
    /// Time of arrival, RFC 3339.
    pub received: String,
    /// Its status.
    #[schema(value_type = schema::Status)]
    pub status: SubmissionStatus,
    /// Origin of the run.
    #[schema(value_type = String, example = "measured")]
    pub origin: Origin,
    /// Its revision.
    pub revision: u32,
    /// Sender, as named in the audit log.
    pub who: String,
    /// Reasons for a manual review, now or before.
    pub reasons: Vec<String>,
    /// Largest factor between one of its figures and the median of its line; 1 if none is known.
    pub distance: f64,
}

impl From<ListedRun> for ListedRunView {
    fn from(run: ListedRun) -> ListedRunView {
        let ListedRun { id, name, slug, received, status, origin, revision, .. } = run;
        let ListedRun { who, reasons, distance, .. } = run;
        ListedRunView { id, name, slug, received, status, origin, revision, who, reasons, distance }
    }
}

/// Runs to judge.
///
/// For moderators: quarantined or accepted runs, by age, by suspicion (number of reasons, then
/// distance from the median of the line) or by sender.
#[utoipa::path(get, path = "/api/v1/runs", tag = "moderation", security(("token" = [])), params(StatusQuery),
    responses(
        (status = 200, description = "Runs, in the order asked for", body = Vec<ListedRunView>),
        (status = 400, description = "No such status or order", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Not the token of a moderator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn list(
    State(app): State<App>,
    Query(query): Query<StatusQuery>,
    bearer: Bearer,
    client: Client,
) -> Result<Response, Problem> {
    app.moderator(bearer, client).await?;
    let filter = query.filter()?;
    let runs = app.read(move |collection| collection.list_runs(&filter)).await?;
    let runs: Vec<ListedRunView> = runs.into_iter().map(ListedRunView::from).collect();
    Ok(([(CACHE_CONTROL, "no-store")], Json(runs)).into_response())
}

/// One judgement of many runs.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ManyJudged {
    /// Names of the runs, at most 500.
    pub ids: Vec<String>,
    /// `accepted`, `rejected` or `quarantined`.
    #[schema(pattern = "^(accepted|rejected|quarantined)$", example = "rejected")]
    pub status: String,
    /// Reason for the audit log; at most 500 characters are kept.
    #[serde(default)]
    pub why: String,
}

/// Judgement of many runs that is undone.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UndoneEvent {
    /// Its number in the audit log.
    pub event: u64,
    /// Reason for the audit log; at most 500 characters are kept.
    #[serde(default)]
    pub why: String,
}

/// Result of a judgement of many runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventBody {
    /// Number in the audit log, by which the judgement can be undone; absent if nothing changed.
    pub event: Option<u64>,
    /// The runs with their new status.
    pub runs: Vec<ReceiptBody>,
    /// Names of runs that did not change: withdrawn, or judged again since.
    pub left: Vec<String>,
}

fn event_response(app: &App, done: BulkJudgement) -> Response {
    let receipt = |receipt| ReceiptBody::of(app, receipt, None, Vec::new());
    let runs = done.runs.into_iter().map(receipt).collect();
    let body = EventBody { event: done.event, runs, left: done.left };
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

fn read<'a, T: Deserialize<'a>>(body: &'a Bytes) -> Result<T, Problem> {
    serde_json::from_slice(body)
        .map_err(|error| Problem::bad(format!("this is no judgement: {error}")))
}

/// Judge many runs.
///
/// For moderators: one status and one reason for all of them, in one step. If one name is unknown,
/// no run is judged. Withdrawn runs stay withdrawn.
#[utoipa::path(post, path = "/api/v1/judgements", tag = "moderation", security(("token" = [])),
    request_body(content = ManyJudged, content_type = "application/json"),
    responses(
        (status = 200, description = "Judged, now or before", body = EventBody),
        (status = 400, description = "No JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Not the token of a moderator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "One of them is no run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "No such status, or too many runs", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn judge_many(
    State(app): State<App>,
    bearer: Bearer,
    client: Client,
    body: Bytes,
) -> Result<Response, Problem> {
    let name = app.moderator(bearer, client).await?;
    let ManyJudged { ids, status, why } = read(&body)?;
    let done = many::judge(&app, name, ids, &status, &why).await?;
    Ok(event_response(&app, done))
}

/// Undo a judgement of many runs.
///
/// For moderators: the last judgement that was not undone, by its number in the audit log. Each run
/// gets its earlier status, unless it was withdrawn or judged again since.
#[utoipa::path(post, path = "/api/v1/judgements/undo", tag = "moderation", security(("token" = [])),
    request_body(content = UndoneEvent, content_type = "application/json"),
    responses(
        (status = 200, description = "Undone", body = EventBody),
        (status = 400, description = "No JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Not the token of a moderator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is not the last one", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn undo(
    State(app): State<App>,
    bearer: Bearer,
    client: Client,
    body: Bytes,
) -> Result<Response, Problem> {
    let name = app.moderator(bearer, client).await?;
    let UndoneEvent { event, why } = read(&body)?;
    let done = many::undo(&app, name, event, &why).await?;
    Ok(event_response(&app, done))
}
