//! Downloads. Small ones are made and sent. Possibly large ones are written by a thread while they
//! are sent, so that slow readers cost no memory.

use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Frame;
use record::collection::Query;
use report::collection::data::{self, Bulk};
use report::collection::{is_slug, query};
use store::collection::Collection;
use store::export::{CsvSink, JsonSink, ParquetSink, Sink};
use tokio::sync::mpsc;

use crate::pages::{asked, no_medium, shown};
use crate::problem::Problem;
use crate::state::{App, now};

const JSON: &str = "application/json";
const CSV: &str = "text/csv; charset=utf-8; header=present";
pub const PARQUET: &str = "application/vnd.apache.parquet";
/// Bytes in one piece of a download.
const PIECE: usize = 64 << 10;
/// Longest time in which a reader may accept no piece.
const PATIENCE: Duration = Duration::from_secs(60);

/// `/data/collection.csv` and `.json`: the lines that match a query.
pub async fn collection(
    State(app): State<App>,
    Path(name): Path<String>,
    RawQuery(text): RawQuery,
) -> Result<Response, Problem> {
    let query = asked(text.as_deref());
    match name.as_str() {
        "collection.csv" => stream(&app, false, CSV, &name, move |collection, to| {
            to.write_all(data::csv_head().as_bytes())?;
            each_line(collection, query, &mut |line| to.write_all(data::line_csv(line).as_bytes()))
        }),
        "collection.json" => {
            let head = serde_json::json!({ "schema": "flashmark-collection/1", "title": app.options().title, "made": now() }).to_string();
            stream(&app, false, JSON, &name, move |collection, to| {
                writeln!(to, "{},\"lines\":[", head.trim_end_matches('}'))?;
                let mut between = "";
                each_line(collection, query, &mut |line| {
                    write!(to, "{between}{}", data::line_json(line))?;
                    between = ",\n";
                    Ok(())
                })?;
                to.write_all(b"\n]}\n")
            })
        }
        _ => Err(no_file()),
    }
}

/// Calls back with all lines that match, in the requested order, page by page.
fn each_line(
    collection: &Collection,
    query: Query,
    take: &mut dyn FnMut(&record::collection::CollectionLine) -> io::Result<()>,
) -> io::Result<()> {
    let mut query = Query { page: 0, per_page: Some(query::MAX_LINES), ..query };
    loop {
        let page = collection.lines(&query).map_err(io::Error::other)?;
        page.lines.iter().try_for_each(&mut *take)?;
        query.page += 1;
        if page.lines.is_empty()
            || u64::from(query.page) * u64::from(query::MAX_LINES) >= page.total
        {
            return Ok(());
        }
    }
}

/// `/data/medium/SLUG.json`: a line with its runs; `/data/medium/SLUG.csv`: the line alone.
pub async fn medium(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Problem> {
    let (slug, kind) =
        name.rsplit_once('.').filter(|(slug, _)| is_slug(slug)).ok_or_else(no_file)?;
    let (slug, kind) = (slug.to_owned(), kind.to_owned());
    let line = app.read(move |collection| collection.line(&slug)).await?.ok_or_else(no_medium)?;
    match kind.as_str() {
        "csv" => Ok(file(CSV, &name, data::csv_head() + &data::line_csv(&line))),
        "json" => stream(&app, false, JSON, &name, move |collection, to| {
            to.write_all(data::medium_json_head(&line).as_bytes())?;
            let mut count = 0;
            let each = &mut |mut entry| {
                Bulk::of(&mut entry);
                to.write_all(data::medium_json_run(count, &entry).as_bytes())?;
                count += 1;
                Ok(())
            };
            collection.each_run_of(&line.slug, each).map_err(io::Error::other)?;
            to.write_all(data::MEDIUM_JSON_END.as_bytes())
        }),
        _ => Err(no_file()),
    }
}

/// `/data/run/ID.json`: a record that `flashmark show`, `report` and `compare` read.
pub async fn run(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Problem> {
    let id = name.strip_suffix(".json").ok_or_else(no_file)?.to_owned();
    let text = app
        .make(move |collection| {
            let (mut entry, _) = shown(collection, &id)?;
            Ok(data::run_json(&mut entry))
        })
        .await?;
    Ok(file(JSON, &name, text))
}

/// `/data/all/...`: every run of the collection, for analysis.
pub async fn all(State(app): State<App>, Path(name): Path<String>) -> Result<Response, Problem> {
    match name.as_str() {
        "runs.json" => stream(&app, true, JSON, &name, |collection, to| {
            export(collection, Box::new(JsonSink::new(to)))
        }),
        "cells.csv" => stream(&app, true, CSV, &name, |collection, to| {
            export(collection, Box::new(CsvSink::new(to)))
        }),
        "runs.parquet" => stream(&app, true, PARQUET, &name, |collection, to| {
            export(collection, Box::new(ParquetSink::new(to, io::sink()).map_err(io::Error::from)?))
        }),
        "cells.parquet" => stream(&app, true, PARQUET, &name, |collection, to| {
            export(collection, Box::new(ParquetSink::new(io::sink(), to).map_err(io::Error::from)?))
        }),
        _ => Err(no_file()),
    }
}

fn export(collection: &Collection, mut sink: Box<dyn Sink + '_>) -> io::Result<()> {
    collection.each_entry(&mut |entry| Ok(sink.add(&entry)?)).map_err(io::Error::other)?;
    Ok(sink.finish()?)
}

fn no_file() -> Problem {
    Problem::not_found("there is no such file; what there is, the page 'Data' tells")
}

fn file(media_type: &'static str, name: &str, text: String) -> Response {
    (head(media_type, name), text).into_response()
}

fn head(media_type: &'static str, name: &str) -> [(axum::http::HeaderName, String); 3] {
    // Names are parts of known paths: letters, digits, hyphens and a point.
    let disposition = format!("attachment; filename=\"{name}\"");
    [
        (CONTENT_TYPE, media_type.to_owned()),
        (CACHE_CONTROL, "public, max-age=5".to_owned()),
        (CONTENT_DISPOSITION, disposition),
    ]
}

/// Sends the output of `write`. If it fails, the connection is aborted, so that nobody takes a part
/// for the whole.
fn stream(
    app: &App,
    is_whole: bool,
    media_type: &'static str,
    name: &str,
    write: impl FnOnce(&Collection, &mut Pipe) -> io::Result<()> + Send + 'static,
) -> Result<Response, Problem> {
    let turn = app.download(is_whole)?;
    let collection = app.collection();
    let (to, pieces) = mpsc::channel(2);
    let runtime = tokio::runtime::Handle::current();
    tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let mut pipe = Pipe { to, runtime, held: Vec::with_capacity(PIECE) };
        if let Err(error) = write(&collection, &mut pipe).and_then(|()| pipe.flush()) {
            // A disconnected client cannot be told; a waiting client sees the abort.
            let _ = pipe.to.try_send(Err(error));
        }
        drop(pipe);
        drop(collection);
    });
    Ok((head(media_type, name), Body::new(Pieces(pieces))).into_response())
}

/// Writer of a download: sends each full piece, and waits for the reader up to a time limit.
pub struct Pipe {
    to: mpsc::Sender<io::Result<Bytes>>,
    runtime: tokio::runtime::Handle,
    held: Vec<u8>,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        if self.held.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        let piece = std::mem::replace(&mut self.held, Vec::with_capacity(PIECE)).into();
        let sent = self
            .runtime
            .block_on(async { tokio::time::timeout(PATIENCE, self.to.send(Ok(piece))).await });
        match sent {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::Error::new(io::ErrorKind::BrokenPipe, "the reader left")),
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the reader does not read")),
        }
    }
}

/// The pieces as a response body.
struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
