use record::collection::{
    CollectionLine, CollectionRun, HeadlineFigure, HostSpread, Origin, Page, Query,
};
use record::{MediumKind, Published, Record};
use serde_json::{Value, json};

use super::*;
use crate::demo;

mod markup;

fn tree() -> SiteInfo {
    SiteInfo {
        title: "Cards & sticks".into(),
        categories: None,
        submit_to: Some("our/cards".into()),
    }
}

fn medium(site: &SiteInfo, line: &CollectionLine, entries: &[CollectionRun]) -> String {
    medium_beside(site, line, entries, &[])
}

fn compare(site: &SiteInfo, media: &[(CollectionLine, Vec<CollectionRun>)]) -> String {
    compare_kind(site, MediumKind::Sd, media)
}

fn entry(id: &str, record: &Record) -> CollectionRun {
    let run = Published::from(record);
    let mut entry: CollectionRun = serde_json::from_value(json!({
        "id": id, "received": "2026-11-20T10:00:00Z", "origin": "measured", "run": run,
        "model": { "kind": "sd", "vendor": "a", "model": "b", "capacity_gb": 32 },
        "headline": {
            "figures": { "random-write-4k": 1234.5, "worst-stall": 85e6, "sequential-write": 31e6 },
            "verdict": "good for a camera, not suitable for a root disk", "faults": ["span-cache"],
        },
    }))
    .unwrap();
    entry.model.kind = entry.run.kind;
    entry
}

fn line(slug: &str, name: &str, random_write: f64) -> CollectionLine {
    let spread = |median: f64, low: f64, high: f64, runs: u64, hosts: u64| HostSpread {
        median,
        low: median * low,
        high: median * high,
        runs,
        hosts,
        ..HostSpread::default()
    };
    let (write, stall) = (spread(random_write, 0.9, 1.2, 3, 2), spread(3.17e9, 1.0, 1.0, 1, 1));
    serde_json::from_value(json!({
        "slug": slug, "name": name, "origin": "measured", "interface": "sd uhs-i",
        "model": { "kind": "sd", "vendor": "a", "model": "b", "capacity_gb": 32 },
        "classes": ["C10", "A1"], "runs": 3, "senders": 0, "fakes": 0, "damaged": 0,
        "is_fake": false, "is_damaged": false, "is_listed": true,
        "figures": { "random-write-4k": write, "worst-stall": stall },
        "verdict": "fine as a camera card", "latest": "2026-11-20T10:00:00Z",
    }))
    .unwrap()
}

fn two() -> Page {
    let mut fake = line("mega-512", "MegaStick 512 GB", 12.0);
    (fake.is_fake, fake.origin, fake.model.kind) = (true, Origin::Imported, MediumKind::Usb);
    Page { lines: vec![line("sandisk-32", "SanDisk SD32G 32 GB", 1234.5), fake], total: 2 }
}

/// Visible text of a part of a page, between two marks; a line for each row of a table.
fn read(page: &str, from: &str, to: &str) -> String {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("{from} is in the page"));
    let (part, _) = rest.split_once(to).unwrap_or_else(|| panic!("{to} is in the page"));
    let text = part
        .replace("</tr>", "\n")
        .replace("</td>", " | ")
        .replace("</th>", " | ")
        .replace("<small>", " / ");
    let bare: String = text
        .split('<')
        .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text))
        .collect();
    bare.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_table_has_random_writes_first_and_stalls_second() {
    let page = table(&tree(), &two(), &Query::default());
    markup::check(&page);
    insta::assert_snapshot!(read(&page, "<thead>", "</table>"), @r#"
    Compare | Medium | Random write, 4 KiB / IOPS | Slowest small write | Random write, 512 B / IOPS | Random write, 16 KiB / IOPS | Random write, 64 KiB / IOPS | Sequential write / MB/s | Random read, 4 KiB / IOPS | Sequential read / MB/s | Seek, 512 B / IOPS | Fill, random data / MB/s | Fill, zeros / MB/s | Capacity / GB | Runs | Latest | Interface | Verdict |
    | SanDisk SD32G 32 GB / SD card · C10 A1 | 1234 / 14× disk, A1 / 1111–1481, 3 runs, 2 hosts | 3.17 s / 13× limit / 1 run | – | – | – | – | – | – | – | – | – | 32 | 3 | 2026-11-20 | sd uhs-i | fine as a camera card |
    | MegaStick 512 GB fake imported / USB stick · C10 A1 | 12.0 / 0.13× disk / 10.8–14.4, 3 runs, 2 hosts | 3.17 s / 13× limit / 1 run | – | – | – | – | – | – | – | – | – | 32 | 3 | 2026-11-20 | sd uhs-i | fine as a camera card |
    "#);
    insta::assert_snapshot!(read(&page, "id=\"summary\"", "</p>"), @r#"2 media, fastest random write, 4 KiB first"#);
}

#[test]
fn a_category_is_ticked_in_the_form_and_its_pages_lead_on() {
    let asked = Query { kinds: vec![MediumKind::Sd], page: 1, ..Query::default() };
    let page = table(&tree(), &Page { total: 120, ..two() }, &asked);
    markup::check(&page);
    for kept in [
        r#"value="sd" checked"#,
        r#"<span id="more">: 1 set</span>"#,
        "120 media, number 51 to 52",
        r#"href="kind-sd.html" rel="prev""#,
        r#"data-query="kind=sd""#,
    ] {
        assert!(page.contains(kept), "{kept}: {page}");
    }
}

#[test]
fn a_page_of_fifty_lines_stays_small() {
    let mut line = line("medium-number-10", "SanDisk Extreme Pro SD32G 10 32 GB", 1234.5);
    let spread = line.figures[&HeadlineFigure::RandomWrite4k];
    line.figures = HeadlineFigure::ALL.into_iter().map(|figure| (figure, spread)).collect();
    let lines = (0..50).map(|at| CollectionLine { slug: format!("number-{at}"), ..line.clone() });
    let page = table(&tree(), &Page { lines: lines.collect(), total: 50 }, &Query::default());
    let all = page.len() + assets().iter().map(|asset| asset.text.len()).sum::<usize>();
    assert!(all < 300_000, "{all} bytes before compression, style and script included");
}

/// Regression: the newest run with most cells set the headline, whoever had sent it.
#[test]
fn one_sender_makes_no_headline() {
    let mut line = line("sandisk-32", "SanDisk SD32G 32 GB", 1234.5);
    (line.senders, line.shown) = (3, Some("honest".into()));
    let mut honest = entry("honest", &demo::good());
    honest.headline.verdict = line.verdict.clone();
    let mut liar = entry("liar", &demo::slow_card());
    liar.headline.verdict = Some("do not use it".into());
    liar.run.cells.extend(honest.run.cells.clone());
    let verdict = |entries: &[CollectionRun]| {
        let page = medium(&tree(), &line, entries);
        let start = page.find("class=\"findings verdict\"").expect("it has a verdict");
        page[start..page.find("id=\"figures\"").expect("it has figures")].to_owned()
    };
    assert_eq!(verdict(&[liar, honest.clone()]), verdict(&[honest]));
}

#[test]
fn the_page_of_a_medium_begins_with_its_verdict_and_lists_every_run() {
    let mut fake = entry("run-3", &demo::slow_card());
    fake.headline.is_fake = true;
    let mut other = entry("run-2", &demo::good());
    other.run.board = Some("Another board".into());
    other.headline.figures.insert(HeadlineFigure::RandomWrite4k, 400.0);
    let entries = [entry("run-1", &demo::good()), other, fake];
    let mut beside = line("sandisk-32-reference", "SanDisk SD32G 32 GB", 900.0);
    beside.origin = Origin::Reference;
    let page = medium_beside(
        &tree(),
        &CollectionLine { fakes: 1, ..line("sandisk-32", "SanDisk SD32G 32 GB", 1234.5) },
        &entries,
        &[beside],
    );
    markup::check(&page);
    let verdict = page.find("fine as a camera card").or(page.find("class=\"findings verdict\""));
    assert!(verdict.is_some() && verdict < page.find("id=\"figures\""), "the verdict comes first");
    insta::assert_snapshot!(read(&page, "id=\"figures\"", "</table>"), @"
    Figures
    Median of each figure, how far the runs are apart, and how it compares with the yardsticks
    What | Median | Lowest to highest | Runs | Against the yardsticks |
    Random write, 4 KiB | 1234 IOPS | 1111 to 1481 IOPS | 3 runs, 2 hosts | 14 times a 5400 rpm laptop disk (90 IOPS); reaches application class A1 (500 IOPS), not A2 (2000 IOPS) |
    Slowest small write | 3.17 s | – | 1 run | 13 times the 250 ms that an SD card may be busy with a write (an SDXC card 500 ms) |
    ");
    insta::assert_snapshot!(read(&page, "id=\"beside\"", "</section>"), @"
    The same model elsewhere
    Other lines of this model, not counted with it
    What | Origin | Random write, 4 KiB | Slowest small write | Sequential write | Random read, 4 KiB |
    SanDisk SD32G 32 GB | published by others | 900 IOPS | 3.17 s | – | – |
    Shown separately: these figures are not part of those above.
    ");
    insta::assert_snapshot!(read(&page, "id=\"runs\"", "</section>"), @r#"
    Runs
    Every run, newest first
    Run | Random write, 4 KiB | Slowest small write | Sequential write | Random read, 4 KiB | Where | How |
    2026-11-20 / measured by Flashmark / random write faster than 1 of 2 / from the camera drawerspan cache | 1234 IOPS | 85.0 ms | 31.0 MB/s | – | Raspberry Pi 4 Model B Rev 1.4 / sdhci-iproc, DDR50, 4 bit, 50 MHz | suite standard, flashmark 0.1.0 / Linux 6.12.9, the raw medium, scheduler mq-deadline, governor ondemand |
    2026-11-20 / measured by Flashmark / random write slower than 2 of 2 / from the camera drawerspan cache | 400 IOPS | 85.0 ms | 31.0 MB/s | – | Another board / sdhci-iproc, DDR50, 4 bit, 50 MHz | suite standard, flashmark 0.1.0 / Linux 6.12.9, the raw medium, scheduler mq-deadline, governor ondemand |
    2026-11-20 / measured by Flashmark / random write faster than 1 of 2 / from the camera drawerspan cache, a fake | 1234 IOPS | 85.0 ms | 31.0 MB/s | – | Raspberry Pi 4 Model B Rev 1.4 / sdhci-iproc, DDR50, 4 bit, 50 MHz | suite standard, flashmark 0.1.0 / Linux 6.12.9, the raw medium, scheduler mq-deadline, governor ondemand |
    What leads from a date is all that is published of that run, with every latency as a histogram. A run's JSON file is a record: flashmark report FILE --html PAGE makes its full page, flashmark compare FILE FILE holds it against another.
    "#);
    assert!(
        page.contains("Random write IOPS</figcaption>")
            && page.contains("1 of 3 reports a fake; it takes three senders"),
        "{page}"
    );
}

#[test]
fn only_the_built_in_data_leads_elsewhere() {
    let mut run = entry("run-1", &demo::good());
    run.run.flags = vec![record::Flag::Note {
        text: "published by others, 2007-07-07: http://cards.example/bench".into(),
    }];
    let mut of = |origin| {
        run.origin = origin;
        let page = medium(&tree(), &line("a", "a", 1.0), std::slice::from_ref(&run));
        markup::check(&page);
        page
    };
    assert!(
        of(Origin::Reference)
            .contains(r#"published by others, 2007-07-07: <a href="http://cards.example/bench" rel="nofollow noreferrer">"#)
    );
    assert!(!of(Origin::Measured).contains("href=\"http://cards.example"));
}

#[test]
fn what_has_no_range_is_never_the_best() {
    let of = |slug: &str, value: f64, has_range: bool| {
        let mut line = line(slug, slug, value);
        let spread = line.figures.get_mut(&HeadlineFigure::RandomWrite4k).unwrap();
        if !has_range {
            (spread.low, spread.high) = (value, value);
        }
        (line, vec![entry(&format!("{slug}-run"), &demo::good())])
    };
    let media = [of("b", 900.0, true), of("c", 1200.0, true), of("a", 9000.0, false)];
    let side = read(&compare(&tree(), &media[..2]), "id=\"side\"", "</table>");
    assert!(side.contains("1200 IOPS best") && side.matches("best").count() == 1, "{side}");
    let side = read(&compare(&tree(), &media), "id=\"side\"", "</table>");
    assert!(side.contains("9000 IOPS") && !side.contains("best"), "{side}");
}

#[test]
fn media_are_compared_even_where_one_is_published_and_one_measured() {
    let of = |slug: &str, origin, record: &Record| {
        let value = if origin == Origin::Measured { 1234.5 } else { 900.0 };
        let line = CollectionLine { origin, ..line(slug, "SanDisk SD32G 32 GB", value) };
        (line, vec![entry(&format!("{slug}-run"), record)])
    };
    let media =
        [of("a", Origin::Measured, &demo::good()), of("b", Origin::Reference, &demo::slow_card())];
    let page = compare(&tree(), &media);
    markup::check(&page);
    insta::assert_snapshot!(read(&page, "id=\"side\"", "</table>"), @r#"
    Side by side
    Figures of the media, a column each
    Figure | SanDisk SD32G 32 GB / SD card · 32 GB · 3 runs | SanDisk SD32G 32 GB reference / SD card · 32 GB · 3 runs |
    Random write, 4 KiB | 1234 IOPS best / 14× disk, A1 / 1111–1481, 3 runs, 2 hosts | 900 IOPS / 10× disk, A1 / 810–1080, 3 runs, 2 hosts |
    Slowest small write | 3.17 s / 13× limit / 1 run | 3.17 s / 13× limit / 1 run |
    "#);
    for text in [
        "SanDisk SD32G 32 GB (measured)",
        "SanDisk SD32G 32 GB (reference)",
        "Random write IOPS</figcaption>",
        "is faster at every size.",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("Not in charts"), "{page}");
    // Not beside a larger one without a rank.
    assert!(page.contains(">best<"));
    let loud = CollectionLine { is_listed: false, ..line("d", "Loud card 32 GB", 5000.0) };
    let page = compare(&tree(), &[&media[..], &[(loud, Vec::new())]].concat());
    assert!(!page.contains(">best<"), "{page}");
    let published = (
        line("c", "Old card 2 GB", 20.0),
        vec![entry("c-run", &Record { cells: Vec::new(), ..demo::good() })],
    );
    let page = compare(&tree(), &[media[0].clone(), published]);
    assert!(page.contains("Not in charts and ranks: Old card 2 GB. Single figures"), "{page}");
}

#[test]
fn at_most_eight_are_compared() {
    let media: Vec<_> = (0..10)
        .map(|at| (line(&format!("m{at}"), &format!("Medium {at}"), 100.0), Vec::new()))
        .collect();
    let page = compare(&tree(), &media);
    markup::check(&page);
    assert!(page.contains("Medium 7") && !page.contains("Medium 8"), "{page}");
}

/// Markup, SQL, a formula, and escapes from a script, an attribute and a terminal.
const HOSTILE: &str = "=1</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'><!--'; DROP TABLE lines; --\u{1b}[31m\u{202e}\r\nx";

/// The value with each free text made hostile, one after the other; texts with a fixed set of
/// values stay.
fn poisoned<T: serde::de::DeserializeOwned>(value: Value) -> T {
    let (mut value, mut places) = (value, vec![String::new()]);
    while let Some(place) = places.pop() {
        let within = value.pointer_mut(&place).unwrap();
        let inner: Vec<String> = match within {
            Value::Array(items) => (0..items.len()).map(|at| at.to_string()).collect(),
            Value::Object(fields) => {
                fields.keys().map(|it| it.replace('~', "~0").replace('/', "~1")).collect()
            }
            _ => Vec::new(),
        };
        places.extend(inner.iter().map(|name| format!("{place}/{name}")));
        if within.is_string() {
            let kept = std::mem::replace(within, HOSTILE.into());
            if serde_json::from_value::<T>(value.clone()).is_err() {
                *value.pointer_mut(&place).unwrap() = kept;
            }
        }
    }
    serde_json::from_value(value).unwrap()
}

#[test]
fn nothing_that_is_published_is_taken_for_markup() {
    let mut record = demo::slow_card();
    record.cells.truncate(6);
    record.findings.push(record::Finding {
        evidence: vec!["a cell".into()],
        confidence: Some(0.9),
        ..record::Finding::new("verdict", record::Severity::Failure, "bad")
    });
    let entries = ["run-1", "run-2"].map(|id| {
        let run: CollectionRun = poisoned(json!(entry(id, &record)));
        CollectionRun { id: id.into(), ..run }
    });
    let of = |slug: &str| {
        let line: CollectionLine = poisoned(json!(line(slug, "x", 10.0)));
        CollectionLine { slug: slug.into(), ..line }
    };
    let all = Page { lines: vec![of("a"), of("b")], total: 2 };
    assert_eq!((entries[0].run.model.as_deref(), &*all.lines[0].name), (Some(HOSTILE), HOSTILE));
    let site = SiteInfo { title: HOSTILE.into(), ..tree() };
    let compared = all.lines.iter().map(|line| (line.clone(), entries.to_vec()));
    for page in [
        table(&site, &all, &Query::default()),
        medium_beside(&site, &all.lines[0], &entries, &all.lines),
        compare(&site, &compared.collect::<Vec<_>>()),
        methodology(&site),
        about(&site, 1, 1),
    ] {
        markup::check(&page);
        for bad in ["<img", "alert(1)</script", "onerror=alert(2)>", "\u{1b}", "\u{202e}"] {
            assert!(!page.contains(bad), "{bad:?}: {page}");
        }
    }
    let csv = data::line_csv(&all.lines[0]);
    assert_eq!(csv.matches('\n').count(), 1, "one line: {csv}");
    assert!(csv.contains("\"'=1</script>"), "no formula: {csv}");
    let json: Value = serde_json::from_str(&data::short_json(&all.lines[0])).unwrap();
    assert_eq!(json[0], "a");
}

#[test]
fn lines_are_ordered_as_the_collection_orders_them() {
    let mut none = line("none", "B none", 1.0);
    none.figures.clear();
    let (slow, fast) = (line("slow", "a slow", 10.0), line("fast", "C fast", 1000.0));
    let mut lines = vec![&none, &slow, &fast];
    order(&mut lines);
    assert_eq!([0, 1, 2].map(|at| &*lines[at].slug), ["fast", "slow", "none"]);
}

#[test]
fn simulated_media_have_a_category_of_their_own() {
    let simulated = CollectionLine { origin: Origin::Simulated, ..line("s", "s", 1.0) };
    let on: Vec<String> = categories()
        .into_iter()
        .filter(|category| lies_on(&simulated, &category.query))
        .map(|category| category.name)
        .collect();
    assert_eq!(on, ["Simulated"]);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "looks which pages there are")]
fn pages_of_text_are_whole_and_lead_somewhere() {
    markup::check(&methodology(&tree()));
    markup::check(&about(&tree(), 3, 5));
    markup::check(&choose(&tree(), &[MediumKind::Sd]));
    for name in TEXTS.iter().map(|text| text.name).chain(["findings"]) {
        markup::check(&text_page(&tree(), name).expect("it is there"));
    }
    let findings = text_page(&tree(), "findings").expect("it is there");
    for id in findings::IDS {
        assert!(findings.contains(&format!("<h2 id=\"{id}\">")), "{id}");
    }
    assert_eq!(text_page(&tree(), "../secret"), None);
    assert!(findings.contains("href=\"field-counterfeits.html#f3probe\">"), "from a folder below");
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/field"))
        .expect("the sources are there")
        .flatten()
    {
        let stem = file.path().file_stem().expect("a name").to_string_lossy().into_owned();
        let name = if stem == "README" { "sources".to_owned() } else { format!("field-{stem}") };
        assert!(text_page(&tree(), &name).is_some(), "{name} is not in TEXTS");
    }
    let page = text_page(&tree(), "field-ftl").expect("it is there");
    assert!(page.contains("href=\"simulated-media.html#the-file\">"), "out of the folder");
}

#[test]
fn the_data_files_have_the_figures_of_the_pages() {
    let line = &two().lines[0];
    insta::assert_snapshot!(data::short_json(line), @r#"["sandisk-32","SanDisk SD32G 32 GB","sd",32,"measured","sd uhs-i","C10 A1",3,0,"2026-11-20","fine as a camera card",[[0,1234.5,"1234","14× disk, A1","1111–1481, 3 runs, 2 hosts",3,0],[1,3170000000.0,"3.17 s","13× limit","1 run",0,0]],"","",1,0]"#);
    let (head, row) = (data::csv_head(), data::line_csv(line));
    assert_eq!(head.split(',').count(), row.split(',').count(), "{row}");
    assert!(
        row.starts_with("sandisk-32,SanDisk SD32G 32 GB,sd,a,b,32,measured,sd uhs-i,C10 A1,3,0,0,0,false,false,true,2026-11-20T10:00:00Z,1234.5,"),
        "{row}"
    );
    let run = entry("run-1", &demo::good());
    let mut lean = run.clone();
    let bulk = data::Bulk::of(&mut lean);
    let all =
        data::medium_json_head(line) + &data::medium_json_run(0, &lean) + data::MEDIUM_JSON_END;
    let all: Value = serde_json::from_str(&all).unwrap();
    assert_eq!(serde_json::from_value::<CollectionRun>(all["runs"][0].clone()).unwrap(), lean);
    bulk.put_back(&mut lean);
    assert_eq!(lean, run, "the histograms and curves are given back");
}

/// The script draws rows itself: it must know the same figures as the pages.
#[test]
fn the_script_knows_the_same_figures() {
    let script = assets()[1].text;
    for known in [
        r#"["random-write-4k","Random write, 4 KiB","IOPS",1.0,true]"#,
        r#"["worst-stall","Slowest small write","",1000000.0,false]"#,
    ] {
        assert!(script.contains(known), "{known}");
    }
    for kind in MediumKind::ALL {
        let name = kind.name();
        assert!(
            script.contains(&format!("\"{name}\":\"{}\"", report::words::kind(kind))),
            "{name}"
        );
    }
}
