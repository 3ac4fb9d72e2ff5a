//! All routes, and rules for every answer: security headers, errors in one form, and a time limit.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate as _};

use crate::client::Client;
use crate::problem::Problem;
use crate::state::App;
use crate::{api, counting, data, import, moderation, pages, problem_page, published};

/// Most bytes of a query string: more than any form of the site makes.
const QUERY: usize = 4 << 10;
/// Most bytes of a body other than a run.
const SMALL_BODY: usize = 16 << 10;

/// The server without a network.
pub fn router(app: App) -> Router {
    let (api, _) = api::router().split_for_parts();
    let routes = Router::new()
        .route("/", get(pages::table))
        .route("/medium/{slug}", get(pages::medium))
        .route("/run/{id}", get(pages::run))
        .route("/run/{id}/revisions", get(pages::revisions))
        .route("/run/{id}/revisions/{revision}", get(pages::run_revision))
        .route("/compare", get(pages::compare))
        .route("/published", get(published::index))
        .route("/published/{key}", get(published::source))
        .route("/about", get(pages::about))
        .route("/import", get(import::page).post(import::sent))
        .route("/api", get(api::description::shown))
        .route("/{name}", get(pages::text))
        .route("/feed.atom", get(pages::feed))
        .route("/robots.txt", get(pages::robots))
        .route("/assets/{name}", get(pages::asset))
        .route("/data/{name}", get(data::collection))
        .route("/data/medium/{name}", get(data::medium))
        .route("/data/run/{name}", get(data::run))
        .route("/data/all/{name}", get(data::all))
        .route("/moderation", get(moderation::moderation))
        .route("/moderation/sign-in", post(moderation::sign_in))
        .route("/moderation/sign-out", post(moderation::sign_out))
        .route("/moderation/judge", post(moderation::judge_form))
        .route("/moderation/judge-many", post(moderation::many::judge_form))
        .route("/moderation/undo", post(moderation::many::undo_form))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(counting::metrics))
        .merge(api)
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(SMALL_BODY))
        .layer(from_fn_with_state(app.clone(), counting::count))
        .with_state(app.clone());
    let worth_packing = DefaultPredicate::new().and(NotForContentType::const_new(data::PARQUET));
    // Outer layers run before a route is chosen, so that they may change the path.
    Router::new()
        .fallback_service(routes)
        .layer(
            CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(worth_packing),
        )
        .layer(from_fn(short_query))
        .layer(from_fn_with_state(app.clone(), problem_page::as_page))
        .layer(from_fn_with_state(app.clone(), guarded))
        .layer(from_fn_with_state(app, unprefixed))
}

async fn nothing() -> Problem {
    Problem::not_found("there is nothing at this address")
}

/// `/healthz`: the process answers.
async fn health() -> &'static str {
    "ok\n"
}

/// `/readyz`: the collection answers, and the server is not shutting down.
async fn ready(State(app): State<App>) -> Result<&'static str, Problem> {
    if app.is_closing() {
        return Err(Problem::unavailable("the server is about to end"));
    }
    app.read(|collection| collection.line("-")).await?;
    Ok("ready\n")
}

/// Rejects a long query first: pages repeat it in their links.
async fn short_query(request: Request, next: Next) -> Response {
    let bytes = request.uri().query().unwrap_or_default().len();
    if bytes <= QUERY {
        return next.run(request).await;
    }
    let reason = format!("the address has {bytes} bytes behind its '?', and {QUERY} are taken");
    Problem::new(StatusCode::URI_TOO_LONG, "long-address", reason).into_response()
}

/// Applies rate limits and the time limit, then adds headers.
async fn guarded(State(app): State<App>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_open = path.starts_with("/api/") || path.starts_with("/data/") || path == "/feed.atom";
    let client = Client::of(request.extensions(), request.headers(), &app.options().proxies);
    let mut response = match app.allow_request(client.0) {
        Err(problem) => problem.into_response(),
        Ok(()) => match tokio::time::timeout(app.options().answer_time, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                Problem::new(StatusCode::GATEWAY_TIMEOUT, "too-slow", "this took too long here")
                    .into_response()
            }
        },
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(report::collection::POLICY));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    );
    if is_open {
        // Any web page may read the data; cookies never matter here.
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    response
}

/// Removes the site's prefix from the path, unless a proxy already did.
async fn unprefixed(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let prefix = app.prefix();
    let path = request.uri().path();
    if !prefix.is_empty() && path == prefix {
        return pages::to_root(&app);
    }
    let rest = path.strip_prefix(prefix).filter(|rest| !prefix.is_empty() && rest.starts_with('/'));
    if let Some(rest) = rest {
        let query = request.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        if let Ok(uri) = format!("{rest}{query}").parse::<Uri>() {
            *request.uri_mut() = uri;
        }
    }
    next.run(request).await
}
