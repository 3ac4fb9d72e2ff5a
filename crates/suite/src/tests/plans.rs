//! Plans of every test of the catalogue, as text: a number that moves shows in a snapshot.

use std::collections::BTreeMap;

use device::Extent;
use record::PlannedCell;
use record::units::{GIB, KIB, MIB};
use serde_json::Value;

use crate::Plan;
use crate::catalogue::CATALOGUE;
use crate::catalogue::testing::Bed;

/// Limits and parameters by name, but for those of every cell.
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

/// A line for each cell: what differs from the cell of the test before it.
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

#[test]
fn every_test_plans_as_before() {
    let small = |mut bed: Bed, change: fn(&mut Bed)| {
        change(&mut bed);
        bed
    };
    let card = || Bed::raw(4 * GIB, |_, _| 1);
    let sites = [
        ("card", card()),
        (
            "disk",
            small(Bed::raw(250_000_000_000, |_, _| 1), |disk| {
                disk.target.facts.logical_block_bytes = 4096;
                disk.target.au_bytes = Some(MIB);
            }),
        ),
        ("file", small(Bed::file(64 * MIB, |_, _| 1), |file| file.target.files = Ok(()))),
        ("tiny", Bed::file(48 * KIB, |_, _| 1)),
        ("span", small(card(), |card| card.target.only = Some(Extent::new(GIB, 12 * MIB)))),
        (
            "borrowed",
            small(card(), |card| {
                card.target.borrowed = Some("no --erase".into());
            }),
        ),
    ];
    let tests: Vec<&str> = CATALOGUE.iter().map(|test| test.name()).collect();
    for (name, site) in sites {
        insta::assert_snapshot!(name, text(&site.plan(&tests).expect("there is something to do")));
    }
}
