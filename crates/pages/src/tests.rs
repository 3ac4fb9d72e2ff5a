use std::sync::LazyLock;

use proptest::prelude::*;
use record::{Estimate, Finding, Flag, Latency, Outcome, Series, SeriesAxis, Severity, Stop, test};
use report::text::{details, summary, table};

use super::embedded_record::tests::taken_out;
use super::*;
use crate::demo;

/// Start of the record in a page.
const CARRIED: &str = r#"<script type="application/gzip;base64" id="flashmark-record">"#;

/// A page without its record: the part that a browser treats as markup.
fn markup(page: &str) -> String {
    let (before, rest) = page.split_once(CARRIED).expect("the record is in the page");
    let (_, after) = rest.split_once("</script>").expect("the record ends");
    before.to_owned() + after
}

/// The record in a page, restored.
fn handed_out(page: &str) -> String {
    let (_, rest) = page.split_once(CARRIED).expect("the record is in the page");
    taken_out(rest.split_once("</script>").expect("the record ends").0)
}

/// A record with its conclusions, as at the end of a run.
fn concluded(record: Record) -> Record {
    Record { findings: findings::conclude(&record), ..record }
}

/// A fake: only the first eighth of its capacity is real.
fn failing() -> Record {
    let mut record = demo::good();
    record.findings = vec![
        found("not-put-back", Severity::Warning, "NOT RESTORED: 9 MiB"),
        Finding {
            outcome: Some(Outcome::Unusable { because: "capacity".to_owned() }),
            ..found("verdict", Severity::Failure, "Do not use it. It is a fake.")
        },
        found("capacity", Severity::Failure, "It is a fake."),
        found("io-error", Severity::Failure, "Reads fail."),
    ];
    record
}

fn found(id: &str, severity: Severity, statement: &str) -> Finding {
    Finding::new(id, severity, statement)
}

/// Pages of all kinds of runs; made once.
fn pages() -> &'static [String] {
    static PAGES: LazyLock<Vec<String>> = LazyLock::new(|| {
        let records = demo::all().into_iter().map(concluded).chain([failing()]);
        records.map(|record| page(&record)).collect()
    });
    &PAGES
}

/// The first sheet of a page.
fn sheet(page: &str) -> &str {
    let (_, rest) = page.split_once(r#"<div class="sheet">"#).expect("a first sheet");
    rest.split_once(r#"<section class="details">"#).expect("it ends").0
}

/// The texts between each start and the next end.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).collect()
}

/// All start tags of a page.
fn tags(markup: &str) -> Vec<&str> {
    markup.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag).collect()
}

#[test]
fn hostile_words_stay_words() {
    let page = page(&demo::broken());
    assert_eq!(page.matches("</script").count(), 2, "the record's and the page's own");
    assert!(!page.contains("<img"));
    assert!(
        markup(&page).contains("&lt;img src=x onerror=alert(1)&gt;")
            || markup(&page).contains("&#60;img src=x onerror=alert(1)&#62;")
    );
    for tag in tags(&markup(&page)).into_iter().filter(|tag| !tag.starts_with('/')) {
        assert!(!tag.contains("onerror"), "{tag}");
    }
}

#[test]
fn the_page_asks_nobody_for_anything() {
    for record in demo::all() {
        let page = page(&record);
        let markup = markup(&page);
        for forbidden in
            ["http://", "https://", "url(", "@import", "<link", "<iframe", "javascript:"]
        {
            assert!(!markup.contains(forbidden), "{forbidden}");
        }
        for tag in tags(&markup) {
            assert!(
                ![" src=", " style=", " on"].iter().any(|attribute| tag.contains(attribute)),
                "the policy forbids what is in <{tag}>"
            );
        }
    }
}

#[test]
fn the_policy_names_what_stands_in_the_page() {
    let page = page(&demo::empty());
    let between = |start: &str, end: &str| {
        page.split_once(start)
            .and_then(|(_, rest)| rest.split_once(end))
            .expect("is there")
            .0
            .to_owned()
    };
    for text in [between("<style>", "</style>"), between("<script>", "</script>")] {
        let hash = STANDARD.encode(Sha256::digest(&text));
        assert!(page.contains(&format!("'sha256-{hash}'")), "{hash}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn the_record_can_be_taken_out_again() {
    for record in [demo::good(), demo::slow_card(), demo::empty()] {
        assert_eq!(Record::from_json(&handed_out(&page(&record))).unwrap(), record);
    }
}

#[test]
fn every_state_of_a_run_is_shown() {
    let page_of = |ended| {
        let mut record = demo::good();
        record.run.ended = ended;
        record.cells.truncate(3);
        page(&record)
    };
    assert!(page_of(record::Ended::Interrupted).contains("The run was interrupted: 3 of "));
    assert!(page_of(record::Ended::Running).contains("The run is not finished: 3 of "));
    assert!(page_of(record::Ended::Error).contains("The run stopped: 3 of "));
    assert!(!page_of(record::Ended::Complete).contains("class=\"state"));
    let published = record::Published::from(&demo::good()).to_record("published");
    assert!(
        !page(&published).contains("class=\"state"),
        "nobody knows of it that it is not finished"
    );
    assert!(page(&demo::begun()).contains("Nothing measured yet"));
    assert!(page(&demo::empty()).contains("Nothing measured yet"));
    assert!(page(&demo::broken()).contains("went away (ENODEV)"));
}

#[test]
fn a_full_run_has_every_chart_once() {
    let page = page(&demo::good());
    let titles = [
        "Random write IOPS",
        "Rate against block size",
        "How long a random write takes",
        "Rate along the fill",
    ];
    for title in titles {
        let caption = format!("<figcaption>{title}</figcaption>");
        assert_eq!(page.matches(&caption).count(), 1, "{title}");
    }
    assert!(page.contains("5400 rpm"));
    assert!(page.contains("(log scale)"));
}

#[test]
fn there_is_one_first_sheet_with_all_that_belongs_on_it() {
    for page in pages() {
        assert_eq!(page.matches(r#"class="sheet""#).count(), 1);
        let sheet = sheet(page);
        let heads = between(sheet, "<h2>", "</h2>");
        assert_eq!(heads, ["Verdict", "Key figures", "Not tested", "Caveats"]);
        let rows = between(sheet, r#"<tr><th scope="row">"#, "</tr>").len();
        let tables = sheet.matches("<table").count();
        assert!([(4, 1), (0, 0)].contains(&(rows, tables)), "four figures, or why there is none");
        assert!([0, 2].contains(&sheet.matches("<figure>").count()));
        assert!(between(sheet, r#"<ul class="caveats">"#, "</ul>").len() <= 2);
    }
    assert_eq!(between(sheet(&page(&demo::good())), r#"<svg class="chart""#, "</svg>").len(), 2);
}

#[test]
fn a_card_has_every_answer_and_fetches_nothing() {
    for record in demo::all().into_iter().map(concluded) {
        let card = card(&record);
        let texts = between(&card, "<text ", "</text>");
        let said: Vec<&str> = texts
            .iter()
            .filter_map(|it| it.split_once('>'))
            .flat_map(|it| it.1.split_whitespace())
            .collect();
        for (_, answer) in report::text::answers(&record) {
            let words = chart::escape(&answer);
            let missing: Vec<&str> =
                words.split_whitespace().filter(|it| !said.contains(it)).collect();
            assert!(missing.is_empty(), "{missing:?} of {answer}");
        }
        assert!(!card.contains("href") && !card.contains("url(") && !card.contains("<script"));
    }
}

#[test]
fn every_badge_has_a_word_and_an_icon() {
    const WORDS: [&str; 6] =
        ["good", "usable", "poor", "not suitable", "not tested", "cannot be told"];
    for page in pages() {
        let uses = between(page, r#"<ul class="uses">"#, "</ul>");
        assert_eq!(uses.len(), 1);
        let badges = between(uses[0], "<li ", "</li>");
        assert_eq!(badges.len(), 5);
        for badge in badges {
            assert!(badge.contains("<svg") && badge.contains("<path d=\"M"), "{badge}");
            let word = between(badge, "<span>", "</span>");
            assert!(word.len() == 1 && WORDS.contains(&word[0]), "{badge}");
        }
    }
    let words = |record: Record| -> Vec<String> {
        let page = page(&record);
        between(&page, "<span>", "</span>").into_iter().map(str::to_owned).collect()
    };
    let good = words(concluded(demo::good()));
    assert!(good[0] == "good" || good[0] == "usable", "{good:?}");
    assert_eq!(words(concluded(demo::slow_card()))[0], "not suitable");
    assert_eq!(words(concluded(demo::empty())), ["not tested"; 5]);
    assert_eq!(words(failing()), ["not suitable"; 5]);
}

#[test]
fn data_at_stake_and_failures_come_before_all() {
    let page = page(&failing());
    let sheet = sheet(&page).replace('\u{a0}', " ");
    let at = |text: &str| sheet.find(text).unwrap_or_else(|| panic!("{text} is not on the sheet"));
    let order =
        ["NOT RESTORED: 9 MiB", "Reads fail.", "DO NOT USE IT for anything.", "<h1>"].map(at);
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(sheet.to_lowercase().matches("do not use it").count(), 1, "the verdict stands once");
    assert!(!sheet.contains("It is a fake."), "the answers tell it");
    let calm = super::page(&concluded(demo::good()));
    assert!(!calm.contains(r#"role="alert""#));
    // A list with another role is not a list to a screen reader.
    for page in [&calm, &page] {
        assert!(
            !page
                .split("<ul")
                .skip(1)
                .any(|list| list.split('>').next().is_some_and(|tag| tag.contains("role=")))
        );
    }
}

#[test]
fn no_more_caveats_than_fit_and_none_lost() {
    let mut record = demo::good();
    record.findings = (0..9)
        .map(|at| found("stalls", Severity::Warning, &format!("Caveat number {at}.")))
        .collect();
    let page = page(&record);
    assert_eq!(sheet(&page).matches("Caveat number").count(), 3);
    let more = between(&page, r#"<div id="more-caveats">"#, "</div>");
    assert_eq!(more[0].matches("Caveat number").count(), 6);
}

#[test]
fn that_nobody_looked_for_a_fake_is_stated_once() {
    let mut record = demo::good();
    record.skipped.push(record::Skip::new(test::CAPACITY, "needs a raw medium"));
    let page = page(&record);
    let untested = between(sheet(&page), "<h2>Not tested</h2>", "</section>")[0];
    assert_eq!(untested.matches("needs a raw medium").count(), 1, "{untested}");
    assert!(untested.contains("<b>whether it is a fake</b>: skipped: needs"), "{untested}");
    assert!(untested.contains("<b>record ops, ext2 fill</b>: not in this suite"), "{untested}");
}

#[test]
fn ids_titles_and_links_are_sound() {
    for page in pages() {
        let markup = markup(page);
        let mut ids = between(&markup, " id=\"", "\"");
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "every id is there once");
        let mut titles = between(&markup, "<figcaption>", "</figcaption>");
        let all = titles.len();
        titles.sort_unstable();
        titles.dedup();
        assert_eq!(titles.len(), all, "every title is there once: {titles:?}");
        let links = between(&markup, "href=\"#", "\"");
        assert!(links.len() >= 2);
        for link in links {
            assert!(ids.binary_search(&link).is_ok(), "#{link} leads nowhere");
            // Browsers open a collapsed part for an element inside it, not for the part itself.
            let is_inside = ["</summary>\n<div", "<p"]
                .iter()
                .any(|tag| markup.contains(&format!("{tag} id=\"{link}\">")));
            assert!(is_inside, "#{link}");
        }
    }
}

#[test]
fn everything_behind_the_first_sheet_is_folded() {
    for page in pages() {
        let (_, behind) = page.split_once(r#"<section class="details">"#).expect("details");
        assert!(!behind.contains("<details open") && !behind.contains(" open>"));
        let parts = behind.matches(r#"<details class="part">"#).count();
        assert!(parts >= 1);
        assert_eq!(
            between(behind, "<ul class=\"toc\">", "</ul>")[0].matches("<li>").count(),
            parts + 1
        );
    }
}

#[test]
fn where_nothing_can_be_drawn_no_chart_is() {
    let mut record = demo::good();
    record
        .cells
        .retain(|cell| cell.test == test::RANDOM_READ && cell.params.block_bytes == Some(4096));
    record.cells.truncate(1);
    let page = page(&concluded(record));
    assert!(!page.contains("<figcaption>Rate against block size"), "one size is no axis");
    let mut twins = demo::good();
    let curve = |offset: f64| Series {
        name: "course".to_owned(),
        x: SeriesAxis::OffsetBytes,
        y: SeriesAxis::OffsetBytes,
        points: (0..99).map(|at| [f64::from(at), offset]).collect(),
    };
    let few = Series { y: SeriesAxis::Bps, points: vec![[1e9, 9.0]; 23], ..curve(0.0) };
    twins.cells[0].test = "new".to_owned();
    twins.cells[0].series = vec![curve(1.0), few];
    let drawn = super::page(&twins);
    assert!(!drawn.contains("<figcaption>New"), "a place against a place, and a few points");
}

#[test]
fn tables_have_captions_and_every_row_a_head() {
    for page in pages() {
        for table in between(&markup(page), "<table", "</table>") {
            assert_eq!(table.matches("<caption").count(), 1, "{table}");
            for row in table.split("<tr").skip(1) {
                let heads = row.matches("<th>").count() + row.matches("<th ").count();
                assert!(heads == 1 || heads > 1 && !row.contains("<td"), "{row}");
            }
        }
    }
}

#[test]
fn a_chart_is_drawn_and_described_once() {
    for page in pages() {
        let charts = between(page, r#"<svg class="chart""#, "</svg>");
        for chart in &charts {
            let described = between(chart, "aria-labelledby=\"", "\"");
            assert_eq!(chart.matches(&format!("<title id=\"{}\">", described[0])).count(), 1);
        }
        assert!(page.matches("<figure>").count() >= charts.len());
    }
}

/// Colours of one appearance: those after this text in the style sheet.
fn colours(after: &str) -> std::collections::BTreeMap<&'static str, [f64; 3]> {
    let (_, rest) = PageHead::STYLE.split_once(after).expect("an appearance");
    let block = rest.split('}').next().expect("it ends");
    let value = |hex: &str| {
        let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
        let channel = |at: usize| match digits.len() {
            3 => f64::from(digits[at] * 17),
            _ => f64::from(digits[2 * at] * 16 + digits[2 * at + 1]),
        };
        [0, 1, 2].map(channel)
    };
    block
        .split("--")
        .filter_map(|one| one.split_once(": #"))
        .map(|(name, hex)| (name, value(hex.split(';').next().unwrap_or_default())))
        .collect()
}

/// Contrast of two colours as in WCAG 2.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let luminance = |colour: [f64; 3]| {
        let [r, g, b] = colour.map(|channel| {
            let c = channel / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * r + 0.7152 * g + 0.0722 * b
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn text_stands_out_in_light_and_dark_and_on_paper() {
    let light = colours(":root {");
    for appearance in [":root {", "prefers-color-scheme: dark) {", "@media print {"] {
        let colours = colours(appearance);
        let pairs = [
            ("ink", "paper"),
            ("soft", "paper"),
            ("soft", "wash"),
            ("ink", "info-wash"),
            ("soft", "info-wash"),
            ("ink", "warn-wash"),
            ("soft", "warn-wash"),
            ("warn", "warn-wash"),
            ("warn", "paper"),
            ("ink", "alarm-wash"),
            ("soft", "alarm-wash"),
            ("alarm", "alarm-wash"),
            ("alarm", "paper"),
            ("good", "paper"),
            ("usable", "paper"),
            ("usable", "info-wash"),
            ("usable", "warn-wash"),
            ("usable", "alarm-wash"),
            ("paper", "ink"),
        ];
        for (text, ground) in pairs {
            let found = contrast(colours[text], colours[ground]);
            assert!(found >= 4.5, "{appearance} {text} on {ground}: {found:.2}");
        }
        let heat = between(PageHead::STYLE, "{ --heat: ", "; }");
        assert!(heat.len() > 10, "{heat:?}");
        for percent in heat {
            let part = percent.parse::<f64>().unwrap() / 100.0;
            let heated = colours.get("heated").unwrap_or(&light["heated"]);
            let mix = |at: usize| heated[at] * part + colours["paper"][at] * (1.0 - part);
            let found = contrast(colours["ink"], [0, 1, 2].map(mix));
            assert!(found >= 4.5, "{appearance} ink at a heat of {percent} %: {found:.2}");
        }
    }
}

#[test]
fn on_a_phone_every_figure_has_the_head_of_its_column_beside_it() {
    for page in pages() {
        for table in between(page, "<table class=\"headline folds", "</table>") {
            let rows = between(table, "<tr><th scope=\"row\">", "</tr>");
            let has_heads = |row: &&str| row.matches(" data-h=\"").count() == 5;
            assert!(rows.iter().filter(|row| !row.contains("why")).all(has_heads), "{table}");
        }
        // In the other tables the script says so, from the place of the cell.
        for table in between(page, "<table class=\"folds", "</table>") {
            let (head, body) = table.split_once("<tbody>").expect("rows");
            let heads = head.matches("<th>").count();
            for row in body.split("<tr>").filter(|row| row.contains("<td")) {
                assert_eq!(row.matches("<td").count() + 1, heads, "{row}");
            }
        }
    }
}

#[test]
fn a_page_stays_small() {
    for page in pages() {
        let sizes = [page.len(), markup(page).len(), sheet(page).len()].map(|size| size / 1000);
        let limits = [400, 280, 40];
        assert!(sizes.iter().zip(limits).all(|(size, limit)| *size < limit), "{sizes:?} kB");
    }
}

fn estimates() -> impl Strategy<Value = Option<Estimate>> {
    prop::option::of(
        (any::<f64>(), prop::option::of([any::<f64>(), any::<f64>()]), any::<u64>())
            .prop_map(|(value, ci95, n)| Estimate { value, ci95, n }),
    )
}

prop_compose! {
    /// A cell with arbitrary values.
    fn any_cell()(
        test in prop::sample::select(vec!["random-write", "random-read", "sequential-write", "sequential-read", "prime", "zero-fill", "seek", "new"]),
        block in prop::option::of(any::<u64>()), iops in estimates(), bps in estimates(), other in estimates(), words in ".{0,30}",
        points in prop::collection::vec([any::<f64>(), any::<f64>()], 0..8), samples in prop::collection::vec(any::<u64>(), 0..8), impossible in any::<bool>(),
        max in any::<u64>(),
    ) -> record::Cell {
        let mut cell = demo::cell(test, &words);
        cell.params.block_bytes = block;
        (cell.metrics.iops, cell.metrics.bps) = (iops, bps);
        cell.metrics.other.extend(other.map(|estimate| (words.clone(), estimate)));
        cell.metrics.latency_ns = Some(Latency { n: samples.len() as u64, max, p50: samples.first().copied(), ..Latency::default() });
        let mut histogram = record::Histogram::default();
        samples.iter().for_each(|&sample| histogram.record(sample));
        cell.histogram = Some(histogram);
        cell.series.push(Series { name: words.clone(), x: SeriesAxis::OffsetBytes, y: SeriesAxis::Bps, points: points.clone() });
        cell.series.push(Series { name: words.clone(), x: SeriesAxis::Ops, y: SeriesAxis::LatencyNs, points });
        cell.flags.extend(impossible.then_some(Flag::Cached));
        (cell.stop, cell.reason) = (Stop::Error, Some(words));
        cell
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_record_breaks_a_report(cells in prop::collection::vec(any_cell(), 0..6)) {
        let mut record = demo::empty();
        record.cells = cells;
        let page = page(&record);
        prop_assert_eq!(page.matches("</script").count(), 2);
        prop_assert!(!markup(&page).contains("NaN"));
        let text = details(&record, &record.run.id, 80, false) + &table(&record, 80);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
}

#[test]
fn a_figure_of_another_tool_is_printed_and_marked() {
    let mut record = demo::slow_card();
    record.cells.retain(|cell| cell.id == "random-write/1");
    let cell = &mut record.cells[0];
    cell.labels.insert("tool".to_owned(), "fio".to_owned());
    cell.metrics.iops = Some(record::Estimate { value: 7777.0, ci95: None, n: 1 });
    (cell.metrics.bps, cell.metrics.other) = (None, Default::default());
    let html = page(&record).split("application/json").next().unwrap().to_owned();
    for text in [
        summary(&record, 80, false),
        details(&record, &record.run.id, 80, false),
        table(&record, 100),
    ] {
        let line = text.lines().find(|line| line.contains("7777 IOPS")).unwrap();
        assert!(line.contains("one run"), "{text}");
        assert!(text.contains("One run: measured once"), "{text}");
    }
    assert!(html.contains("7777 IOPS") && html.contains("one run"), "{html}");
    // It is drawn hollow, in the line and in the legend, and never compared with the yardstick.
    assert!(html.contains(r#"<circle class="ring"#) && !html.contains("class=\"whisker"), "{html}");
    assert!(!summary(&record, 80, false).contains("7777 IOPS ("));
    assert!(report::headline::rows(&record).iter().all(|row| row.times_disk.is_none()));
}

/// Its details, its table, and its page.
fn shown(record: &Record) -> [String; 3] {
    [details(record, &record.run.id, 80, false), table(record, 100), page(record)]
}

#[test]
fn a_number_without_its_interval_is_not_printed_anywhere() {
    let mut record = demo::slow_card();
    let cell = record.cells.iter_mut().find(|cell| cell.id == "random-write/1").unwrap();
    cell.metrics.iops = Some(record::Estimate { value: 7777.0, ci95: None, n: 12 });
    (cell.metrics.bps, cell.metrics.other) = (None, Default::default());
    for text in shown(&record) {
        assert!(!text.contains("7777"), "{text}");
        assert!(text.contains("no interval from 12 samples"));
    }
}

#[test]
fn impossible_numbers_are_flagged_and_not_shown() {
    let mut record = demo::good();
    for cell in record.cells.iter_mut().filter(|cell| cell.test == "random-read") {
        cell.metrics.iops = Some(demo::estimate(8_888_888.0, 0.01, 5000));
        cell.metrics.bps = None;
        cell.flags.push(record::Flag::ZeroLatency { n: 9 });
    }
    for text in shown(&record) {
        assert!(!text.contains("8888888"), "{text}");
        assert!(text.contains("impossible: 9 I/Os took no time"), "{text}");
    }
}
