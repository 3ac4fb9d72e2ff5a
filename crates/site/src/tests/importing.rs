//! Pasted text is shown before it is stored, and passes the checks of all submissions.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::Request;
use record::Record;
use store::collection::TokenKind;

use super::{Answer, Site, get, on_both, run};
use crate::Quarantine;

on_both! {
    what_is_pasted_is_shown_and_then_added
    another_text_is_looked_at_first
    a_text_is_no_measurement
    a_hostile_text_is_only_text
    too_much_is_refused_with_a_reason
    rights_and_limits_are_those_of_a_submission
}

const DD: &str = "dd if=/dev/zero of=/dev/sdb bs=1M count=512 oflag=direct\n\
                  536870912 bytes (537 MB, 512 MiB) copied, 25.3 s, 21.2 MB/s\n\
                  strange tool: 17.5 MB/s\n";

const BOUNDARY: &str = "limit-of-the-fields";

/// A form as a browser sends it: lines end with CR and LF.
fn form(fields: &[(&str, &[u8])]) -> Request<Body> {
    let mut body = Vec::new();
    for (name, value) in fields {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"");
        body.extend(head.bytes());
        let kind: &[u8] = if *name == "file" {
            b"; filename=\"log.txt\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        } else {
            b"\r\n\r\n"
        };
        body.extend(kind);
        body.extend(*value);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    Request::post("/import")
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .header("accept", "text/html")
        .body(Body::from(body))
        .unwrap()
}

fn look(site: &Site, text: &[u8], more: &[(&str, &[u8])]) -> Answer {
    let mut fields: Vec<(&str, &[u8])> = vec![("text", text), ("do", b"look")];
    fields.extend(more);
    site.send(form(&fields))
}

/// The digest in a preview page.
fn digest(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"shown\" value=\"").expect("a digest");
    rest[..64].to_owned()
}

/// The text in the text box of a page, as a browser sends it back.
fn carried(page: &str) -> String {
    let (_, rest) = page.split_once("autocomplete=\"off\">\n").expect("a box");
    let (text, _) = rest.split_once("</textarea>").expect("its end");
    let entities =
        [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    let plain =
        entities.iter().fold(text.to_owned(), |text, (name, sign)| text.replace(name, sign));
    plain.replace('\n', "\r\n")
}

/// Opens the preview, and then adds the text that its page holds.
fn added(site: &Site, text: &[u8], more: &[(&str, &[u8])]) -> Answer {
    let shown = look(site, text, more);
    assert_eq!(shown.status, 200, "{}", shown.text());
    let page = shown.text();
    let (digest, text) = (digest(&page), carried(&page));
    let mut fields: Vec<(&str, &[u8])> =
        vec![("shown", digest.as_bytes()), ("text", text.as_bytes()), ("do", b"add")];
    fields.extend(more);
    site.send(form(&fields))
}

fn runs(site: &Site) -> (u64, u64) {
    let counts = site.collection.counts().unwrap();
    (counts.accepted, counts.quarantined)
}

fn what_is_pasted_is_shown_and_then_added(site: &mut Site) {
    let empty = site.get("/import").text();
    assert!(empty.contains("<textarea") && empty.contains("type=\"file\""), "{empty}");
    assert!(empty.contains("href=\"/import\" aria-current=\"page\">Import</a>"), "{empty}");
    let known: &[(&str, &[u8])] = &[("model", b"Ultra"), ("kind", b"sd"), ("capacity", b"32GB")];
    let page = look(site, DD.as_bytes(), known).text();
    for part in
        ["Ultra", "SD card", "21.2 MB/s", "one run", "<td class=\"num\">3</td>", "17.5 MB/s"]
    {
        assert!(page.contains(part), "no {part} in {page}");
    }
    assert_eq!(runs(site), (0, 0), "looking keeps nothing");
    let answer = added(site, DD.as_bytes(), known).text();
    assert!(answer.contains("in the collection") && answer.contains("With this token"), "{answer}");
    assert_eq!(runs(site), (1, 0));
    let (_, rest) = answer.split_once("<a href=\"/run/").unwrap();
    let id = rest.split('"').next().unwrap();
    let entry = site.json(&format!("/api/v1/runs/{id}"));
    assert_eq!(entry["origin"], "imported", "{entry}");
    assert_eq!(entry["run"]["software"]["name"], "dd", "{entry}");
    let again = added(site, DD.as_bytes(), known).text();
    assert!(again.contains("was there already") && !again.contains("With this token"), "{again}");
    assert_eq!(runs(site), (1, 0));
    let file = site.send(form(&[("text", b""), ("file", DD.as_bytes()), ("do", b"look")])).text();
    assert!(file.contains("21.2 MB/s"), "a file will do: {file}");
}

fn another_text_is_looked_at_first(site: &mut Site) {
    let digest = digest(&look(site, DD.as_bytes(), &[]).text());
    let other = DD.replace("25.3 s, 21.2 MB/s", "2.53 s, 212 MB/s");
    for shown in [digest.as_bytes(), b"", b"0"] {
        let fields: &[(&str, &[u8])] =
            &[("shown", shown), ("text", other.as_bytes()), ("do", b"add")];
        let answer = site.send(form(fields)).text();
        assert!(answer.contains("nothing was added") && answer.contains("212 MB/s"), "{answer}");
    }
    let unseen = site.send(form(&[("text", DD.as_bytes()), ("do", b"add")])).text();
    assert!(unseen.contains("21.2 MB/s"), "{unseen}");
    assert_eq!(runs(site), (0, 0));
}

fn a_text_is_no_measurement(site: &mut Site) {
    let theirs = run("SanDisk", "Extreme", 1);
    let receipt = site.taken(&theirs);
    let record = theirs.to_record("theirs").to_json();
    let simulated = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    assert!(Record::from_json(simulated).is_ok());
    let table = |software: &str| {
        format!(
            "run_id,software,model,test,iops,elapsed_ns\n{},{software},Extreme,random-write,90,5\n",
            receipt["id"].as_str().unwrap()
        )
    };
    let texts = [record.clone(), simulated.to_owned(), table("flashmark"), table("Flashmark")];
    for text in texts {
        let page = look(site, text.as_bytes(), &[]);
        assert_eq!(page.status, 200, "{}", page.text());
        let page = page.text();
        assert!(page.contains("a text is no measurement"), "{page}");
        assert!(!page.contains("value=\"add\""), "there is nothing to add: {page}");
    }
    assert_eq!(runs(site), (1, 0), "only that which was submitted");
}

fn a_hostile_text_is_only_text(site: &mut Site) {
    let script = "<script>alert(1)</script>";
    let page = look(site, DD.as_bytes(), &[("model", script.as_bytes())]).text();
    assert!(!page.contains(script) && page.contains("It cannot be added"), "{page}");
    let nul = DD.replace("copied", "co\0pied").replace("21.2", "21\0.2");
    let answer = added(site, nul.as_bytes(), &[]).text();
    assert!(answer.contains("in the collection"), "{answer}");
    let mut nasty = DD.to_owned();
    nasty += "</textarea><script>alert(2)</script> 3.5 MB/s\n\x1b[31mred\x1b[0m \u{202e}\n";
    let page = look(site, nasty.as_bytes(), &[]).text();
    assert!(!page.contains("<script>alert"), "{page}");
    assert_eq!(page.matches("</textarea>").count(), 1, "{page}");
    let latin: Vec<u8> = DD.bytes().chain(*b"\xb5 5.5 MB/s\n").collect();
    assert!(added(site, &latin, &[("label", b"latin")]).text().contains("in the collection"));
}

fn too_much_is_refused_with_a_reason(site: &mut Site) {
    let ten = look(site, &vec![b'x'; 10_000_000], &[]);
    assert_eq!(ten.status, 413, "{}", ten.text());
    assert!(ten.text().contains("larger than"), "{}", ten.text());
    let lines = look(site, "a 7\n".repeat(200_000).as_bytes(), &[]);
    assert_eq!(lines.status, 422, "{}", lines.status);
    let page = lines.text();
    assert!(page.contains("no output of a tool") && page.contains("longer than 512 KiB"));
    assert!(page.len() < 100_000, "it is not sent back: {}", page.len());
    let figures = DD.to_owned() + &"strange tool: 17.5 MB/s\n".repeat(22_000);
    let page = look(site, figures.as_bytes(), &[]).text();
    assert!(page.contains("21801 more lines") && page.len() < 200_000, "{}", page.len());
    // The text again, as it was too long to be sent back.
    let digest = digest(&page);
    let fields: &[(&str, &[u8])] =
        &[("shown", digest.as_bytes()), ("file", figures.as_bytes()), ("do", b"add")];
    assert!(site.send(form(fields)).text().contains("in the collection"));
    for (text, reason) in [("", "empty"), ("hello", "no output of a tool")] {
        let page = look(site, text.as_bytes(), &[]);
        assert_eq!(page.status, 422);
        assert!(page.text().contains(reason), "{}", page.text());
    }
    let other = Request::post("/import")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from("text=x"))
        .unwrap();
    assert_eq!(site.send(other).status, 415);
    let torn = Request::post("/import")
        .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
        .body(Body::from(format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"text")))
        .unwrap();
    assert_eq!(site.send(torn).status, 400);
}

fn rights_and_limits_are_those_of_a_submission(site: &mut Site) {
    let moderator = site.token(TokenKind::Moderator, "Ada");
    let unknown = look(site, DD.as_bytes(), &[("token", b"0000")]);
    assert_eq!(unknown.status, 401, "{}", unknown.text());
    assert!(unknown.text().contains("is not known here") && unknown.text().contains("copied"));
    site.with(|options| options.quarantine = Quarantine::All);
    assert!(added(site, DD.as_bytes(), &[]).text().contains("waits until a person"));
    assert_eq!(runs(site), (0, 1));
    let token: &[(&str, &[u8])] = &[("token", moderator.as_bytes()), ("label", b"mine")];
    let answer = added(site, DD.as_bytes(), token).text();
    assert!(
        answer.contains("in the collection") && !answer.contains("With this token"),
        "{answer}"
    );
    let mut cross = form(&[("text", DD.as_bytes()), ("do", b"add")]);
    cross.headers_mut().insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert_eq!(site.send(cross).status, 403);

    site.with(|options| (options.per_minute, options.burst) = (1, 3));
    let mut many = String::new();
    for disk in ["sdb", "sdc", "sdd", "sde"] {
        writeln!(many, "{}", DD.replace("sdb", disk)).unwrap();
    }
    let refused = added(site, many.as_bytes(), &[]);
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("at most 3"), "{}", refused.text());
    assert_eq!(look(site, b"hello", &[]).status, 422, "the third");
    let often = look(site, b"hello", &[]);
    assert_eq!(often.status, 429, "{}", often.text());
    assert!(!often.header("retry-after").is_empty());
    assert_eq!(runs(site), (1, 1));
    assert_eq!(site.send(get("/import").body(Body::empty()).unwrap()).status, 200);
}
