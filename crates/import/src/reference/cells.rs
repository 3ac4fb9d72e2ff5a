//! Cells of published figures: with the name of our test if the procedure is the same, and a flag
//! for every caveat.

use record::{
    Cell, Content, Direction, Flag, Params, Path, Pattern, Region, Stop, Sync, metric, test,
};

use super::{FigureKind, ReferenceRow};
use crate::imported_run::{estimate, label, note, other};
use crate::text::short;

/// Cell of a measured figure; `None` for statements, claims, derived figures and parameters.
pub(super) fn cell(row: &ReferenceRow) -> Option<Cell> {
    if !matches!(row.kind, FigureKind::Measured | FigureKind::MeasuredApprox) {
        return None;
    }
    let value = row.value.as_ref()?;
    let mut cell = Cell::begun("", test(row), params(row));
    cell.stop = Stop::Ops;
    // The middle of a range represents it.
    let number =
        row.value_max.as_ref().map_or(value.number, |most| (value.number + most.number) / 2.0);
    measured(&mut cell, row, number);
    label(&mut cell, "tool", tool(row));
    label(&mut cell, "row", &row.row_id);
    label(&mut cell, "published", &published(row));
    label(&mut cell, "repeat", repeat(row).unwrap_or_default());
    if row.tool == "dd" && row.operation == "write" && row.sync == Some(true) {
        label(&mut cell, "flush", "fsync");
    }
    if is_memory(row) {
        cell.flags.push(Flag::Cached);
    }
    for (name, text) in [("filesystem", &row.filesystem), ("scheduler", &row.scheduler)] {
        label(&mut cell, name, text);
    }
    caveats(row).into_iter().for_each(|text| note(&mut cell, text));
    Some(cell)
}

/// Name of the tool that measured it.
pub(super) fn tool(row: &ReferenceRow) -> &str {
    if row.tool.is_empty() { "tool not stated" } else { &row.tool }
}

/// Figure as in its source: "1.7 MB/s", "94-96 s", "~ 20 IOPS".
pub(super) fn published(row: &ReferenceRow) -> String {
    let value = row.value.as_ref().map_or(String::new(), |value| value.text.clone());
    let range = row.value_max.as_ref().map_or(String::new(), |most| format!("-{}", most.text));
    [row.qualifier.clone(), format!("{value}{range}"), row.unit.clone()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Number of the round, if the source counts repetitions: "round 2, RPi 1".
fn repeat(row: &ReferenceRow) -> Option<&str> {
    let number = row.locator.strip_prefix("round ")?.split(',').next()?;
    number.parse::<u32>().is_ok().then_some(number)
}

fn test(row: &ReferenceRow) -> String {
    let direct = row.direct == Some(true);
    let ours = match (row.tool.as_str(), row.operation.as_str()) {
        ("iozone", "write" | "rewrite" | "random_read" | "random_write")
            if direct && row.sync == Some(true) =>
        {
            test::RECORD_OPS
        }
        ("dd", "write") if direct => test::SEQUENTIAL_WRITE,
        ("dd", "read") if direct => test::SEQUENTIAL_READ,
        ("hdparm", "read") => test::BUFFERED_READ,
        ("seeker" | "seeker.c", "random_read") => test::SEEK,
        ("author's own C benchmark", "random_write") => test::SECTOR_WRITE,
        ("author's own C benchmark", "fs_format") => test::EXT2_FORMAT,
        ("author's own C benchmark", "fs_fill") => test::EXT2_FILL,
        ("author's own C benchmark", "write") if row.notes.starts_with("zeroes") => test::ZERO_FILL,
        ("author's own C benchmark", "write") => test::RANDOM_FILL,
        _ => "",
    };
    if !ours.is_empty() {
        return ours.to_owned();
    }
    let tool: String = row.tool.split([' ', '(']).next().unwrap_or_default().to_ascii_lowercase();
    let tool = if tool.is_empty() { "published" } else { tool.trim_end_matches("'s") };
    let what = if row.operation.is_empty() { &row.metric } else { &row.operation };
    format!("{tool}:{}", what.replace('_', "-"))
}

fn params(row: &ReferenceRow) -> Params {
    let direction = match row.operation.as_str() {
        "read" | "reread" | "random_read" => Some(Direction::Read),
        "write" | "rewrite" | "random_write" | "fs_fill" | "fs_format" => Some(Direction::Write),
        _ => None,
    };
    let pattern = match row.operation.as_str() {
        "random_read" | "random_write" if row.tool == "iozone" => Some(Pattern::Permutation),
        "random_read" | "random_write" | "random_access" => Some(Pattern::Uniform),
        "read" | "reread" | "write" | "rewrite" | "transfer" => Some(Pattern::Sequential),
        _ => None,
    };
    let form = match row.tool.as_str() {
        "iozone" if !row.operation.is_empty() => Some(row.operation.replace('_', "-")),
        "hdparm" => Some("device".to_owned()),
        // 64 KB every 8 MB (docs/field/ext2.md#format).
        _ if test(row) == test::EXT2_FORMAT => Some("simple".to_owned()),
        _ => None,
    };
    let writes = direction == Some(Direction::Write);
    let content = match row.tool.as_str() {
        "iozone" if writes => Some(Content::Byte(165)),
        "dd" if writes && row.command.contains("/dev/zero") => Some(Content::Zeros),
        _ if row.notes.starts_with("zeroes") => Some(Content::Zeros),
        _ if row.notes.starts_with("random data") => Some(Content::Incompressible),
        _ => None,
    };
    Params {
        direction,
        pattern,
        block_bytes: row.block_size_bytes,
        region: row
            .span
            .contains("file")
            .then_some(Region::File)
            .or(row.span.starts_with("whole device").then_some(Region::Whole)),
        queue_depth: row.queue_depth.unwrap_or(1).max(1),
        threads: row.threads.unwrap_or(1).max(1),
        // A single fsync at the end is not synchronous writing.
        sync: if row.sync == Some(true) && writes && row.tool == "iozone" {
            Sync::File
        } else {
            Sync::None
        },
        path: if is_direct(row) { Path::Direct } else { Path::Buffered },
        content,
        form,
        ..Params::default()
    }
}

/// Bytes a second of a published rate. The units are those of each tool (docs/importing.md).
fn bps(row: &ReferenceRow, number: f64) -> Option<f64> {
    let factor = match row.unit.as_str() {
        "KiB/s" => 1024.0,
        "MiB/s" => 1024.0 * 1024.0,
        "kB/s" => 1e3,
        // hdparm and f3 print MB and mean 2^20 bytes.
        "MB/s" if matches!(row.tool.as_str(), "hdparm" | "f3") => 1024.0 * 1024.0,
        "MB/s" => 1e6,
        _ => return None,
    };
    Some(number * factor)
}

/// True if the tool bypassed the page cache. For dd and iozone the source must say so, except for
/// tables of iozone with a queue depth: those are of the usual command line.
fn is_direct(row: &ReferenceRow) -> bool {
    row.direct.unwrap_or(match row.tool.as_str() {
        "dd" => false,
        "iozone" => row.queue_depth == Some(1),
        _ => true,
    })
}

fn measured(cell: &mut Cell, row: &ReferenceRow, number: f64) {
    let block = row.block_size_bytes.filter(|block| *block > 0).map(|block| block as f64);
    if let Some(bps) = bps(row, number).filter(|_| row.metric == "throughput") {
        cell.metrics.bps = Some(estimate(bps, 1));
        cell.metrics.iops = block.map(|block| estimate(bps / block, 1));
        return;
    }
    let name = row.metric.replace('-', "_");
    match row.unit.as_str() {
        "IOPS" => {
            cell.metrics.iops = Some(estimate(number, 1));
            cell.metrics.bps = block.map(|block| estimate(number * block, 1));
        }
        "ms" if row.metric == "access_time" && number > 0.0 => {
            other(cell, metric::ACCESS_TIME_NS, number * 1e6, 1);
            cell.metrics.iops = Some(estimate(1e3 / number, 1));
        }
        "groups/s" => other(cell, metric::GROUPS_PER_S, number, 1),
        "us" => other(cell, &format!("{name}_ns"), number * 1e3, 1),
        "ms" => other(cell, &format!("{name}_ns"), number * 1e6, 1),
        "s" => {
            other(cell, &format!("{name}_ns"), number * 1e9, 1);
            if row.metric == "completion_time" {
                cell.elapsed_ns = (number * 1e9) as u64;
            }
        }
        unit => {
            let unit: String = unit
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
                .collect();
            other(cell, &format!("{name}_{unit}"), number, 1);
        }
    }
}

/// All reasons for care with a figure, as text.
fn caveats(row: &ReferenceRow) -> Vec<String> {
    let mut caveats = Vec::new();
    if row.kind == FigureKind::MeasuredApprox || !row.qualifier.is_empty() {
        caveats.push(format!("given as about {}", published(row)));
    }
    if test(row) == test::EXT2_FILL {
        caveats.push("the source does not say in which order metadata was written".to_owned());
    }
    if row.value_max.is_some() {
        caveats.push(format!("given as a range, {}; shown is its middle", published(row)));
    }
    if !row.notes.is_empty() {
        caveats.push(short(&row.notes, 300));
    }
    let is_rate = row.metric == "throughput" || row.metric == "iops";
    if row.direct.is_none() && is_rate {
        caveats.push("the source does not say whether this went past the page cache".to_owned());
    }
    if row.direct == Some(false) && row.sync == Some(true) {
        caveats.push("through the page cache, with the time of an fsync at the end".to_owned());
    }
    if row.unit == "MB/s" && matches!(row.tool.as_str(), "iozone" | "") && is_rate {
        caveats
            .push("whether its MB have 10^6 or 2^20 bytes is not said; taken for 10^6".to_owned());
    }
    caveats
}

/// True if its source says that the number is not the medium's.
fn is_memory(row: &ReferenceRow) -> bool {
    row.notes.contains("page cache")
}

/// Caveats of cells, each once.
pub(super) fn flags_of(cells: &[Cell]) -> Vec<Flag> {
    let mut all: Vec<Flag> = Vec::new();
    for flag in cells.iter().flat_map(|cell| &cell.flags) {
        if !all.contains(flag) {
            all.push(flag.clone());
        }
    }
    all
}
