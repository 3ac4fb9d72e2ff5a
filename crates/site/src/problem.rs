//! Error answers: a problem (RFC 9457) with a code for programs and a reason for people. For
//! browsers it becomes a page, in [`as_page`](crate::problem_page::as_page).

use std::time::Duration;

use axum::Json;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::collection::CollectionError;

use ::collection::Rejection;

/// Reason why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// HTTP status.
    pub status: StatusCode,
    /// Code for programs: lower-case words with hyphens.
    pub code: &'static str,
    /// Reason for people: what was found, and what to do instead.
    pub reason: String,
    /// Time after which a retry may succeed.
    pub retry_after: Option<Duration>,
}

/// A problem as sent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Always `about:blank`: the kind of problem is in `code`.
    r#type: &'static str,
    /// Name of the HTTP status.
    title: &'static str,
    /// HTTP status.
    status: u16,
    /// Code for programs.
    #[schema(example = "too-large")]
    code: &'static str,
    /// Reason for people.
    reason: String,
}

/// Whole seconds of a wait for `Retry-After`, rounded up; at least 1.
fn retry_seconds(wait: Duration) -> u64 {
    wait.as_secs_f64().ceil().max(1.0) as u64
}

impl Problem {
    /// A problem with this status.
    pub fn new(status: StatusCode, code: &'static str, reason: impl Into<String>) -> Problem {
        Problem { status, code, reason: reason.into(), retry_after: None }
    }

    /// Status 404: nothing has that name.
    pub fn not_found(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", reason)
    }

    /// Status 410: it existed, and is no longer shown.
    pub fn gone(code: &'static str, reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::GONE, code, reason)
    }

    /// Status 400: the request is invalid.
    pub fn bad(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "bad-request", reason)
    }

    /// Status 401: a token is needed.
    pub fn unauthorized(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "no-token", reason)
    }

    /// Status 403: not allowed with this token.
    pub fn forbidden(reason: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "not-allowed", reason)
    }

    /// Status 429: too many requests from this address; may succeed after `wait`.
    pub fn too_often(wait: Duration) -> Problem {
        let seconds = retry_seconds(wait);
        let reason = format!("too many requests from this address; try again in {seconds} s");
        Problem {
            retry_after: Some(wait),
            ..Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-often", reason)
        }
    }

    /// Status 429: the daily quota is used up; may succeed after `wait`.
    pub fn over_quota(reason: impl Into<String>, wait: Duration) -> Problem {
        Problem {
            retry_after: Some(wait),
            ..Problem::new(StatusCode::TOO_MANY_REQUESTS, "quota", reason)
        }
    }

    /// Status 503: overloaded; may succeed in 5 s.
    pub fn unavailable(reason: impl Into<String>) -> Problem {
        let wait = Some(Duration::from_secs(5));
        Problem {
            retry_after: wait,
            ..Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", reason)
        }
    }

    /// Status 500: an internal error; the log has `what`.
    pub fn internal(what: &str) -> Problem {
        eprintln!("flashmark-site: {what}");
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something here is broken; it was noted, and nothing was changed",
        )
    }

    /// The problem for a bare HTTP status.
    pub(crate) fn of_status(status: StatusCode) -> Problem {
        let (code, reason) = match status {
            StatusCode::NOT_FOUND => ("not-found", "there is nothing at this address"),
            StatusCode::METHOD_NOT_ALLOWED => ("method", "this address does not take that method"),
            StatusCode::PAYLOAD_TOO_LARGE => {
                ("too-large", "the request is larger than what is taken here")
            }
            status if status.is_client_error() => {
                ("bad-request", "the request makes no sense here")
            }
            _ => ("internal", "something here is broken"),
        };
        Problem::new(status, code, reason)
    }

    fn body(&self) -> ProblemBody {
        ProblemBody {
            r#type: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            code: self.code,
            reason: self.reason.clone(),
        }
    }

    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(retry_seconds(wait)));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        headers
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.headers(), Json(self.body())).into_response();
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Problem {
        let status =
            StatusCode::from_u16(rejection.status).unwrap_or(StatusCode::UNPROCESSABLE_ENTITY);
        Problem::new(status, rejection.code, rejection.reason)
    }
}

impl From<CollectionError> for Problem {
    fn from(error: CollectionError) -> Problem {
        let reason = error.to_string();
        match error {
            CollectionError::NoSuchRun { .. } => Problem::not_found(reason),
            CollectionError::Withdrawn { .. } => Problem::gone("withdrawn", reason),
            CollectionError::AlreadyThere { .. } => {
                Problem::new(StatusCode::CONFLICT, "already-there", reason)
            }
            CollectionError::NotLastEvent { .. } => {
                Problem::new(StatusCode::CONFLICT, "not-last", reason)
            }
            CollectionError::Unrepresentable { .. } => {
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "unrepresentable", reason)
            }
            CollectionError::Damaged { .. } => Problem::internal(&reason),
            _ => {
                eprintln!("flashmark-site: {reason}");
                Problem::unavailable("the collection cannot be reached now; try again soon")
            }
        }
    }
}

/// Marks an answer that must not become an error page, whatever its status.
#[derive(Clone, Copy)]
pub struct SkipErrorPage;

/// A reason as a sentence: with a capital letter and a full stop.
pub fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// True if a browser shows the answer to a person; false for programs.
pub(crate) fn is_for_people(path: &str, headers: &HeaderMap) -> bool {
    let for_programs =
        ["/api/", "/data/", "/healthz", "/readyz", "/metrics", "/assets/", "/feed.atom"];
    let accepts = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or("*/*");
    !for_programs.iter().any(|start| path.starts_with(start))
        && (accepts.contains("text/html") || accepts.contains("*/*"))
}
