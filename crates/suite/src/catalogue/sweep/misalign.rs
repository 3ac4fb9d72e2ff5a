//! `misalign`: cost of a partition with a wrong alignment: writes of 4 and 64 KiB, shifted by 512 B
//! and 4 KiB (docs/field/cheats.md#cheats-and-caches).
//!
//! Sequential, and random inside one allocation unit: there merges of other units do not hide the
//! difference. Each cell has a unit of its own.
//!
//! Parameters of a cell: `form` (in-a-row, random), `shift_bytes` (0: aligned). Metrics: `bps`,
//! `iops`, `latency_ns`, `warm_up_ns`.

use super::{Step, Sweep, WritePlacement};
use crate::catalogue::prelude::*;
use crate::catalogue::stretch::Stretch;

settings! {
    MisalignSettings {
        block: Blocks = "4KiB,64KiB", "sizes of a write";
        form: Words([SEQUENTIAL, RANDOM]) = "in-a-row,random", "order of the writes";
        au: Size = "4MiB", "erase block (allocation unit) to assume where the medium declares none";
        max_time: Time = "8s", "time limit for each";
    }
}

/// Distances of the shift in bytes.
const SHIFTS_BYTES: [u64; 3] = [0, 512, 4 * KIB];

const SEQUENTIAL: &str = "in-a-row";
const RANDOM: &str = "random";

/// Sequential and random writes, a cell for each form, block size and shift.
pub const MISALIGN: Sweep<MisalignSettings> = Sweep {
    entry: Entry {
        name: test::MISALIGN,
        about: "aligned writes, and the same writes shifted by 512 B and 4 KiB",
        source: "docs/field/cheats.md#cheats-and-caches",
        needs: Needs::WRITING_RAW,
    },
    values: forms_sizes_and_shifts,
    places: WritePlacement::Part(|cell, align_bytes| {
        cell.spec.assumed_au_bytes.unwrap_or(align_bytes)
    }),
};

fn forms_sizes_and_shifts(settings: &MisalignSettings, cells: &mut Cells<'_, Step>) -> Planned {
    let assumed_au_bytes = cells.assumed_au(settings.au);
    let Some(span) = cells.region(Region::Middle, 64 * assumed_au_bytes) else {
        return Ok(());
    };
    if span.bytes < assumed_au_bytes {
        let (there, unit) = (Bytes(span.bytes), Bytes(assumed_au_bytes));
        cells.skip(format!("{there} are less than an erase block of {unit}"));
        return Ok(());
    }
    for form in &settings.form {
        let pattern = if *form == RANDOM { Pattern::Uniform } else { Pattern::Sequential };
        let blocks = settings.block.iter().filter(|block| 4 * **block <= assumed_au_bytes);
        for &block_bytes in blocks {
            for shift_bytes in SHIFTS_BYTES {
                // Shifted by its own size a write is as aligned as before.
                let is_aligned = shift_bytes > 0 && shift_bytes % block_bytes == 0;
                if !cells.can_shift(shift_bytes) || is_aligned {
                    continue;
                }
                let stretch = Stretch {
                    warm_up_ops: 8,
                    ..Stretch::of_bytes(4 * MIB, block_bytes, 64, 3 * SECOND_NS)
                };
                let writes = cells.writes(Region::Middle, span, pattern, block_bytes);
                let params = Params { form: Some((*form).into()), ..writes };
                let step = Step {
                    shift_bytes: Some(shift_bytes),
                    assumed_au_bytes: Some(assumed_au_bytes),
                    stretch,
                    ..Step::default()
                };
                cells.add_stretch(params, &step, settings.max_time);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {

    use record::units::{GIB, KIB, MILLISECOND_NS};

    use crate::catalogue::testing::{TestBench, run_simulated};

    #[test]
    fn every_write_is_shifted_by_the_bytes_of_its_cell() {
        let ran = TestBench::raw(GIB, |_, _| MILLISECOND_NS).run(&["misalign"]);
        let shift = |cell: &record::Cell| cell.params.other["shift_bytes"] as u64;
        let block = |cell: &record::Cell| cell.params.block_bytes.unwrap();
        let cells: Vec<_> =
            ran.end.cells.iter().map(|cell| (block(cell) / KIB, shift(cell))).collect();
        assert_eq!(cells, [(4, 0), (4, 512), (64, 0), (64, 512), (64, 4096)].repeat(2));
        let mut writes = ran.writes(0).into_iter();
        for cell in &ran.end.cells {
            let mut its = writes.by_ref().take(cell.ops as usize + 8);
            assert!(its.all(|at| at % block(cell) == shift(cell)), "{}", cell.id);
        }
    }

    #[test]
    fn partial_pages_show_on_a_card_that_maps_pages() {
        let cells = run_simulated("a1", 8, &["misalign form=random block=4KiB"]);
        let mean_ns = |at: usize| cells[at].elapsed_ns as f64 / cells[at].ops as f64;
        // A write that is no whole page costs 0.69 ms more.
        assert!((mean_ns(1) - mean_ns(0) - 0.69e6).abs() < 0.1e6, "{} {}", mean_ns(0), mean_ns(1));
    }
}
