//! `management-unit`: single writes that are aligned to their size, compared with the same shifted
//! by 4 KiB (docs/field/allocation-units.md#management-unit).
//!
//! A write that covers whole units of the medium's own table is stored as it is; one that covers
//! parts of two has to read the rest. The unit is the size at which aligned writes become cheaper
//! than shifted ones. No write continues the one before: the gap between two is as large as a
//! write, because a medium that gathers writes would hide the difference.
//!
//! Parameters of a cell: `form` (aligned, misaligned), `shift_bytes`. Metrics: `latency_ns` (the
//! median: it does not change with occasional merges of allocation units), `bps`, `warm_up_ns`.

use super::{Step, Sweep, WritePlacement};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::Stretch;

settings! {
    ManagementUnitSettings {
        block: Blocks = "8KiB,16KiB,32KiB,64KiB,128KiB,256KiB", "sizes of a write";
        span: Span = "512MiB", "span in the middle";
        max_time: Time = "10s", "time limit per size and form";
    }
}

/// Number of writes that count, and of those before.
const OPS: u64 = 48;
const WARM_UP_OPS: u64 = 4;
/// Shift of the shifted writes, in bytes.
const SHIFT_BYTES: u64 = 4 * KIB;

/// Single writes, aligned and shifted by 4 KiB, a cell for each block size and form.
pub const MANAGEMENT_UNIT: Sweep<ManagementUnitSettings> = Sweep {
    entry: Entry {
        name: test::MANAGEMENT_UNIT,
        about: "single writes aligned to their size, and the same writes shifted by 4 KiB",
        source: "docs/field/allocation-units.md#inference",
        needs: Needs::WRITING_RAW,
    },
    values: sizes_and_forms,
    places: WritePlacement::Part(|cell, align_bytes| {
        ((OPS + WARM_UP_OPS + 1) * 2 * cell.block_bytes()).next_multiple_of(align_bytes)
    }),
};

fn sizes_and_forms(settings: &ManagementUnitSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let Some(span) = cells.span(&settings.span, Region::Middle)? else { return Ok(()) };
    let stretch = Stretch {
        warm_up_ops: WARM_UP_OPS,
        ops: OPS,
        enough_ops: 16,
        enough_ns: 4 * SECOND_NS,
        ..Stretch::default()
    };
    for block_bytes in settings.block.iter().copied().filter(|block| 4 * *block <= span.bytes) {
        for (form, shift_bytes) in [("aligned", 0), ("misaligned", SHIFT_BYTES)] {
            let writes = cells.writes(Region::Middle, span, Pattern::Strided, block_bytes);
            let params = Params { form: Some(form.into()), ..writes };
            let step = Step { shift_bytes: Some(shift_bytes), stretch, ..Step::default() };
            cells.add_stretch(params, &step, settings.max_time);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, MIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{TestBench, card, run_profile};

    #[test]
    fn no_write_continues_another_and_shifted_ones_are_shifted() {
        let ran = TestBench::raw(GIB, |_, _| MILLISECOND_NS).run(&["management-unit block=16KiB"]);
        let row = |start: u64| (0..52).map(move |n| start + n * 32 * KIB);
        let expected: Vec<u64> = row(0).chain(row(2 * MIB + 4 * KIB)).collect();
        assert_eq!(ran.writes(512 * MIB), expected);
    }

    #[test]
    fn aligned_writes_are_cheaper_from_the_unit_on() {
        let cells = run_profile(&card(4, 3), None, 6, &["management-unit"]);
        for pair in cells.chunks(2) {
            let typical_ns =
                |at: usize| pair[at].metrics.latency_ns.as_ref().unwrap().p50.unwrap() as f64;
            let (extra_ns, bytes) = (typical_ns(1) - typical_ns(0), pair[0].params.block_bytes);
            // The unit is 16 KiB; a part of one costs 1.5 ms.
            let expected = if bytes < Some(16 * KIB) { 0.0 } else { 1.5e6 };
            assert!((extra_ns - expected).abs() < 0.15 * typical_ns(1), "{bytes:?}: {extra_ns}");
        }
    }
}
