//! For programs of who judges: lists of runs, many judged at once, and that undone. One run is
//! judged in `moderation.rs`.

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

/// Runs that are given where nothing is said, and at most.
const GIVEN: usize = 50;
const MOST_GIVEN: usize = 500;

/// Which runs are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StatusQuery {
    /// `quarantined`, also where nothing is said, or `accepted`.
    #[param(example = "quarantined")]
    status: Option<String>,
    /// `oldest`, also where nothing is said, `newest`, `suspicion` or `sender`.
    #[param(example = "suspicion")]
    order: Option<String>,
    /// Only what this sender sent, as the audit calls them.
    #[param(example = "anonymous")]
    sender: Option<String>,
    /// How many, at most 500.
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
            count: self.n.unwrap_or(GIVEN).clamp(1, MOST_GIVEN),
        })
    }
}

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedRun)]
pub struct ListedRunView {
    /// Name of the run in the collection.
    pub id: String,
    /// What its medium is called.
    pub name: String,
    /// Name of its medium in addresses.
    pub slug: String,
    /// RFC 3339, when it came in.
    pub received: String,
    /// Its status.
    #[schema(value_type = schema::Status)]
    pub status: SubmissionStatus,
    /// Where it comes from.
    #[schema(value_type = String, example = "measured")]
    pub origin: Origin,
    /// Its revision.
    pub revision: u32,
    /// Who sent it, as the audit calls them.
    pub who: String,
    /// Why it waits, or has waited.
    pub reasons: Vec<String>,
    /// The largest factor between one of its figures and the median of its line; 1 where none is
    /// known.
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
/// For moderators: what waits, or what is accepted, by age, by suspicion (the number of reasons,
/// then the distance from the median of its line) or by sender.
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
    /// Why, for the audit; at most 500 letters are kept.
    #[serde(default)]
    pub why: String,
}

/// Which judgement of many is undone.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UndoneEvent {
    /// Its number in the audit.
    pub event: u64,
    /// Why, for the audit; at most 500 letters are kept.
    #[serde(default)]
    pub why: String,
}

/// What became of many runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct EventBody {
    /// The number in the audit, by which a judgement is undone; none where nothing had to change.
    pub event: Option<u64>,
    /// The runs with their status now.
    pub runs: Vec<ReceiptBody>,
    /// Names of runs that were left as they are: withdrawn, or judged otherwise since.
    pub left: Vec<String>,
}

fn told(app: &App, done: BulkJudgement) -> Response {
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
/// For moderators: one status and one reason for all of them, in one step. Where one is no run,
/// none is judged. What was withdrawn stays so.
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
    Ok(told(&app, done))
}

/// Undo a judgement of many runs.
///
/// For moderators: the last one that stands, by its number in the audit. Each run gets the status
/// it had, except where it was withdrawn or judged otherwise since.
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
    Ok(told(&app, done))
}
