//! `flashmark explain`: what a finding means and what it is concluded from, or what a word means.

use clap::error::ContextKind;
use record::alike::closest;
use report::text::{explained, glossary};

use crate::cli::ExplainFlags;
use crate::exit::{Exit, Result, usage};
use crate::outputs::print_document;
use crate::terminal::OutputStream;

/// Prints the page of a finding or the meaning of a word, or the names of all; exit code 2 where
/// there is no such name.
pub fn run(flags: &ExplainFlags) -> Result {
    let Some(name) = &flags.name else {
        print_document(&names())?;
        return Ok(Exit::Done);
    };
    let Some(page) = page(name) else {
        return usage(format_args!("there is no finding or word '{name}'; {}", hint(name)));
    };
    print_document(&page)?;
    Ok(Exit::Done)
}

/// Answers `flashmark help WORD` where the word is no command: prints what `explain` prints of it,
/// or clap's error with the way to the list of words. `None` where something else was typed.
pub fn helped(error: &clap::Error) -> Option<Exit> {
    error.get(ContextKind::InvalidSubcommand)?;
    let mut typed = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    typed.next().filter(|first| first == "help")?;
    let name = typed.collect::<Vec<_>>().join(" ");
    if let Some(page) = page(&name) {
        return Some(print_document(&page).map_or_else(|failure| failure.exit, |()| Exit::Done));
    }
    drop(error.print());
    crate::say!("`flashmark explain` lists the words that are explained.");
    Some(Exit::Usage)
}

/// The page of a finding, or the meaning of a word.
fn page(name: &str) -> Option<String> {
    let width = OutputStream::Output.width();
    explained(name, width).or_else(|| glossary::meaning(name, width))
}

/// What may have been meant.
fn hint(name: &str) -> String {
    let words = glossary::words();
    let known = findings::IDS.iter().copied().chain(words.iter().map(String::as_str));
    match closest(name, known).as_slice() {
        [] => "`flashmark explain` lists all".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    }
}

/// Each finding with the title of its page, and the words of the glossary.
fn names() -> String {
    let title = |id| findings::about(id).and_then(|page| page.lines().next()).unwrap_or_default();
    let findings: String = findings::IDS
        .iter()
        .map(|id| format!("{id:<22} {}\n", title(id).trim_start_matches("# ")))
        .collect();
    let words =
        report::text::fold(&glossary::words().join(", "), OutputStream::Output.width(), false);
    format!("Findings:\n{findings}\nWords:\n{words}\n")
}
