//! Lines with the runs that figures of theirs are looked for in, which lines do not hold.

use record::collection::{CollectionLine, CollectionRun};
use store::collection::{Collection, CollectionError};

/// So many runs of each medium, the newest.
const PICKED_RUNS: usize = 10;

/// Lines with the runs that their figures are looked for in.
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
