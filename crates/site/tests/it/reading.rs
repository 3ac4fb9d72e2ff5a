//! Guarantees for readers: pages need no script, set no cookie, comply with their own content
//! security policy, and are small enough for a slow phone.

use std::io::{self, Write as _};

use serde_json::json;

use crate::browser::{Browser, DESKTOP, PHONE};
use crate::environment::{Server, SiteEnvironment};
use crate::http::Request;
use crate::runs;

/// Most bytes of the table page on the wire, with all its files.
const MAX_BYTES: u64 = 300_000;

/// Table, filter, medium, run and comparison, in a browser without scripts.
#[test]
fn without_scripts_everything_can_be_read() {
    let Some(mut browser) = Browser::start(DESKTOP) else { return };
    let server = SiteEnvironment::sqlite().into_server();
    let sent = server.submit(&runs::measured("Newcomer", "Thirteen", 13));
    assert_eq!(sent.status, 201, "{}", sent.text());
    let slug = sent.json()["slug"].as_str().unwrap().to_owned();
    browser.set_scripts(false);
    browser.open(&server.base());
    browser.click("input[name=q]");
    browser.type_text("thirteen");
    browser.follow("#filter button");
    assert!(browser.address().contains("q=thirteen"));
    assert_eq!(browser.value("document.querySelectorAll('#lines tbody tr').length"), json!(1));
    browser.follow("#lines tbody th a");
    assert!(browser.address().ends_with(&format!("/medium/{slug}")));
    browser.follow("table.runs tbody th a");
    assert!(browser.address().contains("/run/"));
    browser.open(&format!("{}/?origin=reference&sort=sequential-write", server.base()));
    // The style sheet alone hides a column.
    browser.click(".columns summary");
    browser.click("#show-c1");
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('#lines thead .c1')).display"),
        "none"
    );
    browser.follow("#lines th[data-key=name] a");
    for row in 1..=2 {
        browser.click(&format!("#lines tbody tr:nth-child({row}) input[name=m]"));
    }
    browser.follow("#compare-button");
    assert_eq!(browser.value("document.querySelectorAll('table.side thead th').length"), json!(3));
    browser.shot_whole("without-scripts-compare");
    browser.is_quiet();
}

/// Every page that a reader can reach follows its policy, sets no cookie, and has a cache time.
#[test]
fn pages_keep_their_policy_and_nobody_gets_a_cookie() {
    let server = SiteEnvironment::sqlite().into_server();
    let sent = server.submit(&runs::measured("Newcomer", "Fourteen", 14)).json();
    let (slug, id) = (sent["slug"].as_str().unwrap(), sent["id"].as_str().unwrap());
    let pages = [
        "/",
        "/?q=a&kind=sd",
        "/compare",
        "/methodology",
        "/about",
        "/findings",
        "/glossary",
        "/tests",
        "/sources",
        "/feed.atom",
    ];
    let data =
        ["/data/collection.csv", "/data/collection.json", "/api/v1/openapi.json", "/api/v1/lines"];
    let own = [
        format!("/medium/{slug}"),
        format!("/run/{id}"),
        format!("/compare?m={slug}"),
        format!("/data/medium/{slug}.json"),
        format!("/data/run/{id}.json"),
    ];
    let moderation = [
        "/moderation",
        "/healthz",
        "/readyz",
        "/metrics",
        "/nothing/here",
        "/medium/none",
        "/run/none",
    ];
    let all = pages.into_iter().chain(data).chain(moderation).map(str::to_owned).chain(own);
    for page in all {
        let answer = server.get(&page);
        let wanted = if page.contains("no") && (page.contains("/none") || page.contains("/nothing"))
        {
            404
        } else {
            200
        };
        assert_eq!(answer.status, wanted, "{page}: {}", answer.text());
        assert!(!answer.heads.contains_key("set-cookie"), "{page}: {:?}", answer.heads);
        assert_eq!(answer.head("content-security-policy"), report::collection::POLICY, "{page}");
        assert_eq!(answer.head("x-content-type-options"), "nosniff", "{page}");
        assert!(answer.heads.contains_key("referrer-policy"), "{page}");
        holds_no_markup_of_scripts(&page, &answer.text());
    }
    // A page that a reader has already is not sent again.
    let first = server.get("/");
    let again = server.send(&Request::new("GET", "/").head("if-none-match", first.head("etag")));
    assert_eq!((again.status, again.body.len()), (304, 0), "{:?}", first.heads);
}

/// Asserts that a page has no inline script or style, which the policy would block.
fn holds_no_markup_of_scripts(page: &str, text: &str) {
    if !text.starts_with("<!DOCTYPE html>") {
        return;
    }
    for script in text.split("<script").skip(1) {
        let (head, rest) = script.split_once('>').unwrap();
        assert!(
            head.contains("src=") && rest.starts_with("</script>"),
            "{page}: a script inside the page"
        );
    }
    let text = text.to_ascii_lowercase();
    for forbidden in [" onclick=", " onload=", " onerror=", "javascript:", "<style", "<iframe"] {
        assert!(!text.contains(forbidden), "{page}: {forbidden}");
    }
}

/// In a browser, the policy blocks nothing that a page needs, on any page.
#[test]
fn no_page_wants_what_its_policy_refuses() {
    let Some(mut browser) = Browser::start(DESKTOP) else { return };
    let server = SiteEnvironment::sqlite().into_server();
    let sent = server.submit(&runs::measured("Newcomer", "Fifteen", 15)).json();
    let own = [
        format!("/medium/{}", sent["slug"].as_str().unwrap()),
        format!("/run/{}", sent["id"].as_str().unwrap()),
    ];
    let pages = [
        "/",
        "/compare",
        "/methodology",
        "/about",
        "/findings",
        "/glossary",
        "/tests",
        "/sources",
        "/truth",
        "/agreement",
        "/moderation",
    ];
    for page in pages.into_iter().map(str::to_owned).chain(own) {
        browser.open(&format!("{}{page}", server.base()));
        browser.fits_the_screen();
        let name = page.trim_matches('/').split('/').next().unwrap_or_default();
        browser.shot(&format!("desk-page-{name}"));
    }
    browser.is_quiet();
}

/// The table with the whole reference collection is small. Its loading time is printed but not
/// checked: that is done by `cargo validation bench`.
#[test]
fn the_table_is_light_enough_for_a_slow_phone() {
    let Some(mut browser) = Browser::start(PHONE) else { return };
    let server = SiteEnvironment::sqlite().into_server();
    for (name, latency_ms, bytes_a_second) in [("slow 4G", 150, 204_800), ("slow 3G", 400, 50_000)]
    {
        browser.set_slow_phone(latency_ms, bytes_a_second);
        let cost = browser.cost(&server.base());
        assert!(cost.bytes > 5_000 && cost.bytes <= MAX_BYTES, "{cost:?}");
        let summary = format!(
            "the table on a phone, {name}, a quarter of this processor: {} bytes in {} files, readable after {:.0} ms, loaded after {:.0} ms\n",
            cost.bytes, cost.requests, cost.readable_ms, cost.loaded_ms
        );
        io::stderr().write_all(summary.as_bytes()).unwrap();
    }
    // It can be used: the form and the table are there, and answer.
    browser.fill("input[name=q]", "samsung");
    browser.follow("#filter button");
    assert_ne!(browser.value("document.querySelectorAll('#lines tbody tr').length"), json!(0));
}

impl SiteEnvironment {
    /// A server that owns this environment.
    fn into_server(self) -> Grounded {
        Grounded { server: self.serve(&[]), _ground: self }
    }
}

/// A server together with its environment.
struct Grounded {
    server: Server,
    _ground: SiteEnvironment,
}

impl std::ops::Deref for Grounded {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}
