//! Figures of other tools: the operations that correspond to each figure.

use record::collection::HeadlineFigure;
use record::units::{KIB, MIB};
use record::{Cell, Path, Record, metric, test};

use crate::figures::figure::UsableEstimate;

/// A figure from a record of another tool: the median of the cells that match it best. A post often
/// has the same command several times. `None` if none of them is that operation at queue depth 1
/// that bypasses the page cache or includes the time to flush it.
pub(crate) fn figure(record: &Record, wanted: HeadlineFigure) -> Option<f64> {
    if record.run.software.is_flashmark() {
        return None;
    }
    let found = || record.cells.iter().filter_map(stands_for).filter(|it| it.figure == wanted);
    let best = found().map(|it| it.rank).max()?;
    let mut values: Vec<f64> = found().filter(|it| it.rank == best).map(|it| it.value).collect();
    stats::median(&mut values)
}

/// A cell as a figure.
struct RankedFigure {
    figure: HeadlineFigure,
    /// Quality of the match: more is better.
    rank: u64,
    value: f64,
}

/// Ranks of sequential rates; of blocks from 64 KiB to 1 MiB the largest comes first.
const LARGE_BLOCKS: u64 = 1000;
const LARGER_BLOCKS: u64 = 500;
const WITH_FLUSH: u64 = 100;
const READ_AHEAD: u64 = 50;

fn stands_for(cell: &Cell) -> Option<RankedFigure> {
    // "< 1 MB/s" is a bound.
    if cell.label("published").starts_with(['<', '>']) {
        return None;
    }
    let of = |figure, rank, name| {
        Some(RankedFigure { figure, rank, value: UsableEstimate::of(cell, name)?.value })
    };
    let is_direct = cell.params.path == Path::Direct && cell.params.in_flight() == 1;
    match operation(cell)? {
        ("iozone", way @ ("random-write" | "random-read")) if is_direct => {
            of(HeadlineFigure::at(way, cell.params.block_bytes?)?, 0, metric::IOPS)
        }
        ("iozone" | "dd", way @ ("write" | "read")) if is_direct => {
            of(sequential(way), block_rank(cell.params.block_bytes?)?, metric::BPS)
        }
        ("dd", "write") if !cell.label("flush").is_empty() => {
            of(HeadlineFigure::SequentialWrite, WITH_FLUSH, metric::BPS)
        }
        ("hdparm" | "f3", "read") => of(HeadlineFigure::SequentialRead, READ_AHEAD, metric::BPS),
        // f3 fills a whole medium, unless a file system is named, which would be part of the
        // figure.
        ("f3", "write") if cell.label("filesystem").is_empty() => {
            of(HeadlineFigure::RandomFill, 0, metric::BPS)
        }
        ("morton", _) => {
            let time = UsableEstimate::of(cell, metric::ACCESS_TIME_NS)?.value;
            let figure = HeadlineFigure::at(test::RANDOM_WRITE, cell.params.block_bytes?)?;
            Some(RankedFigure { figure, rank: 0, value: 1e9 / time })
        }
        _ => None,
    }
}

/// Tool and operation of a cell, from the name of its test.
fn operation(cell: &Cell) -> Option<(&str, &str)> {
    let form = cell.params.form.as_deref();
    Some(match cell.test.as_str() {
        test::SEQUENTIAL_WRITE => ("dd", "write"),
        test::SEQUENTIAL_READ => ("dd", "read"),
        test::BUFFERED_READ if form != Some("cache") => ("hdparm", "read"),
        test::SECTOR_WRITE => ("morton", "write"),
        name if name == test::RECORD_OPS || name.starts_with("iozone") => ("iozone", form?),
        name => name.split_once(':')?,
    })
}

fn sequential(way: &str) -> HeadlineFigure {
    if way == "write" { HeadlineFigure::SequentialWrite } else { HeadlineFigure::SequentialRead }
}

fn block_rank(block_bytes: u64) -> Option<u64> {
    match block_bytes {
        _ if block_bytes > MIB => Some(LARGER_BLOCKS),
        _ if block_bytes >= 64 * KIB => Some(LARGE_BLOCKS + block_bytes / KIB),
        _ => None,
    }
}
