//! Parts of documents that the programs print: screens, and the columns of figures.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use record::FIGURES;

use crate::generated::{Flags, settle};

/// Documents with screens of a check, between `<!-- screen RECORD: begin -->` and `SCREEN_END`.
const WITH_SCREENS: [&str; 2] = ["README.md", "docs/first-card.md"];
const SCREEN: &str = "<!-- screen ";
const SCREEN_BEGIN: &str = ": begin -->\n";
const SCREEN_END: &str = "<!-- screen: end -->";

/// Writes or compares the documents with such parts.
pub fn run(root: &Path, flags: &Flags) -> Result<()> {
    settle(root, "docs/analysis.md", &columns(root)?, "docs", flags)?;
    WITH_SCREENS.iter().try_for_each(|page| {
        settle(root, page, &with_screens(root, page).context(*page)?, "docs", flags)
    })
}

/// A document with what the program prints today of each record that it shows.
fn with_screens(root: &Path, page: &str) -> Result<String> {
    let page = fs::read_to_string(root.join(page))?;
    let mut parts = page.split(SCREEN);
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, old) = part.split_once(SCREEN_BEGIN).context("a screen names its record")?;
        let (_, after) = old.split_once(SCREEN_END).context("a screen ends")?;
        let screen = screen(root, name)?;
        made += &format!("{SCREEN}{name}{SCREEN_BEGIN}\n{screen}\n{SCREEN_END}{after}");
    }
    Ok(made)
}

/// What a check prints of a record of fixtures/records, as a block of code.
fn screen(root: &Path, name: &str) -> Result<String> {
    let record = fs::read_to_string(root.join(format!("fixtures/records/{name}.json")))?;
    let mut record = record::Record::from_json(&record)?;
    findings::Analysis::of(&record, &[]).keep_in(&mut record);
    let screen = report::text::check(&record, 80, false, &report::text::DetailsLocation::default());
    Ok(screen.lines().map(|line| format!("    {line}\n")).collect())
}

/// Page about analysis, with the columns of all figures in their row.
fn columns(root: &Path) -> Result<String> {
    let names: Vec<String> =
        FIGURES.iter().map(|figure| format!("`{}`", figure.download_column())).collect();
    let page = fs::read_to_string(root.join("docs/analysis.md"))?;
    let (before, row) = page.split_once(&format!("| {}", names[0])).context("no row of figures")?;
    let (_, after) = row.split_once(" | ").context("a row without a meaning")?;
    Ok(format!("{before}| {} | {after}", names.join(", ")))
}
