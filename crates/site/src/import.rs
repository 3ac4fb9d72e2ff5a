//! `/import`: a form for the output of other tools. Its content is shown before it is stored, and
//! is stored in the same way as a run that a program submits: same permissions, rate limit, checks
//! and quarantine. It is always stored as imported, whatever the text claims.
//!
//! No state is kept between preview and submission: the form is sent back with the text in it, and
//! with a digest of the preview. A changed text is shown again first.

mod form;
mod found;
mod shown;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use self::form::ImportForm;
use self::found::FoundInText;
use crate::body::collected;
use crate::client::{Bearer, Client, Identity};
use crate::problem::Problem;
use crate::state::App;
use crate::submissions::{ReceiptBody, keep, policy_for, submitter};

/// Longest text in bytes that is sent back within the form. A longer one has to be given again.
const CARRIED_BYTES: usize = 512 << 10;
/// Most results shown, over all records.
const SHOWN_CELLS: usize = 200;

/// `GET /import`: the empty form.
pub async fn page(State(app): State<App>) -> Response {
    shown::form_page(&app, StatusCode::OK, &ImportForm::default(), None)
}

/// `POST /import`: shows the records in the text, or adds those that were shown.
pub async fn sent(
    State(app): State<App>,
    client: Client,
    bearer: Bearer,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    is_from_here(&headers)?;
    app.allow_submission(client.0)?;
    let boundary = form::boundary(&headers)?;
    let (bytes, held) = collected(&app, &headers, body).await?;
    let form = form::read(bytes, &boundary).await?;
    let done = answer(&app, client, bearer, &form).await;
    drop(held);
    match done {
        Ok(response) => Ok(response),
        Err(problem) => {
            if form.is_to_add {
                app.metrics().submission(problem.code);
            }
            Ok(shown::refused(&app, &form, &problem))
        }
    }
}

/// Rejects a form that a page of another site sent.
fn is_from_here(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get("sec-fetch-site").map(|site| site.as_bytes()) {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Problem::forbidden("this form was sent from another site; open it here")),
    }
}

async fn answer(
    app: &App,
    client: Client,
    bearer: Bearer,
    form: &ImportForm,
) -> Result<Response, Problem> {
    let bearer = form.token.clone().map_or(bearer, |token| Bearer(Some(token)));
    let who = submitter(app, bearer, client).await?;
    let (text, known, hints) = (form.text.clone(), form.known()?, form.hints());
    let (limits, policy) = (app.options().limits.clone(), policy_for(app, &who));
    let found = app
        .work(move |collection| found::look(collection, &text, &known, &hints, &limits, policy))
        .await?;
    if form.is_to_add && form.shown.as_deref() == Some(&found.digest) {
        return add(app, client, &who, found).await;
    }
    Ok(shown::found_page(app, form, &found))
}

/// Result for one record.
pub(crate) struct Added {
    name: String,
    done: Result<ReceiptBody, Problem>,
}

async fn add(
    app: &App,
    client: Client,
    who: &Identity,
    found: FoundInText,
) -> Result<Response, Problem> {
    let sound = found.records.iter().filter(|record| record.judged.is_ok()).count();
    allow(app, client, who, sound)?;
    let mut added = Vec::new();
    for record in found.records {
        let done = match record.judged {
            Ok(judged) => keep(app, client, who, judged).await.map(|(_, receipt)| receipt),
            Err(problem) => Err(problem),
        };
        if let Err(problem) = &done {
            app.metrics().submission(problem.code);
        }
        added.push(Added { name: record.name, done });
    }
    Ok(shown::added_page(app, &added).into_response())
}

/// Counts each record as a submission; the request itself counted as the first.
fn allow(app: &App, client: Client, who: &Identity, records: usize) -> Result<(), Problem> {
    if *who != Identity::Anyone {
        return Ok(());
    }
    let most = app.options().burst;
    let count = u32::try_from(records).unwrap_or(u32::MAX);
    if count > most {
        let reason = format!(
            "the text has results of {count} media; without a token at most {most} are taken at \
             once: cut the text into several"
        );
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many", reason));
    }
    app.allow_submissions(client.0, count.saturating_sub(1))
}
