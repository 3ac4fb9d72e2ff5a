//! `flashmark show --salvage`: what can still be read of a run.

use record::text::printable;
use report::display::unbroken;
use serde_json::Value;
use store::{RunDir, Salvage};

use crate::exit::{Exit, OrExit, Result};
use crate::outputs::print;
use crate::{not_restored, words};

/// Prints everything that can be read. Nothing is written to the run.
pub fn show(dir: &RunDir) -> Result {
    let salvage = dir.salvage().or_usage()?;
    let mut text = not_restored::line(dir).map(|line| line + "\n").unwrap_or_default();
    text += &what_it_was(&salvage);
    text += &results(&salvage);
    text += &lost(&salvage);
    if dir.load().is_ok() {
        text += &format!(
            "\nThe rest of the run can be shown as usual: {}\n",
            unbroken(&format!("flashmark show {}", printable(dir.name())))
        );
    }
    print(&text)?;
    Ok(Exit::Done)
}

fn what_it_was(salvage: &Salvage) -> String {
    match (&salvage.replayed, &salvage.header) {
        (Some(replayed), _) => {
            let record = &replayed.record;
            format!(
                "{}: suite {}, {} cells planned\n",
                printable(&record.run.id),
                printable(&record.run.suite),
                record.plan.len()
            )
        }
        (None, reason) => format!("{}\n", printable(reason.as_deref().unwrap_or_default())),
    }
}

fn results(salvage: &Salvage) -> String {
    let mut text = match salvage.cells.len() {
        1 => "\n1 result can be read\n".to_owned(),
        many => format!("\n{many} results can be read\n"),
    };
    for cell in &salvage.cells {
        let named = format!("{}  {}", cell.id, words::cell(&cell.test, &cell.params));
        text += &format!("  {}  {}\n", printable(&named), printable(&words::figure(cell)));
    }
    for (line, part) in &salvage.parts {
        text += &format!("  line {line}, understood in part: {}\n", printable(&in_part(part)));
    }
    text
}

/// Figures of a result in another format, as far as they are at the usual places.
fn in_part(cell: &Value) -> String {
    let id = cell["id"].as_str().unwrap_or("a cell without a name");
    let stop = cell["stop"].as_str().unwrap_or("not said");
    let rates = ["iops", "bps"].map(|name| (name, cell["metrics"][name]["value"].as_f64()));
    let rates = rates.into_iter().filter_map(|(name, value)| Some(format!(", {name} {}", value?)));
    format!("{id}, stop {stop}{}", rates.collect::<String>())
}

fn lost(salvage: &Salvage) -> String {
    if salvage.damage.is_empty() {
        return "\nNothing is damaged.\n".to_owned();
    }
    let lines =
        salvage.damage.iter().map(|damage| format!("  {}\n", printable(&damage.to_string())));
    format!("\nDamaged or lost\n{}", lines.collect::<String>())
}
