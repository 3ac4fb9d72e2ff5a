//! Body of a request, limited in size before it is read.

use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use hyper::body::Body as _;
use tokio::sync::OwnedSemaphorePermit;

use crate::problem::Problem;
use crate::state::App;

/// Longest wait of a body for memory that others use.
const MEMORY_WAIT: Duration = Duration::from_secs(10);
/// Multiple of the limit that is read and discarded, so that the sender of too much can receive the
/// reason.
const READ_BEYOND_LIMIT: usize = 4;

/// The whole body, and the reservation of its memory.
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
    let declared =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let asks_first = headers.contains_key(EXPECT);
    if declared.is_some_and(|bytes| bytes > most * if asks_first { 1 } else { READ_BEYOND_LIMIT }) {
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

/// Reserves memory in kibibytes for this many bytes, in addition to an earlier reservation.
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
    let unavailable =
        || Problem::unavailable("too many submissions are coming in at once; try again soon");
    let permit = tokio::time::timeout(MEMORY_WAIT, waiting)
        .await
        .map_err(|_| unavailable())?
        .map_err(|_| unavailable())?;
    match held {
        Some(held) => held.merge(permit),
        None => *held = Some(permit),
    }
    Ok(())
}
