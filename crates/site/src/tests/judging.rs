//! Quarantine, and the moderators who review it.

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use serde_json::{Value, json};
use store::collection::TokenKind;

use super::{Answer, Site, get, json_of, on_both, post, run};
use crate::Quarantine;

on_both! {
    what_is_quarantined_waits_for_a_person
    a_moderator_judges_on_the_page
}

fn waiting(site: &mut Site) -> Value {
    site.with(|options| options.quarantine = Quarantine::All);
    let answer = site.submit(&run("SanDisk", "Extreme & \"Co\"", 1));
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

fn what_is_quarantined_waits_for_a_person(site: &mut Site) {
    let receipt = waiting(site);
    assert_eq!(
        (&receipt["status"], receipt["reasons"].as_array().map(Vec::len)),
        (&json!("quarantined"), Some(1)),
        "{receipt}"
    );
    let id = receipt["id"].as_str().unwrap();
    let moderator = format!("Bearer {}", site.token(TokenKind::Moderator, "Ada"));
    let with = |request: axum::http::request::Builder, body: &Value| {
        request.header(AUTHORIZATION, &moderator).body(Body::from(body.to_string())).unwrap()
    };
    assert_eq!(site.json("/api/v1/lines")["total"], 0);
    assert!(
        site.get(&format!("/run/{id}")).text().contains("waits until a person has looked at it")
    );
    assert_eq!(site.get("/api/v1/quarantine").problem().0, 401);
    let quarantine = site.send(with(get("/api/v1/quarantine"), &Value::Null)).json();
    assert_eq!(
        (&quarantine["waiting"], &quarantine["runs"][0]["id"]),
        (&json!(1), &json!(id)),
        "{quarantine}"
    );
    assert_eq!(quarantine["runs"][0]["reasons"], receipt["reasons"]);
    let path = format!("/api/v1/runs/{id}/status");
    let api = format!("Bearer {}", site.token(TokenKind::Api, "lab"));
    let judgement = json!({"status": "accepted", "why": "looked at it"});
    assert_eq!(
        site.send(post(&path).body(Body::from(judgement.to_string())).unwrap()).problem().0,
        401
    );
    let forbidden =
        post(&path).header(AUTHORIZATION, api).body(Body::from(judgement.to_string())).unwrap();
    assert_eq!(site.send(forbidden).problem().0, 403);
    for (bad, status) in
        [(json!({"status": "withdrawn"}), 422), (json!({"status": "fine"}), 422), (json!([]), 400)]
    {
        assert_eq!(site.send(with(post(&path), &bad)).problem().0, status, "{bad}");
    }
    assert_eq!(site.send(with(post("/api/v1/runs/none/status"), &judgement)).problem().0, 404);
    let judged = site.send(with(post(&path), &judgement)).json();
    assert_eq!(
        (&judged["status"], &judged["is_new"]),
        (&json!("accepted"), &json!(true)),
        "{judged}"
    );
    assert_eq!(site.json("/api/v1/lines")["total"], 1);
    assert!(!site.get(&format!("/run/{id}")).text().contains("waits until"));
    let audit = site.json("/api/v1/audit");
    let last = audit.as_array().unwrap().last().unwrap();
    assert!(
        last["who"].as_str().unwrap().starts_with("Ada (") && last["detail"] == "looked at it",
        "{last}"
    );
    let rejected =
        site.send(with(post(&path), &json!({"status": "rejected", "why": "made up"}))).json();
    assert_eq!(rejected["status"], "rejected");
    assert_eq!(site.get(&format!("/api/v1/runs/{id}")).problem(), (410, "rejected".to_owned()));
    assert_eq!(site.json("/api/v1/lines")["total"], 0);
}

fn form(site: &Site, path: &str, cookie: &str, body: String) -> Answer {
    let request = Request::post(path)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(COOKIE, cookie);
    site.send(request.body(Body::from(body)).unwrap())
}

fn page(site: &Site, cookie: &str) -> String {
    site.send(get("/moderation").header(COOKIE, cookie).body(Body::empty()).unwrap()).text()
}

fn a_moderator_judges_on_the_page(site: &mut Site) {
    let receipt = waiting(site);
    let id = receipt["id"].as_str().unwrap();
    let (token, api) = (site.token(TokenKind::Moderator, "Ada"), site.token(TokenKind::Api, "lab"));
    let start = site.get("/moderation");
    assert!(
        start.status == 200
            && start.header("set-cookie").is_empty()
            && start.text().contains("Token of a moderator")
    );
    let refused = form(site, "/moderation/sign-in", "", format!("token={}", "0".repeat(64)));
    assert!(refused.status == 401 && refused.header("set-cookie").is_empty(), "{}", refused.text());
    assert_eq!(form(site, "/moderation/sign-in", "", format!("token={api}")).status, 403);
    let signed_in = form(site, "/moderation/sign-in", "", format!("token={token}"));
    assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (303, "/moderation"));
    let set = signed_in.header("set-cookie");
    assert!(
        ["; HttpOnly", "; SameSite=Strict", "; Path=/moderation"]
            .iter()
            .all(|part| set.contains(part)),
        "{set}"
    );
    assert!(!set.contains(&token), "the cookie is no token");
    let cookie = set.split(';').next().unwrap().to_owned();
    let shown = page(site, &cookie);
    assert!(
        shown.contains(id)
            && shown.contains("Extreme &#38; &#34;Co")
            && shown.contains("every submission waits"),
        "{shown}"
    );
    let secret =
        shown.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let judge = |secret: &str, cookie: &str| {
        form(
            site,
            "/moderation/judge",
            cookie,
            format!("form={secret}&run={id}&status=accepted&why=fine"),
        )
    };
    assert_eq!(judge("0", &cookie).status, 403, "a form from elsewhere");
    assert_eq!(
        judge(&secret, "flashmark-moderator=0").status,
        200,
        "whoever has not signed in is asked to"
    );
    assert_eq!(site.json("/api/v1/lines")["total"], 0);
    assert_eq!(judge(&secret, &cookie).status, 303);
    assert_eq!(site.json("/api/v1/lines")["total"], 1);
    assert!(page(site, &cookie).contains("Nothing waits"));
    // Revoking a token ends its sessions.
    site.collection.revoke(&token, &crate::state::now()).unwrap();
    assert!(page(site, &cookie).contains("Token of a moderator"));
    let signed_out = form(site, "/moderation/sign-out", &cookie, format!("form={secret}"));
    assert!(signed_out.header("set-cookie").contains("Max-Age=0"));
}

#[test]
fn a_cookie_of_an_encrypted_site_stays_encrypted() {
    let mut site = Site::sqlite();
    site.with(|options| options.base = Some("https://example.org/cards/".parse().unwrap()));
    let token = site.token(TokenKind::Moderator, "Ada");
    let signed_in = form(&site, "/cards/moderation/sign-in", "", format!("token={token}"));
    assert_eq!(signed_in.header("location"), "/cards/moderation");
    let set = signed_in.header("set-cookie");
    assert!(set.contains("; Secure") && set.contains("; Path=/cards/moderation"), "{set}");
}

#[test]
fn a_replacement_in_quarantine_goes_on_waiting() {
    let mut site = Site::sqlite();
    let receipt = waiting(&mut site);
    let (id, token) = (receipt["id"].as_str().unwrap(), receipt["edit_token"].as_str().unwrap());
    let request = super::put(&format!("/api/v1/runs/{id}"), token)
        .body(json_of(&run("SanDisk", "Ultra", 2)))
        .unwrap();
    assert_eq!(site.send(request).json()["status"], "quarantined");
}
