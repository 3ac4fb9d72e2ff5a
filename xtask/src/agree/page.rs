//! The tables of docs/agreement.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use record::units::significant;

use super::{Row, TOLERANCE, Table};

const PAGE: &str = "docs/agreement.md";

/// Keeps all tables.
pub fn keep(root: &Path, tables: &[Table], pairs: usize) -> Result<()> {
    fs::write(root.join(PAGE), page(tables, pairs, &fio_version()?)).with_context(|| format!("writing {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

fn fio_version() -> Result<String> {
    let output = Command::new("fio").arg("--version").output().context("fio does not start")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn page(tables: &[Table], pairs: usize, fio: &str) -> String {
    let mut page = format!(
        "# Agreement with fio\n\n\
         Made by `cargo xtask agree --write`. Each cell is measured by flashmark and by {fio} doing the same I/O on the same span of the same loop device\n\
         (`losetup --direct-io=on`), {pairs} pairs, the first of a pair changing with each; the ratio is ours over fio's, its median must lie within {} %.\n\
         fio's rate counts the time between two I/Os, ours does not ([methodology.md](methodology.md#rates)); fio makes its data once and changes a few words,\n\
         ours is new for each write.\n",
        TOLERANCE * 100.0
    );
    for table in tables {
        let _ = write!(page, "\n{}", self::table(table));
    }
    let _ = write!(page, "\n## Commands\n\nDEVICE is the loop device; as measured on {}.\n\n```text\n", tables.first().map(|table| table.on.to_string()).unwrap_or_default());
    for row in tables.first().into_iter().flat_map(|table| &table.rows) {
        let command = |side: &[super::Measured]| side.first().map(|measured| measured.command.clone()).unwrap_or_default();
        let _ = write!(page, "# {}\n{}\n{}\n", row.cell.name, command(&row.ours), command(&row.fio));
    }
    page.push_str("```\n");
    page
}

/// One table as Markdown.
pub fn table(table: &Table) -> String {
    let mut text = format!("## On {}\n\n{}\n\n| cell | flashmark, IOPS | fio, IOPS | ratio (smallest to largest) | |\n|---|---:|---:|---:|---|\n", table.on, table.machine);
    for row in &table.rows {
        let median = |side: &[super::Measured]| stats::median(&mut side.iter().map(|measured| measured.iops).collect::<Vec<_>>()).unwrap_or(f64::NAN);
        let (least, most) = ends(row);
        let verdict = if row.agrees() { "agrees" } else { "**differs**" };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.3} ({least:.3} to {most:.3}) | {verdict} |",
            row.cell.name,
            significant(median(&row.ours)),
            significant(median(&row.fio)),
            row.ratio()
        );
    }
    text
}

fn ends(row: &Row) -> (f64, f64) {
    row.ratios().into_iter().fold((f64::INFINITY, 0.0), |(least, most), ratio| (least.min(ratio), most.max(ratio)))
}
