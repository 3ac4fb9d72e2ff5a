//! Counting of requests, and the page of metrics.

use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::metrics::{AnswerLabels, Route};
use crate::problem::Problem;
use crate::state::App;

/// Longest age of the counted runs: counting goes through all of them.
const COUNTS_AGE: Duration = Duration::from_secs(60);

/// Counts a request by its route: full paths hold names, and are too many.
pub async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let route =
        request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    // A method can be any word: only known ones are counted by name.
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]
        .into_iter()
        .find(|known| *known == request.method().as_str());
    let method = known.unwrap_or("other").to_owned();
    let start = Instant::now();
    let response = next.run(request).await;
    let metrics = app.metrics();
    metrics
        .took
        .get_or_create(&Route { route: route.clone() })
        .observe(start.elapsed().as_secs_f64());
    metrics
        .answered
        .get_or_create(&AnswerLabels { route, method, status: response.status().as_u16() })
        .inc();
    response
}

/// `/metrics`: all counters as OpenMetrics text; runs are counted at most once a minute.
pub async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let metrics = app.metrics();
    let mut counted = metrics.counted.lock().await;
    if counted.is_none_or(|at| at.elapsed() > COUNTS_AGE) {
        metrics.count(&app.read(|collection| collection.counts()).await?);
        *counted = Some(Instant::now());
    }
    drop(counted);
    app.ask_sum().await?;
    metrics.day_bytes.set(app.quota().stored());
    metrics.cache_bytes.set(app.cache().bytes() as u64);
    Ok((
        [(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")],
        metrics.text(),
    )
        .into_response())
}
