//! Rules for every answer, the description of the API, and the accept loop.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::http::header::ACCEPT;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::{Site, get, on_both, run};
use crate::state::BODY_BYTES;

on_both! {
    health_and_metrics_report_the_state
}

fn health_and_metrics_report_the_state(site: &mut Site) {
    site.taken(&run("SanDisk", "Extreme", 1));
    site.get("/medium/none");
    assert_eq!(
        (site.get("/healthz").text(), site.get("/readyz").text()),
        ("ok\n".to_owned(), "ready\n".to_owned())
    );
    let metrics = site.get("/metrics").text();
    for line in [
        "flashmark_site_submissions_total{outcome=\"accepted\"} 1",
        "flashmark_site_runs{status=\"accepted\"} 1",
        "flashmark_site_requests_total{route=\"/medium/{slug}\",method=\"GET\",status=\"404\"} 1",
        "flashmark_site_request_seconds_count{route=\"/api/v1/runs\"} 1",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    site.app.close();
    assert_eq!(site.get("/readyz").problem().0, 503, "nobody should be sent here any more");
    assert_eq!(site.get("/healthz").status, 200);
}

#[test]
fn every_answer_keeps_browsers_from_trusting_too_much() {
    let site = Site::sqlite();
    let id = site.taken(&run("SanDisk", "Extreme", 1))["id"].as_str().unwrap().to_owned();
    for path in [
        "/",
        "/medium/none",
        "/api/v1/lines",
        "/api/none",
        "/moderation",
        "/feed.atom",
        &format!("/run/{id}"),
        "/data/collection.csv",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.header("content-security-policy"), report::collection::POLICY, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(answer.header("set-cookie"), "", "{path}");
        let is_open = ["/api/", "/data/", "/feed"].iter().any(|start| path.starts_with(start));
        assert_eq!(
            answer.header("access-control-allow-origin"),
            if is_open { "*" } else { "" },
            "{path}"
        );
    }
}

#[test]
fn errors_are_pages_for_people_and_problems_for_programs() {
    let site = Site::sqlite();
    for path in [
        "/none",
        "/medium/none",
        "/run/NONE",
        "/run/none/revisions",
        "/a/b/c",
        "/medium/%2e%2e%2fx",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.header("content-type").starts_with("text/html")
                && answer.text().contains("Page not found"),
            "{path}: {}",
            answer.text()
        );
        let program =
            site.send(get(path).header(ACCEPT, "application/json").body(Body::empty()).unwrap());
        assert_eq!(program.problem(), (404, "not-found".to_owned()), "{path}");
    }
    for path in ["/api/v1/none", "/api/v1/runs/none", "/api/v1/lines/none", "/data/none"] {
        assert_eq!(site.get(path).problem(), (404, "not-found".to_owned()), "{path}");
    }
    let method = site.send(Request::delete("/api/v1/lines").body(Body::empty()).unwrap());
    assert_eq!(method.problem(), (405, "method".to_owned()));
    assert!(method.header("allow").contains("GET"));
    assert_eq!(site.get("/api/v1/audit?n=many").problem(), (400, "bad-request".to_owned()));
    let large = Request::post("/moderation/sign-in")
        .header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(site.send(large.body(Body::from(vec![b'a'; 100_000])).unwrap()).status, 413);
    let markup = site.get("/run/%3Cscript%3E").text();
    assert!(!markup.contains("<script>"), "{markup}");
}

#[test]
fn a_long_query_gets_a_short_answer() {
    let site = Site::sqlite();
    let words = |count: usize| "x".repeat(count);
    assert_eq!(site.get(&format!("/?q={}", words(4094))).status, 200);
    for path in ["/", "/compare", "/published", "/moderation", "/none"] {
        let answer = site.get(&format!("{path}?q={}", words(60_000)));
        assert_eq!(answer.status, 414, "{path}");
        let page = answer.text();
        assert!(answer.header("content-type").starts_with("text/html"), "{path}");
        assert!(page.len() < 20_000, "{path}: {} bytes", page.len());
        assert!(page.contains("4096 are taken") && !page.contains("xxxx"), "{path}: {page}");
    }
    let program = site.get(&format!("/api/v1/lines?q={}", words(4095)));
    assert_eq!(program.problem(), (414, "long-address".to_owned()));
}

/// Names of all schemas that a description refers to.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[test]
fn the_description_is_whole() {
    let site = Site::sqlite();
    let whole = site.json("/api/v1/openapi.json");
    assert_eq!(whole["openapi"].as_str().map(|version| &version[..3]), Some("3.1"));
    assert_eq!(whole["info"]["title"], "Flashmark collection");
    let mut found = BTreeSet::new();
    references(&whole, &mut found);
    assert!(found.len() > 15, "{found:?}");
    for reference in found {
        assert!(
            whole.pointer(reference.trim_start_matches('#')).is_some(),
            "{reference} leads nowhere"
        );
    }
    assert!(
        whole["components"]["schemas"]["Published"]["properties"]["cells"].is_object(),
        "what is sent is told in full"
    );
    let mut calls: Vec<String> = Vec::new();
    for (path, operations) in whole["paths"].as_object().unwrap() {
        calls.extend(
            operations
                .as_object()
                .unwrap()
                .keys()
                .map(|method| format!("{} {path}", method.to_uppercase())),
        );
    }
    calls.sort();
    insta::assert_snapshot!(calls.join("\n"), @r"
    DELETE /api/v1/runs/{id}
    GET /api/v1/audit
    GET /api/v1/lines
    GET /api/v1/lines/{slug}
    GET /api/v1/lines/{slug}/host-effects
    GET /api/v1/lines/{slug}/media
    GET /api/v1/openapi.json
    GET /api/v1/quarantine
    GET /api/v1/runs
    GET /api/v1/runs/{id}
    GET /api/v1/runs/{id}/revisions
    GET /api/v1/runs/{id}/revisions/{revision}
    POST /api/v1/judgements
    POST /api/v1/judgements/undo
    POST /api/v1/runs
    POST /api/v1/runs/{id}/status
    PUT /api/v1/runs/{id}
    ");
}

#[test]
fn a_server_ends_what_it_has_begun() {
    let site = Site::sqlite();
    site.runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(crate::serve(listener, site.app.clone(), Duration::from_secs(20), async {
            let _ = stopped.await;
        }));
        let app = site.app.clone();
        let asked = tokio::task::spawn_blocking(move || {
            let mut begun = TcpStream::connect(address).unwrap();
            // The head is sent, the body is not: this request has begun.
            begun
                .write_all(b"POST /api/v1/runs HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{")
                .unwrap();
            let mut idle = TcpStream::connect(address).unwrap();
            idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").unwrap();
            let mut first = [0; 15];
            idle.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200 OK");
            while app.bodies().available_permits() == BODY_BYTES >> 10 {
                // Its head has not been read yet.
                std::thread::sleep(Duration::from_millis(1));
            }
            stop.send(()).unwrap();
            // The idle connection is closed.
            idle.read_to_end(&mut Vec::new()).unwrap();
            begun.write_all(b"}").unwrap();
            let mut answer = String::new();
            begun.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
            assert!(TcpStream::connect(address).is_err(), "nothing is accepted any more");
        });
        asked.await.unwrap();
        serving.await.unwrap().unwrap();
    });
    assert!(site.app.is_closing());
}
