//! Sweeps: tests whose cells differ in one parameter, the axis, each a short [`stretch`] of writes.
//! A sweep is a row: its purpose, the values of its axis, and the places of its writes.

use device::Extent;

use super::prelude::*;
use super::stretch::{self, Stretch};
use crate::offsets::{cyclic, uniform};
use crate::typed_settings::TypedSettings;

pub mod content_sweep;
pub mod misalign;
pub mod span_sweep;
pub mod write_unit;

/// A test that is a sweep, with settings `S`.
pub struct Sweep<S> {
    /// Its name and purpose.
    pub entry: Entry,
    /// Plans a cell for each value of the axis.
    pub values: fn(&S, &mut Cells<'_, Step>) -> Planned,
    /// Places of a cell's writes.
    pub places: WritePlacement,
}

spec! {
    /// A value of the axis; fields that a sweep does not use are absent.
    #[derive(Default)]
    Step {
        /// Shift of the writes from multiples of their size, in bytes.
        shift_bytes: Option<u64>,
        /// Erase block in bytes that a cell writes in; another block for each cell.
        assumed_au_bytes: Option<u64>,
        /// Unit in bytes: each of the first writes goes to another one.
        au_bytes: Option<u64>,
        /// Bytes at the end of the span that count, if not all of it.
        counted_bytes: Option<u64>,
        /// Fewest blocks that close units of other tests.
        closing_blocks: Option<u64>,
        ..stretch: Stretch,
    }
}

/// Places of a cell's writes, in the order of its pattern.
pub enum WritePlacement {
    /// A part of the span for each cell; the function returns the part's bytes for parts aligned to
    /// so many bytes.
    Part(fn(&TypedCell<Step>, u64) -> u64),
    /// The sweep runs its cells itself.
    Own(fn(&TypedCell<Step>, &mut CellContext<'_>) -> CellOutcome),
}

impl<S: TypedSettings> Procedure for Sweep<S> {
    type Settings = S;
    type Spec = Step;

    fn entry(&self) -> Entry {
        self.entry
    }

    fn plan(&self, settings: &S, cells: &mut Cells<'_, Step>) -> Planned {
        (self.values)(settings, cells)
    }

    fn run(&self, cell: &TypedCell<Step>, context: &mut CellContext<'_>) -> CellOutcome {
        let part = match self.places {
            WritePlacement::Part(bytes) => {
                let bytes = bytes(cell, context.target.alignment_bytes());
                part_for_turn(cell.span(), bytes, stretch::earlier(cell, context).count() as u64)
            }
            WritePlacement::Own(run) => return run(cell, context),
        };
        stretch::run(cell, context, &mut places_in(part, cell, context))
    }
}

/// Places in this range in the order of the cell's pattern, shifted as the cell's spec says.
fn places_in(
    range: Extent,
    cell: &TypedCell<Step>,
    context: &CellContext<'_>,
) -> Box<dyn FnMut(u32) -> Option<Extent>> {
    let (block_bytes, shift_bytes) = (cell.block_bytes(), cell.spec.shift_bytes.unwrap_or(0));
    let shifted =
        Extent::new(range.offset_bytes + shift_bytes, range.bytes.saturating_sub(shift_bytes));
    match cell.params.pattern {
        Some(Pattern::Uniform) => {
            Box::new(uniform(shifted, block_bytes, block_bytes, context.random("places")))
        }
        _ => Box::new(cyclic(shifted, block_bytes)),
    }
}

/// A part of `span` for each cell of a test in turn, so that none begins in units that another has
/// left open: `part_bytes` long, or the whole span if that is shorter. When the span is used up
/// they start again at its front.
fn part_for_turn(span: Extent, part_bytes: u64, turn: u64) -> Extent {
    let parts = (span.bytes / part_bytes.max(1)).max(1);
    Extent::new(span.offset_bytes + turn % parts * part_bytes, part_bytes.min(span.bytes))
}
