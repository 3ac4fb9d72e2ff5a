//! `flashmark articles` and `flashmark report --article`: the five articles, and runs beside the
//! figures of one.

use std::path::Path;

use record::Record;
use record::text::printable;
use report::articles::{self, ARTICLES, MAX_PICKED, run_name};
use report::column_figures::{RunFigures, column_figures};
use report::reference::figures_of;

use program::exit::{Exit, Result, usage};
use program::printing::print_document;
use program::terminal::{OutputStream, letters};
use session::kept::load;
use session::outputs::write_page;

/// Prints the articles, each with what it found and the command that shows it; exit code 0.
pub fn list() -> Result {
    let articles = ARTICLES.each_ref().map(figures_of);
    print_document(&letters(&articles::list(&articles, OutputStream::Output.width())))?;
    Ok(Exit::Done)
}

/// Prints the figures of an article with runs beside them, or writes them as a page; exit code 2
/// where there is no such article or run.
pub fn show(name: &str, runs: &[String], html: Option<&Path>) -> Result {
    let Some(article) = articles::named(name) else { return usage(unknown(name)) };
    let article = figures_of(article);
    if runs.len() > MAX_PICKED {
        return usage(format_args!(
            "{} runs are named; at most {MAX_PICKED} stand beside an article",
            runs.len()
        ));
    }
    let records: Vec<Record> = runs.iter().map(|run| load(run)).collect::<Result<_>>()?;
    let names = names(&records);
    let figures = names.iter().zip(&records);
    let figures: Vec<RunFigures> =
        figures.map(|(name, run)| (name.clone(), column_figures(&run.cells))).collect();
    match html {
        Some(path) => write_page(path, &pages::article(&article, &figures))?,
        None => {
            let width = OutputStream::Output.width();
            let cells = records.iter().map(|record| record.cells.as_slice());
            let runs: Vec<_> = names.into_iter().zip(cells).collect();
            let own_table = articles::own_table(&article, &runs, width);
            let gap = if own_table.is_empty() { "" } else { "\n" };
            let text = articles::text(&article, &figures, width);
            print_document(&letters(&format!("{text}{gap}{own_table}")))?
        }
    }
    Ok(Exit::Done)
}

/// Message about a name that is no article's.
fn unknown(name: &str) -> String {
    let offered = ARTICLES.map(|article| format!("{} ({})", article.number, article.key));
    format!("there is no article '{}'; there are {}", printable(name), offered.join(", "))
}

/// Name of the medium of each run; with several runs of one medium, the name of the run is added.
fn names(records: &[Record]) -> Vec<String> {
    let media: Vec<String> = records.iter().map(run_name).collect();
    let name = |at: usize| {
        let same = |other: &&Record| run_name(other) == media[at];
        let same: Vec<&Record> = records.iter().filter(same).collect();
        match same.len() {
            1 => media[at].clone(),
            _ => format!("{} ({})", media[at], own_name(&records[at], &same)),
        }
    };
    (0..records.len()).map(name).collect()
}

/// Name that tells a run from others of its medium: its label if no other run has it, or else its
/// id.
fn own_name<'a>(record: &'a Record, all: &[&Record]) -> &'a str {
    let label = record.run.label.as_deref();
    let shared = all.iter().filter(|other| other.run.label.as_deref() == label).count() > 1;
    label.filter(|_| !shared).unwrap_or(&record.run.id)
}
