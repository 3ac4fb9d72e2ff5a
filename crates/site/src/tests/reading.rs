//! Answers to readers: pages in their forms, complete downloads, nothing sent twice.

use std::io::Read as _;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use axum::http::header::{ACCEPT_ENCODING, IF_NONE_MATCH};
use flate2::read::GzDecoder;
use record::Published;
use record::collection::{HeadlineFigure, Origin, RunHeadline};
use serde_json::{Value, json};
use store::collection::{Address, Submission};
use tower::ServiceExt as _;

use super::{Site, get, on_both, run};

on_both! {
    downloads_are_whole
    the_table_answers_queries
    categories_have_something_in_them
    host_effects_and_effects_of_nothing
    the_one_bad_medium_of_a_line_is_named
}

fn the_one_bad_medium_of_a_line_is_named(site: &mut Site) {
    let slug = site.taken(&run("SanDisk", "Extreme", 1))["slug"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/lines/{slug}/media");
    assert_eq!(site.json(&path), json!({"media": 0, "runs": 0, "apart": []}), "without keys");
    let key = |medium: u64| format!("{medium:032x}");
    for seed in 0..30 {
        let medium = seed % 10;
        let iops = if medium == 7 { 5.0 } else { 100.0 } + seed as f64 / 100.0;
        let one =
            Published { medium_key: Some(key(medium)), ..run("SanDisk", "Extreme", 10 + seed) };
        let headline = RunHeadline {
            figures: [(HeadlineFigure::RandomWrite4k, iops)].into(),
            ..RunHeadline::default()
        };
        let sent = Submission::new(one, headline, Origin::Measured, crate::state::now());
        assert_eq!(site.collection.submit(sent).unwrap().slug, slug);
    }
    let media = site.json(&path);
    assert_eq!((&media["media"], &media["runs"]), (&json!(10), &json!(30)), "{media}");
    let apart = media["apart"].as_array().unwrap();
    assert_eq!(apart.len(), 1, "{media}");
    assert_eq!(apart[0]["medium_key"], key(7), "{media}");
    assert_eq!(apart[0]["runs"].as_array().map(Vec::len), Some(3), "{media}");
    assert_eq!(apart[0]["figures"][0]["figure"], "random-write-4k", "{media}");
    assert_eq!(site.get("/api/v1/lines/none/media").problem(), (404, "not-found".to_owned()));
}

fn downloads_are_whole(site: &mut Site) {
    for seed in 0..5 {
        site.taken(&run("SanDisk", if seed < 3 { "Extreme" } else { "Ultra" }, seed));
    }
    let slug =
        site.json("/api/v1/lines?q=extreme")["lines"][0]["slug"].as_str().unwrap().to_owned();
    let csv = site.get("/data/collection.csv?q=extreme");
    assert!(csv.header("content-type").starts_with("text/csv"));
    assert_eq!(csv.text().lines().count(), 2);
    assert_eq!(site.json("/data/collection.json")["lines"].as_array().map(Vec::len), Some(2));
    let medium = site.json(&format!("/data/medium/{slug}.json"));
    assert_eq!(
        (medium["schema"].as_str(), medium["runs"].as_array().map(Vec::len)),
        (Some("flashmark-medium/1"), Some(3))
    );
    assert_eq!(site.get(&format!("/data/medium/{slug}.csv")).text().lines().count(), 2);
    assert_eq!(site.json("/data/all/runs.json").as_array().map(Vec::len), Some(5));
    assert!(site.get("/data/all/cells.csv").text().lines().count() > 5);
    for parquet in ["runs", "cells"] {
        let file = site.get(&format!("/data/all/{parquet}.parquet")).body;
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"), "{parquet}");
    }
    for missing in [
        "/data/nothing",
        "/data/medium/none.json",
        "/data/medium/none",
        "/data/run/none.json",
        "/data/all/runs.xls",
    ] {
        assert_eq!(site.get(missing).problem().0, 404, "{missing}");
    }
}

fn the_table_answers_queries(site: &mut Site) {
    site.taken(&run("SanDisk", "Extreme", 1));
    site.taken(&run("Samsung", "Evo", 2));
    let text = site.get("/?q=samsung&sort=name").text();
    assert!(text.contains("Samsung EVO") && !text.contains("SanDisk Extreme"));
    let lines = site.json("/api/v1/lines?sort=name&per-page=1&page=2");
    assert_eq!(
        (&lines["total"], &lines["page"], &lines["per_page"]),
        (&2.into(), &2.into(), &1.into())
    );
    assert_eq!(lines["lines"][0]["model"]["vendor"], "sandisk");
    let nonsense =
        site.get("/?page=99999999999999&kind=%27%3B&sort=%00&q=%ff%fe&random-write-4k=NaN");
    assert_eq!(nonsense.status, 200, "{}", nonsense.text());
}

fn categories_have_something_in_them(site: &mut Site) {
    let categories = |site: &Site| {
        let page = site.get("/").text();
        let (_, rest) = page.split_once(r#"<nav class="categories""#).unwrap();
        let links = rest.split_once("</nav>").unwrap().0;
        links
            .split("</a>")
            .filter_map(|link| Some(link.rsplit_once('>')?.1.to_owned()))
            .filter(|name| !name.trim().is_empty())
            .collect::<Vec<_>>()
    };
    assert_eq!(categories(site), ["All"]);
    site.taken(&run("SanDisk", "Extreme", 1));
    assert_eq!(categories(site), ["All", "SD cards"]);
}

fn host_effects_and_effects_of_nothing(site: &mut Site) {
    for (seed, kernel) in ["6.1.0", "6.12.3"].into_iter().enumerate() {
        let mut run = run("SanDisk", "Extreme", seed as u64);
        run.kernel = Some(kernel.to_owned());
        site.taken(&run);
    }
    let slug = site.json("/api/v1/lines")["lines"][0]["slug"].as_str().unwrap().to_owned();
    let effects = site.json(&format!("/api/v1/lines/{slug}/host-effects"));
    let first = &effects[0];
    assert_eq!(
        (&first["facet"], &first["inside"]["runs"]),
        (&"kernel".into(), &1.into()),
        "{effects}"
    );
    assert_eq!(site.get("/api/v1/lines/none/host-effects").problem().0, 404);
}

#[test]
fn a_page_is_sent_once_and_packed_for_who_unpacks() {
    let site = Site::sqlite();
    site.taken(&run("SanDisk", "Extreme", 1));
    let ask =
        |name, value: &str| site.send(get("/").header(name, value).body(Body::empty()).unwrap());
    let plain = site.get("/");
    let packed = ask(ACCEPT_ENCODING, "br, gzip;q=0.5");
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), ("", "gzip"));
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    assert!(packed.body.len() < plain.body.len() / 3);
    assert_eq!(ask(ACCEPT_ENCODING, "gzip;q=0").header("content-encoding"), "");
    let etag = plain.header("etag");
    let again = ask(IF_NONE_MATCH, &format!("\"other\", {etag}"));
    assert_eq!((again.status.as_u16(), again.body.len(), again.header("etag")), (304, 0, etag));
    assert_eq!(ask(IF_NONE_MATCH, "\"other\"").status, 200);
    site.taken(&run("Samsung", "Evo", 2));
    let changed = ask(IF_NONE_MATCH, etag);
    assert!(
        changed.status == 200 && changed.text().contains("Samsung EVO"),
        "a page is made anew once something has changed"
    );
    let head = site.send(Request::head("/").body(Body::empty()).unwrap());
    assert!(
        head.status == 200 && head.body.is_empty() && head.header("etag") == changed.header("etag")
    );
}

#[test]
fn downloads_that_nobody_reads_are_few_and_end() {
    // A collection in memory has one connection, which the first download would hold.
    let dir = tempfile::tempdir().unwrap();
    let site = Site::open(Address::Sqlite(dir.path().join("flashmark.db")), None);
    // More than is buffered for a reader that does not read.
    for seed in 0..160 {
        site.taken(&run("SanDisk", "Extreme", seed));
    }
    let ask = || get("/data/all/runs.json").body(Body::empty()).unwrap();
    let begun: Vec<_> = (0..2)
        .map(|_| site.runtime.block_on(crate::router(site.app.clone()).oneshot(ask())).unwrap())
        .collect();
    let third = site.send(ask());
    assert_eq!(third.problem(), (503, "busy".to_owned()));
    assert!(!third.header("retry-after").is_empty());
    assert_eq!(site.get("/").status, 200, "readers of pages are not held up");
    drop(begun);
    let until = Instant::now() + Duration::from_secs(60);
    while site.app.download(true).is_err() {
        assert!(Instant::now() < until, "a download goes on though its reader has left");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(site.json("/data/all/runs.json").as_array().map(Vec::len), Some(160));
}

#[test]
fn files_of_all_pages_are_kept_for_ever() {
    let site = Site::sqlite();
    for asset in report::collection::assets() {
        let answer = site.get(&format!("/{}", asset.path));
        assert_eq!(answer.text(), asset.text);
        assert_eq!(answer.header("content-type"), asset.media_type);
        assert!(answer.header("cache-control").contains("immutable"));
    }
    assert_eq!(site.get("/assets/other.css").status, 404);
}

#[test]
fn every_page_of_text_is_there() {
    let site = Site::sqlite();
    let names = report::collection::TEXTS.iter().map(|text| text.name);
    for name in names.chain(["methodology", "findings", "about", "api", "compare", "moderation"]) {
        let answer = site.get(&format!("/{name}"));
        assert!(answer.status == 200 && answer.text().contains("<h1"), "{name}: {}", answer.status);
    }
}

#[test]
fn a_site_below_a_path_is_all_below_it() {
    let mut site = Site::sqlite();
    site.with(|options| options.base = Some("https://example.org/cards".parse().unwrap()));
    let receipt = site.taken(&run("SanDisk", "Extreme", 1));
    let slug = receipt["slug"].as_str().unwrap();
    assert_eq!(receipt["page"], format!("/cards/run/{}", receipt["id"].as_str().unwrap()));
    // A proxy in front may have removed the prefix, or not.
    let (kept, taken_off) = (site.get("/cards/"), site.get("/"));
    assert_eq!((kept.status.as_u16(), kept.text()), (200, taken_off.text()));
    for page in [
        "/cards/".to_owned(),
        format!("/cards/medium/{slug}"),
        format!("/cards/compare?m={slug}"),
        "/cards/api".into(),
        "/cards/none".into(),
    ] {
        let text = site.get(&page).text();
        for link in
            ["href=\"/", "action=\"/", "src=\"/"].iter().flat_map(|start| text.split(start).skip(1))
        {
            assert!(
                link.starts_with("cards/"),
                "{page}: /{}",
                link.split('"').next().unwrap_or_default()
            );
        }
    }
    let slash = site.get("/cards");
    assert_eq!((slash.status.as_u16(), slash.header("location")), (308, "/cards/"));
    let feed = site.get("/cards/feed.atom").text();
    assert!(
        feed.contains(&format!("https://example.org/cards/medium/{slug}"))
            && !feed.contains("cards/cards"),
        "{feed}"
    );
    let servers: Value = site.json("/cards/api/v1/openapi.json")["servers"].clone();
    assert_eq!(servers[0]["url"], "/cards");
}
