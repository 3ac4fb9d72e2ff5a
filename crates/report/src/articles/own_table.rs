//! The table that an article ends with, with a row for each run: its media by their main figures,
//! its plot as bars, and its conclusion drawn anew from each run.

use record::text::printable;
use record::units::{Bytes, KIB, MIB, significant};
use record::{Cell, MediumKind, Record};

use super::conclusion::conclusion;
use super::medium_row::{BlockReads, MediumColumn, MediumRow, RandomReads, columns, mbps};
use super::{Article, ArticleFigures, named};
use crate::text::{fold, short};
use crate::{display, words};

/// The article that a suite repeats: "seeds:004".
pub fn of_suite(suite: &str) -> Option<&'static Article> {
    named(suite.strip_prefix("seeds:")?)
}

/// Name of the medium of a run; a simulated one says that it is simulated.
pub fn run_name(record: &Record) -> String {
    let name = words::name(&record.medium);
    match record.medium.kind {
        MediumKind::Simulated => format!("{name} (simulated)"),
        _ => name,
    }
}

/// The article's table with a row for each run (its name and its cells) and what each run shows, at
/// most `width` columns wide where possible; empty if no run has any of its figures.
pub fn own_table(of: &ArticleFigures, runs: &[(String, &[Cell])], width: usize) -> String {
    let columns = columns(of.article.number);
    let published = of.runs.iter().map(|run| MediumRow::of_published(run, columns));
    let published: Vec<MediumRow> = published.filter(MediumRow::any).collect();
    let row = |(name, cells): &(String, &[Cell])| MediumRow::of(printable(name), cells, columns);
    let ours: Vec<MediumRow> = runs.iter().map(row).collect();
    let plots = runs.iter().map(|(_, cells)| RandomReads::of(of.article.number, cells));
    let plots: Vec<RandomReads> = plots.collect();
    let has_any = |at: &usize| ours[*at].any() || !plots[*at].blocks.is_empty();
    let shown: Vec<usize> = (0..runs.len()).filter(has_any).collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut text =
        fold(&format!("Article {}: {}\n", of.article.number, of.article.title), width, false);
    for at in &shown {
        text += &bars(&plots[*at], &ours[*at].name, width);
    }
    let rows = published.iter().chain(shown.iter().map(|at| &ours[*at]).filter(|row| row.any()));
    text += &laid(columns, &rows.collect::<Vec<_>>(), width);
    for at in shown {
        let of_run = conclusion(of.article.number, &ours[at].figures, &plots[at], &published);
        text += &fold(&format!("{}: {of_run}\n", ours[at].name), width, false);
    }
    text
}

/// Blanks between columns.
const GAP: usize = 2;

fn laid(columns: &[MediumColumn], rows: &[&MediumRow], width: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let head = |line: usize| columns.iter().map(|(heads, _)| heads[line].to_owned()).collect();
    let mut lines: Vec<(&str, Vec<String>)> = match columns {
        [(heads, _)] => vec![("", vec![heads.join(" ")])],
        _ => (0..3).map(|line| ("", head(line))).collect(),
    };
    lines.extend(rows.iter().map(|row| (&*row.name, row.shown.clone())));
    let grid = grid(&lines, width);
    if grid.lines().all(|line| display::width(line) <= width) {
        return grid;
    }
    let heads: Vec<String> =
        columns.iter().map(|(heads, _)| heads.join(" ").replace("  ", " ")).collect();
    let row = |row: &&MediumRow| format!("{}: {}\n", row.name, row.shown.join("; "));
    let rows: String = rows.iter().map(row).collect();
    fold(&format!("{}\n{rows}", heads.join("; ")), width, false)
}

/// Rows of a name and right-aligned cells; names are cut where there is no room.
fn grid(lines: &[(&str, Vec<String>)], width: usize) -> String {
    let count = lines.first().map_or(0, |(_, cells)| cells.len());
    let widest = |at: usize| lines.iter().map(|(_, cells)| display::width(&cells[at])).max();
    let widths: Vec<usize> = (0..count).map(|at| GAP + widest(at).unwrap_or(0)).collect();
    let room = width.saturating_sub(widths.iter().sum()).max(10);
    let names: Vec<String> = lines.iter().map(|(name, _)| short(name, room)).collect();
    let room = names.iter().map(|name| display::width(name)).max().unwrap_or(0);
    let line = |((_, cells), name): (&(&str, Vec<String>), &String)| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        let line = display::padded(name, room) + &cells.collect::<String>();
        line.trim_end().to_owned() + "\n"
    };
    lines.iter().zip(&names).map(line).collect()
}

/// Block sizes of the plot on a terminal; the page of the run has all.
const PLOTTED: [u64; 7] = [512, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 2 * MIB];

fn bars(reads: &RandomReads, name: &str, width: usize) -> String {
    let plotted = || reads.blocks.iter().filter(|block| PLOTTED.contains(&block.bytes));
    let best = plotted().map(BlockReads::mbps).fold(0.0, f64::max);
    if best <= 0.0 {
        return String::new();
    }
    let heads = ["IOPS", "ms", "MB/s", reads.other].map(str::to_owned).to_vec();
    let sizes: Vec<String> = plotted().map(|block| Bytes(block.bytes).to_string()).collect();
    let mut lines = vec![("", heads)];
    lines.extend(plotted().zip(&sizes).map(|(block, size)| {
        let other = block.other.map_or("-".to_owned(), |it| significant(mbps(it, block.bytes)));
        let iops = block.iops.value;
        let cells = [significant(iops), significant(1e3 / iops), significant(block.mbps()), other];
        (size.as_str(), cells.to_vec())
    }));
    let grid = grid(&lines, width);
    let taken = grid.lines().map(display::width).max().unwrap_or(0) + GAP;
    let room = width.saturating_sub(taken).min(30) as f64;
    let bar = |block: &BlockReads| "#".repeat((block.mbps() / best * room).round() as usize);
    let bars = std::iter::once(String::new()).chain(plotted().map(bar));
    let line = |(line, bar): (&str, String)| {
        format!("{}{}", display::padded(line, taken), bar).trim_end().to_owned() + "\n"
    };
    let title = format!("Random reads of {name} by block size, first GB\n");
    fold(&title, width, false) + &grid.lines().zip(bars).map(line).collect::<String>()
}
