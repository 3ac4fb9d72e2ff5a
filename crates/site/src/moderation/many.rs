//! Forms of the moderation page that judge many runs at once, and that undo such a judgement.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};

use super::{sign_in_page, signed_in, status_of};
use crate::client::Client;
use crate::pages::pairs;
use crate::problem::Problem;
use crate::state::{App, now};
use crate::submissions::kept_why;
use report::collection::query::escaped;
use store::collection::BulkJudgement;

/// Fields of a form as names and values; all ticked runs have one name.
struct ManyForm(Vec<(String, String)>);

impl ManyForm {
    fn of(body: &[u8]) -> ManyForm {
        ManyForm(pairs(std::str::from_utf8(body).ok()))
    }

    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    /// Redirects to the page with the same list.
    fn back(&self, app: &App, outcome: &str) -> Response {
        let list = ["list", "order", "sender"].map(|name| {
            let value = self.text(name);
            if value.is_empty() { String::new() } else { format!("&{name}={}", escaped(value)) }
        });
        Redirect::to(&app.address(&format!("/moderation?{outcome}{}", list.concat())))
            .into_response()
    }
}

/// Name of the moderator who sent the form from a page of this session.
async fn sender_of(
    app: &App,
    headers: &HeaderMap,
    client: Client,
    form: &ManyForm,
) -> Result<Option<String>, Problem> {
    match signed_in(app, headers, client).await? {
        Some((session, name)) if session.form == form.text("form") => Ok(Some(name)),
        Some(_) => Err(Problem::forbidden("this form is not of this session; open the page again")),
        None => Ok(None),
    }
}

/// `POST /moderation/judge-many`: gives all ticked runs one status.
pub async fn judge_form(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let form = ManyForm::of(&body);
    let Some(name) = sender_of(&app, &headers, client, &form).await? else {
        return Ok(sign_in_page(&app, None));
    };
    let ids: Vec<String> = form.all("run").map(str::to_owned).collect();
    if ids.is_empty() {
        return Err(Problem::bad("no run was ticked; tick some, and judge them again"));
    }
    let done = judge(&app, name, ids, form.text("status"), form.text("why")).await?;
    Ok(form.back(&app, &done.event.map(|event| format!("event={event}")).unwrap_or_default()))
}

/// `POST /moderation/undo`: reverts the last judgement of many runs.
pub async fn undo_form(
    State(app): State<App>,
    client: Client,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let form = ManyForm::of(&body);
    let Some(name) = sender_of(&app, &headers, client, &form).await? else {
        return Ok(sign_in_page(&app, None));
    };
    let event = form.text("event").parse().map_err(|_| Problem::bad("the event is no number"))?;
    undo(&app, name, event, "").await?;
    Ok(form.back(&app, &format!("undone={event}")))
}

/// Most runs that are judged at once.
const MAX_JUDGED: usize = 500;

/// Gives many runs one status, in the name of a moderator. Both the form and the API call it.
pub(crate) async fn judge(
    app: &App,
    moderator: String,
    ids: Vec<String>,
    status: &str,
    why: &str,
) -> Result<BulkJudgement, Problem> {
    let (status, why) = (status_of(status)?, kept_why(why));
    if ids.len() > MAX_JUDGED {
        let reason = format!("{} runs are given, and {MAX_JUDGED} are judged at once", ids.len());
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "too-many", reason));
    }
    app.change(move |collection| collection.judge_many(&ids, status, &moderator, &why, &now()))
        .await
}

/// Reverts the last judgement of many runs, in the name of a moderator.
pub(crate) async fn undo(
    app: &App,
    moderator: String,
    event: u64,
    why: &str,
) -> Result<BulkJudgement, Problem> {
    let why = kept_why(why);
    app.change(move |collection| collection.undo_judgement(event, &moderator, &why, &now())).await
}
