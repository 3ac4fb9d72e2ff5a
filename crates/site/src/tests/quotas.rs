//! Daily quotas of senders without a token.

use axum::body::Body;
use axum::http::Request;
use axum::http::header::AUTHORIZATION;
use record::Published;
use store::collection::{Submission, TokenKind};

use super::{Answer, Site, json_of, on_both, post, put, run};
use crate::client::Peer;

on_both! {
    an_address_sends_so_many_bytes_and_others_go_on
    all_together_send_so_many_bytes_also_after_a_restart
}

/// Bytes that one of these runs takes.
fn size(site: &Site) -> u64 {
    site.taken(&run("SanDisk", "Size", 1));
    site.collection.stored_bytes("2000", &["anonymous"]).unwrap()
}

fn from(address: &str, run: &Published) -> Request<Body> {
    let mut request = post("/api/v1/runs").body(json_of(run)).unwrap();
    request.extensions_mut().insert(Peer(address.parse().unwrap()));
    request
}

fn is_over_quota(answer: &Answer, whose: &str) {
    assert_eq!(answer.problem(), (429, "quota".to_owned()));
    let wait: u64 = answer.header("retry-after").parse().unwrap();
    assert!((1..=86_401).contains(&wait), "{wait}");
    let reason = answer.json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains(whose) && reason.contains("try again in"), "{reason}");
}

fn an_address_sends_so_many_bytes_and_others_go_on(site: &mut Site) {
    let size = size(site);
    // Quota for two runs, but not for three.
    site.with(|options| options.bytes_per_day = size * 5 / 2);
    let send = |address: &str, seed| site.send(from(address, &run("SanDisk", "Extreme", seed)));
    let first = send("192.0.2.1", 2);
    assert_eq!([first.status, send("192.0.2.1", 3).status], [201, 201]);
    is_over_quota(&send("192.0.2.1", 4), "one address");
    assert_eq!(send("192.0.2.1", 2).status, 200, "what is there already takes nothing");
    assert_eq!(send("192.0.2.2", 4).status, 201, "another address");
    // A revision with an edit token counts as much.
    let first = first.json();
    let mut replaced = put(
        &format!("/api/v1/runs/{}", first["id"].as_str().unwrap()),
        first["edit_token"].as_str().unwrap(),
    )
    .body(json_of(&run("SanDisk", "Extreme", 5)))
    .unwrap();
    replaced.extensions_mut().insert(Peer("192.0.2.1".parse().unwrap()));
    is_over_quota(&site.send(replaced), "one address");
    // A sender with a token has no such limit.
    let token = format!("Bearer {}", site.token(TokenKind::Api, "lab"));
    for seed in 10..14 {
        let mut request = from("192.0.2.1", &run("SanDisk", "Lab", seed));
        request.headers_mut().insert(AUTHORIZATION, token.parse().unwrap());
        assert_eq!(site.send(request).status, 201);
    }
    let metrics = site.get("/metrics").text();
    assert!(metrics.contains("flashmark_site_over_quota_total{quota=\"address\"} 2"), "{metrics}");
    assert!(metrics.contains("submissions_total{outcome=\"quota\"} 2"), "{metrics}");
    assert!(!metrics.contains("192.0.2.1"), "addresses are written nowhere");
}

fn all_together_send_so_many_bytes_also_after_a_restart(site: &mut Site) {
    let size = size(site);
    // Old runs, runs of senders with a token and reference data do not count.
    let old = |seed, received: &str, who: &str| {
        let one = run("SanDisk", "Old", seed);
        let headline = record::collection::RunHeadline::default();
        let origin = record::collection::Origin::Measured;
        let sent = Submission::new(one, headline, origin, received);
        site.collection.submit(Submission { who: who.to_owned(), ..sent }).unwrap();
    };
    for seed in 20..24 {
        old(seed, "2020-01-01T00:00:00Z", "anonymous");
        old(seed + 10, &crate::state::now(), "lab (0123abcd)");
    }
    for restart in 0..2 {
        site.with(|options| options.bytes_per_day_all = size * 5 / 2);
        let send = |address: &str, seed| site.send(from(address, &run("SanDisk", "Extreme", seed)));
        let metrics = site.get("/metrics").text();
        let stored = site.collection.stored_bytes("2021", &["anonymous"]).unwrap();
        assert!(metrics.contains(&format!("flashmark_site_day_bytes {stored}")), "{metrics}");
        if restart == 0 {
            assert_eq!(send("192.0.2.1", 2).status, 201);
        }
        is_over_quota(&send("192.0.2.2", 3), "all addresses together");
        let metrics = site.get("/metrics").text();
        assert!(metrics.contains("flashmark_site_over_quota_total{quota=\"all\"} 1"), "{metrics}");
    }
    site.with(|options| options.bytes_per_day_all = 0);
    assert_eq!(site.submit(&run("SanDisk", "Extreme", 3)).status, 201, "0 is no limit");
}
