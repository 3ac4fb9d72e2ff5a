//! Submission, replacement and withdrawal of runs. A body is limited before it is read (`body`),
//! checked by `upload` before anything is stored, and durable in the collection before its receipt
//! is sent.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use record::collection::{Origin, SubmissionStatus};
use record::text::printable;
use serde::{Deserialize, Serialize};
use store::collection::{Collection, CollectionError, Submission, SubmissionReceipt};
use utoipa::{IntoParams, ToSchema};

use crate::body::collected;
use crate::client::{Bearer, Client, Identity};
use crate::problem::{Problem, ProblemBody};
use crate::schema;
use crate::state::{App, Quarantine, now, secret};
use ::collection::Upload;

/// Most characters of a given reason.
const WHY: usize = 500;

/// Result of a submission.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Receipt)]
pub struct ReceiptBody {
    /// Name of the run in the collection.
    pub id: String,
    /// Name of its medium in addresses.
    pub slug: String,
    /// Its status.
    #[schema(value_type = schema::Status)]
    pub status: SubmissionStatus,
    /// True if anything changed: the same run once more changes nothing.
    pub is_new: bool,
    /// Its revision.
    pub revision: u32,
    /// Token that allows to replace and withdraw the run. It is shown this once, to senders without
    /// a token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit_token: Option<String>,
    /// Address of its page.
    pub page: String,
    /// Reasons for a manual review.
    pub reasons: Vec<String>,
}

impl ReceiptBody {
    /// The receipt of a change.
    pub fn of(
        app: &App,
        receipt: SubmissionReceipt,
        edit_token: Option<String>,
        reasons: Vec<String>,
    ) -> ReceiptBody {
        let SubmissionReceipt { id, slug, revision, status, is_new } = receipt;
        ReceiptBody {
            page: app.address(&format!("/run/{id}")),
            id,
            slug,
            status,
            is_new,
            revision,
            edit_token,
            reasons,
        }
    }
}

fn answer(status: StatusCode, receipt: ReceiptBody) -> Response {
    (status, [(CACHE_CONTROL, "no-store")], Json(receipt)).into_response()
}

/// Submit a run.
///
/// The body is the published subset of a record. Unusual but possible runs wait for a manual
/// review. The same run again is not a new one.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", security((), ("token" = [])),
    request_body(content = schema::Published, content_type = "application/json"),
    responses(
        (status = 200, description = "It is there already", body = ReceiptBody),
        (status = 201, description = "It is there now", body = ReceiptBody),
        (status = 400, description = "The body broke off", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "The token is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The token is for something else", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body took too long", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Not a valid run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests, or more than is kept in a day", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn submit(
    State(app): State<App>,
    bearer: Bearer,
    client: Client,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    counted(&app, take_in(&app, bearer, client, headers, body).await)
}

/// Counts a rejection by its code.
fn counted(app: &App, done: Result<Response, Problem>) -> Result<Response, Problem> {
    if let Err(problem) = &done {
        app.metrics().submission(problem.code);
    }
    done
}

async fn take_in(
    app: &App,
    bearer: Bearer,
    client: Client,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    if bearer.0.is_none() {
        app.allow_submission(client.0)?;
    }
    let who = submitter(app, bearer, client).await?;
    let judged = judge(app, &who, &headers, body, None).await?;
    let (status, receipt) = keep(app, client, &who, judged).await?;
    Ok(answer(status, receipt))
}

/// Identity of the sender of a new run; an edit token is not allowed.
pub(crate) async fn submitter(
    app: &App,
    bearer: Bearer,
    client: Client,
) -> Result<Identity, Problem> {
    let who = app.identity(bearer, client).await?;
    if let Identity::Editor { run } = &who {
        return Err(Problem::forbidden(format!(
            "this token is for run '{run}' alone: PUT replaces it; submit without a token"
        )));
    }
    Ok(who)
}

/// Stores a checked run in the collection.
pub(crate) async fn keep(
    app: &App,
    client: Client,
    who: &Identity,
    judged: Judged,
) -> Result<(StatusCode, ReceiptBody), Problem> {
    let edit_token = if *who == Identity::Anyone { Some(secret()?) } else { None };
    let submission = judged.submission(who, judged.reasons.join("; "), edit_token.clone());
    let receipt = app.submit_within(client, who, submission).await?;
    let outcome = match (receipt.is_new, receipt.status) {
        (false, _) => "known",
        (true, SubmissionStatus::Quarantined) => "quarantined",
        (true, _) => "accepted",
    };
    app.metrics().submission(outcome);
    let status = if receipt.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let reasons = match (receipt.is_new, receipt.status) {
        (true, _) | (false, SubmissionStatus::Quarantined) => judged.reasons,
        (false, SubmissionStatus::Accepted) => Vec::new(),
        (false, SubmissionStatus::Rejected) => {
            vec!["this run was looked at and not taken into the collection".to_owned()]
        }
        (false, SubmissionStatus::Withdrawn) => {
            vec!["this run was withdrawn, which is final".to_owned()]
        }
    };
    let edit_token = edit_token.filter(|_| receipt.is_new);
    Ok((status, ReceiptBody::of(app, receipt, edit_token, reasons)))
}

/// Reason of a change.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct WhyQuery {
    /// Reason for the audit log; at most 500 characters are kept.
    #[serde(default)]
    why: String,
}

/// Replace a run by a new revision.
///
/// With the edit token of the run, the API token that sent it, or the token of a moderator. The old
/// revision stays readable.
#[utoipa::path(put, path = "/api/v1/runs/{id}", tag = "runs", security(("token" = [])),
    params(("id" = String, Path, description = "Name of the run in the collection"), WhyQuery),
    request_body(content = schema::Published, content_type = "application/json"),
    responses(
        (status = 200, description = "Replaced, or the same already", body = ReceiptBody),
        (status = 400, description = "The body broke off", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The token is for something else", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 408, description = "The body took too long", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another run has this content", body = ProblemBody, content_type = "application/problem+json"),
        (status = 410, description = "The run was withdrawn", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "Not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "Not a valid run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests, or more than is kept in a day", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn replace(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<WhyQuery>,
    bearer: Bearer,
    client: Client,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let replaced = async {
        let who = entitled(&app, &id, bearer, client).await?;
        if matches!(who, Identity::Editor { .. }) {
            app.allow_submission(client.0)?;
        }
        let judged = judge(&app, &who, &headers, body, Some(id.clone())).await?;
        // A reason given by a sender is not mixed with those of the program.
        let sender_reason = Some(kept_why(&query.why)).filter(|text| !text.is_empty());
        let sender_reason =
            sender_reason.map(|text| format!("{} says: {}", who.name(), text.replace(';', ",")));
        let why: Vec<String> = judged.reasons.iter().cloned().chain(sender_reason).collect();
        let why = why.join("; ");
        let submission = judged.submission(&who, why, None);
        let receipt = app.replace_within(client, &who, id, submission).await?;
        app.metrics().submission(if receipt.is_new { "replaced" } else { "known" });
        let reasons = if receipt.status == SubmissionStatus::Quarantined {
            judged.reasons
        } else {
            Vec::new()
        };
        Ok(answer(StatusCode::OK, ReceiptBody::of(&app, receipt, None, reasons)))
    };
    let replaced = replaced.await;
    counted(&app, replaced)
}

/// Withdraw a run.
///
/// It is no longer shown, and that is final. Its name and its history stay. Needs the same token as
/// a replacement.
#[utoipa::path(delete, path = "/api/v1/runs/{id}", tag = "runs", security(("token" = [])),
    params(("id" = String, Path, description = "Name of the run in the collection"), WhyQuery),
    responses(
        (status = 200, description = "Withdrawn, now or before", body = ReceiptBody),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The token is for something else", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn withdraw(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<WhyQuery>,
    bearer: Bearer,
    client: Client,
) -> Result<Response, Problem> {
    let who = entitled(&app, &id, bearer, client).await?;
    let why = kept_why(&query.why);
    let receipt =
        app.change(move |collection| withdraw_or_find(collection, &id, who.name(), &why)).await?;
    app.metrics().submission("withdrawn");
    Ok(answer(StatusCode::OK, ReceiptBody::of(&app, receipt, None, Vec::new())))
}

/// Withdraws a run; a withdrawn run stays withdrawn.
fn withdraw_or_find(
    collection: &Collection,
    id: &str,
    who: &str,
    why: &str,
) -> Result<SubmissionReceipt, CollectionError> {
    match collection.withdraw(id, who, why, &now()) {
        Err(CollectionError::Withdrawn { .. }) => {
            let entry = collection
                .entry(id)?
                .ok_or_else(|| CollectionError::NoSuchRun { id: id.to_owned() })?;
            let slug = crate::pages::line_of(collection, &entry)?
                .map(|line| line.slug)
                .unwrap_or_default();
            Ok(SubmissionReceipt {
                id: entry.id,
                slug,
                revision: entry.revision,
                status: entry.status,
                is_new: false,
            })
        }
        other => other,
    }
}

/// A given reason, on one line and limited in length.
pub fn kept_why(why: &str) -> String {
    printable(why).chars().take(WHY).collect::<String>().trim().to_owned()
}

/// Identity of a client that may change this run; an error for others.
async fn entitled(
    app: &App,
    id: &str,
    bearer: Bearer,
    client: Client,
) -> Result<Identity, Problem> {
    let who = app.identity(bearer, client).await?;
    let may = match &who {
        Identity::Anyone => {
            return Err(Problem::unauthorized(
                "this needs the edit token that came with the run's receipt",
            ));
        }
        Identity::Moderator { .. } => true,
        Identity::Editor { run } => run == id,
        Identity::Api { name } => {
            let (asked, name) = (id.to_owned(), name.clone());
            let sent = app.read(move |collection| collection.revisions(&asked)).await?;
            let first = sent
                .first()
                .ok_or_else(|| Problem::not_found("no run of this name is in the collection"))?;
            first.who == name
        }
    };
    if may { Ok(who) } else { Err(Problem::forbidden("this token is not for that run")) }
}

/// A valid run, with the reasons for a manual review.
pub(crate) struct Judged {
    upload: Upload,
    origin: Origin,
    pub reasons: Vec<String>,
    status: SubmissionStatus,
}

impl Judged {
    fn submission(&self, who: &Identity, why: String, edit_token: Option<String>) -> Submission {
        Submission {
            status: self.status,
            who: who.name().to_owned(),
            sender: Some(who.name().to_owned()),
            why,
            edit_token,
            ..Submission::new(
                self.upload.run.clone(),
                self.upload.headline.clone(),
                self.origin,
                now(),
            )
        }
    }
}

async fn judge(
    app: &App,
    who: &Identity,
    headers: &HeaderMap,
    body: Body,
    replaces: Option<String>,
) -> Result<Judged, Problem> {
    is_json(headers)?;
    let (bytes, held) = collected(app, headers, body).await?;
    let encoding = headers
        .get(CONTENT_ENCODING)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let limits = app.options().limits.clone();
    let policy = policy_for(app, who);
    app.work(move |collection| {
        let upload = ::collection::read(&bytes, encoding.as_deref(), &limits)?;
        drop((bytes, held));
        Ok(judged(collection, upload, policy, replaces.as_deref())?)
    })
    .await
}

/// Quarantine rule for a sender.
pub(crate) fn policy_for(app: &App, who: &Identity) -> Quarantine {
    match who {
        Identity::Moderator { .. } => Quarantine::Doubtful,
        _ => app.options().quarantine,
    }
}

/// Decides if a run waits for a manual review, with the reasons.
pub(crate) fn judged(
    collection: &Collection,
    upload: Upload,
    policy: Quarantine,
    replaces: Option<&str>,
) -> Result<Judged, CollectionError> {
    let origin = Origin::of(&upload.run);
    let mut reasons = upload.caveats.clone();
    if let Some(id) = collection.find_copy(&upload.run, replaces)? {
        reasons.push(format!("its latencies are those of run {id}: one measurement counts once"));
    }
    if let Some(line) = line_it_joins(collection, &upload, origin)? {
        reasons.extend(::collection::outliers(&upload, &line));
    }
    if policy == Quarantine::All {
        reasons.push("every submission waits for a person here".to_owned());
    }
    let status =
        if reasons.is_empty() { SubmissionStatus::Accepted } else { SubmissionStatus::Quarantined };
    Ok(Judged { upload, origin, reasons, status })
}

/// The line that the run joins: other runs of its model and origin, fakes apart.
fn line_it_joins(
    collection: &Collection,
    upload: &Upload,
    origin: Origin,
) -> Result<Option<record::collection::CollectionLine>, CollectionError> {
    let lines = collection.lines_of(&::collection::model_of(&upload.run))?;
    Ok(lines
        .into_iter()
        .find(|line| line.origin == origin && line.is_fake == upload.headline.is_fake))
}

fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers
        .get(CONTENT_TYPE)
        .map(|kind| String::from_utf8_lossy(kind.as_bytes()))
        .unwrap_or_default();
    let name = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if name == "application/json" || (name.starts_with("application/") && name.ends_with("+json")) {
        return Ok(());
    }
    let name: String = name.chars().take(60).collect();
    let reason =
        format!("a run is sent with Content-Type: application/json, not '{}'", name.escape_debug());
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not-json", reason))
}
