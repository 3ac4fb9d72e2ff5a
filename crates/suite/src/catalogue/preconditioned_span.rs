//! What is known of the ground that a reading test stands on.

use device::Extent;
use record::{Flag, PlannedCell, Region};

use crate::CellContext;
use crate::planned::span_of;

/// The range to read, and the caveat about it. In the middle and in a file only what this run has
/// written is read, for the rest of a file is a hole; the front and the whole are what they are
/// called, however much of them was written.
pub fn preconditioned_span(
    cell: &PlannedCell,
    context: &CellContext<'_>,
) -> (Extent, Option<Flag>) {
    let planned = span_of(cell);
    let fixed = matches!(cell.params.region, Some(Region::Front | Region::Whole));
    match context.primed(planned) {
        None => (planned, Some(Flag::NotPrimed)),
        Some(primed) if !fixed || primed == planned => (primed, None),
        Some(primed) => (
            planned,
            Some(Flag::PartlyPrimed { primed_bytes: primed.bytes, wanted_bytes: planned.bytes }),
        ),
    }
}
