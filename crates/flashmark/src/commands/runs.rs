//! `flashmark runs`: the runs kept on this machine, oldest first.

mod columns;
mod openmetrics;

use std::path::Path;

use record::text::printable;
use report::display;
use store::{RunSummary, Store};

use crate::cli::RunsFlags;
use program::exit::{Exit, OrExit, Result};
use program::printing::{print, print_document};
use program::terminal::OutputStream;
use session::not_restored;

/// Lists the runs that are kept, what they have not restored and what of them is damaged; exit code
/// 0.
pub fn run(flags: &RunsFlags) -> Result {
    let choice = flags.columns.as_deref().map(columns::choice).transpose()?;
    let store = Store::open(Store::default_root());
    let runs = store.runs().or_usage()?;
    if let Some(choice) = choice.filter(|_| !runs.is_empty()) {
        return columns::print(&runs, &choice, flags.json);
    }
    if let Some(path) = &flags.openmetrics {
        return write_metrics(path, &openmetrics::text(&runs));
    }
    if flags.json {
        let list: Vec<serde_json::Value> = runs.iter().map(json).collect();
        print_document(&format!("{}\n", serde_json::to_string_pretty(&list).or_internal()?))?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        print(&format!(
            "No runs in {} yet; make one with: {}\n",
            store.root().display(),
            display::unbroken("flashmark run . --suite quick")
        ))?;
    }
    for line in runs.iter().filter_map(|run| not_restored::line(&run.dir)) {
        print(&format!("{line}\n"))?;
    }
    let rows = runs
        .iter()
        .map(|run| Ok((run.dir.name(), overview_text(run)?)))
        .collect::<Result<Vec<_>>>()?;
    let longest = rows.iter().map(|(name, _)| display::width(name)).max().unwrap_or_default();
    let is_wide = rows
        .iter()
        .any(|(_, overview)| longest + 2 + display::width(overview) > OutputStream::Output.width());
    for (run, (name, overview)) in runs.iter().zip(rows) {
        let lines = if is_wide {
            format!("{name}\n    {overview}\n")
        } else {
            format!("{}  {overview}\n", display::padded(name, longest))
        };
        print(&lines)?;
        if let Some(damage) = &run.damage {
            print(&format!("    {}\n", printable(damage)))?;
        }
    }
    Ok(Exit::Done)
}

/// Writes the figures whole or not at all: another program reads the file at any time.
fn write_metrics(path: &Path, text: &str) -> Result {
    if path.as_os_str() == "-" {
        print_document(text)?;
    } else {
        store::atomic_write(path, text.as_bytes()).or_internal()?;
    }
    Ok(Exit::Done)
}

/// Line about a run: how it ended, its cells, its medium and its label; or the reason why it cannot
/// be read.
fn overview_text(run: &RunSummary) -> Result<String> {
    let it = match &run.overview {
        Ok(overview) => overview,
        Err(reason) => return Ok(format!("damaged: {}", printable(reason))),
    };
    let ended = serde_json::to_value(it.ended).or_internal()?;
    let label = it.label.as_deref().map(printable).map(|label| format!("  \"{label}\""));
    Ok(format!(
        "{:<11}  {:>3}/{:<3} cells  {}{}",
        ended.as_str().unwrap_or("-"),
        it.cells_done,
        it.cells_planned,
        printable(&it.medium),
        label.unwrap_or_default()
    ))
}

/// A run for other programs; `damage` and `owed` are there only if they are not empty.
fn json(run: &RunSummary) -> serde_json::Value {
    let mut value = match &run.overview {
        Ok(overview) => serde_json::json!({ "name": run.dir.name(), "run": overview }),
        Err(reason) => serde_json::json!({ "name": run.dir.name(), "damaged": reason }),
    };
    if let Some(damage) = &run.damage {
        value["damage"] = damage.as_str().into();
    }
    if let Some(unrestored) = run.dir.unrestored() {
        value["owed"] = not_restored::json(&unrestored);
    }
    value
}
