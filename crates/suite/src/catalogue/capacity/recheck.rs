//! Second check of a finished probe, and its consequences if marks are lost.

use device::content::DataGenerator;
use device::{Device, Extent, IoError};
use record::units::{MIB, SECOND_NS};
use record::{Cell, Flag, PlannedCell, metric};

use super::CapacitySpec;
use super::block_content::BlockContent;
use super::places::evenly_spaced_blocks;
use super::prober::block;
use crate::cell_context::Guarded;
use crate::place_read::{PlaceRead, read_places};
use crate::procedure::TypedCell;
use stats::Random;

/// Most marks that are read again: each costs a read.
const MAX_MARKS: usize = 64;
/// Most reads of a search for folded addresses, and its time limit.
const MAX_IMAGES: usize = 8192;
const IMAGES_NS: u64 = 10 * SECOND_NS;
const READ_AT_ONCE: usize = 256;

/// Places that kept the probe's data and that no later cell was to overwrite.
pub(crate) fn marks_left(cell: &Cell, overwritten: &[Extent]) -> Vec<Extent> {
    let block_bytes = cell.params.block_bytes.unwrap_or(super::MARK_BYTES);
    let good = cell.series.iter().find(|series| series.name == "marks: good");
    let places = good
        .into_iter()
        .flat_map(|series| &series.points)
        .map(|[place, _]| Extent::new(*place as u64, block_bytes));
    let mut places: Vec<Extent> =
        places.filter(|place| !overwritten.iter().any(|span| span.overlaps(place))).collect();
    // The ramp lies at the front, where flash is: the last ones tell most.
    places.drain(..places.len().saturating_sub(MAX_MARKS));
    places
}

/// Number of these places that no longer hold the data written to them.
///
/// # Errors
/// Those of a medium that cannot be read at all.
pub(crate) fn gone(
    medium: &mut Guarded,
    generator: &DataGenerator,
    marks: &[Extent],
) -> Result<usize, IoError> {
    let found = read_places(medium, marks)?;
    // Whichever pass it was: what was written to this address is there.
    Ok(found
        .iter()
        .filter(|found| {
            !block(generator, 0, found.place, &found.data)
                .is_present(found.place.offset_bytes, None)
        })
        .count())
}

/// True if the probe's ramp is found elsewhere too: addresses fold. Tested only if the probe had no
/// time for it. Blocks are read at distances of the length of the ramp, so that none of its copies
/// is missed.
///
/// # Errors
/// Those of a medium that cannot be read at all.
pub(crate) fn folds(
    cell: &Cell,
    medium: &mut Guarded,
    generator: &DataGenerator,
    random: &mut Random,
) -> Result<bool, IoError> {
    let block_bytes = cell.params.block_bytes.unwrap_or(super::MARK_BYTES);
    let run_bytes =
        cell.metrics.other.get(metric::OVERWHELMED_BYTES).map_or(0, |run| run.value as u64);
    let span = Extent::new(
        cell.params.span_offset_bytes.unwrap_or(0),
        cell.params.span_bytes.unwrap_or(0),
    );
    // Of a ramp that is shorter no image would be met by so few reads.
    if super::found(cell).is_some() || !(MIB..=span.bytes).contains(&run_bytes) {
        return Ok(false);
    }
    let run = Extent::new(span.offset_bytes, run_bytes);
    let above = Extent::new(run.end(), span.end() - run.end());
    let places: Vec<Extent> = evenly_spaced_blocks(above, run_bytes, block_bytes, random)
        .into_iter()
        .take(MAX_IMAGES)
        .map(|place| Extent::new(place, block_bytes))
        .collect();
    let started_ns = medium.now();
    for part in places.chunks(READ_AT_ONCE) {
        let is_of_run = |by_bytes: u64| run.contains(&Extent::new(by_bytes, block_bytes));
        let shows_run = |found: &PlaceRead| matches!(block(generator, 0, found.place, &found.data), BlockContent::WrongAddress { by_bytes } if is_of_run(by_bytes));
        if read_places(medium, part)?.iter().any(shows_run) {
            return Ok(true);
        }
        if medium.now() - started_ns > IMAGES_NS {
            break;
        }
    }
    Ok(false)
}

/// Makes a planned probe fill a cache of this size, if it would fill a smaller one.
pub(crate) fn fill_cache_at_least(planned: &mut PlannedCell, cache_bytes: u64) {
    if let Ok(cell) = TypedCell::<CapacitySpec>::read(planned) {
        let larger = cell.with(|_, spec| spec.cache_bytes = spec.cache_bytes.max(cache_bytes));
        *planned = larger.into_planned();
    }
}

/// Drops the conclusion that nothing is missing, if marks of an earlier probe were lost.
pub(crate) fn leave_open(cell: &mut Cell, caveat: String) {
    if super::misses_nothing(cell) {
        cell.metrics.other.remove("type");
        cell.flags.push(Flag::Note { text: caveat });
    }
}
