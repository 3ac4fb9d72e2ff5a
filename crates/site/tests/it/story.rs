//! Journey of a newcomer: a server started with one command, a run from another shell, and then a
//! reader who looks for it on a desktop, on a phone and with the keyboard only. Pages are compared
//! with the stored collection, which is read directly and sorted by simple code.

use std::collections::BTreeSet;
use std::fs;

use record::collection::{CollectionLine, HeadlineFigure, Origin};
use record::{MediumKind, Record};
use serde_json::{Value, json};

use crate::browser::{Browser, DESKTOP, PHONE, Screen};
use crate::environment::{Flashmark, Server, SiteEnvironment};
use crate::runs;

/// The runs that the newcomer has sent.
struct Sent {
    /// Address of the page of the run that imitates a measurement.
    measured_page: String,
    /// Slug of its medium.
    measured: String,
    /// Slug of the simulated card.
    simulated: String,
}

/// Measures a simulated card, submits it, and submits an imitation of a measurement on a card
/// called "Newcomer Zwölf".
fn sends(server: &Server) -> Sent {
    let flashmark = Flashmark::new();
    flashmark.done(&["run", "sim:class10", "--suite", "quick", "--quiet"]);
    let simulated =
        page_of(&flashmark.done(&["submit", "latest", "--to", &server.base(), "--yes"]), server);
    let file = flashmark.home().join("run.json");
    let record = runs::measured("Newcomer", "Zwölf", 12).to_record("zwoelf");
    fs::write(&file, serde_json::to_string(&record).unwrap()).unwrap();
    let measured_page = page_of(
        &flashmark.done(&["submit", file.to_str().unwrap(), "--to", &server.base(), "--yes"]),
        server,
    );
    Sent {
        measured: slug_of(server, &measured_page),
        simulated: slug_of(server, &simulated),
        measured_page,
    }
}

/// Address of the run's page in the output of `flashmark submit`.
fn page_of(output: &str, server: &Server) -> String {
    let start = format!("{}/run/", server.base());
    let at =
        output.find(&start).unwrap_or_else(|| panic!("it does not say where the run is: {output}"));
    output[at..]
        .split(|c: char| c.is_whitespace() || c == ')' || c == ',')
        .next()
        .unwrap()
        .trim_end_matches('.')
        .to_owned()
}

/// Slug of the medium of a run, from the API.
fn slug_of(server: &Server, page: &str) -> String {
    let id = page.rsplit('/').next().unwrap();
    let entry = server.json(&format!("/api/v1/runs/{id}"));
    let lines = server.json("/api/v1/lines?origin=measured&origin=imported&origin=simulated");
    let lines = lines["lines"].as_array().unwrap();
    let line = lines
        .iter()
        .find(|line| line["model"] == entry["model"] && line["origin"] == entry["origin"]);
    line.unwrap_or_else(|| panic!("no line has the run {id}"))["slug"].as_str().unwrap().to_owned()
}

/// The lines that match, sorted by a figure, best first, those without it last. The code is as
/// simple as possible.
fn naive(
    environment: &SiteEnvironment,
    fits: impl Fn(&CollectionLine) -> bool,
    figure: HeadlineFigure,
    turned: bool,
) -> Vec<String> {
    let all = environment.collection().all_lines().unwrap();
    let mut lines: Vec<&CollectionLine> = all.iter().filter(|line| fits(line)).collect();
    let worth = |line: &CollectionLine| {
        line.figures
            .get(&figure)
            .map(|spread| if figure.smaller_is_better() { -spread.median } else { spread.median })
    };
    lines.sort_by(|a, b| match (worth(a), worth(b)) {
        (Some(a), Some(b)) if turned => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
    lines.iter().map(|line| line.slug.clone()).collect()
}

/// A browser. Screenshots are kept for one database only: pages look the same on the other.
fn browser(environment: &SiteEnvironment, screen: Screen) -> Option<Browser> {
    let mut browser = Browser::start(screen)?;
    browser.keeps_pictures = environment.name() == "sqlite";
    Some(browser)
}

/// Media in the table from top to bottom.
fn rows(browser: &mut Browser) -> Vec<String> {
    let rows = browser.value(
        r##"[...document.querySelectorAll("#lines tbody input[name=m]")].map((box) => box.value)"##,
    );
    rows.as_array().unwrap().iter().map(|slug| slug.as_str().unwrap().to_owned()).collect()
}

/// Asserts that the table shows these media, in the order of the figure; a page has at most fifty
/// lines.
fn shows(
    browser: &mut Browser,
    environment: &SiteEnvironment,
    figure: HeadlineFigure,
    wanted: &[String],
) {
    let shown = rows(browser);
    assert_eq!(shown.len(), wanted.len().min(50), "at {}", browser.address());
    let lines = environment.collection().all_lines().unwrap();
    let value = |slug: &String| {
        lines
            .iter()
            .find(|line| line.slug == *slug)
            .unwrap()
            .figures
            .get(&figure)
            .map(|spread| spread.median)
    };
    let values = |slugs: &[String]| slugs.iter().map(value).collect::<Vec<_>>();
    assert_eq!(
        values(&shown),
        values(&wanted[..shown.len()]),
        "the order at {}",
        browser.address()
    );
    let known: BTreeSet<&String> = wanted.iter().collect();
    assert!(
        shown.iter().all(|slug| known.contains(slug)),
        "more than was asked for at {}",
        browser.address()
    );
}

/// On a desktop: everything, with the mouse.
pub fn at_a_desk(environment: &SiteEnvironment) {
    let Some(mut browser) = browser(environment, DESKTOP) else { return };
    let server = environment.serve(&[]);
    let sent = sends(&server);
    browser.open(&server.base());
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot("desk-table");
    searches(&mut browser, &sent);
    filters_and_sorts(&mut browser, environment);
    browser.shot("desk-filtered");
    downloads(&mut browser, &server);
    hides_a_column(&mut browser, &server);
    reads_the_medium(&mut browser, &server, &sent);
    compares(&mut browser, &server, &sent);
    browser.is_quiet();
    server.is_sound();
    server.end();
}

/// A measured run is found by its name; a simulated one only if simulated media are selected.
fn searches(browser: &mut Browser, sent: &Sent) {
    browser.fill("input[name=q]", "zwölf newcomer");
    browser.follow("#filter button");
    assert_eq!(rows(browser), [sent.measured.as_str()]);
    assert!(browser.text("document.getElementById('summary').textContent").starts_with("1 medium"));
    browser.fill("input[name=q]", "class10");
    browser.follow("#filter button");
    assert!(
        !rows(browser).contains(&sent.simulated),
        "a simulated card stands among the real ones"
    );
    browser.click("#filter details summary");
    browser.click("input[name=origin][value=simulated]");
    browser.follow("#filter button");
    assert_eq!(rows(browser), [sent.simulated.as_str()]);
    browser.follow("#filter .reset");
}

/// Filters by kind and capacity, then sorts by another column, then in reverse.
fn filters_and_sorts(browser: &mut Browser, environment: &SiteEnvironment) {
    let fits = |line: &CollectionLine| {
        line.origin != Origin::Simulated
            && line.model.kind == MediumKind::Sd
            && (4..=32).contains(&line.model.capacity_gb)
    };
    browser.click("#filter details summary");
    browser.click("input[name=kind][value=sd]");
    browser.fill("input[name=from-gb]", "4");
    browser.fill("input[name=to-gb]", "32");
    browser.follow("#filter button");
    let best = naive(environment, fits, HeadlineFigure::RandomWrite4k, false);
    assert!(best.len() > 2, "the reference collection has SD cards: {best:?}");
    shows(browser, environment, HeadlineFigure::RandomWrite4k, &best);
    assert_eq!(
        browser.value("document.querySelector('input[name=from-gb]').value"),
        "4",
        "the form keeps what was asked"
    );
    for (turned, order) in [(false, "ascending"), (true, "descending")] {
        browser.follow("#lines th[data-key=worst-stall] a");
        shows(
            browser,
            environment,
            HeadlineFigure::WorstStall,
            &naive(environment, fits, HeadlineFigure::WorstStall, turned),
        );
        let sort = browser.text(
            "document.querySelector('#lines th[data-key=worst-stall]').getAttribute('aria-sort')",
        );
        assert_eq!(sort, order);
    }
}

/// The content of the table as CSV and as JSON: the same media in the same order, with their
/// figures.
fn downloads(browser: &mut Browser, server: &Server) {
    let shown = rows(browser);
    let (name, csv) = browser.downloaded(|browser| browser.click("a[data-download=CSV]"));
    assert!(name.ends_with(".csv"), "{name}");
    let (name, all) = browser.downloaded(|browser| browser.click("a[data-download=JSON]"));
    assert!(name.ends_with(".json"), "{name}");
    let all: Value = serde_json::from_slice(&all).unwrap();
    let lines = all["lines"].as_array().unwrap();
    let slugs: Vec<&str> = lines.iter().map(|line| line["slug"].as_str().unwrap()).collect();
    assert_eq!(slugs, shown);
    let mut reader = csv::Reader::from_reader(&csv[..]);
    let heads = reader.headers().unwrap().clone();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), lines.len());
    for (record, line) in records.iter().zip(lines) {
        let field = |name: &str| {
            &record[heads
                .iter()
                .position(|head| head == name)
                .unwrap_or_else(|| panic!("no column {name}"))]
        };
        assert_eq!(field("medium"), line["slug"].as_str().unwrap());
        let median = &line["figures"]["random-write-4k"]["median"];
        assert_eq!(
            field("random_write_4k_iops").parse::<f64>().ok(),
            median.as_f64(),
            "{}",
            field("medium")
        );
    }
    let query = browser.text("location.search");
    assert_eq!(
        server.get(&format!("/data/collection.csv{query}")).body,
        csv,
        "the address gives the same as the link"
    );
}

/// A hidden column stays hidden on the next page.
fn hides_a_column(browser: &mut Browser, server: &Server) {
    let display = "getComputedStyle(document.querySelector('#lines thead .c5')).display";
    assert_eq!(browser.text(display), "table-cell");
    browser.click(".columns summary");
    browser.click("#show-c5");
    assert_eq!(browser.text(display), "none");
    browser.open(&format!("{}/?kind=sd", server.base()));
    assert_eq!(browser.text(display), "none");
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('#lines tbody .c5')).display"),
        "none"
    );
    browser.click(".columns summary");
    browser.click("#show-c5");
    assert_eq!(browser.text(display), "table-cell");
}

/// From the table to the medium, to its run, and to all its numbers.
fn reads_the_medium(browser: &mut Browser, server: &Server, sent: &Sent) {
    browser.open(&format!("{}/?q=newcomer", server.base()));
    browser.follow("#lines tbody th a");
    assert_eq!(browser.address(), format!("{}/medium/{}", server.base(), sent.measured));
    assert!(browser.text("document.querySelector('h1').textContent").contains("Newcomer Zwölf"));
    assert_ne!(browser.value("document.querySelectorAll('figure svg').length"), json!(0), "charts");
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("desk-medium");
    let (_, medium) = browser.downloaded(|browser| browser.click(".downloads a"));
    let medium: Value = serde_json::from_slice(&medium).unwrap();
    assert_eq!(medium["runs"].as_array().map(Vec::len), Some(1));
    browser.follow("table.runs tbody th a");
    assert_eq!(browser.address(), sent.measured_page);
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("desk-run");
    let id = sent.measured_page.rsplit('/').next().unwrap();
    let record = Record::from_json(&server.get(&format!("/data/run/{id}.json")).text()).unwrap();
    assert_eq!(
        record.cells,
        runs::measured("Newcomer", "Zwölf", 12).cells,
        "every number is there, to the last histogram"
    );
}

/// Comparison of the newcomer's card with two of the reference collection.
fn compares(browser: &mut Browser, server: &Server, sent: &Sent) {
    browser.open(&format!("{}/?q=newcomer", server.base()));
    browser.click("#lines input[name=m]");
    browser.open(&format!("{}/?origin=reference&kind=sd", server.base()));
    let others = rows(browser);
    for slug in &others[..2] {
        browser.click(&format!("#lines input[value='{slug}']"));
    }
    assert!(
        browser.text("document.getElementById('compare-button').textContent").contains("Compare 3")
    );
    browser.follow("#compare-button");
    let heads = browser.value("[...document.querySelectorAll('table.side thead a[href*=\"/medium/\"]')].map((a) => a.pathname)");
    let wanted: Vec<String> = [&sent.measured, &others[0], &others[1]]
        .iter()
        .map(|slug| format!("/medium/{slug}"))
        .collect();
    assert_eq!(heads, json!(wanted));
    assert_ne!(browser.value("document.querySelectorAll('table.side tbody tr').length"), json!(0));
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("desk-compare");
}

/// On a phone: the same by touch, and no page wider than the screen.
pub fn on_a_phone(environment: &SiteEnvironment) {
    let Some(mut browser) = browser(environment, PHONE) else { return };
    let server = environment.serve(&[]);
    let sent = sends(&server);
    browser.open(&server.base());
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot("phone-table");
    searches(&mut browser, &sent);
    filters_and_sorts(&mut browser, environment);
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("phone-filtered");
    downloads(&mut browser, &server);
    hides_a_column(&mut browser, &server);
    browser.open(&format!("{}/?q=newcomer", server.base()));
    browser.click("#lines input[name=m]");
    browser.follow("#lines tbody th a");
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("phone-medium");
    browser.follow("table.runs tbody th a");
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("phone-run");
    browser.open(&format!("{}/?origin=reference", server.base()));
    browser.click("#lines tbody tr:nth-child(1) input[name=m]");
    browser.follow("#compare-button");
    browser.fits_the_screen();
    browser.has_no_barriers();
    browser.shot_whole("phone-compare");
    for page in
        ["compare", "methodology", "about", "glossary", "findings", "medium/none", "run/none"]
    {
        browser.open(&format!("{}/{page}", server.base()));
        browser.fits_the_screen();
        browser.has_no_barriers();
        browser.shot(&format!("phone-page-{}", page.replace('/', "-")));
    }
    let expected = |complaint: &String| complaint.contains("404");
    let complaints: Vec<String> =
        browser.complaints().into_iter().filter(|complaint| !expected(complaint)).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    server.is_sound();
}

/// Measurements on this machine's storage and results of another tool are stored beside published
/// figures, each with its own origin.
pub fn what_is_measured_here_and_elsewhere_comes_in(environment: &SiteEnvironment) {
    let server = environment.serve(&[]);
    let flashmark = Flashmark::new();
    // The build directory is on a disk; a directory for temporary files may be in memory.
    let category = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = category.path().to_str().unwrap();
    let suite = [
        "--suite",
        "quick",
        "--only",
        "random-read",
        // It ends by count, however slow the machine is.
        "--set",
        "random-read.iterations=2000",
        "--set",
        "random-read.max_time=2m",
        "--time-limit",
        "2m",
        "--label",
        "Newcomer category",
        "--quiet",
    ];
    flashmark.done(&[&["run", directory], &suite[..]].concat());
    let here =
        page_of(&flashmark.done(&["submit", "latest", "--to", &server.base(), "--yes"]), &server);
    let fixture =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/import/fio_randwrite-4k-qd1.json");
    flashmark.done(&["import", fixture]);
    let elsewhere =
        page_of(&flashmark.done(&["submit", "latest", "--to", &server.base(), "--yes"]), &server);
    for (page, origin) in [(&here, Origin::Measured), (&elsewhere, Origin::Imported)] {
        let run = server.json(&format!("/api/v1/runs/{}", page.rsplit('/').next().unwrap()));
        assert_eq!(
            (&run["origin"], &run["status"]),
            (&json!(origin), &json!("accepted")),
            "{page}"
        );
        let slug = slug_of(&server, page);
        let table = server.get(&format!("/?origin={}", origin.name())).text();
        assert!(table.contains(&format!("/medium/{slug}")), "{slug} is not in the table");
        assert_eq!(server.get(&format!("/medium/{slug}")).status, 200);
        let json_text = run.to_string();
        assert!(
            !json_text.contains(directory)
                && !json_text.contains(flashmark.home().to_str().unwrap()),
            "a path is published"
        );
    }
    server.is_sound();
    server.end();
}

/// With the keyboard only: Tab, Enter, Space and arrows reach everything, and the focus is always
/// visible.
pub fn by_keyboard(environment: &SiteEnvironment) {
    let Some(mut browser) = browser(environment, DESKTOP) else { return };
    let server = environment.serve(&[]);
    let sent = sends(&server);
    browser.open(&server.base());
    browser.press("Tab");
    let first = browser.focus().expect("something takes the focus");
    assert!(first.seen && first.words.contains("Skip to the content"), "{first:?}");
    browser.shot("keyboard-first");
    browser.tab_to("input[name=q]");
    browser.type_text("newcomer");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(rows(&mut browser), [sent.measured.as_str()]);
    browser.tab_to("#lines input[name=m]");
    browser.press("Space");
    browser.tab_to("#lines tbody th a");
    browser.shot("keyboard-table");
    browser.leads_on(|browser| browser.press("Enter"));
    assert_eq!(browser.address(), format!("{}/medium/{}", server.base(), sent.measured));
    browser.tab_to(".home");
    browser.leads_on(|browser| browser.press("Enter"));
    filters_by_keyboard(&mut browser);
    sorts_and_hides_by_keyboard(&mut browser);
    compares_by_keyboard(&mut browser, &server, &sent);
    browser.is_quiet();
    server.is_sound();
}

fn filters_by_keyboard(browser: &mut Browser) {
    browser.tab_to("#filter details summary");
    browser.press("Space");
    browser.tab_to("input[name=kind][value=sd]");
    browser.press("Space");
    browser.tab_to("input[name=from-gb]");
    browser.type_text("8");
    browser.tab_to("select[name=fakes]");
    browser.press("ArrowDown");
    browser.tab_to("input[name=random-read-4k]");
    browser.leads_on(|browser| browser.press("Enter"));
    let asked = browser.text("location.search");
    assert!(
        ["kind=sd", "from-gb=8", "fakes=none"].iter().all(|part| asked.contains(part)),
        "{asked}"
    );
}

fn sorts_and_hides_by_keyboard(browser: &mut Browser) {
    browser.tab_to(".columns summary");
    browser.press("Enter");
    browser.tab_to("#show-c0");
    browser.press("Space");
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('#lines thead .c0')).display"),
        "none"
    );
    browser.press("Space");
    // Wide content is scrolled with the arrows.
    browser.tab_to(".scroll");
    for _ in 0..5 {
        browser.press("ArrowRight");
    }
    browser.until_true("document.activeElement.scrollLeft > 0");
    browser.tab_to("#lines th[data-key=sequential-write] a");
    browser.leads_on(|browser| browser.press("Enter"));
    assert!(browser.text("location.search").contains("sort=sequential-write"));
}

fn compares_by_keyboard(browser: &mut Browser, server: &Server, sent: &Sent) {
    browser.tab_to(".categories a[href*='origin=reference']");
    browser.leads_on(|browser| browser.press("Enter"));
    browser.tab_to("#lines tbody tr:nth-child(1) input[name=m]");
    browser.press("Space");
    browser.tab_to("#lines tbody tr:nth-child(2) input[name=m]");
    browser.press("Space");
    browser.tab_back_to("#compare-button");
    browser.leads_on(|browser| browser.press("Enter"));
    let address = browser.address();
    assert!(
        address.starts_with(&format!("{}/compare?m={}&m=", server.base(), sent.measured)),
        "{address}"
    );
    assert_eq!(browser.value("document.querySelectorAll('table.side thead th').length"), json!(4));
    browser.tab_to("footer a");
}
