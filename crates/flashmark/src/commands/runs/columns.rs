//! `flashmark runs --columns`: what the runs have measured, in columns of the reader's choice.

use record::chosen_columns;
use record::text::printable;
use report::column_figures::{ColumnFigure, RunFigures, column_figures, columns_text, shown};
use store::RunSummary;

use program::exit::{Exit, OrExit, Result, usage};
use program::printing::print as print_text;
use program::printing::print_document;
use program::terminal::OutputStream;
use session::kept::completed;

/// Names in a list with commas; exit code 2 for an unknown name, with similar ones.
pub fn choice(text: &str) -> Result<Vec<String>> {
    let chosen = match chosen_columns(text) {
        Ok(chosen) => chosen,
        Err(unknown) => {
            let near = match unknown.near.as_slice() {
                [] => "flashmark runs --help names the families".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            return usage(format_args!(
                "there is no column '{}'; {near}",
                printable(&unknown.asked)
            ));
        }
    };
    if chosen.is_empty() {
        return usage("no column is named; try --columns random-write-4k,dd or --columns all");
    }
    Ok(chosen)
}

/// Prints the columns of all runs that can be read; damaged runs are named.
pub fn print(runs: &[RunSummary], choice: &[String], is_json: bool) -> Result {
    let mut found: Vec<RunFigures> = Vec::new();
    for run in runs {
        match run.dir.load() {
            Ok(record) => {
                let cells = completed(&run.dir, record).cells;
                found.push((run.dir.name().to_owned(), column_figures(&cells)));
            }
            Err(error) => program::say!(
                "flashmark: {} is left out: {}",
                run.dir.name(),
                printable(&error.to_string())
            ),
        }
    }
    if is_json {
        let list: Vec<serde_json::Value> = found.iter().map(|run| json(run, choice)).collect();
        print_document(&format!("{}\n", serde_json::to_string_pretty(&list).or_internal()?))?;
    } else {
        print_text(&columns_text(&found, choice, OutputStream::Output.width()))?;
    }
    Ok(Exit::Done)
}

/// A run for other programs: its columns by name.
fn json(run: &RunFigures, choice: &[String]) -> serde_json::Value {
    let (name, figures) = run;
    let of_column = |figure: &ColumnFigure| {
        serde_json::json!({
            "value": figure.figure.value,
            "ci95": figure.figure.ci95,
            "n": figure.figure.n,
            "unit": figure.column.unit,
            "runs": figure.repeats,
        })
    };
    let columns: serde_json::Map<String, serde_json::Value> =
        shown(std::slice::from_ref(run), choice)
            .into_iter()
            .filter_map(|column| Some((column.name.clone(), of_column(figures.get(&column.name)?))))
            .collect();
    serde_json::json!({ "name": name, "columns": columns })
}
