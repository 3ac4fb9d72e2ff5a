//! Hostile uploads: each invalid one is rejected with a reason in plain words, nothing of it is
//! stored, and the server still answers others.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::durability::{UNHURRIED, stored};
use crate::environment::{Server, SiteEnvironment};
use crate::http::{Answer, Request, connect, read_answer};
use crate::runs;

/// A valid submission as JSON, to be damaged.
fn sound(seed: u64) -> Value {
    serde_json::to_value(runs::measured("Hostile", "H1", seed)).unwrap()
}

fn post(body: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", "/api/v1/runs").json(body)
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// A document with one change.
fn spoilt(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut run = sound(1);
    change(&mut run);
    run.to_string().into_bytes()
}

/// A document with a change of its text that no JSON value can express.
fn rewritten(from: &str, to: &str) -> Vec<u8> {
    let text = sound(1).to_string();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

/// The first cell with random writes.
fn cell(run: &mut Value) -> &mut Value {
    run["cells"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|cell| cell["test"] == "random-write")
        .unwrap()
}

/// Every rejected upload: its name, the request, and the expected statuses.
fn refused_uploads() -> Vec<(&'static str, Request, &'static [u16])> {
    let deep =
        |open: &str, close: &str| (open.repeat(200_000) + &close.repeat(200_000)).into_bytes();
    let deep_inside = rewritten(
        "\"skipped\":[]",
        &format!("\"skipped\":{}{}", "[".repeat(5000), "]".repeat(5000)),
    );
    let mut cases = vec![
        ("oversized", post(vec![b' '; 9 << 20]), &[413][..]),
        ("oversized, by its head only", post("{}").head("content-length", "99999999999"), &[413]),
        (
            "a bomb: 100 MB of spaces in a hundred kB",
            post(gzipped(&vec![b' '; 100_000_000])).head("content-encoding", "gzip"),
            &[413, 422],
        ),
        (
            "a bomb of brackets",
            post(gzipped(&vec![b'['; 40_000_000])).head("content-encoding", "gzip"),
            &[400, 413, 415, 422],
        ),
        (
            "gzip that is none",
            post(sound(1).to_string()).head("content-encoding", "gzip"),
            &[400, 415, 422],
        ),
        (
            "gzip that ends early",
            post(&gzipped(sound(1).to_string().as_bytes())[..2000])
                .head("content-encoding", "gzip"),
            &[400, 415, 422],
        ),
        (
            "an encoding nobody knows",
            post(sound(1).to_string()).head("content-encoding", "br"),
            &[415],
        ),
        (
            "gzip in gzip",
            post(gzipped(&gzipped(sound(1).to_string().as_bytes())))
                .head("content-encoding", "gzip, gzip"),
            &[415],
        ),
        ("deep arrays", post(deep("[", "]")), &[400, 415, 422]),
        ("deep objects", post(deep("{\"a\":", "}")), &[400, 415, 422]),
        ("deep arrays in a sound run", post(deep_inside), &[400, 415, 422]),
        ("nothing", post(""), &[400, 415, 422]),
        ("no JSON", post("hello"), &[400, 415, 422]),
        ("JSON of another shape", post("[1,2,3]"), &[415, 422]),
        ("an empty object", post("{}"), &[422]),
        ("bytes that are no text", post(b"{\"schema\":\"\xff\xfe\"}".to_vec()), &[400, 415, 422]),
        ("a sound run and more behind it", post(sound(1).to_string() + "{}"), &[400, 415, 422]),
        ("half a run", post(&sound(1).to_string().as_bytes()[..5000]), &[400, 415, 422]),
        ("a wrong schema", post(spoilt(|run| run["schema"] = json!("speedtest/1"))), &[422]),
        ("a newer schema", post(spoilt(|run| run["schema"] = json!("flashmark/99"))), &[422]),
        (
            "no schema",
            post(spoilt(|run| drop(run.as_object_mut().unwrap().remove("schema")))),
            &[422],
        ),
        (
            "NaN",
            post(rewritten("\"elapsed_ns\":", "\"elapsed_ns\":NaN,\"was\":")),
            &[400, 415, 422],
        ),
        ("infinity", post(rewritten("\"value\":", "\"value\":1e999,\"was\":")), &[400, 415, 422]),
        (
            "a key twice",
            post(rewritten("\"schema\":", "\"schema\":\"flashmark/1\",\"schema\":")),
            &[400, 415, 422],
        ),
        (
            "a negative rate",
            post(spoilt(|run| cell(run)["metrics"]["iops"]["value"] = json!(-5.0))),
            &[422],
        ),
        ("a negative count", post(spoilt(|run| cell(run)["ops"] = json!(-1))), &[422]),
        ("a negative time", post(spoilt(|run| run["elapsed_ns"] = json!(-1))), &[422]),
        (
            "a rate no medium has",
            post(spoilt(|run| cell(run)["metrics"]["iops"]["value"] = json!(1e15))),
            &[422],
        ),
        (
            "a maximum below the minimum",
            post(spoilt(|run| cell(run)["metrics"]["latency_ns"]["max"] = json!(1))),
            &[422],
        ),
        (
            "percentiles that are not the histogram's",
            post(spoilt(|run| cell(run)["metrics"]["latency_ns"]["p50"] = json!(1))),
            &[422],
        ),
        (
            "a histogram that is none",
            post(spoilt(|run| cell(run)["histogram"] = json!("HISTFAAAA"))),
            &[422],
        ),
        (
            "a capacity beyond belief",
            post(spoilt(|run| run["capacity_bytes"] = json!(u64::MAX))),
            &[422],
        ),
        (
            "a label of a megabyte",
            post(spoilt(|run| run["label"] = json!("x".repeat(1 << 20)))),
            &[413, 422],
        ),
        ("a million cells", post(many_cells()), &[413, 422]),
        ("no type", untyped(None), &[415]),
        ("a form", untyped(Some("application/x-www-form-urlencoded")), &[415]),
        ("text", untyped(Some("text/plain")), &[415]),
    ];
    for (head, value) in [
        ("authorization", "Bearer nonsense"),
        ("authorization", "Basic YTpi"),
        ("authorization", "Bearer "),
    ] {
        cases.push((
            "a token that is none",
            post(sound(1).to_string()).head(head, value),
            &[401, 403],
        ));
    }
    cases
}

fn untyped(kind: Option<&str>) -> Request {
    let mut request = Request::new("POST", "/api/v1/runs");
    request.heads.extend(kind.map(|kind| ("content-type".to_owned(), kind.to_owned())));
    request.body = Some(sound(1).to_string().into_bytes());
    request
}

/// A document with too many cells that is still small enough to be read.
fn many_cells() -> Vec<u8> {
    let mut run = sound(1);
    let mut small = cell(&mut run).clone();
    for heavy in ["histogram", "series", "activity"] {
        small.as_object_mut().unwrap().remove(heavy);
    }
    run["cells"] = json!(vec![small; 6000]);
    run.to_string().into_bytes()
}

/// Each of them is rejected with a reason, and nothing is stored.
pub fn bad_uploads_are_refused_with_a_reason(environment: &SiteEnvironment) {
    let server = environment.serve(&UNHURRIED);
    let before = stored(environment);
    let mut codes = Vec::new();
    for (what, request, statuses) in refused_uploads() {
        let answer = server.send(&request);
        let refusal = answer.refusal();
        assert!(statuses.contains(&answer.status), "{what}: {refusal}");
        assert!(
            answer.body.len() < 2000,
            "{what}: the refusal repeats what was sent: {} bytes",
            answer.body.len()
        );
        assert_eq!(stored(environment), before, "{what} was stored");
        codes.push(format!("{what}: {refusal}"));
    }
    // The reasons differ, and name the place.
    let refusal_of = |what: &str| codes.iter().find(|line| line.starts_with(what)).unwrap();
    assert!(
        refusal_of("a newer schema").contains("newer-schema"),
        "{}",
        refusal_of("a newer schema")
    );
    assert!(refusal_of("a negative rate").contains("iops"), "{}", refusal_of("a negative rate"));
    assert_ne!(refusal_of("a histogram that is none"), refusal_of("a wrong schema"));
    server.is_sound();
    sound_runs_still_come_in(&server, environment);
    server.end();
}

fn sound_runs_still_come_in(server: &Server, environment: &SiteEnvironment) {
    let before = stored(environment);
    let first = server.send(&post(sound(2).to_string()));
    assert_eq!(first.status, 201, "{}", first.text());
    let squeezed = server
        .send(&post(gzipped(sound(3).to_string().as_bytes())).head("content-encoding", "gzip"));
    assert_eq!(squeezed.status, 201, "{}", squeezed.text());
    // Sent again, unchanged and compressed: the same run, and no second token.
    let again = server
        .send(&post(gzipped(sound(2).to_string().as_bytes())).head("content-encoding", "gzip"));
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.json()["id"], first.json()["id"]);
    assert!(again.json()["edit_token"].is_null(), "a token for somebody else's run");
    assert_eq!(stored(environment), before + 2);
}

/// Bodies that end early and very slow bodies do not delay other requests, and store nothing.
pub fn torn_and_slow_uploads_hold_nobody_up(environment: &SiteEnvironment) {
    let server = environment.serve(&[&UNHURRIED[..], &["--body-timeout", "15"]].concat());
    let before = stored(environment);
    let whole = post(sound(4).to_string()).bytes();
    // Aborted: the sender closes or resets the connection at the end of the head, within the body,
    // or at its last byte.
    for length in [20, whole.len() / 2, whole.len() - 1] {
        for politely in [true, false] {
            let mut stream = connect(server.at).unwrap();
            stream.write_all(&whole[..length]).unwrap();
            if politely {
                stream.shutdown(Shutdown::Write).unwrap();
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest);
                let answer = String::from_utf8_lossy(&rest);
                assert!(
                    answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
                    "{length}: {answer}"
                );
            }
        }
    }
    // Slow: a hundred senders that never finish.
    let slow: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = connect(server.at).unwrap();
            stream.write_all(&whole[..whole.len() / 3]).unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/?q=samsung").status, 200, "readers are held up");
    assert_eq!(server.send(&post(sound(5).to_string())).status, 201, "senders are held up");
    // The server does not wait forever: it answers or closes the connection.
    for stream in &slow {
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        match read_answer(stream, false) {
            Ok(Answer { status, .. }) => assert_eq!(status, 408),
            Err(error) => assert_ne!(
                error.kind(),
                std::io::ErrorKind::WouldBlock,
                "it still waits after five minutes"
            ),
        }
    }
    assert_eq!(stored(environment), before + 1);
    server.is_sound();
    server.end();
}

/// One address with more slow bodies than there are places: another address is answered.
pub fn one_address_leaves_places_to_others(environment: &SiteEnvironment) {
    const MANY: usize = 2100;
    let words = ["--per-minute", "100000", "--burst", "100000", "--body-timeout", "3600"];
    let server = environment.serve(&words);
    let slow = post(sound(6).to_string()).bytes();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut open, mut closed) = (Vec::new(), 0);
    runtime.block_on(async {
        for _ in 0..MANY {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
            // A connection that is closed at once may be so before anything is sent.
            match socket.connect(server.at).await {
                Ok(stream) => {
                    let _ = stream.try_write(&slow[..slow.len() / 3]);
                    open.push(stream);
                }
                Err(_) => closed += 1,
            }
        }
    });
    assert_eq!(server.get("/").status, 200, "readers are held up");
    assert_eq!(server.send(&post(sound(7).to_string())).status, 201, "senders are held up");
    let metrics = server.get("/metrics").text();
    let refused = MANY - 100 - closed;
    assert!(
        metrics.contains(&format!("flashmark_site_connections_refused_total {refused}\n")),
        "{metrics}"
    );
    drop(open);
    server.is_sound();
    server.end();
    // A trusted proxy may open many connections.
    let server = environment.serve(&["--connections", "2", "--proxy", "127.0.0.1"]);
    let held: Vec<_> = (0..20).map(|_| connect(server.at).unwrap()).collect();
    assert_eq!(server.get("/").status, 200);
    drop(held);
    server.end();
}

/// Texts that would be markup, SQL, formulas or addresses elsewhere are stored unchanged, and shown
/// as plain text.
pub fn hostile_texts_are_only_texts(environment: &SiteEnvironment) {
    const TEXTS: [&str; 6] = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'; DROP TABLE runs; --",
        "=cmd|' /C calc'!A0",
        "{{7*7}}${7*7}<%= 7*7 %>",
        "../../etc/passwd\u{202e}\u{200b}",
    ];
    let server = environment.serve(&UNHURRIED);
    let mut accepted = 0;
    for (at, text) in TEXTS.iter().enumerate() {
        let mut run = sound(100 + at as u64);
        (run["vendor"], run["model"], run["label"]) =
            (json!(text), json!(format!("M{at}")), json!(text));
        (run["board"], run["cpu"], run["kernel"]) = (json!(text), json!(text), json!(text));
        let answer = server.send(&post(run.to_string()));
        let receipt = answer.json();
        if answer.status == 422 {
            assert!(!answer.refusal().is_empty());
            continue;
        }
        assert_eq!(answer.status, 201, "{text}: {receipt}");
        accepted += 1;
        assert_eq!(
            receipt["status"], "accepted",
            "{text}: a strange name is no reason to wait: {receipt}"
        );
        let (slug, id) = (receipt["slug"].as_str().unwrap(), receipt["id"].as_str().unwrap());
        let pages = [
            "/".to_owned(),
            format!("/medium/{slug}"),
            format!("/run/{id}"),
            format!("/compare?m={slug}&m={slug}"),
            "/feed.atom".to_owned(),
        ];
        for page in &pages {
            let shown = server.get(page);
            assert_eq!(shown.status, 200, "{page}");
            for markup in ["<script>alert", "<img src=x", "<%= 7"] {
                assert!(!shown.text().contains(markup), "{page}: {text} is markup");
            }
        }
        // As data they come back as sent.
        assert_eq!(
            server.json(&format!("/api/v1/runs/{id}"))["run"]["label"],
            json!(text),
            "{text}"
        );
    }
    assert!(accepted > 1, "a quote is no reason to refuse a name");
    let csv = server.get("/data/collection.csv?origin=measured").text();
    assert!(
        !csv.lines().any(|line| line
            .split(',')
            .any(|field| field.trim_start_matches('"').starts_with('='))),
        "a formula in {csv}"
    );
    assert_eq!(environment.collection().check().unwrap(), Vec::<String>::new());
    // Search words are neither SQL nor patterns.
    for asked in [
        "%25",
        "%27%3B%20DROP%20TABLE%20lines%3B--",
        "%00",
        "_",
        "%5C",
        "%F0%9F%92%BE",
        "a%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    ] {
        let answer = server.get(&format!("/?q={asked}"));
        assert!(answer.status == 200 || answer.status == 400, "{asked}: {}", answer.status);
        assert!(!answer.text().contains("<script>alert"), "{asked}");
    }
    server.is_sound();
    server.end();
}

/// Clients over the rate limit are told how long to wait; others are not affected.
pub fn clients_over_the_rate_limit_get_429_and_retry_after(environment: &SiteEnvironment) {
    let server = environment.serve(&["--per-minute", "1", "--burst", "3"]);
    let before = stored(environment);
    let statuses: Vec<u16> =
        (0..6).map(|seed| server.send(&post(sound(200 + seed).to_string())).status).collect();
    assert_eq!(statuses, [201, 201, 201, 429, 429, 429]);
    let held = server.send(&post(sound(300).to_string()));
    assert!(held.refusal().starts_with("429"), "{}", held.text());
    let wait: u64 = held.head("retry-after").parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(stored(environment), before + 3);
    assert_eq!(server.get("/").status, 200, "readers are not held up");
    server.is_sound();
    server.end();
}
