//! Short stretches of I/O, of which most tests of geometry and cheats consist: one cell for each
//! value of a parameter, all from the same state. The state is set in three steps: a flush, so that
//! no work is deferred; a pause, if a cache was seen; and I/Os of the same kind that do not
//! count, so that units of the cell before are closed before this one is measured.

use record::units::MILLISECOND_NS;
use record::{Content, Direction, Params, PlannedCell, Stop};

use self::warm_up::WarmUp;
use super::rewrite_check;
use crate::io_loop::{IoLoad, LoopLimits, Places};
use crate::observed_cache::CACHE_FILL_BYTES;
use crate::procedure::{Cells, TypedCell};
use crate::spec::{CellSpec, spec};
use crate::{CellContext, CellOutcome};

mod warm_up;

/// Share of a cell's time for I/Os that do not count.
const WARM_UP_SHARE: f64 = 0.5;

spec! {
    /// Length of a stretch, as stored in the plan.
    #[derive(Default)]
    Stretch {
        /// Number of I/Os that do not count.
        warm_up_ops: u64,
        /// Bytes of further I/Os after these, which continue until the latency is steady and so
        /// many bytes are written, or the medium merges for each write...
        overwhelm_bytes: u64,
        /// ...but at most so many bytes; 0 if only the I/Os above set the state.
        settle_bytes: u64,
        /// Limits for filling a volatile cache before them, if earlier cells have shown one, with
        /// I/Os of the same kind: bytes, and nanoseconds beyond the cell's own time.
        cache_bytes: u64,
        cache_ns: u64,
        /// Most I/Os that count.
        ops: u64,
        /// Number of I/Os that is enough on a slow medium,
        enough_ops: u64,
        /// once they have taken this long, in nanoseconds.
        enough_ns: u64,
    }
}

impl AsRef<Stretch> for Stretch {
    fn as_ref(&self) -> &Stretch {
        self
    }
}

impl Stretch {
    /// The same with `cache_ns` nanoseconds beyond the cell's own time, to fill any volatile cache
    /// that earlier cells have shown.
    pub fn past_caches(self, cache_ns: u64) -> Stretch {
        Stretch { cache_bytes: CACHE_FILL_BYTES, cache_ns, ..self }
    }

    /// As many I/Os of this size as make `bytes`; at least `enough_ops`, which are enough after
    /// `enough_ns`.
    pub fn of_bytes(bytes: u64, block_bytes: u64, enough_ops: u64, enough_ns: u64) -> Stretch {
        Stretch {
            ops: (bytes / block_bytes).max(enough_ops),
            enough_ops,
            enough_ns,
            ..Stretch::default()
        }
    }

    /// Most nanoseconds that a cell takes, and most bytes that it writes.
    fn limits(self, params: &Params, max_ns: u64) -> (u64, u64) {
        let block_bytes = params.block_bytes.unwrap_or(1);
        let again_ops =
            if self.settle_bytes > 0 { rewrite_check::most_ops(block_bytes) } else { 0 };
        let ops = self.warm_up_ops + self.ops + again_ops;
        let written_bytes = match params.direction {
            Some(Direction::Write) => ops * block_bytes + self.settle_bytes + self.cache_bytes,
            _ => 0,
        };
        (max_ns.saturating_add(self.cache_ns), written_bytes)
    }
}

impl<S: CellSpec + AsRef<Stretch>> Cells<'_, S> {
    /// Plans a cell of a stretch, at queue depth 1.
    pub fn add_stretch(&mut self, params: Params, spec: &S, max_ns: u64) {
        let (max_ns, written_bytes) = spec.as_ref().limits(&params, max_ns);
        self.add(params, spec, max_ns, written_bytes);
    }
}

/// Direct I/O of the cell. The data differs for each `purpose` of each cell: no place is written
/// with the data that it holds already.
pub fn load(cell: &PlannedCell, context: &CellContext<'_>, purpose: &str) -> IoLoad {
    IoLoad {
        direction: cell.params.direction.unwrap_or(Direction::Read),
        sync: cell.params.sync,
        content: cell.params.content.unwrap_or(Content::Incompressible),
        pass: context.random(purpose).bits() as u32 >> 1,
        fresh: true,
        ..IoLoad::read(cell.block_bytes())
    }
}

/// Runs a cell planned with [`Cells::add_stretch`] at these places, in their order; the first ones
/// are for the warm-up.
///
/// Metrics: `iops`, `bps`, `latency_ns` of the I/Os that count, `warm_up_ns` (time of the others),
/// and `burst_iops` if the first of them were faster.
pub fn run<S: CellSpec + AsRef<Stretch>>(
    cell: &TypedCell<S>,
    context: &mut CellContext<'_>,
    next: Places<'_>,
) -> CellOutcome {
    let load = load(cell, context, "data");
    // Data of its own: what counts must not find itself written already.
    let state = IoLoad {
        pass: context.random("data for warming up").bits() as u32 >> 1,
        content: Content::Incompressible,
        ..load
    };
    run_after(cell, context, &state, &load, next)
}

/// The same with a separate load for the I/Os that set the state.
pub fn run_after<S: CellSpec + AsRef<Stretch>>(
    cell: &TypedCell<S>,
    context: &mut CellContext<'_>,
    state: &IoLoad,
    load: &IoLoad,
    next: Places<'_>,
) -> CellOutcome {
    let stretch = *cell.spec.as_ref();
    // Where the cell gets less time than planned, so does the rest.
    let share = (context.allotted_ns as f64 / cell.max_ns.max(1) as f64).min(1.0);
    let mut warm_up = WarmUp::new(stretch, load, context);
    if let Err(error) = set_state(warm_up.rest_ns(), load.direction, context) {
        return CellOutcome::broken(cell, error);
    }
    let own_ns = context.time_left_ns().saturating_sub((stretch.cache_ns as f64 * share) as u64);
    context.part(0.0, WARM_UP_SHARE);
    let limits =
        LoopLimits::time(warm_up.most_ns(own_ns, context.time_left_ns())).ops(warm_up.most_ops());
    let mut watch = |bytes, latency_ns| warm_up.push(bytes, latency_ns);
    let before = context.drive_watched("setting the state", state, &limits, next, &mut watch);
    if before.stop.cut_short() {
        let mut outcome = CellOutcome::new(cell);
        outcome.end(before.stop, before.error);
        return outcome;
    }
    context.part(WARM_UP_SHARE, 1.0);
    let limits = LoopLimits::time(context.time_left_ns().min(own_ns).max(1)).ops(stretch.ops);
    let (mut ops, mut took_ns) = (0, 0);
    let mut enough = |_, latency_ns| {
        (ops, took_ns) = (ops + 1, took_ns + latency_ns);
        ops >= stretch.enough_ops && took_ns >= stretch.enough_ns
    };
    let mut tally = context.drive_watched("measuring", load, &limits, next, &mut enough);
    if tally.stop == Stop::Converged {
        // Enough I/Os for their purpose: that says nothing about how certain the rate is.
        tally.stop = Stop::Ops;
    }
    let settled_ns = tally.busy_ns as f64 / tally.ops.max(1) as f64;
    let mut outcome = tally.outcome(cell);
    warm_up.conclude(&mut outcome.cell, &before, settled_ns);
    outcome
}

/// Flushes, drops caches of the host, and pauses.
fn set_state(
    rest_ns: u64,
    direction: Direction,
    context: &mut CellContext<'_>,
) -> Result<(), device::IoError> {
    match direction {
        Direction::Write => {
            context.flush()?;
        }
        Direction::Read => device::Device::drop_caches(context.medium)?,
    }
    rest(rest_ns, context);
    Ok(())
}

/// Waits without I/O, in steps short enough to be interrupted.
pub fn rest(duration_ns: u64, context: &mut CellContext<'_>) {
    let mut left_ns = duration_ns;
    while left_ns > 0 && !context.must_stop() {
        let step_ns = left_ns.min(100 * MILLISECOND_NS);
        device::Device::idle(context.medium, step_ns);
        left_ns -= step_ns;
    }
}

/// Earlier cells of the same test that ended in order.
pub fn earlier<'a>(
    cell: &'a PlannedCell,
    context: &'a CellContext<'_>,
) -> impl Iterator<Item = &'a record::Cell> + use<'a> {
    context.done.iter().filter(|done| done.test == cell.test && done.stop != Stop::Error)
}
