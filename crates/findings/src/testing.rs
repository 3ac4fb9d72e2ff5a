//! Records for tests: built by hand here, in words in [`words`], and in tables of what they come to
//! in [`table`].

pub(crate) mod table;
mod words;

use record::{
    Cell, Content, Direction, Ended, Estimate, Finding, Latency, Params, Pattern, Record, Region,
    Run, Stop,
};

pub(crate) use words::record_in_words;

/// A record with nothing in it.
pub(crate) fn empty() -> Record {
    Record::new(Run { ended: Ended::Complete, ..Run::default() })
}

/// The evidence of a finding as text, a line each.
pub(crate) fn evidence_texts(finding: &Finding, record: &Record) -> String {
    let lines = finding.evidence.iter().map(|line| crate::evidence_text(line, record));
    lines.collect::<Vec<_>>().join("\n")
}

/// A figure known to a share of it.
pub(crate) fn known(value: f64, share: f64, n: u64) -> Estimate {
    Estimate { value, ci95: Some([value * (1.0 - share), value * (1.0 + share)]), n }
}

/// A cell of writes or reads at a block size, in the middle of the medium, with incompressible
/// data.
pub(crate) fn cell(test: &str, number: u32, block_bytes: u64) -> Cell {
    let direction = if test.ends_with("read") { Direction::Read } else { Direction::Write };
    let params = Params {
        direction: Some(direction),
        pattern: Some(if test.starts_with("random-w") || test.starts_with("random-r") {
            Pattern::Permutation
        } else {
            Pattern::Sequential
        }),
        block_bytes: Some(block_bytes),
        region: Some(Region::Middle),
        span_bytes: Some(512 << 20),
        queue_depth: 1,
        threads: 1,
        content: (direction == Direction::Write).then_some(Content::Incompressible),
        ..Params::default()
    };
    Cell {
        stop: Stop::Converged,
        ops: 400,
        bytes: 400 * block_bytes,
        ..Cell::begun(format!("{test}/{number}"), test, params)
    }
}

/// The same with so many I/Os a second, known to 3 %, the slowest of them taking so long.
pub(crate) fn iops(test: &str, number: u32, block_bytes: u64, value: f64, worst_ns: u64) -> Cell {
    let mut cell = cell(test, number, block_bytes);
    cell.metrics.iops = Some(known(value, 0.03, 400));
    cell.metrics.bps = Some(known(value * block_bytes as f64, 0.03, 400));
    cell.metrics.latency_ns =
        Some(Latency { n: 400, max: worst_ns, mean: 1e9 / value, ..Latency::default() });
    cell
}

/// A record of these cells.
pub(crate) fn record_of(cells: Vec<Cell>) -> Record {
    Record { cells, ..empty() }
}

/// The cell with all its figures known exactly.
pub(crate) fn exact(mut cell: Cell) -> Cell {
    let figures = [&mut cell.metrics.iops, &mut cell.metrics.bps].into_iter().flatten();
    figures.for_each(|figure| figure.ci95 = Some([figure.value; 2]));
    cell
}
