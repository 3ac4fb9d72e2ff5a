//! Lines compared with a naive model: everything in memory, filtered and sorted by closures.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use record::MediumKind;
use record::collection::{
    CollectionLine, HeadlineFigure, Model, Origin, Query, SortBy, SubmissionStatus,
};

use stats::Random;

use super::Database;
use super::made::{fixture, run};
use super::suite::all_of;
use crate::collection::{Collection, Submission};

const VENDORS: [&str; 4] = ["SanDisk", "Kingston", "Größe_AG", "100% Flash"];
const INTERFACES: [(&str, &str); 3] =
    [("usb", "480 Mbit/s"), ("mmc", "sd uhs SDR50"), ("ata", "SATA 6.0 Gbps")];

/// Makes runs that differ in every field of a query. Values are few, so that there are ties.
fn submissions(seed: u64, count: u64) -> Vec<Submission> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|number| {
            let vendor = VENDORS[random.below(4) as usize];
            let board =
                [None, Some("Pi 3"), Some("Pi 5"), Some("laptop")][random.below(4) as usize];
            let mut run = run(seed ^ number, vendor, &format!("M{}", random.below(6)), board);
            run.kind = MediumKind::ALL[random.below(4) as usize];
            run.capacity_bytes =
                Some([4_000_000_000, 31_914_983_424, 500_107_862_016][random.below(3) as usize]);
            run.interface = Some(INTERFACES[random.below(3) as usize].0.to_owned());
            run.link = Some(record::Link {
                mode: Some(INTERFACES[random.below(3) as usize].1.to_owned()),
                ..record::Link::default()
            });
            run.claims = (random.below(2) == 0).then(|| record::Claims {
                app_class: Some(1 + random.below(2) as u32),
                ..record::Claims::default()
            });
            let mut headline = record::collection::RunHeadline {
                is_fake: random.below(6) == 0,
                ..Default::default()
            };
            for figure in HeadlineFigure::ALL {
                if random.below(3) > 0 {
                    headline.figures.insert(figure, (1 + random.below(8)) as f64 / 2.0);
                }
            }
            let origin = Origin::ALL[random.below(4) as usize];
            let received =
                format!("2026-{:02}-{:02}T00:00:00Z", 1 + random.below(3), 1 + random.below(9));
            let status = if random.below(10) == 0 {
                SubmissionStatus::Quarantined
            } else {
                SubmissionStatus::Accepted
            };
            Submission { status, ..Submission::new(run, headline, origin, received) }
        })
        .collect()
}

fn naive_fits(line: &CollectionLine, query: &Query) -> bool {
    let name = line.name.to_lowercase();
    let interface = line.interface.clone().unwrap_or_default();
    let shown = [Origin::Measured, Origin::Imported, Origin::Reference];
    query.words.to_lowercase().split_whitespace().all(|word| name.contains(word))
        && (query.kinds.is_empty() || query.kinds.contains(&line.model.kind))
        && if query.origins.is_empty() {
            shown.contains(&line.origin)
        } else {
            query.origins.contains(&line.origin)
        }
        && query.capacity_from_gb.is_none_or(|gb| line.model.capacity_gb >= gb)
        && query.capacity_to_gb.is_none_or(|gb| line.model.capacity_gb <= gb)
        && query
            .class
            .as_ref()
            .is_none_or(|class| line.classes.iter().any(|has| has.eq_ignore_ascii_case(class)))
        && query
            .interface
            .iter()
            .flat_map(|words| words.split_whitespace())
            .all(|word| interface.contains(&word.to_lowercase()))
        && query.fakes.is_none_or(|fakes| line.is_fake == fakes)
        && query.at_least.iter().all(|(figure, limit)| {
            let median = line.figures.get(figure).map(|spread| spread.median);
            median.is_some_and(|median| {
                if figure.smaller_is_better() { median <= *limit } else { median >= *limit }
            })
        })
}

fn naive_order(a: &CollectionLine, b: &CollectionLine, query: &Query) -> Ordering {
    let turned = |order: Ordering| if query.reversed { order.reverse() } else { order };
    let first = match query.sort.unwrap_or(SortBy::Figure(HeadlineFigure::RandomWrite4k)) {
        SortBy::Figure(figure) => {
            let median =
                |line: &CollectionLine| line.figures.get(&figure).map(|spread| spread.median);
            match (median(a), median(b)) {
                (Some(a), Some(b)) if figure.smaller_is_better() => turned(a.total_cmp(&b)),
                (Some(a), Some(b)) => turned(b.total_cmp(&a)),
                (a, b) => a.is_none().cmp(&b.is_none()),
            }
        }
        SortBy::Name => turned(a.name.to_lowercase().cmp(&b.name.to_lowercase())),
        SortBy::Capacity => turned(a.model.capacity_gb.cmp(&b.model.capacity_gb)),
        SortBy::Runs => turned(b.runs.cmp(&a.runs)),
        SortBy::Latest => turned(b.latest.cmp(&a.latest)),
    };
    first.then_with(|| a.slug.cmp(&b.slug))
}

fn any_query() -> impl Strategy<Value = Query> {
    let words = prop::sample::select(vec![
        "",
        "sandisk",
        "M1",
        "größe",
        "GB",
        "100%",
        "_",
        "32 gb san",
        "nothing",
    ]);
    let kinds = prop::collection::vec(prop::sample::select(MediumKind::ALL.to_vec()), 0..3);
    let origins = prop::collection::vec(prop::sample::select(Origin::ALL.to_vec()), 0..3);
    let gb = || prop::option::of(prop::sample::select(vec![0u64, 4, 32, 499, 500, u64::MAX]));
    let class = prop::option::weighted(
        0.3,
        prop::sample::select(vec!["A1".to_owned(), "a2".to_owned(), "a".to_owned()]),
    );
    let interface = prop::option::weighted(
        0.3,
        prop::sample::select(vec![
            "usb".to_owned(),
            "USB 2".to_owned(),
            "sd".to_owned(),
            "sata usb".to_owned(),
        ]),
    );
    let figure = || prop::sample::select(HeadlineFigure::ALL.to_vec());
    let limit = prop_oneof![4 => 0.0f64..5.0, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(f64::NEG_INFINITY)];
    let at_least = prop::collection::vec((figure(), limit), 0..3);
    let others =
        prop::sample::select(vec![SortBy::Name, SortBy::Capacity, SortBy::Runs, SortBy::Latest]);
    let sort = prop::option::of(prop_oneof![figure().prop_map(SortBy::Figure), others]);
    let paging =
        (prop::option::of(0u32..40), 0u32..6, any::<bool>(), prop::option::of(any::<bool>()));
    ((words, kinds, origins, gb(), gb()), (class, interface, at_least), sort, paging).prop_map(
        |(
            (words, kinds, origins, capacity_from_gb, capacity_to_gb),
            (class, interface, at_least),
            sort,
            (per_page, page, reversed, fakes),
        )| Query {
            words: words.to_owned(),
            kinds,
            origins,
            capacity_from_gb,
            capacity_to_gb,
            class,
            interface,
            at_least,
            fakes,
            sort,
            reversed,
            per_page,
            page,
            columns: Vec::new(),
        },
    )
}

pub fn pages_are_those_of_a_naive_filter_and_sort(database: &Database) {
    let collection = database.open();
    collection.submit_all(submissions(7, 600)).unwrap();
    let lines = collection.all_lines().unwrap();
    assert!(lines.len() > 150, "{} lines", lines.len());
    let mut runner =
        TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let result = runner.run(&any_query(), |query| {
        let mut expected: Vec<&CollectionLine> =
            lines.iter().filter(|line| naive_fits(line, &query)).collect();
        expected.sort_by(|a, b| naive_order(a, b, &query));
        let total = expected.len() as u64;
        let per_page = query.per_page.unwrap_or(50).clamp(1, 500) as usize;
        let expected: Vec<&str> = expected
            .into_iter()
            .skip(per_page * query.page as usize)
            .take(per_page)
            .map(|line| line.slug.as_str())
            .collect();
        let (page, filled) = collection.lines_and_filled(&query, [query.clone()]).unwrap();
        prop_assert_eq!(page.total, total);
        prop_assert_eq!(filled.len(), usize::from(total > 0));
        prop_assert_eq!(
            page.lines.iter().map(|line| line.slug.as_str()).collect::<Vec<_>>(),
            expected
        );
        Ok(())
    });
    result.unwrap();
}

/// The median of sorted values.
fn naive_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

pub fn figures_are_naive_medians(database: &Database) {
    let collection = database.open();
    let sent = submissions(11, 400);
    // One by one, so that each line is computed many times; then some are withdrawn.
    for part in sent.chunks(7) {
        collection.submit_all(part.to_vec()).unwrap();
    }
    for entry in all_of(&collection).iter().step_by(9) {
        collection.withdraw(&entry.id, "owner", "", "2026-09-01T00:00:00Z").unwrap();
    }
    let kept = all_of(&collection);
    let mut groups: BTreeMap<(Model, Origin, bool), Vec<&record::collection::CollectionRun>> =
        BTreeMap::new();
    for entry in &kept {
        groups
            .entry((entry.model.clone(), entry.origin, entry.headline.is_fake))
            .or_default()
            .push(entry);
    }
    let lines = collection.all_lines().unwrap();
    assert_eq!(lines.len(), groups.len());
    for line in &lines {
        let runs = &groups[&(line.model.clone(), line.origin, line.is_fake)];
        assert_eq!(line.runs, runs.len() as u64);
        for figure in HeadlineFigure::ALL {
            let mut hosts: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for (at, entry) in runs.iter().enumerate() {
                // The board is all that is known of a host here; without it each run is a host of
                // its own.
                let host = entry.run.board.clone().unwrap_or_else(|| format!("unknown {at}"));
                hosts.entry(host).or_default().extend(entry.headline.figures.get(&figure));
            }
            let medians: Vec<f64> =
                hosts.into_values().filter(|values| !values.is_empty()).map(naive_median).collect();
            let expected = (!medians.is_empty()).then(|| naive_median(medians));
            assert_eq!(
                line.figures.get(&figure).map(|spread| spread.median),
                expected,
                "{} {figure:?}",
                line.slug
            );
        }
    }
    assert_eq!(collection.check().unwrap(), Vec::<String>::new());
}

#[test]
fn a_query_without_bounds_is_bounded() {
    let collection = Collection::open(&crate::collection::Address::Memory).unwrap();
    let many = (0..600).map(|number| {
        let mut run = fixture();
        (run.profile, run.seed) = (Some(format!("profile {number}")), number);
        Submission::new(run, Default::default(), Origin::Simulated, "2026-01-01T00:00:00Z")
    });
    collection.submit_all(many.collect()).unwrap();
    let page = |per_page, page| {
        let query = Query { per_page, page, origins: vec![Origin::Simulated], ..Query::default() };
        collection.lines(&query).unwrap().lines.len()
    };
    assert_eq!(
        [
            page(None, 0),
            page(Some(u32::MAX), 0),
            page(Some(u32::MAX), 1),
            page(Some(0), 0),
            page(Some(500), u32::MAX)
        ],
        [50, 500, 100, 1, 0]
    );
}
