//! `management-unit`: single writes that are aligned to their size, against the same shifted by 4
//! KiB (docs/field/allocation-units.md#management-unit).
//!
//! A write that covers whole units of the medium's own table is taken as it is; one that covers
//! parts of two has to fetch the rest. The size at which aligned writes become cheaper than shifted
//! ones is the unit. No write continues the one before: between two lies as much as one covers, or
//! a medium that gathers writes would hide the difference.
//!
//! What a cell was asked: `form` (aligned, misaligned), `shift_bytes`. Metrics: `latency_ns` (the
//! median: merges of allocation units, which come now and then, do not move it), `bps`,
//! `warm_up_ns`.

use super::prelude::*;
use super::stretch::{self, Stretch, earlier, part_of, strided};

settings! {
    ManagementUnitSettings {
        block: Blocks = "8KiB,16KiB,32KiB,64KiB,128KiB,256KiB", "sizes of a write";
        span: Span = "512MiB", "span in the middle";
        max_time: Time = "10s", "time limit per size and form";
    }
}

spec! {
    /// Writes that are shifted from multiples of their size.
    ShiftedSpec {
        shift_bytes: u64,
        ..stretch: Stretch,
    }
}

/// Times single writes, aligned and shifted by 4 KiB, a cell for each block size and form.
pub struct ManagementUnit;

/// Writes that count, and those before.
const OPS: u64 = 48;
const WARM_UP_OPS: u64 = 4;
/// How far the shifted writes are shifted.
const SHIFT_BYTES: u64 = 4 * KIB;

impl Procedure for ManagementUnit {
    type Settings = ManagementUnitSettings;
    type Spec = ShiftedSpec;

    fn entry(&self) -> Entry {
        Entry {
            name: test::MANAGEMENT_UNIT,
            about: "single writes aligned to their size, and the same writes shifted by 4 KiB",
            source: "docs/field/allocation-units.md#inference",
            needs: Needs::WRITING_RAW,
        }
    }

    fn plan(&self, settings: &Self::Settings, cells: &mut Cells<'_, ShiftedSpec>) -> Planned {
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
                cells.add_stretch(params, &ShiftedSpec { shift_bytes, stretch }, settings.max_time);
            }
        }
        Ok(())
    }

    fn run(&self, cell: &TypedCell<ShiftedSpec>, context: &mut CellContext<'_>) -> CellOutcome {
        let (block_bytes, shift_bytes) = (cell.block_bytes(), cell.spec.shift_bytes);
        let part_bytes = ((OPS + WARM_UP_OPS + 1) * 2 * block_bytes)
            .next_multiple_of(context.target.alignment_bytes());
        let part = part_of(cell.span(), part_bytes, earlier(cell, context).count() as u64);
        stretch::run(cell, context, &mut strided(part, block_bytes, 2 * block_bytes, shift_bytes))
    }
}

#[cfg(test)]
mod tests {
    use device::Op;
    use record::units::{GIB, MIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{Bed, card, run_profile};

    #[test]
    fn no_write_continues_another_and_shifted_ones_are_shifted() {
        let ran = Bed::raw(GIB, |_, _| MILLISECOND_NS).run(&["management-unit block=16KiB"]);
        let writes: Vec<u64> = ran
            .requests
            .iter()
            .filter(|r| r.op == Op::Write)
            .map(|r| r.offset_bytes - 512 * MIB)
            .collect();
        let (aligned, misaligned) = writes.split_at(52);
        assert_eq!(aligned, (0..52).map(|n| n * 32 * KIB).collect::<Vec<_>>());
        assert_eq!(
            misaligned,
            (0..52).map(|n| 2 * MIB + n * 32 * KIB + 4 * KIB).collect::<Vec<_>>()
        );
    }

    #[test]
    fn aligned_writes_are_cheaper_from_the_unit_on() {
        let cells = run_profile(&card(4, 3), None, 6, &["management-unit"]);
        for pair in cells.chunks(2) {
            let typical_ns =
                |at: usize| pair[at].metrics.latency_ns.as_ref().unwrap().p50.unwrap() as f64;
            let extra_ns = typical_ns(1) - typical_ns(0);
            // The unit is 16 KiB; a part of one costs 1.5 ms.
            let expected = if pair[0].params.block_bytes.unwrap() < 16 * KIB { 0.0 } else { 1.5e6 };
            assert!(
                (extra_ns - expected).abs() < 0.15 * typical_ns(1),
                "{:?}: {extra_ns}",
                pair[0].params.block_bytes
            );
        }
    }
}
