use proptest::prelude::*;
use record::{Estimate, Flag, Latency, Series, SeriesAxis, Stop};

use super::*;
use crate::demo;

/// A page without the record in it: what a browser takes for markup.
fn markup(page: &str) -> String {
    let (before, rest) = page
        .split_once(r#"<script type="application/json" id="flashmark-record">"#)
        .expect("the record is in the page");
    let (_, after) = rest.split_once("</script>").expect("the record ends");
    before.to_owned() + after
}

/// The record a page carries.
fn carried(page: &str) -> String {
    let (_, rest) =
        page.split_once(r#"id="flashmark-record">"#).expect("the record is in the page");
    rest.split_once("</script>").expect("the record ends").0.to_owned()
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
    for record in [demo::good(), demo::horrible(), demo::empty()] {
        assert_eq!(Record::from_json(&carried(&page(&record))).unwrap(), record);
    }
    let carried = carried(&page(&demo::broken()));
    assert!(!carried.contains('<'), "nothing in it can end the script or begin a comment");
}

#[test]
fn every_state_of_a_run_is_said() {
    let page_of = |ended| {
        let mut record = demo::good();
        record.run.ended = ended;
        record.cells.truncate(3);
        page(&record)
    };
    assert!(page_of(record::Ended::Interrupted).contains("The run was interrupted: 3 of "));
    assert!(page_of(record::Ended::Running).contains("The run is not finished: 3 of "));
    assert!(page_of(record::Ended::Error).contains("The run could not go on: 3 of "));
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
fn a_full_run_has_every_chart_twice_and_its_numbers() {
    let page = page(&demo::good());
    let titles = [
        "Random writes a second",
        "Rate against block size",
        "Access time against block size",
        "How long a random write takes",
        "How long a random read takes",
        "Rate along the fill",
    ];
    for title in titles {
        assert!(page.contains(&format!("<figcaption>{title}</figcaption>")), "{title}");
    }
    let figures = page.matches("<figure>").count();
    assert_eq!(page.matches(r#"<svg class="chart wide""#).count(), figures);
    assert_eq!(page.matches(r#"<svg class="chart narrow""#).count(), figures);
    assert_eq!(page.matches("<summary>Numbers</summary>").count(), figures);
    assert!(page.contains("5400 rpm"));
    let mut ids: Vec<&str> =
        page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "every id is there once");
}

#[test]
fn the_same_record_is_the_same_page() {
    assert_eq!(page(&demo::horrible()), page(&demo::horrible()));
}

#[test]
fn the_released_sample_has_a_report() {
    let sample = include_str!("../../../../fixtures/records/flashmark-0.1.0-sim.json");
    let record = Record::from_json(sample).unwrap();
    assert_eq!(Record::from_json(&carried(&page(&record))).unwrap(), record);
    assert!(page(&record).contains("Random writes a second"));
}

#[test]
fn a_page_stays_small() {
    let kilobytes = page(&demo::good()).len() / 1000;
    assert!(kilobytes < 1500, "{kilobytes} kB");
}

fn estimates() -> impl Strategy<Value = Option<Estimate>> {
    prop::option::of(
        (any::<f64>(), prop::option::of([any::<f64>(), any::<f64>()]), any::<u64>())
            .prop_map(|(value, ci95, n)| Estimate { value, ci95, n }),
    )
}

prop_compose! {
    /// A cell that may say anything.
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
        let text = crate::text::details(&record, 80, false) + &crate::text::table(&record, 80);
        prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    }
}

/// Writes the demonstration pages where a person can look at them:
/// `FLASHMARK_PAGES=DIR cargo test -p flashmark-report pages_to_look_at -- --ignored`.
#[test]
#[ignore = "makes files to look at"]
#[allow(clippy::disallowed_methods, reason = "only when asked for")]
fn pages_to_look_at() {
    let folder = std::env::var("FLASHMARK_PAGES").expect("FLASHMARK_PAGES names a directory");
    for (name, record) in
        ["good", "horrible", "broken", "begun", "empty"].into_iter().zip(demo::all())
    {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), page(&record))
            .unwrap();
    }
}
