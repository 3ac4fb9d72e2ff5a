//! Error pages for browsers.

use askama::Template;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};

use crate::problem::{Problem, SkipErrorPage, is_for_people, sentence};
use crate::state::App;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    heading: &'static str,
    reason: String,
    home: &'a str,
    search: bool,
}

/// Turns error answers into problems, and problems for browsers into pages.
pub async fn as_page(State(app): State<App>, request: Request, next: Next) -> Response {
    let reads = is_for_people(request.uri().path(), request.headers());
    let is_head = request.method() == Method::HEAD;
    let response = next.run(request).await;
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error())
        || response.extensions().get::<SkipErrorPage>().is_some()
    {
        return response;
    }
    let known = response.extensions().get::<Problem>().cloned();
    let allow = response.headers().get(axum::http::header::ALLOW).cloned();
    let mut answer = match (known, reads) {
        (Some(_), false) => return response,
        (known, true) => {
            app.problem_page(&known.unwrap_or_else(|| Problem::of_status(status)), is_head)
        }
        (None, false) => Problem::of_status(status).into_response(),
    };
    if let Some(allow) = allow {
        answer.headers_mut().insert(axum::http::header::ALLOW, allow);
    }
    answer
}

impl App {
    /// A problem as a page.
    fn problem_page(&self, problem: &Problem, is_head: bool) -> Response {
        let heading = match problem.status {
            StatusCode::NOT_FOUND => "Page not found",
            StatusCode::GONE => "No longer available",
            StatusCode::URI_TOO_LONG => "Address too long",
            StatusCode::TOO_MANY_REQUESTS => "Too many requests",
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "Not allowed",
            status if status.is_server_error() => "The server has a problem",
            _ => "The request failed",
        };
        let home = self.address("/");
        let page = ProblemPage {
            heading,
            reason: sentence(&problem.reason),
            home: &home,
            search: problem.status == StatusCode::NOT_FOUND,
        };
        let body = page.render().expect("a template that compiled renders into memory");
        let page = if is_head {
            String::new()
        } else {
            report::collection::framed(self.site(), heading, &body)
        };
        (problem.status, problem.headers(), Html(page)).into_response()
    }
}
