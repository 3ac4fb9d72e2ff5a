//! Lines together with their newest runs, for figures that a line does not hold.

use record::collection::{CollectionLine, CollectionRun};
use store::collection::{Collection, CollectionError};

/// Most runs of each medium: the newest.
const PICKED_RUNS: usize = 10;

/// Lines, each with its newest runs.
pub(crate) fn with_newest_runs(
    collection: &Collection,
    lines: Vec<CollectionLine>,
) -> Result<Vec<(CollectionLine, Vec<CollectionRun>)>, CollectionError> {
    let with_runs = |line: CollectionLine| {
        let runs = collection.latest_runs_of(&line.slug, PICKED_RUNS)?;
        Ok((line, runs))
    };
    lines.into_iter().map(with_runs).collect()
}
