//! State of the span that a reading test uses.

use device::Extent;
use record::{Flag, PlannedCell, Region};

use crate::CellContext;
use crate::planned::span_of;

/// The range to read, and the caveat about it. In region middle and in a file only data that this
/// run has written is read, because the rest of a file is a hole; regions front and whole are read
/// completely, however much of them was written.
pub fn preconditioned_span(
    cell: &PlannedCell,
    context: &CellContext<'_>,
) -> (Extent, Option<Flag>) {
    let planned = span_of(cell);
    let fixed = matches!(cell.params.region, Some(Region::Front | Region::Whole));
    match context.preconditioned(planned) {
        None => (planned, Some(Flag::NotPrimed)),
        Some(preconditioned) if !fixed || preconditioned == planned => (preconditioned, None),
        Some(preconditioned) => (
            planned,
            Some(Flag::PartlyPrimed {
                primed_bytes: preconditioned.bytes,
                wanted_bytes: planned.bytes,
            }),
        ),
    }
}
