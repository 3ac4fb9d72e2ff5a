//! `capacity`: test of the announced capacity. Finds the type (good, damaged, limbo, wraparound,
//! chain or filling), the real size and the cache (docs/field/counterfeits.md#f3probe).
//!
//! It writes marks at random places, then a growing sequential range that fills any memory of the
//! controller, reads at many distances to find folding addresses, and searches for the end of the
//! range that keeps data. Every block contains its own address, so one read of a folded address
//! gives a distance. All places are drawn from the run's seed: no controller can know them. The
//! first MiB (partition table, boot code) is spared as far as addresses do not fold onto it.
//!
//! With `restore` the old data is read first, kept durably ([`Backup`](crate::Backup)), and
//! restored at the end, also after an interruption (`backed_up.rs` has the reason why that is right
//! if addresses fold). A raw medium without `--erase` is tested in this way only. Then no more than
//! `keep` is written sequentially: there has to be room for it.
//!
//! # Results
//! One cell. `metrics.other`: `type` (0 good, 1 damaged, 2 limbo, 3 wraparound, 4 chain, 5 filling;
//! absent if time or medium ended before it was known), `real_bytes` (with its interval if it was
//! not found to the sector), `wrap_bytes` (the modulus of addresses, 0 without one), `cache_bytes` (the
//! amount of writes after which marks were lost; its lower bound is the last amount after which
//! they were not; absent if none was ever lost), `overwhelmed_bytes` (a larger cache would hide a
//! fake; `far_bytes` of it at the far end), `probe_written_bytes` and `probe_read_bytes` (of marks
//! and ramps), `marks_good`, `marks_changed`, `marks_stale`, `marks_elsewhere`, `marks_lost`,
//! `marks_unusable` (places by their last content). Series `marks: good` and so on: the place that
//! was read against the place for which its data was written (0: not our data). On a good medium
//! that is the diagonal, on a wraparound a saw. With `restore` also `restored_bytes` and
//! `unrestored_bytes`: bytes that have their original data again, and bytes that have not although
//! there is flash behind them; `elsewhere_places` and `elsewhere_changed`: places with data that was
//! not overwritten, and those that have other data afterwards; and `owed_bytes` if some data is
//! still to be restored from the log.

mod backed_up;
mod block_content;
mod places;
mod probe_stages;
mod prober;
mod recheck;
mod restoring;
#[cfg(test)]
mod tests;
pub mod trial;

use record::{CapacityKind, Cell, Estimate, Flag, Series, SeriesAxis, Stop};

use self::block_content::BlockContent;
use self::probe_stages::{ProbeStages, ProbeState};
use self::prober::{Halt, Prober};
pub(crate) use self::recheck::{
    FillSample, fill_cache_at_least, folds, kept, marks_left, note_fill, note_loss,
};
use device::Extent;

use super::prelude::*;
use crate::spec::CellSpec;

settings! {
    CapacitySettings {
        cache: Size = "1GiB",
            "a cache up to this size cannot hide a fake; at most half of the medium";
        restore: Word(["auto", "yes", "no"]) = "auto",
            "yes: overwritten data is kept on disk first and restored; no; auto: yes, unless --erase gave the medium away";
        keep: Size = "256MiB",
            "with restore, bytes written in one go, at most; up to twice as much is kept";
        max_time: Time = "5m", "time limit; caches are filled as far as time allows";
    }
}

spec! {
    /// Limits of a probe.
    CapacitySpec {
        /// Size in bytes of a cache that is filled.
        cache_bytes: u64,
        /// Room in bytes for old data that is restored; `None` if nothing is.
        keep_bytes: Option<u64>,
    }
}

/// Bytes at the start that are never touched.
const SPARED_BYTES: u64 = MIB;
/// Smallest medium in bytes that has room for marks beside a ramp.
const SMALLEST_BYTES: u64 = 16 * MIB;
/// Size of a mark.
const MARK_BYTES: u64 = 4 * KIB;
/// Most bytes written beside the ramp and cache fills: marks and windows.
const MARKS_MOST_BYTES: u64 = 32 * MIB;
/// Most points of a series.
const MAX_POINTS: usize = 240;

/// Probes whether all of the announced capacity keeps data, in one cell.
pub struct Capacity;

impl Procedure for Capacity {
    type Settings = CapacitySettings;
    type Spec = CapacitySpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::CAPACITY,
            about: "whether the capacity is real: good, damaged, limbo, wraparound, chain or filling; real size, cache size",
            source: "docs/field/counterfeits.md#f3probe",
            needs: Needs { data: true, restores: true, ..Needs::WRITING_RAW },
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, CapacitySpec>) -> Planned {
        let target = cells.target;
        let restores = match (settings.restore, &target.must_restore) {
            ("no", Some(reason)) => {
                cells.skip(reason.clone());
                return Ok(());
            }
            ("no", None) => false,
            ("yes", _) => true,
            (_, must_restore) => must_restore.is_some(),
        };
        let keep_bytes = settings.keep.max(4 * MIB);
        let most_bytes = if restores { keep_bytes } else { u64::MAX };
        let cache_bytes = settings.cache.max(4 * MIB).min(most_bytes);
        let Some(whole) = cells.region(Region::Whole, u64::MAX) else { return Ok(()) };
        if whole.bytes < target.facts.capacity_bytes / 2 {
            cells.skip("only a part of the medium may be touched; a fake could not be found");
            return Ok(());
        }
        if whole.bytes < SMALLEST_BYTES {
            let there = Bytes(whole.bytes);
            cells.skip(format!(
                "a medium of {there} is too small to hide anything; verify writes it whole"
            ));
            return Ok(());
        }
        let block_bytes = MARK_BYTES.max(target.facts.logical_block_bytes);
        let marked =
            Extent::new(SPARED_BYTES, (whole.bytes - SPARED_BYTES) / block_bytes * block_bytes);
        let params = cells.writes(Region::Whole, marked, Pattern::Uniform, block_bytes);
        // The ramps, and filling caches once more for each stage of the search, which is as much
        // as both.
        let ramps = if restores { 1 } else { 2 };
        let most = cache_bytes
            .min(whole.bytes)
            .saturating_mul(3 * ramps)
            .saturating_add(MARKS_MOST_BYTES)
            .max(512 * MIB);
        // The ramp, as much again where a stage of the search cannot use the ramp's places, and
        // marks.
        let kept = (2 * keep_bytes).saturating_add(2 * MARKS_MOST_BYTES).min(whole.bytes);
        let keep_bytes = restores.then_some(kept);
        let most = most.saturating_add(keep_bytes.unwrap_or(0));
        cells.add(params, &CapacitySpec { cache_bytes, keep_bytes }, settings.max_time, most);
        Ok(())
    }

    fn run(&self, cell: &TypedCell<CapacitySpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let mut found = ProbeState::default();
        let CapacitySpec { cache_bytes, keep_bytes } = cell.spec;
        if let Some(reason) = keep_bytes.and_then(|bytes| cannot_back_up(bytes, context)) {
            return CellOutcome::left_out(cell, reason);
        }
        let mut prober = Prober::new(cell, context, keep_bytes);
        if keep_bytes.is_some() {
            prober.context.set_restore_pending(true);
            prober.remember_elsewhere();
        }
        let ended = ProbeStages::new(&mut prober, &mut found, cache_bytes).go();
        let put = prober.restore();
        if put.is_some() {
            prober.compare_elsewhere();
        }
        let was_away = prober.was_away_for_a_time(put.as_ref());
        if !prober.outcome.is_over() {
            prober.outcome.cell.stop =
                if ended == Err(Halt::TimeUp) { Stop::Time } else { Stop::Converged };
        }
        conclude(&mut prober, &mut found, was_away);
        found.written_bytes = prober.written_bytes();
        found.read_bytes = prober.read_bytes;
        let shown: Vec<(u64, BlockContent)> =
            std::mem::take(&mut prober.shown).into_iter().collect();
        add_findings(&mut prober.outcome, &found, &shown);
        if let Some(put) = put {
            restoring::add_results(&mut prober.outcome, &found, &put, prober.context.backup);
            prober.context.set_restore_pending(false);
        }
        prober.outcome
    }
}

/// The reason why nothing can be backed up, if there is one.
fn cannot_back_up(bytes: u64, context: &mut CellContext<'_>) -> Option<String> {
    if !context.backup.places().is_empty() {
        return Some("data that this run overwrote before is not restored yet; restore it first, with: flashmark restore".into());
    }
    context.backup.make_room(bytes).err()
}

/// Concludes damage if single places show it, and drops conclusions from places that failed only
/// because the medium was gone.
fn conclude(prober: &mut Prober<'_, '_>, found: &mut ProbeState, was_away: bool) {
    // A write that failed leaves what was there before.
    let counts = |seen: &BlockContent| match seen {
        BlockContent::Changed => true,
        BlockContent::Stale | BlockContent::Unusable | BlockContent::Lost => !was_away,
        BlockContent::Good | BlockContent::WrongAddress { .. } => false,
    };
    if was_away {
        found.forget_what_was_lost();
        if prober.outcome.error.is_none() {
            let failed =
                prober.shown.values().filter(|seen| **seen == BlockContent::Unusable).count();
            let text = format!(
                "{failed} places gave errors and work now: the medium was unavailable for a time, as behind a loose contact; nothing is concluded from them, \
                 measure again"
            );
            prober.outcome.cell.flags.push(Flag::Note { text });
        }
    }
    if found.kind.is_none() && prober.shown.values().any(counts) {
        found.kind = Some(CapacityKind::Damaged);
    }
}

/// True if a cell found less capacity than the medium announces.
pub(crate) fn is_fake(cell: &Cell) -> bool {
    CapacityKind::of_probe(cell).is_some_and(CapacityKind::is_fake)
}

/// True if a planned probe restores what it overwrites.
pub(crate) fn restores(planned: &record::PlannedCell) -> bool {
    CapacitySpec::read(&planned.params.other).is_ok_and(|spec| spec.keep_bytes.is_some())
}

/// True if a cell ended in order, found nothing missing, and left its marks on the medium.
pub(crate) fn found_nothing(cell: &Cell) -> bool {
    let spec = CapacitySpec::read(&cell.params.other);
    let is_left = spec.is_ok_and(|spec| spec.keep_bytes.is_none());
    is_left && !cell.stop.cut_short() && misses_nothing(cell)
}

/// True if nothing was found missing: the medium is good, or time ended before that was known.
fn misses_nothing(cell: &Cell) -> bool {
    found(cell).is_none_or(|kind| kind == CapacityKind::Good.code())
}

fn found(cell: &Cell) -> Option<f64> {
    cell.metrics.value("type").filter(|_| cell.test == test::CAPACITY)
}

/// Adds the findings to the cell.
fn add_findings(outcome: &mut CellOutcome, found: &ProbeState, shown: &[(u64, BlockContent)]) {
    let n = shown.len() as u64;
    let exactly = |value: u64| Estimate::of(value as f64, n);
    let between = |[low, high]: [u64; 2], value: u64| Estimate {
        ci95: (low < high).then_some([low as f64, high as f64]),
        ..exactly(value)
    };
    let cell = &mut outcome.cell;
    let mut put = |name: &str, figure: Estimate| cell.metrics.add(name, figure);
    if let Some(kind) = found.kind {
        put("type", exactly(kind as u64));
        put(metric::WRAP_BYTES, exactly(found.wrap_bytes.unwrap_or(0)));
    }
    if let (Some(_), Some(real)) = (found.kind, found.real_bytes) {
        put(metric::REAL_BYTES, between(real, real[0]));
    }
    if let Some(cache) = found.cache_bytes {
        put(metric::CACHE_BYTES, between(cache, cache[1]));
    }
    put(metric::OVERWHELMED_BYTES, exactly(found.filled_cache_bytes));
    if found.far_bytes > 0 {
        put(metric::FAR_BYTES, exactly(found.far_bytes));
    }
    put(metric::PROBE_WRITTEN_BYTES, exactly(found.written_bytes));
    put(metric::PROBE_READ_BYTES, exactly(found.read_bytes));
    for (name, is) in NAMES {
        let points: Vec<[f64; 2]> =
            shown.iter().filter(|(_, seen)| is(seen)).map(|point| plotted(*point)).collect();
        put(&format!("marks_{name}"), exactly(points.len() as u64));
        let thinned: Vec<[f64; 2]> =
            points.iter().step_by(points.len().div_ceil(MAX_POINTS).max(1)).copied().collect();
        if !thinned.is_empty() {
            cell.series.push(Series::new(
                format!("marks: {name}"),
                [SeriesAxis::OffsetBytes, SeriesAxis::OffsetBytes],
                thinned,
            ));
        }
    }
}

/// Possible contents of a block, by name.
type NamedContent = (&'static str, fn(&BlockContent) -> bool);
const NAMES: [NamedContent; 6] = [
    ("good", |seen| matches!(seen, BlockContent::Good)),
    ("changed", |seen| matches!(seen, BlockContent::Changed)),
    ("stale", |seen| matches!(seen, BlockContent::Stale)),
    ("elsewhere", |seen| matches!(seen, BlockContent::WrongAddress { .. })),
    ("lost", |seen| matches!(seen, BlockContent::Lost)),
    ("unusable", |seen| matches!(seen, BlockContent::Unusable)),
];

/// A place, and the place for which its data was written.
fn plotted((place, seen): (u64, BlockContent)) -> [f64; 2] {
    let by = match seen {
        BlockContent::Good | BlockContent::Changed | BlockContent::Stale => place,
        BlockContent::WrongAddress { by_bytes } => by_bytes,
        BlockContent::Lost | BlockContent::Unusable => 0,
    };
    [place as f64, by as f64]
}
