//! Submission, replacement and withdrawal of runs, and the permissions for each.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::body::Frame;
use record::{Published, Record};
use serde_json::json;
use store::collection::TokenKind;

use super::{Site, delete, get, json_of, on_both, post, put, run};
use crate::client::Peer;
use crate::state::BODY_BYTES;

on_both! {
    a_run_comes_in_and_is_everywhere
    the_same_run_again_is_known
    an_edit_token_is_for_its_run
    an_api_token_is_for_what_it_sent
    what_is_replaced_stays_readable
    what_is_withdrawn_is_gone
    the_audit_has_everything_but_addresses_and_tokens
}

fn a_run_comes_in_and_is_everywhere(site: &mut Site) {
    let sent = run("SanDisk", "Extreme", 1);
    let receipt = site.taken(&sent);
    let (id, slug) = (receipt["id"].as_str().unwrap(), receipt["slug"].as_str().unwrap());
    assert_eq!(receipt["page"], format!("/run/{id}"));
    assert_eq!(
        (&receipt["revision"], &receipt["is_new"], &receipt["reasons"]),
        (&json!(1), &json!(true), &json!([]))
    );
    assert_eq!(receipt["edit_token"].as_str().map(str::len), Some(64));
    let entry = site.json(&format!("/api/v1/runs/{id}"));
    assert_eq!(
        (&entry["status"], &entry["origin"], &entry["run"]["seed"]),
        (&json!("accepted"), &json!("measured"), &json!(1))
    );
    for page in [
        "/".to_owned(),
        "/?q=extreme".into(),
        format!("/medium/{slug}"),
        format!("/run/{id}"),
        format!("/compare?m={slug}"),
    ] {
        let answer = site.get(&page);
        assert_eq!(answer.status, 200, "{page}");
        assert!(answer.text().contains("SanDisk Extreme"), "{page}");
    }
    assert!(site.get("/feed.atom").text().contains("SanDisk Extreme"));
    assert_eq!(site.json(&format!("/api/v1/lines/{slug}"))["line"]["runs"], 1);
    assert_eq!(site.json("/api/v1/lines?q=extreme&kind=sd")["total"], 1);
    let record = Record::from_json(&site.get(&format!("/data/run/{id}.json")).text()).unwrap();
    assert_eq!(record.cells, sent.cells, "to the last histogram");
}

fn the_same_run_again_is_known(site: &mut Site) {
    let first = site.taken(&run("SanDisk", "Extreme", 1));
    let again = site.submit(&run("SanDisk", "Extreme", 1));
    assert_eq!(again.status, 200, "{}", again.text());
    let again = again.json();
    assert_eq!((&again["id"], &again["is_new"]), (&first["id"], &json!(false)));
    assert!(
        again["edit_token"].is_null(),
        "whoever sends what somebody else has sent must not get to change it"
    );
    assert_eq!(site.collection.counts().unwrap().accepted, 1);
}

fn an_edit_token_is_for_its_run(site: &mut Site) {
    let (mine, theirs) =
        (site.taken(&run("SanDisk", "Extreme", 1)), site.taken(&run("Samsung", "Evo", 2)));
    let token = mine["edit_token"].as_str().unwrap();
    let path =
        |receipt: &serde_json::Value| format!("/api/v1/runs/{}", receipt["id"].as_str().unwrap());
    let replace = |path: &str, token: &str, seed| {
        site.send(put(path, token).body(json_of(&run("SanDisk", "Extreme", seed))).unwrap())
    };
    assert_eq!(replace(&path(&theirs), token, 3).problem(), (403, "not-allowed".to_owned()));
    assert_eq!(site.send(delete(&path(&theirs), token)).problem().0, 403);
    assert_eq!(replace(&path(&mine), &"0".repeat(64), 3).problem(), (401, "no-token".to_owned()));
    let without = Request::put(path(&mine))
        .header(CONTENT_TYPE, "application/json")
        .body(json_of(&run("a", "b", 9)))
        .unwrap();
    assert_eq!(site.send(without).problem().0, 401);
    let submitted = site.send(
        post("/api/v1/runs")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(json_of(&run("a", "b", 9)))
            .unwrap(),
    );
    assert_eq!(submitted.problem().0, 403, "an edit token submits nothing");
    assert_eq!(
        replace("/api/v1/runs/nothing", token, 3).problem().0,
        403,
        "nor does it tell what there is"
    );
    assert_eq!(replace(&path(&mine), token, 2).status, 200, "its own");
    let taken =
        site.send(put(&path(&mine), token).body(json_of(&run("Samsung", "Evo", 2))).unwrap());
    assert_eq!(taken.problem(), (409, "already-there".to_owned()));
}

fn an_api_token_is_for_what_it_sent(site: &mut Site) {
    let (one, other) = (site.token(TokenKind::Api, "lab"), site.token(TokenKind::Api, "lab"));
    let send = |token: &str, seed| {
        post("/api/v1/runs")
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .body(json_of(&run("A", "B", seed)))
            .unwrap()
    };
    let sent = site.send(send(&one, 1));
    assert_eq!(sent.status, 201, "{}", sent.text());
    let sent = sent.json();
    assert!(sent["edit_token"].is_null(), "who has a token needs no other");
    let path = format!("/api/v1/runs/{}", sent["id"].as_str().unwrap());
    assert_eq!(
        site.send(put(&path, &other).body(json_of(&run("A", "B", 2))).unwrap()).problem().0,
        403,
        "of the same label"
    );
    assert_eq!(site.send(put(&path, &one).body(json_of(&run("A", "B", 2))).unwrap()).status, 200);
    site.collection.revoke(&one, &crate::state::now()).unwrap();
    assert_eq!(site.send(send(&one, 3)).problem().0, 401, "it was revoked");
}

fn what_is_replaced_stays_readable(site: &mut Site) {
    let receipt = site.taken(&run("SanDisk", "Extreme", 1));
    let (id, token) = (receipt["id"].as_str().unwrap(), receipt["edit_token"].as_str().unwrap());
    let path = format!("/api/v1/runs/{id}");
    let replaced = site.send(
        put(&format!("{path}?why=%3Cb%3Eold+reader"), token)
            .body(json_of(&run("SanDisk", "Extreme", 2)))
            .unwrap(),
    );
    let replaced = replaced.json();
    assert_eq!(
        (&replaced["id"], &replaced["revision"], &replaced["is_new"]),
        (&json!(id), &json!(2), &json!(true)),
        "{replaced}"
    );
    assert_eq!(site.json(&path)["run"]["seed"], 2);
    let revisions = site.json(&format!("{path}/revisions"));
    assert_eq!(
        (&revisions[0]["revision"], &revisions[1]["why"]),
        (&json!(1), &json!("anonymous, by edit token says: <b>old reader")),
        "{revisions}"
    );
    let first = site.json(&format!("{path}/revisions/1"));
    assert_eq!((&first["run"]["seed"], &first["status"]), (&json!(1), &json!("withdrawn")));
    assert_eq!(site.get(&format!("{path}/revisions/3")).problem().0, 404);
    assert_eq!(site.get(&format!("{path}/revisions/one")).problem().0, 400);
    let history = site.get(&format!("/run/{id}/revisions")).text();
    assert!(
        history.contains(&format!("/run/{id}/revisions/1"))
            && history.contains("&#60;b&#62;old reader"),
        "{history}"
    );
    assert!(site.get(&format!("/run/{id}")).text().contains("2 revisions"));
    assert!(
        site.get(&format!("/run/{id}/revisions/1"))
            .text()
            .contains("revision 2 has taken its place")
    );
    let slug = receipt["slug"].as_str().unwrap();
    assert!(!site.get(&format!("/medium/{slug}")).text().contains("the second card"));
    let labelled =
        Published { label: Some("the second card".to_owned()), ..run("SanDisk", "Extreme", 2) };
    assert_eq!(
        site.send(put(&path, token).body(json_of(&labelled)).unwrap()).json()["revision"],
        3
    );
    let medium = site.get(&format!("/medium/{slug}")).text();
    assert!(medium.contains("the second card"), "what does not change the line shows at once too");
    let same = site.send(put(&path, token).body(json_of(&labelled)).unwrap()).json();
    assert_eq!((&same["revision"], &same["is_new"]), (&json!(3), &json!(false)));
}

fn what_is_withdrawn_is_gone(site: &mut Site) {
    let receipt = site.taken(&run("SanDisk", "Extreme", 1));
    let (id, token) = (receipt["id"].as_str().unwrap(), receipt["edit_token"].as_str().unwrap());
    let slug = receipt["slug"].as_str().unwrap();
    let path = format!("/api/v1/runs/{id}");
    // Cached pages must not outlive it.
    assert_eq!(site.get(&format!("/medium/{slug}")).status, 200);
    assert!(site.get("/").text().contains("SanDisk Extreme"));
    let withdrawn = site.send(delete(&format!("{path}?why=wrong+card"), token)).json();
    assert_eq!((&withdrawn["status"], &withdrawn["is_new"]), (&json!("withdrawn"), &json!(true)));
    assert_eq!(
        site.send(delete(&path, token)).json()["is_new"],
        false,
        "once more changes nothing"
    );
    assert_eq!(site.get(&path).problem(), (410, "withdrawn".to_owned()));
    assert_eq!(site.get(&format!("{path}/revisions/1")).problem().0, 410);
    assert_eq!(
        site.json(&format!("{path}/revisions"))[0]["revision"],
        1,
        "that it was there is no secret"
    );
    for page in
        [format!("/run/{id}"), format!("/run/{id}/revisions/1"), format!("/data/run/{id}.json")]
    {
        assert_eq!(site.get(&page).status, 410, "{page}");
    }
    assert_eq!(site.get(&format!("/medium/{slug}")).status, 404);
    assert!(!site.get("/").text().contains("SanDisk Extreme"));
    assert_eq!(
        site.send(put(&path, token).body(json_of(&run("SanDisk", "Extreme", 2))).unwrap())
            .problem()
            .0,
        410
    );
    let again = site.submit(&run("SanDisk", "Extreme", 1));
    assert_eq!(
        (again.status.as_u16(), &again.json()["status"]),
        (200, &json!("withdrawn")),
        "that is final"
    );
    let moderator = site.token(TokenKind::Moderator, "m");
    let seen = site.send(
        get(&path)
            .header(AUTHORIZATION, format!("Bearer {moderator}"))
            .body(Body::empty())
            .unwrap(),
    );
    assert_eq!(seen.json()["status"], "withdrawn");
}

fn the_audit_has_everything_but_addresses_and_tokens(site: &mut Site) {
    let mut request = post("/api/v1/runs").body(json_of(&run("SanDisk", "Extreme", 1))).unwrap();
    request.extensions_mut().insert(Peer("198.51.100.77".parse().unwrap()));
    let receipt = site.send(request).json();
    let (id, token) = (receipt["id"].as_str().unwrap(), receipt["edit_token"].as_str().unwrap());
    site.send(delete(&format!("/api/v1/runs/{id}?why=wrong+card"), token));
    let audit = site.json("/api/v1/audit");
    let field = |at: usize, name: &str| audit[at][name].as_str().unwrap_or_default().to_owned();
    assert_eq!((field(0, "what"), field(0, "run")), ("submitted".to_owned(), id.to_owned()));
    assert_eq!(
        (field(1, "what"), field(1, "detail")),
        ("withdrawn".to_owned(), "wrong card".to_owned())
    );
    assert!(!audit.to_string().contains("198.51") && !audit.to_string().contains(token));
    assert_eq!(site.json("/api/v1/audit?after=1&n=1")[0]["number"], 2);
    assert_eq!(site.json("/api/v1/audit?after=18446744073709551615"), json!([]));
    assert_eq!(site.collection.check().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_no_run_is_refused_and_leaves_nothing() {
    let mut site = Site::sqlite();
    let sound = serde_json::to_vec(&run("SanDisk", "Extreme", 1)).unwrap();
    let plain = |body: &[u8]| post("/api/v1/runs").body(Body::from(body.to_vec())).unwrap();
    for body in [&b"hello"[..], b"{}", &sound[..sound.len() / 2]] {
        assert!(
            (400..500).contains(&site.send(plain(body)).problem().0),
            "{}",
            String::from_utf8_lossy(body)
        );
    }
    let form = Request::post("/api/v1/runs")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from("a=b"))
        .unwrap();
    assert_eq!(site.send(form).problem(), (415, "not-json".to_owned()));
    let packed = post("/api/v1/runs")
        .header(CONTENT_ENCODING, "br")
        .body(Body::from(sound.clone()))
        .unwrap();
    assert_eq!(site.send(packed).problem().0, 415);
    site.with(|options| options.limits.body_bytes = 1000);
    assert_eq!(site.send(plain(&sound)).problem(), (413, "too-large".to_owned()));
    let huge =
        post("/api/v1/runs").header(CONTENT_LENGTH, "99999999999").body(Body::empty()).unwrap();
    assert_eq!(site.send(huge).problem(), (413, "too-large".to_owned()));
    let counts = site.collection.counts().unwrap();
    assert_eq!((counts.accepted, counts.quarantined, counts.lines), (0, 0, 0));
    assert_eq!(site.app.bodies().available_permits(), BODY_BYTES >> 10, "memory is given back");
}

/// A body that stops after its first part.
struct Stalls(Option<Bytes>);

impl hyper::body::Body for Stalls {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
    }
}

#[test]
fn a_body_that_stalls_is_not_waited_for() {
    let mut site = Site::sqlite();
    site.with(|options| options.body_time = Duration::from_millis(20));
    let stalls = Stalls(Some(Bytes::from_static(b"{\"schema\":")));
    let request = post("/api/v1/runs").body(Body::new(stalls)).unwrap();
    assert_eq!(site.send(request).problem(), (408, "too-slow".to_owned()));
    assert_eq!(site.app.bodies().available_permits(), BODY_BYTES >> 10);
}

#[test]
fn the_rate_limit_applies_to_its_client_only() {
    let mut site = Site::sqlite();
    site.with(|options| {
        (options.per_minute, options.burst, options.proxies) =
            (1, 2, vec!["127.0.0.1".parse().unwrap()])
    });
    let send = |from: &str, seed| {
        let request = post("/api/v1/runs")
            .header("x-forwarded-for", from)
            .body(json_of(&run("A", "B", seed)))
            .unwrap();
        site.send(request)
    };
    assert_eq!([1, 2].map(|seed| send("192.0.2.1", seed).status.as_u16()), [201, 201]);
    let held = send("192.0.2.1", 3);
    assert_eq!(held.problem(), (429, "too-often".to_owned()));
    assert!((1..=61).contains(&held.header("retry-after").parse::<u64>().unwrap()));
    assert_eq!(send("192.0.2.2", 3).status, 201, "another address");
    let token = site.token(TokenKind::Api, "lab");
    let with_token = post("/api/v1/runs")
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .header("x-forwarded-for", "192.0.2.1");
    assert_eq!(
        site.send(with_token.body(json_of(&run("A", "B", 4))).unwrap()).status,
        201,
        "a token is another way"
    );
}
