//! Progress for programs (`--progress json`): events of a run as JSON, an object a line on standard
//! error. Names and members are stable; docs/progress.md lists them.

use record::{Cell, Flag, PlannedCell, Record, Skip, Summary};
use serde_json::{Value, json};
use store::RunDir;
use suite::{CellProgress, RunEvent};

use crate::words;
use program::messages::event;

/// Writes what is going to be done, before anything is.
pub fn planned(dir: &RunDir, cells: &[PlannedCell], skipped: &[Skip], done: &[Cell]) {
    let done: Vec<&str> = done.iter().map(|cell| cell.id.as_str()).collect();
    let record = dir.record_path();
    let cells: Value = cells.iter().map(PlannedCell::json).collect();
    let skipped: Value = skipped.iter().map(Skip::json).collect();
    event(
        "planned",
        json!({ "run": dir.name(), "record": record, "cells": cells, "skipped": skipped, "done": done }),
    );
}

/// Writes the conclusions of a run, and the path of its record.
pub fn concluded(record: &Record, dir: &RunDir) {
    for finding in &record.findings {
        event("finding", finding.json());
    }
    let (ended, summary) = (record.run.ended, record.summary.as_ref().map(Summary::json));
    event(
        "record",
        json!({ "run": dir.name(), "record": dir.record_path(), "ended": ended, "summary": summary }),
    );
}

/// Writes an event of a run of so many cells.
pub fn write(run_event: &RunEvent<'_>, cells: usize) {
    match run_event {
        RunEvent::CellStarted { index, cell, allotted_ns } => event(
            "cell-started",
            json!({ "index": index, "cells": cells, "cell": cell.json(), "allotted_ns": allotted_ns }),
        ),
        RunEvent::Progress(progress) => event("progress", members(progress, cells)),
        RunEvent::CellFinished { index, cell } => {
            let figure = words::figure(cell);
            event(
                "cell-finished",
                json!({ "index": index, "cells": cells, "figure": figure, "cell": result(cell) }),
            );
        }
        RunEvent::RoundStarted { cell, number } => {
            event("round-started", json!({ "cell": cell.id, "number": number }));
        }
        RunEvent::CellRevised { cell } => {
            let figure = words::figure(cell);
            event("cell-revised", json!({ "figure": figure, "cell": result(cell) }));
        }
        RunEvent::Skipped(skip) => event("skipped", skip.json()),
        RunEvent::Flagged(flag) => event("caveat", caveat(flag)),
        RunEvent::RoundFinished { .. }
        | RunEvent::RoundsDone { .. }
        | RunEvent::RestorePending(_)
        | RunEvent::Marked(_) => {}
    }
}

fn members(progress: &CellProgress<'_>, cells: usize) -> Value {
    let left_ns = Some(progress.remaining_ns).filter(|ns| *ns > 0);
    json!({
        "index": progress.index,
        "cells": cells,
        "share": run_share(progress, cells),
        "cell_share": progress.share,
        "remaining_ns": left_ns,
        "phase": progress.phase,
        "elapsed_ns": progress.elapsed_ns,
        "iops": progress.iops,
        "bps": progress.bps,
        "written_bytes": progress.written_bytes,
    })
}

/// Share of a run of so many cells that is done, 0 to 1: of its time, if that is known.
pub fn run_share(progress: &CellProgress<'_>, cells: usize) -> f64 {
    let of_cells = (progress.index as f64 + progress.share) / cells.max(1) as f64;
    progress.run_share.unwrap_or(of_cells)
}

/// A cell as the record has it, without what is large: histogram, curves and counters.
fn result(cell: &Cell) -> Value {
    Cell { histogram: None, series: Vec::new(), activity: Vec::new(), ..cell.clone() }.json()
}

fn caveat(flag: &Flag) -> Value {
    json!({ "caveat": flag.json(), "text": flag.to_string() })
}
