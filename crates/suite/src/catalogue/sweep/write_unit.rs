//! `write-unit`: sequential writes at 512 B to 256 KiB, to find the unit in which a medium programs
//! its flash (docs/field/allocation-units.md#write-unit).
//!
//! Below the unit a write takes as long as one of a whole unit; above it, time grows with the size.
//! The findings fit t(b) = t0 + ceil(b/u) u/W, with an additional time if b is not a multiple of u;
//! the test gives the points.
//!
//! Each size begins in its own part of the span. The first eight writes do not count.
//!
//! Metrics: `latency_ns` (the median is a write inside a unit; the mean includes the changes of
//! units), `bps`, `iops`, `warm_up_ns`.

use super::{Step, Sweep, WritePlacement};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::Stretch;

settings! {
    WriteUnitSettings {
        block: Blocks = "512,1KiB,2KiB,4KiB,8KiB,16KiB,32KiB,64KiB,128KiB,256KiB", "sizes of a write";
        max_time: Time = "10s", "time limit per size";
    }
}

/// Bytes in the middle in which it writes.
const SPAN_BYTES: u64 = 128 * MIB;
/// Most bytes that each size writes; it gets twice as many of the span.
const TOTAL_BYTES: u64 = 4 * MIB;
const WARM_UP_OPS: u64 = 8;

/// Sequential writes, a cell for each block size, to find the unit in which flash is programmed.
pub const WRITE_UNIT: Sweep<WriteUnitSettings> = Sweep {
    entry: Entry {
        name: test::WRITE_UNIT,
        about: "sequential writes, by block size: finds the unit that the medium programs at once",
        source: "docs/field/allocation-units.md#inference",
        needs: Needs::WRITING,
    },
    values: sizes,
    places: WritePlacement::Part(|_, align_bytes| (2 * TOTAL_BYTES).next_multiple_of(align_bytes)),
};

fn sizes(settings: &WriteUnitSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let Some(span) = cells.region(Region::Middle, SPAN_BYTES) else { return Ok(()) };
    for block_bytes in settings.block.iter().copied().filter(|block| *block <= span.bytes) {
        let stretch = Stretch {
            warm_up_ops: WARM_UP_OPS,
            ..Stretch::of_bytes(TOTAL_BYTES, block_bytes, 64, 2 * SECOND_NS)
        };
        let params = cells.writes(Region::Middle, span, Pattern::Sequential, block_bytes);
        cells.add_stretch(params, &Step { stretch, ..Step::default() }, settings.max_time);
    }
    Ok(())
}

#[cfg(test)]
mod tests {

    use record::units::KIB;

    use crate::catalogue::testing::run_simulated;

    #[test]
    fn below_the_unit_all_sizes_take_as_long() {
        let cells = run_simulated("cf-kingston-266x", 5, &["write-unit"]);
        let typical_ns = |block: u64| {
            let cell = cells.iter().find(|cell| cell.params.block_bytes == Some(block)).unwrap();
            cell.metrics.latency_ns.as_ref().unwrap().p50.unwrap() as f64
        };
        for block in [4 * KIB, 16 * KIB, 32 * KIB] {
            assert!((0.85..1.2).contains(&(typical_ns(block) / typical_ns(64 * KIB))), "{block}");
        }
        assert!((1.7..2.1).contains(&(typical_ns(128 * KIB) / typical_ns(64 * KIB))));
        assert!((3.4..4.1).contains(&(typical_ns(256 * KIB) / typical_ns(64 * KIB))));
    }
}
