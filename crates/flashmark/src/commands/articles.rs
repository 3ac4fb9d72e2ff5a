//! `flashmark articles` and `flashmark report --article`: the five articles, and runs beside the
//! figures of one.

use std::path::Path;

use record::text::printable;
use record::{MediumKind, Record};
use report::articles::{self, ARTICLES, MAX_PICKED};
use report::column_figures::{RunFigures, column_figures};
use report::reference::figures_of;
use report::words;

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
    let runs = beside(runs)?;
    match html {
        Some(path) => write_page(path, &pages::article(&article, &runs))?,
        None => {
            let text = articles::text(&article, &runs, OutputStream::Output.width());
            print_document(&letters(&text))?
        }
    }
    Ok(Exit::Done)
}

/// Message about a name that is no article's.
fn unknown(name: &str) -> String {
    let offered = ARTICLES.map(|article| format!("{} ({})", article.number, article.key));
    format!("there is no article '{}'; there are {}", printable(name), offered.join(", "))
}

/// Columns of runs, each under the name of its medium; with several runs of one medium, the name of
/// the run is added.
fn beside(runs: &[String]) -> Result<Vec<RunFigures>> {
    let records: Vec<Record> = runs.iter().map(|run| load(run)).collect::<Result<_>>()?;
    let media: Vec<String> = records.iter().map(medium).collect();
    let name = |at: usize| {
        let same = |other: &&Record| medium(other) == media[at];
        let same: Vec<&Record> = records.iter().filter(same).collect();
        match same.len() {
            1 => media[at].clone(),
            _ => format!("{} ({})", media[at], own_name(&records[at], &same)),
        }
    };
    let of = |(at, record): (usize, &Record)| (name(at), column_figures(&record.cells));
    Ok(records.iter().enumerate().map(of).collect())
}

/// Name that tells a run from others of its medium: its label if no other run has it, or else its
/// id.
fn own_name<'a>(record: &'a Record, all: &[&Record]) -> &'a str {
    let label = record.run.label.as_deref();
    let shared = all.iter().filter(|other| other.run.label.as_deref() == label).count() > 1;
    label.filter(|_| !shared).unwrap_or(&record.run.id)
}

/// Name of a medium; a simulated one says that it is simulated.
fn medium(record: &Record) -> String {
    let name = words::name(&record.medium);
    match record.medium.kind {
        MediumKind::Simulated => format!("{name} (simulated)"),
        _ => name,
    }
}
