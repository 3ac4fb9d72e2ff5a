//! `flashmark-collection serve`: the pages of a collection over HTTP, and a slot for records. What
//! comes in waits in `incoming/` until a reviewer accepts it, and is shown nowhere before.
//!
//! A record is judged by another process with limits of memory and time ([`super::incoming::receive`]),
//! so that a hostile one ends nothing but itself.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use program::exit::{Exit, OrExit, Result, refuse};
use record::text::printable;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower_http::services::ServeDir;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};

use super::incoming::sender_of;
use crate::cli::ServeFlags;
use crate::repository::{GUEST, MAX_PACKED, Repository};

/// Longest pause of a body, and longest judgement of a record.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longest time of a whole request: a body that trickles ends too.
const LONGEST: Duration = Duration::from_secs(180);
/// Folder of the pages in a collection.
const SITE: &str = "site";

/// What a request needs to know.
struct Slot {
    collection: PathBuf,
    /// As many records are judged at once as there are processors.
    judges: Semaphore,
}

/// Serves until it is killed.
pub fn run(flags: &ServeFlags) -> Result {
    let repository = Repository::open(&flags.dir).or_usage()?;
    let site = repository.dir().join(SITE);
    if !site.join("index.html").is_file() {
        let dir = printable(&flags.dir.display().to_string());
        return refuse(format_args!(
            "the collection has no pages yet; make them first: flashmark-collection publish {dir}/{SITE} --collection {dir}"
        ));
    }
    // Each connection is an open file: as many as the system allows.
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).or_internal()?;
    let runtime = tokio::runtime::Runtime::new().or_internal()?;
    runtime.block_on(async {
        let listener = TcpListener::bind(flags.listen).await.or_usage()?;
        let address: SocketAddr = listener.local_addr().or_internal()?;
        program::say!(
            "Serving {} on http://{address}/; records go to http://{address}/records",
            site.display()
        );
        axum::serve(listener, router(repository.dir(), &site)).await.or_internal()
    })?;
    Ok(Exit::Done)
}

fn router(collection: &Path, site: &Path) -> Router {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let slot = Slot { collection: collection.to_owned(), judges: Semaphore::new(cpus) };
    Router::new()
        .route("/records", post(receive))
        .layer(DefaultBodyLimit::max(MAX_PACKED))
        .layer(RequestBodyTimeoutLayer::new(PATIENCE))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, LONGEST))
        .with_state(Arc::new(slot))
        .fallback_service(ServeDir::new(site))
        .layer(from_fn(cached))
}

/// Says how long an answer may be kept. A file that is named by its content never changes; of all
/// others a reader asks whether they changed.
async fn cached(request: Request, next: Next) -> Response {
    let is_named_by_content = request.uri().path().starts_with("/data/run/");
    let kept = if is_named_by_content { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    response
}

/// Takes a record: it is judged, and kept before the answer says so.
async fn receive(State(slot): State<Arc<Slot>>, headers: HeaderMap, body: Bytes) -> Response {
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.map(|value| value.strip_prefix("Bearer ").unwrap_or(value).to_owned());
    let Ok(_turn) = slot.judges.acquire().await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let sender = match token.map(|token| sender_of(&slot.collection, &token)) {
        None => GUEST.to_owned(),
        Some(Some(sender)) => sender,
        Some(None) => {
            let why = "nobody here has this token; without one a record is a guest's\n";
            return (StatusCode::UNAUTHORIZED, why).into_response();
        }
    };
    match judged(&slot.collection, &sender, &body).await {
        Ok(answer) => answer.into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// Status and text of the answer, from a process that judges and keeps this one record.
async fn judged(
    collection: &Path,
    sender: &str,
    body: &[u8],
) -> std::io::Result<(StatusCode, String)> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("receive")
        .arg(collection)
        .args(["--sender", sender])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let stdin = child.stdin.take();
    let judged = async {
        if let Some(mut stdin) = stdin {
            // Who ends before all is read says why on standard error.
            let _ = stdin.write_all(body).await;
        }
        child.wait_with_output().await
    };
    let Ok(ended) = timeout(PATIENCE, judged).await else {
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, "it takes too long to judge\n".to_owned()));
    };
    let ended = ended?;
    let text = [ended.stdout, ended.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(match ended.status.code().map(Exit::from_code) {
        Some(Exit::Done) => (StatusCode::CREATED, text),
        Some(Exit::MediumFailed) => (StatusCode::UNPROCESSABLE_ENTITY, text),
        Some(Exit::Refused) => (StatusCode::INSUFFICIENT_STORAGE, text),
        Some(_) => (StatusCode::INTERNAL_SERVER_ERROR, text),
        None => (StatusCode::UNPROCESSABLE_ENTITY, "it takes too much to judge\n".to_owned()),
    })
}
