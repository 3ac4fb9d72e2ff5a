//! Second check of a finished probe, and its consequences if marks are lost.

use device::content::DataGenerator;
use device::{Device, Extent, IoError};
use record::units::{MIB, SECOND_NS};
use record::{CapacityKind, Cell, Estimate, Flag, PlannedCell, Series, SeriesAxis, metric};

use super::CapacitySpec;
use super::block_content::{BlockContent, tail};
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

/// These places, in their order, and whether they still hold the data written to them.
///
/// # Errors
/// Those of a medium that cannot be read at all.
pub(crate) fn kept(
    medium: &mut Guarded,
    generator: &DataGenerator,
    marks: &[Extent],
) -> Result<Vec<(u64, bool)>, IoError> {
    // Whichever pass it was: what was written to this address is there.
    let is_there = |found: &PlaceRead| {
        let at = found.place.offset_bytes;
        (at, block(generator, 0, found.place, &found.data).is_present(at, None))
    };
    Ok(read_places(medium, marks)?.iter().map(is_there).collect())
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
    let bytes = |name: &str| cell.metrics.value(name).map_or(0, |bytes| bytes as u64);
    let run_bytes = bytes(metric::OVERWHELMED_BYTES).saturating_sub(bytes(metric::FAR_BYTES));
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

/// Least number of lost places, with all kept ones below them, that are a lost tail.
const CLEAR_TAIL: usize = 3;

/// A place of a fill that was read afterwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FillSample {
    /// Its first byte.
    pub place: u64,
    /// True if it has what the fill wrote.
    pub is_kept: bool,
    /// True if nothing had been written there before.
    pub is_fresh: bool,
}

/// Adds what became of samples of a fill, in the order of writing, to its cell. A full flash keeps
/// the first of the fresh places, or the last, and all that had flash before; other losses are of
/// places.
pub(crate) fn note_fill(cell: &mut Cell, samples: &[FillSample], written_bytes: u64) {
    let lost = samples.iter().filter(|sample| !sample.is_kept).count();
    let good = samples.len() - lost;
    cell.metrics.put("marks_good", good as f64, samples.len() as u64);
    if lost == 0 {
        return;
    }
    let caveat = format!("{lost} of {} places lost their data during the fill", samples.len());
    let mut places: Vec<(u64, bool)> = samples.iter().map(|of| (of.place, of.is_kept)).collect();
    places.sort_unstable();
    note_loss(cell, caveat, &places, false);
    if CapacityKind::of_probe(cell) != Some(CapacityKind::Damaged) {
        return;
    }
    let (fresh, before): (Vec<FillSample>, Vec<FillSample>) =
        samples.iter().partition(|sample| sample.is_fresh);
    let order: Vec<bool> = fresh.iter().map(|sample| sample.is_kept).collect();
    let latest: Vec<bool> = order.iter().rev().copied().collect();
    // The probe wrote at some of the fresh places.
    let few = lost / 10;
    let is_full = before.iter().filter(|sample| !sample.is_kept).count() <= few && good > 0;
    let is_cut = |order: &[bool]| lost >= CLEAR_TAIL && tail(order).1 <= few;
    if !(is_cut(&order) && is_full || is_cut(&latest)) {
        return;
    }
    let share = |samples: f64| written_bytes as f64 * samples / places.len() as f64;
    // Of one row the border is known to a sample, of places here and there their share is.
    let is_row = before.is_empty() && tail(&order).1.min(tail(&latest).1) == 0;
    let spread = if is_row { 1.0 } else { 2.0 * (good as f64).sqrt() + 1.0 };
    let [low, high] = [good as f64 - spread, good as f64 + spread].map(|of| share(of.max(0.0)));
    let size = Estimate { value: low, ci95: Some([low, high]), n: places.len() as u64 };
    cell.metrics.put("type", CapacityKind::Filling.code(), samples.len() as u64);
    cell.metrics.add(metric::REAL_BYTES, size);
}

/// Replaces the conclusion that nothing is missing, if places of an earlier probe lost their data
/// (`kept` is false): what was seen once is not undone by a probe that does not see it. `folds` is
/// true if data was read elsewhere than it was written.
pub(crate) fn note_loss(cell: &mut Cell, caveat: String, kept: &[(u64, bool)], folds: bool) {
    if !super::misses_nothing(cell) {
        return;
    }
    cell.flags.push(Flag::Note { text: caveat });
    let lost: Vec<u64> = kept.iter().filter(|(_, kept)| !kept).map(|(place, _)| *place).collect();
    let (cut, wrong) = tail(&kept.iter().map(|(_, kept)| *kept).collect::<Vec<_>>());
    let is_tail = wrong == 0 && lost.len() >= CLEAR_TAIL;
    let kind = match (folds, is_tail) {
        (true, _) => CapacityKind::Wraparound,
        (false, true) => CapacityKind::Limbo,
        (false, false) => CapacityKind::Damaged,
    };
    let metrics = &mut cell.metrics;
    let n = kept.len() as u64;
    metrics.put("type", kind.code(), n);
    metrics.put(metric::WRAP_BYTES, 0.0, n);
    if is_tail {
        let least = if cut == 0 { 0 } else { kept[cut - 1].0 } as f64;
        let real = Estimate { ci95: Some([least, lost[0] as f64]), ..Estimate::of(least, n) };
        metrics.add(metric::REAL_BYTES, real);
    } else {
        metrics.other.remove(metric::REAL_BYTES);
    }
    if lost.is_empty() {
        return;
    }
    let before = metrics.value("marks_lost").unwrap_or(0.0);
    metrics.put("marks_lost", before + lost.len() as f64, n);
    for series in &mut cell.series {
        series.points.retain(|[place, _]| !lost.contains(&(*place as u64)));
    }
    cell.series.retain(|series| !series.points.is_empty());
    let points = lost.iter().map(|place| [*place as f64, 0.0]).collect();
    let (x, y) = (SeriesAxis::OffsetBytes, SeriesAxis::OffsetBytes);
    cell.series.push(Series::new("marks: lost", [x, y], points));
}

#[cfg(test)]
mod tests {
    use record::{Params, test};

    use super::*;

    /// Regression: "8 of 64 places lost their data" was dropped when a second probe found nothing.
    #[test]
    fn a_loss_that_was_seen_once_is_concluded() {
        let of = |kept: &[bool], folds| {
            let mut cell = Cell::begun("a", test::CAPACITY, Params::default());
            cell.metrics.put("type", CapacityKind::Good.code(), 1);
            let kept: Vec<_> =
                kept.iter().enumerate().map(|(at, kept)| (at as u64, *kept)).collect();
            note_loss(&mut cell, "seen".into(), &kept, folds);
            let real = cell.metrics.other.get(metric::REAL_BYTES).and_then(|real| real.ci95);
            (CapacityKind::of_probe(&cell), real)
        };
        use CapacityKind::{Damaged, Limbo, Wraparound};
        assert_eq!(of(&[true, true, false, false, false], false), (Some(Limbo), Some([1.0, 2.0])));
        assert_eq!(of(&[true, false, true, false, false], false), (Some(Damaged), None));
        assert_eq!(of(&[true, true, true, false], false), (Some(Damaged), None));
        assert_eq!(of(&[true; 4], true), (Some(Wraparound), None));
    }

    /// Regression: flash that earlier tests had filled was called damaged, as the places that they
    /// wrote lie among those that lost their data.
    #[test]
    fn a_flash_that_was_full_before_the_fill_is_a_fake() {
        let of = |is_kept: fn(u64) -> bool| {
            let mut cell = Cell::begun("a", test::SUSTAINED, Params::default());
            let samples: Vec<FillSample> = (0..256)
                .map(|at| at * 37 % 256)
                .map(|place| FillSample {
                    place,
                    is_kept: is_kept(place),
                    is_fresh: !(100..125).contains(&place),
                })
                .collect();
            note_fill(&mut cell, &samples, 256_000);
            let real = cell.metrics.other.get(metric::REAL_BYTES).and_then(|real| real.ci95);
            (CapacityKind::of_probe(&cell), real)
        };
        let (kind, real) = of(|at| (100..125).contains(&at) || at == 250);
        assert_eq!(kind, Some(CapacityKind::Filling));
        assert!(real.is_some_and(|[low, high]| low < 26_000.0 && high > 26_000.0), "{real:?}");
        assert_eq!(of(|at| at % 8 == 3), (Some(CapacityKind::Damaged), None));
        assert_eq!(of(|at| at % 8 != 3), (Some(CapacityKind::Damaged), None));
    }
}
