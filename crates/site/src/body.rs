//! The body of a request, bounded before it is read.

use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use hyper::body::Body as _;
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::Problem;
use crate::state::App;

/// How long a body may wait for memory that others hold.
const MEMORY_WAIT: Duration = Duration::from_secs(10);
/// So many times the limit is read and thrown away, so that whoever sends too much can hear why.
const READ_BEYOND_LIMIT: usize = 4;

/// All of a body, and the hold on the memory it takes.
pub(crate) async fn collected(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), Problem> {
    let most = app.options().limits.body_bytes;
    let too_large = || {
        let reason = format!("the body is larger than the {most} bytes that are taken");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", reason)
    };
    let said =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let asks_first = headers.contains_key(EXPECT);
    if said.is_some_and(|said| said > most * if asks_first { 1 } else { READ_BEYOND_LIMIT }) {
        return Err(too_large());
    }
    let reading = async {
        let mut body = body;
        let mut bytes = Vec::new();
        let mut held: Option<OwnedSemaphorePermit> = None;
        let mut thrown_away = 0;
        loop {
            let frame =
                std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
            let Some(frame) = frame else { break };
            let broke_off = |_| Problem::bad("the body broke off");
            let Ok(piece) = frame.map_err(broke_off)?.into_data() else { continue };
            if thrown_away > 0 || bytes.len() + piece.len() > most {
                (thrown_away, bytes, held) =
                    (thrown_away + bytes.len() + piece.len(), Vec::new(), None);
                if thrown_away > most * READ_BEYOND_LIMIT {
                    break;
                }
                continue;
            }
            hold(app, &mut held, bytes.len() + piece.len()).await?;
            bytes.extend_from_slice(&piece);
        }
        if thrown_away > 0 { Err(too_large()) } else { Ok((bytes, held)) }
    };
    let late = |_| {
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", "the body did not come in in time")
    };
    tokio::time::timeout(app.options().body_time, reading).await.map_err(late)?
}

/// Holds memory for so many bytes, in kibibytes; what was held before counts.
async fn hold(
    app: &App,
    held: &mut Option<OwnedSemaphorePermit>,
    bytes: usize,
) -> Result<(), Problem> {
    let has = held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
    let more = (bytes.div_ceil(1024)).saturating_sub(has) as u32;
    if more == 0 {
        return Ok(());
    }
    let waiting = app.bodies().clone().acquire_many_owned(more);
    let busy = || Problem::busy("too many submissions are coming in at once; try again soon");
    let permit = tokio::time::timeout(MEMORY_WAIT, waiting)
        .await
        .map_err(|_| busy())?
        .map_err(|_| busy())?;
    match held {
        Some(held) => held.merge(permit),
        None => *held = Some(permit),
    }
    Ok(())
}
