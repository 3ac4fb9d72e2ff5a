//! Lists of runs for moderators, judgements of many runs, and undo.

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use serde_json::{Value, json};
use store::collection::TokenKind;

use super::{Answer, Site, get, on_both, post, run};
use crate::Quarantine;

on_both! {
    programs_judge_many_and_undo_it
    a_moderator_ticks_runs_on_the_page
}

/// Submits `count` runs that wait; returns their names.
fn waiting(site: &mut Site, count: u64) -> Vec<String> {
    site.with(|options| options.quarantine = Quarantine::All);
    let sent = (1..=count).map(|seed| site.submit(&run("SanDisk", &format!("M{seed}"), seed)));
    sent.map(|answer| answer.json()["id"].as_str().unwrap().to_owned()).collect()
}

fn programs_judge_many_and_undo_it(site: &mut Site) {
    let ids = waiting(site, 3);
    let moderator = format!("Bearer {}", site.token(TokenKind::Moderator, "Ada"));
    let ask = |request: axum::http::request::Builder, body: Value| {
        site.send(
            request.header(AUTHORIZATION, &moderator).body(Body::from(body.to_string())).unwrap(),
        )
    };
    let list = |query: &str| -> Vec<String> {
        let answer = ask(get(&format!("/api/v1/runs{query}")), Value::Null);
        assert_eq!(answer.status, 200, "{}", answer.text());
        let runs = answer.json();
        runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(site.get("/api/v1/runs").problem().0, 401);
    assert_eq!(list(""), ids);
    assert_eq!(list("?order=newest&n=2"), [&*ids[2], &ids[1]]);
    assert_eq!(list("?order=suspicion&sender=anonymous").len(), 3);
    assert_eq!(list("?sender=lab"), Vec::<String>::new());
    for bad in ["?order=best", "?status=withdrawn", "?n=many"] {
        assert_eq!(ask(get(&format!("/api/v1/runs{bad}")), Value::Null).problem().0, 400, "{bad}");
    }
    let judge = |body: Value| ask(post("/api/v1/judgements"), body);
    let unknown = json!({"ids": [ids[0], "none"], "status": "accepted"});
    assert_eq!(judge(unknown).problem().0, 404);
    assert_eq!(list("").len(), 3, "all or none");
    let many = vec!["x"; 501];
    for (bad, status) in [
        (json!({"ids": ids, "status": "withdrawn"}), 422),
        (json!({"ids": many, "status": "accepted"}), 422),
        (json!({"status": "accepted"}), 400),
    ] {
        assert_eq!(judge(bad.clone()).problem().0, status, "{bad}");
    }
    let judged = judge(json!({"ids": ids, "status": "accepted", "why": "looked at them"})).json();
    let event = judged["event"].as_u64().unwrap();
    assert_eq!(judged["runs"].as_array().map(Vec::len), Some(3), "{judged}");
    assert_eq!(list("?status=accepted&order=sender").len(), 3);
    assert_eq!(site.json("/api/v1/lines")["total"], 3);
    let line = &site.json(&format!("/api/v1/audit?after={}&n=1", event - 1))[0];
    assert_eq!(line["detail"], "3 runs accepted: looked at them", "{line}");
    let undo = |event: u64| ask(post("/api/v1/judgements/undo"), json!({"event": event}));
    assert_eq!(undo(event + 1).problem(), (409, "not-last".to_owned()));
    let undone = undo(event);
    assert_eq!(undone.status, 200, "{}", undone.text());
    assert_eq!(undone.json()["runs"][0]["status"], "quarantined");
    assert_eq!((list("").len(), site.json("/api/v1/lines")["total"].clone()), (3, json!(0)));
    assert_eq!(undo(event).problem().0, 409);
    let api = format!("Bearer {}", site.token(TokenKind::Api, "lab"));
    let body = json!({"ids": ids, "status": "accepted"}).to_string();
    let foreign = post("/api/v1/judgements").header(AUTHORIZATION, api).body(Body::from(body));
    assert_eq!(site.send(foreign.unwrap()).problem().0, 403);
    assert_eq!(site.collection.check().unwrap(), Vec::<String>::new());
}

fn form(site: &Site, path: &str, cookie: &str, body: String) -> Answer {
    let request = Request::post(path)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(COOKIE, cookie);
    site.send(request.body(Body::from(body)).unwrap())
}

fn a_moderator_ticks_runs_on_the_page(site: &mut Site) {
    let ids = waiting(site, 3);
    let token = site.token(TokenKind::Moderator, "Ada");
    let signed_in = form(site, "/moderation/sign-in", "", format!("token={token}"));
    let cookie = signed_in.header("set-cookie").split(';').next().unwrap().to_owned();
    let page = |address: &str| {
        site.send(get(address).header(COOKIE, &cookie).body(Body::empty()).unwrap()).text()
    };
    let shown = page("/moderation");
    assert_eq!(shown.matches("type=\"checkbox\" name=\"run\"").count(), 3, "{shown}");
    assert!(!shown.contains("/moderation/undo"), "there is nothing to undo yet");
    let secret =
        shown.split("name=\"form\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let ticked = format!(
        "form={secret}&list=quarantined&order=newest&sender=&run={}&run={}&status=rejected&why=same+sender",
        ids[0], ids[1]
    );
    let foreign = ticked.replace(&secret, "0");
    assert_eq!(form(site, "/moderation/judge-many", &cookie, foreign).status, 403);
    assert_eq!(form(site, "/moderation/judge-many", "", ticked.clone()).status, 200);
    let none = format!("form={secret}&status=rejected");
    assert_eq!(form(site, "/moderation/judge-many", &cookie, none).status, 400);
    assert!(page("/moderation").contains(&ids[0]), "nothing was judged until now");
    let judged = form(site, "/moderation/judge-many", &cookie, ticked);
    assert_eq!(judged.status, 303, "{}", judged.text());
    let to = judged.header("location").to_owned();
    assert!(to.contains("order=newest"), "the same list: {to}");
    let shown = page(&to);
    assert!(shown.contains("can be undone") && shown.contains("/moderation/undo"), "{shown}");
    assert!(!shown.contains(&ids[0]) && !shown.contains(&ids[1]) && shown.contains(&ids[2]));
    let event = shown.split("name=\"event\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let undone = form(site, "/moderation/undo", &cookie, format!("form={secret}&event={event}"));
    let shown = page(undone.header("location"));
    assert!(shown.contains("is undone") && ids.iter().all(|id| shown.contains(id)), "{shown}");
    // Other lists: accepted runs, and those of one sender.
    let accepted = page("/moderation?list=accepted&order=suspicion");
    assert!(accepted.contains("No such runs") && !accepted.contains(&ids[0]), "{accepted}");
    let strange = page("/moderation?sender=%3Cscript%3E&order=none&list=withdrawn&event=x");
    assert!(strange.contains("No such runs") && !strange.contains("<script>"), "{strange}");
}
