//! Tables of docs/agreement.md; the page explains them by hand.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use record::units::significant;

use super::rivals::Measured;
use super::{Row, Table};
use crate::section;

const PAGE: &str = "docs/agreement.md";

/// Writes a table into the page, with the commands that made it.
pub fn keep(root: &Path, table: &Table) -> Result<()> {
    let command = format!("cargo validation agree --on {}", table.on);
    section::keep(
        &root.join(PAGE),
        &format!("On {}", table.on),
        &command,
        &format!("{}\n{}", self::table(table), commands(table)),
    )
}

/// Makes one table as Markdown.
pub fn table(table: &Table) -> String {
    let mut text =
        format!("{}; load {:.2} a processor before the first pair.\n\n", table.machine, table.load);
    text.push_str("| cell | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | | ratio of median latencies |\n|---|---:|---:|---:|---|---:|\n");
    for row in &table.rows {
        let (least, most) = row
            .ratios()
            .into_iter()
            .fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), ratio| {
                (least.min(ratio), most.max(ratio))
            });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.3} ({least:.3} to {most:.3}) | {} | {:.3} |",
            row.cell.name,
            significant(median(&row.ours, |measured| measured.iops)),
            significant(median(&row.fio, |measured| measured.iops)),
            row.ratio(),
            if row.agrees() { "agrees" } else { "**differs**" },
            row.latency_ratio(),
        );
    }
    text
}

fn median(side: &[Measured], figure: fn(&Measured) -> f64) -> f64 {
    stats::median(&mut side.iter().map(figure).collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

fn commands(table: &Table) -> String {
    let mut text = "DEVICE is the loop device:\n\n```text\n".to_owned();
    for Row { cell, ours, fio } in &table.rows {
        let command = |side: &[Measured]| {
            side.first().map(|measured| measured.command.clone()).unwrap_or_default()
        };
        let _ = write!(text, "# {}\n{}\n{}\n", cell.name, command(ours), command(fio));
    }
    text + "```\n"
}
