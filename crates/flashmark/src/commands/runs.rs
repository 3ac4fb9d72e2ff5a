//! `flashmark runs`: the runs kept on this machine, oldest first.

use report::words::clean;
use store::{RunSummary, Store};

use crate::cli::RunsFlags;
use crate::exit::{Exit, OrExit, Result};
use crate::outputs::{print, print_document};
use crate::{damage, not_restored};

/// Lists the runs that are kept, what they owe to media and what of them is damaged; exit code 0.
pub fn run(flags: &RunsFlags) -> Result {
    let store = Store::open(Store::default_root());
    let runs = store.runs().or_usage()?;
    if flags.json {
        let list: Vec<serde_json::Value> = runs.iter().map(json).collect();
        print_document(&format!("{}\n", serde_json::to_string_pretty(&list).or_internal()?))?;
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        print(&format!(
            "No runs in {} yet; make one with: flashmark run . --suite quick\n",
            store.root().display()
        ))?;
    }
    for line in runs.iter().filter_map(|run| not_restored::line(&run.dir)) {
        print(&format!("{line}\n"))?;
    }
    for run in &runs {
        let line = match &run.overview {
            Ok(it) => {
                let ended = serde_json::to_value(it.ended).or_internal()?;
                let label = it
                    .label
                    .as_deref()
                    .map(|label| format!("  \"{}\"", clean(label)))
                    .unwrap_or_default();
                format!(
                    "{:<44} {:<12} {:>3}/{:<3} cells  {}{label}\n",
                    run.dir.name(),
                    ended.as_str().unwrap_or("-"),
                    it.cells_done,
                    it.cells_planned,
                    clean(&it.medium)
                )
            }
            Err(reason) => format!("{:<44} damaged: {}\n", run.dir.name(), clean(reason)),
        };
        print(&line)?;
        for line in damage::lines(run.damage.iter()) {
            print(&format!("    {line}\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// A run for other programs; `damage` and `owed` are there only where there is some.
fn json(run: &RunSummary) -> serde_json::Value {
    let mut value = match &run.overview {
        Ok(overview) => serde_json::json!({ "name": run.dir.name(), "run": overview }),
        Err(reason) => serde_json::json!({ "name": run.dir.name(), "damaged": reason }),
    };
    if !run.damage.is_empty() {
        value["damage"] = run.damage.iter().map(ToString::to_string).collect();
    }
    if let Some(owed) = run.dir.owed() {
        value["owed"] = not_restored::json(&owed);
    }
    value
}
