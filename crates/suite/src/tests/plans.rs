//! Plans of every test of the catalogue, as text: a changed number shows in a snapshot.

use std::collections::BTreeMap;

use device::Extent;
use record::units::{Bytes, Nanos};
use record::{PlannedCell, TargetKind};
use serde_json::Value;

use crate::cases::{self, Case};
use crate::catalogue::CATALOGUE;
use crate::catalogue::testing::TestBench;
use crate::definition::Suite;
use crate::{Choice, Plan, TargetInfo, span_of};

/// Limits and parameters by name, without those of every cell.
fn named(cell: &PlannedCell) -> BTreeMap<String, String> {
    let params = serde_json::to_value(&cell.params).expect("parameters have names");
    let params: BTreeMap<String, Value> =
        serde_json::from_value(params).expect("parameters are a map");
    let texts = params.into_iter().map(|(name, value)| (name, value.to_string().replace('"', "")));
    let limits = [
        ("max_ns".to_owned(), cell.max_ns.to_string()),
        ("max_written_bytes".to_owned(), cell.max_written_bytes.to_string()),
    ];
    texts
        .chain(limits)
        .filter(|(name, text)| !USUAL.contains(&(name.as_str(), text.as_str())))
        .collect()
}

const USUAL: [(&str, &str); 4] =
    [("queue_depth", "1"), ("threads", "1"), ("path", "direct"), ("sync", "none")];

/// A line for each cell: its differences from the cell of the test before it.
fn text(plan: &Plan) -> String {
    let mut lines = Vec::new();
    let mut before = (String::new(), BTreeMap::<String, String>::new());
    for cell in &plan.cells {
        let now = named(cell);
        if before.0 != cell.test {
            before = (cell.test.clone(), BTreeMap::new());
        }
        let gone = before.1.keys().filter(|name| !now.contains_key(*name));
        let gone = gone.map(|name| format!(" no {name}"));
        let changed = now.iter().filter(|(name, value)| before.1.get(*name) != Some(*value));
        let changed = changed.map(|(name, value)| format!(" {name}={value}"));
        lines.push(format!("{}:{}", cell.id, gone.chain(changed).collect::<String>()));
        before.1 = now;
    }
    lines.extend(plan.skipped.iter().map(|skip| format!("{}: {}", skip.test, skip.reason)));
    lines.join("\n")
}

/// A target from words: "card 4GiB sectors=4KiB only=1GiB+12MiB", "file 64MiB no-page-cache".
pub fn site(words: &str) -> TestBench {
    let bytes = |text: &str| text.parse::<Bytes>().expect("a size").0;
    let mut words = words.split(' ');
    let kind = words.next();
    let size = bytes(words.next().unwrap_or_default());
    let mut bench = if kind == Some("file") {
        TestBench::file(size, |_, _| 1)
    } else {
        TestBench::raw(size, |_, _| 1)
    };
    let target = &mut bench.target;
    target.facts.keeps_data = true;
    if kind == Some("sim") {
        target.kind = TargetKind::Simulated;
    }
    for word in words {
        match word.split_once('=').unwrap_or((word, "")) {
            ("sectors", size) => target.facts.logical_block_bytes = bytes(size),
            ("au", size) => target.au_bytes = Some(bytes(size)),
            ("only", range) => {
                let (at, size) = range.split_once('+').expect("a place and a size");
                target.only = Some(Extent::new(bytes(at), bytes(size)));
            }
            ("no-page-cache", _) => target.facts.has_page_cache = false,
            ("one-in-flight", _) => target.facts.max_in_flight = 1,
            ("forgets", _) => target.facts.keeps_data = false,
            ("read-only", _) => target.writable = Err("it is read-only".into()),
            ("to-restore", _) => target.must_restore = Some("it must be restored".into()),
            ("files", _) => target.files = Ok(()),
            ("directory", _) => target.kind = TargetKind::Directory,
            ("limit", time) => bench.time_limit_ns = time.parse().ok().map(|Nanos(ns)| ns),
            ("fails-at", number) => bench.fail_at = number.parse().ok(),
            (other, _) => panic!("{other}"),
        }
    }
    bench
}

/// Asserts that each cell lies inside the target, in whole sectors, and writes only where it may.
fn assert_inside(plan: &Plan, target: &TargetInfo) {
    let (all, sector) = (target.facts.capacity_bytes, target.facts.logical_block_bytes);
    for cell in &plan.cells {
        let place = target.only.unwrap_or(Extent::new(0, all));
        assert!(place.contains(&span_of(cell)), "{}: {:?}", cell.id, span_of(cell));
        assert!(target.writable.is_ok() || cell.max_written_bytes == 0, "{}", cell.id);
        let block = cell.params.block_bytes.unwrap_or(0);
        assert!(block.is_multiple_of(sector), "{}: {block}", cell.id);
    }
}

#[test]
fn every_test_plans_as_before() {
    let tests: Vec<&str> = CATALOGUE.iter().map(|test| test.name()).collect();
    for (name, place) in [
        ("card", "card 4GiB"),
        ("disk", "disk 250GB sectors=4KiB au=1MiB"),
        ("file", "file 64MiB files"),
        ("tiny", "file 48KiB"),
        ("span", "card 4GiB only=1GiB+12MiB"),
        ("to-restore", "card 4GiB to-restore"),
    ] {
        let plan = site(place).plan(&tests).expect("there is something to do");
        insta::assert_snapshot!(name, text(&plan));
        for more in ["", " read-only", " directory"] {
            let target = site(&format!("{place}{more}")).target;
            for suite in Suite::names().filter_map(Suite::built_in) {
                let plan = Plan::make(&suite, &Choice::default(), &target);
                assert!(plan.is_ok() || name == "tiny", "{}, {place}{more}", suite.name);
                plan.iter().for_each(|plan| assert_inside(plan, &target));
            }
        }
    }
}

/// Unusual settings and targets.
struct Unusual;

impl Case for Unusual {
    fn build(&mut self, line: &str) {
        panic!("{line}");
    }

    fn answer(&mut self, question: &str) -> String {
        let (test, place) = question.split_once(" on ").expect("a test and its place");
        let bench = site(place);
        let planned = bench.plan(&[test]);
        planned.iter().for_each(|plan| assert_inside(plan, &bench.target));
        planned.map_or_else(|error| error.to_string(), |plan| text(&plan))
    }
}

#[test]
fn other_places_and_settings_plan_as_before() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/plans.txt");
    cases::check(file.as_ref(), || Unusual);
}
