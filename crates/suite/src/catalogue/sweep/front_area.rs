//! `front-area`: each of the first allocation units written sequentially, and one in the middle for
//! comparison (docs/field/allocation-units.md#front-area).
//!
//! Many cards treat their beginning, which holds the file allocation table, differently: slower
//! (block-remapped) or faster (SLC). Each unit is written twice with 64 KiB writes; the first time
//! does not count, it closes units that were open before. Beyond the first units some further ones
//! are written, at growing distances, so that a large area shows with its size too.
//!
//! Parameters of a cell: `au_index` with region front; the one of region middle is the reference.
//! Metrics: `bps`, `latency_ns`. Series: `rate` (bytes of the unit, bytes/s), because an area may
//! end within an assumed unit.

use device::Extent;

use super::{Step, Sweep, WritePlacement};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::Stretch;

settings! {
    FrontAreaSettings {
        units: Count = "8", "number of erase blocks from the front on";
        reach: Size = "128MiB", "more erase blocks up to here, each 25 % further away";
        au: Size = "4MiB", "erase block (allocation unit) to assume where the medium declares none";
        block: Block = "64KiB", "size of a write";
        max_time: Time = "10s", "time limit per erase block";
    }
}

/// Time in nanoseconds to fill a cache, if there is one.
const FILLING_NS: u64 = 20 * SECOND_NS;

/// Each of the first allocation units in succession, a cell for each and one for the middle.
pub const FRONT_AREA: Sweep<FrontAreaSettings> = Sweep {
    entry: Entry {
        name: test::FRONT_AREA,
        about: "sequential writes to each of the first erase blocks, and to one in the middle",
        source: "docs/field/allocation-units.md#flashbench, docs/field/allocation-units.md#inference",
        needs: Needs::WRITING_RAW,
    },
    values: units,
    places: WritePlacement::Span,
};

fn units(settings: &FrontAreaSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let (target, block_bytes) = (cells.target, settings.block);
    let au_bytes = cells.assumed_au(settings.au);
    if au_bytes < 2 * block_bytes {
        let why = format!("must be at most half of an erase block of {}", Bytes(au_bytes));
        return Err(cells.bad("block", why));
    }
    let units = settings.units.min(64);
    // What lies before the middle, as far as is wanted.
    let before = target.region(Region::Middle, au_bytes).map_or(0, |middle| middle.offset_bytes);
    let wanted_bytes = settings.reach.min(before / au_bytes * au_bytes).max(units * au_bytes);
    let Some(front) = cells.region(Region::Front, wanted_bytes) else { return Ok(()) };
    let Some(middle) = cells.region(Region::Middle, au_bytes) else { return Ok(()) };
    if front.overlaps(&middle) || middle.bytes != au_bytes {
        cells.skip(format!(
            "the medium has fewer than {units} erase blocks of {} before its middle",
            Bytes(au_bytes)
        ));
        return Ok(());
    }
    let blocks = au_bytes / block_bytes;
    let stretch = Stretch {
        warm_up_ops: blocks,
        ops: blocks,
        enough_ops: 16,
        enough_ns: 4 * SECOND_NS,
        ..Stretch::default()
    }
    .past_caches(FILLING_NS);
    let mut add = |region, unit, au_index| {
        let params = cells.writes(region, unit, Pattern::Sequential, block_bytes);
        cells.add_stretch(
            params,
            &Step { au_index, stretch, ..Step::default() },
            settings.max_time,
        );
    };
    for au_index in indices(units, front.bytes / au_bytes) {
        let unit = Extent::new(front.offset_bytes + au_index * au_bytes, au_bytes);
        add(Region::Front, unit, Some(au_index));
    }
    add(Region::Middle, middle, None);
    Ok(())
}

/// Indices of the first units, then of some others: each a quarter further away than the one
/// before.
fn indices(units: u64, most: u64) -> impl Iterator<Item = u64> {
    let further = std::iter::successors(Some(units), |index| Some((index + 1).max(index * 5 / 4)));
    (0..units).chain(further.take_while(move |index| *index < most))
}

#[cfg(test)]
mod tests {

    use crate::catalogue::testing::run_simulated;

    #[test]
    fn a_slow_front_shows_in_its_units_and_no_other() {
        for (profile, slow) in [("class10-bypass", 2), ("sd-worst", 0)] {
            let cells = run_simulated(profile, 4, &["front-area"]);
            let rate = |cell: &record::Cell| cell.metrics.bps.unwrap().value;
            let middle = rate(cells.last().unwrap());
            let ratios: Vec<f64> = cells.iter().map(|cell| middle / rate(cell)).collect();
            let (front, rest) = ratios.split_at(slow);
            assert!(front.iter().all(|ratio| *ratio > 1.4), "{profile}: {ratios:?}");
            assert!(rest.iter().all(|it| (1.0 / 1.4..1.4).contains(it)), "{profile}: {ratios:?}");
        }
    }
}
