//! Copies of a measurement that come in with changed surroundings.

use record::collection::{Origin, SubmissionStatus};
use record::{Histogram, Published};

use super::Database;
use super::made::{headline, run};
use crate::collection::{Collection, Submission};

/// Latencies in nanoseconds that differ with `seed`.
fn latencies(seed: u64, ios: u64) -> Histogram {
    let mut histogram = Histogram::default();
    let mut state = seed * 2 + 1;
    for _ in 0..ios {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let step = state >> 44;
        histogram.record(400_000 + step / 8 * (1 + seed % 7));
    }
    histogram
}

/// A run of a card in which each of three cells has latencies of its own.
pub fn measured(number: u64, seed: u64) -> Published {
    let mut run = run(number, "SanDisk", "SD32G", None);
    run.target = record::TargetKind::Block;
    let cell = run.cells.pop().unwrap();
    let named = |at: u64| record::Cell {
        id: format!("random-write/{at}"),
        histogram: Some(latencies(seed * 10 + at, 1000 + 100 * at)),
        ..cell.clone()
    };
    run.cells = (1..4).map(named).collect();
    run
}

fn keep(collection: &Collection, run: Published, status: SubmissionStatus) -> String {
    let received = "2026-05-04T12:00:00Z".to_owned();
    let sent =
        Submission { status, ..Submission::new(run, headline(10.0), Origin::Measured, received) };
    collection.submit(sent).unwrap().id
}

pub fn a_copy_is_found_under_other_names(database: &Database) {
    let collection = database.open();
    let first = keep(&collection, measured(1, 1), SubmissionStatus::Accepted);
    let copy_of = |run: &Published| collection.find_copy(run, None).unwrap();
    assert_eq!(copy_of(&measured(2, 2)), None, "another measurement");

    let found = Some(first.clone());
    let mut one_cell = measured(3, 1);
    one_cell.vendor = Some("Kingston".to_owned());
    one_cell.cells.truncate(1);
    one_cell.cells[0].id = "another/1".to_owned();
    assert_eq!(
        copy_of(&one_cell),
        found,
        "of another model, with one cell, which has another name"
    );

    let mut touched = measured(4, 1);
    for (at, cell) in touched.cells.iter_mut().enumerate() {
        cell.id = format!("cell/{at}");
        cell.histogram.as_mut().unwrap().record(400_010);
    }
    assert_eq!(copy_of(&touched), found, "with an I/O more in each cell, under other names");

    let own = measured(1, 1);
    assert_eq!(copy_of(&own), None, "a run is no copy of itself");
    assert_eq!(
        collection.find_copy(&measured(5, 1), Some(&first)).unwrap(),
        None,
        "it replaces it"
    );

    keep(&collection, touched.clone(), SubmissionStatus::Accepted);
    for cell in &mut touched.cells {
        cell.histogram.as_mut().unwrap().record(400_010);
    }
    assert_eq!(copy_of(&touched), found, "of two that are alike the first that came in");
}

pub fn a_copy_that_waits_keeps_nobody_waiting(database: &Database) {
    let collection = database.open();
    keep(&collection, measured(1, 1), SubmissionStatus::Quarantined);
    assert_eq!(collection.find_copy(&measured(2, 1), None).unwrap(), None);
}
