//! `misalign`: what a partition that begins at the wrong place costs: writes of 4 and 64 KiB,
//! shifted by 512 B and 4 KiB (docs/field/cheats.md#cheats-and-caches).
//!
//! In a row, and at random inside one allocation unit: there merges of other units do not drown the
//! difference. Each cell has a unit of its own.
//!
//! What a cell was asked: `form` (in-a-row, random), `shift_bytes` (0: aligned). Metrics: `bps`,
//! `iops`, `latency_ns`, `warm_up_ns`.

use device::Extent;
use record::units::{Bytes, MIB, SECOND_NS};
use record::{Pattern, PlannedCell, Region, test};

use super::stretch::{self, Stretch, assumed_au, earlier, part_of};
use crate::offsets::{cyclic, uniform};
use crate::planned::span_of;
use crate::{
    CellContext, CellList, CellOutcome, Needs, Setting, SettingError, TargetInfo, Test,
    TestSettings,
};

/// Writes in a row and at random, a cell for each form, block size and shift.
pub struct Misalign;

const IN_A_ROW: &str = "in-a-row";
const RANDOM: &str = "random";

impl Test for Misalign {
    fn name(&self) -> &'static str {
        test::MISALIGN
    }
    fn about(&self) -> &'static str {
        "aligned writes, and the same writes shifted by 512 B and 4 KiB"
    }
    fn source(&self) -> &'static str {
        "docs/field/cheats.md#cheats-and-caches"
    }
    fn settings(&self) -> &'static [Setting] {
        &[
            Setting { name: "block", default: "4KiB,64KiB", about: "sizes of a write" },
            Setting { name: "shift", default: "0,512,4KiB", about: "distance of the shift" },
            Setting { name: "form", default: "in-a-row,random", about: "order of the writes" },
            Setting {
                name: "au",
                default: "4MiB",
                about: "erase block (allocation unit) to assume where the medium declares none",
            },
            Setting { name: "max_time", default: "8s", about: "time limit for each" },
        ]
    }
    fn needs(&self) -> Needs {
        Needs::WRITING_RAW
    }

    fn plan(
        &self,
        settings: &TestSettings,
        target: &TargetInfo,
        cells: &mut CellList<'_>,
    ) -> Result<(), SettingError> {
        let au_bytes = assumed_au(settings, target)?;
        let Some(span) = cells.or_skip(target.region(Region::Middle, 64 * au_bytes)) else {
            return Ok(());
        };
        if span.bytes < au_bytes {
            cells.skip(format!(
                "{} are less than an erase block of {}",
                Bytes(span.bytes),
                Bytes(au_bytes)
            ));
            return Ok(());
        }
        let logical_bytes = target.facts.logical_block_bytes;
        for form in settings.choices("form", &[IN_A_ROW, RANDOM])? {
            for block_bytes in
                settings.blocks("block")?.into_iter().filter(|block| 4 * *block <= au_bytes)
            {
                for shift_bytes in settings.places("shift")? {
                    if shift_bytes % logical_bytes != 0 {
                        cells.skip(format!(
                            "shifted by {}: the medium addresses units of {}",
                            Bytes(shift_bytes),
                            Bytes(logical_bytes)
                        ));
                        continue;
                    }
                    // Shifted by its own size a write is as aligned as before.
                    if shift_bytes > 0 && shift_bytes % block_bytes == 0 {
                        continue;
                    }
                    let pattern =
                        if form == RANDOM { Pattern::Uniform } else { Pattern::Sequential };
                    let mut params =
                        stretch::writes(target, Region::Middle, span, pattern, block_bytes);
                    params.form = Some(form.into());
                    params.other.insert("shift_bytes".into(), shift_bytes as f64);
                    params.other.insert("assumed_au_bytes".into(), au_bytes as f64);
                    let stretch = Stretch {
                        warm_up_ops: 8,
                        ..Stretch::of_bytes(4 * MIB, block_bytes, 64, 3 * SECOND_NS)
                    };
                    stretch.plan(params, settings.duration_ns("max_time")?, cells);
                }
            }
        }
        Ok(())
    }

    fn run(&self, cell: &PlannedCell, context: &mut CellContext<'_>) -> CellOutcome {
        let (block_bytes, shift_bytes) = (cell.block_bytes(), cell.setting("shift_bytes") as u64);
        let unit = part_of(
            span_of(cell),
            cell.setting("assumed_au_bytes") as u64,
            earlier(cell, context).count() as u64,
        );
        let shifted = Extent::new(unit.offset_bytes + shift_bytes, unit.bytes - shift_bytes);
        match cell.params.form.as_deref() {
            Some(RANDOM) => stretch::run(
                cell,
                context,
                &mut uniform(shifted, block_bytes, block_bytes, context.random("places")),
            ),
            _ => stretch::run(cell, context, &mut cyclic(shifted, block_bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use record::units::{GIB, KIB, MILLISECOND_NS};

    use super::*;
    use crate::catalogue::testing::{Bed, run_simulated};

    #[test]
    fn every_write_is_shifted_as_far_as_its_cell_says() {
        let ran = Bed::raw(GIB, |_, _| MILLISECOND_NS).run(&["misalign"]);
        let cells: Vec<_> = ran
            .end
            .cells
            .iter()
            .map(|cell| (cell.params.block_bytes.unwrap() / KIB, cell.params.other["shift_bytes"]))
            .collect();
        assert_eq!(cells, [(4, 0.0), (4, 512.0), (64, 0.0), (64, 512.0), (64, 4096.0)].repeat(2));
        let mut writes = ran.requests.iter().filter(|request| request.op == device::Op::Write);
        for cell in &ran.end.cells {
            let ops = cell.ops as usize + 8;
            let block = cell.params.block_bytes.unwrap();
            assert!(
                writes
                    .by_ref()
                    .take(ops)
                    .all(|write| write.offset_bytes % block
                        == cell.params.other["shift_bytes"] as u64),
                "{}",
                cell.id
            );
        }
    }

    #[test]
    fn large_sectors_cannot_be_shifted_by_small_ones() {
        let mut bed = Bed::raw(GIB, |_, _| 1);
        bed.target.facts.logical_block_bytes = 4096;
        insta::assert_snapshot!(bed.left_out(&["misalign"]), @"misalign: shifted by 512 B: the medium addresses units of 4 KiB");
        assert_eq!(bed.planned(&["misalign"]).len(), 6);
        bed.target.only = Some(Extent::new(0, MIB));
        insta::assert_snapshot!(bed.left_out(&["misalign"]), @"nothing to do: misalign: 1 MiB are less than an erase block of 4 MiB");
    }

    #[test]
    fn partial_pages_show_on_a_card_that_maps_pages() {
        let cells = run_simulated("a1", 8, &["misalign form=random block=4KiB"]);
        let mean_ns = |at: usize| cells[at].elapsed_ns as f64 / cells[at].ops as f64;
        // A write that is no whole page costs 0.69 ms more.
        assert!((mean_ns(1) - mean_ns(0) - 0.69e6).abs() < 0.1e6, "{} {}", mean_ns(0), mean_ns(1));
    }
}
