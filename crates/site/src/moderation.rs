//! Review of quarantined runs: a page for signed-in moderators, and the same for programs.
//!
//! Signing in exchanges the token for a session in memory and for the only cookie of the site:
//! HttpOnly, SameSite=Strict, for this page alone. Each form also holds a secret of the session.
//! The token is looked up with each request, so that revoking it ends its sessions.

use askama::Template;
use axum::Form;
use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use record::collection::{CollectionRun, HeadlineFigure, Origin, RunHeadline, SubmissionStatus};
use record::text::printable;
use serde::{Deserialize, Serialize};
use store::collection::{
    Collection, CollectionError, Counts, ListedRun, RunFilter, RunOrder, reasons_of,
};
use utoipa::{IntoParams, ToSchema};

use crate::client::{Bearer, Client};
use crate::problem::{Problem, ProblemBody, SkipErrorPage, sentence};
use crate::schema;
use crate::sessions::{SESSION, Session};
use crate::state::{App, now, secret};
use crate::submissions::{ReceiptBody, kept_why};

pub mod many;

/// Most runs shown at once.
const SHOWN: usize = 50;
/// Most runs in an answer to a program.
const MAX_GIVEN: usize = 500;
/// Distinct from the cookies of other services on the same host.
const COOKIE_NAME: &str = "flashmark-moderator";

fn cookie_of(headers: &HeaderMap) -> Option<String> {
    let cookies = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'));
    cookies
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE_NAME)
        .map(|(_, id)| id.to_owned())
}

fn set_cookie(app: &App, id: &str, seconds: u64) -> (axum::http::HeaderName, String) {
    let secure = if app.options().base.as_ref().is_some_and(crate::base::Base::is_https) {
        "; Secure"
    } else {
        ""
    };
    let path = app.address("/moderation");
    (
        SET_COOKIE,
        format!(
            "{COOKIE_NAME}={id}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
        ),
    )
}

/// Session and name of the sender, if signed in and still allowed.
async fn signed_in(
    app: &App,
    headers: &HeaderMap,
    client: Client,
) -> Result<Option<(Session, String)>, Problem> {
    let Some(session) = cookie_of(headers).and_then(|id| app.sessions().get(&id)) else {
        return Ok(None);
    };
    let name = app.moderator(Bearer(Some(session.token.clone())), client).await;
    match name {
        Ok(name) => Ok(Some((session, name))),
        Err(problem)
            if problem.status == StatusCode::UNAUTHORIZED
                || problem.status == StatusCode::FORBIDDEN =>
        {
            Ok(None)
        }
        Err(problem) => Err(problem),
    }
}

#[derive(Template)]
#[template(path = "sign-in.html")]
struct SignInPage<'a> {
    action: String,
    problem: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "moderation.html")]
struct ModerationPage {
    name: String,
    judge: String,
    sign_out: String,
    audit: String,
    form: String,
    message: Option<String>,
    accepted: u64,
    waiting: u64,
    here: String,
    many: String,
    undo: String,
    /// Number in the audit log of a judgement of many runs that can be undone.
    event: Option<u64>,
    list: Listed,
    /// True if there are more runs than shown.
    more: bool,
    rows: Vec<Row>,
}

/// Filter of the list, as in the address of the page.
struct Listed {
    status: &'static str,
    order: &'static str,
    orders: Vec<(&'static str, bool)>,
    sender: String,
}

impl Listed {
    fn of(filter: &RunFilter) -> Listed {
        let order = |order: RunOrder| (order.name(), order == filter.order);
        Listed {
            status: filter.status.name(),
            order: filter.order.name(),
            orders: RunOrder::ALL.into_iter().map(order).collect(),
            sender: filter.sender.clone().unwrap_or_default(),
        }
    }

    fn is_accepted(&self) -> bool {
        self.status == SubmissionStatus::Accepted.name()
    }
}

struct Row {
    id: String,
    name: String,
    href: String,
    medium: Option<String>,
    received: String,
    who: String,
    facts: String,
    revision: u32,
    reasons: Vec<String>,
    verdict: String,
    figures: Vec<(&'static str, String)>,
}

fn page(app: &App, status: StatusCode, body: &str) -> Response {
    let page = report::collection::framed(app.site(), "Moderation", body);
    let mut response = (status, [(CACHE_CONTROL, "no-store")], Html(page)).into_response();
    response.extensions_mut().insert(SkipErrorPage);
    response
}

fn sign_in_page(app: &App, problem: Option<&Problem>) -> Response {
    let reason = problem.map(|problem| sentence(&problem.reason));
    let page_of =
        SignInPage { action: app.address("/moderation/sign-in"), problem: reason.as_deref() };
    let body = page_of.render().expect("a template that compiled renders into memory");
    page(app, problem.map_or(StatusCode::OK, |problem| problem.status), &body)
}

/// Result of the last action, and the filter, from the address of the page.
#[derive(Deserialize)]
pub struct PageQuery {
    done: Option<String>,
    run: Option<String>,
    event: Option<String>,
    undone: Option<String>,
    #[serde(default)]
    list: String,
    #[serde(default)]
    order: String,
    #[serde(default)]
    sender: String,
}

impl PageQuery {
    /// Filter of the list; invalid values are ignored.
    fn filter(&self) -> RunFilter {
        let status = SubmissionStatus::named(&self.list)
            .filter(|status| *status == SubmissionStatus::Accepted);
        RunFilter {
            status: status.unwrap_or(SubmissionStatus::Quarantined),
            sender: Some(self.sender.trim().to_owned()).filter(|sender| !sender.is_empty()),
            order: RunOrder::named(&self.order).unwrap_or_default(),
            count: SHOWN + 1,
        }
    }

    /// Sentence about the result of the last action.
    fn in_words(&self) -> Option<String> {
        let number = |text: &Option<String>| text.as_deref()?.parse::<u64>().ok();
        if let Some(event) = number(&self.event) {
            return Some(format!("Done. It is number {event} in the audit, and can be undone."));
        }
        if let Some(event) = number(&self.undone) {
            return Some(format!("Number {event} of the audit is undone."));
        }
        let status = SubmissionStatus::named(self.done.as_deref()?)?;
        let run = self.run.as_deref().filter(|run| report::collection::is_slug(run))?;
        Some(format!("Run {run} is {} now.", status.name()))
    }
}

/// `GET /moderation`: the quarantined runs, or the form for signing in.
pub async fn moderation(
    State(app): State<App>,
    Query(query): Query<PageQuery>,
    client: Client,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Some((session, name)) = signed_in(&app, &headers, client).await? else {
        return Ok(sign_in_page(&app, None));
    };
    let (prefix, filter) = (app.prefix().to_owned(), query.filter());
    let list = Listed::of(&filter);
    let (counts, event, mut rows) =
        app.read(move |collection| shown(collection, &prefix, &filter)).await?;
    let more = rows.len() > SHOWN;
    rows.truncate(SHOWN);
    let page_of = ModerationPage {
        name,
        judge: app.address("/moderation/judge"),
        sign_out: app.address("/moderation/sign-out"),
        audit: app.address("/api/v1/audit"),
        form: session.form,
        message: query.in_words(),
        accepted: counts.accepted,
        waiting: counts.quarantined,
        here: app.address("/moderation"),
        many: app.address("/moderation/judge-many"),
        undo: app.address("/moderation/undo"),
        event,
        list,
        more,
        rows,
    };
    let body = page_of.render().expect("a template that compiled renders into memory");
    Ok(page(&app, StatusCode::OK, &body))
}

fn shown(
    collection: &Collection,
    prefix: &str,
    filter: &RunFilter,
) -> Result<(Counts, Option<u64>, Vec<Row>), CollectionError> {
    let mut rows = Vec::new();
    for run in collection.list_runs(filter)? {
        // It may have been removed meanwhile.
        let Some(entry) = collection.entry(&run.id)? else { continue };
        let line = crate::pages::line_of(collection, &entry)?;
        let medium = line.map(|line| format!("{prefix}/medium/{}", line.slug));
        rows.push(row(&entry, prefix, medium, run));
    }
    Ok((collection.counts()?, collection.last_judgement()?, rows))
}

fn row(entry: &CollectionRun, prefix: &str, medium: Option<String>, listed: ListedRun) -> Row {
    let run = &entry.run;
    let facts = [
        Some(entry.origin.name().to_owned()),
        run.interface_words(),
        run.board.clone(),
        run.label.clone(),
    ];
    let head_and_text = |figure: HeadlineFigure| {
        entry
            .headline
            .figures
            .get(&figure)
            .map(|value| (report::collection::figure_head(figure), figure_text(figure, *value)))
    };
    Row {
        id: entry.id.clone(),
        name: printable(&run.name()),
        href: format!("{prefix}/run/{}", entry.id),
        medium,
        received: entry.received.clone(),
        who: listed.who,
        facts: printable(&facts.into_iter().flatten().collect::<Vec<_>>().join(", ")),
        revision: entry.revision,
        reasons: listed.reasons.iter().map(|reason| printable(reason)).collect(),
        verdict: printable(entry.headline.verdict.as_deref().unwrap_or_default()),
        figures: HeadlineFigure::ALL.into_iter().filter_map(head_and_text).collect(),
    }
}

fn figure_text(figure: HeadlineFigure, value: f64) -> String {
    let unit = figure.unit();
    let shown = value / report::collection::query::unit_factor(unit);
    format!("{} {}", record::units::significant(shown), report::collection::query::unit_name(unit))
}

/// The form for signing in.
#[derive(Deserialize)]
pub struct SignIn {
    token: String,
}

/// `POST /moderation/sign-in`: exchanges a moderator's token for a session, and sets its cookie.
pub async fn sign_in(
    State(app): State<App>,
    client: Client,
    Form(form): Form<SignIn>,
) -> Result<Response, Problem> {
    let token = form.token.trim().to_owned();
    if token.is_empty() || token.len() > 200 {
        return Ok(sign_in_page(
            &app,
            Some(&Problem::unauthorized("this token is not known here")),
        ));
    }
    let name = match app.moderator(Bearer(Some(token.clone())), client).await {
        Ok(name) => name,
        Err(problem) => return Ok(sign_in_page(&app, Some(&problem))),
    };
    let (id, form) = (secret()?, secret()?);
    app.sessions().begin(id.clone(), token, form);
    app.add(move |collection| collection.note(&name, "signed in", None, "moderation", &now()))
        .await?;
    Ok(([set_cookie(&app, &id, SESSION.as_secs())], Redirect::to(&app.address("/moderation")))
        .into_response())
}

/// The form for signing out.
#[derive(Deserialize)]
pub struct SignOut {
    form: String,
}

/// `POST /moderation/sign-out`: ends the session and clears its cookie.
pub async fn sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    Form(form): Form<SignOut>,
) -> Result<Response, Problem> {
    if let Some(id) = cookie_of(&headers)
        && app.sessions().get(&id).is_some_and(|session| session.form == form.form)
    {
        app.sessions().end(&id);
    }
    Ok(([set_cookie(&app, "", 0)], Redirect::to(&app.address("/moderation"))).into_response())
}

/// The form of a judgement.
#[derive(Deserialize)]
pub struct JudgeForm {
    form: String,
    run: String,
    status: String,
    #[serde(default)]
    why: String,
}

/// `POST /moderation/judge`: gives a run another status, for a signed-in moderator.
pub async fn judge_form(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    Form(form): Form<JudgeForm>,
) -> Result<Response, Problem> {
    let Some((session, name)) = signed_in(&app, &headers, client).await? else {
        return Ok(sign_in_page(&app, None));
    };
    if session.form != form.form {
        return Err(Problem::forbidden("this form is not of this session; open the page again"));
    }
    let status = status_of(&form.status)?;
    let run = form.run.trim().to_owned();
    let (id, why) = (run.clone(), kept_why(&form.why));
    app.change(move |collection| collection.judge(&id, status, &name, &why, &now())).await?;
    let to = app.address(&format!("/moderation?done={}&run={run}", status.name()));
    Ok(Redirect::to(&to).into_response())
}

/// The status with this name, if a judgement may give it.
fn status_of(name: &str) -> Result<SubmissionStatus, Problem> {
    let known =
        SubmissionStatus::named(name).filter(|status| *status != SubmissionStatus::Withdrawn);
    known.ok_or_else(|| {
        let reason = "the status must be accepted, rejected or quarantined; DELETE withdraws a run";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "status", reason)
    })
}

/// A judgement.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ModerationJudgement {
    /// `accepted`, `rejected` or `quarantined`.
    #[schema(pattern = "^(accepted|rejected|quarantined)$", example = "accepted")]
    pub status: String,
    /// Reason for the audit log; at most 500 characters are kept.
    #[serde(default)]
    pub why: String,
}

/// Judge a run.
///
/// For moderators. A withdrawn run stays withdrawn.
#[utoipa::path(post, path = "/api/v1/runs/{id}/status", tag = "moderation", security(("token" = [])),
    params(("id" = String, Path, description = "Name of the run in the collection")),
    request_body(content = ModerationJudgement, content_type = "application/json"),
    responses(
        (status = 200, description = "Judged, now or before", body = ReceiptBody),
        (status = 400, description = "No JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Not the token of a moderator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 410, description = "The run was withdrawn", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "Too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "No such status", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn judge(
    State(app): State<App>,
    Path(id): Path<String>,
    bearer: Bearer,
    client: Client,
    body: Bytes,
) -> Result<Response, Problem> {
    let name = app.moderator(bearer, client).await?;
    let judgement: ModerationJudgement = serde_json::from_slice(&body)
        .map_err(|error| Problem::bad(format!("this is no judgement: {error}")))?;
    let (status, why) = (status_of(&judgement.status)?, kept_why(&judgement.why));
    let receipt =
        app.change(move |collection| collection.judge(&id, status, &name, &why, &now())).await?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(ReceiptBody::of(&app, receipt, None, Vec::new())))
        .into_response())
}

/// Part of the quarantine.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct QuarantineQuery {
    /// Number of runs, at most 500.
    #[param(minimum = 1, maximum = 500)]
    n: Option<usize>,
}

/// Runs that wait for a moderator.
#[derive(Debug, Serialize, ToSchema)]
pub struct PendingSubmissions {
    /// Number of all waiting runs.
    pub waiting: u64,
    /// The runs that have waited longest.
    pub runs: Vec<WaitingRun>,
}

/// A waiting run.
#[derive(Debug, Serialize, ToSchema)]
pub struct WaitingRun {
    /// Name of the run in the collection.
    pub id: String,
    /// Name of its medium.
    pub name: String,
    /// Time of arrival, RFC 3339.
    pub received: String,
    /// Origin of the run.
    #[schema(value_type = String, example = "measured")]
    pub origin: Origin,
    /// Its revision.
    pub revision: u32,
    /// Sender, as named in the audit log.
    pub who: String,
    /// Reasons for a manual review.
    pub reasons: Vec<String>,
    /// Headline figures and verdict of the run.
    #[schema(value_type = schema::Headline)]
    pub headline: RunHeadline,
}

/// Quarantined runs.
///
/// For moderators. The oldest first.
#[utoipa::path(get, path = "/api/v1/quarantine", tag = "moderation", security(("token" = [])), params(QuarantineQuery),
    responses(
        (status = 200, description = "What waits", body = PendingSubmissions),
        (status = 400, description = "No number", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No token, or one that is not valid", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Not the token of a moderator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many requests", body = ProblemBody, content_type = "application/problem+json"),
    ))]
pub async fn quarantine(
    State(app): State<App>,
    Query(query): Query<QuarantineQuery>,
    bearer: Bearer,
    client: Client,
) -> Result<Response, Problem> {
    app.moderator(bearer, client).await?;
    let n = query.n.unwrap_or(SHOWN).clamp(1, MAX_GIVEN);
    let waiting = app
        .read(move |collection| {
            let mut runs = Vec::new();
            for entry in collection.first_quarantined(n)? {
                let latest = collection.revisions(&entry.id)?.pop();
                runs.push(waiting_run(entry, latest));
            }
            Ok(PendingSubmissions { waiting: collection.counts()?.quarantined, runs })
        })
        .await?;
    Ok(([(CACHE_CONTROL, "no-store")], Json(waiting)).into_response())
}

fn waiting_run(entry: CollectionRun, latest: Option<store::collection::Revision>) -> WaitingRun {
    let (who, why) = latest.map(|latest| (latest.who, latest.why)).unwrap_or_default();
    WaitingRun {
        name: entry.run.name(),
        id: entry.id,
        received: entry.received,
        origin: entry.origin,
        revision: entry.revision,
        who,
        reasons: reasons_of(&why),
        headline: entry.headline,
    }
}
